"""A quotient of two noisy numbers, and its range: every value that their noise allows. All of it is post-processing.

By intervals    each number lies in a range of its own (`ratio_range`, `share_and_range`).
By tests        u is in the range of T/B if a test does not reject |T − uB| as noise (Fieller 1954). T − uB has no error
                but its noise, whose law is known, so the range is narrower, and right whatever B is (`tested_range`).
                How far noise moves T − uB is bounded on cells of u: `mean_reaches`, `mean_reaches_of_three`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpengine.core.types import Bits, Floats, Integers
from dpengine.mechanisms.noise import Added

Exact = int | Fraction


def ratio(top: Exact, bottom: Exact, low: Fraction, high: Fraction) -> Fraction:
    """The quotient, clamped to [low, high], where the true one lies."""
    return min(max(Fraction(top, max(bottom, 1)), low), high)


# By intervals.


def ratio_range(
    top: Exact, top_reach: Exact, bottom: Exact, bottom_reach: Exact, low: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """All T/B with |T−top| ≤ top_reach, |B−bottom| ≤ bottom_reach and B ≥ 1, cut to [low, high], where the truth lies;
    all of [low, high] if no B ≥ 1 is possible, or if no such T/B lies in it."""
    most = bottom + bottom_reach
    if most < 1:
        return low, high
    least = max(bottom - bottom_reach, 1)
    under, over = top - top_reach, top + top_reach
    first = max(Fraction(under, most if under >= 0 else least), low)
    last = min(Fraction(over, least if over >= 0 else most), high)
    return (first, last) if first <= last else (low, high)


def share_and_range(hits: Exact, misses: Exact, reach: Exact) -> tuple[float, tuple[float, float]]:
    """H/(H+M) in percent, and its range if both may be off by `reach`. It rises in H and falls in M."""
    least = _share(max(hits - reach, 0), misses + reach)
    most = _share(hits + reach, max(misses - reach, 0))
    middle = _share(max(hits, 0), max(misses, 0))
    low, high = (Fraction(0) if least is None else least), (Fraction(100) if most is None else most)
    value = (low + high) / 2 if middle is None else middle
    return float(value), (float(low), float(high))


def _share(hits: Exact, misses: Exact) -> Fraction | None:
    """hits/(hits + misses) in percent; None if that is not defined."""
    if hits < 0 or misses < 0 or hits + misses <= 0:
        return None
    return Fraction(100 * hits, hits + misses)


# By tests.

CELLS = 256  # of u, on each side of 0, for a mean
_AT_ONCE = 256  # pairs: a few megabytes
_FUZZ = 1e-12  # far more than the rounding of floats can move the end of a range


def tested_range(top: float, bottom: float, reaches: Floats) -> tuple[float, float]:
    """The range of every u in [−1, 1] that the test |top − u·bottom| ≤ c(u) accepts; all of [−1, 1] if it accepts none.
    It rejects the true u with the chance for which c is made, so the range misses the truth at most with that chance,
    whatever the bottom is (Fieller 1954). `reaches` bounds c from above on cells of equal length from −1 to 1."""
    (ends,) = tested_ranges([top], [bottom], reaches)
    return ends


def tested_ranges(tops: Sequence[float], bottoms: Sequence[float], reaches: Floats) -> list[tuple[float, float]]:
    """`tested_range` for several pairs."""
    if len(tops) > _AT_ONCE:
        parts = [slice(at, at + _AT_ONCE) for at in range(0, len(tops), _AT_ONCE)]
        return [ends for part in parts for ends in tested_ranges(tops[part], bottoms[part], reaches)]
    edges = edges_of(len(reaches))
    signs = np.where(np.array(bottoms) < 0, -1.0, 1.0)  # the test of (−top, −bottom) is the same
    top, bottom = (np.array(tops) * signs)[:, None], (np.array(bottoms) * signs)[:, None]
    zero = bottom[:, 0] == 0  # then a cell is accepted as a whole or not at all
    divisor = np.where(bottom == 0, 1.0, bottom)
    near = _near_cells((top - reaches.max()) / divisor, (top + reaches.max()) / divisor, zero, len(reaches))
    # In each row a pair, in each column a cell near it: the part of the cell from `low` to `high` is accepted.
    reaches, starts, ends = reaches[near], edges[near], edges[near + 1]
    low, high = np.maximum((top - reaches) / divisor, starts), np.minimum((top + reaches) / divisor, ends)
    accepted = low <= high
    if zero.any():
        low[zero], high[zero] = starts[zero], ends[zero]
        accepted[zero] = (np.abs(top) <= reaches)[zero]
    # The cells rise, so the first and the last accepted one have the ends.
    pairs, last_cell = np.arange(len(accepted)), accepted.shape[1] - 1
    first, last = accepted.argmax(axis=1), last_cell - accepted[:, ::-1].argmax(axis=1)
    some, least, most = accepted[pairs, first], low[pairs, first], high[pairs, last]
    return [
        (max(lowest - _FUZZ, -1.0), min(highest + _FUZZ, 1.0)) if any_accepted else (-1.0, 1.0)
        for any_accepted, lowest, highest in zip(some.tolist(), least.tolist(), most.tolist(), strict=True)
    ]


def _near_cells(low: Floats, high: Floats, zero: Bits, cells: int) -> Integers:
    """For each pair the cells that may hold a u from `low` to `high`, and their neighbours: equally many for all, few
    where the bottom is large. All cells if the bottom is `zero`."""
    first, last = (np.clip((end[:, 0] + 1) * (cells / 2), 0, cells - 1).astype(np.int64) for end in (low, high))
    first[zero], last[zero] = 0, cells - 1
    many = min(int((last - first).max()) + 3, cells)
    return np.clip(first - 1, 0, cells - many)[:, None] + np.arange(many)


@lru_cache(maxsize=16)
def edges_of(cells: int) -> Floats:
    """The ends of cells of equal length from −1 to 1. Nobody may change the array."""
    return np.linspace(-1, 1, cells + 1)


@lru_cache(maxsize=256)
def mean_reaches(first: Added, last: Added, width: int, shared: bool, draws: int, beta: Fraction) -> Floats:
    """For each cell of u, how far noise moves S − uWN (N and S drawn) or ((1 − u)B − (1 + u)A)/2 (A and B drawn:
    `ratios.OfMeans`). The bound grows with |u| (in the second case by Proschan 1965), so a cell takes the bound at
    its farther end."""
    u = np.arange(1, CELLS + 1) / CELLS
    factors = np.column_stack(((1 + u) / 2, (1 - u) / 2) if shared else (u * width, np.ones(CELLS)))
    half = first.line_reaches((first, last), factors, draws, beta)
    return np.concatenate((half[::-1], half))


@lru_cache(maxsize=256)
def mean_reaches_of_three(noises: tuple[Added, ...], width: int, draws: int, beta: Fraction) -> Floats:
    """`mean_reaches` of S − uWN from C₀, C₁ and C₂. A cell takes the largest size of each factor in it."""
    u = np.arange(CELLS + 1) / CELLS
    line = np.abs(np.stack((1 + u, u, 1 - u))) / (4 * width)
    half = noises[0].line_reaches(noises, np.maximum(line[:, :-1], line[:, 1:]).T, draws, beta)
    return np.concatenate((half[::-1], half))
