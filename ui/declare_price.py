"""What a declaration is worth, from public facts alone: the promise a range or a list leads to at the usual spend."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import dpengine as dp
from dpengine.budget import questions
from dpengine.contract import Facts, Promise, least_epsilon
from dpengine.exact import up
from dpengine.messages import plain, say
from dpengine.schema import MOST_STEPS, Category, Column, Number
from dpengine.unit import Relation
from ui.wording import percent, promise_words

USUAL_SPEND = "0.1"
WIDER = 2
MOST_LISTED = 12
_FLAG = dp.yes_no()


@lru_cache(maxsize=500)
def _worth(question: str, column: Column, relation: Relation, people: int) -> tuple[Promise, bool, Fraction | None]:
    """The promise at the usual spend, whether it is worth having, and the least spend at which it would be."""
    facts = Facts("table", dp.Schema({"column": column}), dp.Unit.rows(), relation, people)
    given: dict[str, Any] = {"epsilon": USUAL_SPEND, "column": "column"}
    if question == "count":
        given = {"epsilon": USUAL_SPEND, "where": [["column", "in", ["yes"]]]}
    query = dp.catalogue[question].build(facts, given)
    promise = query.promise()
    useful = promise.amount <= query.coarse()
    return promise, useful, None if useful else least_epsilon(query, query.coarse())


def of_number(column: Number, relation: Relation, people: int) -> str:
    """How many answers the range allows, and what its width costs an average and a median."""
    told = [say("data.price.grid", range=range_words(column), size=column.size)]
    wide = None
    if column.size * WIDER <= MOST_STEPS:
        wide = Number(column.lower, column.lower + WIDER * column.diameter, column.step)
    for question, words in (("mean", _amount), ("median", percent)):
        promise, good, spend = _worth(question, column, relation, people)
        if not good:
            if spend is not None:
                told.append(say(f"data.price.{question}_spend", people=people, spend=up(spend, 100)))
        elif wide is not None:
            then = _worth(question, wide, relation, people)[0]
            told.append(say(f"data.price.{question}", now=words(promise.amount), then=words(then.amount)))
    told.append(say("data.price.narrow"))
    return " ".join(told)


def range_words(column: Number) -> str:
    lower, upper, step = (_year(value) for value in (column.lower, column.upper, column.step))
    return say("data.range", lower=lower, upper=upper, step=step)


def _year(value: Fraction) -> str:
    """Four figures stand without a comma, as years do."""
    return plain(value).replace(",", "") if abs(value) < 10_000 else plain(value)


def list_words(column: Category) -> str:
    if column.size <= MOST_LISTED:
        return plain(column.labels)
    return say("data.list", labels=column.labels[: MOST_LISTED - 2], more=column.size - MOST_LISTED + 2)


def _amount(value: Fraction) -> str:
    """Two figures, upwards: 82.78 is 83, 0.1234 is 0.13."""
    grain = Fraction(10) ** (math.floor(math.log10(value)) - 1)
    return plain(up(value / grain, 1) * grain)


def of_list(column: Category, relation: Relation, people: int) -> str:
    """How many bars the list makes, and how good each one is."""
    promise, good, spend = _worth("histogram", column, relation, people)
    told = [say("data.price.bars", labels=list_words(column), bars=column.size)]
    if good:
        told.append(say("data.price.each", promise=promise_words(promise)))
    elif spend is not None:
        told.append(say("data.price.each_spend", spend=up(spend, 100)))
    return " ".join(told)


def good_questions(budget: dp.Budget, relation: Relation, people: int) -> int:
    """About how many a budget holds. In a small table a good one costs more."""
    _, good, spend = _worth("count", _FLAG, relation, people)
    return questions(budget, USUAL_SPEND if good or spend is None else up(spend, 100))


def of_good_question(relation: Relation, people: int) -> str:
    promise, good, spend = _worth("count", _FLAG, relation, people)
    if good or spend is None:
        return say("data.care.good", promise=promise_words(promise))
    return say("data.care.few", people=people, spend=up(spend, 100))
