"""Is an answer too noisy to say anything? The promise, public facts and the released answer decide: no cost.

A figure    says nothing if its range covers nine tenths of its declared limits.
Groups      are not distinguished if their ranges have a point in common.
A name      is drawn from |R| candidates, with a promised gap g to the best. If n rows share |R| values, the best has at
            least n/|R| of them. If g is at most a tenth of that, the drawn name has at least nine tenths of the count
            of the best. If g is below all of it, the drawn name is the most likely: no other is more likely to be the
            best, whatever was drawn, and a name that hardly anybody has is seldom drawn. Otherwise the name says
            little. How many rows meet a condition is not public, so under a condition we claim no likelihood. That n
            rows share the values comes from the declaration: if nearly all cells are empty, or nobody meets the
            condition, another name may be best. “None is ahead of it by more than g”, shown beside every name, holds
            on every table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from dpengine.core.types import Ends, Json

FEW = "few"  # too few people for this noise
APART = "apart"  # the groups' ranges overlap
FOUND = "found"  # nothing stands out of the noise
SHAPE = "shape"  # a flat curve would fit as well
NOISE = "noise"  # the rows or the model are mostly noise
LIKELY = "likely"  # the most likely to come first; its lead is unknown
REST = "rest"  # first comes the label for everything outside the list
STATES = (FEW, APART, FOUND, SHAPE, NOISE, LIKELY, REST)

NEARLY = Fraction(9, 10)
FAR = Fraction(1, 10)  # of the declared number of people: we mention a larger difference
DOUBT = 1e-6  # far above the rounding error of a few float operations


def fills(low: Json, high: Json, least: Json, most: Json) -> bool:
    """Does [low, high] cover nearly all of [least, most]? An answer may have very many ranges, so floats decide, and
    fractions where a float is too close to call."""
    first, last, bottom, top = float(low), float(high), float(least), float(most)
    wide = top - bottom
    if wide > DOUBT * max(abs(bottom), abs(top)):
        near = (min(last, top) - max(first, bottom)) / wide
        if abs(near - 0.9) > DOUBT:
            return near > 0.9
    low, high, least, most = (Fraction(end) for end in (low, high, least, most))
    return bool(least < most and min(high, most) - max(low, least) >= NEARLY * (most - least))


def alike(ranges: Iterable[Ends]) -> bool:
    """Do all ranges have a point in common? Ends are numbers, or days in ISO form."""
    lows, highs = zip(*ranges, strict=True)
    return bool(max(lows) <= min(highs))


def leaders(ranges: Mapping[str, Ends]) -> list[str]:
    """The parts that may be the largest."""
    ahead = max(low for low, _ in ranges.values())
    return [part for part, (_, high) in ranges.items() if high >= ahead]


def state_of_first(gap: Json, about: int, candidates: int, everyone: bool) -> str:
    """The state of a drawn name: "" if it surely comes first or nearly so, else LIKELY or APART."""
    equal = Fraction(about, candidates)
    if not everyone or gap >= equal:
        return APART
    return "" if gap <= (1 - NEARLY) * equal else LIKELY
