"""One connection to the database that a ledger is kept in, and our own sentences for what can go wrong with it.

psycopg is imported when an address is used, and never otherwise. None of its errors is passed on: they may quote a
statement, an address or a row. What a person reads is one of our sentences, and whoever asks again is charged once,
because a request that was charged before is found by its id.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Protocol

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.ledger.address import Address
from dpengine.ledger.postgres_sql import asked
from dpengine.ledger.rows import COLUMNS
from dpengine.ledger.store import Values

NEEDS = "requirements-postgres.txt"
_PAGE = 500
_PATIENCE = 5.0
_LOCKED = ("55P03", "57014", "40001", "40P01")  # no lock within our patience; cancelled; would not serialise; deadlock
_UNWRITABLE = ("25006", "42501", "53100", "53200", "58030")  # read-only, no right, disk or memory full, i/o
_UNKNOWN_USER = ("28P01", "28000", "42501")
_GONE = ("42P01", "3F000")  # no such table or schema
_ENDED = ("57P01", "57P02", "57P03", "57P05", "25P03")  # the server stops, starts, or gave up on this connection
# A machine that vanished is noticed by both ends within a minute, so that its locks are free again.
_ALIVE = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_SETTINGS = {
    "synchronous_commit": "on",  # whatever the server, the database or the role has as a default
    "default_transaction_isolation": "read committed",  # each statement sees what stood when the write lock was given
    "default_transaction_read_only": "off",
    "idle_in_transaction_session_timeout": "60s",  # a machine that froze in the middle of a write holds up nobody else
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
}


def driver() -> ModuleType:
    try:
        return import_module("psycopg")
    except ImportError:
        raise AllowanceError("ledger.no_driver", file=NEEDS) from None


@contextmanager
def spoken() -> Iterator[None]:
    """psycopg's errors as our sentences."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        code = code_for(error)
        if code is None:  # a mistake in this program, not something a person can put right
            raise
        raise AllowanceError(code) from None
    except OSError:
        raise AllowanceError("ledger.unwritable") from None


def code_for(error: Exception) -> str | None:
    state = state_of(error)
    if state in _LOCKED:
        return "ledger.locked"
    if state in _UNWRITABLE:
        return "ledger.database_unwritable"
    if state in _GONE:
        return "ledger.database_gone"
    if broken(error):
        return "ledger.unreachable"
    return None if state.startswith("42") else "ledger.damaged"


def broken(error: Exception) -> bool:
    """Is it the connection that failed, and not what was asked through it?"""
    state = state_of(error)
    return state in _ENDED or state.startswith("08") or (not state and isinstance(error, driver().OperationalError))


def state_of(error: Exception) -> str:
    return getattr(error, "sqlstate", None) or ""


class Fetched(Protocol):
    """A cursor of psycopg, as far as it is used here."""

    itersize: int
    statusmessage: str | None

    def execute(self, sql: str) -> Fetched: ...
    def fetchone(self) -> JsonObject | None: ...
    def fetchall(self) -> list[JsonObject]: ...
    def __iter__(self) -> Iterator[JsonObject]: ...
    def __enter__(self) -> Fetched: ...
    def __exit__(self, *error: object) -> None: ...


class _Info(Protocol):
    transaction_status: int


class Connection(Protocol):
    """A connection of psycopg, as far as it is used here."""

    closed: bool
    broken: bool
    info: _Info

    def execute(self, sql: str, values: Values | None = None) -> Fetched: ...
    def cursor(self, name: str) -> Fetched: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class Link:
    """A connection, used by one thread at a time. Statements are SQLite's (postgres_sql.py)."""

    def __init__(self, address: Address, patience: float) -> None:
        self.pid = os.getpid()
        self.used = time.monotonic()
        connection = _connect(address, patience)
        self._pg = connection
        _links.add(self)
        self.close = weakref.finalize(self, _close, connection, self.pid)
        try:
            own = {"lock_timeout": f"{max(int(patience * 1000), 1)}ms"}
            told = "; ".join(f"SET {name} = '{value}'" for name, value in (_SETTINGS | own).items())
            connection.execute(f"{told}; SET search_path = {address.schema}, pg_temp")
        except driver().Error as error:
            self.close()
            raise AllowanceError(code_for(error) or "ledger.unreachable") from None

    @property
    def conn(self) -> Link:
        return self

    def execute(self, sql: str, values: Values = (), /) -> Fetched:
        return self.plain(asked(sql, bool(values)), values)

    def plain(self, sql: str, values: Values = ()) -> Fetched:
        """A statement in Postgres's own words."""
        return self._pg.execute(sql, values or None)

    def query(self, sql: str, params: Values | None = None) -> Iterable[JsonObject]:
        return iter(self.execute(sql, params or ()).fetchall())

    def walk(self, sql: str) -> Iterator[JsonObject]:
        """A long answer a few rows at a time, inside a transaction."""
        with self._pg.cursor(name=f"walk_{time.monotonic_ns()}") as cursor:
            cursor.itersize = _PAGE
            cursor.execute(asked(sql, False))
            yield from cursor

    @contextmanager
    def atomic(self) -> Iterator[Link]:
        if self.busy:  # inside a write nobody else writes
            yield self
            return
        self.plain("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield self
        finally:
            self.undo()

    @contextmanager
    def passing(self) -> Iterator[None]:
        """What is done inside is undone at its end."""
        begin, end = ("SAVEPOINT passing", "ROLLBACK TO SAVEPOINT passing") if self.busy else ("BEGIN", "ROLLBACK")
        self.plain(begin)
        try:
            yield
        finally:
            if self.open:
                self.plain(end)

    @property
    def busy(self) -> bool:
        """Is a transaction open?"""
        return bool(self._pg.info.transaction_status != 0)

    def undo(self) -> None:
        with suppress(driver().Error):  # a connection that broke has nothing left to undo
            if self.busy:
                self.plain("ROLLBACK")

    def value(self, sql: str, values: Values = ()) -> Json:
        """The one figure that a statement in Postgres's own words gives."""
        row = self.plain(sql, values).fetchone()
        return None if row is None else next(iter(row.values()))

    def forked(self) -> None:
        """A forked child must not keep its parent's connection, and with it its locks, after the parent has ended."""
        with suppress(OSError, driver().Error), open(os.devnull, "rb+") as nothing:
            os.dup2(nothing.fileno(), self._pg.fileno(), inheritable=False)

    @property
    def open(self) -> bool:
        return not (self._pg.closed or self._pg.broken)

    def answers(self) -> bool:
        """Is somebody still at the other end?"""
        try:
            self.plain("SELECT 1")
        except driver().Error:
            return False
        return self.open


def all_rows(link: Link, schema: str) -> Iterator[JsonObject]:
    """Every row, oldest first; inside a transaction."""
    return link.walk(f"SELECT {', '.join(COLUMNS)} FROM {schema}.entries ORDER BY seq")


@contextmanager
def rows_in(address: Address) -> Iterator[Iterator[JsonObject]]:
    """The rows of a ledger that is only read."""
    with spoken(), closing(Link(address, _PATIENCE)) as link, link.atomic():
        yield all_rows(link, address.schema)


def _connect(address: Address, patience: float) -> Connection:
    """Tried until our patience ends: a server that is started anew is back within seconds."""
    psycopg, rows = driver(), import_module("psycopg.rows")
    deadline = time.monotonic() + patience
    while True:
        try:
            connection: Connection = psycopg.connect(
                address.given,
                autocommit=True,
                row_factory=rows.dict_row,
                application_name=f"allowance {address.schema}",
                **({"connect_timeout": 10} if "connect_timeout" not in address.given else {}),
                **_ALIVE,
            )
            return connection
        except (psycopg.Error, UnicodeError, ValueError) as error:
            state = state_of(error)
            told = str(error) if isinstance(error, psycopg.OperationalError) else ""
            if state in _UNKNOWN_USER or "password" in told or "authentication" in told:
                code = "ledger.stranger"
            elif not told or time.monotonic() >= deadline:
                code = "ledger.unreachable"
            else:
                code = ""
        if code:  # raised outside the handler: the driver's error must not stand behind ours
            raise AllowanceError(code)
        time.sleep(0.1)


_links: weakref.WeakSet[Link] = weakref.WeakSet()
_inherited: list[Connection] = []


def _after_fork() -> None:
    for link in list(_links):
        link.forked()


os.register_at_fork(after_in_child=_after_fork)


def _close(connection: Connection, pid: int) -> None:
    if os.getpid() == pid:
        connection.close()
    else:
        _inherited.append(connection)  # after a fork: to close it would end the parent's
