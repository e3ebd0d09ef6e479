"""The sums of several number columns, each measured from the middle of its grid, over rows with values in all of them.

A row is the vector of its y_j = 2·code_j − h_j, h_j = size_j − 1; its norm is that of (y_j/h_j), at most √d. `limit`
cuts longer rows to a norm of √(limit)/UNITS. All of it is integers: with G_j = ⌈|y_j|·UNITS/h_j⌉, r = ⌈√ΣG²⌉ and
K = ⌊√limit⌋, a row with ΣG² > limit counts as y_j·K/r, rounded *toward zero* to the lattice of 1/`parts`. Since
|y_j|/h_j ≤ G_j/UNITS and r² ≥ ΣG², its norm is then at most K/UNITS: no step makes it longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from operator import add

from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.declared.schema import MISSING
from dpengine.statistics.need import Aggregate, Aggregated
from dpengine.statistics.view import Expression, View, joined, signed, total

UNITS = 2**20  # of a norm
MOST_WIDE = 2**28  # h·parts: sums of 10^10 rows stay below 2^62, and products of a row below 2^53


@dataclass(frozen=True)
class CentredSums(Aggregate[tuple[int, ...]]):
    """The number of rows with a value in every column, and each column's sum of y over them, in units of 1/parts."""

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
        """What one row adds."""
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
    """top // bottom of integers from 0 up, below 2^53. Engines divide in floats, which is exact for a multiple."""
    return ((top - top % bottom) / bottom).cast("int64")
