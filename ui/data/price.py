"""How accurate answers will be with a declared range or list at the usual spend. From public facts only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, fits
from dpengine.asking.checking import CHEAP
from dpengine.core.exact import read_number, up
from dpengine.core.printed import measured, percent, two_figures
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MOST_STEPS, Category, Column, ItemSet, Number
from dpengine.declared.unit import Relation
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.promises import Promise
from dpengine.messages import plain, say
from dpengine.messages.numbers import day, ungrouped
from dpengine.planning.opening import opening
from dpengine.planning.suggestions import first_asked, worth_asking
from ui.data import draft
from ui.data.presets import LISTS, YES_NO, Range

USUAL_SPEND = "0.1"
MOST_SPEND = Fraction(50)
WIDER = 2
MOST_LISTED = 12
_HELD = 4  # times a usual value: a range is not called too wide for less
FEW_SHOWN = 4  # values of a list on a line
MOST_LOOKED_OVER = 20  # values that a person compares with the file; a longer list also shows what other cells count as
MOST_GOOD = 100  # good answers: larger figures are not shown
ROWS = dp.Unit.rows()
USUAL_ALLOWANCE = dp.Budget("1", "1e-6")


@lru_cache(maxsize=2_000)
def _first(
    question: str, column: Column, relation: Relation, people: int, unit: dp.Unit, allowance: dp.Budget
) -> tuple[dp.Query, Promise]:
    """A question about the column with the price and noise of its first offer, and its promise."""
    query = _query(question, "column", column, relation, people, unit)
    # Its check included, at the most.
    opens = opening(query.at(Fraction(1)), allowance.rule(), Totals.NOTHING, Fraction(1), CHEAP)
    query = query if opens is None else opens.asked
    return query, query.promise()


@lru_cache(maxsize=500)
def _least(query: dp.Query) -> Fraction | None:
    """The least ε at which the question would be useful, if its present ε is too small; else None."""
    return None if query.promise().amount <= query.coarse() else least_epsilon(query, query.coarse())


def _query(question: str, name: str, column: Column, relation: Relation, people: int, unit: dp.Unit) -> dp.Query:
    facts = Facts("table", dp.Schema({name: column}), unit, relation, people)
    return dp.catalogue[question].build(facts, {"epsilon": USUAL_SPEND, "column": name})


def of_column(
    column: Column, unit: dp.Unit, relation: Relation, sizes: Sequence[int], allowance: dp.Budget = USUAL_ALLOWANCE
) -> str:
    """Sentences: what the declaration allows and how accurate the first answer will be, with the same figure as on the
    column's line. If the number of people is unknown, sentences that depend on it appear once for each size."""
    sentences = next(make for kind, make in _SENTENCES.items() if isinstance(column, kind))
    by_size = {people: sentences(column, relation, people, unit, allowance) for people in sizes}
    first = next(iter(by_size.values()))
    shared = [sentence for sentence in first if all(sentence in others for others in by_size.values())]
    own = {people: " ".join(line for line in lines if line not in shared) for people, lines in by_size.items()}
    each = [say("data.price.for", people=people, sentences=text) for people, text in own.items() if text]
    return " ".join([*shared[:1], *each, *shared[1:]])


def _of_number(column: Number, relation: Relation, people: int, unit: dp.Unit, allowance: dp.Budget) -> list[str]:
    """Sentences: how many values the range allows, and what its width costs an average."""
    lines = [say("data.price.grid", range=range_words(column), size=column.size)]
    query, promise = _first("mean", column, relation, people, unit, allowance)
    if (spend := _least(query)) is not None:
        lines.append(say("data.price.mean_spend", price=_spent(spend)))
    elif promise.amount <= query.coarse() and column.size * WIDER <= MOST_STEPS:
        wide = replace(column, upper=column.lower + WIDER * column.diameter, missing=None)
        then = _first("mean", wide, relation, people, unit, allowance)[1]
        facts = {"now": _size(column, promise.amount), "then": _size(column, then.amount)}
        lines.append(say("data.price.mean", **facts))
    return [*lines, say("data.price.narrow")]


def _spent(spend: Fraction) -> str:
    """An ε in words, as a part of the usual allowance of ε = 1: the owner has not chosen an allowance yet."""
    exact = up(spend, 100)
    return say("data.price.part" if exact <= 1 else "data.price.whole", spend=exact, share=percent(exact))


def range_words(column: Number) -> str:
    lower, upper = _ends(column)
    return say("data.range", lower=lower, upper=upper, step=column.step)


def _ends(column: Number) -> tuple[str, str]:
    """The two ends of a range as text. Years have no thousands sign."""
    lower, upper = plain(column.lower), plain(column.upper)
    return (ungrouped(lower), ungrouped(upper)) if column.lower >= 1_000 and column.upper < 3_000 else (lower, upper)


def _limits(column: Number) -> str:
    lower, upper = _ends(column)
    return say("data.short.range" if column.lower >= 0 else "data.short.range_below", lower=lower, upper=upper)


def list_words(column: Category | ItemSet) -> str:
    if column.size <= MOST_LISTED:
        return plain(column.labels)
    return say("data.list", labels=column.labels[: MOST_LISTED - 2], more=column.size - MOST_LISTED + 2)


def _of_list(column: Category, relation: Relation, people: int, unit: dp.Unit, allowance: dp.Budget) -> list[str]:
    """Sentences: how many bars the list has, and how accurate each bar is."""
    query, promise = _first("histogram", column, relation, people, unit, allowance)
    lines = [say("data.price.bars", labels=list_words(column), bars=column.size)]
    return [*lines, *_promised(query, "each", promise=promise.words(query))]


def _of_items(column: ItemSet, relation: Relation, people: int, unit: dp.Unit, allowance: dp.Budget) -> list[str]:
    """Sentences: how accurate the most common item is, and whether every item can be counted."""
    query, promise = _first("top_item", column, relation, people, unit, allowance)
    lines = [say("data.price.items", labels=list_words(column), items=column.size)]
    lines += _promised(query, "top", promise=promise.words(query))
    code = "data.price.no_bars" if column.at_most is None else "data.price.few_items"
    return [*lines, say(code, each=column.at_most)]


def _of_days(column: dp.Date, relation: Relation, people: int, unit: dp.Unit, allowance: dp.Budget) -> list[str]:
    query, promise = _first("median", column, relation, people, unit, allowance)
    lines = [say("data.price.days", range=day_words(column), size=column.size)]
    return [*lines, *_promised(query, "middle_day", now=promise.size_for(query))]


def _promised(query: dp.Query, code: str, **facts: str) -> list[str]:
    """A sentence in a list: how accurate the first answer will be, or the ε of a useful one; empty if no ε makes it
    useful."""
    if query.promise().amount <= query.coarse():
        return [say(f"data.price.{code}", **facts)]
    spend = _least(query)
    return [] if spend is None else [say(f"data.price.{code}_spend", price=_spent(spend))]


_SENTENCES: dict[type, Callable[..., list[str]]] = {
    Number: _of_number,
    Category: _of_list,
    ItemSet: _of_items,
    dp.Date: _of_days,
}


def day_words(column: dp.Date) -> str:
    return say("data.done.ends", first=_day(column, 0), last=_day(column, -1))


def _day(column: dp.Date, place: int) -> str:
    return day(str(column.value(place % column.size)))


# --- how much an allowance is worth


@dataclass(frozen=True)
class Typical:
    """The first question about a column, in the middle of all such questions by price, at the least ε clearly above
    noise."""

    query: dp.Query
    spend: Fraction | None  # None: no usual ε makes it more than noise


def typical(schema: dp.Schema, relation: Relation, people: int, unit: dp.Unit = ROWS) -> Typical:
    """The median by ε of the first questions about all columns. Small tables, long lists and many rows per person raise
    it."""
    asked = [(_started(name, column, relation, people, unit), name, column) for name, column in schema.columns.items()]
    asked.sort(key=lambda each: MOST_SPEND if each[0] is None else each[0].epsilon)
    query, name, column = asked[len(asked) // 2]
    if query is not None:
        return Typical(query, query.epsilon)
    key, _ = first_asked(name, schema)[0]
    return Typical(_query(key, name, column, relation, people, unit).at(MOST_SPEND), None)


@lru_cache(maxsize=2_000)
def _started(name: str, column: Column, relation: Relation, people: int, unit: dp.Unit) -> dp.Query | None:
    """The cheapest first question about a column; None if none is worth asking at any usual ε."""
    facts = Facts("table", dp.Schema({name: column}), unit, relation, people)
    asked = first_asked(name, facts.schema)
    offered = (worth_asking(facts, key, given, lambda query: True) for key, given in asked)
    return min((query for query in offered if query is not None), key=lambda query: query.epsilon, default=None)


def good_questions(budget: dp.Budget, asked: Typical) -> int:
    """About how many questions like the typical one a budget holds. Better noise improves the answer, not the price."""
    if asked.spend is None:
        return 0
    rule = budget.rule()
    return fits(rule, Totals.NOTHING, cost(asked.query.loss(), rule.alpha))


# --- in a few words, for a column's line


def short(
    column: Column, unit: dp.Unit, relation: Relation, sizes: Sequence[int], allowance: dp.Budget = USUAL_ALLOWANCE
) -> str:
    """The error of the first answer about a column, in a few words; of several sizes, for the largest, which the screen
    names once."""
    question = {Number: "mean", Category: "histogram", ItemSet: "top_item"}.get(type(column), "median")
    query, promise = _first(question, column, relation, sizes[-1], unit, allowance)
    if question == "median":
        return say("data.short.median", within=promise.size_for(query))
    within = _size(column, promise.amount)
    if isinstance(column, Category | ItemSet):
        within = say(f"amount.{query.counted}", alpha=within)
    return say(f"data.short.{question}", within=within)


def too_wide(
    column: Column,
    usual: Range,
    unit: dp.Unit,
    relation: Relation,
    sizes: Sequence[int],
    allowance: dp.Budget = USUAL_ALLOWANCE,
) -> str:
    """A warning that an average would be off by more than a usual value, if a range that still holds several times that
    value would help. Empty if somebody narrowed the usual range: then that is what the column holds. Also empty if the
    number of people is unknown: then the page shows the error for several sizes."""
    if not isinstance(column, Number) or len(sizes) > 1:
        return ""
    like, least, most = (read_number(text, "range") for text in (usual.like, usual.lower, usual.upper))
    enough = ceil((abs(like) * _HELD - column.lower) / column.step) * column.step
    if column.diameter < most - least or not 0 < enough < column.diameter:
        return ""
    narrow = replace(column, upper=column.lower + enough, missing=None)
    now, then = (_first("mean", one, relation, sizes[0], unit, allowance)[1].amount for one in (column, narrow))
    return say("data.short.wide") if then <= abs(like) < now else ""


def _size(column: Column, amount: Fraction) -> str:
    if isinstance(column, Number):
        return measured(two_figures(amount), column.measure)
    return two_figures(amount) if isinstance(column, Category | ItemSet) else percent(min(amount, Fraction(1)))


def short_words(column: Column) -> str:
    """The declaration on one line."""
    if isinstance(column, Number):
        text = _limits(column)
        if column.step != 1:
            text = say("data.short.range_step", range=text, step=column.step)
        text = measured(text, column.measure)
        return draft.code_words(text, draft.unusual_codes(column), "data.short.codes")
    if isinstance(column, Category):
        return _list_words(column)
    if isinstance(column, ItemSet):
        return say("data.done.several", labels=plain([*column.values[:3], *(["…"] if column.size > 3 else [])]))
    first, last = (str(column.value(place)) for place in (0, column.size - 1))
    if first.endswith("-01-01") and last.endswith("-12-31"):
        return say("data.short.years", first=first[:4], last=last[:4])
    return say("data.short.days", first=_day(column, 0), last=_day(column, -1))


def all_shown(column: Column) -> bool:
    """Does the line of a column show every value of its list?"""
    return isinstance(column, Category) and len(column.values) <= FEW_SHOWN


def briefly(column: Column) -> str:
    """The declaration in fewer words, beside sample cells. A long list shows how many values it has; a very long one
    also what other cells count as. Empty if the sample cells are the values."""
    if isinstance(column, Category):
        if {*map(plain, column.values)} <= {*also(column)}:
            return ""
        if all_shown(column):
            return plain(column.values)
        text = say("data.short.many", many=len(column.values))
        if len(column.values) <= MOST_LOOKED_OVER or column.unknown in column.values:
            return text
        return say("data.short.many_else", size=text, other=column.unknown)
    if isinstance(column, Number):  # without how it is rounded
        text = measured(_limits(column), column.measure)
        return draft.code_words(text, draft.unusual_codes(column), "data.short.codes")
    return short_words(column)


def _list_words(column: Category) -> str:
    if len(column.values) > FEW_SHOWN:
        usual = next((key for key, preset in LISTS.items() if preset.values == column.values), None)
        named = say(f"data.list.{usual}") if usual else plain([*column.values[:3], "…"])
        text = say("data.short.values", labels=named, many=len(column.values))
    else:
        text = plain(column.values)
    like = [other for other in also(column) if other not in map(plain, column.values)]
    return say("data.short.spelled", labels=text, like=like) if like else text


def also(column: Column) -> tuple[str, ...]:
    """Some spellings that a usual list accepts; empty for other columns."""
    if not isinstance(column, Category):
        return ()
    usual = next((preset for preset in (*LISTS.values(), YES_NO) if preset.table == column.spellings), None)
    return () if usual is None else usual.spelled
