"""Free uses of a released curve: cut it off below zero, make it add up to 1, and draw values from it.

All of it is post-processing (thesis, Thm 4.3): only the released heights and public facts are used, never the data, so
it costs no privacy and may be done as often as one likes. Nothing is promised about the result: the band is about the
released curve. The randomness here protects nobody, but comes from the operating system all the same.
"""

from __future__ import annotations

import math

import numpy as np

from dpengine.core.arrays import Floats
from dpengine.core.errors import AllowanceError
from dpengine.mechanisms.curves.density import Density
from dpengine.noise.coins import SystemCoins

MOST_VALUES = 100_000


def heights(query: Density, value: dict[str, float]) -> Floats:
    """The released curve as an array over its grid, or its two grids."""
    curve = np.array([value[label] for label in query.labels()], dtype=np.float64)
    return curve.reshape((query.points,) * len(query.columns))


def cut_off(query: Density, value: dict[str, float]) -> Floats | None:
    """The curve with negative heights set to 0, scaled to add up to 1 over the declared range; None where nothing is
    left. Each grid point stands for the values nearest to it."""
    positive = np.maximum(heights(query, value), 0)
    total = float((positive * _areas(query)).sum())
    return positive / total if total > 0 else None


def sample(query: Density, value: dict[str, float], count: int) -> list[tuple[float, ...]]:
    """Made-up rows from the cut-off curve: a grid point drawn by its share, then a uniform value among those nearest to
    it, on the column's steps."""
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
    """Uniform in [0, 1)."""
    return (SystemCoins().words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _areas(query: Density) -> Floats:
    """The width, or area, that each grid point stands for, in the columns' units: half as much at an end."""
    widths = []
    for column in query.declared:
        width = np.full(query.points, float(column.diameter) / (query.points - 1))
        width[[0, -1]] /= 2
        widths.append(width)
    return widths[0] if len(widths) == 1 else np.outer(*widths)


def scale_of(query: Density) -> tuple[float, tuple[float, ...]]:
    """The unit in which heights are shown, from public facts: the factor to multiply them by (shares in percent), and
    the width of each column they are per, a round number near a twentieth of the range."""
    steps = tuple(_round(float(column.diameter) / 20) for column in query.declared)
    return math.prod(steps) * (100 if query.people is not None else 1), steps


def _round(width: float) -> float:
    """The largest 1, 2 or 5 times a power of ten that is at most this."""
    power = 10.0 ** math.floor(math.log10(width))
    return power * max(digit for digit in (1, 2, 5) if digit * power <= width * (1 + 1e-9))
