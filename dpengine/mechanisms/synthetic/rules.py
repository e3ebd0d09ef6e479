"""Impossible rows of a synthetic table: which combinations of cells and values the rules leave. Public facts only.

Pieces      the codes of a column fall into pieces that are in one cell and meet the same conditions. A cell holds one
            kind of piece or several. Whether a row meets a rule depends on the kinds of its values alone.
Possible    a combination of cells is possible if each cell has a value such that the row meets no rule. We try all
            combinations of kinds once, and look rows up.
Shown       a synthetic row shows the value of a number or day, so the value must be possible. It shows the cell of a
            list or a weekday, which is possible if one of its values is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Floats, Integers
from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import AnyOf, InGroup, Predicate, Range, Simple, kind_name
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, base
from dpengine.declared.schema import MISSING, Category, Number
from dpengine.statistics.marginals import CellAxis

MOST_TRIED = 200_000  # combinations of kinds
Mask = npt.NDArray[np.bool_]
Piece = tuple[int, int]  # from a code up to another, which is excluded


def valued(axis: CellAxis, facts: Facts) -> bool:
    """Are the cells of a column runs of numbers or days, so that rows show values?"""
    runs = isinstance(axis.ref, Grouped) and len(axis.ref.starts) == axis.ref.size
    return runs and not isinstance(facts.schema[base(axis.ref)], Category)


def evened(axes: Sequence[CellAxis], facts: Facts) -> dict[str, bool]:
    """The columns that show values. True: a cell holds several values, and a synthetic row shows any of these. Then
    averages, sums and counts of single values do not follow from what was measured."""
    columns = {}
    for axis in axes:
        column = facts.schema[base(axis.ref)]
        if isinstance(axis.ref, Grouped) and isinstance(column, Number | Date) and valued(axis, facts):
            columns[base(axis.ref)] = axis.ref.size < column.size
    return columns


class Mix(Protocol):
    """Random numbers for post-processing; they may be public."""

    def shares(self, many: int) -> Floats: ...

    def below(self, bound: int) -> int: ...


class OnColumn:
    """One column and all conditions on it. Codes that meet the same conditions are of one kind; a cell may hold
    several."""

    def __init__(self, axis: CellAxis, facts: Facts, conditions: Sequence[Simple]) -> None:
        self.axis, self.name, self.valued = axis, base(axis.ref), valued(axis, facts)
        self.size, self.conditions = facts.schema[self.name].size, conditions
        starts = self._starts(isinstance(facts.schema[self.name], Category))
        of_kind: dict[tuple[bool, ...], int] = {}
        self.pieces: list[dict[int, list[Piece]]] = [{} for _ in range(axis.size)]  # of a cell, by kind
        self.starts, kinds = np.array(starts, dtype=np.int64), []
        for start, end in zip(starts, [*starts[1:], self.size], strict=True):
            row = {kind_name(self.name): FITS, self.name: start}
            kind = of_kind.setdefault(tuple(condition.holds(row) for condition in conditions), len(of_kind))
            kinds.append(kind)
            self.pieces[axis.of(row)].setdefault(kind, []).append((start, end))
        self.none = of_kind.setdefault((False,) * len(conditions), len(of_kind))
        for cell in range(axis.listed, axis.size):
            self.pieces[cell] = {self.none: []}
        self.kinds_of_pieces = np.array(kinds, dtype=np.int64)
        self.meets: Mask = np.array(list(of_kind), dtype=np.bool_).reshape(len(of_kind), len(conditions))
        of_class: dict[frozenset[int], int] = {}
        self.classes = np.array([of_class.setdefault(frozenset(held), len(of_class)) for held in self.pieces])
        self.holds: Mask = np.array([[kind in held for kind in range(len(of_kind))] for held in of_class])

    def _starts(self, listed: bool) -> list[int]:
        groups = [part.group for part in self.conditions if isinstance(part, InGroup)]
        groups += [self.axis.ref] if isinstance(self.axis.ref, Grouped) else []
        if listed or not all(group.starts for group in groups):
            return list(range(self.size))
        ends = {end for part in self.conditions if isinstance(part, Range) for end in (part.low, part.high + 1)}
        ends |= {start for group in groups for start in group.starts} | {0}
        return sorted(end for end in ends if 0 <= end < self.size)

    def kinds(self, codes: Integers) -> Integers:
        """The kind of each code; an empty cell is of the kind that meets no condition."""
        kinds = self.kinds_of_pieces[np.searchsorted(self.starts, codes, side="right").clip(1) - 1]
        return np.where(codes == MISSING, self.none, kinds)


class Rules:
    def __init__(self, axes: Sequence[CellAxis], facts: Facts, never: Sequence[Predicate]) -> None:
        names = [base(axis.ref) for axis in axes]
        self.places = sorted({names.index(name) for rule in never for name in rule.columns()})
        parts = [[alone.parts if isinstance(alone, AnyOf) else (alone,) for alone in rule.clauses] for rule in never]
        own: dict[str, list[Simple]] = {names[place]: [] for place in self.places}
        for part in (part for rule in parts for clause in rule for part in clause):
            own[part.column].append(part)
        self.columns = [OnColumn(axes[place], facts, own[names[place]]) for place in self.places]
        tried = math.prod(max(column.holds.shape) for column in self.columns)
        if tried > MOST_TRIED:
            raise AllowanceError("synthetic_table.rules", columns=list(own))
        self._parts = parts
        listed = [np.unique(column.classes[: column.axis.listed]) for column in self.columns]
        if never and not self._cells[np.ix_(*listed)].any():
            raise AllowanceError("synthetic_table.nothing", columns=list(own))

    @cached_property
    def _fine(self) -> Mask:
        """A mask of the combinations of kinds that meet no rule; an axis for each column."""
        met = np.zeros([len(column.meets) for column in self.columns], dtype=np.bool_)
        for rule in self._parts:
            all_of = np.ones_like(met)
            for clause in rule:
                any_of = np.zeros_like(met)
                for part in clause:
                    place = next(at for at, column in enumerate(self.columns) if column.name == part.column)
                    column = self.columns[place]
                    shape = [-1 if at == place else 1 for at in range(met.ndim)]
                    any_of |= column.meets[:, column.conditions.index(part)].reshape(shape)
                all_of &= any_of
            met |= all_of
        return ~met

    def _folded(self, all_columns: bool) -> Mask:
        """`_fine` with classes of cells in place of kinds: for all columns, or only for those that show cells."""
        table = self._fine
        for place, column in enumerate(self.columns):
            if all_columns or not column.valued:
                moved = np.moveaxis(table, place, -1)
                table = np.moveaxis(np.stack([moved[..., held].any(axis=-1) for held in column.holds], -1), -1, place)
        return table

    @cached_property
    def _cells(self) -> Mask:
        return self._folded(all_columns=True)

    @cached_property
    def _shown(self) -> Mask:
        return self._folded(all_columns=False)

    def possible(self, cells: Sequence[Integers]) -> Mask:
        """Which rows have values in their cells that meet no rule? There is a cell for each column of the table."""
        held = zip(self.places, self.columns, strict=True)
        return np.asarray(self._cells[tuple(column.classes[cells[place]] for place, column in held)])

    def freed(self, cells: Sequence[Integers], rng: Mix) -> list[Integers]:
        """Give impossible rows the cells of a possible row or, if there is none, of a possible combination."""
        fine = self.possible(cells)
        wrong, right = np.flatnonzero(~fine), np.flatnonzero(fine)
        codes = [code.copy() for code in cells]
        if not len(wrong):
            return codes
        some = right[(rng.shares(len(wrong)) * len(right)).astype(np.int64)] if len(right) else None
        left = np.argwhere(self._cells)[0]
        for place, column, kind in zip(self.places, self.columns, left, strict=True):
            usual = int(np.flatnonzero(column.classes == kind)[0])
            codes[place][wrong] = usual if some is None else cells[place][some]
        return codes

    def met(self, cells: Sequence[Integers], values: Sequence[Integers]) -> Mask:
        """Which rows meet a rule, by their cells and shown values?"""
        return ~self._shown[tuple(self._keys(cells, values))]

    def _keys(self, cells: Sequence[Integers], values: Sequence[Integers]) -> list[Integers]:
        return [
            column.kinds(values[place]) if column.valued else column.classes[cells[place]]
            for place, column in zip(self.places, self.columns, strict=True)
        ]

    def moved_out(self, cells: Sequence[Integers], values: list[Integers], rng: Mix) -> None:
        """Give rows that meet a rule other values of the same cells, in as few columns as possible."""
        wrong = np.flatnonzero(self.met(cells, values))
        keys = np.array([key[wrong] for key in self._keys(cells, values)]).T
        ways: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for row, key in zip(wrong.tolist(), keys.tolist(), strict=True):
            own = [int(cells[place][row]) for place in self.places]
            at = (*own, *key)
            if at not in ways:
                ways[at] = self._ways(own, key)
            chosen = ways[at][rng.below(len(ways[at]))]
            for place, column, cell, now, then in zip(self.places, self.columns, own, key, chosen, strict=True):
                if now != then:
                    pieces = column.pieces[cell][then]
                    start, end = pieces[rng.below(len(pieces))]
                    values[place][row] = start + rng.below(end - start)

    def _ways(self, own: Sequence[int], now: Sequence[int]) -> list[tuple[int, ...]]:
        """Possible kinds of values for a row's cells, with as few changes as possible."""
        held = zip(self.columns, own, now, strict=True)
        kinds = [list(column.pieces[cell]) if column.valued else [key] for column, cell, key in held]
        able = [way for way in product(*kinds) if self._shown[way]]
        changed = [sum(map(int.__ne__, way, now)) for way in able]
        return [way for way, many in zip(able, changed, strict=True) if many == min(changed)]
