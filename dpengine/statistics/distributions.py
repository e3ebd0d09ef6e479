"""Whole distributions of coded columns over their grids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpengine.core.types import Integers
from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.declared.grouped import Ref, code_of
from dpengine.declared.schema import MISSING, Code
from dpengine.statistics.need import Aggregate, Aggregated, Spread, only_compared
from dpengine.statistics.view import Expression, View


def spread_of(codes: Iterable[Code]) -> Spread:
    counts = Counter(codes)
    held = sorted(counts)
    return Spread(np.array(held, dtype=np.int64), np.array([counts[code] for code in held], dtype=np.int64))


def sorted_spread(codes: Integers, counts: Integers) -> Spread:
    """Sort here, not in the engine: a cluster would read the rows once more to distribute the sorting."""
    order = np.argsort(codes)
    return Spread(codes[order], counts[order])


@dataclass(frozen=True)
class Distribution(Aggregate[Spread]):
    """The distribution of a Number over its grid, without missing values."""

    column: str
    size: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> Spread:
        return spread_of(row[self.column] for row in rows if self.where.holds(row) and row[self.column] != MISSING)

    def imagine(self, people: int, shape: str) -> Spread:
        """`people` values at the even ranks of a public shape on the grid."""
        ranks = (np.arange(people) + 0.5) / people
        if shape == "even":
            place = ranks
        elif shape == "skewed":
            place = np.minimum(-np.log1p(-ranks) / 3.35, 1.0)
        else:  # roughly a bell without tails
            place = np.clip(0.5 + 0.15 * np.log(ranks / (1 - ranks)) / 1.6, 0.0, 1.0)
        codes, counts = np.unique((place * (self.size - 1)).round().astype(np.int64), return_counts=True)
        return Spread(codes, counts.astype(np.int64))

    @property
    def as_stored(self) -> bool:
        return only_compared(self.where)

    @property
    def weighed(self) -> bool:
        return True

    def expression(self, view: View) -> Expression:
        view = view.present(self.column)
        return view.rows.group_by(code=view[self.column]).aggregate(rows=view.count())

    def shape(self, columns: Aggregated) -> Spread:
        return sorted_spread(columns["code"], columns["rows"])


@dataclass(frozen=True)
class GroupDistributions(Aggregate[tuple[Spread, ...]]):
    """The distribution of a Number in each group of a Category or of a grouped column."""

    column: str
    size: int
    by: Ref
    groups: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[Spread, ...]:
        inner = Distribution(self.column, self.size, self.where)
        return tuple(inner.of([row for row in rows if code_of(row, self.by) == group]) for group in range(self.groups))

    @property
    def as_stored(self) -> bool:
        return only_compared(self.where, self.by)

    @property
    def weighed(self) -> bool:
        return True

    def expression(self, view: View) -> Expression:
        view = view.present(self.column).grouped(self.by)
        keys = {"group": view.group(self.by), "code": view[self.column]}
        return view.rows.group_by(**keys).aggregate(rows=view.count())

    def shape(self, columns: Aggregated) -> tuple[Spread, ...]:
        order = np.lexsort((columns["code"], columns["group"]))
        codes, rows = columns["code"][order], columns["rows"][order]
        edges = np.searchsorted(columns["group"][order], np.arange(self.groups + 1)).tolist()
        return tuple(Spread(codes[first:last].copy(), rows[first:last].copy()) for first, last in pairwise(edges))


@dataclass(frozen=True)
class PairDistribution(Aggregate[Spread]):
    """The distribution of pairs of codes of two Numbers, as one code: the first times the second's size, plus the
    second. Rows without either value are left out."""

    columns: tuple[str, str]
    sizes: tuple[int, int]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> Spread:
        first, second = self.columns
        met = [row for row in rows if self.where.holds(row) and MISSING not in (row[first], row[second])]
        return spread_of(row[first] * self.sizes[1] + row[second] for row in met)

    @property
    def as_stored(self) -> bool:
        return only_compared(self.where)

    @property
    def weighed(self) -> bool:
        return True

    def expression(self, view: View) -> Expression:
        view = view.present(*self.columns)
        keys = {"first": view[self.columns[0]], "second": view[self.columns[1]]}
        return view.rows.group_by(**keys).aggregate(rows=view.count())

    def shape(self, columns: Aggregated) -> Spread:
        return sorted_spread(columns["first"] * self.sizes[1] + columns["second"], columns["rows"])
