"""Five questions a table can answer, from its declared columns alone, each at the least usual spend worth its price."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpengine.contract import Facts, Query
from dpengine.errors import AllowanceError
from dpengine.mechanisms import catalogue
from dpengine.schema import Category, Number

SPENDS = ("0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "1", "2")
MANY = 5


def suggest(facts: Facts, most: Fraction) -> list[Query]:
    """At most five different questions worth asking for at most `most`; fewer where the table is small."""
    found: list[Query] = []
    for key, parameters in _ideas(facts):
        query = _worth(facts, key, parameters, most)
        if query is not None:
            found.append(query)
        if len(found) == MANY:
            break
    return found


def _worth(facts: Facts, key: str, parameters: dict[str, Any], most: Fraction) -> Query | None:
    for spend in SPENDS:
        if Fraction(spend) > most:
            return None
        try:
            query = catalogue[key].build(facts, {"epsilon": spend} | parameters)
        except AllowanceError:
            return None
        if query.promise().amount * 2 <= query.coarse():
            return query
    return None


def _ideas(facts: Facts) -> list[tuple[str, dict[str, Any]]]:
    """One of each kind first, over the columns in their declared order."""
    schema = facts.schema
    numbers, lists = schema.of_kind(Number), schema.of_kind(Category)
    others = [name for name in schema.columns if name not in numbers and name not in lists]
    short = [name for name in lists if schema[name].size <= 15]
    ideas: list[tuple[str, dict[str, Any]]] = []
    ideas += [("median", {"column": name}) for name in numbers[:1]]
    ideas += [("top_item", {"column": name}) for name in (others + lists)[:1]]
    ideas += [("proportion", {"of": [[name, "in", [schema[name].value(0)]]]}) for name in reversed(short[-1:])]
    ideas += [("mean", {"column": numbers[0], "by": name}) for name in short[:1] if numbers]
    ideas += [("histogram", {"column": name}) for name in (numbers[1:] + short)[:2]]
    ideas += [("count", {"where": [[name, "in", [schema[name].value(0)]]]}) for name in short[:1]]
    ideas += [("mean", {"column": name}) for name in numbers[:2]]
    ideas += [("top_item", {"column": name}) for name in lists[1:3]]
    return ideas
