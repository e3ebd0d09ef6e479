"""Statistics of a raw column, before any schema is declared: for owners who do not know its range or its values and
spend some budget to learn them.

As in `need`, each has its meaning over a list of rows (`of`; a row holds the cell's text, or None). The file's header,
which is public, names the column. Rows without a usable cell are left out.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import LONGEST_VALUE
from dpengine.declared.spelling import normal, trimmed
from dpengine.statistics.counts import KindCounts, RowCount
from dpengine.statistics.need import Need
from dpengine.statistics.raw_cells import BANDS, FIRST_YEAR, YEARS, band, number_reader, year_of

USUAL = Dialect()
Cells = Iterable[tuple[str | None, int]]  # different texts, and the number of rows with each
Statistic = TypeVar("Statistic")


@dataclass(frozen=True)
class _OfColumn(ABC, Generic[Statistic]):
    column: str

    def under(self, dialect: Dialect) -> Self:
        """The same need for a file whose numbers are written in this dialect."""
        return self

    def of(self, rows: Sequence[Row]) -> Statistic:
        return self.of_cells((row[self.column], 1) for row in rows)

    @abstractmethod
    def of_cells(self, cells: Cells) -> Statistic: ...


@dataclass(frozen=True)
class Bands(_OfColumn[tuple[int, ...]]):
    """The number of rows in each public power-of-two band of numbers (`raw_cells.EDGES`)."""

    dialect: Dialect = USUAL

    def under(self, dialect: Dialect) -> Self:
        return replace(self, dialect=dialect)

    def of_cells(self, cells: Cells) -> tuple[int, ...]:
        plain, counts = number_reader(self.dialect), [0] * BANDS
        for text, rows in cells:
            place = None if text is None else band(plain(text))
            if place is not None:
                counts[place] += rows
        return tuple(counts)


@dataclass(frozen=True)
class Values(_OfColumn[tuple[tuple[str, int], ...]]):
    """Each distinct value (`spelling.normal`) with its number of rows; too long and unprintable values do not count."""

    def of_cells(self, cells: Cells) -> tuple[tuple[str, int], ...]:
        rows_of: Counter[str] = Counter()
        for text, rows in cells:
            value = normal(text or "")
            if value and len(value) <= LONGEST_VALUE and _printable(value):
                rows_of[value] += rows
        return tuple(sorted(rows_of.items()))


@dataclass(frozen=True)
class Years(_OfColumn[tuple[int, ...]]):
    """Rows with a day in each year from FIRST_YEAR to LAST_YEAR; days outside count in the nearer of these."""

    def of_cells(self, cells: Cells) -> tuple[int, ...]:
        counts = [0] * YEARS
        for text, rows in cells:
            year = None if text is None else year_of(text)
            if year is not None:
                counts[min(max(year - FIRST_YEAR, 0), YEARS - 1)] += rows
        return tuple(counts)


@dataclass(frozen=True)
class Different(_OfColumn[tuple[int, ...]]):
    """The number of different values, compared like ids (`spelling.trimmed`); empty cells do not count. Adding,
    removing or replacing a row changes it by at most one."""

    def of_cells(self, cells: Cells) -> tuple[int, ...]:
        return (len({trimmed(text) for text, _ in cells if text is not None} - {""}),)


@dataclass(frozen=True)
class Crowded(_OfColumn[tuple[int, ...]]):
    """The number of ids with more than `most` rows in the file, also rows beyond the limit of those that count. Adding,
    removing or replacing all rows of a person changes it by at most one."""

    most: int

    def of_cells(self, cells: Cells) -> tuple[int, ...]:
        rows_of: Counter[str] = Counter()
        for text, rows in cells:
            if text is not None and (value := trimmed(text)):
                rows_of[value] += rows
        return (sum(rows > self.most for rows in rows_of.values()),)


@dataclass(frozen=True)
class Several:
    """Statistics of several raw columns, in the order of `needs`."""

    needs: tuple[OneColumn, ...]

    def under(self, dialect: Dialect) -> Several:
        return Several(tuple(need.under(dialect) for need in self.needs))

    def of(self, rows: Sequence[Row]) -> tuple[OfOne, ...]:
        return tuple(need.of(rows) for need in self.needs)


@dataclass(frozen=True)
class Beside(Need[tuple[int, ...]]):
    """Counts of coded rows, then one number for each raw column: read separately, released together."""

    coded: KindCounts | RowCount
    raw: tuple[Different | Crowded, ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        return self.joined(self.coded.of(rows), (need.of(rows)[0] for need in self.raw))

    def joined(self, coded: int | tuple[int, ...], raw: Iterable[int]) -> tuple[int, ...]:
        return (*((coded,) if isinstance(coded, int) else coded), *raw)


def _printable(value: str) -> bool:
    """Does a value hold no control, format or unassigned characters, and no line breaks?"""
    kinds = [unicodedata.category(sign) for sign in value]
    return not any(kind.startswith("C") or kind in ("Zl", "Zp") for kind in kinds)


OfOne = tuple[int, ...] | tuple[tuple[str, int], ...]
OneColumn = Bands | Values | Years | Different | Crowded
RawNeed = OneColumn | Several
RawStatistic = OfOne | tuple[OfOne, ...]
