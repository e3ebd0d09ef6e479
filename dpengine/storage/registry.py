"""The declared tables, their declarations and their budgets. A file of its own beside the ledger, because it holds the
keyed fingerprints, which are never shown or exported. With an older copy in its place, newer tables would be deleted as
leftovers and known content would pass for new; so its state is noted beside it (high_water.py)."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from dpengine.core.errors import AllowanceError, UnknownTable
from dpengine.core.strict_json import canonical, read_strict
from dpengine.core.types import JsonObject
from dpengine.ledger.chain import START
from dpengine.ledger.high_water import Anchor, refuse_older
from dpengine.ledger.sqlite_file import VERSION, Handle, has_tables, journal, own_errors, refuse_holes

T = TypeVar("T")
_DAMAGED = "registry.damaged"
_WAIT = 10
_COME = "SELECT count(*) + coalesce(sum(version), 0) AS come FROM tables"  # grows with every change
_CREATE = """
CREATE TABLE tables (
    name TEXT PRIMARY KEY, folder TEXT NOT NULL, budget TEXT NOT NULL, practice INTEGER NOT NULL,
    relation TEXT NOT NULL, about INTEGER NOT NULL, unit TEXT NOT NULL, schema TEXT NOT NULL, dialect TEXT NOT NULL,
    fingerprint TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT NOT NULL, at TEXT NOT NULL,
    header TEXT NOT NULL, sample INTEGER NOT NULL, whose TEXT NOT NULL
) STRICT;
CREATE TABLE marks (mark TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (mark, name)) STRICT;
CREATE TABLE people (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE matches (
    name TEXT NOT NULL, person TEXT NOT NULL, others TEXT NOT NULL, refused TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, tables TEXT NOT NULL,
    metrics INTEGER NOT NULL, at TEXT NOT NULL, used TEXT NOT NULL, revoked TEXT NOT NULL,
    until TEXT NOT NULL
) STRICT;
CREATE TABLE drafts (
    name TEXT NOT NULL, person TEXT NOT NULL, draft TEXT NOT NULL, PRIMARY KEY (name, person)
) STRICT;
CREATE INDEX tokens_by_person ON tokens (person);
"""

LONGEST_DRAFT = 30_000  # characters
_JSON = ("unit", "schema", "dialect", "header")
_YES_NO = ("practice", "sample")


# Kinds of marks: a file's bytes, all rows, the rows of one file of a folder; and the place of a database's table. A
# place is no content: it joins an allowance, and nothing else follows from it.
FILE, ROWS, PART = "file:", "rows:", "part:"
ADDRESS = "address:"


def alike(marks: Iterable[str]) -> set[str]:
    """These marks and the other forms of each: content that is a part of one table may be the whole of another."""
    given = set(marks)
    as_rows = {ROWS + mark.removeprefix(PART) for mark in given if mark.startswith(PART)}
    return given | as_rows | {PART + mark.removeprefix(ROWS) for mark in given if mark.startswith(ROWS)}


@dataclass(frozen=True)
class Record:
    """A declared table as the registry stores it."""

    name: str
    folder: str
    budget: str
    practice: bool
    relation: str
    about: int
    unit: JsonObject
    schema: JsonObject
    dialect: JsonObject
    fingerprint: str
    version: int
    owner: str
    at: str
    header: list[str] = field(default_factory=list)  # all columns of the file
    sample: bool = False  # a random sample of a larger group
    whose: str = ""  # for one row each: the column that tells people apart, if the owner named one


class Registry:
    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._anchor = Anchor(path.with_suffix(".head"))
        self._looking = threading.Lock()
        with own_errors(_DAMAGED):
            refuse_holes(self._path)
        self._refuse_older()
        with self.transaction() as rows:
            if not has_tables(rows):
                for statement in (*_CREATE.split(";"), f"PRAGMA user_version = {VERSION}"):
                    rows.execute(statement)
        path.chmod(0o600)
        # One connection stays open: when the last one closes, SQLite removes the file's shared memory, and on a full
        # disk it could not be created again for reading.
        with own_errors(_DAMAGED):
            self._kept = self._open()
            self._kept.db.execute(_COME).fetchone()

    def _open(self) -> Handle:
        handle = Handle(self._path, _WAIT)
        handle.db.conn.row_factory = sqlite3.Row
        if handle.db.conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal":  # which no lost write damages
            handle.db.conn.execute("PRAGMA synchronous = NORMAL")  # it reads, and writes drafts
        return handle

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
        with own_errors(_DAMAGED), closing(sqlite3.connect(f"{self._path.as_uri()}?mode=rw", uri=True)) as rows:
            come = rows.execute(_COME).fetchone()[0]
        refuse_older(mark, START if come >= mark.seq else None, "registry.rolled_back")

    @contextmanager
    def transaction(self, write: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction on the registry. Of all processes one writes at a time, shortly; readers never wait."""
        with (
            own_errors(_DAMAGED),
            closing(sqlite3.connect(self._path, timeout=_WAIT, isolation_level=None)) as connection,
        ):
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
            if write:  # checkpointed: writes are few, and the file alone is then complete
                with suppress(sqlite3.OperationalError):
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def add(self, rows: sqlite3.Connection, record: Record) -> None:
        fields = _fields(record)
        places = ", ".join("?" for _ in fields)
        rows.execute(f"INSERT INTO tables ({', '.join(fields)}) VALUES ({places})", list(fields.values()))

    def update(self, rows: sqlite3.Connection, record: Record) -> None:
        """Store a new declaration: schema, version and header change, in the caller's transaction."""
        self._change(rows, record, ("schema", "version", "header"))

    def protect(self, rows: sqlite3.Connection, record: Record) -> None:
        """Store that a table's rows now belong to people: unit, number of people, version and header change. The table
        is no longer a random sample, since a sample needs one row a person."""
        self._change(rows, replace(record, sample=False), ("unit", "about", "version", "header", "sample"))

    def correct(self, record: Record, what: str) -> Record:
        """Change what an owner may correct: a number of people that was not counted (`about`), or whether they are a
        sample. Refused if the table was declared anew since the record was read: it may have another unit now."""
        with self.transaction() as rows:
            now = self.find(rows, record.name)
            if now is None or now.version != record.version:
                raise AllowanceError("table.revised")
            self._change(rows, record, (what,))
        return record

    def _change(self, rows: sqlite3.Connection, record: Record, names: Sequence[str]) -> None:
        fields = _fields(record)
        columns = ", ".join(f"{name} = ?" for name in names)
        changed = [*(fields[name] for name in names), record.name]
        if rows.execute(f"UPDATE tables SET {columns} WHERE name = ?", changed).rowcount != 1:
            raise UnknownTable(record.name)

    def find(self, rows: sqlite3.Connection, name: str) -> Record | None:
        row = rows.execute("SELECT * FROM tables WHERE name = ?", [name]).fetchone()
        return None if row is None else _record(row)

    def mark(self, rows: sqlite3.Connection, name: str, marks: Iterable[str]) -> None:
        """Add marks by which the table's content is recognised from now on."""
        rows.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?)", [(mark, name) for mark in marks])

    def marks_of(self, rows: sqlite3.Connection, names: Sequence[str]) -> set[str]:
        query = "SELECT mark FROM marks WHERE name IN (SELECT value FROM json_each(?))"
        return {row["mark"] for row in rows.execute(query, [json.dumps(list(names))])}

    def of_content(self, rows: sqlite3.Connection, marks: Iterable[str]) -> list[Record]:
        """The private tables that hold, or held, content with one of these marks, oldest first."""
        same = "SELECT name FROM marks WHERE mark IN (SELECT value FROM json_each(?))"  # a folder may have many files
        query = f"SELECT * FROM tables WHERE practice = 0 AND name IN ({same}) ORDER BY at, rowid"
        return [_record(row) for row in rows.execute(query, [json.dumps(list(marks))])]

    def kin(self, rows: sqlite3.Connection, names: Sequence[str]) -> list[str]:
        """The names of these tables and of all that share content with them, directly or through others."""
        kin, fresh = list(names), list(names)
        while fresh:
            content = {mark for mark in self.marks_of(rows, fresh) if not mark.startswith(ADDRESS)}
            others = self.of_content(rows, alike(content))
            fresh = [record.name for record in others if record.name not in kin]
            kin += fresh
        return kin

    def keep_draft(self, table: str, person: str, draft: JsonObject | None) -> None:
        """Store the question and the plan that a person is typing for a table, so that both survive a reload and a
        sign-out; None deletes them. A draft holds what forms hold, nothing from a row. A draft that is too long is not
        stored. Every change of a form is stored, so the draft waits in SQLite's log for the next checkpoint."""
        text = None if draft is None else canonical(draft)
        if text is not None and len(text) > LONGEST_DRAFT:
            text = None

        def write(rows: sqlite3.Connection) -> None:
            rows.execute("DELETE FROM drafts WHERE name = ? AND person = ?", [table, person])
            if text is not None:
                rows.execute("INSERT INTO drafts VALUES (?, ?, ?)", [table, person, text])

        with self._own() as kept:
            written = kept.write_beside(write, ("draft", table, person), text)
        if not written:  # it waits for its turn where nobody who reads waits for it
            with self.transaction() as rows:
                write(rows)

    def draft_of(self, table: str, person: str) -> JsonObject | None:
        def read(rows: sqlite3.Connection) -> str | None:
            found = rows.execute("SELECT draft FROM drafts WHERE name = ? AND person = ?", [table, person]).fetchone()
            return None if found is None else str(found["draft"])

        found = self._look(("draft", table, person), read)
        try:
            draft = None if found is None else read_strict(found)
        except (AllowanceError, ValueError):
            return None
        return draft if isinstance(draft, dict) else None

    def forget_drafts(self, of: Literal["name", "person"], value: str) -> None:
        """Delete all drafts about a forgotten table (`of` is "name"), or of a forgotten person ("person")."""
        with self.transaction() as rows:
            rows.execute(f"DELETE FROM drafts WHERE {of} = ?", [value])

    def get(self, name: str) -> Record | None:
        return self._look(("get", name), lambda rows: self.find(rows, name))

    def names(self) -> list[tuple[str, str]]:
        """The declared tables' names and budgets. Without the declarations, which may be long: pages ask for the names
        often."""

        def read(rows: sqlite3.Connection) -> list[tuple[str, str]]:
            tables = rows.execute("SELECT name, budget FROM tables WHERE practice = 0 ORDER BY at, name")
            return [(row["name"], row["budget"]) for row in tables]

        return list(self._look(("names",), read))

    def _look(self, key: tuple[str, ...], read: Callable[[sqlite3.Connection], T]) -> T:
        """What `read` returns, cached until somebody writes, or until another file takes the place of the
        registry's."""
        with self._own() as kept:
            return kept.cached(key, lambda db: read(db.conn))

    @contextmanager
    def _own(self) -> Iterator[Handle]:
        """The connection that stays open, for one thread at a time; another one if another file is there now."""
        with own_errors(_DAMAGED), self._looking:
            if not self._kept.of(self._path):
                self._kept.close()
                self._kept = self._open()
            yield self._kept

    def all(self) -> list[Record]:
        def read(rows: sqlite3.Connection) -> list[Record]:
            return [_record(row) for row in rows.execute("SELECT * FROM tables ORDER BY practice, at, name")]

        return list(self._look(("all",), read))


def _fields(record: Record) -> JsonObject:
    fields = asdict(record)
    for name in _JSON:
        fields[name] = json.dumps(fields[name], ensure_ascii=False)
    return fields | {name: int(fields[name]) for name in _YES_NO}


def _record(row: sqlite3.Row) -> Record:
    fields = dict(row)
    for name in _JSON:
        fields[name] = json.loads(fields[name])
    return Record(**fields | {name: bool(fields[name]) for name in _YES_NO})
