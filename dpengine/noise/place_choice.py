"""The exponential mechanism over all sequences of m grid points, the i-th near the i-th of m places among n rows.

Places      τ_i = (2i − 1)·n/(2m), the middles of m equal parts of the rows.
Gap         a grid point o with F rows below it and C at or below it is ⌈max(0, τ_i − C, F − τ_i)⌉ away from place i.
            The gap of a sequence o_1 … o_m in D^m is its largest distance. Sequences of gap 0 exist: o_i the first
            point with C ≥ τ_i.
Counting    within t of place i lie N_i(t) grid points, an interval: those with C ≥ ⌈τ_i⌉ − t and F ≤ ⌊τ_i⌋ + t. So
            W(t) = Π_i N_i(t) sequences have a gap of at most t, and 1 ≤ W(0) ≤ W(1) ≤ … ≤ D^m.
Draw        a layer t ≥ 0 with chance ∝ W(t)·e^(−rate·t), then each o_i uniformly among its N_i(t). A sequence of gap s
            then has chance ∝ Σ_(t≥s) e^(−rate·t), so ∝ e^(−rate·s).
Turns       layers come in segments k of h each: t = k·h + j. A turn proposes k with chance ∝ an integer of at least
            W(k·h + h − 1)·e^(−rate·k·h)·2^s, and j < h with chance ∝ e^(−rate·j). It is kept with chance
            W(t)·e^(−rate·k·h)·2^s / that integer, decided exactly. Kept turns have the law above, whatever the
            integers; floats shape them, and spare most exact comparisons. From segment K on all weigh less than one
            part in 2^64 of the first, and share one unit: segment K + i is proposed with chance 2^−(i+1) of it, which
            is enough because e^(−rate·h) ≤ 1/2.
Work        is a function of D, m, rate and a public bound on the number of different values: K segments, each with m
            intervals, by searches of equally many steps; TURNS turns at once; the first that is kept counts.
            A turn is kept with chance at least e^(−rate·h)·(1 − 2^−40), or almost always where h = 1: W rises, so
            Σ_k W(k·h + h − 1)·e^(−rate·k·h) ≤ e^(rate·h)·Σ_k (what segment k + 1 weighs). With rate·h ≤ 2 all TURNS
            fail with chance below 2^−40; then they are made once more. An exact comparison, with integers of m·log₂D
            bits, comes with chance below 2^−40 too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpengine.core.exact import ceiling, exp_decimal, floor, ln_above
from dpengine.core.types import Floats, Integers
from dpengine.noise.coins import Coins, geometric

TURNS = 191  # (1 − e^−2)^191 < 2^−40
MOST = 512  # m; with more, _MARGIN would be too small
_ROOM = 60  # the integers of all segments add up to about 2^60
_SPARE = 64
_FAR = 64  # beyond K all weigh one part in 2^64 of the first segment
_MARGIN = 2.0**-42  # above the rounding of a product of MOST floats, each by a part in 2^53
_CHUNK = 2**14  # numbers that a processor's cache holds
_NEVER = 2**62  # more rows than any table has


@dataclass(frozen=True)
class Staircase:
    """C over the grid: from the point `starts[i]` on, C is `levels[i]`; before the first start it is 0. The arrays are
    padded, so that their length is public."""

    grid: int
    rows: int
    starts: Integers  # 2^b of them, the last ones D − 1
    levels: Integers  # one fewer

    @classmethod
    def of(cls, codes: Integers, counts: Integers, grid: int, values: int) -> Staircase:
        """C over a grid of this size. `values` is a public bound on how many different codes occur."""
        codes, reached = np.concatenate(([0], codes)), np.concatenate(([0], np.cumsum(counts)))
        size = 1 << max(values + 1, len(codes)).bit_length()
        starts, levels = np.full(size, grid - 1, dtype=np.int64), np.full(size - 1, _NEVER, dtype=np.int64)
        starts[: len(codes)], levels[: len(codes)] = codes, reached
        return cls(grid, int(counts.sum()), starts, levels)

    def below(self, wanted: Integers) -> Integers:
        """For each number of `wanted`, how many levels are below that number. A binary search of log₂(size) steps,
        whatever the result is."""
        at = np.zeros(len(wanted), dtype=np.intp)
        step = len(self.starts) >> 1
        while step:
            sign = self.levels[step - 1 :].take(at) - wanted
            sign >>= 63  # −1 where the level is below, else 0
            sign &= step
            at += sign
            step >>= 1
        return at

    def within(self, many: int, layers: Integers) -> tuple[Integers, Integers]:
        """For each layer t and each place i, the first grid point within t of place i, and the end after the last such
        point."""
        odd = (2 * np.arange(many, dtype=np.int64) + 1) * self.rows
        low = -(-odd // (2 * many))[None, :] - layers[:, None]
        high = (odd // (2 * many))[None, :] + layers[:, None] + 1
        return self._starts(low), self._starts(high) + 1

    def _starts(self, wanted: Integers) -> Integers:
        flat = wanted.ravel()
        found = np.empty_like(flat)
        for first in range(0, len(flat), _CHUNK):
            part = slice(first, first + _CHUNK)
            found[part] = self.starts.take(self.below(flat[part]))
        return found.reshape(wanted.shape)


@dataclass(frozen=True)
class Segments:
    """K segments of h layers each (`width`). Segment k has e^(−rate·k·h) as `parts`, in [1/2, 1), times 2^`powers`."""

    many: int
    rate: Fraction
    width: int
    parts: Floats
    powers: Integers

    def __len__(self) -> int:
        return len(self.parts)


@lru_cache(maxsize=64)
def _segments(grid: int, many: int, rate: Fraction) -> Segments:
    """The segments for these public numbers; they are public too, so they may be cached."""
    width = max(floor(2 / rate), 1)
    last = ceiling((many * ln_above(Fraction(grid)) + _FAR * ln_above(Fraction(2))) / (rate * width))
    context, base = Context(prec=60), exp_decimal(-rate * width)
    power, exponent = Decimal("0.5"), 1
    parts, powers = np.empty(last), np.empty(last, dtype=np.int64)
    for segment in range(last):
        if segment:
            power = context.multiply(power, base)
        while power < Decimal("0.5"):
            power, exponent = context.multiply(power, Decimal(2)), exponent - 1
        parts[segment], powers[segment] = float(power), exponent
    return Segments(many, rate, width, parts, powers)


def draw(rows: Staircase, many: int, rate: Fraction, coins: Coins) -> list[int]:
    """The grid points of one sequence, in rising order."""
    if not 1 <= many <= MOST:
        raise ValueError("the number of places is out of bounds")
    segments = _segments(rows.grid, many, rate)
    steps, shift = _envelope(rows, segments)
    while (drawn := _first_kept(rows, segments, steps, shift, coins)) is None:
        pass
    width = rows.grid.bit_length() + _SPARE
    return sorted(low + coins.below(high - low, width) for low, high in drawn)


def _envelope(rows: Staircase, segments: Segments) -> tuple[Integers, int]:
    """An integer for each segment: at least W of the segment's last layer, times e^(−rate·k·h)·2^s. Then one for all
    later segments; and s."""
    ends = (np.arange(len(segments), dtype=np.int64) + 1) * segments.width
    parts, powers = _product(_sizes(rows.within(segments.many, ends - 1)))
    parts, powers = parts * segments.parts, powers + segments.powers
    shift = _ROOM - len(segments).bit_length() - int(powers.max())
    return np.append((_scaled(parts, powers + shift) * (1 + _MARGIN)).astype(np.int64) + 1, 1), shift


def _first_kept(
    rows: Staircase, segments: Segments, steps: Integers, shift: int, coins: Coins
) -> list[tuple[int, int]] | None:
    """The intervals of the first kept proposal of TURNS; None if no proposal is kept. All are made, so the time does
    not show which was kept."""
    edges = np.cumsum(steps)
    total = int(edges[-1])
    points = np.array([coins.below(total, _ROOM + 2 + _SPARE) for _ in range(TURNS)], dtype=np.int64)
    segment = np.searchsorted(edges, points, side="right")
    heights = points - edges[segment] + steps[segment]
    inside = geometric(1 / segments.rate, TURNS, coins.words) % segments.width
    first, end = rows.within(segments.many, segment * segments.width + inside)
    last = segment == len(segments)  # here an exact comparison decides
    at = np.minimum(segment, len(segments) - 1)
    parts, powers = _product(_sizes((first, end)))
    weights = _scaled(parts * segments.parts[at], powers + segments.powers[at] + shift)
    kept = ~last & (heights < (weights * (1 - _MARGIN)).astype(np.int64))
    unsure = last | (heights <= (weights * (1 + _MARGIN)).astype(np.int64))
    reached = np.cumsum(kept | unsure)  # as long however many were kept
    for before in range(int(reached[-1])):
        turn = int(np.searchsorted(reached, before, side="right"))
        ends = list(zip(first[turn].tolist(), end[turn].tolist(), strict=True))
        if kept[turn]:
            return ends
        number, more = int(segment[turn]), 0
        if last[turn]:
            while not coins.bits(1):
                more += 1
            low, high = rows.within(segments.many, np.array([(number + more) * segments.width + int(inside[turn])]))
            ends = list(zip(low[0].tolist(), high[0].tolist(), strict=True))
            more, number = more + 1, number + more
        ways = math.prod(high - low for low, high in ends)
        if coins.under(int(heights[turn]), ways, segments.rate * segments.width * number, shift + more):
            return ends
    return None


def _sizes(ends: tuple[Integers, Integers]) -> Floats:
    return (ends[1] - ends[0]).astype(np.float64)


def _product(numbers: Floats) -> tuple[Floats, Integers]:
    """The product of each row, as a float in [1/2, 1) and an exponent: one rounding for each factor."""
    parts, exponents = np.frexp(numbers)
    powers = exponents.sum(axis=1, dtype=np.int64)
    while parts.shape[1] > 1:
        if parts.shape[1] % 2:
            parts, powers = np.hstack((parts, np.full((len(parts), 1), 0.5))), powers + 1
        parts, exponents = np.frexp(parts[:, 0::2] * parts[:, 1::2])
        powers += exponents.sum(axis=1, dtype=np.int64)
    return parts[:, 0], powers


def _scaled(parts: Floats, powers: Integers) -> Floats:
    """parts·2^powers; 0 where that is far below one."""
    return np.ldexp(parts, np.maximum(powers, -200).astype(np.int32))
