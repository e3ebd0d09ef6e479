"""Where a ledger's rows are kept: in a SQLite file of one machine, or in a Postgres database that several share.

Both keep the same rows, byte for byte, under the same triggers, and everything above speaks to both through the few
methods below. There is **one SQL text**: SQLite's, which keeps it word for word for `verify` to compare.
postgres_sql.py turns it into Postgres's own, by a handful of rules; what it cannot turn, it refuses. So a rule that is
added to the file is in the database too, and neither can be forgotten. A second set of statements, or a layer that
writes SQL for both, would be two things to keep equal by hand.
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
    """A connection: sqlite-utils' Database, or a Link of postgres_link.py."""

    @property
    def conn(self) -> Executes: ...
    def query(self, sql: str, params: Values | None = None) -> Iterable[JsonObject]: ...
    def atomic(self) -> AbstractContextManager[object]:
        """What is read inside is of one moment."""


class Store(Protocol):
    """All threads and processes that use a ledger go through one of these. `path` is the ledger's place in the
    workspace's folder; a ledger in a database has its mark (high_water.py) there, and no file."""

    path: Path

    def reading(self) -> AbstractContextManager[Database]: ...
    def writing(self) -> AbstractContextManager[Database]:
        """One writer at a time; durable when it ends, before anything is drawn for what was charged."""

    def kept(self, key: tuple[str, ...], read: Callable[[Database], T]) -> T:
        """Reads once, until something is written."""

    def refuse_full(self) -> None: ...
    def guarded(self, db: Database) -> bool:
        """Are the tables, indexes and triggers the ones that this program made, and no others?"""

    def intact(self, db: Database) -> bool:
        """Does the database itself say that its indexes agree with its rows?"""

    @property
    def shared(self) -> bool:
        """May programs on other machines use this ledger too?"""

    def announce(self, worker: str) -> bool:
        """Tell the others that this process lives, before it charges under this name (workers.py). False: they know
        already, or there are none."""

    def hears(self, worker: str) -> bool:
        """Does a process of this name live, on whichever machine?"""

    def others(self) -> list[str]:
        """How the names of all that were announced and live begin."""

    def leave(self) -> None:
        """Take back what was announced."""

    def close(self) -> None: ...


def walked(db: Database, sql: str) -> Iterable[JsonObject]:
    """All rows of a long answer, a few at a time. To be used inside a transaction."""
    walk: Callable[[str], Iterable[JsonObject]] = getattr(db, "walk", db.query)
    return walk(sql)
