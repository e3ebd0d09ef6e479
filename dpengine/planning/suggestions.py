"""Five questions a table can answer well, from its declared columns alone, each at the price it opens with."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import ref_json
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.marginals.bins import readable
from dpengine.mechanisms.query import AnyQuery
from dpengine.planning.opening import opening, room

SPENDS = ("0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "1", "2")
MANY = 5
FEW = 12  # bars
TINY = Fraction(1, 10**12)
Idea = JsonObject


def suggest(facts: Facts, rule: Rule, totals: Totals, check: Callable[[AnyQuery], Fraction]) -> tuple[AnyQuery, ...]:
    """At most five different questions that are more than noise at the price they open with; fewer where the table is
    small. `check` is what the check of a question takes."""
    left = max(1 - filter.used(rule, totals), Fraction(0))
    queries: list[AnyQuery] = []
    for key, parameters in [*_kinds(facts), *_further(facts)]:
        try:
            asked = catalogue[key].build(facts, {"epsilon": "1"} | parameters)
        except AllowanceError:
            continue
        found = opening(asked, rule, totals, left, check(asked))
        if found is not None and not found.dear and room(found.asked) >= 1 and len(queries) < MANY:
            queries.append(found.asked)
    return tuple(queries)


def takes_at_most(part: Fraction, rule: Rule, totals: Totals) -> Callable[[AnyQuery], bool]:
    """Does a question take at most this part of what is left of the allowance?"""
    share = max(1 - filter.used(rule, totals), Fraction(0)) * part
    return lambda query: filter.affords(rule, totals, cost(query.loss(), rule.alpha), share)


def worth_asking(
    facts: Facts, key: str, parameters: Idea, affordable: Callable[[AnyQuery], bool], room: int
) -> AnyQuery | None:
    """The question at the smallest usual ε whose error is half of what would be mostly noise, else at the smallest that
    has `room`."""
    useful = None
    for spend in SPENDS:
        try:
            query = catalogue[key].build(facts, {"epsilon": spend} | parameters)
        except AllowanceError:
            return None
        if not affordable(query):
            break
        times = query.coarse() / max(query.promise().amount, TINY)
        if times >= 2:
            return query
        useful = useful or (query if times >= room else None)
    return useful


def first_asked(name: str, schema: Schema) -> list[tuple[str, Idea]]:
    """What a column is asked about first, one after the other until one is worth asking: days by month, or by year
    where they are many."""
    column, alone = schema[name], {"column": name}
    if isinstance(column, Number):
        return [("mean", alone), ("median", alone)]
    if isinstance(column, Date):
        return [("histogram", {"column": ref_json(readable(name, schema))}), ("median", alone)]
    return [("histogram" if isinstance(column, Category) and column.size <= FEW else "top_item", alone)]


def _kinds(facts: Facts) -> list[tuple[str, Idea]]:
    """One question of each kind, over the columns in their declared order. For a list of two values, a share is enough
    to know the most common one."""
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
    """The columns with more than two listed values, not counting the labels for empty and unknown cells."""
    return [name for name in names if len(facts.schema.category(name).values) > 2]


def _first(facts: Facts, name: str) -> list[list[Json]]:
    """A condition: the first value of a list."""
    return [[name, "in", [facts.schema[name].value(0)]]]
