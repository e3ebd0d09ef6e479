"""The coded rows as a lazy Ibis table, with columns under their declared names.

Only integers are compared and counted here. Importing Ibis takes half a second, so we import it only to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from operator import and_, or_
from typing import Any, ClassVar

import pyarrow as pa

from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import AnyOf, Clause, Fitting, Has, InGroup, Predicate, Range
from dpengine.declared.grouped import WEEK, Grouped, Ref, base
from dpengine.declared.schema import MISSING, Code, Ordered, Schema

Expression = Any  # of Ibis, which has no type hints
_decimals: ContextVar[tuple[bool, int | None]] = ContextVar("decimals", default=(False, None))
WEIGHT = "rows_here"  # of a kept table: how many rows of the coded table a row of it stands for
MOST_RUNS = 30  # Ibis takes half a millisecond for each literal: longer lists become a table


@dataclass(frozen=True)
class View:
    rows: Expression
    names: Mapping[str, str]  # declared name → name in the coded file
    lists: dict[str, pa.Table]  # long lists of codes in conditions, gathered while compiling
    counts_fast: bool = True  # does the engine count rows by code faster than it multiplies?
    filled: frozenset[str] = frozenset()  # columns with a value in every row, by declaration
    weighed: ClassVar[bool] = False  # are the rows kept counts (kept_view.py)?

    def __getitem__(self, column: Ref) -> Expression:
        """The code of a column in each row, or the code of its group. Use it only on rows with a value (`present`)."""
        code = self.rows[self.names[base(column)]]
        return _group(code, column) if isinstance(column, Grouped) else code

    def of(self, rows: Expression) -> View:
        return replace(self, rows=rows)

    def present(self, *columns: Ref) -> View:
        """The view with only those rows that have a value in each of these columns."""
        view = self
        for column in columns:
            if base(column) not in self.filled:
                view = view.of(view.rows.filter(view[base(column)] != MISSING))
        return view

    def grouped(self, by: Ref | None) -> View:
        """Only rows that are in a group: in a list all are, in a grouped number or day those with a value."""
        return self.present(by) if isinstance(by, Grouped) else self

    def meeting(self, where: Predicate) -> View:
        return self.of(self.rows.filter(self.meets(where))) if where.clauses else self

    def meets(self, where: Predicate) -> Expression:
        return joined(and_, [self._holds(clause) for clause in where.clauses])

    def count(self) -> Expression:
        """The number of rows."""
        return self.rows.count()

    def count_of(self, met: Expression) -> Expression:
        """The number of rows that meet a condition."""
        return self.rows.count(where=met) if self.counts_fast else total(met.ifelse(1, 0), 1)

    def total(self, values: Expression, most: int | None = None) -> Expression:
        """An exact sum over the rows. `most`: no row adds more, by declaration."""
        return total(values, most)

    def group(self, by: Ref | None) -> Expression:
        """The code of each row's group; 0 if `by` is None and everyone is one group."""
        return integer(0) if by is None else self[by]

    def _holds(self, clause: Clause) -> Expression:
        if isinstance(clause, AnyOf):
            return _any([self._holds(part) for part in clause.parts], integer(0) == integer(1))
        if isinstance(clause, Fitting):
            kind = self.rows[flag_name(self.names[clause.column])]
            return (kind >= FITS) & ~kind.isin(clause.without) if clause.without else kind >= FITS
        code = self[clause.column]
        if isinstance(clause, Has):
            return self._has(code, clause)
        if isinstance(clause, InGroup):
            return (code != MISSING) & self.among(self[clause.group], clause.places)
        if isinstance(clause, Range):
            return code.between(max(clause.low, MISSING + 1), clause.high)
        return self.among(code, clause.codes)

    def _has(self, code: Expression, clause: Has) -> Expression:
        holds_item = _any([code.contains(item) for item in clause.codes], code.length() < 0)
        return ~holds_item if clause.none else holds_item

    def among(self, code: Expression, codes: tuple[Code, ...]) -> Expression:
        """Is a code one of these? Long lists of separate codes become a table."""
        runs = _runs(codes)
        if len(runs) > MOST_RUNS:
            import ibis

            name = f"codes{len(self.lists)}"
            self.lists[name] = pa.table({"code": pa.array(sorted(set(codes)), pa.int64())})
            return code.isin(ibis.table({"code": "int64"}, name=name).code)
        return _any([code.between(low, high) for low, high in runs], code < MISSING)


def without_gaps(schema: Schema) -> frozenset[str]:
    """The columns that have a value in every row, by declaration; the rows are not read."""
    columns = schema.columns.items()
    return frozenset(name for name, column in columns if not isinstance(column, Ordered) or column.complete)


def flag_name(column: str) -> str:
    """The stored column with the kinds of a column's cells: f3 for c3."""
    return f"f{column.removeprefix('c')}"


def _group(code: Expression, group: Grouped) -> Expression:
    """The group of a code: by binary search for its run of codes, or for days of the week by a remainder."""
    if not group.starts:
        return (code + (WEEK - group.monday)) % WEEK

    def among(first: int, last: int) -> Expression:
        if first == last:
            return integer(group.places[first])
        middle = (first + last + 1) // 2
        return (code < group.starts[middle]).ifelse(among(first, middle - 1), among(middle, last))

    return among(0, len(group.starts) - 1)


def integer(value: int) -> Expression:
    import ibis

    return ibis.literal(value, "int64")


@contextmanager
def adding_decimals(so: bool, most_rows: int | None = None) -> Iterator[None]:
    """A context in which `total` adds decimals if `so`: for an engine that adds integers only in 64 bits. Where a
    public number of rows times the most that a row adds fits into these, `total` adds integers."""
    before = _decimals.set((so, most_rows))
    try:
        yield
    finally:
        _decimals.reset(before)


def total(values: Expression, most: int | None = None) -> Expression:
    """An exact sum of integers; 0 without rows. The type is a decimal, because engines add in 128 bits or more, while
    Ibis would declare 64. `most`: no row adds more, by declaration."""
    decimals, rows = _decimals.get()
    short = most is not None and rows is not None and most * rows < 2**62
    values = values.cast("decimal(28, 0)") if decimals and not short else values
    return values.sum().coalesce(0).cast("decimal(38, 0)")


def signed(size: Expression, like: Expression) -> Expression:
    """`size` with the sign of `like`. In some engines the function `sign` gives a float, and so would a product."""
    return (like < 0).ifelse(-size, size)


def _any(parts: list[Expression], nobody: Expression) -> Expression:
    """Does any part hold? Without parts, `nobody`: a literal “false” is not a column and cannot be summed."""
    return joined(or_, parts) if parts else nobody


def joined(of_two: Callable[[Expression, Expression], Expression], parts: Sequence[Expression]) -> Expression:
    """Join all parts by `of_two`, in halves: Ibis and engines refuse expressions some hundred levels deep."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return of_two(joined(of_two, parts[:middle]), joined(of_two, parts[middle:]))


def _runs(codes: tuple[Code, ...]) -> list[tuple[Code, Code]]:
    """Codes as ranges of neighbours: “all but one” of a long list is two ranges."""
    runs: list[tuple[Code, Code]] = []
    for code in sorted(set(codes)):
        if runs and runs[-1][1] == code - 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return runs
