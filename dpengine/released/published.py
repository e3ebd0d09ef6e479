"""What is computed from a published table. It costs nothing: whatever is done with it is post-processing of a release
that was paid for (thesis, Thm 4.3), so it may be asked anything, any number of times.

All ranges are about the *table* behind the published one, and hold except with chance β; several numbers at once by a
union bound. With n rows, published as y_i:

Mean        (1/n)Σy_i has no bias; its error is a mean of n discrete Laplace variables (`tails.total_reach`).
Share       of a listed value: (c − np)/(1−λ), unbiased (`tails.swap_reach`).
Rows in a   of a number, from a to b on the published grid: discrete Laplace noise has an inverse with three terms, as
its
bin         generating function is (1−r)²/((1−rz)(1−r/z)). So with e(y) = 1 for a ≤ y ≤ b
                h(y) = ((1+r²)·e(y) − r·e(y−1) − r·e(y+1))/(1−r)²
            has E[h(x+Z)] = e(x): Σh(y_i) is unbiased. h is 1 well inside, 0 well outside, and of the order t² at the
            four points by the edges: on a fine grid (large t) the answer is honest and useless, and a coarser grid is
            better. The range is Bernstein's, with the largest variance that any x gives.
Percentile  the share of rows at or below each point of the grid, in the same way; what is stated is every point where
            the wished share lies within the ranges on both sides, all points at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpengine.core.arrays import Integers
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import exp_decimal
from dpengine.core.json_types import JsonObject
from dpengine.declared.schema import Number
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.write_file import codes_of, file_digest
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.row_noise import Blur, Swap
from dpengine.noise.tails import bernstein_reach, swap_reach, total_reach

MOST_BINS = 1_000


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float


class Published:
    """One published table: its question, its file, and what can be computed from it."""

    def __init__(self, query: AnyQuery, path: Path, facts: JsonObject) -> None:
        if not isinstance(query, OfRows):
            raise AllowanceError("publish.unknown")
        self.query, self.path, self.facts = query, path, facts

    @property
    def rows(self) -> int:
        return int(self.facts["rows"])

    @cached_property
    def whole(self) -> bool:
        """Is the file what the ledger says it is?"""
        return self.path.is_file() and file_digest(self.path) == self.facts["sha256"]

    def table(self, clamped: bool = False) -> pa.Table:
        """All rows. With `clamped`, numbers beyond the declared range become its ends, which biases means."""
        if not self.whole:
            raise AllowanceError("publish.changed")
        rows = pq.read_table(self.path)
        for place, name in enumerate(self.query.columns if clamped else ()):
            column = self.query.facts.schema[name]
            if isinstance(column, Number):
                kind = rows.schema.field(name).type
                low, high = (pa.scalar(float(end)).cast(kind) for end in (column.lower, column.upper))
                cut = pc.max_element_wise(pc.min_element_wise(rows.column(place), high), low)
                rows = rows.set_column(place, name, cut)
        return rows

    def codes(self, name: str) -> Integers:
        if name not in self.query.columns:
            raise AllowanceError("column.absent", column=str(name)[:60], columns=list(self.query.columns))
        if not self.whole:
            raise AllowanceError("publish.changed")
        return codes_of(self.query, name, pq.read_table(self.path, columns=[name]).column(0))

    def mean(self, name: str) -> Estimate:
        row, grain = self._blur(name), self.query.grain(name)
        lower = self.query.facts.schema.number(name).lower
        middle = float(lower + Fraction(int(self.codes(name).sum()), self.rows) * grain)
        reach = float(Fraction(total_reach(row.scale, self.rows, self.query.beta), self.rows) * grain)
        return Estimate(middle, middle - reach, middle + reach)

    def counts(self, name: str) -> dict[str, Estimate]:
        """Rows with each listed value, all at once."""
        row = self.query.row(name)
        if not isinstance(row, Swap):
            raise AllowanceError("publish.no_list", column=name)
        labels = self.query.facts.schema.category(name).labels
        seen = np.bincount(self.codes(name), minlength=row.size)
        reach = float(swap_reach(row.mixed, row.size, self.rows, self.query.beta / row.size))
        estimates = (seen - self.rows * float(row.chance)) / float(1 - row.mixed)
        return {
            label: Estimate(float(count), float(count) - reach, float(count) + reach)
            for label, count in zip(labels, estimates, strict=True)
        }

    def bins(self, name: str, starts: list[int]) -> list[Estimate]:
        """Rows of a number in each bin of the published grid, all at once; a bin runs to the next start, the last to
        the top. `starts` are places on that grid, the first 0."""
        row = self._blur(name)
        rising = all(a < b for a, b in pairwise(starts))
        if not 1 <= len(starts) <= MOST_BINS or starts[0] != 0 or starts[-1] > row.steps or not rising:
            raise AllowanceError("bins.rising")
        ends = [start - 1 for start in starts[1:]] + [row.steps]
        codes, counts = np.unique(self.codes(name), return_counts=True)
        return [
            self._told(row, codes, counts, first, last, len(starts)) for first, last in zip(starts, ends, strict=True)
        ]

    def below(self, name: str) -> list[Estimate]:
        """Rows at or below each point of the published grid, all at once."""
        row = self._blur(name)
        if row.steps > MOST_BINS:
            raise AllowanceError("publish.fine", most=MOST_BINS)
        codes, counts = np.unique(self.codes(name), return_counts=True)
        return [self._told(row, codes, counts, None, last, row.steps + 1) for last in range(row.steps + 1)]

    def quantile(self, name: str, share: Fraction) -> Estimate:
        """The value below which a share of the rows lies: the first point whose estimate reaches the share, and the
        range of points that may be the true one."""
        row, wanted = self._blur(name), float(share * self.rows)
        curve = self.below(name)
        reached = [place for place, estimate in enumerate(curve) if estimate.value >= wanted]
        # With F the true curve, the point q has F(q) ≥ wanted and F(q−1) < wanted.
        low = next((place for place, estimate in enumerate(curve) if estimate.high >= wanted), row.steps)
        high = max((place + 1 for place, estimate in enumerate(curve) if estimate.low < wanted), default=0)
        high = max(min(high, row.steps), low)
        column, grain = self.query.facts.schema.number(name), self.query.grain(name)
        best = min(max(reached[0] if reached else row.steps, low), high)
        return Estimate(*(float(column.lower + place * grain) for place in (best, low, high)))

    def _blur(self, name: str) -> Blur:
        row = self.query.row(name) if name in self.query.columns else None
        if not isinstance(row, Blur):
            raise AllowanceError("publish.no_number", column=str(name)[:60])
        return row

    def _told(
        self, row: Blur, codes: Integers, counts: Integers, first: int | None, last: int, together: int
    ) -> Estimate:
        weights = unbiased(row.scale, codes, first, last if last < row.steps else None)
        value = float((weights * counts).sum())
        reach = self.rows and float(reach_of(row, first, last, self.rows, self.query.beta / together))
        return Estimate(value, max(value - reach, -float(self.rows)), value + reach)


def unbiased(scale: Fraction, codes: Integers, first: int | None, last: int | None) -> npt.NDArray[np.float64]:
    """h(y); None means the end of the grid itself, beyond which noisy values still count."""
    ratio = float(exp_decimal(-1 / scale))

    def inside(y: Integers) -> npt.NDArray[np.bool_]:
        above = np.ones(len(y), dtype=bool) if first is None or first == 0 else y >= first
        return above if last is None else above & (y <= last)

    sum_of_terms = (1 + ratio * ratio) * inside(codes) - ratio * inside(codes - 1) - ratio * inside(codes + 1)
    return np.asarray(sum_of_terms / float(-np.expm1(-1 / float(scale))) ** 2)


def reach_of(row: Blur, first: int | None, last: int, people: int, beta: Fraction) -> Fraction:
    """Bernstein's width for Σh: h differs from a step function only at the four points by the two edges."""
    scale = row.scale
    edges = [edge for edge in (first, last + 1) if edge not in (None, 0) and edge <= row.steps]
    if not edges:
        return Fraction(0)
    near = sorted({point for edge in edges for point in (edge - 1, edge)})
    probe = np.array([near[0] - 1, *near, near[-1] + 1], dtype=np.int64)
    top = None if last >= row.steps else last
    tall = float(np.abs(unbiased(scale, probe, first, top)).max()) + 1
    ratio = float(exp_decimal(-1 / scale))
    centre = (1 - ratio) / (1 + ratio)  # the probability of the most likely noise value, so no point is hit more often
    square = sum(float(value) ** 2 * centre for value in unbiased(scale, np.array(near), first, top)) + 1
    margin = 1 + Fraction(1, 10**9)
    return bernstein_reach(people * Fraction(square) * margin, Fraction(tall) * margin, beta)
