"""A ledger in Postgres: several machines spend from one account, with the same rows under the same rules (store.py).

*One writer at a time.* A write takes an advisory lock for its transaction before it reads anything, and reads under
READ COMMITTED: each statement sees everything committed when the lock was given. (Under a stricter level the snapshot
would be older than the lock.) The chain stops a writer that skips the lock: a row must have the next number, which is
the primary key, and the hash before it, so of two writers that saw the same end one fails.

*Charge, commit, then draw.* A commit counts when the server reports that it is on its disk (`synchronous_commit`; a
server without `fsync` is refused). If the connection breaks before that, the server is asked again, on a new
connection, about that very transaction, and the row is looked up. If it is there, the release goes on; if not, nothing
was spent; if the server cannot be asked, the question is refused. Asked again under its request id, it is either found
or charged.

*An older database put back* is refused by every folder that noted a later row (high_water.py).

The file has five parts: SQLite's SQL translated for Postgres, one connection, the processes that are alive, a check of
the tables, and the store itself.
"""

from __future__ import annotations

import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeVar, cast

from dpengine.core import files
from dpengine.core.errors import DAMAGED, AllowanceError, LedgerDamaged, refusing
from dpengine.core.files import refuse_full
from dpengine.core.types import Json, JsonObject
from dpengine.ledger.high_water import Anchor, Mark, refuse_older
from dpengine.ledger.rows import COLUMNS
from dpengine.ledger.sqlite_file import SCHEMA, VERSION, anchor_path, close_own, head_of
from dpengine.ledger.store import SETTING, Address, Database, Values

# SQL for Postgres, translated from SQLite's (store.py explains why)
#
#     ?, :name                        %s, %(name)s
#     json_extract(body, '$.x')       our function of that name; json_number for numbers, because Postgres does not
#                                     compare a text with a number; json_true for truth values
#     json_each(list)                 our function each_of(list)
#     GLOB 'p-*', a IS NOT (…)        LIKE 'p-%', IS DISTINCT FROM (…)
#     INDEXED BY name, STRICT         nothing: Postgres chooses its indexes, and is always strict
#     LIMIT -1                        no limit
#     INTEGER, TEXT                   bigint, text COLLATE "C": sorted and compared by bytes
#     CREATE TRIGGER … WHEN …         a plpgsql function and a trigger that calls it. A trigger against DELETE is also
#                                     against TRUNCATE, which has no rows to fire for; no session's replication role
#                                     switches one off
#
# Only Postgres has `within_the_rule`: it adds and compares the Fractions of a charge exactly, which SQLite's integers
# cannot. A charge must begin where the last one of its budget ended, lower none of the sums, and end within the
# budget's rule. So the rows of a writer that skips the engine stay within the cap. A row that understates a loss is
# detected by `verify`, which computes every cost anew.

_NUMBERS = ("$.index", "$.claim.parameters.questions")
_EXTRACTED = re.compile(r"json_extract\((\w+(?:\.\w+)?), '([^']+)'\)")
_TRUTH = re.compile(r"coalesce\(\(SELECT json_extract\(body, '\$\.on'\)(.*?)LIMIT 1\), 0\)", re.DOTALL)
_GLOB = re.compile(r"GLOB '([^'*]*)\*'")
_IS_NOT = re.compile(r"IS NOT (?=\(|coalesce\()")
_INDEXED = re.compile(r" INDEXED BY \w+")
_NAMED = re.compile(r"(?<![:\w]):([a-z]+)")
_TRIGGER = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE (INSERT|UPDATE|DELETE) ON (\w+)\s+(?:WHEN (.*?)\s+)?"
    r"BEGIN SELECT RAISE\(ABORT, '([^']*)'\); END",
    re.DOTALL,
)
_UNKNOWN = re.compile(r"\b(PRAGMA|rowid|OR REPLACE|OR IGNORE|json_set|GLOB|RAISE\(|strftime)\b")


@dataclass(frozen=True)
class Function:
    """One of our functions in the schema. Postgres stores its source word for word, so `guarded` can compare it."""

    name: str
    takes: str
    gives: str
    language: str
    volatility: str  # i: immutable, so an index may use it; v: reads tables
    source: str

    def create(self, schema: str) -> str:
        kind = "IMMUTABLE PARALLEL SAFE" if self.volatility == "i" else "VOLATILE"
        where = f" SET search_path = {schema}, pg_temp" if self.language == "plpgsql" else ""
        head = f"CREATE OR REPLACE FUNCTION {self.name}({self.takes}) RETURNS {self.gives} LANGUAGE {self.language}"
        return f"{head} {kind}{where} AS $source${self.source}$source$"


Part = str | Function

_AT = "body::json #>> string_to_array(substr(path, 3), '.')"
_DENOMINATOR = "SELECT coalesce(nullif(split_part($1, '/', 2), ''), '1')::numeric"
FUNCTIONS = (
    Function("json_extract", "body text, path text", "text", "sql", "i", f"SELECT {_AT}"),
    Function("json_number", "body text, path text", "bigint", "sql", "i", f"SELECT ({_AT})::bigint"),
    Function("json_true", "body text, path text", "boolean", "sql", "i", f"SELECT ({_AT}) = 'true'"),
    Function("each_of", "list text", "TABLE (value text)", "sql", "i", "SELECT json_array_elements_text(list::json)"),
    Function("numerator", "text", "numeric", "sql", "i", "SELECT split_part($1, '/', 1)::numeric"),
    Function("denominator", "text", "numeric", "sql", "i", _DENOMINATOR),
    Function(  # a ≤ b for two Fractions, exactly
        "at_most", "a text, b text", "boolean", "plpgsql", "i",
        " BEGIN RETURN numerator(a) * denominator(b) <= numerator(b) * denominator(a); END ",
    ),
    Function(
        "plus", "a text, b text", "text", "plpgsql", "i",
        " BEGIN RETURN concat(numerator(a) * denominator(b) + numerator(b) * denominator(a),"
        " '/', denominator(a) * denominator(b)); END ",
    ),
)  # fmt: skip

_WITHIN = """
DECLARE
    base text := CASE WHEN NEW.budget ~ ':p-[0-9a-f]{32}$' THEN left(NEW.budget, -35) ELSE NEW.budget END;
    rule json := (SELECT body::json -> 'rule' FROM entries WHERE kind = 'budget' AND budget = NEW.budget);
    cap text := coalesce((SELECT json_extract(body, '$.to') FROM entries WHERE kind IN ('seal', 'forget', 'raise')
        AND budget = base AND kind = 'raise' ORDER BY seq DESC LIMIT 1), rule ->> 'epsilon');
    last json := coalesce((SELECT totals::json -> 'after' FROM entries WHERE seq = greatest(
        (SELECT max(seq) FROM entries WHERE kind = 'charge' AND budget = NEW.budget),
        (SELECT max(seq) FROM entries WHERE kind = 'protect' AND budget = NEW.budget))),
        '{"epsilon":"0","renyi":"0","delta":"0"}');
    was json := NEW.totals::json -> 'before';
    now json := NEW.totals::json -> 'after';
BEGIN
    IF (was ->> 'epsilon' IS DISTINCT FROM last ->> 'epsilon') OR (was ->> 'renyi' IS DISTINCT FROM last ->> 'renyi')
        OR (was ->> 'delta' IS DISTINCT FROM last ->> 'delta')
        OR (was ->> 'epsilon' IS NULL AND now ->> 'epsilon' IS NOT NULL)
        OR NOT coalesce(at_most(was ->> 'epsilon', now ->> 'epsilon'), true)
        OR at_most(was ->> 'renyi', now ->> 'renyi') IS NOT TRUE
        OR at_most(was ->> 'delta', now ->> 'delta') IS NOT TRUE
    THEN RAISE EXCEPTION 'a charge begins where the last one ended, and gives nothing back'; END IF;
    IF NOT (coalesce(at_most(now ->> 'epsilon', cap), false)
            OR coalesce(at_most(plus(now ->> 'renyi', rule ->> 'c'), cap), false))
        OR at_most(now ->> 'delta', rule ->> 'delta_reserve') IS NOT TRUE
    THEN RAISE EXCEPTION 'a charge stays within its budget'; END IF;
    RETURN NEW;
END """


def _guard(name: str, source: str) -> Function:
    return Function(name, "", "trigger", "plpgsql", "v", source)


RULE = (
    _guard("within_the_rule", _WITHIN),
    "CREATE TRIGGER within_the_rule BEFORE INSERT ON entries FOR EACH ROW"
    " WHEN (NEW.kind IN ('charge', 'protect')) EXECUTE FUNCTION within_the_rule()",
    "ALTER TABLE entries ENABLE ALWAYS TRIGGER within_the_rule",
)


@lru_cache(maxsize=500)
def postgres_query(sql: str, with_values: bool) -> str:
    """A query in SQLite's SQL, translated for Postgres; placeholders are translated only `with_values`."""
    query = _INDEXED.sub("", _expressions(sql)).replace("LIMIT ?", "LIMIT nullif(?, -1)")
    _refuse_unknown(query)
    if not with_values:
        return query
    return _NAMED.sub(r"%(\1)s", query.replace("%", "%%").replace("?", "%s"))


def postgres_parts(statement: str) -> list[Part]:
    """A statement of the schema, translated for Postgres. A trigger becomes several: a function, the trigger that calls
    it, and the order to run that trigger always."""
    trigger = _TRIGGER.fullmatch(statement.strip())
    if trigger is None:
        translated = re.sub(r"\bINTEGER\b", "bigint", re.sub(r"\bTEXT\b", 'text COLLATE "C"', _expressions(statement)))
        translated = re.sub(r"\)\s*STRICT$", ")", translated)
        _refuse_unknown(translated)
        return [translated]
    name, act, table, when, message = trigger.groups()
    refusal = f"RAISE EXCEPTION '{message}';"
    if when is None:
        source, each = f" BEGIN {refusal} END ", "STATEMENT"
        act = "DELETE OR TRUNCATE" if act == "DELETE" else act
    else:
        source, each = f" BEGIN IF ({_expressions(when)}) THEN {refusal} END IF; RETURN NEW; END ", "ROW"
    _refuse_unknown(source)
    call = f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH {each} EXECUTE FUNCTION {name}()"
    return [_guard(name, source), call, f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}"]


def parts_of(schema: Iterable[str]) -> list[Part]:
    """Everything that the database gets: our functions, tables, indexes and triggers."""
    return [*FUNCTIONS, *(part for statement in schema for part in postgres_parts(statement)), *RULE]


def _expressions(sql: str) -> str:
    translated = _TRUTH.sub(r"coalesce((SELECT json_true(body, '$.on')\1LIMIT 1), false)", sql)
    translated = _EXTRACTED.sub(lambda match: _extract(*match.groups()), translated)
    translated = _GLOB.sub(r"LIKE '\1%'", translated).replace("json_each(", "each_of(")
    return _IS_NOT.sub("IS DISTINCT FROM ", translated)


def _extract(body: str, path: str) -> str:
    return f"{'json_number' if path in _NUMBERS else 'json_extract'}({body}, '{path}')"


def _refuse_unknown(sql: str) -> None:
    if match := _UNKNOWN.search(sql):
        raise ValueError(f"this SQL has no form for Postgres yet: {match.group()}")


# One connection, and our sentences for its errors
#
# psycopg is imported only when an address is used. None of its errors is passed on: they may quote a statement, an
# address or a row. A person reads one of our sentences. Whoever asks again is charged once: an earlier charge is found
# by its request id.

NEEDS = "requirements-postgres.txt"
_PAGE = 500
_PATIENCE = 5.0
_LOCKED = ("55P03", "57014", "40001", "40P01")  # no lock in time; cancelled; serialisation failure; deadlock
_UNWRITABLE = ("25006", "42501", "53100", "53200", "58030")  # read-only, no right, disk or memory full, i/o
_UNKNOWN_USER = ("28P01", "28000", "42501")
_GONE = ("42P01", "3F000")  # no such table or schema
_ENDED = ("57P01", "57P02", "57P03", "57P05", "25P03")  # the server stops, starts, or gave up on this connection
# Both ends notice a vanished machine within a minute, so that its locks are free again.
_ALIVE = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_SETTINGS = {
    "synchronous_commit": "on",  # whatever the default of the server, the database or the role
    "default_transaction_isolation": "read committed",  # each statement sees the state when the write lock was given
    "default_transaction_read_only": "off",
    "idle_in_transaction_session_timeout": "60s",  # a machine that froze during a write does not block the others
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
}


def driver() -> ModuleType:
    with refusing("ledger.no_driver", ImportError, file=NEEDS):
        return import_module("psycopg")


@contextmanager
def own_errors() -> Iterator[None]:
    """A context that raises our own sentences in place of psycopg's errors."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        code = code_for(error)
        if code is None:  # a mistake in this program, not something a person can put right
            raise
        raise LedgerDamaged() if code == DAMAGED else AllowanceError(code) from None
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
    return None if state.startswith("42") else DAMAGED


def broken(error: Exception) -> bool:
    """Is this an error of the connection, rather than of the statement?"""
    state = state_of(error)
    return state in _ENDED or state.startswith("08") or (not state and isinstance(error, driver().OperationalError))


def state_of(error: Exception) -> str:
    return getattr(error, "sqlstate", None) or ""


class Fetched(Protocol):
    """The part of a psycopg cursor that is used here."""

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
    """The part of a psycopg connection that is used here."""

    closed: bool
    broken: bool
    info: _Info

    def execute(self, sql: str, values: Values | None = None) -> Fetched: ...
    def cursor(self, name: str) -> Fetched: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class Link:
    """A connection for one thread at a time. It takes statements in SQLite's SQL; `plain` takes Postgres's own."""

    def __init__(self, address: Address, patience: float) -> None:
        self.pid = os.getpid()
        self.used = time.monotonic()
        connection = _connect(address, patience)
        self._pg = connection
        _links.add(self)
        self.close = weakref.finalize(self, close_own, connection, self.pid)
        try:
            own = {"lock_timeout": f"{max(int(patience * 1000), 1)}ms"}
            settings = "; ".join(f"SET {name} = '{value}'" for name, value in (_SETTINGS | own).items())
            connection.execute(f"{settings}; SET search_path = {address.schema}, pg_temp")
        except driver().Error as error:
            self.close()
            raise AllowanceError(code_for(error) or "ledger.unreachable") from None

    @property
    def conn(self) -> Link:
        return self

    def execute(self, sql: str, values: Values = (), /) -> Fetched:
        return self.plain(postgres_query(sql, bool(values)), values)

    def plain(self, sql: str, values: Values = ()) -> Fetched:
        """Run a statement that is written in the SQL of Postgres."""
        return self._pg.execute(sql, values or None)

    def query(self, sql: str, params: Values | None = None) -> Iterable[JsonObject]:
        return iter(self.execute(sql, params or ()).fetchall())

    def walk(self, sql: str) -> Iterator[JsonObject]:
        """The rows of a long result, a few at a time, inside a transaction."""
        with self._pg.cursor(name=f"walk_{time.monotonic_ns()}") as cursor:
            cursor.itersize = _PAGE
            cursor.execute(postgres_query(sql, False))
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
        """A context that undoes at its end everything done inside."""
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
        with suppress(driver().Error):  # a broken connection has nothing left to undo
            if self.busy:
                self.plain("ROLLBACK")

    def value(self, sql: str, values: Values = ()) -> Json:
        """The single value of a statement in the SQL of Postgres."""
        row = self.plain(sql, values).fetchone()
        return None if row is None else next(iter(row.values()))

    def forked(self) -> None:
        """In a forked child: drop the parent's connection, whose locks would otherwise outlive the parent."""
        with suppress(OSError, driver().Error), open(os.devnull, "rb+") as nothing:
            os.dup2(nothing.fileno(), self._pg.fileno(), inheritable=False)

    @property
    def open(self) -> bool:
        return not (self._pg.closed or self._pg.broken)

    def answers(self) -> bool:
        """Does the server still answer on this connection?"""
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
    with own_errors(), closing(Link(address, _PATIENCE)) as link, link.atomic():
        yield all_rows(link, address.schema)


def _connect(address: Address, patience: float) -> Connection:
    """A connection, tried again until `patience` seconds are over: a restarted server is back within seconds."""
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
            message = str(error) if isinstance(error, psycopg.OperationalError) else ""
            if state in _UNKNOWN_USER or "password" in message or "authentication" in message:
                code = "ledger.stranger"
            elif not message or time.monotonic() >= deadline:
                code = "ledger.unreachable"
            else:
                code = ""
        if code:  # raised outside the handler, so that the driver's error is not chained to ours
            raise AllowanceError(code)
        time.sleep(0.1)


_links: weakref.WeakSet[Link] = weakref.WeakSet()


def _after_fork() -> None:
    for link in list(_links):
        link.forked()


files.after_fork(_after_fork)


# The processes, on any machine, that spend from a ledger in Postgres
#
# Each holds a session's advisory lock under its name. The server frees it with the connection: on kill -9, and within a
# minute when a machine vanishes. A restarted server frees locks of living processes too, but nobody is declared dead by
# that: the kernel's lock in the folder counts as well (workers.py), and the next charge takes the lock again.

_LOOK_AGAIN = 0.05
_LISTED = (
    "SELECT objid::bigint AS name FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
    " AND mode = 'ExclusiveLock' AND classid::bigint = %s"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Alive:
    def __init__(self, address: Address, wait: float, connected: Callable[[], Link]) -> None:
        self._ledger, self._wait, self._connected = address.lock("worker") % 2**32, wait, connected
        self._begin()

    def _begin(self) -> None:
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._link: Link | None = None
        self._worker = ""

    def announce(self, worker: str) -> bool:
        if self._pid != os.getpid():
            self._begin()  # a forked child leaves its parent's connection alone
        with self._lock:
            if self._worker == worker and self._link is not None and self._link.answers():
                return False
            self._drop()
            link = self._link = self._connected()
            deadline = time.monotonic() + self._wait
            while not link.value("SELECT pg_try_advisory_lock(%s, %s)", self._name(worker)):
                if time.monotonic() > deadline:  # the server has not noticed yet that an older connection broke
                    raise AllowanceError("ledger.locked")
                time.sleep(_LOOK_AGAIN)
            self._worker = worker
            return True

    def hears(self, db: Link, worker: str) -> bool:
        """Is a process of this name alive? Found by trying a shared lock, so two processes may ask at once."""
        return not db.value("SELECT pg_try_advisory_xact_lock_shared(%s, %s)", self._name(worker))

    def others(self, db: Link) -> list[str]:
        return [format(row["name"], "08x") for row in db.plain(_LISTED, [self._ledger])]

    def leave(self) -> None:
        if self._pid == os.getpid():
            with self._lock:
                self._drop()

    def _drop(self) -> None:
        link, self._link, self._worker = self._link, None, ""
        if link is not None:
            link.close()

    def _name(self, worker: str) -> list[int]:
        """The two numbers of a worker's lock: the ledger's, and the start of the worker's name."""
        return [_signed(self._ledger), _signed(int(worker[:8], 16))]


def _signed(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number


# Are the tables, indexes, triggers and functions the ones that this program creates?
#
# Postgres keeps the source of a function word for word, and everything else in a normal form of its own. So `verify`
# creates the tables once more, as temporary ones that vanish with the transaction, and compares the catalogue's entries
# for both. The role needs only the usual right to create temporary tables.

_TABLES = "('entries', 'looks')"
_OF = f"JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %(schema)s AND c.relname IN {_TABLES}"
_DESCRIBED = f"""
    SELECT concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, o.collname,
            pg_get_expr(d.adbin, d.adrelid)) AS entry
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_collation AS o ON o.oid = a.attcollation
        LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum {_OF}
    UNION ALL SELECT concat_ws(' ', c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relhasrules,
            c.relhassubclass, c.relispartition) FROM pg_class AS c {_OF}
    UNION ALL SELECT concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisready, i.indisunique,
            i.indimmediate) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid {_OF}
    UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
        FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid {_OF} AND NOT t.tgisinternal
    UNION ALL SELECT concat_ws(' ', c.relname, k.conname, k.contype, pg_get_constraintdef(k.oid))
        FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid {_OF}
"""
_FUNCTIONS = """
    SELECT p.proname AS name, l.lanname AS language, p.provolatile AS volatility, p.prosecdef AS definer,
        pg_get_function_arguments(p.oid) AS takes, pg_get_function_result(p.oid) AS gives, p.prosrc AS source,
        coalesce(p.proconfig, '{}') AS settings
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace JOIN pg_language AS l ON l.oid = p.prolang
    WHERE n.nspname = %(schema)s
"""


def described(link: Link, schema: str) -> set[str]:
    """Everything that is in this schema of the database."""
    functions = {
        " ".join(map(str, row.values())).replace('"', "") for row in link.plain(_FUNCTIONS, {"schema": schema})
    }
    return functions | _catalogue(link, schema)


def expected(link: Link, schema: str) -> set[str]:
    """What the schema would hold if it were created now."""
    expected_rows = set()
    parts = parts_of(SCHEMA)
    for part in parts:
        if isinstance(part, Function):
            where = [f"search_path={schema}, pg_temp"] if part.language == "plpgsql" else []
            gives = part.gives.replace("TABLE (", "TABLE(")
            row = (part.name, part.language, part.volatility, False, part.takes, gives, part.source, where)
            expected_rows.add(" ".join(map(str, row)).replace('"', ""))
    with link.passing():
        link.plain(f"SET LOCAL search_path = pg_temp, {schema}")
        for part in parts:
            if isinstance(part, str):
                link.plain(part.replace("CREATE TABLE ", "CREATE TEMPORARY TABLE ", 1))
        own = link.value("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()")
        return expected_rows | _catalogue(link, own)


def _catalogue(link: Link, schema: str) -> set[str]:
    """The catalogue's entries for the two tables, without the name of the schema."""
    rows = link.plain(_DESCRIBED, {"schema": schema})
    return {row["entry"].replace(f"{schema}.", "").replace("pg_temp.", "") for row in rows}


# The store

T = TypeVar("T")
_OLDEST = 130000  # the oldest version of a server with pg_current_xact_id
_IDLE = 8  # connections kept for the next reader
_RESTED = 5.0  # seconds; an older connection is tested before use
_KEPT = 500  # cached reads
_LEAVING = 2.0  # seconds in which a program that has left is noticed
_OWN = (
    "CREATE TABLE edition (version bigint PRIMARY KEY)",  # of the tables
    "CREATE TABLE home (mark text PRIMARY KEY)",  # the folder of the ledger
)


class _State:
    """The connections of one process. A forked child starts with none and leaves its parent's alone."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.local = threading.local()
        self.idle: list[Link] = []
        self.as_of: tuple[int, str] | None = None
        self.read: dict[tuple[str, ...], object] = {}


class PostgresLedger:
    """A ledger in Postgres. `mark`: the folder's mark (store.py), not compared if empty. `alone`: for an operator's
    commands; refused while another program has the ledger open, and refuses programs meanwhile."""

    shared = True

    def __init__(self, path: Path, address: Address, wait: float = 5.0, mark: str = "", alone: bool = False) -> None:
        self.path = path.absolute()
        self._address, self._wait, self._mark, self._alone = address, wait, mark, alone
        self._anchor = Anchor(anchor_path(self.path))
        self._kept_state = _State()
        self._alive = Alive(address, wait, self._connected)
        self._held_alone: Link | None = None
        try:
            with own_errors():
                if alone:
                    self._held_alone = self._connected()
                    if not self._open_for(self._held_alone):
                        raise AllowanceError("workspace.in_use")
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
        """A connection for reading. `sure`: the connection is tested first, so that a server just restarted costs no
        answer."""
        with own_errors():
            state = self._state
            state.local.sure = None
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

    def _open_for(self, link: Link, kind: str = "") -> bool:
        """Try for a moment to take the lock on an open ledger, shared (as every program does) or alone; False if
        another program has it. A server notices late that a program has left."""
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

    def cached(self, key: tuple[str, ...], read: Callable[[Database], T]) -> T:
        """What `read` returns, cached as long as the last row is the same: rows are only appended, whoever writes
        them."""
        state = self._state
        with state.lock:  # `sure` is the last row, as it was read just now
            sure = getattr(state.local, "sure", None)
            if sure is not None and sure == state.as_of and key in state.read:
                return cast(T, state.read[key])
        with self.reading() as db:
            as_of = head_of(db)
            with state.lock:
                if as_of != state.as_of or len(state.read) >= _KEPT:
                    state.as_of, state.read = as_of, {}
                if key in state.read:
                    state.local.sure = as_of if getattr(state.local, "steady", False) else None
                    return cast(T, state.read[key])
            value = read(db)
            with state.lock:
                if as_of == state.as_of:
                    state.read[key] = value
            state.local.sure = as_of if getattr(state.local, "steady", False) else None
            return value

    @contextmanager
    def steady(self) -> Iterator[None]:
        here = self._state.local
        here.steady, here.sure = True, None
        try:
            yield
        finally:
            here.steady, here.sure = False, None

    def refuse_full(self) -> None:
        """Refuse if the disk of the workspace folder is nearly full; the server reports about its own disk."""
        refuse_full(self.path.parent)

    @contextmanager
    def writing(self) -> Iterator[Link]:
        with self.reading(sure=True) as db:
            if getattr(self._state.local, "moved_to", None) is not None:  # all in the one transaction of `renewing`
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
            if done.statusmessage != "COMMIT":  # an earlier statement failed, and its error was swallowed
                raise LedgerDamaged()
            return
        if not self._stands(write, head):
            raise AllowanceError("ledger.unreachable")

    def _stands(self, write: str, head: tuple[int, str]) -> bool:
        """Did a commit succeed whose reply was lost? Asked by the transaction's own number, because another thread may
        have written an equal row; and by the row's hash, because a standby server that took over may give other
        numbers."""
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
            ready = self._has_tables(db)
            if not ready:
                self._refuse_older(None)  # an empty ledger in its place would be a new, full allowance
            mine = list(db.plain("SELECT mark FROM home")) if ready and self._mark else []
            if mine and mine != [{"mark": self._mark}]:
                raise AllowanceError("ledger.other_folder", setting=SETTING)
            if ready and (mine or not self._mark):
                self._refuse_older(db)
                head = head_of(db)
                if head[0] > 0:
                    self._anchor.advance(*head)
                return
        with self.writing() as db:
            self._create(db)
            if self._mark and not list(db.plain("SELECT mark FROM home")):
                db.plain("INSERT INTO home VALUES (%s)", [self._mark])

    def _create(self, db: Link) -> None:
        """Create the schema, under the write lock, because two machines may start at once."""
        if self._has_tables(db):
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

    def _has_tables(self, db: Link) -> bool:
        """Does the schema have our tables? Refused if they are of another version."""
        if not self._there(db, "edition"):
            if self.exists(db):
                raise AllowanceError("workspace.older")
            return False
        version = db.value("SELECT version FROM edition")
        if version != VERSION:
            raise AllowanceError("workspace.newer" if version > VERSION else "workspace.older")
        return True

    def _refuse_unfit(self, db: Link) -> None:
        facts_sql = "SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,"
        [facts] = db.plain(f"{facts_sql} current_setting('server_encoding') AS encoding").fetchall()
        if facts["version"] < _OLDEST or facts["fsync"] != "on" or facts["encoding"] != "UTF8":
            raise AllowanceError("ledger.database_unfit", setting=SETTING)

    def _refuse_older(self, db: Link | None) -> None:
        """Refuse an older copy of the database, as for a file. A second read of the mark, under its lock, decides: in a
        folder that several machines share, the first read may come from this machine's cache."""
        code = "ledger.database_missing" if db is None else "ledger.database_rolled_back"
        for held_now in (False, True):
            try:
                mark = self._anchor.read(held_now)
                held = None
                if mark is not None and db is not None and self.exists(db):
                    rows = db.query("SELECT hash FROM entries WHERE seq = ?", [mark.seq])
                    held = next((row["hash"] for row in rows), None)
                refuse_older(mark, held, code, setting=SETTING)
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
            yield all_rows(db, getattr(self._state.local, "moved_to", None) or self._address.schema)

    @contextmanager
    def renewing(self) -> Iterator[str]:
        """A context in which a new ledger is written that replaces this one, in one transaction. Yields the name of the
        schema that holds the old tables then; "" if there were none."""
        with self.reading() as db:
            local = self._state.local
            try:
                db.plain("BEGIN")
                db.plain("SELECT pg_advisory_xact_lock(%s)", [self._address.lock("write")])
                local.moved_to = self._set_aside(db)
                self._create(db)
                yield local.moved_to
                head = head_of(db)
                if db.plain("COMMIT").statusmessage != "COMMIT":
                    raise LedgerDamaged()
            except BaseException:
                db.undo()
                raise
            finally:
                local.moved_to = None
            self._anchor.put(Mark(*head))

    def put_away(self) -> None:
        """Set the tables aside: the ledger is elsewhere from now on."""
        with self.writing() as db:
            self._set_aside(db)
            self._create(db)

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

    # For `verify`

    def guarded(self, db: Database) -> bool:
        link = cast(Link, db)
        try:
            return described(link, self._address.schema) == expected(link, self._address.schema)
        except driver().DatabaseError as error:
            if broken(error):
                raise
            return False

    def intact(self, db: Database) -> bool:
        return True  # the server itself reports a page with a wrong checksum; for indexes use pg_amcheck

    # Who is alive

    def announce(self, worker: str) -> bool:
        with own_errors():
            return self._alive.announce(worker)

    def hears(self, worker: str) -> bool:
        with self.reading() as db:
            return self._alive.hears(db, worker)

    def others(self) -> list[str]:
        with self.reading() as db:
            return self._alive.others(db)

    def leave(self) -> None:
        self._alive.leave()
