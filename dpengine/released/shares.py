"""Shares of released counts, with ranges that hold whenever those of the counts do: no further noise, nothing paid.

Counts x_i lie in [l_i, u_i], all at once except with chance β, and are at least 0. A share x_i / Σx grows with x_i and
falls with every other count, so it lies between l_i / (l_i + Σ_{j≠i} u_j) and u_i / (u_i + Σ_{j≠i} l_j): interval
arithmetic that is exact, for all shares of all rows at once. Where all counts of a row may be 0, nothing is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class ShareOfAll:
    """In percent."""

    value: Fraction
    low: Fraction
    high: Fraction


def shares(
    counts: Sequence[Fraction | int], ranges: Sequence[tuple[Fraction | int, Fraction | int]]
) -> list[ShareOfAll] | None:
    """Of each count among all of them; None where there may be nobody at all."""
    told = [max(Fraction(one), Fraction(0)) for one in counts]
    lows = [max(Fraction(low), Fraction(0)) for low, _ in ranges]
    highs = [max(Fraction(high), Fraction(0)) for _, high in ranges]
    least, most, whole = sum(lows), sum(highs), sum(told)
    if least <= 0:
        return None
    found = []
    for value, low, high in zip(told, lows, highs, strict=True):
        ends = _part(low, most - high), _part(high, least - low)
        found.append(ShareOfAll(min(max(_part(value, whole - value), ends[0]), ends[1]), *ends))
    return found


def _part(one: Fraction, rest: Fraction) -> Fraction:
    return 100 * one / (one + rest) if one + rest else Fraction(0)
