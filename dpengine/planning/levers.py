"""What would help where an answer would be mostly noise: a narrower range, fewer groups, another question that tells
much of the same for the same price, more of the allowance.

Each lever is the question changed in one way, with its promise: public facts alone decide which are offered and in what
order. Whether a narrower range would still hold everybody is for whoever knows the file to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import floor, text_of, up
from dpengine.core.json_types import JsonObject
from dpengine.declared.schema import Number, Schema
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery

NARROWER = 5  # times
WORTH = Fraction(9, 10)  # a lever leaves at most so much of the error


@dataclass(frozen=True)
class Lever:
    """`query` is the changed question. `ends` are those of a narrower range, which must be declared first."""

    kind: Literal["range", "groups", "bars", "top", "spend"]
    query: AnyQuery
    noise: Fraction  # how many times the error that would be too much
    ends: tuple[Number, Number] | None = None


def levers(
    query: AnyQuery,
    price: Callable[[AnyQuery], Fraction | None],
    bought: Callable[[AnyQuery, Fraction], AnyQuery | None] = lambda query, share: None,
    narrow: bool = True,
) -> list[Lever]:
    """The strongest first. `price` says what a question takes, or None where it does not fit any more; `bought` builds
    another question for that price. Not `narrow`: cells were found outside the range already."""
    coarse = query.coarse()
    found = [*(_narrowed(query, coarse) if narrow else ()), *_fewer(query), *_dearer(query, coarse, price)]
    if (share := price(query)) is not None:
        found += _told_by(query, coarse, lambda other: bought(other, share))
    now = query.promise().amount / coarse
    return sorted((one for one in found if one.noise <= now * WORTH), key=lambda one: one.noise)


def _narrowed(query: AnyQuery, coarse: Fraction) -> Iterator[Lever]:
    """The range a fifth as wide, between round ends, from the end that is nearer to zero."""
    name = query.answer_column
    column = query.facts.schema.columns.get(name)
    if not isinstance(column, Number):
        return
    grain = Fraction(10) ** 12
    while grain > column.diameter / NARROWER:
        grain /= 10
    width = max(floor(column.diameter / NARROWER / max(grain, column.step)), 1) * max(grain, column.step)
    low, high = column.lower, column.lower + width
    if abs(column.upper) < abs(column.lower):
        low, high = column.upper - width, column.upper
    try:
        narrow = Number(low, high, column.step, column.shape, column.missing, column.measure, column.codes)
        schema = Schema(query.facts.schema.columns | {name: narrow})
        changed = type(query).build(replace(query.facts, schema=schema), query.parameters())
    except AllowanceError:  # a value for empty cells, an edge or a condition lies outside it
        return
    yield Lever("range", changed, changed.promise().amount / coarse, (column, narrow))


def _fewer(query: AnyQuery) -> Iterator[Lever]:
    """Of all with fewer groups the one with most that is no longer mostly noise, else the strongest."""
    found = []
    for key, parameters in query.fewer():
        try:
            changed = catalogue[key].build(query.facts, parameters)
        except AllowanceError:
            continue
        found.append(Lever("groups", changed, changed.promise().amount / changed.coarse()))
    good = [one for one in found if one.noise <= 1]
    if found:
        yield max(good, key=lambda one: one.noise) if good else min(found, key=lambda one: one.noise)


def _told_by(query: AnyQuery, coarse: Fraction, bought: Callable[[AnyQuery], AnyQuery | None]) -> Iterator[Lever]:
    """The first few of a list, read off its bars: if every bar is within t, the few that look largest are at most 2t
    behind. Or, of all bars of a list, the most common value alone."""
    given = query.parameters()
    kept = {name: one for name, one in given.items() if name in ("column", "where", "epsilon", "beta")}
    few = int(given.get("how_many") or 1) > 1
    key = {"top_item": "histogram" if few else "", "histogram": "top_item" if "bins" not in given else ""}
    try:
        changed = catalogue[other].build(query.facts, kept) if (other := key.get(query.card.key, "")) else None
    except AllowanceError:
        return
    best = None if changed is None else bought(changed)
    if best is not None and few:
        yield Lever("bars", best, 2 * best.promise().amount / coarse)
    elif best is not None:
        yield Lever("top", best, best.promise().amount / best.coarse())


def _dearer(query: AnyQuery, coarse: Fraction, price: Callable[[AnyQuery], Fraction | None]) -> Iterator[Lever]:
    """So much more that it is no longer mostly noise, or half of that, and so on, while it fits."""
    times = query.promise().amount / coarse
    while times > 1:
        parameters: JsonObject = query.parameters() | {"epsilon": text_of(up(query.epsilon * times, 1000))}
        try:
            dearer = type(query).build(query.facts, parameters)
        except AllowanceError:
            times /= 2
            continue
        if price(dearer) is not None:
            yield Lever("spend", dearer, dearer.promise().amount / coarse)
            return
        times /= 2
