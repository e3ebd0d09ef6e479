"""What a paid first look shows: bars, cross tables, averages, shares, each with its range. Free.

Claim       except with probability β, all at once: every cell of every bought marginal is within its reach, and so is
            every average, percentile and share that is read here, even one picked after seeing everything else
            (`Ranges`: which sums, and how they share β).
Averages    of the rows with a value: a value in group b lies between lo_b and hi_b, so Σ(hi_b − μ)·cell_b ≥ 0 ≥
            Σ(lo_b − μ)·cell_b for the true average μ. The range is every μ for which the noisy sums allow both: it
            holds μ whenever these two sums are within their reach.
Percentiles the same with C_j − q·Σcell, C_j the rows up to the end of group j: it is above the end where that is
            certainly negative, and not above it where that is certainly positive.
Shares      a sum of cells over another that holds it.
Differences of two cells: a sum with 1 and −1; of two shares: what their ranges leave.
Sets        for a column of sets, the people who hold each item, out of everyone (`item_shares`).
Estimated   marginals that were not bought, by maximum entropy from those that were (`look_fit`). No promise; beside
            them stands how such estimates did on measurements that were held back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ln_above
from dpengine.core.types import Floats
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Grouped, base
from dpengine.declared.schema import Number, Ordered
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.residuals import Columns, moved_parts, parts_of
from dpengine.released.look_fit import MOST_FITTED, EntropyFit, HeldBack

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Figure:
    """A figure from a first look, with its range."""

    label: str
    value: float
    low: float | None  # None: estimated, without a promise
    high: float | None
    how: str = "measured"


LISTED = 12  # sums of a marginal for each of its cells; and one for each two of them
PERCENTILES = (0.25, 0.5, 0.75)
_SPARE = 1 + 1e-9

Sums = float | Floats
Ends = tuple[Floats, Floats]
Condition = Mapping[str, Sequence[str]]  # labels of columns
Share = tuple[float, float]  # the ends of a share among all such people, in percent


def ratio_ends(over: Sums, under: Sums, off: Sums, shared: Sums, whole: Sums, log: float) -> Ends:
    """The ends of the range of over/under, computed from s₀ = over/under on, so that no large numbers are subtracted:
    `off` is the variance of Σ(a − s₀·b)·cell, `whole` that of Σb·cell, `shared` their covariance. NaN where Σb·cell may
    be zero."""
    over, under = np.asarray(over, dtype=np.float64), np.asarray(under, dtype=np.float64)
    reach = 2 * log * _SPARE**2
    square = under**2 - reach * np.asarray(whole)
    sure = (under > 0) & (square > 0)
    square, middle = np.where(sure, square, np.nan), over / np.where(sure, under, np.nan)
    shared = reach * np.asarray(shared)
    root = np.sqrt(shared**2 + square * reach * np.asarray(off))
    return middle - (shared + root) / square, middle + (root - shared) / square


@dataclass(frozen=True)
class Ranges:
    """How far a sum of cells of a first look may be off, and a ratio of two sums.

    Sums        Σ a_c·cell_c of a marginal A has subgaussian noise of variance Σ_{B⊆A} σ_B²·‖⊗_{i∈B}(I − J/n_i)·ā_B‖²,
                ā_B the mean of a over the columns of A that are not in B (`residuals`: rebuilding).
    Families    The question, not the draw, fixes each family of sums, and all of its sums are within their reach at
                once except with its part of β, so any of them may be picked after seeing everything else.
                cells   β/2: the cells themselves (`Overview.reach`)
                listed  β/4: of a marginal with c cells 12·c + c² sums. For a column by itself: two for its average,
                        three for each end of a group (percentiles), at most 4·c; for a pair the same among each value
                        of the other column, at most 8·c. A cell's share of all, of its row and of its column, and
                        beside an even share: 4·c (5·c for three columns). One for each two cells: c². As many for items
                        and all people, for shares.
                shares  β/8: every set of labels in each column of a marginal, as a share of every other. There are too
                        many to treat them alike: with k_i of n_i labels a sum has the part Π 1/(n_i·C(n_i, k_i)) of
                        β/8, and these add up to 1.
                means   β/8: an average among every set of labels of another column, in the same way.
    Ratios      s = Σa·cell/Σb·cell is not linear, but Σ(a − s·b)·cell = 0 is, and this one sum, at the true s, is in a
                family. With the released x and X, x − s·X is within its reach √(2·L·(A − 2·B·s + C·s²)), A the variance
                of x, C of X, B their covariance. The range is every s for which it is: between the two roots of a
                square, computed from s₀ = x/X on; everything, where X may be zero.
    """

    query: Overview
    marginals: Mapping[Columns, Floats]
    noise: Mapping[Columns, Fraction]  # of each residual, as it was drawn

    def variance(self, part: Columns, a: Floats) -> float:
        """The variance of the noise in a sum of cells of a marginal."""
        parts = ((own, mean) for own, mean in moved_parts(part, a) if own in self._noise)
        return sum(self._noise[own] * float((mean * mean).sum()) for own, mean in parts)

    @cached_property
    def _noise(self) -> dict[Columns, float]:
        return {base: float(noise) for base, noise in self.noise.items()}

    def reach(self, part: Columns, a: Floats, log: float) -> float:
        return math.sqrt(2 * self.variance(part, a) * log) * _SPARE

    def ratio(self, part: Columns, a: Floats, b: Floats, log: float) -> tuple[float, float] | None:
        """The ends of Σa·cells/Σb·cells; None if the sum Σb·cells may be zero, so that the ratio may be anything."""
        cells = self.marginals[part]
        over, under = float((a * cells).sum()), float((b * cells).sum())
        if under <= 0:
            return None
        off = a - over / under * b
        shared = (self.variance(part, off + b) - self.variance(part, off - b)) / 4
        low, high = ratio_ends(over, under, self.variance(part, off), shared, self.variance(part, b), log)
        return None if math.isnan(low) else (float(low), float(high))

    def ratios(self, part: Columns, over: Floats, under: Floats, a: Floats, b: Floats, log: float) -> Ends:
        """The ends of many ratios at once, whose sums differ only in where they lie: `a` and `b` are the weights of one
        ratio, and all have its variance. NaN where a share may be anything."""
        wide, whole = self.variance(part, a), self.variance(part, b)
        both = (self.variance(part, a + b) - self.variance(part, a - b)) / 4
        middle = np.divide(over, under, out=np.zeros(np.broadcast(over, under).shape), where=under > 0)
        off = np.maximum(wide - 2 * middle * both + middle**2 * whole, 0.0)
        return ratio_ends(over, under, off, both - middle * whole, whole, log)

    # How sure each family of sums is

    @cached_property
    def listed(self) -> float:
        cells = [(self.query.layout.cells(part), self.query.ways(part)) for part in self.query.sets]
        cells += [(held.size, 1) for held in self.query.held]
        return float(ln_above(8 * sum(ways * (LISTED * size + size**2) for size, ways in cells) / self.query.beta))

    def of_share(self, part: Columns, *labels: tuple[int, ...]) -> float:
        """L for shares of one set of labels in another: ln(N/β) for N possible shares. `labels`: for each of the two
        sets, how many labels of each column are in it."""
        return self._among(1, *(pair for counts in labels for pair in zip(part, counts, strict=True)))

    def of_mean(self, other: int, labels: int) -> float:
        """L for the average of one column of a pair, among `labels` labels of the `other` column: ln(N/β) for N such
        averages."""
        return self._among(4, (other, labels))

    def _among(self, sums: int, *labels: tuple[int, int]) -> float:
        log = float(ln_above(16 * sum(map(self.query.ways, self.query.sets)) * sums / self.query.beta))
        for place, many in labels:
            size = self.query.axes[place].size
            log += math.log(size * math.comb(size, many)) * _SPARE
        return log


def item_bars(query: Overview, raw: Sequence[int], column: str) -> list[Figure]:
    """How many people hold each item of a column of sets, with ranges."""
    held = next(item for item in query.held if item.column == column)
    reach = query.reach_of_held(held)
    counts = [max(count, 0) for count in query.held_counts(raw)[column]]
    pairs = zip(query.item_labels(column), counts, strict=True)
    return [Figure(label, count, max(count - reach, 0.0), count + reach) for label, count in pairs]


def item_shares(query: Overview, raw: Sequence[int], log: float, column: str) -> list[Figure]:
    """The share of everyone who holds each item. The counts are among the cells that are all within reach except with
    probability β/2. A share of a public number of people has the same range, divided. If the number of people is
    secret, x − s·X is within its reach for the true share s, with X the noisy number of people; this sum is among the
    listed ones (`Ranges`). `log` says how sure the listed sums are."""
    counts = query.held_counts(raw)
    over, under = np.array(counts[column], dtype=np.float64), float(counts[""][0])
    held = {item.column: float(noise) for item, noise in query.noise_of_held.items()}
    if "" not in held:
        reach = query.reach_of_held(next(item for item in query.held if item.column == column))
        low, high = (over - reach) / under, (over + reach) / under
    else:
        estimate = over / max(under, 1.0)
        off, shared = held[column] + estimate**2 * held[""], -estimate * held[""]
        low, high = ratio_ends(over, under, off, shared, held[""], log)
    low, high = np.nan_to_num(np.clip(low, 0, 1), nan=0.0), np.nan_to_num(np.clip(high, 0, 1), nan=1.0)
    middle = np.clip(over / under if under > 0 else np.full(len(over), 0.5), low, high)
    return figures_of(query.item_labels(column), middle, low, high)


def figures_of(labels: Sequence[str], middle: Floats, low: Floats, high: Floats) -> list[Figure]:
    columns = zip(labels, middle.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Figure(label, value, least, most) for label, value, least, most in columns]


def item_share(
    query: Overview, raw: Sequence[int], log: float, column: str, condition: Condition, among: Condition | None
) -> Figure:
    """The share of everyone who holds one item; refused with other conditions, since nothing else was counted of
    sets."""
    labels = condition[column]
    if len(condition) > 1 or among or len(labels) != 1:
        raise AllowanceError("look.items", column=column)
    if labels[0] not in query.item_labels(column):
        raise AllowanceError("look.label", column=column)
    return item_shares(query, raw, log, column)[query.item_labels(column).index(labels[0])]


def _number(column: Ordered, code: int) -> float:
    """The value of a code as a number; of a day, its number in the calendar."""
    value = column.value(code)
    return float(date.fromisoformat(value).toordinal()) if isinstance(value, str) else float(value)


class Look(dict[str, int]):
    """The bars of all columns by name, as stored, and everything else that the same draw shows."""

    def __init__(
        self,
        query: Overview,
        raw: Sequence[int],
        stored: Mapping[str, int] | None = None,
        everybody: Mapping[str, Share] | None = None,
        first: bool = False,
    ) -> None:
        """Of a random sample: `everybody` are the stored ranges for all such people, by label, in percent; `first`:
        nothing had been released before, so there are ranges for groups too."""
        super().__init__(stored or {})
        self.query, self.raw, self.everybody, self.first = query, tuple(raw), everybody, first

    def of_these_people(self) -> Self:
        """The same look without ranges for all such people."""
        return type(self)(self.query, self.raw, self)

    @cached_property
    def columns(self) -> list[str]:
        """All columns, those of sets last."""
        return self.query.names

    @cached_property
    def cells(self) -> list[str]:
        """The columns with one cell per row: only these can be counted against each other."""
        return [base(ref) for ref in self.query.columns]

    @cached_property
    def marginals(self) -> dict[Columns, Floats]:
        return self.query.marginals(self.raw)

    @cached_property
    def noise(self) -> dict[Columns, Fraction]:
        return self.query.noise_in(self.raw)

    def reach(self, part: Columns) -> float:
        """The reach of every cell of a measured marginal."""
        return self.query.reach(part, self.noise)

    @cached_property
    def paired(self) -> bool:
        return any(len(part) > 1 for part in self.marginals)

    # Measured

    def bars(self, column: str) -> list[Figure]:
        """How many rows each value or group of a column has; for sets, how many people hold each item."""
        if column in self.query.items:
            return item_bars(self.query, self.raw, column)
        place = self.place(column)
        reach, cells = self.query.reach((place,)), self.marginals[(place,)].tolist()
        pairs = zip(self.query.cell_labels[place], cells, strict=True)
        return [self._count(label, cell, reach) for label, cell in pairs]

    def cross(self, one: str, other: str) -> list[list[Figure]]:
        """The counts of two columns together, a row for each value of the first column: measured if the pair was
        bought, else estimated."""
        first, second = self.place(one), self.place(other)
        part = (min(first, second), max(first, second))
        if part in self.marginals:
            cells, reach, how = self.marginals[part], self.reach(part), "measured"
        else:
            cells, reach, how = self.rows * self.estimated(part), math.nan, "estimated"
        cells = cells if first < second else cells.T
        labels = self.query.cell_labels[second]
        rows = [zip(labels, row, strict=True) for row in cells.tolist()]
        return [[self._count(label, cell, reach, how) for label, cell in row] for row in rows]

    def mean(self, column: str, among: Condition | None = None) -> Figure:
        """The mean of a number column over the rows with a value; with `among`, over those of them that have one of the
        given labels in each given column."""
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
        log = next((self.ranges.of_mean(*item) for item in labels.items() if item[1] > 1), self.log_of_sums)
        lowest, highest, counted = (self._over(part, {place: a, **wanted}) for a in (low, high, listed))
        below, above = (self.ranges.ratio(part, a, counted, log) for a in (lowest, highest))
        least, most = float(low[0]), float(high[len(ends) - 1])
        if below is None or above is None:
            return Figure(column, (least + most) / 2, least, most)
        middle = _middle(lowest, highest, counted * self.marginals[part])
        first, last = min(max(below[0], least), most), max(min(above[1], most), least)
        return Figure(column, min(max(middle, first), last), first, last)

    def percentile(self, column: str, share: float = 0.5) -> Figure:
        """The value below which a quarter, a half or three quarters of the rows lie: a range from the start of one
        group to the end of another."""
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
            rank, reach = float(a @ cells), self.reach_of_sum((place,), a)
            if middle is None and rank >= 0:  # as if the rows of a group were spread evenly over it
                wide = ends[group] - ref.starts[group]
                middle = ref.starts[group] + round(wide * (-before / (rank - before) if rank > before else 0.5))
            before = rank
            if rank + reach < 0:
                low = min(ends[group] + 1, declared.size - 1)
            if rank - reach > 0:
                high = ends[group]
                break
        middle = high if middle is None else middle
        ordered = self.query.facts.schema.ordered(column)
        value, first, last = (_number(ordered, code) for code in (min(max(middle, low), high), low, high))
        return Figure(column, value, first, last)

    def share(self, condition: Condition, among: Condition | None = None) -> Figure:
        """The share of rows with one of the given labels in each given column: of all rows, or of the rows that meet
        `among`. For a column of sets, the share of people who hold one item."""
        if held := next((name for name in condition if name in self.query.items), ""):
            return item_share(self.query, self.raw, self.ranges.listed, held, condition, among)
        wanted, whole = self._wanted(condition), self._wanted(among or {})
        both = {place: wanted.get(place, 1.0) * whole.get(place, np.ones(1)) for place in sorted(wanted | whole)}
        part, label = tuple(both), ", ".join(condition)
        if part not in self.marginals:
            self._may_fit(part)
            of = self.fit.share(whole) if whole else 1.0
            return Figure(label, min(self.fit.share(both) / of, 1.0) if of > 0 else 0.0, None, None, "estimated")
        if not all(cells.any() for cells in both.values()):
            return Figure(label, 0.0, 0.0, 0.0)  # impossible labels
        a, b = self._over(part, both), self._over(part, whole)
        ends = self.ranges.ratio(part, a, b, self._log_of_share(part, a, b)) or (0.0, 1.0)
        low, high = (min(max(end, 0.0), 1.0) for end in ends)
        over, under = (float((weights * self.marginals[part]).sum()) for weights in (a, b))
        return Figure(label, min(max(over / under if under > 0 else 0.5, low), high), low, high)

    def difference(self, column: str, one: str, other: str) -> Figure:
        """How many more rows have the value `one` of a column than the value `other`."""
        a, part = self._cells(column, [one]) - self._cells(column, [other]), (self.place(column),)
        value, reach = float(a @ self.marginals[part]), self.reach_of_sum(part, a)
        return Figure(f"{one} − {other}", value, value - reach, value + reach)

    def _log_of_share(self, part: Columns, a: Floats, b: Floats) -> float:
        """L for a share's range: that of the listed sums for the share of one cell in all rows, or in its row or column
        of a pair; else that of all sets of labels."""
        chosen, of = (self._labels(weights) for weights in (a, b))
        narrowed = [many for many, size in zip(of, a.shape, strict=True) if many < size]
        if set(chosen) == {1} and narrowed in ([], [1]):
            return self.log_of_sums
        return self.ranges.of_share(part, chosen, of)

    @staticmethod
    def _labels(cells: Floats) -> tuple[int, ...]:
        """How many labels of each column have a weight, where the weights are a product of one factor per column."""
        others = [tuple(other for other in range(cells.ndim) if other != axis) for axis in range(cells.ndim)]
        return tuple(int(np.any(cells > 0, axis=rest).sum()) for rest in others)

    def _over(self, part: Columns, factors: Mapping[int, Floats]) -> Floats:
        """A weight for each cell of a marginal: the product of one factor per column, 1 for a column without a
        factor."""
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
        """The reach of a listed sum of cells with the weights `a` (`Ranges`), together with all other listed sums."""
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
        """The number of rows: exact if that number is public, else as measured."""
        known = self.query.facts.people if self.query.layout.known else None
        return max(1.0, float(known or self.marginals[(0,)].sum()))

    def place(self, column: str) -> int:
        """The index of a column among those of the question; refused for a column of sets, or one that was not asked
        about."""
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
        """Is an estimate for these columns small enough to compute?"""
        return self.fit.held_at_once(columns) <= MOST_FITTED

    def _may_fit(self, columns: Columns, whole: bool = False) -> None:
        held = max(self.fit.held_at_once(columns), self.fit.cells(columns) if whole else 0)
        if held > MOST_FITTED:
            names = [self.cells[place] for place in columns]
            raise AllowanceError("look.large", columns=names, cells=held, most=MOST_FITTED)

    def estimated(self, columns: Columns) -> Floats:
        """The estimated probability of each combination of these columns, with an axis for each column."""
        self._may_fit(columns, whole=True)
        return self.fit.table(columns)

    def estimated_among(self, among: Condition, column: str) -> Floats:
        """For each cell of a column, the estimated probability of that cell together with one of the given labels in
        each of the other columns."""
        wanted, place = self._wanted(among), self.place(column)
        self._may_fit(tuple(sorted({place, *wanted})))
        return self.fit.among(wanted, place)

    @cached_property
    def held_back(self) -> HeldBack | None:
        """How well estimates through the columns of interest predict the bought pairs with one of these columns. Each
        pair is estimated without its own measurement. None if there are no such pairs."""
        hubs = self.fit.hubs
        places = [place for place in range(len(self.query.axes)) if place not in hubs and self.fits((place,))]
        pairs = [(hub, place) for hub in hubs for place in places]
        return HeldBack.of([self._left_out((*hubs, place), (min(hub, place), max(hub, place))) for hub, place in pairs])

    def checked(self, *columns: str) -> HeldBack | None:
        """How well estimates about these columns do. With columns of interest: `held_back`. Else each bought set of
        these columns is estimated without its own measurement and compared with it; None if none was bought."""
        if self.fit.hubs:
            return self.held_back
        places = tuple(sorted(self.place(column) for column in columns))
        bought = [part for part in parts_of(places) if len(part) > 1 and part in self.marginals]
        largest = [part for part in bought if not any(set(part) < set(other) for other in bought)]
        return HeldBack.of([self._left_out(places, part) for part in largest] if self.fits(places) else [])

    def _left_out(self, columns: Columns, part: Columns) -> HeldBack:
        estimate, measured = self.fit.left_out(columns, part), self.marginals[part]
        positive = np.clip(measured, 0, None)
        off = float(np.abs(estimate - positive / max(positive.sum(), 1.0)).sum()) / 2
        inside = np.abs(self.rows * estimate - measured) <= self.reach(part)
        return HeldBack(off, int(inside.sum()), inside.size)

    # Among all such people

    def among_all(self, column: str, groups: Mapping[str, str] | None = None) -> list[Share] | None:
        """For a random sample: the share of each value of a column among all such people, or among those of a group, in
        percent, all at once except with probability β. None if no range is guaranteed, or if the columns were not
        measured together."""
        if self.everybody is None:
            return None
        if not groups:
            sizes = [len(labels) for labels in self.query.cell_labels] + [
                len(self.query.item_labels(name)) for name in self.query.items
            ]
            place = self.columns.index(column)
            return list(self.everybody.values())[sum(sizes[:place]) : sum(sizes[: place + 1])]
        if column in self.query.items or not self.first:
            return None
        places = {self.place(name): label for name, label in groups.items()}
        fixed = {place: self.query.cell_labels[place].index(label) for place, label in places.items()}
        part, own = tuple(sorted({self.place(column), *fixed})), self.place(column)
        if part not in self.marginals or own in fixed:
            return None
        at = tuple(fixed.get(place, slice(None)) for place in part)
        hits = self.marginals[part][at]
        return self.query.shares_together(part, hits, np.full(len(hits), hits.sum()), self.noise, own)

    def cells_among_all(self, part: Columns) -> list[Share] | None:
        """For a random sample: the share of each cell of columns counted together, of all such people. None if no range
        is guaranteed, or if these columns were not measured together."""
        if self.everybody is None or not self.first or len(part) < 2:
            return None
        cells = self.marginals[part]
        whole = np.full(cells.size, self.rows if self.query.layout.known else cells.sum())
        return self.query.shares_together(part, cells.ravel(), whole, self.noise)

    def to_frame(self) -> pd.DataFrame:
        """Every measured bar and pair, one figure per row."""
        import pandas as pd

        bars, shares = [], []
        for column in self.columns:
            bars += [((column, bar.label, "", ""), bar) for bar in self.bars(column)]
            shares += self.among_all(column) or []
        for part in (part for part in self.marginals if len(part) == 2):
            first, second = (self.columns[place] for place in part)
            for label, row in zip(self.query.cell_labels[part[0]], self.cross(first, second), strict=True):
                bars += [((first, label, second, bar.label), bar) for bar in row]
            shares += self.cells_among_all(part) or []
        found = pd.DataFrame(
            [(*names, bar.value, bar.low, bar.high) for names, bar in bars],
            columns=["column", "label", "second column", "second label", "rows", "low", "high"],
        )
        if self.everybody is not None:  # in percent; of pairs none if something was released before
            shares += [(math.nan, math.nan)] * (len(bars) - len(shares))
            found[["population_low", "population_high"]] = shares
        return found


def _middle(low: Floats, high: Floats, rows: Floats) -> float:
    """The average of the rows if each were in the middle of its group; without rows, the middle of all groups."""
    rows = np.clip(rows, 0, None)
    return float(((low + high) / 2 * rows).sum() / rows.sum()) if rows.sum() > 0 else float((low + high).mean() / 2)
