"""The ledger's SQLite file: its tables and triggers, connections for its threads, our sentences for SQLite's errors."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from dpengine.core import files
from dpengine.core.errors import DAMAGED, AllowanceError, LedgerDamaged, refusing
from dpengine.core.files import nearly_full, refuse_full, small_blocks
from dpengine.core.types import Json, JsonObject
from dpengine.ledger import long_lists, repeats
from dpengine.ledger.chain import START, sound
from dpengine.ledger.high_water import Anchor, refuse_older
from dpengine.ledger.store import SETTING, Database

if TYPE_CHECKING:
    from sqlite_utils import Database as SqliteDatabase

# What the file itself refuses in a served workspace, whichever program writes to it

_SERVED = "EXISTS (SELECT 1 FROM entries WHERE kind = 'role')"
_PRIVATE = (
    "(SELECT json_extract(body, '$.kind') FROM entries WHERE kind = 'budget' AND budget = NEW.budget) = 'private'"
)
_BASE = (  # the budget of a person who keeps apart is that of the table, a colon and the person
    "CASE WHEN NEW.budget LIKE '%:p-________________________________'"
    " THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END"
)


def _granted(under: str) -> str:
    """SQL of a condition: has the holder `under` a live grant on the table, and is the actor that holder or in that
    group?"""
    return f"""EXISTS (SELECT 1 FROM entries AS given WHERE given.seq = (SELECT max(seq) FROM entries
                    WHERE kind = 'grant' AND budget = {_BASE}
                    AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                    AND json_extract(body, '$.to') = {under})
                AND json_extract(given.body, '$.share') <> '0'
                AND (json_extract(given.body, '$.until') = ''
                    OR json_extract(given.body, '$.until') >= substr(NEW.at, 1, 10))
                AND (json_extract(given.body, '$.to') = NEW.actor OR EXISTS (SELECT 1 FROM entries AS named,
                    json_each(json_extract(named.body, '$.people')) AS one WHERE one.value = NEW.actor
                    AND named.seq = (SELECT max(seq) FROM entries WHERE kind = 'group'
                        AND json_extract(body, '$.group') = json_extract(given.body, '$.to')))))"""


_CHARGED_UNDER = "(SELECT json_extract(body, '$.under') FROM entries WHERE kind = 'charge' AND request = NEW.request)"


def _role(role: str, where: str = "") -> str:
    """SQL of a condition: does the actor have this role now?"""
    return (
        "coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role'"
        f" AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = '{role}'{where}"
        " ORDER BY seq DESC LIMIT 1), 0)"
    )


_BARRED, _ADMINISTERS = _role("barred"), _role("administrator")
_OWNS = _role("owner", " AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget")

STATEMENTS = (
    """CREATE INDEX roles_of ON entries (json_extract(body, '$.person'), json_extract(body, '$.role'),
        json_extract(body, '$.table'), seq) WHERE kind = 'role'""",
    "CREATE INDEX owners_of ON entries (json_extract(body, '$.table'), seq) WHERE kind = 'role'",
    "CREATE INDEX groups_named ON entries (json_extract(body, '$.group'), seq) WHERE kind = 'group'",
    """CREATE INDEX grants_of ON entries (budget, json_extract(body, '$.table'), json_extract(body, '$.to'), seq)
        WHERE kind = 'grant'""",
    "CREATE INDEX grants_to ON entries (json_extract(body, '$.to'), seq) WHERE kind = 'grant'",
    """CREATE INDEX charges_under ON entries (budget, json_extract(body, '$.under'), seq)
        WHERE kind = 'charge' AND json_extract(body, '$.under') IS NOT NULL""",
    """CREATE INDEX charges_on ON entries (budget, json_extract(body, '$.table'), seq)
        WHERE kind = 'charge' AND json_extract(body, '$.under') IS NOT NULL""",
    "CREATE INDEX rows_by ON entries (actor, seq)",
    "CREATE UNIQUE INDEX one_wish ON entries (request) WHERE kind = 'wish'",
    "CREATE UNIQUE INDEX one_decision ON entries (request) WHERE kind = 'decided'",
    """CREATE UNIQUE INDEX one_use ON entries (json_extract(body, '$.wish'))
        WHERE kind = 'charge' AND json_extract(body, '$.wish') IS NOT NULL""",
    """CREATE INDEX terms_of ON entries (kind, budget, json_extract(body, '$.table'), seq)
        WHERE kind IN ('limit', 'agreement', 'wish')""",
    f"""CREATE TRIGGER no_charge_without_grant BEFORE INSERT ON entries
        WHEN NEW.kind IN ('charge', 'step') AND {_SERVED} AND (NEW.actor NOT GLOB 'p-*' OR {_BARRED}
            OR ({_PRIVATE} AND NEW.kind = 'charge'
                AND NOT {_granted("json_extract(NEW.body, '$.under')")})
            OR ({_PRIVATE} AND NEW.kind = 'step'
                AND NOT {_granted(_CHARGED_UNDER)}))
        BEGIN SELECT RAISE(ABORT, 'nobody without a grant asks'); END""",
    f"""CREATE TRIGGER no_apart_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind IN ('charge', 'step') AND NEW.budget <> {_BASE}
            AND EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget') AND budget = {_BASE}
                AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table'))
        BEGIN SELECT RAISE(ABORT, 'the table is sealed or forgotten'); END""",
    # An agreement is written by an administrator, who alone knows which tables hold equal content.
    f"""CREATE TRIGGER no_act_without_right BEFORE INSERT ON entries
        WHEN NEW.kind IN ('seal', 'forget', 'raise', 'limit') AND {_SERVED} AND ({_BARRED} OR NOT {_OWNS})
        BEGIN SELECT RAISE(ABORT, 'only an owner does this'); END""",
    f"""CREATE TRIGGER no_agreement_without_right BEFORE INSERT ON entries
        WHEN NEW.kind = 'agreement' AND ({_BARRED} OR NOT {_ADMINISTERS})
        BEGIN SELECT RAISE(ABORT, 'only an administrator does this'); END""",
    """CREATE TRIGGER no_own_decision BEFORE INSERT ON entries
        WHEN NEW.kind = 'decided' AND NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'wish' AND request = NEW.request
            AND actor <> NEW.actor)
        BEGIN SELECT RAISE(ABORT, 'a wish is decided by another'); END""",
    "CREATE INDEX new_people_of ON entries (budget, seq) WHERE kind = 'new_people'",
    """CREATE UNIQUE INDEX one_new_people ON entries
        (budget, json_extract(body, '$.table'), json_extract(body, '$.newer')) WHERE kind = 'new_people'""",
    f"""CREATE TRIGGER no_new_people_without_role BEFORE INSERT ON entries
        WHEN NEW.kind = 'new_people' AND {_SERVED} AND ({_BARRED} OR NOT {_OWNS})
        BEGIN SELECT RAISE(ABORT, 'only an owner says this'); END""",
    # More protection (owner_rows.py): whatever is charged or drawn after it is charged for a person.
    "CREATE INDEX protects_of ON entries (budget, seq) WHERE kind = 'protect'",
    f"""CREATE TRIGGER no_protect_without_role BEFORE INSERT ON entries
        WHEN NEW.kind = 'protect' AND {_SERVED} AND ({_BARRED} OR NOT {_OWNS})
        BEGIN SELECT RAISE(ABORT, 'only an owner declares more protection'); END""",
    """CREATE TRIGGER no_protect_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind = 'protect' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'close' AND budget = NEW.budget)
        BEGIN SELECT RAISE(ABORT, 'the budget is closed'); END""",
    f"""CREATE TRIGGER no_row_once_protected BEFORE INSERT ON entries
        WHEN NEW.kind = 'charge' AND coalesce(json_extract(NEW.body, '$.claim.unit.kind'), '') <> 'column'
            AND EXISTS (SELECT 1 FROM entries WHERE kind = 'protect' AND budget = {_BASE})
        BEGIN SELECT RAISE(ABORT, 'people are protected, not rows'); END""",
    f"""CREATE TRIGGER no_step_once_protected BEFORE INSERT ON entries
        WHEN NEW.kind = 'step' AND EXISTS (SELECT 1 FROM entries AS paid, entries AS said
            WHERE paid.kind = 'charge' AND paid.request = NEW.request
            AND said.kind = 'protect' AND said.budget = {_BASE} AND said.seq > paid.seq)
        BEGIN SELECT RAISE(ABORT, 'the session was paid for before more was protected'); END""",
)


VERSION = 5  # of the tables below, declarations and coded cells, kept as SQLite's `user_version`
SCHEMA: tuple[str, ...] = (
    """CREATE TABLE entries (
        seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, budget TEXT NOT NULL,
        request TEXT NOT NULL, actor TEXT NOT NULL, body TEXT NOT NULL, totals TEXT NOT NULL,
        prev TEXT NOT NULL, hash TEXT NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX one_creation ON entries (budget) WHERE kind = 'budget'",
    "CREATE UNIQUE INDEX one_charge ON entries (request) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX one_outcome ON entries (request) WHERE kind IN ('answer', 'failed')",
    "CREATE INDEX charges_of ON entries (budget, seq) WHERE kind = 'charge'",
    """CREATE INDEX claims_of ON entries
        (budget, json_extract(body, '$.table'), json_extract(body, '$.claim.digest'), seq)
        WHERE kind = 'charge'""",
    """CREATE TRIGGER no_update BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END""",
    """CREATE TRIGGER no_delete BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END""",
    # INSERT OR REPLACE deletes without firing the trigger above, so a new row must also have the next number.
    f"""CREATE TRIGGER only_next BEFORE INSERT ON entries
        WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries) OR NEW.prev IS NOT coalesce(
            (SELECT hash FROM entries WHERE seq = (SELECT max(seq) FROM entries)), '{START}')
        BEGIN SELECT RAISE(ABORT, 'a row continues the chain'); END""",
    "CREATE INDEX acts_of ON entries (budget, seq) WHERE kind IN ('seal', 'forget', 'raise')",
    """CREATE UNIQUE INDEX one_act ON entries (budget, json_extract(body, '$.table'), kind)
        WHERE kind IN ('seal', 'forget')""",
    """CREATE TRIGGER no_charge_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind = 'charge' AND EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget')
            AND budget = NEW.budget AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table'))
        BEGIN SELECT RAISE(ABORT, 'the table is sealed or forgotten'); END""",
    "CREATE UNIQUE INDEX one_step ON entries (request, json_extract(body, '$.index')) WHERE kind = 'step'",
    "CREATE UNIQUE INDEX one_step_id ON entries (request, json_extract(body, '$.step')) WHERE kind = 'step'",
    """CREATE UNIQUE INDEX one_told ON entries (request, json_extract(body, '$.index'))
        WHERE kind IN ('part', 'lost')""",
    "CREATE UNIQUE INDEX one_end ON entries (request) WHERE kind = 'ended'",
    """CREATE TRIGGER only_next_step BEFORE INSERT ON entries
        WHEN NEW.kind = 'step' AND (
            json_extract(NEW.body, '$.index') IS NOT (SELECT coalesce(max(json_extract(body, '$.index')), 0) + 1
                FROM entries WHERE kind = 'step' AND request = NEW.request)
            OR NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'charge' AND request = NEW.request
                AND budget = NEW.budget AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                AND json_extract(body, '$.claim.key') = 'adaptive_session'
                AND json_extract(NEW.body, '$.index') <= json_extract(body, '$.claim.parameters.questions')))
        BEGIN SELECT RAISE(ABORT, 'a step is the next one of a session that was paid for'); END""",
    """CREATE TRIGGER no_step_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind = 'step' AND (
            EXISTS (SELECT 1 FROM entries WHERE kind = 'ended' AND request = NEW.request)
            OR EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget') AND budget = NEW.budget
                AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')))
        BEGIN SELECT RAISE(ABORT, 'the session or its table is closed'); END""",
    "CREATE UNIQUE INDEX one_close ON entries (budget) WHERE kind = 'close'",
    """CREATE TRIGGER nothing_once_budget_closed BEFORE INSERT ON entries
        WHEN NEW.kind IN ('budget', 'charge', 'step', 'raise')
            AND EXISTS (SELECT 1 FROM entries WHERE kind = 'close' AND budget = NEW.budget)
        BEGIN SELECT RAISE(ABORT, 'the budget is closed'); END""",
    *repeats.STATEMENTS,
    *STATEMENTS,
    *long_lists.STATEMENTS,
)

T = TypeVar("T")
_WAITING = 8  # connections of ended threads
_KEPT = 500  # cached reads of a connection, until something is written

# fullfsync: without it macOS lets the disk keep a commit in its own memory. It has no effect elsewhere.
_PRAGMAS = ("PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON")
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNWRITABLE = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
)


SHARES_MEMORY = bytes((2, 2))  # where SQLite writes down that a file uses WAL
_HEAD = "SELECT seq, hash FROM entries WHERE seq = (SELECT max(seq) FROM entries)"
_HASH = "SELECT hash FROM entries WHERE seq = ?"
_SCHEMA = "SELECT sql FROM sqlite_master WHERE tbl_name IN ('entries', 'looks') AND sql IS NOT NULL"


def has_tables(db: SqliteDatabase | sqlite3.Connection) -> bool:
    """Does the file have our tables? Refused if they are of another version."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise AllowanceError("workspace.newer")
    if version < VERSION and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise AllowanceError("workspace.older")
    return version == VERSION


def _primary(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF  # extended codes keep the primary one in the low byte


@contextmanager
def own_errors(damaged: str = DAMAGED) -> Iterator[None]:
    """A context that raises our own sentences in place of SQLite's errors, whose text may quote a statement."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a mistake in this program, not something a person can put right
        raise
    except sqlite3.DatabaseError as error:
        primary = _primary(error)
        code = "ledger.locked" if primary in _LOCKED else "ledger.unwritable" if primary in _UNWRITABLE else damaged
        raise LedgerDamaged() if code == DAMAGED else AllowanceError(code) from None
    except OSError:
        raise AllowanceError("ledger.unwritable") from None


def import_library() -> None:
    """Import sqlite-utils in a quarter of a second: without pandas, which sqlite-utils uses only to store pandas' own
    types. Meanwhile `import pandas` fails, so no other thread may try it."""
    if "pandas" in sys.modules or "sqlite_utils" in sys.modules:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        import sqlite_utils  # noqa: F401
    finally:
        del sys.modules["pandas"]


class Handle:
    """A connection with a cache of what was read through it; used by one thread at a time."""

    def __init__(self, path: Path, wait: float) -> None:
        # mode=rw: if the ledger file is gone, SQLite must not create an empty one in its place.
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw", uri=True, timeout=wait, isolation_level=None, check_same_thread=False
        )
        self.pid, self._file = os.getpid(), _identity(path)
        self.close = weakref.finalize(self, close_own, connection, self.pid)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        # Bytes that are no valid text must reach the hash check, which names their row, instead of raising here.
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        from sqlite_utils import Database as SqliteDatabase  # imports pandas, so only when a ledger is opened

        self.db = SqliteDatabase(connection, execute_plugins=False)
        self._read: dict[tuple[str, ...], object] = {}
        self._as_of: tuple[int, int] | None = None

    def of(self, path: Path) -> bool:
        """May this process still use the connection for the file that is at this path now?"""
        return self.pid == os.getpid() and self._file == _identity(path) and not self.db.conn.in_transaction

    def cached(self, key: tuple[str, ...], read: Callable[[SqliteDatabase], T], sure: bool = False) -> T:
        """What `read` returns, cached until somebody writes. A charge relies on no cached value: it reads again, under
        the write lock. `sure`: the caller just asked whether others wrote."""
        if sure and key in self._read and self._as_of is not None and self._as_of[1] == self.db.conn.total_changes:
            return cast(T, self._read[key])
        version: int = self.db.conn.execute("PRAGMA data_version").fetchone()[0]  # changes when others write
        as_of = version, self.db.conn.total_changes
        if as_of != self._as_of or len(self._read) >= _KEPT:
            self._as_of, self._read = as_of, {}
        if key in self._read:
            return cast(T, self._read[key])
        value = read(self.db)
        if as_of == self._as_of:  # a read inside `read` may have cached a newer state; this value is older
            self._read[key] = value
        return value

    def write_beside(self, write: Callable[[sqlite3.Connection], object], key: tuple[str, ...], value: object) -> bool:
        """Write, in a transaction of its own, something on which of all cached values only that of `key` depends: it is
        `value` from now on. It does not wait: False if another writes now."""
        connection = self.db.conn
        current = self._as_of is not None and self._as_of[1] == connection.total_changes
        [waits] = connection.execute("PRAGMA busy_timeout").fetchone()
        try:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            return False
        finally:
            connection.execute(f"PRAGMA busy_timeout = {waits:d}")
        try:
            write(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise
        if current and self._as_of is not None:
            self._as_of = self._as_of[0], connection.total_changes
            self._read[key] = value
        return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class _Lent:
    """Lends a connection to a thread while the thread lives. Pages are drawn by one short thread after another, so the
    connection and its cache then wait for the next thread."""

    def __init__(self, handle: Handle, waiting: list[Handle]) -> None:
        self.handle, self._waiting = handle, waiting

    def __del__(self, most: int = _WAITING) -> None:  # a module's names are gone when the program ends
        if len(self._waiting) < most:
            self._waiting.append(self.handle)


class _Closes(Protocol):
    def close(self) -> object: ...


_inherited: list[_Closes] = []


def close_own(connection: _Closes, pid: int) -> None:
    """Close a connection that this process opened. After a fork the child must leave its parent's connections open:
    closing one of SQLite is not safe, and closing one of Postgres would end the parent's."""
    if os.getpid() == pid:
        connection.close()
    else:
        _inherited.append(connection)


class LedgerFile:
    """A ledger in a SQLite file. Readers never wait; writers, in any process, wait for at most `wait` seconds."""

    shared = False

    def __init__(self, path: Path, wait: float) -> None:
        self.path = path.absolute()
        self._anchor = Anchor(anchor_path(self.path))
        self._wait = wait
        self._local = threading.local()
        self._handles: weakref.WeakSet[Handle] = weakref.WeakSet()
        self._waiting: list[Handle] = []
        self._lock = threading.Lock()
        with own_errors():
            refuse_holes(self.path)
            if not self.path.exists():
                self._refuse_older(None)  # an empty ledger in its place would be a new, full allowance
            # The file is created here and not by SQLite, to set its mode; SQLite gives the -wal and -shm files the same
            # mode. An existing file is never opened here: to close it would drop every lock that SQLite holds on it in
            # this process.
            with suppress(FileExistsError):
                files.create(self.path).close()
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[SqliteDatabase]:
        with own_errors():
            self._local.sure = False
            yield self._lent().handle.db

    def _lent(self) -> _Lent:
        lent: _Lent | None = getattr(self._local, "lent", None)
        if lent is None or lent.handle.pid != os.getpid():
            lent = self._local.lent = _Lent(self._handle(), self._waiting)
        return lent

    def _handle(self) -> Handle:
        with self._lock:
            while self._waiting:
                handle = self._waiting.pop()
                if handle.of(self.path):
                    return handle
        handle = Handle(self.path, self._wait)
        with self._lock:
            self._handles.add(handle)
        return handle

    def cached(self, key: tuple[str, ...], read: Callable[[SqliteDatabase], T]) -> T:
        """What `read` returns, cached for each connection until something is written."""
        with own_errors():
            here = self._local
            value = self._lent().handle.cached(key, read, getattr(here, "sure", False))
            here.sure = getattr(here, "steady", False)
            return value

    @contextmanager
    def steady(self) -> Iterator[None]:
        here = self._local
        here.steady, here.sure = True, False
        try:
            yield
        finally:
            here.steady = here.sure = False

    def refuse_full(self) -> None:
        """Refuse a charge or a budget on a nearly full disk. An answer or a seal may use the last space."""
        refuse_full(self.path.parent)

    @contextmanager
    def writing(self) -> Iterator[SqliteDatabase]:
        """A transaction that holds the write lock from its first read on: what was read is still true when it
        writes."""
        with self.reading() as db:
            try:
                db.conn.execute("BEGIN IMMEDIATE")
                self._refuse_older(db)  # here too: an older copy may be put back while the program runs
                yield db
                head = head_of(db)
                db.conn.execute("COMMIT")
            except BaseException:
                if db.conn.in_transaction:
                    db.conn.execute("ROLLBACK")
                raise
            self._advance(head)  # before anything is read or drawn for this charge

    def guarded(self, db: Database) -> bool:
        return {row["sql"] for row in db.query(_SCHEMA)} == set(SCHEMA)  # SQLite keeps them word for word

    def intact(self, db: Database) -> bool:
        return bool(db.conn.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")

    def announce(self, worker: str) -> bool:
        return False  # processes of one machine see each other's locks (workers.py)

    def hears(self, worker: str) -> bool:
        return False

    def others(self) -> list[str]:
        return []

    def leave(self) -> None:
        """Nothing to do: no process is announced to a file."""

    def close(self) -> None:
        """Close every thread's connection. A later call opens a new one."""
        with self._lock:
            handles, self._handles, self._local = list(self._handles), weakref.WeakSet(), threading.local()
            self._waiting = []
        for handle in handles:
            handle.close()

    def _prepare(self) -> None:
        with self.reading() as db:
            self._use_wal(db)
            if has_tables(db):
                with suppress(sqlite3.DatabaseError):  # damaged rows: `verify` names them, and no write gets past them
                    self._refuse_older(db)
                    self._advance(head_of(db))  # a killed process may have left it behind
                return
        with self.writing() as db:
            if not has_tables(db):  # another process may have started at once
                for statement in (*SCHEMA, f"PRAGMA user_version = {VERSION}"):
                    db.execute(statement)

    def _refuse_older(self, db: SqliteDatabase | None) -> None:
        """Refuse an older copy: a ledger without the row that high_water.py noted as its last."""
        with refusing("ledger.rolled_back", ValueError):
            mark = self._anchor.read()
        held = None
        if mark is not None and db is not None and db["entries"].exists():
            held = next((row["hash"] for row in db.query(_HASH, [mark.seq])), None)
        refuse_older(mark, held, "ledger.missing" if db is None else "ledger.rolled_back")

    def _advance(self, head: tuple[int, str]) -> None:
        if head[0] > 0:
            self._anchor.advance(*head)

    def _use_wal(self, db: SqliteDatabase) -> None:
        deadline, wanted = time.monotonic() + self._wait, journal(self.path.parent)
        while db.execute("PRAGMA journal_mode").fetchone()[0] != wanted:
            try:
                db.execute(f"PRAGMA journal_mode = {wanted}").fetchone()
                return  # some file systems have no WAL and keep their own mode: slower, but as durable
            except sqlite3.OperationalError as error:  # SQLite does not wait by itself for this one
                if _primary(error) not in _LOCKED or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


def journal(folder: Path) -> str:
    """SQLite's journal mode for this folder. Usually `wal`, which needs memory shared between processes. `delete` is as
    durable but slower, and readers wait for writes: for disks with small blocks, and for folders that several machines
    share."""
    return "delete" if small_blocks(folder) or os.environ.get(SETTING, "").strip() else "wal"


def refuse_holes(path: Path) -> None:
    """Refuse a ledger file in WAL mode on a full disk with small blocks. (Such a file may have come from another
    disk.)"""
    risky = small_blocks(path.parent) and nearly_full(path.parent) and path.exists()
    if risky and _start(path)[18:] == SHARES_MEMORY:
        refuse_full(path.parent)


_open: dict[tuple[int, int], int] = {}
_seeking = threading.Lock()


def _start(path: Path) -> bytes:
    """The first bytes of the file. The file stays open: closing it would drop SQLite's locks in this process."""
    status = path.stat()
    place = status.st_dev, status.st_ino
    with _seeking:
        if place not in _open:
            _open[place] = os.open(path, os.O_RDONLY)
        os.lseek(_open[place], 0, os.SEEK_SET)
        return os.read(_open[place], 20)


def anchor_path(ledger: Path) -> Path:
    return ledger.with_suffix(".head")


def head_of(db: Database) -> tuple[int, str]:
    """The last row's number and hash."""
    rows = list(db.query(_HEAD))
    return (rows[0]["seq"], rows[0]["hash"]) if rows else (0, START)


def sound_rows(db: Database, sql: str, values: list[Json]) -> list[JsonObject]:
    """The rows that a query finds. Each is compared with its hash, and a damaged row is refused: an edited sum must
    admit no charge, and no edited answer may be shown."""
    rows = list(db.query(sql, values))
    if not all(sound(row) for row in rows):
        raise LedgerDamaged()
    long_lists.at_hand(db, (row["body"] for row in rows if "body" in row))
    return rows
