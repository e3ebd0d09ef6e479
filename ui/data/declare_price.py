"""What a declaration is worth, from public facts alone: the promise a range or a list leads to at the usual spend."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, fits
from dpengine.core.exact import up
from dpengine.core.printed import measured, percent, two_figures
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MOST_STEPS, Category, Column, ItemSet, Number
from dpengine.declared.unit import Relation
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.promises import Promise
from dpengine.messages import plain, say
from dpengine.messages.numbers import day, ungrouped
from dpengine.planning.best_noise import least_priced
from ui.data.preset_lists import LISTS

USUAL_SPEND = "0.1"
LEAST_SPEND = Fraction(2, 100)  # nobody counts on a question that takes less
MOST_SPEND, TOO_DEAR = Fraction(50), Fraction(10**6)
FEW = Fraction(1, 2)  # what a good question takes where there are few people to hide among
WIDER = 2
MOST_LISTED = 12
FEW_SHOWN = 4  # values of a list on a line
MANY_SPELLED = 40  # that are worth a word there
MOST_SPELLED = 2_000  # values whose spellings are counted on a line
ROWS = dp.Unit.rows()


@lru_cache(maxsize=500)
def _worth(
    question: str, column: Column, relation: Relation, people: int, unit: dp.Unit = ROWS
) -> tuple[Promise, bool, Fraction | None]:
    """The promise at the usual spend, whether it is worth having, and the least spend at which it would be."""
    query = _query(question, "column", column, relation, people, unit)
    promise = query.promise()
    useful = promise.amount <= query.coarse()
    return promise, useful, None if useful else least_epsilon(query, query.coarse())


def _query(question: str, name: str, column: Column, relation: Relation, people: int, unit: dp.Unit) -> dp.Query:
    facts = Facts("table", dp.Schema({name: column}), unit, relation, people)
    return dp.catalogue[question].build(facts, {"epsilon": USUAL_SPEND, "column": name})


def of_column(column: Column, unit: dp.Unit, relation: Relation, people: int) -> str:
    if isinstance(column, Number):
        return of_number(column, relation, people, unit)
    if isinstance(column, Category):
        return of_list(column, relation, people, unit)
    if isinstance(column, ItemSet):
        return of_items(column, relation, people, unit)
    return of_days(column, relation, people, unit)


def of_number(column: Number, relation: Relation, people: int, unit: dp.Unit = ROWS) -> str:
    """How many answers the range allows, and what its width costs an average and a median."""
    told = [say("data.price.grid", range=range_words(column), size=column.size)]
    wide = None
    if column.size * WIDER <= MOST_STEPS:
        wide = Number(column.lower, column.lower + WIDER * column.diameter, column.step)
    for question, words in (("mean", two_figures), ("median", percent)):
        promise, good, spend = _worth(question, column, relation, people, unit)
        if not good:
            if spend is not None:
                told.append(say(f"data.price.{question}_spend", people=people, **_spent(spend)))
        elif wide is not None:
            then = _worth(question, wide, relation, people, unit)[0]
            told.append(say(f"data.price.{question}", now=words(promise.amount), then=words(then.amount)))
    told.append(say("data.price.narrow"))
    return " ".join(told)


def _spent(spend: Fraction) -> dict[str, Fraction | str]:
    """A spend for somebody who has not chosen an allowance yet: beside a usual one, which is ε = 1."""
    exact = up(spend, 100)
    return {"spend": exact, "share": percent(exact)}


def range_words(column: Number) -> str:
    lower, upper = _ends(column)
    return say("data.range", lower=lower, upper=upper, step=column.step)


def _ends(column: Number) -> tuple[str, str]:
    """Years stand without a sign between thousands."""
    lower, upper = plain(column.lower), plain(column.upper)
    return (ungrouped(lower), ungrouped(upper)) if column.lower >= 1_000 and column.upper < 3_000 else (lower, upper)


def list_words(column: Category | ItemSet) -> str:
    if column.size <= MOST_LISTED:
        return plain(column.labels)
    return say("data.list", labels=column.labels[: MOST_LISTED - 2], more=column.size - MOST_LISTED + 2)


def of_list(column: Category, relation: Relation, people: int, unit: dp.Unit = ROWS) -> str:
    """How many bars the list makes, and how good each one is."""
    promise, good, spend = _worth("histogram", column, relation, people, unit)
    told = [say("data.price.bars", labels=list_words(column), bars=column.size)]
    if good:
        told.append(say("data.price.each", promise=promise.words()))
    elif spend is not None:
        told.append(say("data.price.each_spend", **_spent(spend)))
    return " ".join(told)


def of_items(column: ItemSet, relation: Relation, people: int, unit: dp.Unit = ROWS) -> str:
    """What the most common item can be told by, and whether every item can be counted."""
    promise, good, spend = _worth("top_item", column, relation, people, unit)
    told = [say("data.price.items", labels=list_words(column), items=column.size)]
    if good:
        told.append(say("data.price.top", promise=promise.words()))
    elif spend is not None:
        told.append(say("data.price.top_spend", **_spent(spend)))
    told.append(say("data.price.no_bars" if column.at_most is None else "data.price.few_items", each=column.at_most))
    return " ".join(told)


def of_days(column: dp.Date, relation: Relation, people: int, unit: dp.Unit = ROWS) -> str:
    promise, good, spend = _worth("median", column, relation, people, unit)
    told = [say("data.price.days", range=day_words(column), size=column.size)]
    if good:
        told.append(say("data.price.middle_day", now=percent(promise.amount)))
    elif spend is not None:
        told.append(say("data.price.median_spend", **_spent(spend)))
    return " ".join(told)


def day_words(column: dp.Date) -> str:
    return say("data.done.ends", first=_day(column, 0), last=_day(column, -1))


def _day(column: dp.Date, place: int) -> str:
    return day(str(column.value(place % column.size)))


# --- how much an allowance is worth


@dataclass(frozen=True)
class Typical:
    """The question in the middle of those the declared columns lead to, by what a good answer takes."""

    query: dp.Query
    spend: Fraction | None  # None: no spend makes it more than noise


def typical(schema: dp.Schema, relation: Relation, people: int, unit: dp.Unit = ROWS) -> Typical:
    """A small table, a long list or many rows each make a good answer dear, and this says so."""
    found = sorted(
        min((_good(key, column, relation, people, unit), place, key) for key in first_asked(column))
        for place, column in enumerate(schema.columns.values())
    )
    spend, place, key = found[len(found) // 2]
    name = list(schema.columns)[place]
    query = _query(key, name, schema[name], relation, people, unit)
    return Typical(query.at(min(spend, MOST_SPEND)), spend if spend <= MOST_SPEND else None)


def first_asked(column: Column) -> tuple[str, ...]:
    """What a column is asked about first."""
    if isinstance(column, Number):
        return "mean", "median"
    if isinstance(column, dp.Date):
        return ("median",)
    return ("histogram",) if isinstance(column, Category) and column.size <= MOST_LISTED else ("top_item",)


@lru_cache(maxsize=2_000)
def _good(key: str, column: Column, relation: Relation, people: int, unit: dp.Unit) -> Fraction:
    """The least spend at which a question about a column is more than noise, and at least a small one."""
    query = _query(key, "column", column, relation, people, unit)
    spend = least_epsilon(query, query.coarse())
    return TOO_DEAR if spend is None else max(up(spend, 100), LEAST_SPEND)


def good_questions(budget: dp.Budget, asked: Typical) -> int:
    """About how many a budget holds, each with the noise that takes least for the same accuracy, as Ask offers it."""
    if asked.spend is None:
        return 0
    rule = budget.rule()
    best = least_priced(asked.query, asked.query.promise().amount, rule, Totals.NOTHING)
    return 0 if best is None else fits(rule, Totals.NOTHING, cost(best.loss(), rule.alpha))


def of_good_question(asked: Typical, people: int) -> str:
    code = "data.care.few" if asked.spend is None or asked.spend > FEW else "data.care.good"
    told = asked.query.promise().words()
    return say(code, question=asked.query.sentence(), promise=told, spend=asked.query.epsilon, people=people)


# --- the same in a few words, for a line


@lru_cache(maxsize=2_000)
def _off(question: str, column: Column, relation: Relation, people: int, unit: dp.Unit) -> Fraction:
    return Fraction(_query(question, "column", column, relation, people, unit).promise().amount)


def short(column: Column, unit: dp.Unit, relation: Relation, people: int) -> str:
    """How far off the first answer about a column will be, at the usual spend."""
    question = {Number: "mean", Category: "histogram", ItemSet: "top_item"}.get(type(column), "median")
    amount = _off(question, column, relation, people, unit)
    if isinstance(column, Number):
        return say("data.short.mean", within=measured(two_figures(amount), column.measure))
    if isinstance(column, Category | ItemSet):
        return say(f"data.short.{question}", within=two_figures(amount))
    return say("data.short.median", within=percent(min(amount, Fraction(1))))


def short_words(column: Column) -> str:
    """What is declared, on one line."""
    if isinstance(column, Number):
        lower, upper = _ends(column)
        code = "data.short.range" if column.step == 1 else "data.short.range_step"
        return measured(say(code, lower=lower, upper=upper, step=column.step), column.measure)
    if isinstance(column, Category):
        return _list_words(column)
    if isinstance(column, ItemSet):
        return say("data.done.several", labels=plain([*column.values[:3], *(["…"] if column.size > 3 else [])]))
    return say("data.short.days", first=_day(column, 0), last=_day(column, -1))


def _list_words(column: Category) -> str:
    if len(column.values) > FEW_SHOWN:
        usual = next((key for key, one in LISTS.items() if one.values == column.values), None)
        named = say(f"data.list.{usual}") if usual else plain([*column.values[:3], "…"])
        told = say("data.short.values", labels=named, many=len(column.values))
    else:
        told = plain(column.values)
    if not column.spellings or len(column.values) > MOST_SPELLED:
        return told
    spelled = sum(code < len(column.values) for code in column.spelled().values()) - len(column.values)
    return say("data.short.spelled", labels=told, many=spelled) if spelled >= MANY_SPELLED else told
