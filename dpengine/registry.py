"""Which tables exist, what was declared about each, and which budget each one spends. A file of its own beside the
ledger: it holds the keyed fingerprints, which are never shown or exported."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpengine.errors import AllowanceError

_CREATE = """
CREATE TABLE IF NOT EXISTS tables (
    name TEXT PRIMARY KEY, folder TEXT NOT NULL, budget TEXT NOT NULL, practice INTEGER NOT NULL,
    relation TEXT NOT NULL, about INTEGER NOT NULL, unit TEXT NOT NULL, schema TEXT NOT NULL, dialect TEXT NOT NULL,
    fingerprint TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS by_fingerprint ON tables (fingerprint);
"""


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
    version: int
    owner: str
    at: str


class Registry:
    def __init__(self, path: Path) -> None:
        self._path = path
        with self.transaction() as rows:
            for statement in _CREATE.split(";"):
                rows.execute(statement)
        path.chmod(0o600)

    @contextmanager
    def transaction(self, write: bool = True) -> Iterator[sqlite3.Connection]:
        """One short write at a time, over all processes of the workspace; readers wait for nobody."""
        connection = sqlite3.connect(self._path, timeout=10, isolation_level=None)
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.OperationalError:
            raise AllowanceError("ledger.locked") from None
        finally:
            connection.close()

    def add(self, rows: sqlite3.Connection, record: Record) -> None:
        fields = asdict(record)
        for name in ("unit", "schema", "dialect"):
            fields[name] = json.dumps(fields[name], ensure_ascii=False)
        fields["practice"] = int(record.practice)
        names = ", ".join(fields)
        marks = ", ".join("?" for _ in fields)
        rows.execute(f"INSERT INTO tables ({names}) VALUES ({marks})", list(fields.values()))

    def find(self, rows: sqlite3.Connection, name: str) -> Record | None:
        found = rows.execute("SELECT * FROM tables WHERE name = ?", [name]).fetchone()
        return None if found is None else _record(found)

    def budget_of_content(self, rows: sqlite3.Connection, fingerprint: str) -> str | None:
        """The budget this very content already spends; practice copies have none to inherit."""
        query = "SELECT budget FROM tables WHERE fingerprint = ? AND practice = 0 ORDER BY at LIMIT 1"
        found = rows.execute(query, [fingerprint]).fetchone()
        return None if found is None else found["budget"]

    def get(self, name: str) -> Record | None:
        with self.transaction(write=False) as rows:
            return self.find(rows, name)

    def all(self) -> list[Record]:
        with self.transaction(write=False) as rows:
            return [_record(found) for found in rows.execute("SELECT * FROM tables ORDER BY practice, at, name")]


def _record(found: sqlite3.Row) -> Record:
    fields = dict(found)
    for name in ("unit", "schema", "dialect"):
        fields[name] = json.loads(fields[name])
    fields["practice"] = bool(fields["practice"])
    return Record(**fields)
