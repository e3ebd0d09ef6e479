"""Intervals of a ratio whose numerator and denominator are both noisy: every value the two ranges allow."""

from __future__ import annotations

from fractions import Fraction

Exact = int | Fraction


def ratio_range(
    top: Exact, top_reach: Exact, bottom: Exact, bottom_reach: Exact, low: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """All T/B with |T−top| ≤ top_reach, |B−bottom| ≤ bottom_reach and B ≥ 1, cut to [low, high], where the truth lies.

    When no B ≥ 1 is possible nothing is known: the whole of [low, high].
    """
    most = bottom + bottom_reach
    if most < 1:
        return low, high
    least = max(bottom - bottom_reach, 1)
    ends = [Fraction(t, b) for t in (top - top_reach, top + top_reach) for b in (least, most)]
    first, last = max(min(ends), low), min(max(ends), high)
    return (first, last) if first <= last else (low, high)


def ratio(top: Exact, bottom: Exact, low: Fraction, high: Fraction) -> Fraction:
    """The plain quotient, cut to where the truth lies."""
    return min(max(Fraction(top, max(bottom, 1)), low), high)
