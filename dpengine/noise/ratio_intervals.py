"""Intervals of a ratio with a noisy numerator and denominator: every value the two ranges allow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpengine.core.types import Floats

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


def tested_range(top: float, bottom: float, reaches: Floats) -> tuple[float, float]:
    """All u in [−1, 1] that a test does not reject: |top − u·bottom| ≤ c(u), and what lies between them; all of [−1, 1]
    if none is left. The test at the true u fails with the chance for which c is made, so the truth lies in the range
    except with that chance, whatever the bottom is (Fieller 1954).

    `reaches` bounds c from above on cells of equal length from −1 to 1."""
    edges = np.linspace(-1, 1, len(reaches) + 1)
    if bottom == 0:
        kept = np.abs(top) <= reaches
        low, high = edges[:-1], edges[1:]
    else:
        ends = (top - reaches) / bottom, (top + reaches) / bottom
        low, high = np.maximum(np.minimum(*ends), edges[:-1]), np.minimum(np.maximum(*ends), edges[1:])
        kept = low <= high
    if not kept.any():
        return -1.0, 1.0
    return max(float(low[kept].min()) - 1e-12, -1.0), min(float(high[kept].max()) + 1e-12, 1.0)


def ratio(top: Exact, bottom: Exact, low: Fraction, high: Fraction) -> Fraction:
    """The quotient, clamped to [low, high], where the true one lies."""
    return min(max(Fraction(top, max(bottom, 1)), low), high)


def share_and_range(hits: Exact, misses: Exact, reach: Exact) -> tuple[float, tuple[float, float]]:
    """H/(H+M) in percent, and its range if both may be off by `reach`: the share rises in H and falls in M, so the ends
    are at corners of the box."""
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
