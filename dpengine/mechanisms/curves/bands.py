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

The bounds (`band_between`) count sequences in a wide band in floats. In a band of k integers a step takes k² float
operations, not k² products of long integers.

Statement   v(M) = w(M)/M! follows v′(M) = Σ_P v(P)·r^(M−P)/(M−P)!: sums of products of positive numbers, so nothing
            cancels. Every number is a float in [1/2, 1) with its own exponent, so nothing overflows or vanishes.
Error       u = 2^−53. A term of the kernel, d factors r/i, is off by at most 2d roundings; a product adds one; a sum of
            k terms at most k, and terms below 2^−1000 of the largest, kept at that size, less than one. So a step
            multiplies the truth by a number within (1+u)^±N, N = 2d + k + 3, and all of them together within
            (1+u)^±ΣN; 2u·ΣN < 2^−30 is checked, and W lies within that part of v(m)·m!.
Use         bounds suffice to choose a layer, except for draws that fall between them (`layered_choice`). For those, and
            for the sequence itself, we count exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise, repeat
from math import factorial, frexp
from operator import mul

import numpy as np

from dpengine.core.types import Floats, Integers
from dpengine.noise.coins import Coins
from dpengine.statistics.need import Spread


@dataclass(frozen=True)
class BandRun:
    """`cells` grid points from `first` on. After each of them M must lie within [low, high]."""

    first: int
    cells: int
    low: int
    high: int


@dataclass(frozen=True)
class BandStep:
    """A transition: `cells` cells for new points, and w after it, from M = low on."""

    first: int
    cells: int
    low: int
    ways: tuple[int, ...]


@dataclass(frozen=True)
class Reached:
    """C_j as a staircase: from grid point `starts` on it is `levels`; n rows in all."""

    starts: Integers
    levels: Integers
    rows: int

    @staticmethod
    def of(value: Spread) -> Reached:
        starts, levels = value.codes, np.cumsum(value.counts)
        if len(starts) and starts[0] > 0:  # C_j is constant between values that occur
            starts, levels = np.concatenate(([0], starts)), np.concatenate(([0], levels))
        return Reached(starts, levels, int(value.counts.sum()))


def runs(held: Reached, grid: int, points: int, band: int) -> list[BandRun]:
    """The band over the grid, as runs of cells with the same integer ends. Without rows, everything is in the band.

    The lower end ⌈(m·C − t·m)/n⌉ becomes M where C reaches t + ⌊(M−1)·n/m⌋ + 1, the upper end ⌊(m·C + t·m)/n⌋ where C
    reaches ⌈M·n/m⌉ − t. So only the levels of these 2m changes matter.
    """
    n = held.rows
    if n == 0:
        return [BandRun(0, grid - 1, 0, points)] * (grid > 1) + [BandRun(grid - 1, 1, points, points)]
    wanted = np.arange(1, points + 1)
    edges = np.concatenate((band + (wanted - 1) * n // points + 1, -(-wanted * n // points) - band))
    breaks = np.unique(np.searchsorted(held.levels, edges))
    breaks = np.unique(np.concatenate(([0], breaks[breaks < len(held.levels)])))
    starts, levels = held.starts[breaks], held.levels[breaks]
    lows = np.maximum(-((band - levels) * points // n), 0)
    highs = np.minimum((levels + band) * points // n, points)
    firsts = starts.tolist()
    result = [
        BandRun(first, end - first, low, high)
        for first, end, low, high in zip(firsts, [*firsts[1:], grid], lows.tolist(), highs.tolist(), strict=True)
    ]
    last = result.pop()  # after the last cell all points are there: M = m, which the band of C = n holds
    if last.cells > 1:
        result.append(BandRun(last.first, last.cells - 1, last.low, last.high))
    return [*result, BandRun(grid - 1, 1, points, points)]


def strides(held: Reached, grid: int, points: int, band: int) -> list[BandRun]:
    """The runs as steps: where the lower end rises, the first cell of a run is its own step."""
    steps, entered = [], 0
    for run in runs(held, grid, points, band):
        alone = 1 if run.low > entered else 0
        entered = run.low
        steps += [BandRun(run.first, 1, run.low, run.high)] * alone
        if run.cells > alone:
            steps.append(BandRun(run.first + alone, run.cells - alone, run.low, run.high))
    return steps


def forward(held: Reached, grid: int, points: int, band: int) -> list[BandStep] | None:
    """The numbers w after every step, or None if no sequence lies in the band."""
    return along(strides(held, grid, points, band), points)


def along(steps: list[BandRun], points: int) -> list[BandStep] | None:
    low, triangle = 0, _triangle(points)
    ways: tuple[int, ...] = (1,)
    band: list[BandStep] = []
    for run in steps:
        low, ways = _step(low, ways, run, triangle)
        if not any(ways):
            return None
        band.append(BandStep(run.first, run.cells, low, ways))
    return band


Triangle = tuple[tuple[int, ...], ...]


def _step(low: int, ways: tuple[int, ...], run: BandRun, triangle: Triangle) -> tuple[int, tuple[int, ...]]:
    start = max(run.low, low)
    held = [(low + place, count) for place, count in enumerate(ways) if count]
    powers = _powers(run.cells, max(run.high - low, 0)) if run.cells > 1 else None
    after = []
    for total in range(start, run.high + 1):
        row = triangle[total]
        if powers is None:
            after.append(sum(count * row[before] for before, count in held if before <= total))
        else:
            after.append(sum(count * row[before] * powers[total - before] for before, count in held if before <= total))
    return start, tuple(after)


@lru_cache(maxsize=4)
def _triangle(points: int) -> Triangle:
    """C(M, 0), …, C(M, M) for M up to m; public, so they may be cached."""
    rows: list[tuple[int, ...]] = [(1,)]
    for _ in range(points):
        rows.append((1, *(a + b for a, b in pairwise(rows[-1])), 1))
    return tuple(rows)


def _powers(base: int, most: int) -> list[int]:
    return list(accumulate(repeat(base, most), mul, initial=1))


def how_many(held: Reached, grid: int, points: int, band: int) -> int:
    """W(t)."""
    return last_of(forward(held, grid, points, band))


def last_of(steps: list[BandStep] | None) -> int:
    return 0 if steps is None else steps[-1].ways[-1]


def draw(steps: list[BandStep], points: int, coins: Coins) -> list[int]:
    """The grid points of one sequence in the band, uniformly drawn, in rising order."""
    drawn: list[int] = []
    total, triangle = points, _triangle(points)
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        low, ways = (steps[place - 1].low, steps[place - 1].ways) if place else (0, (1,))
        earlier = _before(low, ways, step.cells, total, triangle[total], coins)
        drawn += [step.first + coins.below(step.cells) for _ in range(total - earlier)]
        total = earlier
    return sorted(drawn)


def _before(low: int, ways: tuple[int, ...], cells: int, total: int, row: tuple[int, ...], coins: Coins) -> int:
    """P with chance ∝ w(P)·C(M, P)·r^(M−P)."""
    powers = _powers(cells, total - low)
    counts = enumerate(ways[: total - low + 1], start=low)
    terms = [count * row[number] * powers[total - number] for number, count in counts]
    at = coins.below(sum(terms))
    for number, term in enumerate(terms, start=low):
        if at < term:
            return number
        at -= term
    raise AssertionError("a draw below the sum falls into one of its parts")


def gap_of(value: Spread, points: Integers) -> int:
    """⌈max_j |m·C_j − n·M_j|/m⌉: the narrowest band that contains a sequence."""
    m, n = len(points), int(value.counts.sum())
    edges = np.unique(np.concatenate([value.codes, points]))
    below = np.concatenate([[0], np.cumsum(value.counts)])[np.searchsorted(value.codes, edges, side="right")]
    drawn = np.searchsorted(np.sort(points), edges, side="right")
    return -(-int(np.abs(m * below - n * drawn).max()) // m)


# --- Bounds in floats -------------------------------------------------------------------------------------------------

WIDE = 12  # narrower bands are counted exactly, which is as fast
SLACK = 30  # the bounds agree in this many bits
_NEVER = -(2**40)  # the exponent of 0


def band_between(held: Reached, grid: int, points: int, band: int) -> tuple[int, int]:
    """Integers below and above W(t); equal if it is counted exactly."""
    steps = strides(held, grid, points, band)
    if max(run.high - run.low for run in steps) < WIDE:
        exact = last_of(along(steps, points))
        return exact, exact
    low, roundings = 0, 0
    parts, powers = np.array([0.5]), np.array([1], dtype=np.int64)
    for run in steps:
        start = max(run.low, low)
        if start > run.high:
            return 0, 0
        away = np.arange(start, run.high + 1)[:, None] - np.arange(low, low + len(parts))[None, :]
        kernel, exponents = _kernel(run.cells, run.high - low)
        inside = np.maximum(away, 0)
        products = np.where(away >= 0, parts * kernel[inside], 0.0)
        heights = np.where(products > 0, powers + exponents[inside], _NEVER)
        top = heights.max(axis=1)
        sums = np.ldexp(products, np.maximum(heights - top[:, None], -1_060)).sum(axis=1)
        roundings += 2 * (run.high - low) + len(parts) + 3
        parts, raised = np.frexp(sums)
        low, powers = start, np.where(parts > 0, top + raised, _NEVER)
        if not parts.any():
            return 0, 0
    if roundings >= 2 ** (52 - SLACK):
        raise AssertionError("too many roundings for the bound")
    return _around(float(parts[-1]), int(powers[-1]), factorial(points))


def _kernel(cells: int, most: int) -> tuple[Floats, Integers]:
    """r^d/d! for d up to `most`, as floats and exponents."""
    parts, powers = np.empty(most + 1), np.empty(most + 1, dtype=np.int64)
    part, power = 0.5, 1
    for d in range(most + 1):
        if d:
            part, raised = frexp(part * cells / d)
            power += raised
        parts[d], powers[d] = part, power
    return parts, powers


def _around(part: float, power: int, times: int) -> tuple[int, int]:
    """Integers on both sides of part·2^power·times, 1 part in 2^SLACK away."""
    exact = int(part * 2**53) * times  # a float below 1 has 53 bits
    shift = power - 53 - SLACK
    low, high = exact * (2**SLACK - 1), exact * (2**SLACK + 1)
    return (low << shift, high << shift) if shift >= 0 else (low >> -shift, -(-high >> -shift))
