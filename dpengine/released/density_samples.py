"""What can be made of a released curve for nothing: cut off below zero, made to add up to 1, and values drawn from it.

All of it is post-processing (thesis, Thm 4.3): only the released heights and public facts are used, never the data, so
it costs no privacy and may be done as often as one likes. Nothing is promised of it: the band speaks of the released
curve. The randomness here protects nobody; it is the system's all the same.
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
    found = np.array([value[label] for label in query.labels()], dtype=np.float64)
    return found.reshape((query.points,) * len(query.columns))


def cut_off(query: Density, value: dict[str, float]) -> Floats | None:
    """The curve without what is below zero, so that it adds up to 1 over the declared range; None where nothing is
    left. Each grid point stands for what lies nearest to it."""
    kept = np.maximum(heights(query, value), 0)
    total = float((kept * _areas(query)).sum())
    return kept / total if total > 0 else None


def sample(query: Density, value: dict[str, float], count: int) -> list[tuple[float, ...]]:
    """Made-up rows from the cut-off curve: a grid point by its share, then any place nearest to it, on the column's
    steps."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_VALUES:
        raise AllowanceError("density.sample_many", most=MOST_VALUES)
    kept = cut_off(query, value)
    if kept is None:
        raise AllowanceError("density.sample_none")
    edges = np.cumsum((kept * _areas(query)).ravel())
    places_in_all = np.searchsorted(edges, _even(count) * edges[-1], side="right")
    drawn = np.unravel_index(np.minimum(places_in_all, len(edges) - 1), kept.shape)
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
    """What each grid point stands for, in the columns' units: half as much at an end."""
    each = []
    for column in query.declared:
        width = np.full(query.points, float(column.diameter) / (query.points - 1))
        width[[0, -1]] /= 2
        each.append(width)
    return each[0] if len(each) == 1 else np.outer(*each)


def scale_of(query: Density) -> tuple[float, tuple[float, ...]]:
    """What heights are shown in: by how much to multiply them, and per how much of each column, from public facts: a
    round number near a twentieth of the range; shares in percent."""
    steps = tuple(_round(float(column.diameter) / 20) for column in query.declared)
    return math.prod(steps) * (100 if query.people is not None else 1), steps


def _round(width: float) -> float:
    """1, 2 or 5 times a power of ten, the nearest at most this."""
    power = 10.0 ** math.floor(math.log10(width))
    return power * max(one for one in (1, 2, 5) if one * power <= width * (1 + 1e-9))
