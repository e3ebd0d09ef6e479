"""Questions a table can answer well, and what would help where an answer is mostly noise. From public facts alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of, floor, text_of, up
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import ref_json
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.marginals.wanted import readable
from dpengine.mechanisms.query import AnyQuery
from dpengine.planning.opening import opening, room

WIDE, VERY_WIDE = 500, 2_000  # steps: a shorter range, as of ages and marks, is not cut
NARROWER, MUCH_NARROWER = 2, 5  # times
AT_END = Fraction(3, 4)  # of the range: a code beyond this may be why it is so wide
WORTH = Fraction(9, 10)  # a lever must leave at most this part of the error
SPENDS = ("0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "1", "2")
MANY = 5
FEW = 12  # bars
Idea = JsonObject


@dataclass(frozen=True)
class Lever:
    """A question with one change that makes it more than noise. `ends`: if the change is a narrower range, the column's
    declaration before and after."""

    kind: Literal["range", "groups", "bars", "top", "spend"]
    query: AnyQuery
    noise: Fraction  # the error, relative to what is mostly noise
    ends: tuple[Number, Number] | None = None


def levers(
    query: AnyQuery,
    price: Callable[[AnyQuery], Fraction | None],
    bought: Callable[[AnyQuery, Fraction], AnyQuery | None] = lambda query, share: None,
    narrow: bool = True,
    known: tuple[Fraction, Fraction] | None = None,
) -> list[Lever]:
    """What would help where an answer is mostly noise, the strongest first: a narrower range, fewer groups, a similar
    question for the same price, more of the allowance. `price` gives a question's price, or None if the rule does not
    admit it; `bought` builds another question for a price. Without `narrow`, cells are known to lie outside the range,
    and no narrower range is offered. No range is offered that excludes `known`, the ends of paid answers about the
    column. Only a person who knows the file can say whether a narrower range still holds everybody."""
    coarse = query.coarse()
    options = [*(_narrowed(query, coarse, known) if narrow else ()), *_fewer(query), *_dearer(query, coarse, price)]
    if (share := price(query)) is not None:
        options += _similar(query, coarse, lambda other: bought(other, share))
    now = query.promise().amount / coarse
    return sorted((lever for lever in options if lever.noise <= now * WORTH), key=lambda lever: lever.noise)


def _narrowed(query: AnyQuery, coarse: Fraction, known: tuple[Fraction, Fraction] | None) -> Iterator[Lever]:
    """The question with a narrower range: a wide range is halved, a very wide one cut to a fifth, at a round end. The
    end that is nearer to zero stays."""
    column = query.facts.schema.columns.get(query.answer_column)
    if not isinstance(column, Number) or column.size < WIDE or column.years:
        return
    times = MUCH_NARROWER if column.size >= VERY_WIDE and column.step >= 1 else NARROWER
    low, high = column.lower, _round(column.lower + column.diameter / times)
    if abs(column.upper) < abs(column.lower):
        low, high = -_round(-(column.upper - column.diameter / times)), column.upper
    if high - low < column.diameter / times / 2 or (column.lower < 0 < column.upper and not low <= 0 <= high):
        return  # no round end is there
    if known is not None and not (low <= known[0] and known[1] <= high):
        return
    changed = _within(query, column, low, high)
    if changed is not None:
        narrow = changed.facts.schema.number(query.answer_column)
        yield Lever("range", changed, changed.promise().amount / coarse, (column, narrow))


def _round(end: Fraction) -> Fraction:
    """A positive number rounded down to a figure such as 400, 150 or 0.5; any other number as it is."""
    if end <= 0:
        return end
    grain = Fraction(10) ** decimal_of(end).adjusted() / 2
    return floor(end / grain) * grain


def _within(query: AnyQuery, column: Number, low: Fraction, high: Fraction) -> AnyQuery | None:
    """The same question, with its column declared from `low` to `high`; None if it cannot be built so."""
    try:
        narrow = replace(column, lower=low, upper=high)
        schema = replace(query.facts.schema, columns=query.facts.schema.columns | {query.answer_column: narrow})
        return type(query).build(replace(query.facts, schema=schema), query.parameters())
    except AllowanceError:  # off the grid; or a value for empty cells, an edge or a condition lies outside it
        return None


def without_codes(query: AnyQuery) -> AnyQuery | None:
    """The same question with half the range, if a code for “unknown” lies near the range's upper end: perhaps the range
    is that wide only for the code. None otherwise, or if a narrower range does not help."""
    column = query.facts.schema.columns.get(query.answer_column)
    if not isinstance(column, Number):
        return None
    at_end = column.lower + column.diameter * AT_END
    if not any(at_end <= code <= column.upper for code in column.codes):
        return None
    half = column.lower + floor(column.diameter / 2 / column.step) * column.step
    narrower = _within(query, column, column.lower, half) if half > column.lower else None
    return narrower if narrower is not None and narrower.promise().amount <= query.promise().amount * WORTH else None


def _fewer(query: AnyQuery) -> Iterator[Lever]:
    """The question by fewer groups: with the most groups that are not mostly noise; if all versions are, the one with
    the least noise."""
    options = []
    for key, parameters in query.fewer():
        if (changed := catalogue[key].built(query.facts, parameters)) is not None:
            options.append(Lever("groups", changed, changed.promise().amount / changed.coarse()))
    good = [lever for lever in options if lever.noise <= 1]
    if options:
        yield max(good, key=lambda lever: lever.noise) if good else min(options, key=lambda lever: lever.noise)


def _similar(query: AnyQuery, coarse: Fraction, bought: Callable[[AnyQuery], AnyQuery | None]) -> Iterator[Lever]:
    """A similar question for the same price. For the top few of a list, all its bars: if every bar is within t, the few
    that look largest are at most 2t behind. For all bars of a list, the most common value alone."""
    given = query.parameters()
    kept = {name: value for name, value in given.items() if name in ("column", "where", "epsilon", "beta")}
    few = int(given.get("how_many") or 1) > 1
    key = {"top_item": "histogram" if few else "", "histogram": "top_item" if "bins" not in given else ""}
    other = key.get(query.card.key, "")
    changed = catalogue[other].built(query.facts, kept) if other else None
    best = None if changed is None else bought(changed)
    if best is not None and few:
        yield Lever("bars", best, 2 * best.promise().amount / coarse)
    elif best is not None:
        yield Lever("top", best, best.promise().amount / best.coarse())


def _dearer(query: AnyQuery, coarse: Fraction, price: Callable[[AnyQuery], Fraction | None]) -> Iterator[Lever]:
    """The question at the ε at which it is no longer mostly noise; if that ε is too dear, at half of it, and so on."""
    times = query.promise().amount / coarse
    while times > 1:
        parameters: JsonObject = query.parameters() | {"epsilon": text_of(up(query.epsilon * times, 1000))}
        dearer = type(query).built(query.facts, parameters)
        if dearer is not None and price(dearer) is not None:
            yield Lever("spend", dearer, dearer.promise().amount / coarse)
            return
        times /= 2


def suggest(facts: Facts, rule: Rule, totals: Totals, check: Callable[[AnyQuery], Fraction]) -> tuple[AnyQuery, ...]:
    """At most five different questions that are more than noise at their opening price. `check` prices checks."""
    left = max(1 - filter.used(rule, totals), Fraction(0))
    queries: list[AnyQuery] = []
    for key, parameters in [*_kinds(facts), *_further(facts)]:
        asked = catalogue[key].built(facts, {"epsilon": "1"} | parameters)
        if asked is None:
            continue
        opened = opening(asked, rule, totals, left, check(asked))
        if opened is not None and not opened.dear and room(opened.asked) >= 1:
            queries.append(opened.asked)
        if len(queries) == MANY:
            break
    return tuple(queries)


def takes_at_most(part: Fraction, rule: Rule, totals: Totals) -> Callable[[AnyQuery], bool]:
    """A function that returns True for a question that takes at most this part of the remaining allowance."""
    share = max(1 - filter.used(rule, totals), Fraction(0)) * part
    return lambda query: filter.affords(rule, totals, cost(query.loss(), rule.alpha), share)


def worth_asking(facts: Facts, key: str, parameters: Idea, affordable: Callable[[AnyQuery], bool]) -> AnyQuery | None:
    """The question at the smallest usual ε whose error is at most half of what counts as mostly noise; if no affordable
    ε is so exact, at the first whose error is no more than mostly noise. None if no affordable ε is that exact
    either."""
    useful = None
    for spend in SPENDS:
        query = catalogue[key].built(facts, {"epsilon": spend} | parameters)
        if query is None:
            return None
        if not affordable(query):
            break
        times = room(query)
        if times >= 2:
            return query
        useful = useful or (query if times >= 1 else None)
    return useful


def first_asked(name: str, schema: Schema) -> list[tuple[str, Idea]]:
    """Questions about a column, in order; the first one that is worth asking is suggested. Days are asked by month, or
    by year if there are many."""
    column, alone = schema[name], {"column": name}
    if isinstance(column, Number):
        return [("mean", alone), ("median", alone)]
    if isinstance(column, Date):
        return [("histogram", {"column": ref_json(readable(name, schema))}), ("median", alone)]
    return [("histogram" if isinstance(column, Category) and column.size <= FEW else "top_item", alone)]


def _kinds(facts: Facts) -> list[tuple[str, Idea]]:
    """One question of each kind, over the columns in order. A share shows the commoner of two values."""
    numbers, short = facts.schema.of_kind(Number), _short(facts)
    choices = facts.schema.of_kind(ItemSet) + _several(facts, facts.schema.of_kind(Category))
    ideas: list[tuple[str, Idea]] = []
    ideas += [("median", {"column": name}) for name in numbers[:1]]
    ideas += [("top_item", {"column": name}) for name in choices[:1]]
    ideas += [("proportion", {"of": _first(facts, name)}) for name in short[-1:]]
    groups = _several(facts, short) or short
    ideas += [("mean", {"column": numbers[0], "by": name}) for name in groups[:1] if numbers]
    return ideas


def _further(facts: Facts) -> list[tuple[str, Idea]]:
    schema = facts.schema
    numbers, short, sets = schema.of_kind(Number), _short(facts), schema.of_kind(ItemSet)
    ideas: list[tuple[str, Idea]] = []
    ideas += [("histogram", {"column": name}) for name in (sets + numbers[1:] + short)[:2]]
    ideas += [("count", {"where": _first(facts, name)}) for name in short[:1]]
    ideas += [("mean", {"column": name}) for name in numbers[:2]]
    ideas += [("top_item", {"column": name}) for name in _several(facts, schema.of_kind(Category))[1:3]]
    return ideas


def _short(facts: Facts) -> list[str]:
    return [name for name in facts.schema.of_kind(Category) if facts.schema[name].size <= 15]


def _several(facts: Facts, names: list[str]) -> list[str]:
    """The columns of `names` with more than two listed values, not counting the labels for empty and unknown cells."""
    return [name for name in names if len(facts.schema.category(name).values) > 2]


def _first(facts: Facts, name: str) -> list[list[Json]]:
    """Conditions that hold for the first listed value of a column."""
    return [[name, "in", [facts.schema[name].value(0)]]]
