"""Where a ledger's rows are kept: in a SQLite file of one machine, or in a Postgres database that several share.

Both keep the same rows, byte for byte, under the same triggers. All other code uses both through the few methods below.
There is **one SQL text**: SQLite's, which SQLite keeps word for word, so `verify` can compare it. postgres_store.py
translates it for Postgres by a handful of rules, and refuses what it cannot translate. So a rule added to the file is
in the database too, and neither can be forgotten. A second set of statements, or a layer that writes SQL for both,
would be two things to keep equal by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from dpengine.core.types import Json, JsonObject

T = TypeVar("T")
Values = Sequence[Json] | JsonObject


class Cursor(Protocol):
    def fetchone(self) -> Json: ...


class Executes(Protocol):
    def execute(self, sql: str, values: Values = (), /) -> Cursor: ...


class Database(Protocol):
    """A connection: sqlite-utils' Database, or a Link of postgres_store.py."""

    @property
    def conn(self) -> Executes: ...
    def query(self, sql: str, params: Values | None = None) -> Iterable[JsonObject]: ...
    def atomic(self) -> AbstractContextManager[object]:
        """Everything read inside belongs to one moment."""


class Store(Protocol):
    """All threads and processes that use a ledger go through one of these. `path` is the ledger's place in the
    workspace's folder; a ledger in a database has only its mark there (high_water.py)."""

    path: Path

    def reading(self) -> AbstractContextManager[Database]: ...
    def writing(self) -> AbstractContextManager[Database]:
        """One writer at a time. Durable at its end, before anything is drawn for the charge."""

    def kept(self, key: tuple[str, ...], read: Callable[[Database], T]) -> T:
        """A cached read, until something is written."""

    def steady(self) -> AbstractContextManager[None]:
        """While a page is drawn by this thread: whether others wrote is asked only where something is read anew, not
        for every cached read. A page reads the same sums some hundred times."""

    def refuse_full(self) -> None: ...
    def guarded(self, db: Database) -> bool:
        """Does the database have exactly the tables, indexes and triggers of this program?"""

    def intact(self, db: Database) -> bool:
        """Does the database itself report that its indexes agree with its rows?"""

    @property
    def shared(self) -> bool:
        """May programs on other machines use this ledger too?"""

    def announce(self, worker: str) -> bool:
        """Announce this process to the others before it charges under this name (workers.py). False: they know already,
        or there are none."""

    def hears(self, worker: str) -> bool:
        """Is a process of this name alive, on any machine?"""

    def others(self) -> list[str]:
        """The first characters of the names of all announced processes that are alive."""

    def leave(self) -> None:
        """Withdraw the announcement."""

    def close(self) -> None: ...


def walked(db: Database, sql: str) -> Iterable[JsonObject]:
    """All rows of a long result, a few at a time. Use it inside a transaction."""
    walk: Callable[[str], Iterable[JsonObject]] = getattr(db, "walk", db.query)
    return walk(sql)
