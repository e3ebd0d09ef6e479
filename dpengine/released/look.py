"""What can be read off a first look that was paid for: bars, cross tables, averages, shares, each with its range. Free.

Claim       but for β, all at once: every cell of every bought marginal is within its reach, and so is every average,
            percentile and share that is read here, whatever is looked at after seeing everything else (`look_ranges`:
            which sums are meant, and how they share β).
Averages    of the rows with a value: a value in group b lies between lo_b and hi_b, so Σ(hi_b − μ)·cell_b ≥ 0 ≥
            Σ(lo_b − μ)·cell_b for the true average μ. The range is every μ for which the noisy sums allow both: it
            holds μ whenever these two sums are within their reach.
Percentiles the same with C_j − q·Σcell, C_j the rows up to the end of group j: it is above the end where that is
            certainly negative, and not above it where that is certainly positive.
Shares      a sum of cells over another that holds it.
Differences of two cells: a sum with 1 and −1; of two shares: what their ranges leave.
Sets        of a column of sets, the people who hold each item, of everyone (`look_items`).
Estimated   what was not bought follows from what was by maximum entropy (`look_fit`). No promise; how such estimates
            did on measurements that were held back is told beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpengine.core.arrays import Floats
from dpengine.core.errors import AllowanceError
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Grouped, base
from dpengine.declared.schema import Number, Ordered
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.residuals import Columns, parts_of
from dpengine.released import look_items
from dpengine.released.figure import Figure
from dpengine.released.look_fit import MOST_FITTED, EntropyFit, HeldBack
from dpengine.released.look_ranges import Ranges

if TYPE_CHECKING:
    import pandas as pd

Condition = Mapping[str, Sequence[str]]  # labels of columns
PERCENTILES = (0.25, 0.5, 0.75)


def _number(column: Ordered, code: int) -> float:
    """A value as a number; of a day its place in the calendar."""
    value = column.value(code)
    return float(date.fromisoformat(value).toordinal()) if isinstance(value, str) else float(value)


class Look(dict[str, int]):
    """The bars of all columns by name, as they are stored, and everything else that can be read off the same draw."""

    def __init__(self, query: Overview, raw: Sequence[int], told: Mapping[str, int] | None = None) -> None:
        super().__init__(told or {})
        self.query, self.raw = query, tuple(raw)

    @cached_property
    def columns(self) -> list[str]:
        """All of them, those of sets last."""
        return self.query.names

    @cached_property
    def cells(self) -> list[str]:
        """Those whose cells rows are in: they can be counted against each other."""
        return [base(ref) for ref in self.query.columns]

    @cached_property
    def marginals(self) -> dict[Columns, Floats]:
        return self.query.marginals(self.raw)

    @cached_property
    def noise(self) -> dict[Columns, Fraction]:
        """σ² of each residual, as it was drawn."""
        return self.query.noise_in(self.raw)

    def reach(self, part: Columns) -> float:
        """Of every cell of a measured marginal."""
        return self.query.reach(part, self.noise)

    @cached_property
    def paired(self) -> bool:
        """Were any columns counted together? Else nothing is known of two at once."""
        return any(len(part) > 1 for part in self.marginals)

    # Measured

    def bars(self, column: str) -> list[Figure]:
        """How many rows each value or group of a column has; of sets, how many people hold each item."""
        if column in self.query.items:
            return look_items.bars(self.query, self.raw, column)
        place = self.place(column)
        reach = self.query.reach((place,))
        return [
            self._count(label, float(cell), reach)
            for label, cell in zip(self.query.cell_labels[place], self.marginals[(place,)], strict=True)
        ]

    def cross(self, one: str, other: str) -> list[list[Figure]]:
        """A row for each value of the first column, a figure for each of the second: measured if the pair was bought,
        else estimated."""
        first, second = self.place(one), self.place(other)
        part = (min(first, second), max(first, second))
        if part in self.marginals:
            cells, reach, how = self.marginals[part], self.reach(part), "measured"
        else:
            cells, reach, how = self.rows * self.estimated(part), math.nan, "estimated"
        cells = cells if first < second else cells.T
        labels = self.query.cell_labels[second]
        return [
            [self._count(label, float(cell), reach, how) for label, cell in zip(labels, row, strict=True)]
            for row in cells
        ]

    def mean(self, column: str, among: Condition | None = None) -> Figure:
        """Of the rows that have a value in a number column; or of those `among` them with one of the given labels in
        one other column."""
        place, wanted = self.place(column), self._wanted(among or {})
        ref, declared = self.query.columns[place], self.query.facts.schema[column]
        if not isinstance(ref, Grouped) or not isinstance(declared, Number) or place in wanted or len(wanted) > 1:
            raise AllowanceError("look.mean", column=column)
        low, high, listed = np.zeros((3, self.query.axes[place].size))
        ends = [*ref.starts[1:], declared.size]
        low[: len(ends)] = [float(declared.value(start)) for start in ref.starts]
        high[: len(ends)] = [float(declared.value(end - 1)) for end in ends]
        listed[: len(ends)] = 1.0
        part = tuple(sorted({place, *wanted}))
        if part not in self.marginals:
            self._may_fit(part)
            cells = self.fit.among(wanted, place)
            return Figure(column, _middle(low, high, cells * listed), None, None, "estimated")
        labels = {other: round(float(cells.sum())) for other, cells in wanted.items()}
        log = next((self.ranges.of_mean(*one) for one in labels.items() if one[1] > 1), self.log_of_sums)
        lowest, highest, counted = (self._over(part, {place: a, **wanted}) for a in (low, high, listed))
        below, above = (self.ranges.ratio(part, a, counted, log) for a in (lowest, highest))
        least, most = float(low[0]), float(high[len(ends) - 1])
        if below is None or above is None:
            return Figure(column, (least + most) / 2, least, most)
        middle = _middle(lowest, highest, counted * self.marginals[part])
        first, last = min(max(below[0], least), most), max(min(above[1], most), least)
        return Figure(column, min(max(middle, first), last), first, last)

    def percentile(self, column: str, share: float = 0.5) -> Figure:
        """Between the ends of which groups it lies; `share` is a quarter, a half or three quarters."""
        place = self.place(column)
        ref, declared = self.query.columns[place], self.query.facts.schema[column]
        runs = isinstance(ref, Grouped) and len(ref.starts) == ref.size and isinstance(declared, Number | Date)
        if not isinstance(ref, Grouped) or not runs or share not in PERCENTILES:
            raise AllowanceError("look.percentile", column=column)
        cells, size = self.marginals[(place,)], self.query.axes[place].size
        ends = [*(start - 1 for start in ref.starts[1:]), declared.size - 1]
        low, high, middle = 0, declared.size - 1, None
        before = -share * float(cells[: len(ref.starts)].sum())
        for group in range(len(ref.starts)):
            a = np.zeros(size)
            a[: len(ref.starts)] = -share
            a[: group + 1] += 1
            found, reach = float(a @ cells), self.reach_of_sum((place,), a)
            if middle is None and found >= 0:  # as if the rows of a group were spread evenly over it
                wide = ends[group] - ref.starts[group]
                middle = ref.starts[group] + round(wide * (-before / (found - before) if found > before else 0.5))
            before = found
            if found + reach < 0:
                low = min(ends[group] + 1, declared.size - 1)
            if found - reach > 0:
                high = ends[group]
                break
        middle = high if middle is None else middle
        ordered = self.query.facts.schema.ordered(column)
        value, first, last = (_number(ordered, code) for code in (min(max(middle, low), high), low, high))
        return Figure(column, value, first, last)

    def share(self, condition: Condition, among: Condition | None = None) -> Figure:
        """Of all rows, those with one of the given labels in each of the given columns; or of the rows `among` which
        they are sought, told in the same way. Of a column of sets, the people who hold one item."""
        if held := next((name for name in condition if name in self.query.items), ""):
            return look_items.share(self.query, self.raw, self.ranges.listed, held, condition, among)
        wanted, whole = self._wanted(condition), self._wanted(among or {})
        both = {place: wanted.get(place, 1.0) * whole.get(place, np.ones(1)) for place in sorted(wanted | whole)}
        part, told = tuple(both), ", ".join(condition)
        if part not in self.marginals:
            self._may_fit(part)
            of = self.fit.share(whole) if whole else 1.0
            return Figure(told, min(self.fit.share(both) / of, 1.0) if of > 0 else 0.0, None, None, "estimated")
        if not all(cells.any() for cells in both.values()):
            return Figure(told, 0.0, 0.0, 0.0)  # labels that no row among them can have
        a, b = self._over(part, both), self._over(part, whole)
        found = self.ranges.ratio(part, a, b, self._log_of_share(part, a, b)) or (0.0, 1.0)
        low, high = (min(max(end, 0.0), 1.0) for end in found)
        over, under = (float((one * self.marginals[part]).sum()) for one in (a, b))
        return Figure(told, min(max(over / under if under > 0 else 0.5, low), high), low, high)

    def difference(self, column: str, one: str, other: str) -> Figure:
        """How many more rows have one value of a column than another."""
        a, part = self._cells(column, [one]) - self._cells(column, [other]), (self.place(column),)
        value, reach = float(a @ self.marginals[part]), self.reach_of_sum(part, a)
        return Figure(f"{one} − {other}", value, value - reach, value + reach)

    def _log_of_share(self, part: Columns, a: Floats, b: Floats) -> float:
        """The share of one cell, of all or of its row or column, is listed; others are among all sets of labels."""
        chosen, of = (self._labels(one) for one in (a, b))
        narrowed = [many for many, size in zip(of, a.shape, strict=True) if many < size]
        if set(chosen) == {1} and narrowed in ([], [1]):
            return self.log_of_sums
        return self.ranges.of_share(part, chosen, of)

    @staticmethod
    def _labels(cells: Floats) -> tuple[int, ...]:
        """How many labels a product of sets of labels has in each column."""
        others = [tuple(other for other in range(cells.ndim) if other != axis) for axis in range(cells.ndim)]
        return tuple(int(np.any(cells > 0, axis=rest).sum()) for rest in others)

    def _over(self, part: Columns, factors: Mapping[int, Floats]) -> Floats:
        """A number for each cell of a marginal: the product of one for each of its columns."""
        product: Floats = np.ones([self.query.axes[place].size for place in part])
        for axis, place in enumerate(part):
            if place in factors:
                product = product * np.reshape(factors[place], [-1 if at == axis else 1 for at in range(len(part))])
        return product

    def _wanted(self, condition: Condition) -> dict[int, Floats]:
        return {self.place(column): self._cells(column, labels) for column, labels in condition.items()}

    @cached_property
    def ranges(self) -> Ranges:
        return Ranges(self.query, self.marginals, self.noise)

    def reach_of_sum(self, part: Columns, a: Floats) -> float:
        """How far a sum of cells that is listed in `look_ranges` may be off, with all others of them."""
        return self.ranges.reach(part, a, self.log_of_sums)

    @property
    def log_of_sums(self) -> float:
        return self.ranges.listed

    def _count(self, label: str, value: float, reach: float, how: str = "measured") -> Figure:
        value = max(value, 0.0)
        if how == "estimated":
            return Figure(label, value, None, None, how)
        return Figure(label, value, max(value - reach, 0.0), value + reach, how)

    @cached_property
    def rows(self) -> float:
        """About how many rows there are: exactly, where that is public."""
        known = self.query.facts.people if self.query.layout.known else None
        return max(1.0, float(known or self.marginals[(0,)].sum()))

    def place(self, column: str) -> int:
        """Where a column stands among those of the question."""
        if column in self.query.items:
            raise AllowanceError("look.items", column=column)
        if column not in self.cells:
            raise AllowanceError("look.column", column=column)
        return self.cells.index(column)

    def _cells(self, column: str, labels: Sequence[str]) -> Floats:
        own = self.query.cell_labels[self.place(column)]
        if not labels or not set(labels) <= set(own):
            raise AllowanceError("look.label", column=column)
        return np.array([float(label in labels) for label in own])

    # Estimated

    @cached_property
    def fit(self) -> EntropyFit:
        hubs = tuple(self.place(name) for name in self.query.against)
        return EntropyFit(tuple(axis.size for axis in self.query.axes), hubs, self.marginals)

    def fits(self, columns: Columns) -> bool:
        """Whether an estimate among these columns is small enough to be worked out."""
        return self.fit.held_at_once(columns) <= MOST_FITTED

    def _may_fit(self, columns: Columns, whole: bool = False) -> None:
        held = max(self.fit.held_at_once(columns), self.fit.cells(columns) if whole else 0)
        if held > MOST_FITTED:
            names = [self.cells[place] for place in columns]
            raise AllowanceError("look.large", columns=names, cells=held, most=MOST_FITTED)

    def estimated(self, columns: Columns) -> Floats:
        """How likely each combination of these columns is, by the fit; an axis for each."""
        self._may_fit(columns, whole=True)
        return self.fit.table(columns)

    def estimated_among(self, among: Condition, column: str) -> Floats:
        """How likely each cell of a column is together with one of the given labels in each of the others."""
        wanted, place = self._wanted(among), self.place(column)
        self._may_fit(tuple(sorted({place, *wanted})))
        return self.fit.among(wanted, place)

    @cached_property
    def held_back(self) -> HeldBack | None:
        """How estimates through the columns of interest do where it is known: each bought pair of one of them,
        estimated without itself; None where there is none."""
        hubs = self.fit.hubs
        return HeldBack.of(
            [
                self._left_out((*hubs, place), (min(hub, place), max(hub, place)))
                for hub in hubs
                for place in range(len(self.query.axes))
                if place not in hubs and self.fits((place,))
            ]
        )

    def checked(self, *columns: str) -> HeldBack | None:
        """The same for an estimate among these columns: through the columns of interest, or where other sets of them
        were bought, each of those left out."""
        if self.fit.hubs:
            return self.held_back
        places = tuple(sorted(self.place(column) for column in columns))
        bought = [part for part in parts_of(places) if len(part) > 1 and part in self.marginals]
        largest = [part for part in bought if not any(set(part) < set(other) for other in bought)]
        return HeldBack.of([self._left_out(places, part) for part in largest] if self.fits(places) else [])

    def _left_out(self, columns: Columns, part: Columns) -> HeldBack:
        told, measured = self.fit.left_out(columns, part), self.marginals[part]
        off = float(np.abs(told - np.clip(measured, 0, None) / max(np.clip(measured, 0, None).sum(), 1.0)).sum()) / 2
        inside = np.abs(self.rows * told - measured) <= self.reach(part)
        return HeldBack(off, int(inside.sum()), inside.size)

    def to_frame(self) -> pd.DataFrame:
        """Every measured bar and pair, one figure a row."""
        import pandas as pd

        rows = [
            (column, one.label, "", "", one.value, one.low, one.high)
            for column in self.columns
            for one in self.bars(column)
        ]
        for part in self.marginals:
            if len(part) == 2:
                first, second = (self.columns[place] for place in part)
                for label, figures in zip(self.query.cell_labels[part[0]], self.cross(first, second), strict=True):
                    rows += [(first, label, second, one.label, one.value, one.low, one.high) for one in figures]
        return pd.DataFrame(rows, columns=["column", "label", "second column", "second label", "rows", "low", "high"])


def _middle(low: Floats, high: Floats, rows: Floats) -> float:
    """The average if everyone were in the middle of a group; of nobody, the middle of all."""
    rows = np.clip(rows, 0, None)
    return float(((low + high) / 2 * rows).sum() / rows.sum()) if rows.sum() > 0 else float((low + high).mean() / 2)
