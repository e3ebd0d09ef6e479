"""Needs computed by Spark over coded Parquet: on this machine, on a cluster, or through Spark Connect.

Each need is one statement (statements.py) and one job: machines count their own rows and ship cells, this process gets
the aggregate. The settings are ours (SETTINGS), so that no cluster's defaults decide what a row can do. ANSI mode is
on, and nothing can make it throw, because no sum can leave its type: Spark adds 64-bit numbers in 64 bits, so every
summand is a decimal(28, 0) and its sum a decimal(38, 0), however many rows there are; unless a public number of rows
and the declared bounds prove that 64 bits are enough (view.total).

Partitions, failed tasks and repeated ones change nothing: an aggregate of integers is the same in any order, and we
draw noise once, in this process, after the aggregate has arrived.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow, Integers
from dpengine.declared.schema import Schema
from dpengine.statistics.engines import SparkRows, every_row
from dpengine.statistics.engines.statements import CODED, statement
from dpengine.statistics.need import Aggregate, AnyNeed, Need, Needs, NoData
from dpengine.statistics.raw_needs import RawNeed

Statistic = TypeVar("Statistic")

CONNECT, CONNECT_SECONDS = "sc://", 5
BROKEN = (PySparkException, Py4JError, OSError)
_numbers = count()
for _logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    logging.getLogger(_logger).disabled = True  # PySpark logs errors there, and their text may quote a value

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "false",  # it would run one question as several jobs
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.runSQLOnFiles": "false",  # the name of a table is never a path
}
QUIET = {  # if this process is the driver; shuffled and spilled data are encrypted
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.log.level": "OFF",  # an error's text may quote a value
}
HERE = {  # if all of Spark is on this machine
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


class SparkEngine:
    def __init__(self, spill: Callable[[], Path] | None = None) -> None:
        self._spill = spill  # the folder for what does not fit into memory
        self._lock = threading.Lock()
        self._sessions: dict[str, SparkSession] = {}
        self._views: dict[SparkRows, str] = {}

    def refuse(self, need: AnyNeed | RawNeed) -> None:
        if isinstance(need, RawNeed):
            raise AllowanceError("engine.raw_stays")
        for part in need.parts if isinstance(need, Needs) else (need,):
            if not isinstance(part, Aggregate | NoData):
                raise AllowanceError("engine.rows_stay")

    def refuse_away(self, coded: SparkRows) -> None:
        """Raise unless Spark answers and finds the files. Reads the columns' names and types, and no row."""
        with self._trying(coded):
            session, view = self.view(coded)
            session.table(view).schema  # noqa: B018 - asks Spark

    def read(self, need: Need[Statistic], coded: SparkRows, schema: Schema) -> Statistic:
        """The same as `need.of(rows)`. Fails only if the connection to Spark, or to its files, does."""
        self.refuse(need)
        if isinstance(need, NoData):
            return cast(Statistic, ())
        if isinstance(need, Needs):
            return cast(Statistic, tuple(self.read(part, coded, schema) for part in need.parts))
        with self._trying(coded):
            aggregate = cast(Aggregate[Statistic], need)
            session, sql = self.statement(aggregate, coded, schema)
            return aggregate.shape(whole_columns(session.sql(sql).toArrow()))

    def let_go(self) -> None:
        """Forget all tables' files. What Spark wrote to disk is encrypted, and vanishes when Spark stops."""
        with self._lock:
            self._views.clear()

    def stop(self) -> None:
        """Stop every Spark that this engine started."""
        with self._lock:
            self._views.clear()
            while self._sessions:
                _end(self._sessions.popitem()[1])

    def statement(self, need: Aggregate[object], coded: SparkRows, schema: Schema) -> tuple[SparkSession, str]:
        """The Spark session with the table's rows, and the SQL that computes the need in it."""
        coded = every_row(coded) if need.every_row else coded
        compiled = statement(need, schema, "pyspark", coded.most)
        session, view = self.view(coded)
        tables = {f"{CODED} AS": f"SELECT {compiled.wide} FROM {view}"}
        for name, values in (compiled.lists | need.tables()).items():
            tables[f"{name} AS"] = _looked_up(values)
        return session, compiled.over(tables)

    def view(self, coded: SparkRows) -> tuple[SparkSession, str]:
        """The session, and the table's name in it. The table's files are listed once, because they never change."""
        session = self.session(coded.master)
        with self._lock:
            if coded not in self._views:
                name = f"coded_{next(_numbers)}"
                session.read.parquet(coded.path).createOrReplaceTempView(name)
                self._views[coded] = name
            return session, self._views[coded]

    def session(self, master: str) -> SparkSession:
        """The session of the Spark at this address, started if it is not running."""
        with self._lock:
            session = self._sessions.get(master) or self._start(master)
            self._sessions[master] = session
            return session

    def session_apart(self, master: str) -> SparkSession:
        """A session for loading one table, without the names of others. Spark Connect gives no second session."""
        session = self.session(master)
        return session if master.startswith(CONNECT) else _settled(session.newSession())

    def _start(self, master: str) -> SparkSession:
        if master.startswith(CONNECT):
            return _settled(_connected(master))
        running = SparkContext._active_spark_context
        if running is not None and running.master != master:  # a process has only one, and PySpark would return it
            raise AllowanceError("engine.other_spark", master=running.master)
        settings = SETTINGS | QUIET
        if master.startswith("local"):
            settings |= HERE | ({} if self._spill is None else {"spark.local.dir": str(self._spill())})
        builder = SparkSession.builder.appName("allowance").master(master)
        for name, value in settings.items():
            builder = builder.config(name, value)
        return _settled(builder.getOrCreate())

    @contextmanager
    def _trying(self, coded: SparkRows) -> Iterator[None]:
        """Raises every error of Spark as one sentence without its text, which may quote a value. The next question
        lists the files again, and restarts Spark if it has ended."""
        try:
            yield
        except BROKEN as error:
            with self._lock:
                for address in (coded, every_row(coded)):
                    self._views.pop(address, None)
                if not isinstance(error, PySparkException) or coded.master.startswith(CONNECT) or _gone():
                    self._views = {table: name for table, name in self._views.items() if table.master != coded.master}
                    _end(self._sessions.pop(coded.master, None))
            raise AllowanceError("engine.away") from None


def _connected(master: str) -> SparkSession:
    """A session through Spark Connect, possible beside a Spark of this process. If the server does not answer, this
    fails after some seconds; PySpark itself would try for ten minutes."""
    import grpc
    from pyspark.sql.connect.client.core import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as Connected

    with DefaultChannelBuilder(master).toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=CONNECT_SECONDS)
        except grpc.FutureTimeoutError:
            raise ConnectionError from None
    session = Connected.builder.remote(master).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=6, max_backoff=4000)])
    return cast(SparkSession, session)


def _settled(session: SparkSession) -> SparkSession:
    for name, value in SETTINGS.items():  # whatever it had before
        session.conf.set(name, value)
    return session


def _gone() -> bool:
    """Has the process of a Spark started here ended?"""
    gateway = SparkContext._gateway
    return gateway is not None and gateway.proc.poll() is not None


def _end(session: SparkSession | None) -> None:
    """Stop a session. If its process has ended, also drop the broken connection, which PySpark would keep."""
    with suppress(*BROKEN):
        if session is not None:
            session.stop()
    if _gone():
        with suppress(OSError):
            SparkContext._gateway.proc.stdin.close()
        SparkContext._gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None


def _looked_up(values: pa.Table) -> str:
    """SQL for a public table with its values in the text: a list of codes, or one row of weights."""
    if values.num_columns == 1 and not pa.types.is_list(values.schema.types[0]):
        return f"SELECT explode({_array(values.column(0).to_pylist())}) AS {values.column_names[0]}"
    [row] = values.to_pylist()
    cells = [f"{_array(cell) if isinstance(cell, list) else f'{cell}L'} AS {name}" for name, cell in row.items()]
    return f"SELECT {', '.join(cells)}"


def _array(numbers: list[int]) -> str:
    return f"array({', '.join(f'{number}L' for number in numbers)})"


def whole_columns(table: Arrow) -> dict[str, Integers]:
    """The result's columns. Counts and codes have 64 bits; sums, sent as whole decimals, become Python integers."""
    columns: dict[str, Integers] = {}
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_decimal(field.type) and field.type.scale == 0:
            columns[field.name] = np.array([int(sum_) for sum_ in column.to_pylist()], dtype=object)
        elif pa.types.is_integer(field.type):
            columns[field.name] = column.to_numpy().astype(np.int64)
        else:
            raise TypeError("a statistic came as a float, perhaps rounded")  # the query's types decide, not its values
    return columns
