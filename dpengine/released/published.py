"""Computations on a published table. They cost nothing: they are post-processing of a paid release (thesis, Thm 4.3),
so it may be asked anything, any number of times.

All ranges are about the *table* behind the published one, and hold except with probability β; several numbers at once
by a union bound. With n rows, published as y_i:

Mean        (1/n)Σy_i has no bias; its error is a mean of n discrete Laplace variables (`tails.total_reach`).
Share       of a listed value: (c − np)/(1−λ), unbiased (`tails.swap_reach`). Of an item of a set, wrong with chance f:
            (c − nf)/(1−2f), the same with λ = 2f and two values.
Rows in a   of a number, from a to b on the published grid: discrete Laplace noise has an inverse with three terms, as
bin         its generating function is (1−r)²/((1−rz)(1−r/z)). So with e(y) = 1 for a ≤ y ≤ b
                h(y) = ((1+r²)·e(y) − r·e(y−1) − r·e(y+1))/(1−r)²
            has E[h(x+Z)] = e(x): Σh(y_i) is unbiased. h is 1 well inside, 0 well outside, and of the order t² at the
            four points by the edges: on a fine grid (large t) the answer is honest and useless, and a coarser grid is
            better. The range is Bernstein's, with the largest variance that any x gives.
Whole rows  published as one value: a number is its true place on the grid or, with chance λ, any of its D+1 places. A
            mean is (ȳ − λD/2)/(1−λ), rows in a bin with a share w of the places (c − nλw)/(1−λ)
            (`tails.mixed_mean_reach`, `tails.mixed_part_reach`).
            How many rows hold each *combination* is the same with w one of all combinations: (c − np)/(1−λ).
Percentile  the share of rows at or below each point of the grid, in the same way; what is stated is every point where
            the wished share lies within the ranges on both sides, all points at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import exp_decimal
from dpengine.core.types import Integers, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet, Number
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.publish_row import PublishRow
from dpengine.mechanisms.publish.write_file import codes_of, file_digest, values_of
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.row_noise import Blur, Marginal, Mixing, OfItems
from dpengine.noise.tails import bernstein_reach, mixed_mean_reach, mixed_part_reach, swap_reach, total_reach

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
        """Does the file's hash agree with the one in the ledger?"""
        return self.path.is_file() and file_digest(self.path) == self.facts["sha256"]

    def table(self, clamped: bool = False) -> pa.Table:
        """All rows. With `clamped`, numbers and days beyond the declared range become its ends, which biases means."""
        import pyarrow.compute as pc  # slow to import

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
            if isinstance(column, Date):
                codes = np.clip(codes_of(self.query, name, rows.column(place)), 0, self.query.steps(name))
                rows = rows.set_column(place, name, values_of(self.query, name, codes))
        return rows

    def codes(self, name: str) -> Integers:
        if name not in self.query.columns:
            raise AllowanceError("column.absent", column=str(name)[:60], columns=list(self.query.columns))
        if not self.whole:
            raise AllowanceError("publish.changed")
        return codes_of(self.query, name, pq.read_table(self.path, columns=[name]).column(0))

    def mean(self, name: str) -> Estimate:
        """The mean of a number; for a column of days, the mean as a number of days after the first declared day (`day`
        makes it a date)."""
        row, grain = self._line(name), self.query.grain(name)
        place = Fraction(int(self.codes(name).sum()), self.rows)
        if isinstance(row, Blur):
            off = Fraction(total_reach(row.scale, self.rows, self.query.beta), self.rows)
        else:
            place = (place - row.mixed * (row.size - 1) / 2) / (1 - row.mixed)
            off = mixed_mean_reach(row.mixed, row.size - 1, self.rows, self.query.beta) / self.rows
        middle, reach = float(self.query.start(name) + place * grain), float(off * grain)
        return Estimate(middle, middle - reach, middle + reach)

    def day(self, name: str, value: float) -> str:
        """The date that is this many days after the first declared day of a column, as text; moved into the declared
        range."""
        column = self.query.facts.schema[name]
        assert isinstance(column, Date)
        return column.value(min(max(round(value), 0), column.size - 1))

    def counts(self, name: str) -> dict[str, Estimate]:
        """The number of rows with each listed value, or with each item, all ranges at once."""
        column = self.query.facts.schema[name]
        if not isinstance(column, Category | ItemSet):
            raise AllowanceError("publish.no_list", column=name)
        row, codes, many = self.query.row(name), self.codes(name), column.size
        if isinstance(row, OfItems):
            mixed, size = 2 * row.flip, 2
            seen = np.array([int((codes >> place & 1).sum()) for place in range(many)])
        else:
            assert isinstance(row, Mixing)
            mixed, size = row.mixed, row.size
            seen = np.bincount(codes, minlength=size)
        reach = float(swap_reach(mixed, size, self.rows, self.query.beta / many))
        estimates = (seen - self.rows * float(mixed / size)) / float(1 - mixed)
        return dict(zip(column.labels, _around(estimates, reach), strict=True))

    @property
    def crossed(self) -> bool:
        """Can rows be counted by all their columns at once? True if rows were published as one value of not too
        many."""
        return isinstance(self.query, PublishRow) and self.query.combinations <= MOST_BINS

    def combinations(self) -> dict[tuple[str, ...], Estimate]:
        """The number of rows with each combination of values of all columns, all ranges at once."""
        if not isinstance(self.query, PublishRow) or not self.crossed:
            raise AllowanceError("publish.no_rows", most=MOST_BINS)
        whole, names = self.query.whole, self.query.columns
        places = np.ravel_multi_index(tuple(self.codes(name) for name in names), self.query.sizes)
        seen = np.bincount(places, minlength=whole.size)
        reach = float(swap_reach(whole.mixed, whole.size, self.rows, self.query.beta / whole.size))
        counts = (seen - self.rows * float(whole.chance)) / float(1 - whole.mixed)
        return dict(zip(product(*map(self._cells, names)), _around(counts, reach), strict=True))

    def _cells(self, name: str) -> list[str]:
        """Every possible cell of a column, as the file writes it."""
        column = self.query.facts.schema[name]
        if isinstance(column, Category):
            return list(column.labels)
        return [str(cell) for cell in values_of(self.query, name, np.arange(self.query.steps(name) + 1)).to_pylist()]

    def bins(self, name: str, starts: list[int]) -> list[Estimate]:
        """The number of rows in each bin of a number, all ranges at once. A bin is a run of points of the published
        grid: it begins at a number of `starts`, the first at 0, and ends before the next start, the last at the top."""
        row, steps = self._line(name), self.query.steps(name)
        rising = all(a < b for a, b in pairwise(starts))
        if not 1 <= len(starts) <= MOST_BINS or starts[0] != 0 or starts[-1] > steps or not rising:
            raise AllowanceError("bins.rising")
        ends = [start - 1 for start in starts[1:]] + [steps]
        codes, counts = np.unique(self.codes(name), return_counts=True)
        runs = zip(starts, ends, strict=True)
        return [self._rows_between(row, codes, counts, first, last, len(starts)) for first, last in runs]

    def below(self, name: str) -> list[Estimate]:
        """The number of rows at or below each point of the published grid, all ranges at once."""
        row, steps = self._line(name), self.query.steps(name)
        if steps > MOST_BINS:
            raise AllowanceError("publish.fine", most=MOST_BINS)
        codes, counts = np.unique(self.codes(name), return_counts=True)
        return [self._rows_between(row, codes, counts, None, last, steps + 1) for last in range(steps + 1)]

    def quantile(self, name: str, share: Fraction) -> Estimate:
        """The value below which a share of the rows lies: the first point of the grid whose estimated share is at least
        `share`, with the range of points that may be the true one."""
        steps, wanted = self.query.steps(name), float(share * self.rows)
        curve = self.below(name)
        reached = [place for place, estimate in enumerate(curve) if estimate.value >= wanted]
        # With F the true curve, the point q has F(q) ≥ wanted and F(q−1) < wanted.
        low = next((place for place, estimate in enumerate(curve) if estimate.high >= wanted), steps)
        high = max((place + 1 for place, estimate in enumerate(curve) if estimate.low < wanted), default=0)
        high = max(min(high, steps), low)
        start, grain = self.query.start(name), self.query.grain(name)
        best = min(max(reached[0] if reached else steps, low), high)
        return Estimate(*(float(start + place * grain) for place in (best, low, high)))

    def _line(self, name: str) -> Blur | Marginal:
        """The noise of a published number or day; refused for any other column."""
        ordered = name in self.query.columns and isinstance(self.query.facts.schema[name], Number | Date)
        row = self.query.row(name) if ordered else None
        if not isinstance(row, Blur | Marginal):
            raise AllowanceError("publish.no_number", column=str(name)[:60])
        return row

    def _rows_between(
        self, row: Blur | Marginal, codes: Integers, counts: Integers, first: int | None, last: int, together: int
    ) -> Estimate:
        if isinstance(row, Marginal):
            part = Fraction(last - (first or 0) + 1, row.size)
            seen = int(counts[(codes >= (first or 0)) & (codes <= last)].sum())
            value = float((seen - self.rows * row.mixed * part) / (1 - row.mixed))
            reach = float(mixed_part_reach(row.mixed, part, self.rows, self.query.beta / together)) if part < 1 else 0.0
        else:
            weights = unbiased(row.scale, codes, first, last if last < row.steps else None)
            value = float((weights * counts).sum())
            reach = self.rows and float(reach_of(row, first, last, self.rows, self.query.beta / together))
        return Estimate(value, max(value - reach, -float(self.rows)), value + reach)


def _around(counts: npt.NDArray[np.floating], reach: float) -> list[Estimate]:
    return [Estimate(count, count - reach, count + reach) for count in counts.tolist()]


def unbiased(scale: Fraction, codes: Integers, first: int | None, last: int | None) -> npt.NDArray[np.float64]:
    """h(y) for every code y, for the bin from `first` to `last`. An end that is None is that of the grid itself; noisy
    values beyond it count too."""
    ratio = float(exp_decimal(-1 / scale))

    def inside(y: Integers) -> npt.NDArray[np.bool_]:
        above = np.ones(len(y), dtype=bool) if first is None or first == 0 else y >= first
        return above if last is None else above & (y <= last)

    sum_of_terms = (1 + ratio * ratio) * inside(codes) - ratio * inside(codes - 1) - ratio * inside(codes + 1)
    return np.asarray(sum_of_terms / float(-np.expm1(-1 / float(scale))) ** 2)


def reach_of(row: Blur, first: int | None, last: int, people: int, beta: Fraction) -> Fraction:
    """How far Σh may be off, by Bernstein: h differs from a step function only at the four points by the two edges."""
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
