"""A ledger in Postgres, so that several machines spend from one account (store.py: the same rows under the same rules).

*One writer at a time.* A write takes an advisory lock for its transaction before it reads anything, and reads under
READ COMMITTED: each statement sees all that was committed when the lock was given. (Under a stricter level the snapshot
would be older than the lock.) Who skips the lock is held by the chain: a row must have the next number, which is the
primary key, and the hash before it, so of two writers that saw the same end one fails.

*Charge, commit, then draw.* A commit counts when the server says that it is on its disk (`synchronous_commit`; a server
without `fsync` is refused). If the connection breaks before it says so, the server is asked again, on a new connection,
what became of that very transaction, and the row is looked up. If it stands, the release goes on; if not, nothing was
spent; if nobody can be asked, the question is refused, and asked again under its request id it is found or charged.

*An older database put back* is refused by every folder that noted a later row (high_water.py).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TypeVar, cast

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import JsonObject
from dpengine.core.space import refuse_full
from dpengine.ledger.address import SETTING, Address
from dpengine.ledger.high_water import Anchor, Mark, refuse_older
from dpengine.ledger.postgres_alive import Alive
from dpengine.ledger.postgres_guards import described, expected
from dpengine.ledger.postgres_link import Link, all_rows, broken, driver, spoken
from dpengine.ledger.postgres_sql import Function, parts_of
from dpengine.ledger.sqlite_file import SCHEMA, VERSION, anchor_path, head_of
from dpengine.ledger.store import Database

T = TypeVar("T")
_OLDEST = 130000  # pg_current_xact_id
_IDLE = 8  # connections that are kept for the next reader
_RESTED = 5.0  # seconds after which one is tried before it is used
_KEPT = 500
_LOOK_AGAIN = 0.05
_LEAVING = 2.0  # seconds
_OWN = (
    "CREATE TABLE edition (version bigint PRIMARY KEY)",  # of the tables
    "CREATE TABLE home (mark text PRIMARY KEY)",  # the folder that the ledger belongs to
)


class _State:
    """What belongs to one process: a forked child begins anew, and leaves its parent's connections alone."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.local = threading.local()
        self.idle: list[Link] = []
        self.as_of: tuple[int, str] | None = None
        self.read: dict[tuple[str, ...], object] = {}


class PostgresLedger:
    """`mark`: of the folder (address.py); empty: not compared. `alone`: for an operator's commands, refused while any
    program has the ledger open, and the other way round."""

    shared = True

    def __init__(self, path: Path, address: Address, wait: float = 5.0, mark: str = "", alone: bool = False) -> None:
        self.path = path.absolute()
        self._address, self._wait, self._mark, self._alone = address, wait, mark, alone
        self._anchor = Anchor(anchor_path(self.path))
        self._kept_state = _State()
        self._alive = Alive(address, wait, self._connected)
        self._held_alone: Link | None = None
        try:
            with spoken():
                if alone:
                    self._take_alone()
                elif self.path.exists():
                    raise AllowanceError("ledger.two", setting=SETTING)
                else:
                    self.prepare()
        except BaseException:
            self.close()
            raise

    # Connections

    @property
    def _state(self) -> _State:
        if self._kept_state.pid != os.getpid():
            self._kept_state = _State()
        return self._kept_state

    @contextmanager
    def reading(self, sure: bool = False) -> Iterator[Link]:
        """`sure`: on a connection that was tried just now, so that a server started anew in between costs no answer."""
        with spoken():
            state = self._state
            held: Link | None = getattr(state.local, "link", None)
            if held is not None:
                yield held
                return
            link = state.local.link = self._take(state, sure)
            try:
                yield link
            finally:
                state.local.link = None
                link.used = time.monotonic()
                with state.lock:
                    keep = link.open and state is self._kept_state and len(state.idle) < _IDLE
                    gone = [] if keep else [link]
                    if keep:
                        state.idle.append(link)
                    elif not link.open:  # then the others broke too
                        gone, state.idle = [link, *state.idle], []
                for other in gone:
                    other.close()

    def _take(self, state: _State, sure: bool) -> Link:
        while True:
            with state.lock:
                link = state.idle.pop() if state.idle else None
            if link is None:
                return self._connected()
            rested = sure or time.monotonic() - link.used > _RESTED
            if link.open and (not rested or link.answers()):
                return link
            link.close()

    def _connected(self) -> Link:
        link = Link(self._address, self._wait)
        if not self._alone and not self._open_for(link, "_shared"):
            link.close()
            raise AllowanceError("workspace.mending")
        return link

    def _take_alone(self) -> None:
        self._held_alone = self._connected()
        if not self._open_for(self._held_alone):
            raise AllowanceError("workspace.in_use")

    def _open_for(self, link: Link, kind: str = "") -> bool:
        """The lock of whoever has the ledger open. Tried for a moment: a server notices late that a program left."""
        deadline = time.monotonic() + min(self._wait, _LEAVING)
        while not link.value(f"SELECT pg_try_advisory_lock{kind}(%s)", [self._address.lock("open")]):
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_AGAIN)
        return True

    def close(self) -> None:
        """Close every connection. A later call opens a new one."""
        state, self._kept_state = self._state, _State()
        with state.lock:
            links, state.idle = state.idle, []
        for link in [*links, *([] if self._held_alone is None else [self._held_alone])]:
            link.close()
        self.leave()

    # Reading and writing

    def kept(self, key: tuple[str, ...], read: Callable[[Database], T]) -> T:
        """Everything is appended, so while the last row is the same nothing has changed, whoever writes."""
        with self.reading() as db:
            state, as_of = self._state, head_of(db)
            with state.lock:
                if as_of != state.as_of or len(state.read) >= _KEPT:
                    state.as_of, state.read = as_of, {}
                if key in state.read:
                    return cast(T, state.read[key])
            found = read(db)
            with state.lock:
                if as_of == state.as_of:
                    state.read[key] = found
            return found

    def refuse_full(self) -> None:
        """The folder's own disk; the server speaks for its disk itself."""
        refuse_full(self.path.parent)

    @contextmanager
    def writing(self) -> Iterator[Link]:
        with self.reading(sure=True) as db:
            if getattr(self._state.local, "found", None) is not None:  # all in the one transaction of `renewing`
                yield db
                return
            try:
                db.plain("BEGIN")
                locked = "SELECT pg_current_xact_id()::text FROM (SELECT pg_advisory_xact_lock(%s)) AS held"
                write = db.value(locked, [self._address.lock("write")])
                self._refuse_older(db)
                yield db
                head = head_of(db)
            except BaseException:
                db.undo()
                raise
            self._commit(db, write, head)
            if head[0] > 0:
                self._anchor.advance(*head)

    def _commit(self, db: Link, write: str, head: tuple[int, str]) -> None:
        try:
            done = db.plain("COMMIT")
        except driver().Error as error:
            if not broken(error):
                db.undo()
                raise
        else:
            if done.statusmessage != "COMMIT":  # a statement had failed, and somebody passed over it
                raise AllowanceError("ledger.damaged")
            return
        if not self._stands(write, head):
            raise AllowanceError("ledger.unreachable")

    def _stands(self, write: str, head: tuple[int, str]) -> bool:
        """What became of a commit whose answer was lost? By the transaction's own number, because another thread may
        have written a row that looks the same; and by the row, because a standby that took over may count anew."""
        deadline = time.monotonic() + self._wait
        while time.monotonic() < deadline:
            with suppress(AllowanceError, driver().OperationalError):
                link = self._connected()
                try:
                    status = link.value("SELECT pg_xact_status(%s::xid8)", [write])
                    if status != "in progress":
                        held = [row["hash"] for row in link.query("SELECT hash FROM entries WHERE seq = ?", [head[0]])]
                        return status == "committed" and (held == [head[1]] or not head[0])
                except driver().DataError:  # a number that this server has not given out yet
                    return False
                finally:
                    link.close()
            time.sleep(_LOOK_AGAIN)
        raise AllowanceError("ledger.unsure")

    # Opening

    def prepare(self) -> None:
        with self.reading() as db:
            self._refuse_unfit(db)
            made = self._made(db)
            if not made:
                self._refuse_older(None)  # an empty ledger in its place would be a new, full allowance
            mine = list(db.plain("SELECT mark FROM home")) if made and self._mark else []
            if mine and mine != [{"mark": self._mark}]:
                raise AllowanceError("ledger.other_folder", setting=SETTING)
            if made and (mine or not self._mark):
                self._refuse_older(db)
                head = head_of(db)
                if head[0] > 0:
                    self._anchor.advance(*head)
                return
        with self.writing() as db:
            self._make(db)
            if self._mark and not list(db.plain("SELECT mark FROM home")):
                db.plain("INSERT INTO home VALUES (%s)", [self._mark])

    def _make(self, db: Link) -> None:
        """Under the write lock: two machines may start at once."""
        if self._made(db):
            return
        if not db.value("SELECT count(*) FROM pg_namespace WHERE nspname = %s", [self._address.schema]):
            db.plain(f"CREATE SCHEMA {self._address.schema}")
        for part in (*_OWN, *parts_of(SCHEMA)):
            db.plain(part.create(self._address.schema) if isinstance(part, Function) else part)
        db.plain("INSERT INTO edition VALUES (%s)", [VERSION])

    def exists(self, db: Link) -> bool:
        return self._there(db, "entries")

    def _there(self, db: Link, table: str) -> bool:
        return db.value("SELECT to_regclass(%s)::text", [f"{self._address.schema}.{table}"]) is not None

    def _made(self, db: Link) -> bool:
        """Does the schema have our tables? Those of another version are refused."""
        if not self._there(db, "edition"):
            if self.exists(db):
                raise AllowanceError("workspace.older")
            return False
        if db.value("SELECT version FROM edition") > VERSION:
            raise AllowanceError("workspace.newer")
        return True

    def _refuse_unfit(self, db: Link) -> None:
        told = "SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,"
        [facts] = db.plain(f"{told} current_setting('server_encoding') AS encoding").fetchall()
        if facts["version"] < _OLDEST or facts["fsync"] != "on" or facts["encoding"] != "UTF8":
            raise AllowanceError("ledger.database_unfit", setting=SETTING)

    def _refuse_older(self, db: Link | None) -> None:
        """As for a file. Read again under the lock before it is believed: on a folder of several machines the first
        look may be at what this one remembers."""
        code = "ledger.database_missing" if db is None else "ledger.database_rolled_back"
        for held_now in (False, True):
            try:
                mark = self._anchor.read(held_now)
                found = None
                if mark is not None and db is not None and self.exists(db):
                    rows = db.query("SELECT hash FROM entries WHERE seq = ?", [mark.seq])
                    found = next((row["hash"] for row in rows), None)
                refuse_older(mark, found, code, setting=SETTING)
                return
            except ValueError:
                if held_now:
                    raise AllowanceError(code, setting=SETTING) from None
            except AllowanceError:
                if held_now:
                    raise

    # For an operator's commands

    def holds_rows(self) -> bool:
        with self.reading() as db:
            return self.exists(db) and bool(db.value(f"SELECT count(*) FROM {self._address.schema}.entries"))

    @contextmanager
    def all_rows(self) -> Iterator[Iterator[JsonObject]]:
        with self.reading() as db, db.atomic():
            yield all_rows(db, getattr(self._state.local, "found", None) or self._address.schema)

    @contextmanager
    def renewing(self) -> Iterator[str]:
        """What is written inside is a new ledger, which takes this one's place in one transaction. The name of the
        schema into which the old tables were moved; empty if there were none."""
        with self.reading() as db:
            local = self._state.local
            try:
                db.plain("BEGIN")
                db.plain("SELECT pg_advisory_xact_lock(%s)", [self._address.lock("write")])
                local.found = self._set_aside(db)
                self._make(db)
                yield local.found
                head = head_of(db)
                if db.plain("COMMIT").statusmessage != "COMMIT":
                    raise AllowanceError("ledger.damaged")
            except BaseException:
                db.undo()
                raise
            finally:
                local.found = None
            self._anchor.put(Mark(*head))

    def put_away(self) -> None:
        """The ledger is somewhere else from now on."""
        with self.writing() as db:
            self._set_aside(db)
            self._make(db)

    def _set_aside(self, db: Link) -> str:
        tables = [name for name in ("entries", "looks", "home", "edition") if self._there(db, name)]
        if not tables:
            return ""
        taken = "SELECT count(*) FROM pg_namespace WHERE nspname = %s"
        names = (f"{self._address.schema}_found_{number}" for number in count(1))
        aside = next(name for name in names if not db.value(taken, [name]))
        db.plain(f"CREATE SCHEMA {aside}")
        for name in tables:
            db.plain(f"ALTER TABLE {self._address.schema}.{name} SET SCHEMA {aside}")
        return aside

    # What `verify` asks

    def guarded(self, db: Database) -> bool:
        link = cast(Link, db)
        try:
            return described(link, self._address.schema) == expected(link, self._address.schema)
        except driver().DatabaseError as error:
            if broken(error):
                raise
            return False

    def intact(self, db: Database) -> bool:
        return True  # a page that its checksum contradicts is an error of the server; indexes: pg_amcheck

    # Who is alive

    def announce(self, worker: str) -> bool:
        with spoken():
            return self._alive.announce(worker)

    def hears(self, worker: str) -> bool:
        with self.reading() as db:
            return self._alive.hears(db, worker)

    def others(self) -> list[str]:
        with self.reading() as db:
            return self._alive.others(db)

    def leave(self) -> None:
        self._alive.leave()
