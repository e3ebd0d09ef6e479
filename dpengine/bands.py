"""How many sequences of m grid points follow a given distribution within a band, and one of them, uniformly.

Statement   For counts c_1 … c_D on a grid of D points, C_j = c_1 + … + c_j and n = C_D, a sequence in D^m with M_j of
            its points at or below j lies in band t when |m·C_j − n·M_j| ≤ t·m for all j. Let W(t) be how many do.
Counting    w_j(M), the number of sequences of length M in the first j cells that stay in the band so far:
            w_j(M) = Σ_P w_{j−1}(P)·C(M, P), M within [lo_j, hi_j]: of M places, P hold the points of the earlier cells.
            W(t) = w_D(m). Over r cells with the same ends, entered with M ≥ lo, one step does:
            w′(M) = Σ_P w(P)·C(M, P)·r^(M−P), each of the M−P points in any of them: M only rises, so it is in the band
            after each cell when it is before the first and after the last. Where lo rises, the first cell is a step of
            its own. Both ends rise in j and have at most m+1 values each: at most 3m+2 steps, whatever the grid.
Drawing     backwards: from M = m the P before, with chance ∝ its term, exactly; points of a step fall into its cells
            alike.
Numbers     are integers of any size. Nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from dpengine.coins import Coins
from dpengine.needs import Integers, Spread


@dataclass(frozen=True)
class Run:
    """`cells` grid points from `first` on, after each of which M must lie within [low, high]."""

    first: int
    cells: int
    low: int
    high: int


@dataclass(frozen=True)
class Step:
    """A transition: `cells` cells that new points may fall into, and w after it, from M = low on."""

    first: int
    cells: int
    low: int
    ways: tuple[int, ...]


def runs(value: Spread, grid: int, points: int, band: int) -> list[Run]:
    """The band over the grid, as runs of cells with the same integer ends. No row at all: everything is in the band."""
    n = int(value.counts.sum())
    if n == 0:
        return [Run(0, grid - 1, 0, points)] * (grid > 1) + [Run(grid - 1, 1, points, points)]
    starts, levels = value.codes, np.cumsum(value.counts)
    if starts[0] > 0:  # C_j is constant from one value that occurs to the next
        starts, levels = np.concatenate(([0], starts)), np.concatenate(([0], levels))
    lows = np.maximum(-((band - levels) * points // n), 0)  # ⌈(m·C − t·m)/n⌉
    highs = np.minimum((levels + band) * points // n, points)
    fresh = np.flatnonzero(np.concatenate(([True], (np.diff(lows) != 0) | (np.diff(highs) != 0))))
    firsts = starts[fresh].tolist()
    ends = [*firsts[1:], grid]
    found = [
        Run(first, end - first, low, high)
        for first, end, low, high in zip(firsts, ends, lows[fresh].tolist(), highs[fresh].tolist(), strict=True)
    ]
    last = found.pop()  # after the last cell all points are there: M = m, which the band of C = n holds
    if last.cells > 1:
        found.append(Run(last.first, last.cells - 1, last.low, last.high))
    return [*found, Run(grid - 1, 1, points, points)]


def forward(value: Spread, grid: int, points: int, band: int) -> list[Step] | None:
    """The numbers w after every step, or None where no sequence lies in the band."""
    low, entered = 0, 0
    ways: tuple[int, ...] = (1,)
    found: list[Step] = []
    for run in runs(value, grid, points, band):
        alone = 1 if run.low > entered else 0
        entered = run.low
        for first, cells in ((run.first, alone), (run.first + alone, run.cells - alone)):
            if cells:
                low, ways = _step(low, ways, cells, run.low, run.high)
                if not any(ways):
                    return None
                found.append(Step(first, cells, low, ways))
    return found


def _step(low: int, ways: tuple[int, ...], cells: int, least: int, most: int) -> tuple[int, tuple[int, ...]]:
    start = max(least, low)
    held = [(low + place, count) for place, count in enumerate(ways) if count]
    powers = _powers(cells, max(most - low, 0)) if cells > 1 else None
    after = []
    for total in range(start, most + 1):
        row = _chosen(total)
        if powers is None:
            after.append(sum(count * row[before] for before, count in held if before <= total))
        else:
            after.append(sum(count * row[before] * powers[total - before] for before, count in held if before <= total))
    return start, tuple(after)


@lru_cache(maxsize=1024)
def _chosen(total: int) -> tuple[int, ...]:
    """C(total, 0), …, C(total, total)."""
    return tuple(comb(total, part) for part in range(total + 1))


@lru_cache(maxsize=256)
def _powers(base: int, most: int) -> tuple[int, ...]:
    found = [1]
    for _ in range(most):
        found.append(found[-1] * base)
    return tuple(found)


def how_many(value: Spread, grid: int, points: int, band: int) -> int:
    """W(t)."""
    steps = forward(value, grid, points, band)
    return 0 if steps is None else steps[-1].ways[-1]


def draw(steps: list[Step], points: int, coins: Coins) -> list[int]:
    """The grid points of one sequence in the band, uniformly drawn, in rising order."""
    drawn: list[int] = []
    total = points
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        low, ways = (steps[place - 1].low, steps[place - 1].ways) if place else (0, (1,))
        earlier = _before(low, ways, step.cells, total, coins)
        drawn += [step.first + coins.below(step.cells) for _ in range(total - earlier)]
        total = earlier
    return sorted(drawn)


def _before(low: int, ways: tuple[int, ...], cells: int, total: int, coins: Coins) -> int:
    """P with chance ∝ w(P)·C(M, P)·r^(M−P)."""
    terms = [
        (low + place, count * comb(total, low + place) * cells ** (total - low - place))
        for place, count in enumerate(ways[: total - low + 1])
    ]
    at = coins.below(sum(term for _, term in terms))
    for number, term in terms:
        if at < term:
            return number
        at -= term
    raise AssertionError("a draw below the sum falls into one of its parts")


def gap_of(value: Spread, points: Integers) -> int:
    """⌈max_j |m·C_j − n·M_j|/m⌉: the band that a sequence just lies in."""
    m, n = len(points), int(value.counts.sum())
    edges = np.unique(np.concatenate([value.codes, points]))
    below = np.concatenate([[0], np.cumsum(value.counts)])[np.searchsorted(value.codes, edges, side="right")]
    drawn = np.searchsorted(np.sort(points), edges, side="right")
    return -(-int(np.abs(m * below - n * drawn).max()) // m)
