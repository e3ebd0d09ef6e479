"""Counts and sums of coded rows."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isqrt, prod
from operator import add

import numpy as np

from dpengine.core.types import Integers
from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import EVERYONE, Predicate, Row, kind_name
from dpengine.declared.grouped import Ref, code_of
from dpengine.declared.schema import MISSING, Code
from dpengine.statistics.need import Aggregate, Aggregated, Spread, Streamed, only_compared, placed
from dpengine.statistics.view import Expression, View, flag_name, joined, signed, total

Counts = tuple[int, ...]
SHORT_GRID = 2**12


@dataclass(frozen=True)
class RowCount(Aggregate[int]):
    """The number of rows that meet the condition; with `people`, the number of people with such a row."""

    where: Predicate = EVERYONE
    people: bool = False
    compares = True

    def of(self, rows: Sequence[Row]) -> int:
        met = [row for row in rows if self.where.holds(row)]
        return len({row["person"] for row in met}) if self.people else len(met)

    @property
    def weighed(self) -> bool:
        return not self.people

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        return {"person": "int64"} if self.people else {}

    def expression(self, view: View) -> Expression:
        return view.rows.aggregate(rows=view.rows.person.nunique() if self.people else view.count())

    def shape(self, columns: Aggregated) -> int:
        return int(columns["rows"][0])


@dataclass(frozen=True)
class ConditionCounts(Aggregate[Counts]):
    """For each option, the number of rows that meet it; a row may meet several."""

    options: tuple[Predicate, ...]
    where: Predicate = EVERYONE
    weighed = True

    def of(self, rows: Sequence[Row]) -> Counts:
        met = [row for row in rows if self.where.holds(row)]
        return tuple(sum(option.holds(row) for row in met) for option in self.options)

    def apart(self) -> list[ConditionCounts]:
        return [replace(self, options=(option,)) for option in self.options]

    def expression(self, view: View) -> Expression:
        met = {f"n{place}": view.total(view.meets(option)) for place, option in enumerate(self.options)}
        return view.rows.aggregate(**met)

    def shape(self, columns: Aggregated) -> Counts:
        return tuple(int(columns[f"n{place}"][0]) for place in range(len(self.options)))


@dataclass(frozen=True)
class PlaceSums(Aggregate[Counts]):
    """For each number column, the sum of code times its weight, over rows with a value in all columns."""

    columns: tuple[str, ...]
    weights: tuple[int, ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> Counts:
        met = [row for row in rows if self.where.holds(row) and MISSING not in [row[name] for name in self.columns]]
        pairs = zip(self.columns, self.weights, strict=True)
        return tuple(sum(row[name] * weight for row in met) for name, weight in pairs)

    def expression(self, view: View) -> Expression:
        view = view.present(*self.columns)
        pairs = enumerate(zip(self.columns, self.weights, strict=True))
        return view.rows.aggregate(**{f"s{place}": total(view[name] * weight) for place, (name, weight) in pairs})

    def shape(self, columns: Aggregated) -> Counts:
        return tuple(int(columns[f"s{place}"][0]) for place in range(len(self.columns)))


@dataclass(frozen=True)
class BinCounts(Aggregate[Counts]):
    """Rows in each bin of codes. Bin i goes from code starts[i] to before starts[i+1], the last to before `size`."""

    column: str
    starts: tuple[Code, ...]
    size: int
    where: Predicate = EVERYONE
    compares = True
    weighed = True

    def of(self, rows: Sequence[Row]) -> Counts:
        counts = [0] * len(self.starts)
        for row in rows:
            code = row[self.column]
            if code != MISSING and self.where.holds(row):
                counts[bisect_right(self.starts, code) - 1] += 1
        return tuple(counts)

    def expression(self, view: View) -> Expression:
        return Distribution(self.column, self.size).expression(view)

    def shape(self, columns: Aggregated) -> Counts:
        counts = np.zeros(len(self.starts), dtype=np.int64)
        starts = np.array(self.starts, dtype=np.int64)
        np.add.at(counts, np.searchsorted(starts, columns["code"], side="right") - 1, columns["rows"])
        return tuple(counts.tolist())


@dataclass(frozen=True)
class CellCounts(Aggregate[Counts]):
    """Rows, or with `people` distinct people, for each combination of codes; the last column varies fastest."""

    columns: tuple[Ref, ...]
    sizes: tuple[int, ...]
    where: Predicate = EVERYONE
    people: bool = False
    compares = True

    def of(self, rows: Sequence[Row]) -> Counts:
        counts, seen = [0] * prod(self.sizes), set()
        for row in rows:
            codes = [code_of(row, column) for column in self.columns]
            if MISSING not in codes and self.where.holds(row):
                place = 0
                for code, size in zip(codes, self.sizes, strict=True):
                    place = place * size + code
                if self.people:
                    if (row["person"], place) in seen:
                        continue
                    seen.add((row["person"], place))
                counts[place] += 1
        return tuple(counts)

    @property
    def weighed(self) -> bool:
        return not self.people

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        return {"person": "int64"} if self.people else {}

    def expression(self, view: View) -> Expression:
        view = view.present(*self.columns)
        keys = {f"k{place}": view[column] for place, column in enumerate(self.columns)}
        counted = view.rows.person.nunique() if self.people else view.count()
        return view.rows.group_by(**keys).aggregate(rows=counted)

    def shape(self, columns: Aggregated) -> Counts:
        place = np.zeros(len(columns["rows"]), dtype=np.int64)
        for at, size in enumerate(self.sizes):
            place = place * size + columns[f"k{at}"]
        return placed(place, columns["rows"], prod(self.sizes))


def cut(column: str) -> str:
    """The name of a set column in which each person has at most the declared number of items, for histograms."""
    return f"{column}, cut"


def cut_name(column: str) -> str:
    """The name of the `cut` column in the coded file."""
    return f"{column}k"


@dataclass(frozen=True)
class ItemCounts(Aggregate[Counts]):
    """The number of people who hold each item of an ItemSet. With `people`, a person holds an item if one of their rows
    that meet the condition does, and *every* row of the table is read; otherwise each row is a person. Either way a
    person moves a count by at most one. With `cut`, at most the declared number of items of a person counts."""

    column: str
    size: int
    where: Predicate = EVERYONE
    people: bool = False
    cut: bool = False

    def of(self, rows: Sequence[Row]) -> Counts:
        name = cut(self.column) if self.cut else self.column
        met = [(place, row) for place, row in enumerate(rows) if self.where.holds(row)]
        held = {(row["person"] if self.people else place, item) for place, row in met for item in row[name]}
        counts = Counter(item for _, item in held)
        return tuple(counts[code] for code in range(self.size))

    @property
    def every_row(self) -> bool:
        return self.people

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        types = {"person": "int64"} if self.people else {}
        return types | ({cut_name(names[self.column]): "array<int64>"} if self.cut else {})

    def expression(self, view: View) -> Expression:
        rows, name = view.rows, view.names[self.column]
        items = rows[cut_name(name) if self.cut else name].unnest()
        held = rows.select(*([rows.person] if self.people else []), item=items)
        return held.group_by(held.item).aggregate(rows=held.person.nunique() if self.people else held.count())

    def shape(self, columns: Aggregated) -> Counts:
        return placed(columns["item"], columns["rows"], self.size)


@dataclass(frozen=True)
class MisfitCount(Aggregate[int]):
    """The number of rows in which the cell of `column` does not fit its declaration; without a column, any cell."""

    column: str | None = None
    where: Predicate = EVERYONE
    weighed = True

    def of(self, rows: Sequence[Row]) -> int:
        met = [row for row in rows if self.where.holds(row)]
        return sum(row["fault"] if self.column is None else row[kind_name(self.column)] < FITS for row in met)

    def _flag(self, names: Mapping[str, str]) -> str:
        return "fault" if self.column is None else flag_name(names[self.column])

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        return {self._flag(names): "int64"}

    def expression(self, view: View) -> Expression:
        flag = view.rows[self._flag(view.names)]
        return view.rows.aggregate(rows=view.total(flag if self.column is None else (flag < FITS).ifelse(1, 0)))

    def shape(self, columns: Aggregated) -> int:
        return int(columns["rows"][0])


@dataclass(frozen=True)
class KindCounts(Streamed[Counts]):
    """For each column, the number of rows with a cell of each of the given kinds (`declared/cell_kinds.py`). A check of
    fifteen columns counts three hundred kinds: an engine takes longer to plan so many counts than to read the rows."""

    columns: tuple[tuple[str, tuple[int, ...]], ...]  # a name, and the kinds to count, in this order
    where: Predicate = EVERYONE
    weighed = True

    def of(self, rows: Sequence[Row]) -> Counts:
        met = [row for row in rows if self.where.holds(row)]
        return tuple(
            sum(row[kind_name(column)] == kind for row in met) for column, kinds in self.columns for kind in kinds
        )

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        return {flag_name(names[column]): "int64" for column, _ in self.columns}

    @property
    def as_stored(self) -> bool:
        return only_compared(self.where)

    @property
    def streams(self) -> bool:
        return not self.where.clauses

    def stored(self, names: Mapping[str, str]) -> list[str]:
        return list(self.flags(names))

    def added(self, rows: Iterable[Mapping[str, Integers]], names: Mapping[str, str]) -> Integers:
        sums = [np.zeros(max(kinds, default=0) - min(kinds, default=0) + 3, np.int64) for _, kinds in self.columns]
        for some in rows:
            for counts, (column, kinds) in zip(sums, self.columns, strict=True):
                least, most = min(kinds, default=0), max(kinds, default=0)
                found = np.clip(some[flag_name(names[column])].astype(np.int64), least - 1, most + 1)  # the rest: ends
                counts += np.bincount(found - (least - 1), minlength=len(counts))
        return np.concatenate([np.zeros(0, np.int64), *sums])

    def summed(self, sums: Integers) -> Counts:
        found, start = list[int](), 0
        for _, kinds in self.columns:
            least, most = min(kinds, default=0), max(kinds, default=0)
            found += [int(sums[start + kind - least + 1]) for kind in kinds]
            start += most - least + 3
        return tuple(found)

    def apart(self) -> list[KindCounts]:
        return [replace(self, columns=(column,)) for column in self.columns]

    def expression(self, view: View) -> Expression:
        flags = [(view.rows[flag_name(view.names[column])], kinds) for column, kinds in self.columns]
        parts = [flag == kind for flag, kinds in flags for kind in kinds]
        return view.rows.aggregate(**{f"n{at}": view.count_of(part) for at, part in enumerate(parts)})

    def shape(self, columns: Aggregated) -> Counts:
        return tuple(int(columns[f"n{at}"][0]) for at in range(sum(len(kinds) for _, kinds in self.columns)))


@dataclass(frozen=True)
class HitCounts(Aggregate[Counts]):
    """For each group, the number of rows that meet `hit`, then the number of rows that do not."""

    hit: Predicate
    by: Ref | None
    groups: int
    where: Predicate = EVERYONE
    weighed = True

    def of(self, rows: Sequence[Row]) -> Counts:
        counts = [0] * (2 * self.groups)
        for row in rows:
            group = 0 if self.by is None else code_of(row, self.by)
            if group != MISSING and self.where.holds(row):
                counts[2 * group + (0 if self.hit.holds(row) else 1)] += 1
        return tuple(counts)

    @property
    def as_stored(self) -> bool:
        return only_compared(self.where, self.by) and only_compared(self.hit)

    def expression(self, view: View) -> Expression:
        view = view.grouped(self.by)
        rows = view.rows if self.by is None else view.rows.group_by(group=view.group(self.by))
        return rows.aggregate(rows=view.count(), hits=view.count_of(view.meets(self.hit)))

    def shape(self, columns: Aggregated) -> Counts:
        counts = np.zeros((self.groups, 2), dtype=np.int64)
        place = columns.get("group", np.zeros(1, dtype=np.int64))
        counts[place] = np.stack([columns["hits"], columns["rows"] - columns["hits"]], axis=1)
        return tuple(counts.ravel().tolist())


@dataclass(frozen=True)
class Moments(Aggregate[Counts]):
    """For each group, the number of rows with a value, the sum of y, and with degree 2 the sum of y². y = 2·code −
    (size−1) is the code measured from the middle of the grid, doubled to stay an integer."""

    column: str
    size: int
    degree: int
    by: Ref | None
    groups: int
    where: Predicate = EVERYONE
    weighed = True

    def of(self, rows: Sequence[Row]) -> Counts:
        sums = [0] * (self.groups * (self.degree + 1))
        for row in rows:
            code, group = row[self.column], 0 if self.by is None else code_of(row, self.by)
            if MISSING not in (code, group) and self.where.holds(row):
                first = group * (self.degree + 1)
                for power in range(self.degree + 1):
                    sums[first + power] += (2 * code - (self.size - 1)) ** power
        return tuple(sums)

    @property
    def as_stored(self) -> bool:
        return self.degree == 1 and only_compared(self.where, self.by)

    @property
    def _by_code(self) -> bool:
        """Does DuckDB count rows code by code here? On a short grid that takes half the time of squaring each code."""
        return self.degree == 2 and self.by is None and self.size <= SHORT_GRID

    def expression(self, view: View) -> Expression:
        """Sums of codes and of their squares, which engines add fastest; `shape` turns them into sums of y."""
        if (self.degree == 2 and view.weighed) or (self._by_code and view.counts_fast):
            if self.by is None:
                return Distribution(self.column, self.size).expression(view)
            return GroupDistributions(self.column, self.size, self.by, self.groups).expression(view)
        view = view.present(self.column).grouped(self.by)
        code = view[self.column]
        powers = range(1, self.degree + 1)
        sums = {f"s{n}": view.total(code if n == 1 else code * code, (self.size - 1) ** n) for n in powers}
        rows = view.rows if self.by is None else view.rows.group_by(group=view.group(self.by))
        return rows.aggregate(s0=view.count(), **sums)

    def shape(self, columns: Aggregated) -> Counts:
        """Sums of y from sums of codes c, h = size−1: Σy = 2Σc − hN and Σy² = 4Σc² − 4hΣc + h²N, unbounded integers."""
        if "code" in columns:
            columns = _by_group(columns, self.degree, self.groups)
        width, h = self.degree + 1, self.size - 1
        sums = [0] * (self.groups * width)
        groups = columns.get("group", np.zeros(1, dtype=np.int64)).tolist()
        powers_of = [columns[f"s{power}"].tolist() for power in range(width)]
        for group, n, c, *squares in zip(groups, *powers_of, strict=True):
            moments = [n, 2 * c - h * n, *(4 * square - 4 * h * c + h * h * n for square in squares)]
            sums[group * width : (group + 1) * width] = moments
        return tuple(sums)


def _by_group(columns: Aggregated, degree: int, groups: int) -> Aggregated:
    """For each group, the sums of code^0 to code^degree, from the number of rows with each code; unbounded integers."""
    codes, rows = columns["code"], columns["rows"]
    place = columns.get("group", np.zeros(len(codes), dtype=np.int64))
    most = int(codes.max(initial=0)) ** degree * int(rows.sum())
    kind = np.int64 if most < 2**62 else object
    sums: dict[str, Integers] = {"group": np.arange(groups)}
    for power in range(degree + 1):
        sums[f"s{power}"] = np.zeros(groups, dtype=kind)
        np.add.at(sums[f"s{power}"], place, rows.astype(kind) * codes.astype(kind) ** power)
    return sums


# Whole distributions of coded columns over their grids.


def spread_of(codes: Iterable[Code]) -> Spread:
    counts = Counter(codes)
    held = sorted(counts)
    return Spread(np.array(held, dtype=np.int64), np.array([counts[code] for code in held], dtype=np.int64))


def sorted_spread(codes: Integers, counts: Integers) -> Spread:
    """A distribution sorted by code. Sorted here, since a cluster would read the rows once more to sort them."""
    order = np.argsort(codes)
    return Spread(codes[order], counts[order])


@dataclass(frozen=True)
class Distribution(Aggregate[Spread]):
    """How many rows have each code of a Number; rows without a value do not count."""

    column: str
    size: int
    where: Predicate = EVERYONE
    compares = True
    weighed = True

    def of(self, rows: Sequence[Row]) -> Spread:
        return spread_of(row[self.column] for row in rows if self.where.holds(row) and row[self.column] != MISSING)

    def imagine(self, people: int, shape: str) -> Spread:
        """A made-up distribution: `people` values at even ranks of `shape`, a public curve on the grid."""
        ranks = (np.arange(people) + 0.5) / people
        if shape == "even":
            place = ranks
        elif shape == "skewed":
            place = np.minimum(-np.log1p(-ranks) / 3.35, 1.0)
        else:  # roughly a bell without tails
            place = np.clip(0.5 + 0.15 * np.log(ranks / (1 - ranks)) / 1.6, 0.0, 1.0)
        codes, counts = np.unique((place * (self.size - 1)).round().astype(np.int64), return_counts=True)
        return Spread(codes, counts.astype(np.int64))

    def expression(self, view: View) -> Expression:
        view = view.present(self.column)
        return view.rows.group_by(code=view[self.column]).aggregate(rows=view.count())

    def shape(self, columns: Aggregated) -> Spread:
        return sorted_spread(columns["code"], columns["rows"])


@dataclass(frozen=True)
class GroupDistributions(Aggregate[tuple[Spread, ...]]):
    """How many rows have each code of a Number, in each group of a Category or of a grouped column."""

    column: str
    size: int
    by: Ref
    groups: int
    where: Predicate = EVERYONE
    compares = True
    weighed = True

    def of(self, rows: Sequence[Row]) -> tuple[Spread, ...]:
        inner = Distribution(self.column, self.size, self.where)
        return tuple(inner.of([row for row in rows if code_of(row, self.by) == group]) for group in range(self.groups))

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
    """How many rows have each pair of codes of two Numbers. A pair is one code: the first code times the second
    column's size, plus the second code. Rows without both values do not count."""

    columns: tuple[str, str]
    sizes: tuple[int, int]
    where: Predicate = EVERYONE
    compares = True
    weighed = True

    def of(self, rows: Sequence[Row]) -> Spread:
        first, second = self.columns
        met = [row for row in rows if self.where.holds(row) and MISSING not in (row[first], row[second])]
        return spread_of(row[first] * self.sizes[1] + row[second] for row in met)

    def expression(self, view: View) -> Expression:
        view = view.present(*self.columns)
        keys = {"first": view[self.columns[0]], "second": view[self.columns[1]]}
        return view.rows.group_by(**keys).aggregate(rows=view.count())

    def shape(self, columns: Aggregated) -> Spread:
        return sorted_spread(columns["first"] * self.sizes[1] + columns["second"], columns["rows"])


UNITS = 2**20  # of a norm
MOST_WIDE = 2**28  # h·parts: sums of 10^10 rows stay below 2^62, and products of a row below 2^53


@dataclass(frozen=True)
class CentredSums(Aggregate[tuple[int, ...]]):
    """The sums of several number columns, each measured from the middle of its grid, over rows with values in all: the
    number of these rows, and each column's sum of y over them, in units of 1/parts.

    A row is the vector of its y_j = 2·code_j − h_j, h_j = size_j − 1; its norm is that of (y_j/h_j), at most √d.
    `limit` cuts longer rows to a norm of √(limit)/UNITS. All of it is integers: with G_j = ⌈|y_j|·UNITS/h_j⌉, r =
    ⌈√ΣG²⌉ and K = ⌊√limit⌋, a row with ΣG² > limit counts as y_j·K/r, rounded *toward zero* to the lattice of
    1/`parts`. Since |y_j|/h_j ≤ G_j/UNITS and r² ≥ ΣG², its norm is then at most K/UNITS: no step makes it longer.
    """

    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    parts: int = 1
    limit: int | None = None  # on ΣG²; None: rows are not cut
    where: Predicate = EVERYONE

    @property
    def halves(self) -> tuple[int, ...]:
        """h of each column."""
        return tuple(size - 1 for size in self.sizes)

    def row(self, codes: Sequence[int]) -> tuple[int, ...]:
        """What one row adds to each sum."""
        away = [2 * code - half for code, half in zip(codes, self.halves, strict=True)]
        if self.limit is not None:
            square = sum((-(-abs(y) * UNITS // half)) ** 2 for y, half in zip(away, self.halves, strict=True))
            if square > self.limit:
                root, most = isqrt(square - 1) + 1, isqrt(self.limit)
                return tuple((-1 if y < 0 else 1) * (abs(y) * self.parts * most // root) for y in away)
        return tuple(y * self.parts for y in away)

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        many, sums = 0, [0] * len(self.columns)
        for row in rows:
            codes = [row[name] for name in self.columns]
            if MISSING not in codes and self.where.holds(row):
                many += 1
                sums = [before + more for before, more in zip(sums, self.row(codes), strict=True)]
        return many, *sums

    def expression(self, view: View) -> Expression:
        view = view.present(*self.columns)
        places = range(len(self.columns))
        away = {f"y{at}": view[self.columns[at]] * 2 - self.halves[at] for at in places}
        if self.limit is None:
            rows = view.rows.select(**away)
            return rows.aggregate(n=rows.count(), **{f"s{at}": total(rows[f"y{at}"] * self.parts) for at in places})
        rows = view.rows.select(**away)
        lengths = [_divided(rows[f"y{at}"].abs() * UNITS + (self.halves[at] - 1), self.halves[at]) for at in places]
        rows = rows.mutate(**{f"g{at}": length for at, length in enumerate(lengths)})
        rows = rows.mutate(square=joined(add, [rows[f"g{at}"] * rows[f"g{at}"] for at in places]))
        rows = rows.mutate(near=rows.square.cast("float64").sqrt().ceil().cast("int64"))
        # The least root with root² ≥ square, however a machine rounds its square root, and at least 1.
        lower = ((rows.near - 1) * (rows.near - 1) >= rows.square).ifelse(rows.near - 1, rows.near)
        rows = rows.mutate(root=(rows.near * rows.near < rows.square).ifelse(rows.near + 1, lower))
        rows = rows.mutate(root=(rows.root < 1).ifelse(1, rows.root))
        far, most = rows.square > self.limit, isqrt(self.limit)
        sums = {}
        for at in places:
            y = rows[f"y{at}"]
            cut = signed(_divided(y.abs() * (self.parts * most), rows.root), y)
            sums[f"s{at}"] = total(far.ifelse(cut, y * self.parts))
        return rows.aggregate(n=rows.count(), **sums)

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        return int(columns["n"][0]), *(int(columns[f"s{at}"][0]) for at in range(len(self.columns)))


def _divided(top: Expression, bottom: Expression | int) -> Expression:
    """top // bottom for integers from 0 to 2^53. Engines divide in floats, which is exact for multiples of `bottom`."""
    return ((top - top % bottom) / bottom).cast("int64")
