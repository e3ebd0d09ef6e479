"""Free uses of a released curve: make it monotone, cut it off below zero, draw values from it.

All of it is post-processing (thesis, Thm 4.3): it uses the released heights and public facts, never the data, so it
costs no privacy and may be repeated. A cut-off curve and values drawn from it have no promise: the band is about the
released curve. The randomness here protects nobody, but comes from the operating system all the same.

Statement   Let low ≤ f ≤ high at every point for a truth f that never falls. Then f is at least the greatest low so far
            and at most the least high from there on: a band inside the old one that holds f whenever the old one does.
            `monotone` is the least-squares fit (pool adjacent violators: Ayer, Brunk, Ewing, Reid, Silverman 1955) kept
            inside it; a rising curve cut by rising bounds rises.
Halfway     is the first point where f reaches half of its last value. It is not before the first point where high
            reaches half of the last low, nor after the first where low reaches half of the last high.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import one_two_five
from dpengine.core.types import Floats
from dpengine.mechanisms.curves.density import Density
from dpengine.noise.coins import SystemCoins

MOST_VALUES = 100_000
Curve = list[float]


def rising(heights: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> tuple[Curve, Curve, Curve]:
    """The monotone curve, and the low and high ends of its band. If no monotone curve lies in the band, the band is
    returned unchanged: then the true curve is not in the band, which happens with probability at most β."""
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
    """The index of the curve's halfway point, and the first and last index where it may be; None if the band does not
    show it."""
    last = len(heights) - 1
    if lows[last] <= 0 or lows[last] < highs[last] / 2:
        return None
    fit = pooled(heights)
    low = _reaches(highs, lows[last] / 2)
    high = _reaches(lows, highs[last] / 2)
    return min(max(_reaches(fit, fit[last] / 2), low), high), low, high


def _reaches(heights: Sequence[float], level: float) -> int:
    return next(place for place, height in enumerate(heights) if height >= level)


def heights(query: Density, value: dict[str, float]) -> Floats:
    """The released curve as an array, with an axis for each column."""
    curve = np.array([value[label] for label in query.labels()], dtype=np.float64)
    return curve.reshape((query.points,) * len(query.columns))


def cut_off(query: Density, value: dict[str, float]) -> Floats | None:
    """The curve with negative heights set to 0, scaled to a total of 1 over the declared range; None if nothing is
    left. Each grid point stands for the values nearest to it."""
    positive = np.maximum(heights(query, value), 0)
    total = float((positive * _areas(query)).sum())
    return positive / total if total > 0 else None


def sample(query: Density, value: dict[str, float], count: int) -> list[tuple[float, ...]]:
    """Made-up rows from the cut-off curve: a grid point drawn by its share, then a uniform value among those nearest to
    this point, on the column's steps."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_VALUES:
        raise AllowanceError("density.sample_many", most=MOST_VALUES)
    density = cut_off(query, value)
    if density is None:
        raise AllowanceError("density.sample_none")
    edges = np.cumsum((density * _areas(query)).ravel())
    places_in_all = np.searchsorted(edges, _even(count) * edges[-1], side="right")
    drawn = np.unravel_index(np.minimum(places_in_all, len(edges) - 1), density.shape)
    columns = []
    for places, column in zip(drawn, query.declared, strict=True):
        last = query.points - 1
        near = (places + _even(count) - 0.5).clip(0, last) / last
        codes = np.rint(near * (column.size - 1)).astype(np.int64)
        columns.append([column.value(int(code)) for code in codes])
    return list(zip(*columns, strict=True))


def _even(count: int) -> Floats:
    return (SystemCoins().words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _areas(query: Density) -> Floats:
    """The width (or area) of each grid point's cell in the columns' units; cells at an end have half the width."""
    widths = []
    for column in query.declared:
        width = np.full(query.points, float(column.diameter) / (query.points - 1))
        width[[0, -1]] /= 2
        widths.append(width)
    return widths[0] if len(widths) == 1 else np.outer(*widths)


def scale_of(query: Density) -> tuple[float, tuple[float, ...]]:
    """The unit in which heights are shown, from public facts: a factor (shares are in percent), and for each column a
    round width near a twentieth of the column's range. A height is the number of people, or their share, in such a
    width."""
    steps = tuple(float(one_two_five(column.diameter / 200, column.diameter / 20)[-1]) for column in query.declared)
    return math.prod(steps) * (100 if query.people is not None else 1), steps
