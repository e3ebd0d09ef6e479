"""A need as one SQL statement for every engine: the same Ibis expression, compiled in its dialect.

Ibis only builds and compiles (10 ms, without a backend or a connection). A statement depends on public facts only: the
need's class and fields, the declared columns, the names of the coded ones. It reads a table called `coded`, which each
engine puts before it with the columns widened to 64 bits: stored codes are narrow, engines compute in the stored width,
and one person's large code must not decide whether a release fails. If a need does no arithmetic on codes
(`Aggregate.as_stored`) they stay narrow, which is faster.

**No row can make it throw, wrap or return NULL.** Coded columns hold no NULL. One row adds less than 2^62 at every step
(declared bounds; MOST_OF_ROW), and no table has MOST_ROWS rows, so a sum stays below MOST_OF_ROW·MOST_ROWS < 10^37 and
is exact as decimal(38, 0). We read it as a Python integer, whatever its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache

import pyarrow as pa

from dpengine.declared.conditions import Predicate
from dpengine.declared.schema import ItemSet, Schema
from dpengine.statistics.need import Aggregate
from dpengine.statistics.view import View, adding_decimals, flag_name, without_gaps

CODED = "coded"
MOST_OF_ROW, MOST_ROWS = 2**62, 10**18
assert MOST_OF_ROW * MOST_ROWS < 10**37

Columns = tuple[tuple[str, bool], ...]  # the declared names in order, each with whether it holds sets


@dataclass(frozen=True)
class Statement:
    """A need as SQL over the table `coded`; and `lists`, the long lists of codes in its conditions, by name."""

    sql: str
    wide: str  # selects the stored columns in 64 bits
    lists: dict[str, pa.Table]

    def over(self, tables: Mapping[str, str]) -> str:
        """The SQL with further tables in its WITH. `tables`: `name AS` and the query that defines it."""
        named = ", ".join(f"{name} ({query})" for name, query in tables.items())
        return f"WITH {named}, {self.sql[5:]}" if self.sql.startswith("WITH ") else f"WITH {named} {self.sql}"


def statement(need: Aggregate[object], schema: Schema, dialect: str, most_rows: int | None = None) -> Statement:
    """The need as SQL in this dialect. `most_rows`: a public bound on the number of rows, if there is one."""
    sets = schema.of_kind(ItemSet)
    columns = tuple((name, name in sets) for name in schema.columns)
    # Postgres adds codes of 32 bits in 64, and a table holds up to 10^12 rows.
    short = dialect != "postgres" or all(column.size <= 2**22 for column in schema.columns.values())
    return compiled(need.compiled_as(), columns, dialect, need.as_stored and short, without_gaps(schema), most_rows)


def _of_kinds(need: object) -> set[str]:
    """The columns with conditions on the kind of their cells (`Fitting`)."""
    names = set[str]()
    for field in fields(need) if is_dataclass(need) else ():
        value = getattr(need, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            names |= part.kinds_of() if isinstance(part, Predicate) else _of_kinds(part)
    return names


def get_ready() -> None:
    """Import Ibis and its compilers now: it takes half a second, and the first question should not wait for it."""
    import ibis

    ibis.to_sql(ibis.table({"c0": "int64"}, name=CODED).count(), dialect="duckdb")


@lru_cache(maxsize=256)
def compiled(
    need: Aggregate[object],
    columns: Columns,
    dialect: str,
    as_stored: bool = False,
    filled: frozenset[str] = frozenset(),
    most_rows: int | None = None,
) -> Statement:
    """The need as SQL, from public facts alone, so it may be cached. Ibis takes 3 to 5 ms to compile it, as long as
    DuckDB takes to read a million rows."""
    import ibis  # takes half a second, so only when data are read

    names = {name: f"c{place}" for place, (name, _) in enumerate(columns)}
    kinds = {names[name]: "array<int64>" if of_sets else "int64" for name, of_sets in columns} | need.flags(names)
    kinds |= {flag_name(names[column]): "int64" for column in _of_kinds(need)}
    fast = dialect == "duckdb"
    view = View(ibis.table(kinds, name=CODED), names, {}, counts_fast=fast, filled=filled)
    with adding_decimals(dialect == "pyspark", most_rows):  # Spark adds integers in 64 bits
        wanted = need.expression(view.meeting(need.where))
    if dialect == "duckdb":  # its decimals would reach numpy as floats; a sum of 10^10 rows fits 64 bits by declaration
        sums = [name for name, kind in wanted.schema().items() if kind.is_decimal()]
        wanted = wanted.cast(dict.fromkeys(sums, "int64")) if sums else wanted
    if ibis.options.pyspark is None:  # only a backend with a connection would set it
        ibis.options.pyspark = type("NoNull", (ibis.config.Config,), {"treat_nan_as_null": False})()
    sql = str(ibis.to_sql(wanted, dialect=dialect))
    # Items of a set, and the codes of some needs, are only compared and counted: they stay narrow.
    narrow = {name for name, kind in kinds.items() if kind != "int64" or as_stored}
    wide = ", ".join(name if name in narrow else f"CAST({name} AS BIGINT) AS {name}" for name in kinds)
    return Statement(sql, wide, view.lists)
