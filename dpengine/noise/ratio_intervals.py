"""Intervals of a ratio with a noisy numerator and denominator: every value the two ranges allow."""

from __future__ import annotations

from fractions import Fraction

Exact = int | Fraction


def ratio_range(
    top: Exact, top_reach: Exact, bottom: Exact, bottom_reach: Exact, low: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """All T/B with |T−top| ≤ top_reach, |B−bottom| ≤ bottom_reach and B ≥ 1, cut to [low, high], where the truth lies;
    all of [low, high] if no B ≥ 1 is possible."""
    most = bottom + bottom_reach
    if most < 1:
        return low, high
    least = max(bottom - bottom_reach, 1)
    under, over = top - top_reach, top + top_reach
    first = max(Fraction(under, most if under >= 0 else least), low)
    last = min(Fraction(over, least if over >= 0 else most), high)
    return (first, last) if first <= last else (low, high)


def ratio(top: Exact, bottom: Exact, low: Fraction, high: Fraction) -> Fraction:
    """The quotient, clamped to [low, high], where the true one lies."""
    return min(max(Fraction(top, max(bottom, 1)), low), high)


def share_and_range(hits: Exact, misses: Exact, reach: Exact) -> tuple[float, tuple[float, float]]:
    """H/(H+M) in percent, and its range if both may be off by `reach`: it is monotone, so corners are the ends."""
    least = _share(max(hits - reach, 0), misses + reach)
    most = _share(hits + reach, max(misses - reach, 0))
    middle = _share(max(hits, 0), max(misses, 0))
    low, high = (Fraction(0) if least is None else least), (Fraction(100) if most is None else most)
    value = (low + high) / 2 if middle is None else middle
    return float(value), (float(low), float(high))


def _share(hits: Exact, misses: Exact) -> Fraction | None:
    """In percent; None if there is nobody to divide by."""
    if hits < 0 or misses < 0 or hits + misses <= 0:
        return None
    return Fraction(100 * hits, hits + misses)
