"""What a declaration is worth, from public facts alone: the promise a range or a list leads to at the usual spend."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import dpengine as dp
from dpengine.budget import questions
from dpengine.contract import Facts, Promise, Rank
from dpengine.errors import AllowanceError
from dpengine.messages import say
from dpengine.schema import Category, Column, Number
from ui.wording import percent, promise_words

USUAL_SPEND = "0.1"
WIDER = 10


@lru_cache(maxsize=500)
def _promise(question: str, column: Column, relation: Literal["replace", "add_remove"], people: int) -> Promise:
    facts = Facts("table", dp.Schema({"column": column}), dp.Unit.rows(), relation, people)
    given = {"epsilon": USUAL_SPEND, "column": "column"}
    return dp.catalogue[question].build(facts, given).promise()


def of_number(column: Number, relation: Literal["replace", "add_remove"], people: int) -> str:
    """How many answers the range allows, and what its width costs a median."""
    told = [say("data.price.grid", lower=column.lower, upper=column.upper, step=column.step, size=column.size)]
    now = _promise("median", column, relation, people)
    try:
        wide = Number(column.lower, column.lower + WIDER * column.diameter, column.step)
        then = _promise("median", wide, relation, people)
    except AllowanceError:  # ten times as wide is more steps than there may be
        then = None
    if isinstance(now, Rank) and now.share >= 1:
        told.append(say("data.price.few"))
    elif isinstance(now, Rank) and isinstance(then, Rank):
        told.append(say("data.price.width", now=percent(now.share), then=percent(then.share), times=WIDER))
    told.append(say("data.price.narrow"))
    return " ".join(told)


def of_list(column: Category, relation: Literal["replace", "add_remove"], people: int) -> str:
    """How many bars the list makes, and how good each one is."""
    promise = _promise("histogram", column, relation, people)
    return say("data.price.bars", labels=column.labels[:12], more="…" if column.size > 12 else "", bars=column.size,
               promise=promise_words(promise))


def of_care(epsilon: str, delta: str, relation: Literal["replace", "add_remove"], people: int) -> str:
    """About how many good questions a budget holds, and what a good one is."""
    many = questions(dp.Budget(epsilon, delta), USUAL_SPEND)
    flag = dp.yes_no()
    facts = Facts("table", dp.Schema({"column": flag}), dp.Unit.rows(), relation, people)
    one = dp.catalogue["count"].build(facts, {"epsilon": USUAL_SPEND, "where": [["column", "in", ["yes"]]]})
    return say("data.care.questions", many=many, promise=promise_words(one.promise()))
