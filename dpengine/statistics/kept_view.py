"""Kept counts as arrays that answer like an Ibis table, so that the expression of a need runs on them.

A kept table is short, and an engine would take longer to plan a statement than to run it. A row of it stands for as
many rows as its weight says. Only numbers of rows and codes are summed here: both fit 64 bits, because a kept column
has at most MOST_CELLS codes and no table MOST_ROWS rows. Squares are left to `shape`, in integers of any length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from dpengine.core.types import Integers
from dpengine.declared.conditions import Has
from dpengine.declared.grouped import WEEK, Grouped, Ref, base
from dpengine.declared.schema import MISSING, Code, Schema
from dpengine.statistics.need import Aggregate, Aggregated
from dpengine.statistics.view import WEIGHT, Expression, View, without_gaps

MOST_CELLS = 2**20  # codes of a kept column, or combinations of codes of a kept pair
MOST_ROWS = 10**12
assert MOST_CELLS * MOST_ROWS < 2**62


class KeptValues(np.ndarray):
    """One column of a kept table as an array, with the methods of an Ibis column that NumPy calls otherwise."""

    def between(self, low: int, high: int) -> Expression:
        return (self >= low) & (self <= high)

    def isin(self, codes: Iterable[int]) -> Expression:
        return np.isin(self, np.array(sorted(codes), dtype=np.int64))

    def ifelse(self, met: int, others: int) -> Expression:
        return np.where(self, met, others)


class KeptRows:
    """The rows of a kept table, with the methods of an Ibis table that needs use."""

    def __init__(self, columns: Mapping[str, Integers]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Expression:
        return self._columns[name].view(KeptValues)

    def filter(self, met: Expression) -> Self:
        return type(self)({name: values[met] for name, values in self._columns.items()})

    def group_by(self, **keys: Expression) -> _Groups:
        return _Groups(keys, len(self[WEIGHT]))

    def aggregate(self, **parts: Expression) -> Aggregated:
        return {name: np.array([values.sum()], dtype=np.int64) for name, values in parts.items()}


class _NoRows(KeptRows):
    """An empty kept table that notes which columns are read."""

    def __init__(self) -> None:
        super().__init__({})
        self.names = set[str]()

    def __getitem__(self, name: str) -> Expression:
        self.names.add(name)
        return np.zeros(0, dtype=np.int64).view(KeptValues)

    def filter(self, met: Expression) -> Self:
        return self


@dataclass(frozen=True)
class _Groups:
    keys: Mapping[str, Expression]
    rows: int

    def aggregate(self, **parts: Expression) -> Aggregated:
        """One row for each combination of keys that occurs. No array has room for other combinations: how far apart
        codes lie, which one person can change, must not show in the time."""
        if not self.rows:
            return {name: np.zeros(0, dtype=np.int64) for name in (*self.keys, *parts)}
        keys = [np.asarray(key, dtype=np.int64) for key in self.keys.values()]
        first = [int(key.min()) for key in keys]
        spans = [int(key.max()) - least + 1 for key, least in zip(keys, first, strict=True)]
        place = keys[0] - first[0]
        for key, least, span in list(zip(keys, first, spans, strict=True))[1:]:
            place = place * span + (key - least)
        order = np.argsort(place, kind="stable")  # mostly sorted already, and then this is quick
        place = place[order]
        starts = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
        found = place[starts]
        sums = {name: np.add.reduceat(np.asarray(values)[order], starts) for name, values in parts.items()}
        codes = np.unravel_index(found, spans) if len(spans) > 1 else (found,)
        held = {name: code + least for name, code, least in zip(self.keys, codes, first, strict=True)}
        return held | sums


@dataclass(frozen=True)
class KeptView(View):
    weighed: ClassVar[bool] = True

    def __getitem__(self, column: Ref) -> Expression:
        code = self.rows[self.names[base(column)]]
        if not isinstance(column, Grouped):
            return code
        if not column.starts:
            return (code + (WEEK - column.monday)) % WEEK
        run = np.searchsorted(np.array(column.starts), code, side="right") - 1
        return np.array(column.places, dtype=np.int64)[np.maximum(run, 0)].view(KeptValues)

    def count(self) -> Expression:
        return self.rows[WEIGHT]

    def count_of(self, met: Expression) -> Expression:
        return self.total(met)

    def total(self, values: Expression, most: int | None = None) -> Expression:
        """For each row of the kept table its value times its number of rows: what it adds to a sum."""
        return np.multiply(values, self.rows[WEIGHT], dtype=np.int64)

    def among(self, code: Expression, codes: tuple[Code, ...]) -> Expression:
        return code.isin(codes)

    def _has(self, code: Expression, clause: Has) -> Expression:
        return code < MISSING  # no set has kept counts: here it only counts as read


def computed(need: Aggregate[object], rows: KeptRows, schema: Schema) -> Aggregated:
    """The columns that the need's expression aggregates, from the rows of a kept table."""
    names = {name: f"c{place}" for place, name in enumerate(schema.columns)}
    view = KeptView(rows, names, {}, filled=without_gaps(schema))
    found: Aggregated = need.expression(view.meeting(need.where))
    return found


def reads(need: Aggregate[object], schema: Schema) -> frozenset[str]:
    """The stored columns that the need reads, found by running its expression on no rows."""
    return _reads(need.compiled_as(), tuple(schema.columns), without_gaps(schema))


@lru_cache(maxsize=256)
def _reads(need: Aggregate[object], columns: tuple[str, ...], filled: frozenset[str]) -> frozenset[str]:
    rows = _NoRows()
    view = KeptView(rows, {name: f"c{place}" for place, name in enumerate(columns)}, {}, filled=filled)
    need.expression(view.meeting(need.where))
    return frozenset(rows.names)
