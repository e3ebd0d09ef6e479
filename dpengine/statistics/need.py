"""A need is a statistic that a mechanism may compute on the data. Mechanisms see no SQL, and engines know no mechanism.

A need holds everything about itself, so a new one touches one file:

    of          its meaning, in a few lines over a list of coded rows: tests compare engines with it, and brute-force
                sensitivities over it
    expression  the grouped aggregate that computes it, over a `View`: every Ibis dialect compiles the same one
    shape       the statistic from the aggregated columns: every declared cell and group, also empty ones, in the
                declared order

A `Streamed` need can also tally the stored codes itself, which is faster for a local file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa

from dpengine.core.types import Integers
from dpengine.declared.conditions import EVERYONE, InGroup, Predicate, Row
from dpengine.declared.grouped import Grouped, Ref
from dpengine.statistics.view import Expression, View

Statistic = TypeVar("Statistic", covariant=True)
Aggregated = Mapping[str, Integers]  # the aggregated columns, by name; sums may come as Python's integers of any length


@dataclass(frozen=True)
class Spread:
    """A distribution: the codes that occur, sorted, and how many rows have each. Private until noised."""

    codes: Integers
    counts: Integers


class Need(ABC, Generic[Statistic]):
    """A statistic of those coded rows that meet `where`."""

    where: Predicate

    @abstractmethod
    def of(self, rows: Sequence[Row]) -> Statistic: ...


AnyNeed = Need[Any]


class Aggregate(Need[Statistic]):
    """A need computed as counts and integer sums over groups of rows."""

    compares: ClassVar[bool] = False  # does it only compare and add codes, unless its condition or groups compute?

    @abstractmethod
    def expression(self, view: View) -> Expression:
        """An Ibis expression with one row for each group: its code (or several), then counts and integer sums. `shape`
        turns them into the statistic."""

    @abstractmethod
    def shape(self, columns: Aggregated) -> Statistic: ...

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        """Columns of the coded file that it reads beside the codes, with their types. `names`: stored names."""
        return {}

    @property
    def every_row(self) -> bool:
        """Does it read all rows of a person, not only the declared number that counts?"""
        return False

    @property
    def as_stored(self) -> bool:
        """May the engine read codes as narrow as they are stored? Yes if it only compares and adds them: sums are wide
        anyhow, but a product or a difference of narrow codes could overflow."""
        return self.compares and only_compared(self.where, getattr(self, "by", None), *getattr(self, "columns", ()))

    @property
    def weighed(self) -> bool:
        """Does it count only by `count`, `count_of` and `total` of the view? Then kept counts can give it too."""
        return False

    def apart(self) -> Sequence[Self]:
        """Smaller needs whose results, joined, are this one's. Each may have kept counts where the whole has none."""
        return [self]

    def compiled_as(self) -> Self:
        """The need without its tables' contents, so that all steps of a training share one compiled statement."""
        return self

    def tables(self) -> dict[str, pa.Table]:
        """Public tables that the expression reads, by name."""
        return {}


class Streamed(Aggregate[Statistic]):
    """A need that can also be tallied from the stored columns, in one pass over the file: for many counts of few cells,
    where an engine would handle each row many times. Its sums are integers, so parts of the file may be read at once,
    in any order."""

    @property
    def streams(self) -> bool:
        """Can it be tallied under its condition?"""
        return True

    @abstractmethod
    def stored(self, names: Mapping[str, str]) -> list[str]:
        """The stored columns that it reads. `names`: a declared column's stored name."""

    @abstractmethod
    def added(self, rows: Iterable[Mapping[str, Integers]], names: Mapping[str, str]) -> Integers:
        """The sums over these rows, from stored columns with narrow codes."""

    @abstractmethod
    def summed(self, sums: Integers) -> Statistic:
        """The statistic from the sums over all rows."""


@dataclass(frozen=True)
class Needs(Need[tuple[object, ...]]):
    """Several needs as one: each is computed by itself, and the statistic is the tuple of theirs."""

    parts: tuple[Need[object], ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[object, ...]:
        return tuple(part.of(rows) for part in self.parts)


@dataclass(frozen=True)
class NoData(Need[tuple[int, ...]]):
    """A need that reads no data: for opening a session."""

    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        return ()


@dataclass(frozen=True)
class CodedRows(Need[Sequence[Sequence[int]]]):
    """Every row's codes, as one array for each column, for publishing. A set is one code: bit i means item i."""

    columns: tuple[str, ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(_one_code(row[column]) for row in rows) for column in self.columns)


def only_compared(where: Predicate, *columns: Ref | None) -> bool:
    """Are codes of these columns, and in this condition, only compared? Groups need arithmetic."""
    return not any(isinstance(part, Grouped | InGroup) for part in (*columns, *where.parts))


def _one_code(cell: int | tuple[int, ...]) -> int:
    return sum(1 << item for item in cell) if isinstance(cell, tuple) else cell


def placed(places: Integers, counts: Integers, size: int) -> tuple[int, ...]:
    """`size` counts: the given ones at their places, 0 elsewhere."""
    cells = np.zeros(size, dtype=np.int64)
    cells[places] = counts
    return tuple(cells.tolist())
