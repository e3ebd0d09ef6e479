"""How many sequences of m grid points follow a given distribution within a band, and one of them, uniformly.

Statement   For counts c_1 … c_D on a grid of D points, C_j = c_1 + … + c_j and n = C_D, a sequence in D^m with M_j of
            its points at or below j lies in band t when |m·C_j − n·M_j| ≤ t·m for all j. Let W(t) be how many do.
Counting    w_j(M), the number of sequences of length M in the first j cells that stay in the band so far:
            w_j(M) = Σ_P w_{j−1}(P)·C(M, P), M within [lo_j, hi_j]: of M places, P hold the points of the earlier cells.
            W(t) = w_D(m). Where the integer band is the same over r further cells they are one step,
            w′(M) = Σ_P w(P)·C(M, P)·r^(M−P): each of the M−P points is in any of them. The band's ends rise in j and
            have at most m+1 values each, so there are at most 2m+1 such runs, whatever the grid.
Drawing     backwards: from M = m the P before, with chance ∝ its term, exactly; points of a run fall into its cells
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
        free = [Run(0, grid - 1, 0, points)] if grid > 1 else []
        return [*free, Run(grid - 1, 1, points, points)]
    below = np.cumsum(value.counts).tolist()
    # C_j is constant from one value that occurs to the next.
    starts = [0, *value.codes.tolist()]
    levels = [0, *below]
    if starts[1] == 0:
        starts, levels = starts[1:], levels[1:]
    found: list[Run] = []
    for place, (start, level) in enumerate(zip(starts, levels, strict=True)):
        end = starts[place + 1] if place + 1 < len(starts) else grid
        low = max(-((band * points - points * level) // n), 0)  # ⌈(m·C − t·m)/n⌉
        high = min((points * level + band * points) // n, points)
        if found and (found[-1].low, found[-1].high) == (low, high):
            found[-1] = Run(found[-1].first, found[-1].cells + end - start, low, high)
        else:
            found.append(Run(start, end - start, low, high))
    # After the last cell all points are there.
    last = found.pop()
    if last.cells > 1:
        found.append(Run(last.first, last.cells - 1, last.low, last.high))
    found.append(Run(grid - 1, 1, max(points, last.low), min(points, last.high)))
    return found


def forward(value: Spread, grid: int, points: int, band: int) -> list[Step] | None:
    """The numbers w after every step, or None where no sequence lies in the band."""
    low: int = 0
    ways: tuple[int, ...] = (1,)
    found: list[Step] = []
    for run in runs(value, grid, points, band):
        # The first cell of a run must itself end within it; only then do further ones change nothing but the room.
        for first, cells in ((run.first, 1), (run.first + 1, run.cells - 1)):
            if cells:
                low, ways = _step(low, ways, cells, run.low, run.high)
                if not any(ways):
                    return None
                found.append(Step(first, cells, low, ways))
    return found


def _step(low: int, ways: tuple[int, ...], cells: int, least: int, most: int) -> tuple[int, tuple[int, ...]]:
    start = max(least, low)
    powers = _powers(cells, max(most - low, 0))
    held = [(low + place, count) for place, count in enumerate(ways) if count]
    after = []
    for total in range(start, most + 1):
        row = _chosen(total)
        after.append(sum(count * row[before] * powers[total - before] for before, count in held if before <= total))
    return start, tuple(after)


@lru_cache(maxsize=4096)
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


def draw(steps: list[Step], points: int, coins: Coins) -> Integers:
    """The grid points of one sequence in the band, uniformly drawn, in rising order."""
    drawn: list[int] = []
    total = points
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        before = (steps[place - 1].low, steps[place - 1].ways) if place else (0, (1,))
        earlier = _before(before, step.cells, total, coins)
        fresh = range(total - earlier)
        drawn += [step.first + (coins.below(step.cells) if step.cells > 1 else 0) for _ in fresh]
        total = earlier
    return np.array(sorted(drawn), dtype=np.int64)


def _before(before: tuple[int, tuple[int, ...]], cells: int, total: int, coins: Coins) -> int:
    low, ways = before
    terms = [
        (low + place, count * comb(total, low + place) * cells ** (total - low - place))
        for place, count in enumerate(ways)
        if count and low + place <= total
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
    worst = int(np.abs(m * below - n * drawn).max()) if len(edges) else 0
    return -(-worst // m)
