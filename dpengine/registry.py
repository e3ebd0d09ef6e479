"""Which tables exist, what was declared about each, and which budget each one spends. A file of its own beside the
ledger: it holds the keyed fingerprints, which are never shown or exported. With an older copy of it in its place,
tables would be taken for leftovers and known content for new: how far it has come is kept beside it (anchor.py)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dpengine.anchor import Anchor, refuse_older
from dpengine.chain import START
from dpengine.errors import AllowanceError
from dpengine.ledgerfile import Handle, journal, refuse_holes, spoken

_DAMAGED = "registry.damaged"
_WAIT = 10
_COME = "SELECT count(*) + coalesce(sum(version), 0) AS come FROM tables"  # every change makes it larger
_CREATE = """
CREATE TABLE IF NOT EXISTS tables (
    name TEXT PRIMARY KEY, folder TEXT NOT NULL, budget TEXT NOT NULL, practice INTEGER NOT NULL,
    relation TEXT NOT NULL, about INTEGER NOT NULL, unit TEXT NOT NULL, schema TEXT NOT NULL, dialect TEXT NOT NULL,
    fingerprint TEXT NOT NULL, file_mark TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT NOT NULL, at TEXT NOT NULL,
    header TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX IF NOT EXISTS by_fingerprint ON tables (fingerprint);
"""

_LATER = {"file_mark": "", "header": "[]"}
_JSON = ("unit", "schema", "dialect", "header")


@dataclass(frozen=True)
class Record:
    """One declared table."""

    name: str
    folder: str
    budget: str
    practice: bool
    relation: str
    about: int
    unit: dict[str, Any]
    schema: dict[str, Any]
    dialect: dict[str, Any]
    fingerprint: str
    file_mark: str
    version: int
    owner: str
    at: str
    header: list[str] = field(default_factory=list)  # all columns of the file


class Registry:
    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._anchor = Anchor(path.with_suffix(".head"))
        with spoken(_DAMAGED):
            refuse_holes(self._path)
        self._refuse_older()
        with self.transaction() as rows:
            for statement in _CREATE.split(";"):
                rows.execute(statement)
            found = {column["name"] for column in rows.execute("PRAGMA table_info(tables)")}
            for name, usual in _LATER.items():
                if name not in found:  # an older file
                    rows.execute(f"ALTER TABLE tables ADD COLUMN {name} TEXT NOT NULL DEFAULT '{usual}'")
        path.chmod(0o600)
        # One that stays: with the last one SQLite removes the file's shared memory, and on a full disk nobody could
        # make it again to read.
        with spoken(_DAMAGED):
            self._kept = Handle(self._path, _WAIT)
            self._kept.db.execute(_COME).fetchone()

    def close(self) -> None:
        self._kept.close()

    def _refuse_older(self) -> None:
        try:
            mark = self._anchor.read()
        except ValueError:
            raise AllowanceError("registry.rolled_back") from None
        except OSError:
            raise AllowanceError("workspace.unwritable") from None
        if mark is None or not mark.seq:
            return
        if not self._path.exists():
            raise AllowanceError("registry.missing")
        with spoken(_DAMAGED), closing(sqlite3.connect(f"{self._path.as_uri()}?mode=rw", uri=True)) as rows:
            come = rows.execute(_COME).fetchone()[0]
        refuse_older(mark, START if come >= mark.seq else None, "registry.rolled_back")

    @contextmanager
    def transaction(self, write: bool = True) -> Iterator[sqlite3.Connection]:
        """One short write at a time, over all processes of the workspace; readers wait for nobody."""
        with spoken(_DAMAGED), closing(sqlite3.connect(self._path, timeout=_WAIT, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            if write:
                connection.execute(f"PRAGMA journal_mode={journal(self._path.parent)}")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield connection
            come = connection.execute(_COME).fetchone()["come"] if write else 0
            connection.execute("COMMIT")
            if come:
                self._anchor.advance(come, START)
            if write:  # into the file itself: writes are few, and the file alone is then what was written
                with suppress(sqlite3.OperationalError):
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def add(self, rows: sqlite3.Connection, record: Record) -> None:
        fields = _fields(record)
        names = ", ".join(fields)
        marks = ", ".join("?" for _ in fields)
        rows.execute(f"INSERT INTO tables ({names}) VALUES ({marks})", list(fields.values()))

    def update(self, rows: sqlite3.Connection, record: Record) -> None:
        """Declared anew: schema and version change, in a transaction of the caller's; nothing else ever does."""
        fields = _fields(record)
        changed = [fields[name] for name in ("schema", "version", "header", "name")]
        done = rows.execute("UPDATE tables SET schema = ?, version = ?, header = ? WHERE name = ?", changed)
        if done.rowcount != 1:
            raise AllowanceError("table.unknown", name=record.name)

    def find(self, rows: sqlite3.Connection, name: str) -> Record | None:
        found = rows.execute("SELECT * FROM tables WHERE name = ?", [name]).fetchone()
        return None if found is None else _record(found)

    def budget_of_content(self, rows: sqlite3.Connection, fingerprint: str, file_mark: str) -> str | None:
        """The budget these very cells, or this very file, already spend; practice copies have none to inherit."""
        found = self._same_content(rows, fingerprint, file_mark)
        return found[0]["budget"] if found else None

    def names_of_content(self, rows: sqlite3.Connection, fingerprint: str, file_mark: str) -> list[str]:
        """The tables that hold, or held, these very cells."""
        return [found["name"] for found in self._same_content(rows, fingerprint, file_mark)]

    def _same_content(self, rows: sqlite3.Connection, fingerprint: str, file_mark: str) -> list[sqlite3.Row]:
        same = "(fingerprint = ? OR (file_mark = ? AND file_mark <> ''))"
        query = f"SELECT name, budget FROM tables WHERE {same} AND practice = 0 ORDER BY at, rowid"
        return rows.execute(query, [fingerprint, file_mark]).fetchall()

    def get(self, name: str) -> Record | None:
        with self.transaction(write=False) as rows:
            return self.find(rows, name)

    def names(self) -> list[tuple[str, str]]:
        """The declared tables with their budgets, without what was declared: that may be long, and pages ask often."""
        with self.transaction(write=False) as rows:
            found = rows.execute("SELECT name, budget FROM tables WHERE practice = 0 ORDER BY at, name")
            return [(one["name"], one["budget"]) for one in found]

    def all(self) -> list[Record]:
        with self.transaction(write=False) as rows:
            return [_record(found) for found in rows.execute("SELECT * FROM tables ORDER BY practice, at, name")]


def _fields(record: Record) -> dict[str, Any]:
    fields = asdict(record)
    for name in _JSON:
        fields[name] = json.dumps(fields[name], ensure_ascii=False)
    fields["practice"] = int(record.practice)
    return fields


def _record(found: sqlite3.Row) -> Record:
    fields = dict(found)
    for name in _JSON:
        fields[name] = json.loads(fields[name])
    fields["practice"] = bool(fields["practice"])
    return Record(**fields)
