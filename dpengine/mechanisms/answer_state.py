"""When an answer is too noisy to say anything. Decided from the promise, public facts and the released answer alone, so
it costs nothing.

A figure    says nothing if its range covers nine tenths of the values that it can have by declaration.
Groups      cannot be told apart if some figure lies in the ranges of all of them.
A name      is drawn from |R| candidates, with a promised gap g to the best. If n rows share |R| values the best one has
            at least n/|R| of them. Where g is at most a tenth of that the chosen one has at least nine tenths of what
            the best one has. Where g is below all of it the chosen one is the most likely: no other is more likely to
            be the best, whatever was drawn, and one that hardly anybody has seldom comes out. Elsewhere the name alone
            says little. How many rows a condition leaves is not public, so under one nothing is said of how likely a
            name is. That n rows share the values is taken from the declaration: where
            nearly nobody has an answer, or nobody meets any of the conditions, the name may be another. “None is ahead
            of it by more than g”, which stands beside every name, holds on every table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from dpengine.core.types import Ends, Json

FEW = "few"  # too few people for this noise
APART = "apart"  # the groups cannot be told apart
FOUND = "found"  # nothing stands out of the noise
SHAPE = "shape"  # a flat curve would fit as well
NOISE = "noise"  # rows or a model that are mostly noise
LIKELY = "likely"  # the most likely to come first, by what was drawn; by how far is not known
REST = "rest"  # what comes first stands for everything that is not in the list
STATES = (FEW, APART, FOUND, SHAPE, NOISE, LIKELY, REST)

NEARLY = Fraction(9, 10)
FAR = Fraction(1, 10)  # of the declared number of people: a number that differs by more is told
DOUBT = 1e-6  # far above the rounding of a few operations on floats


def fills(low: Json, high: Json, least: Json, most: Json) -> bool:
    """Does [low, high] cover nearly all of [least, most]? Decided in floats, because an answer may have very many
    ranges, and exactly where a float is too close to call."""
    first, last, bottom, top = float(low), float(high), float(least), float(most)
    wide = top - bottom
    if wide > DOUBT * max(abs(bottom), abs(top)):
        near = (min(last, top) - max(first, bottom)) / wide
        if abs(near - 0.9) > DOUBT:
            return near > 0.9
    low, high, least, most = (Fraction(end) for end in (low, high, least, most))
    return bool(least < most and min(high, most) - max(low, least) >= NEARLY * (most - least))


def alike(ranges: Iterable[Ends]) -> bool:
    """Do all of these ranges have a figure in common? Ends are numbers, or days in ISO form."""
    lows, highs = zip(*ranges, strict=True)
    return bool(max(lows) <= min(highs))


def leaders(ranges: Mapping[str, Ends]) -> list[str]:
    """Which of them may be the largest."""
    ahead = max(low for low, _ in ranges.values())
    return [part for part, (_, high) in ranges.items() if high >= ahead]


def state_of_first(gap: Json, about: int, candidates: int, everyone: bool) -> str:
    """How much a name that was drawn says of which comes first: "" where it is as good as certain, else LIKELY or
    APART."""
    equal = Fraction(about, candidates)
    if not everyone or gap >= equal:
        return APART
    return "" if gap <= (1 - NEARLY) * equal else LIKELY
