"""Needs computed in the database, by Postgres: counts and sums leave it, rows and codes never do.

Each need is one statement (statements.py) in a read-only transaction on one snapshot. Its text consists of public
facts; lists of codes are bound as parameters on the server. A need for the rows themselves, or for a pass over them in
each of hundreds of steps, is refused before anything is charged.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TypeAlias, TypeVar, cast

import numpy as np
import psycopg
import pyarrow as pa
from psycopg import postgres, sql

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.libpq import AS_MADE, connect
from dpengine.core.types import Integers
from dpengine.declared.schema import Schema
from dpengine.statistics.engines import PostgresRows, every_row
from dpengine.statistics.engines.statements import CODED, statement
from dpengine.statistics.model_needs import GradientSum
from dpengine.statistics.need import Aggregate, AnyNeed, CodedRows, Need, Needs, NoData
from dpengine.statistics.raw_needs import RawNeed

Statistic = TypeVar("Statistic")
Bound = int | list[int]
Connection: TypeAlias = "psycopg.Connection[tuple[object, ...]]"

WHOLE = {postgres.types[name].oid for name in ("int2", "int4", "int8")}
NUMERIC = postgres.types["numeric"].oid
MOST_IDLE = 4  # waiting connections for each database
PATIENCE = "15s"  # how long to wait for a lock, before a charge
# No limit of a role or a database may cancel a charged question: whether it reaches the limit may depend on rows.
UNLIMITED = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


class PostgresEngine:
    """Computes needs in Postgres. Each question uses one connection; unless it failed, it is then used again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[Connection]] = {}

    def refuse(self, need: AnyNeed | RawNeed) -> None:
        if isinstance(need, RawNeed):
            raise AllowanceError("engine.raw_stays")
        for part in need.parts if isinstance(need, Needs) else (need,):
            if isinstance(part, CodedRows):
                raise AllowanceError("engine.rows_stay")
            if isinstance(part, GradientSum):
                raise AllowanceError("engine.no_training")
            if not isinstance(part, Aggregate | NoData):
                raise AllowanceError("engine.rows_stay")

    def refuse_away(self, coded: PostgresRows) -> None:
        """Raise unless the table is there, may be read, and is still the one we wrote. Reads no row."""
        with self._reading(coded) as cursor:
            cursor.execute(f"SET LOCAL lock_timeout TO '{PATIENCE}'")
            made = coded.made.split()
            for table, as_made in zip((coded.table, every_row(coded).table), made or [""], strict=False):
                cursor.execute(sql.SQL("SELECT FROM {} LIMIT 0").format(sql.Identifier(coded.schema, table)))
                if as_made:
                    cursor.execute(sql.SQL(AS_MADE).format(schema=sql.Literal(coded.schema), table=sql.Literal(table)))
                    if cursor.fetchone() != (as_made,):
                        raise AllowanceError("engine.changed")

    def read(self, need: Need[Statistic], coded: PostgresRows, schema: Schema) -> Statistic:
        """The same as `need.of(rows)`. Fails only if the connection does."""
        self.refuse(need)
        if isinstance(need, NoData):
            return cast(Statistic, ())
        with self._reading(coded) as cursor:
            if isinstance(need, Needs):
                parts = [cast(Aggregate[object], part) for part in need.parts]
                return cast(Statistic, tuple(computed(part, coded, schema, cursor) for part in parts))
            return cast(Statistic, computed(cast(Aggregate[object], need), coded, schema, cursor))

    def let_go(self) -> None:
        """Close the waiting connections."""
        with self._lock:
            idle, self._idle = self._idle, {}
        for connection in chain.from_iterable(idle.values()):
            connection.close()

    @contextmanager
    def _reading(self, coded: PostgresRows) -> Iterator[psycopg.RawCursor]:
        """A cursor in a read-only transaction on one snapshot. A database error becomes one sentence without its text,
        which may quote a value or the database's address."""
        with refusing("engine.away", psycopg.Error):
            connection = self._connected(coded.connection)
            try:
                connection.execute(_unlimited(connection.info.server_version))
                with connection.cursor(binary=True) as cursor:
                    yield cursor
                connection.rollback()  # there is nothing to commit
            except BaseException:
                connection.close()
                raise
            with self._lock:
                waiting = self._idle.setdefault(coded.connection, [])
                if len(waiting) < MOST_IDLE:
                    waiting.append(connection)
                    return
            connection.close()

    def _connected(self, url: str) -> Connection:
        """An open connection that still answers; else a new one, which takes some 20 ms."""
        with self._lock:
            waiting = self._idle.get(url, [])
            connection = waiting.pop() if waiting else None
        if connection is not None:
            try:
                connection.execute("SELECT")
                return connection
            except psycopg.Error:
                connection.close()
        connection = connect(psycopg, url, cursor_factory=psycopg.RawCursor)
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return connection


def _unlimited(version: int) -> str:
    """SQL that sets one transaction up: no time limits, and function names mean Postgres's own."""
    names = (*UNLIMITED, "transaction_timeout") if version >= 170_000 else UNLIMITED
    return "; ".join(["SET LOCAL search_path TO pg_catalog", *(f"SET LOCAL {name} TO 0" for name in names)])


def computed(need: Aggregate[object], coded: PostgresRows, schema: Schema, cursor: psycopg.RawCursor) -> object:
    """The statistic of a need, by one statement."""
    compiled, coded = statement(need, schema, "postgres"), every_row(coded) if need.every_row else coded
    rows = sql.SQL("SELECT {} FROM {}").format(sql.SQL(compiled.wide), sql.Identifier(coded.schema, coded.table))
    tables, bound = {f"{CODED} AS NOT MATERIALIZED": rows.as_string(None)}, list[Bound]()
    for name, values in (compiled.lists | need.tables()).items():
        tables[f"{name} AS NOT MATERIALIZED"] = _looked_up(values, bound)
    cursor.execute(compiled.over(tables), bound)
    return need.shape(_columns(cursor))


def _looked_up(values: pa.Table, bound: list[Bound]) -> str:
    """SQL for a public table, either a list of codes or one row of weights. Its cells are appended to `bound`."""
    if values.num_columns == 1 and not pa.types.is_list(values.schema.types[0]):
        bound.append(values.column(0).to_pylist())
        return f"SELECT unnest(${len(bound)}::bigint[]) AS {values.column_names[0]}"
    [row] = values.to_pylist()
    cells = []
    for name, value in row.items():
        bound.append(value)
        cells.append(f"${len(bound)}::bigint{'[]' if isinstance(value, list) else ''} AS {name}")
    return f"SELECT {', '.join(cells)}"


def _columns(cursor: psycopg.RawCursor) -> dict[str, Integers]:
    """The result's columns. Counts and codes have 64 bits; sums, sent as whole decimals, become Python integers."""
    assert cursor.description is not None
    kinds = {column.name: column.type_code for column in cursor.description}
    if not set(kinds.values()) <= WHOLE | {NUMERIC}:
        raise TypeError("a statistic came as a float, perhaps rounded")  # the query's types decide, not its values
    cells = zip(*cursor.fetchall(), strict=True) if cursor.rowcount else ((),) * len(kinds)
    return {
        name: np.array(column, dtype=np.int64)
        if kind in WHOLE
        else np.array([int(value) for value in column], dtype=object)
        for (name, kind), column in zip(kinds.items(), cells, strict=True)
    }
