"""Makes a released curve monotone. Post-processing of what was released: free.

Statement   Let low ≤ f ≤ high at every point for a truth f that never falls. Then f is at least the greatest low so far
            and at most the least high from there on: a band inside the old one that holds f whenever the old one does.
            `monotone` is the least-squares fit (pool adjacent violators: Ayer, Brunk, Ewing, Reid, Silverman 1955) kept
            inside it; a rising curve cut by rising bounds rises.
Halfway     is the first point where f reaches half of its last value. It is not before the first point where high
            reaches half of the last low, nor after the first where low reaches half of the last high.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

Curve = list[float]


def rising(heights: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> tuple[Curve, Curve, Curve]:
    """The monotone curve and its band. If no monotone curve fits into the band, the band stays as it was; the true
    curve is then outside it, as it may be with probability β."""
    fit = pooled(heights)
    low, high = list(accumulate(lows, max)), list(accumulate(reversed(highs), min))[::-1]
    if any(a > b for a, b in zip(low, high, strict=True)):
        return fit, list(lows), list(highs)
    return [min(max(y, a), b) for y, a, b in zip(fit, low, high, strict=True)], low, high


def pooled(heights: Sequence[float]) -> Curve:
    """The rising sequence with the least sum of squared differences."""
    blocks: list[tuple[float, int]] = []  # mean, length
    for height in heights:
        mean, length = float(height), 1
        while blocks and blocks[-1][0] > mean:
            before, many = blocks.pop()
            mean, length = (before * many + mean * length) / (many + length), many + length
        blocks.append((mean, length))
    return [mean for mean, length in blocks for _ in range(length)]


def halfway(heights: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> tuple[int, int, int] | None:
    """The point where the curve is halfway, and the points between which the true one lies; None where the band does
    not say."""
    last = len(heights) - 1
    if lows[last] <= 0 or lows[last] < highs[last] / 2:
        return None
    fit = pooled(heights)
    low = _reaches(highs, lows[last] / 2)
    high = _reaches(lows, highs[last] / 2)
    return min(max(_reaches(fit, fit[last] / 2), low), high), low, high


def _reaches(heights: Sequence[float], level: float) -> int:
    return next(place for place, height in enumerate(heights) if height >= level)
