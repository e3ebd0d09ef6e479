"""The law of a value that is released only where its noisy count reaches a threshold: hidden, or a count."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from dpengine.noise.laws import Finite, Independent, Laplace, Normal, above, chance


def found_laws(
    one: dict[str, int], other: dict[str, int], threshold: int, scale: Fraction
) -> tuple[Independent, Independent]:
    """Of every value that either table holds: hidden, or its noisy count from the threshold on.

    From the larger count on the ratio of the two laws is constant: all of it is one outcome, and nothing is lost.
    """
    last = max((threshold, *one.values(), *other.values()))
    names = sorted(one.keys() | other.keys())
    return (
        Independent(tuple(_found(one.get(name, 0), threshold, scale, last) for name in names)),
        Independent(tuple(_found(other.get(name, 0), threshold, scale, last) for name in names)),
    )


@lru_cache(maxsize=4096)
def _found(count: int, threshold: int, scale: Fraction, last: int) -> Finite:
    if count == 0:
        return Finite({"hidden": Decimal(1)})  # a value that nobody holds is never released
    noisy = Laplace(count, scale)
    chances: dict[object, Decimal] = {place: chance(noisy, place) for place in range(threshold, last)}
    return Finite({"hidden": 1 - above(noisy, threshold - 1), **chances, "beyond": above(noisy, last - 1)})


@lru_cache(maxsize=4096)
def found_bell(count: int, threshold: int, variance: Fraction, least: int, most: int) -> Finite:
    """One window for both tables, whose counts are these two: beyond it lies less than 2e^-70."""
    if count == 0:
        return Finite({"hidden": Decimal(1)})
    noisy, reach = Normal(count, variance), math.isqrt(int(140 * variance)) + 2
    chances = {place: chance(noisy, place) for place in range(least - reach, most + reach + 1)}
    hidden = sum((p for place, p in chances.items() if place < threshold), Decimal(0))
    return Finite({"hidden": hidden} | {place: p for place, p in chances.items() if place >= threshold})
