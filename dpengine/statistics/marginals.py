"""Counts of rows over several sets of columns, in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.declared.grouped import Ref, base, code_of
from dpengine.declared.schema import MISSING
from dpengine.statistics.counts import Counts, flag_name
from dpengine.statistics.need import Aggregate, Found, placed
from dpengine.statistics.view import Expression, View, integer


@dataclass(frozen=True)
class CellAxis:
    """A column as cells: its listed values or groups, then one cell for rows without a value, and one for cells that do
    not fit the declaration, where such rows can be. Every row is in exactly one of them."""

    ref: Ref
    listed: int
    absent: bool
    misfit: bool

    @property
    def size(self) -> int:
        return self.listed + self.absent + self.misfit

    def of(self, row: Row) -> int:
        if self.misfit and row[f"fault {base(self.ref)}"]:
            return self.size - 1
        code = code_of(row, self.ref)
        return self.listed if code == MISSING else int(code)

    def place(self, view: View) -> Expression:
        place = view[self.ref]
        if self.absent:
            place = (view[base(self.ref)] == MISSING).ifelse(integer(self.listed), place)
        if self.misfit:
            flag = view.rows[flag_name(view.names[base(self.ref)])]
            place = (flag == 1).ifelse(integer(self.size - 1), place)
        return place


@dataclass(frozen=True)
class Marginals(Aggregate[tuple[Counts, ...]]):
    """For each set of columns, rows per combination of their cells; the last column varies fastest."""

    axes: tuple[CellAxis, ...]
    sets: tuple[tuple[int, ...], ...]  # places of axes
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[Counts, ...]:
        met = [[axis.of(row) for axis in self.axes] for row in rows if self.where.holds(row)]
        found = []
        for columns in self.sets:
            counts = [0] * self._cells(columns)
            for codes in met:
                cell = 0
                for place in columns:
                    cell = cell * self.axes[place].size + codes[place]
                counts[cell] += 1
            found.append(tuple(counts))
        return tuple(found)

    def imagine(self, people: int, shape: str) -> tuple[Counts, ...]:
        return tuple((people // self._cells(columns),) * self._cells(columns) for columns in self.sets)

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        return {flag_name(names[base(axis.ref)]): "int64" for axis in self.axes if axis.misfit}

    def expression(self, view: View) -> Expression:
        import ibis

        coded = view.rows.select(**{f"a{place}": axis.place(view) for place, axis in enumerate(self.axes)})
        parts = []
        for place, columns in enumerate(self.sets):
            cell = integer(0)
            for column in columns:
                cell = cell * self.axes[column].size + coded[f"a{column}"]
            grouped = coded.group_by(cell=cell).aggregate(rows=coded.count())
            parts.append(grouped.select(part=integer(place), cell=grouped.cell, rows=grouped["rows"]))
        return ibis.union(*parts) if len(parts) > 1 else parts[0]

    def shape(self, columns: Found) -> tuple[Counts, ...]:
        return tuple(
            placed(columns["cell"][here], columns["rows"][here], self._cells(wanted))
            for place, wanted in enumerate(self.sets)
            for here in [np.asarray(columns["part"]) == place]
        )

    def _cells(self, columns: tuple[int, ...]) -> int:
        return prod(self.axes[place].size for place in columns)
