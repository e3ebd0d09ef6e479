"""Counts of rows over several sets of columns, in one pass over the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from dpengine.core.types import Integers
from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import EVERYONE, Predicate, Row, kind_name
from dpengine.declared.grouped import WEEK, Grouped, Ref, base, code_of
from dpengine.declared.schema import MISSING, Category, Schema
from dpengine.statistics.counts import Counts
from dpengine.statistics.need import Aggregated, Streamed
from dpengine.statistics.view import WEIGHT, Expression, View, flag_name

MOST_AT_ONCE = 2**15  # cells to count together: they fit a processor's cache
LONGEST_TABLE = 2**20  # codes, for a table of their cells; for more, a search


@dataclass(frozen=True)
class CellAxis:
    """The cells of a column: its listed values or groups; then one for rows without a value, if `absent`; then one for
    cells that do not fit the declaration, if `misfit`. Every row is in exactly one."""

    ref: Ref
    listed: int
    absent: bool
    misfit: bool

    @property
    def size(self) -> int:
        return self.listed + self.absent + self.misfit

    def of(self, row: Row) -> int:
        if self.misfit and row[kind_name(base(self.ref))] < FITS:
            return self.size - 1
        code = code_of(row, self.ref)
        return self.listed if code == MISSING else int(code)

    def stored(self, names: Mapping[str, str]) -> list[str]:
        name = names[base(self.ref)]
        return [name, flag_name(name)] if self.misfit else [name]

    def cells(self, rows: Mapping[str, Integers], names: Mapping[str, str]) -> Integers:
        """The cell of every row. Widened to 64 bits before any arithmetic, because stored codes are narrow."""
        code, *flags = (rows[name] for name in self.stored(names))
        cells = self._grouped(code.astype(np.int64)) if isinstance(self.ref, Grouped) else code.astype(np.int64)
        for flag in flags:
            cells = np.where(flag < FITS, self.size - 1, cells)
        return cells

    def expression(self, view: View) -> Expression:
        """The cell of every row, as an expression for engines."""
        code = view.rows[view.names[base(self.ref)]]
        some = self.absent or isinstance(self.ref, Grouped)  # a list has a value in every row
        cell = (code == MISSING).ifelse(self.listed, view[self.ref]) if some else code
        if self.misfit:
            cell = (view.rows[flag_name(view.names[base(self.ref)])] < FITS).ifelse(self.size - 1, cell)
        return cell

    def _grouped(self, code: Integers) -> Integers:
        assert isinstance(self.ref, Grouped)
        starts, places = self.ref.starts, np.array(self.ref.places, dtype=np.int64)
        if not starts:
            return np.where(code == MISSING, self.listed, (code - self.ref.monday) % WEEK)
        if starts[-1] < LONGEST_TABLE:
            looked_up: Integers = self._table[np.minimum(code, starts[-1]) + 1]
            return looked_up
        group = places[np.maximum(np.searchsorted(np.array(starts), code, side="right") - 1, 0)]
        return np.where(code == MISSING, self.listed, group)

    @cached_property
    def _table(self) -> Integers:
        """For looking cells up: the cell of no value, then that of each code up to the start of the last run."""
        assert isinstance(self.ref, Grouped)
        starts = np.array(self.ref.starts, dtype=np.int64)
        runs = np.repeat(np.array(self.ref.places, dtype=np.int64), np.diff(starts, append=starts[-1] + 1))
        return np.concatenate([np.array([self.listed], dtype=np.int64), runs])


def axis_in(ref: Ref, schema: Schema) -> CellAxis:
    """A declared column, or its groups, as cells."""
    column, listed = schema[base(ref)], schema.category(ref).size
    ranged = isinstance(ref, Grouped) and not isinstance(column, Category)
    return CellAxis(ref, listed, absent=ranged and not getattr(column, "complete", False), misfit=ranged)


@dataclass(frozen=True)
class Marginals(Streamed[tuple[Counts, ...]]):
    """For each set of columns, the number of rows in each combination of cells; the last column varies fastest."""

    axes: tuple[CellAxis, ...]
    sets: tuple[tuple[int, ...], ...]  # places of axes
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[Counts, ...]:
        met = [[axis.of(row) for axis in self.axes] for row in rows]
        tables = []
        for columns in self.sets:
            counts = [0] * self._cells(columns)
            for codes in met:
                cell = 0
                for place in columns:
                    cell = cell * self.axes[place].size + codes[place]
                counts[cell] += 1
            tables.append(tuple(counts))
        return tuple(tables)

    def stored(self, names: Mapping[str, str]) -> list[str]:
        return list(dict.fromkeys(name for axis in self.axes for name in axis.stored(names)))

    @cached_property
    def together(self) -> list[tuple[int, ...]]:
        """Packs of columns to count at once. Each covers as many sets as fit, so that rows are read few times."""
        packs: list[tuple[int, ...]] = []
        for columns in self.sets:
            joined = tuple(sorted({*packs[-1], *columns})) if packs else columns
            if packs and self._cells(joined) <= MOST_AT_ONCE:
                packs[-1] = joined
            else:
                packs.append(columns)
        return packs

    def added(self, rows: Iterable[Mapping[str, Integers]], names: Mapping[str, str]) -> Integers:
        counted = [np.zeros(self._cells(pack), dtype=np.int64) for pack in self.together]
        for some in rows:
            codes = [axis.cells(some, names) for axis in self.axes]
            for pack, counts in zip(self.together, counted, strict=True):
                cell = codes[pack[0]]
                for place in pack[1:]:
                    cell = cell * self.axes[place].size + codes[place]
                counts += np.bincount(cell, minlength=len(counts))
        return np.concatenate(counted) if counted else np.zeros(0, dtype=np.int64)

    def summed(self, sums: Integers) -> tuple[Counts, ...]:
        ends = np.cumsum([self._cells(pack) for pack in self.together], dtype=np.int64)
        counted = np.split(sums, ends[:-1])
        return tuple(self._part(columns, counted) for columns in self.sets)

    def only(self, sets: Sequence[tuple[int, ...]]) -> Marginals:
        """The same need for some of the sets; it reads only their columns."""
        used = sorted({place for columns in sets for place in columns})
        places = tuple(tuple(used.index(place) for place in columns) for columns in sets)
        return Marginals(tuple(self.axes[place] for place in used), places, self.where)

    def weighed_counts(self, kept: Mapping[str, Integers], names: Mapping[str, str]) -> tuple[Counts, ...]:
        """The counts of the only set, from kept counts: each kept row counts as often as its weight says."""
        (columns,) = self.sets
        codes = [self.axes[place].cells(kept, names) for place in columns]
        counts = np.zeros(self._cells(columns), dtype=np.int64)
        shape = tuple(self.axes[place].size for place in columns)
        np.add.at(counts, np.ravel_multi_index(codes, shape), kept[WEIGHT])
        return (tuple(counts.tolist()),)

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        return {name: "int64" for axis in self.axes for name in axis.stored(names)[1:]}

    def expression(self, view: View) -> Expression:
        """Also one pass over the rows. Each row becomes one cell number in each pack, and no two packs share a number;
        the engine counts the numbers, and only these counts leave it."""
        import ibis

        if not self.sets:
            return view.rows.aggregate(rows=view.rows.count())
        axes = {f"a{place}": axis.expression(view) for place, axis in enumerate(self.axes)}
        rows, cells, first = view.rows.select(**axes), [], 0
        for pack in self.together:
            cell = rows[f"a{pack[0]}"]
            for place in pack[1:]:
                cell = cell * self.axes[place].size + rows[f"a{place}"]
            cells.append(cell + first)
            first += self._cells(pack)
        held = rows.select(cell=cells[0] if len(cells) == 1 else ibis.array(cells).unnest())
        return held.group_by(held.cell).aggregate(rows=held.count())

    def shape(self, columns: Aggregated) -> tuple[Counts, ...]:
        counts = np.zeros(sum(self._cells(pack) for pack in self.together), dtype=np.int64)
        if self.sets:
            counts[columns["cell"]] = columns["rows"]
        return self.summed(counts)

    def _part(self, columns: tuple[int, ...], counted: list[Integers]) -> Counts:
        at = next(at for at, pack in enumerate(self.together) if set(columns) <= set(pack))
        pack = self.together[at]
        cells = counted[at].reshape([self.axes[place].size for place in pack])
        rest = tuple(axis for axis, place in enumerate(pack) if place not in columns)
        return tuple(cells.sum(axis=rest).ravel().tolist())

    def _cells(self, columns: tuple[int, ...]) -> int:
        return prod(self.axes[place].size for place in columns)
