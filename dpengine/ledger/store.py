"""Where a ledger's rows are kept: in a SQLite file of one machine, or in a Postgres database that several share.

Both keep the same rows, byte for byte, under the same triggers. All other code uses both through the few methods below.
There is **one SQL text**: SQLite's, which SQLite keeps word for word, so `verify` can compare it. postgres_store.py
translates it for Postgres by a handful of rules, and refuses what it cannot translate. So a rule added to the file is
in the database too, and neither can be forgotten. A second set of statements, or a layer that writes SQL for both,
would be two things to keep equal by hand.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from dpengine.core import places
from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Json, JsonObject

# The address of a ledger in a database: `ALLOWANCE_LEDGER=postgresql://user:password@host/database?schema=name`.
#
# It may hold a password. The object that keeps it does not show it, and no error of the driver, which could quote it,
# is ever passed on. `schema` is our option; all others are libpq's (sslmode, passfile, connect_timeout …).

SETTING = places.LEDGER
SCHEMA = "allowance_ledger"  # not `allowance`, which holds the codes of tables that stay in their database
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_LOCKS = 2**63


@dataclass(frozen=True)
class Address:
    """A database and a schema in it. Several ledgers in one database each have their own schema."""

    given: str = field(repr=False)
    schema: str = SCHEMA

    def lock(self, what: str) -> int:
        """The number of an advisory lock for the purpose `what`: the same in every program, another in every schema."""
        digest = hashlib.sha256(f"allowance ledger {self.schema} {what}".encode()).digest()
        return int.from_bytes(digest[:8], "big") - _LOCKS


def read_address(text: str) -> Address:
    with refusing("ledger.address", ValueError, setting=SETTING):
        parts = urlsplit(text.strip())
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    schema = dict(options).get("schema", SCHEMA)
    if parts.scheme not in ("postgresql", "postgres") or not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise AllowanceError("ledger.address", setting=SETTING)
    rest = urlencode([(name, value) for name, value in options if name != "schema"])
    return Address(urlunsplit(parts._replace(query=rest)), schema)


def address_set() -> Address | None:
    """The database that the environment names for the ledger; None: the ledger is a file."""
    text = os.environ.get(SETTING, "").strip()
    return read_address(text) if text else None


def mark_of(secret: bytes) -> str:
    """A text derived from the folder's key. A database knows its folder by this text, which does not reveal the key."""
    return hmac.new(secret, b"allowance ledger 1", hashlib.sha256).hexdigest()


T = TypeVar("T")
Values = Sequence[Json] | JsonObject


class Cursor(Protocol):
    def fetchone(self) -> Json: ...


class Executes(Protocol):
    def execute(self, sql: str, values: Values = (), /) -> Cursor: ...


class Database(Protocol):
    """A connection: sqlite-utils' Database, or a Link of postgres_store.py that behaves like one."""

    @property
    def conn(self) -> Executes: ...
    def query(self, sql: str, params: Values | None = None) -> Iterable[JsonObject]: ...
    def atomic(self) -> AbstractContextManager[object]:
        """A context in which all reads see the database at one moment."""


class Store(Protocol):
    """Access to the rows of a ledger, for all threads of a process. `path`: where the ledger would lie in the
    workspace's folder. If the ledger is in a database, only its mark lies there (high_water.py)."""

    path: Path

    def reading(self) -> AbstractContextManager[Database]: ...
    def writing(self) -> AbstractContextManager[Database]:
        """A transaction with the only write lock. At its end the rows are on the disk, before anything is drawn for
        their charge."""

    def cached(self, key: tuple[str, ...], read: Callable[[Database], T]) -> T:
        """What `read` returns, cached under `key` until something is written."""

    def steady(self) -> AbstractContextManager[None]:
        """A context in which this thread draws a page. A page reads the same sums some hundred times, so here the
        thread asks whether others wrote only when a value is not cached."""

    def refuse_full(self) -> None: ...
    def guarded(self, db: Database) -> bool:
        """Does the database have exactly the tables, indexes and triggers of this program?"""

    def intact(self, db: Database) -> bool:
        """Does the database itself report that its indexes agree with its rows?"""

    @property
    def shared(self) -> bool:
        """May programs on other machines use this ledger too?"""

    def announce(self, worker: str) -> bool:
        """Announce this process under the name `worker` before its first charge (workers.py). False if the process is
        announced already, or if no other machine can use the ledger."""

    def hears(self, worker: str) -> bool:
        """Is a process of this name alive, on any machine?"""

    def others(self) -> list[str]:
        """The first characters of the names of all announced processes that are alive, on any machine."""

    def leave(self) -> None:
        """Withdraw the announcement."""

    def close(self) -> None: ...


def walked(db: Database, sql: str) -> Iterable[JsonObject]:
    """All rows of a long result, fetched a few at a time. Call this inside a transaction."""
    walk: Callable[[str], Iterable[JsonObject]] = getattr(db, "walk", db.query)
    return walk(sql)
