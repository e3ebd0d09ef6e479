"""The statistics a mechanism may ask of the data. An engine computes them; mechanisms see no SQL.

Each need also carries its meaning as a few lines over a list of coded rows (`of`): the reference that engines
are tested against and that sensitivities are brute-forced over. And `imagine` makes the statistic of a made-up
table from public facts alone, for previews.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpengine.features import LOGISTIC, MARGIN_UNITS, ROW_BITS, WEIGHT_BITS, Layout, toward_zero
from dpengine.modelneeds import OfModel
from dpengine.predicate import EVERYONE, Predicate, Row
from dpengine.schema import MISSING, Code

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Spread:
    """How often each code occurs: sorted codes that occur, and their counts. Private until noised."""

    codes: Integers
    counts: Integers


@dataclass(frozen=True)
class Nothing:
    """Nothing of the data: what opening a session reads."""

    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        return ()

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        return ()


@dataclass(frozen=True)
class Count:
    """How many rows meet the condition, or how many people have such a row."""

    where: Predicate = EVERYONE
    people: bool = False

    def of(self, rows: Sequence[Row]) -> int:
        met = [row for row in rows if self.where.holds(row)]
        return len({row["person"] for row in met}) if self.people else len(met)

    def imagine(self, people: int, shape: str) -> int:
        return people if self.where.everyone else people * 2 // 5


@dataclass(frozen=True)
class Histogram:
    """Rows per bin. Bin i holds the codes starts[i] ≤ code < starts[i+1]; the last one ends below `size`."""

    column: str
    starts: tuple[Code, ...]
    size: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        counts = [0] * len(self.starts)
        for row in rows:
            code = row[self.column]
            if code != MISSING and self.where.holds(row):
                counts[sum(start <= code for start in self.starts) - 1] += 1
        return tuple(counts)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        """Falling bars, one after the other a little lower: a shape, not a guess about the data."""
        weights = [1 / (place + 2) for place in range(len(self.starts))]
        return tuple(int(people * weight / sum(weights)) for weight in weights)


@dataclass(frozen=True)
class Cells:
    """Rows per combination of codes of several columns, the last column running fastest."""

    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        counts = [0] * prod(self.sizes)
        for row in rows:
            codes = [row[column] for column in self.columns]
            if MISSING not in codes and self.where.holds(row):
                place = 0
                for code, size in zip(codes, self.sizes, strict=True):
                    place = place * size + code
                counts[place] += 1
        return tuple(counts)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        return Histogram("", tuple(range(prod(self.sizes))), prod(self.sizes)).imagine(people, shape)


def cut(column: str) -> str:
    """Where a row keeps those of its items that count in a histogram: at most the declared number of one person."""
    return f"{column}, cut"


@dataclass(frozen=True)
class ItemCounts:
    """How many people hold each item of an ItemSet. With `people`, a person holds an item when one of the person's
    rows that meet the condition does, over *every* row of the table; otherwise a row is a person. Either way each
    person moves a count by one at most. With `cut`, the items that count in a histogram."""

    column: str
    size: int
    where: Predicate = EVERYONE
    people: bool = False
    cut: bool = False

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        name = cut(self.column) if self.cut else self.column
        met = [(place, row) for place, row in enumerate(rows) if self.where.holds(row)]
        held = {(row["person"] if self.people else place, item) for place, row in met for item in row[name]}
        found = Counter(item for _, item in held)
        return tuple(found[code] for code in range(self.size))

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        """Falling bars: two people in five hold the first item, fewer the next."""
        return tuple(people * 2 // (place + 5) for place in range(self.size))


@dataclass(frozen=True)
class Faults:
    """How many rows have a cell that does not fit its declaration: in one column (`fault <name>`), or any
    (`fault`)."""

    column: str | None = None
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> int:
        name = "fault" if self.column is None else f"fault {self.column}"
        return sum(row[name] for row in rows if self.where.holds(row))

    def imagine(self, people: int, shape: str) -> int:
        return people // 50


@dataclass(frozen=True)
class Hits:
    """Per group: how many rows meet `of`, and how many do not."""

    hit: Predicate
    by: str | None
    groups: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        counts = [0] * (2 * self.groups)
        for row in rows:
            if self.where.holds(row):
                group = 0 if self.by is None else row[self.by]
                counts[2 * group + (0 if self.hit.holds(row) else 1)] += 1
        return tuple(counts)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        each = people // self.groups
        share = [Fraction(2, 5) + Fraction(place, 5 * self.groups) for place in range(self.groups)]
        return tuple(part for one in share for part in (int(each * one), each - int(each * one)))


@dataclass(frozen=True)
class Counts:
    """How many rows meet each of several conditions; a row may meet any number of them."""

    options: tuple[Predicate, ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        met = [row for row in rows if self.where.holds(row)]
        return tuple(sum(option.holds(row) for row in met) for option in self.options)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        return tuple(int(people * (0.5 - 0.3 * place / len(self.options))) for place in range(len(self.options)))


@dataclass(frozen=True)
class Moments:
    """Per group: how many rows have a value, the sum of y and (degree 2) of y², where y = 2·code − (size−1) is the
    code measured from the middle of the grid, doubled to stay an integer."""

    column: str
    size: int
    degree: int
    by: str | None
    groups: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        sums = [0] * (self.groups * (self.degree + 1))
        for row in rows:
            code = row[self.column]
            if code != MISSING and self.where.holds(row):
                first = (0 if self.by is None else row[self.by]) * (self.degree + 1)
                for power in range(self.degree + 1):
                    sums[first + power] += (2 * code - (self.size - 1)) ** power
        return tuple(sums)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        """Equal groups, each a little higher than the one before."""
        spread = Ranks(self.column, self.size).imagine(max(people // self.groups, 1), shape)
        sums: list[int] = []
        for group in range(self.groups):
            codes = np.minimum(spread.codes + group * self.size // (8 * self.groups), self.size - 1)
            y = 2 * codes - (self.size - 1)
            sums += [int((spread.counts * y**power).sum()) for power in range(self.degree + 1)]
        return tuple(sums)


@dataclass(frozen=True)
class Ranks:
    """The whole distribution of a Number over its grid, missing values left out."""

    column: str
    size: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> Spread:
        found = Counter(row[self.column] for row in rows if self.where.holds(row) and row[self.column] != MISSING)
        codes = sorted(found)
        return Spread(np.array(codes, dtype=np.int64), np.array([found[code] for code in codes], dtype=np.int64))

    def imagine(self, people: int, shape: str) -> Spread:
        """`people` values at the even ranks of a public shape on the grid."""
        ranks = (np.arange(people) + 0.5) / people
        if shape == "even":
            place = ranks
        elif shape == "skewed":
            place = np.minimum(-np.log1p(-ranks) / 3.35, 1.0)
        else:  # a bell without tails: the mean of three even shares, near enough
            place = np.clip(0.5 + 0.15 * np.log(ranks / (1 - ranks)) / 1.6, 0.0, 1.0)
        codes, counts = np.unique((place * (self.size - 1)).round().astype(np.int64), return_counts=True)
        return Spread(codes, counts.astype(np.int64))


@dataclass(frozen=True)
class Pairs:
    """How often each pair of codes of two Numbers occurs, as one code: the first times the second's size, plus the
    second. Rows that lack either are left out."""

    columns: tuple[str, str]
    sizes: tuple[int, int]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> Spread:
        first, second = self.columns
        met = [row for row in rows if self.where.holds(row) and MISSING not in (row[first], row[second])]
        found = Counter(row[first] * self.sizes[1] + row[second] for row in met)
        codes = sorted(found)
        return Spread(np.array(codes, dtype=np.int64), np.array([found[code] for code in codes], dtype=np.int64))

    def imagine(self, people: int, shape: str) -> Spread:
        """Two bells that move together a little."""
        few = min(people, 10_000)
        each = [Ranks(column, size).imagine(few, "bell") for column, size in zip(self.columns, self.sizes, strict=True)]
        one, other = (np.repeat(spread.codes, spread.counts) for spread in each)
        other = other[(np.arange(few) * 7 // 10 + np.arange(few) * 7919 % few * 3 // 10) % few]
        codes, counts = np.unique(one * self.sizes[1] + other, return_counts=True)
        return Spread(codes, counts.astype(np.int64) * people // few)


@dataclass(frozen=True)
class RanksBy:
    """The same for each group of a Category."""

    column: str
    size: int
    by: str
    groups: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[Spread, ...]:
        inner = Ranks(self.column, self.size, self.where)
        return tuple(inner.of([row for row in rows if row[self.by] == group]) for group in range(self.groups))

    def imagine(self, people: int, shape: str) -> tuple[Spread, ...]:
        spread = Ranks(self.column, self.size).imagine(max(people // self.groups, 1), shape)
        moved = []
        for group in range(self.groups):
            codes = np.minimum(spread.codes + group * self.size // (8 * self.groups), self.size - 1)
            found, back = np.unique(codes, return_inverse=True)
            counts = np.zeros(len(found), dtype=np.int64)
            np.add.at(counts, back, spread.counts)
            moved.append(Spread(found, counts))
        return tuple(moved)


@dataclass(frozen=True)
class Rows:
    """Every row's codes of several columns, one array for each column: what is published row by row."""

    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(row[column] for row in rows) for column in self.columns)

    def imagine(self, people: int, shape: str) -> tuple[tuple[int, ...], ...]:
        """A few rows, each column running through its values."""
        few = min(people, 10)
        return tuple(tuple((size - 1) * place // max(few - 1, 1) for place in range(few)) for size in self.sizes)


@dataclass(frozen=True)
class Gradient:
    """The sum over rows of r·x in units of 2^-bits, x the row of `layout` and r its residual at the given weights,
    kept within ±clip (in those units): w·x − y for a number, σ(w·x) − y for yes and no.

    Every row by itself: the margin is an exact integer; r and each coordinate of r·x are cut toward zero, so the
    Euclidean norm of what a row adds is at most clip·‖x‖ ≤ clip, and no coordinate exceeds clip·K/2^ROW_BITS. A row
    that has no margin or no target adds 0. σ is the one float: of this row's exact margin, floored to the lattice,
    so it too is a function of the row alone, and whatever it were, r is kept within ±clip after it.
    """

    layout: Layout
    weights: tuple[int, ...]
    clip: int
    bits: int
    where: Predicate = EVERYONE

    def residual(self, margin: int, target: int) -> int:
        if self.layout.kind == LOGISTIC:
            away = max(min(margin / MARGIN_UNITS, MOST_MARGIN), -MOST_MARGIN)
            found = math.floor(1 / (1 + math.exp(-away)) * (1 << self.bits)) - (target << self.bits)
        else:
            found = toward_zero(margin - (target << WEIGHT_BITS), ROW_BITS + WEIGHT_BITS - self.bits)
        return max(min(found, self.clip), -self.clip)

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        sums = [0] * self.layout.width
        for row in rows:
            found, target = self.layout.row(row), self.layout.target_of(row)
            if found is not None and target is not None:
                residual = self.residual(sum(self.weights[place] * value for place, value in found), target)
                for place, value in found:
                    sums[place] += toward_zero(residual * value, ROW_BITS)
        return tuple(sums)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        """Every coordinate pulls, each a little less than the one before: a shape, not a guess about the data."""
        each = people * self.clip * self.layout.most >> ROW_BITS + 2
        return tuple((-1) ** place * (each // (place + 1)) for place in range(self.layout.width))


MOST_MARGIN = 40.0  # beyond, σ is 0 or 1 to more digits than the lattice has

Counted = Count | Counts | Histogram | Cells | ItemCounts | Hits | Moments | Ranks | Pairs | RanksBy | Faults
OfRows = Counted | Gradient | OfModel
Need = Nothing | OfRows | Rows
Statistic = int | tuple[int, ...] | Spread | tuple[Spread, ...] | tuple[Integers, ...]
