"""Needs computed by embedded DuckDB over the coded Parquet file.

Ibis only builds and compiles the need's own expression (10 ms, without a backend or a connection of its own), so
another Ibis dialect can compile the same one. DuckDB runs it: one database per engine, so that the memory limit holds
for all threads together, and one cursor per thread. Only integers are compared and counted; no float is involved and
no value in the data can make a computation fail.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpengine.core.arrays import Integers
from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import ItemSet, Schema
from dpengine.statistics.need import Aggregate, CodedRows, Need, Needs, NoData, Streamed
from dpengine.statistics.view import View

Statistic = TypeVar("Statistic")

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    "threads": 2,
    "preserve_insertion_order": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
}


STREAMED = 2**16  # rows at a time: few enough for a processor's own memory


def connect(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory that loads no extension and spills, if it must, into the workspace folder."""
    connection = duckdb.connect(config=SETTINGS | {"temp_directory": str(folder / ".spill")})
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET lock_configuration = true")
    return connection


def every_row(coded: Path) -> Path:
    """The file of *all* rows, coded the same way. It stands beside the file of the rows that count, in tables where a
    person has several rows and a column holds sets."""
    return coded.with_name(f"{coded.stem}.every.parquet")


class DuckEngine:
    def __init__(self, spill: Callable[[], Path] | None = None) -> None:
        self._spill = spill  # one database reads many tables: it must not spill into the folder of one of them
        self._lock = threading.Lock()
        self._database: duckdb.DuckDBPyConnection | None = None
        self._local = threading.local()

    def read(self, need: Need[Statistic], coded: Path, schema: Schema) -> Statistic:
        """Exactly `need.of(rows)`. A damaged or absent file is the only thing that can go wrong."""
        if isinstance(need, NoData):
            return cast(Statistic, ())
        if isinstance(need, Needs):
            return cast(Statistic, tuple(self.read(part, coded, schema) for part in need.parts))
        if isinstance(need, CodedRows):
            return cast(Statistic, _rows(need, coded, schema))
        if isinstance(need, Streamed):
            return cast(Statistic, _streamed(need, coded, schema))
        if not isinstance(need, Aggregate):
            raise TypeError("a need that this engine cannot read")  # decided by its class, before any data are read
        coded = every_row(coded) if need.every_row else coded
        if not coded.is_file():  # an absent name with a * in it would be taken for a pattern
            raise AllowanceError("engine.unreadable")
        try:
            return cast(Statistic, self._read(need, coded, schema))
        except duckdb.Error:
            raise AllowanceError("engine.unreadable") from None

    def let_go(self) -> None:
        """Close the database, with all it holds in memory or on disk, once the questions being computed are done."""
        with self._lock:
            self._database, self._local = None, threading.local()

    def _cursor(self, folder: Path) -> duckdb.DuckDBPyConnection:
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            with self._lock:
                if self._database is None:
                    if self._spill is not None:
                        own = self._spill()
                        own.mkdir(mode=0o700, exist_ok=True)
                        folder = Path(tempfile.mkdtemp(dir=own))  # no two databases spill into one place
                    self._database = connect(folder)
                cursor = self._local.cursor = self._database.cursor()
        return cursor

    def _read(self, need: Aggregate[Statistic], coded: Path, schema: Schema) -> Statistic:
        sets = schema.of_kind(ItemSet)
        columns = tuple((name, name in sets) for name in schema.columns)
        plan = _compiled(need.compiled_as(), columns)
        return need.shape(self._run(Plan(plan.sql, plan.lists | need.tables()), coded))

    def _run(self, plan: Plan, coded: Path) -> dict[str, Integers]:
        cursor = self._cursor(coded.parent)
        try:
            for name, values in plan.lists.items():
                cursor.register(name, values)
            columns = cursor.execute(plan.sql, [str(coded)]).fetchnumpy()
        finally:
            for name in plan.lists:
                cursor.unregister(name)
        if any(values.dtype.kind not in "iu" for values in columns.values()):
            raise TypeError("a statistic came as a float, perhaps rounded")  # by its query's types, never by its values
        return {name: np.array(values, dtype=np.int64) for name, values in columns.items()}


def _rows(need: CodedRows, coded: Path, schema: Schema) -> tuple[Integers, ...]:
    """Codes as narrow as they are stored, column by column, in the order of the file; a set as one number."""
    places = list(schema.columns)
    try:
        stored = [pq.read_table(coded, columns=[f"c{places.index(name)}"]).column(0) for name in need.columns]
        return tuple(_sets(one) if pa.types.is_list(one.type) else one.to_numpy() for one in stored)
    except (OSError, pa.ArrowException):
        raise AllowanceError("engine.unreadable") from None


def _streamed(need: Streamed[Statistic], coded: Path, schema: Schema) -> Statistic:
    names = {name: f"c{place}" for place, name in enumerate(schema.columns)}
    wanted = need.stored(names)
    try:
        with pq.ParquetFile(coded) as file:
            batches = file.iter_batches(batch_size=STREAMED, columns=wanted)
            return need.tally(({name: batch.column(name).to_numpy() for name in wanted} for batch in batches), names)
    except (OSError, pa.ArrowException):
        raise AllowanceError("engine.unreadable") from None


def _sets(column: pa.ChunkedArray) -> Integers:
    """The items of each cell as bits of one number."""
    sets = np.zeros(len(column), dtype=np.int64)
    rows = pc.list_parent_indices(column.combine_chunks()).to_numpy()
    items = pc.list_flatten(column).to_numpy().astype(np.int64)
    np.bitwise_or.at(sets, rows, np.int64(1) << items)
    return sets


@dataclass(frozen=True)
class Plan:
    """A need as one SQL statement over the file named by its parameter, and the long lists it looks things up in."""

    sql: str
    lists: dict[str, pa.Table]


@lru_cache(maxsize=128)
def _compiled(need: Aggregate[object], columns: tuple[tuple[str, bool], ...]) -> Plan:
    """Depends on public facts only, so it may be cached: Ibis takes 3 to 5 ms to compile, as long as reading a million
    rows.

    `columns` are the declared names in order, each with whether it holds sets.
    """
    import ibis  # takes half a second, so it is imported only when data are read

    names = {name: f"c{place}" for place, (name, _) in enumerate(columns)}
    kinds = {names[name]: "array<int64>" if of_sets else "int64" for name, of_sets in columns} | need.flags(names)
    view = View(ibis.table(kinds, name="coded"), names, {})
    sql = str(ibis.to_sql(need.expression(view.meeting(need.where)), dialect="duckdb"))
    # Codes are stored as narrow as they fit, and DuckDB computes in the stored width: 64 bits before any arithmetic,
    # or a large code would overflow and one person's value decide whether a release fails. Items of a set are only
    # looked for and counted.
    narrow = {name for name, kind in kinds.items() if kind != "int64" or need.as_stored}
    wide = ", ".join(name if name in narrow else f"{name}::BIGINT AS {name}" for name in kinds)
    source = f"WITH coded AS NOT MATERIALIZED (SELECT {wide} FROM read_parquet(?))"
    sql = f"{source}, {sql.removeprefix('WITH ')}" if sql.startswith("WITH ") else f"{source} {sql}"
    return Plan(sql, view.lists)
