"""Needs computed by embedded DuckDB over the coded Parquet file.

Ibis compiles the need's own expression (statements.py) and DuckDB runs it: one database per engine, so that the memory
limit holds for all threads together, and one cursor per thread. It
compares and counts only integers, never floats, and no value in the data can make a computation fail. A `Streamed` need
tallies the stored codes itself.

Needs of raw columns read the raw Parquet file one row group at a time, and each different text of a group once, so
memory grows with the different values and not with the rows. Nothing in a cell can make a reading fail.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar, cast

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Arrow, Integers
from dpengine.declared.schema import Schema
from dpengine.statistics.engines import every_row
from dpengine.statistics.engines.statements import CODED, statement
from dpengine.statistics.need import Aggregate, AnyNeed, CodedRows, Need, Needs, NoData, Streamed
from dpengine.statistics.raw_needs import OfOne, OneColumn, RawNeed, RawStatistic, Several

Statistic = TypeVar("Statistic")

THREADS = 2
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    "threads": THREADS,
    "preserve_insertion_order": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
}
STREAMED = 2**16  # rows at a time: they fit a processor's cache


def connect(folder: Path) -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory. It loads no extension, and spills into this folder if memory runs out."""
    connection = duckdb.connect(config=SETTINGS | {"temp_directory": str(folder / ".spill")})
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET lock_configuration = true")
    return connection


class _Database:
    """One DuckDB database, opened when it is first needed, with a cursor for each thread."""

    def __init__(self, spill: Callable[[], Path] | None) -> None:
        self._spill = spill  # it reads many tables: it must not spill into one table's folder
        self._lock = threading.Lock()
        self._database: duckdb.DuckDBPyConnection | None = None
        self._local = threading.local()

    def let_go(self) -> None:
        with self._lock:
            self._database, self._local = None, threading.local()

    def cursor(self, folder: Path) -> duckdb.DuckDBPyConnection:
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


class DuckEngine:
    def __init__(self, spill: Callable[[], Path] | None = None) -> None:
        self._spill = spill
        self._database = _Database(spill)

    def get_ready(self) -> None:
        if self._spill is not None:
            self._database.cursor(self._spill())

    def refuse(self, need: AnyNeed | RawNeed) -> None:
        """Nothing is refused: DuckDB computes every need."""

    def refuse_away(self, coded: Path) -> None:
        if not coded.is_file():
            raise AllowanceError("engine.unreadable")

    def read(self, need: Need[Statistic], coded: Path, schema: Schema) -> Statistic:
        """The same as `need.of(rows)`. Fails only if the file is damaged or absent."""
        if isinstance(need, NoData):
            return cast(Statistic, ())
        if isinstance(need, Needs):
            return cast(Statistic, tuple(self.read(part, coded, schema) for part in need.parts))
        if isinstance(need, CodedRows):
            return cast(Statistic, _rows(need, coded, schema))
        if isinstance(need, Streamed) and need.streams:
            return cast(Statistic, _streamed(need, coded, schema))
        if not isinstance(need, Aggregate):
            raise TypeError("a need that this engine cannot read")  # its class decides, before any data are read
        coded = every_row(coded) if need.every_row else coded
        if not coded.is_file():  # DuckDB would take an absent name with a * in it for a pattern
            raise AllowanceError("engine.unreadable")
        with refusing("engine.unreadable", duckdb.Error):
            return cast(Statistic, self._read(need, coded, schema))

    def let_go(self) -> None:
        """Close the database and drop what it holds, after the questions being computed are done."""
        self._database.let_go()

    def _read(self, need: Aggregate[Statistic], coded: Path, schema: Schema) -> Statistic:
        cursor = self._database.cursor(coded.parent)
        compiled = statement(need, schema, "duckdb")
        lists = compiled.lists | need.tables()
        try:
            for name, values in lists.items():
                cursor.register(name, values)
            rows = {f"{CODED} AS NOT MATERIALIZED": f"SELECT {compiled.wide} FROM read_parquet(?)"}
            columns = cursor.execute(compiled.over(rows), [str(coded)]).fetchnumpy()
        finally:
            for name in lists:
                cursor.unregister(name)
        if any(values.dtype.kind not in "iu" for values in columns.values()):
            raise TypeError("a statistic came as a float, perhaps rounded")  # the query's types decide, not its values
        return need.shape({name: np.array(values, dtype=np.int64) for name, values in columns.items()})


def _rows(need: CodedRows, coded: Path, schema: Schema) -> tuple[Integers, ...]:
    """The codes of each column as stored, in the order of the rows; a set becomes one number (bit i: item i)."""
    places = list(schema.columns)
    with refusing("engine.unreadable", OSError, pa.ArrowException):
        stored = [pq.read_table(coded, columns=[f"c{places.index(name)}"]).column(0) for name in need.columns]
        return tuple(_sets(column) if pa.types.is_list(column.type) else column.to_numpy() for column in stored)


def _streamed(need: Streamed[Statistic], coded: Path, schema: Schema) -> Statistic:
    """The statistic, tallied from the coded file without SQL. Each thread adds up some of the file's row groups."""
    names = {name: f"c{place}" for place, name in enumerate(schema.columns)}
    wanted = need.stored(names)

    def added(thread: int) -> Integers:
        with pq.ParquetFile(coded) as file:
            groups = list(range(thread, file.num_row_groups, THREADS))
            batches = file.iter_batches(batch_size=STREAMED, row_groups=groups, columns=wanted, use_threads=False)
            return need.added(({name: batch.column(name).to_numpy() for name in wanted} for batch in batches), names)

    with refusing("engine.unreadable", OSError, pa.ArrowException), ThreadPoolExecutor(THREADS) as threads:
        return need.summed(np.sum([*threads.map(added, range(THREADS))], axis=0))


def _sets(column: pa.ChunkedArray) -> Integers:
    """Each set of items as one number: bit i means item i."""
    import pyarrow.compute as pc  # slow to import

    sets = np.zeros(len(column), dtype=np.int64)
    rows = pc.list_parent_indices(column.combine_chunks()).to_numpy()
    items = pc.list_flatten(column).to_numpy().astype(np.int64)
    np.bitwise_or.at(sets, rows, np.int64(1) << items)
    return sets


def read_columns(need: RawNeed, rows: Path, place: Callable[[str], int]) -> RawStatistic:
    """The same as `need.of(rows)` for raw columns; `place` maps a column's name to its place in the file."""
    if isinstance(need, Several):
        return tuple(read_raw(part, rows, place(part.column)) for part in need.needs)
    return read_raw(need, rows, place(need.column))


def read_raw(need: OneColumn, rows: Path, place: int) -> OfOne:
    """The same as `need.of(rows)` for the raw column at `place` in the file."""
    rows_of: Counter[str | None] = Counter()
    with (
        refusing("engine.unreadable", pa.ArrowException, OSError, IndexError),
        pq.ParquetFile(rows, memory_map=False) as file,
    ):
        name = file.schema_arrow.names[place]
        for group in range(file.num_row_groups):
            cells: Arrow = file.read_row_group(group, columns=[name])
            counted = cells.column(cells.schema.get_field_index(name)).combine_chunks().value_counts()
            texts, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
            for text, count in zip(texts, counts, strict=True):
                rows_of[text] += count
    return need.of_cells(rows_of.items())
