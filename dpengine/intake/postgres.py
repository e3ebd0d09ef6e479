"""A table of a Postgres database, read once, as one consistent snapshot, into a private file.

Everything is read in one repeatable, read-only transaction. The table is locked against rewriting before the snapshot
is taken: a TRUNCATE or an ALTER that commits in between would otherwise show it empty. Column names and types are the
database's own declaration, not cells: they are public, as a file's first line is.

Every cell leaves the database as the text that a CSV file in the declared dialect would hold, so nothing in a row can
make reading fail. A value without such a text (bytes, NaN, infinite days, cells too long for a record) is missing. A
record with a byte that is no letter in the database's encoding is empty, like a damaged record of a file. Only the
database itself can fail while it reads, for example in a view that divides by zero; then nothing is kept. Its own error
messages may quote rows, so they are dropped: a person gets one of our sentences, by the kind of failure.

The driver (psycopg) is imported only when a source is used.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.files import refuse_full
from dpengine.core.libpq import Driver, connect
from dpengine.declared.dialect import LONGEST_RECORD, MOST_COLUMNS, Dialect, check_names
from dpengine.declared.source import Source
from dpengine.declared.spelling import trimmed

Result = TypeVar("Result")

_LOST = "allowance: no letter"  # decodes to a byte that no UTF-8 text holds, so that its record is empty
codecs.register_error(_LOST, lambda error: ("\udcff", getattr(error, "end")))  # noqa: B009

AS_READ = Dialect(line_breaks=True)  # the dialect of the private file, whatever was declared
SET_SEPARATOR = "|"  # between the items of an array, unless the column is declared with another
_REPORT_EVERY = 0.2  # seconds between two progress reports
_RELATION = """
    SELECT n.nspname, c.relname, c.relkind::text, c.oid::bigint, d.oid::bigint,
        CASE WHEN has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')
            THEN (SELECT system_identifier::text FROM pg_catalog.pg_control_system()) END,
        pg_catalog.current_setting('server_encoding')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
        pg_catalog.pg_database d
    WHERE d.datname = pg_catalog.current_database() AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND c.relname = ANY(%(names)s) AND CASE WHEN %(schemas)s::text[] IS NULL
            THEN pg_catalog.pg_table_is_visible(c.oid) ELSE n.nspname = ANY(%(schemas)s) END
    ORDER BY c.relname = %(exact)s DESC, n.nspname LIMIT 1
"""
_TYPES = """
    SELECT t.oid::bigint, pg_catalog.format_type(t.oid, NULL), t.typcategory::text,
        coalesce((SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
            FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid), ARRAY[]::text[])
    FROM pg_catalog.pg_type t WHERE t.oid::bigint = ANY(%s)
"""
_SETTINGS = (
    "SET LOCAL DateStyle TO 'ISO, YMD'",
    "SET LOCAL TimeZone TO 'UTC'",
    "SET LOCAL IntervalStyle TO 'postgres'",
    "SET LOCAL bytea_output TO 'hex'",
    "SET LOCAL extra_float_digits TO 1",
    "SET LOCAL lock_timeout TO '15s'",
)
_LOCKED = ("r", "p", "v")  # tables, partitioned tables, views: Postgres locks no others by name
_BOOLEAN, _BYTES, _MONEY = 16, 17, 790
_FRACTIONAL = (700, 701, 1700)
_ZONED = 1184
_DAYS = (1082, 1114, _ZONED)
_SHORT = (20, 21, 23, 700, 701, _MONEY, *_DAYS)  # types with texts that are never long


@dataclass(frozen=True)
class SourceColumn:
    """A column as the database declares it: its name, its type, and if it is an enumerated type its list."""

    name: str
    kind: str
    category: str = ""  # Postgres's: A arrays, B truth values, D days and times, E enumerated, N numbers, S texts …
    labels: tuple[str, ...] = ()
    oid: int = 0


@dataclass(frozen=True)
class Described:
    columns: tuple[SourceColumn, ...]
    places: tuple[tuple[str, ...], ...]  # identify this table: its address, and its number on its server
    earlier: tuple[str, ...] = ()  # tables of the workspace that came from there

    @property
    def seen(self) -> tuple[tuple[str, str], ...]:
        return tuple((column.name, column.kind) for column in self.columns)


def describe(source: Source) -> Described:
    """The columns of a table. No row is read."""
    return in_snapshot(source, lambda snapshot: snapshot.described)


def copy_rows(
    source: Source, dialect: Dialect, separators: Mapping[str, str], to: Path, report: Callable[[float], None]
) -> Described:
    """Write all rows to a new CSV file; its first line has generated names."""
    return in_snapshot(source, lambda snapshot: snapshot.copied(dialect, separators, to, report))


def in_snapshot(
    source: Source, work: Callable[[Snapshot], Result], writes: bool = False, also: Source | None = None
) -> Result:
    """Do the work in one transaction, on one table or two of the same database. Its errors become our sentences."""

    def within(psycopg: Driver, connection: Driver) -> Result:
        result = work(Snapshot(psycopg, connection, source, writes, also))
        connection.commit()
        return result

    return with_connection(source, within)


def with_connection(source: Source, work: Callable[[Driver, Driver], Result]) -> Result:
    """Do the work with the driver and a connection, without a table. Its errors become our sentences."""
    psycopg = _driver()
    code, facts = "", {"place": source.where, "table": source.table}
    try:
        with _connection(psycopg, source) as connection:
            return work(psycopg, connection)
    except AllowanceError as refusal:
        refusal.__context__ = refusal.__cause__ = None
        raise
    except psycopg.Error as error:
        code = _code(error)
    except ValueError:  # for example a name in an encoding that Python does not know
        code = "source.unreadable"
    raise AllowanceError(code, **facts)


def _driver() -> Driver:
    with refusing("source.driver", ImportError):
        return import_module("psycopg")


@contextmanager
def _connection(psycopg: Driver, source: Source) -> Iterator[Driver]:
    connection = connect(psycopg, source.url, autocommit=True)
    try:
        yield connection
    finally:
        connection.close()


def _code(error: Driver) -> str:
    """The message code for an error, by its kind alone: its text is not read."""
    state = error.sqlstate or ""
    failed = getattr(error, "pgconn", None)
    if not state:
        if failed is not None and (failed.used_password or failed.needs_password):
            return "source.refused"
        return "source.cut" if failed is None else "source.unreachable"
    if state.startswith("28"):
        return "source.refused"
    if state == "42501":
        return "source.forbidden"
    if state == "42P01":
        return "source.absent"
    if state in ("55P03", "40001", "40P01"):
        return "source.busy"
    if state.startswith(("08", "57P")):
        return "source.cut"
    return "source.unreadable"


class Snapshot:
    """An open transaction on one table; `beside`: on another table in the same transaction."""

    described: Described
    beside: Snapshot | None = None

    def __init__(
        self, psycopg: Driver, connection: Driver, source: Source, writes: bool, also: Source | None = None
    ) -> None:
        self._found(psycopg, connection, source)
        if also is not None:
            self.beside = object.__new__(Snapshot)
            self.beside._found(psycopg, connection, also)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = not writes  # with `writes`, beside the table, in a schema of ours
        connection.autocommit = False
        for setting in _SETTINGS:  # neither these nor the lock take the snapshot: the first SELECT does
            connection.execute(setting)
        self._codec = self._bytes(psycopg)
        tables = [self] if self.beside is None else [self, self.beside]
        for table in tables:
            if table._relation[2] in _LOCKED:
                connection.execute(self.sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(table.here))
        for table in tables:
            table.described = table._describe()

    def _found(self, psycopg: Driver, connection: Driver, source: Source) -> None:
        self.sql, self.connection, self._source = psycopg.sql, connection, source
        self._relation = self._find()
        self.here = self.sql.Identifier(*self._relation[:2])

    def _bytes(self, psycopg: Driver) -> str:
        """A codec for a database that is not in UTF8, whose texts are sent as raw bytes and decoded here. Postgres
        accepts bytes that its encoding has no letter for, but cannot send them as UTF8: the whole table would be
        unreadable. Here only that record is emptied, as in a file. SQL_ASCII is no encoding: its bytes stay."""
        if self.encoding == "UTF8":
            return ""
        setting = self.sql.SQL("SET LOCAL client_encoding TO {}").format(self.sql.Literal(self.encoding))
        self.connection.execute(setting)
        if self.encoding == "SQL_ASCII":
            return ""
        with refusing("source.encoding", psycopg.NotSupportedError, encoding=self.encoding):
            return str(self.connection.info.encoding)

    def _find(self) -> tuple[Driver, ...]:
        """Find the table by its name as written, or in lower case, as Postgres reads names without quotes."""
        *schema, name = self._source.names
        wanted = {
            "exact": name,
            "names": [name, name.lower()],
            "schemas": [schema[0], schema[0].lower()] if schema else None,
        }
        relation = self.connection.execute(_RELATION, wanted).fetchone()
        if relation is None:
            raise AllowanceError("source.absent", table=self._source.table)
        return tuple(relation)

    def _describe(self) -> Described:
        query = self.sql.SQL("SELECT * FROM {} LIMIT 0").format(self.here)
        heads = [(head.name, head.type_code) for head in self.connection.execute(query).description or ()]
        if len(heads) > MOST_COLUMNS:
            raise AllowanceError("load.many_columns", most=MOST_COLUMNS)
        types = {oid: more for oid, *more in self.connection.execute(_TYPES, [[oid for _, oid in heads]])}
        columns = tuple(
            SourceColumn(name, str(types[oid][0]), str(types[oid][1]), tuple(types[oid][2]), oid) for name, oid in heads
        )
        check_names([column.name for column in columns])
        schema, table, _, number, database, server, _ = self._relation
        places = [self._source.place(schema, table)]
        if server:  # the same under any name or address of the server, and on its replicas too
            places.append(("postgresql server", str(server), str(database), str(number)))
        return Described(columns, tuple(places))

    def copied(
        self, dialect: Dialect, separators: Mapping[str, str], to: Path, report: Callable[[float], None]
    ) -> Described:
        columns = self.described.columns
        query = self.sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(
            self.sql.SQL(", ").join(self.cells(dialect, separators)), self.here
        )
        with refusing("load.unwritable", OSError), to.open("xb", buffering=1 << 20) as file:
            file.write(",".join(f"c{place}" for place, _ in enumerate(columns)).encode() + b"\n")
            self._stream(query, file, to.parent, report)
        return self.described

    def cells(self, dialect: Dialect, separators: Mapping[str, str]) -> list[Driver]:
        """SQL for the texts of a row. Refused if the columns are not those described before."""
        columns = self.described.columns
        refuse_changed(self._source.seen, self.described.seen)
        longest = LONGEST_RECORD // (2 * len(columns)) - 4  # bytes; every quote in a cell is written twice
        return [self.cell(column, dialect, separators.get(trimmed(column.name)), longest) for column in columns]

    @property
    def table(self) -> str:
        return self._source.table

    @property
    def encoding(self) -> str:
        return str(self._relation[6])

    def _stream(self, query: Driver, file: Driver, folder: Path, report: Callable[[float], None]) -> None:
        size, reported, decoder = 0, time.monotonic(), None
        if self._codec:
            decoder = codecs.getincrementaldecoder(self._codec)(_LOST)
        with self.connection.cursor() as cursor, cursor.copy(query) as copy:
            for block in copy:
                file.write(decoder.decode(block).encode("utf-8", "surrogateescape") if decoder else block)
                size += len(block)
                if time.monotonic() - reported > _REPORT_EVERY:
                    reported = time.monotonic()
                    refuse_full(folder)
                    report(1 - 1 / (1 + size / (1 << 28)))  # nobody knows how much is still to come

    def cell(self, column: SourceColumn, dialect: Dialect, separator: str | None, longest: int) -> Driver:
        """SQL for a cell's text, for every value of the column's type. Texts compare byte by byte, however the column
        sorts: a collation with e = é would match two entries of a list."""
        return self.sql.SQL('({}) COLLATE pg_catalog."C"').format(self._text(column, dialect, separator, longest))

    def _text(self, column: SourceColumn, dialect: Dialect, separator: str | None, longest: int) -> Driver:
        own, text = self.sql.Identifier(column.name), "{own}::pg_catalog.text"
        if column.oid == _BYTES:
            return self.sql.SQL("NULL::pg_catalog.text")
        if column.oid == _BOOLEAN:
            return self.sql.SQL("CASE WHEN {own} THEN 'true' WHEN NOT {own} THEN 'false' END").format(own=own)
        if column.oid in _DAYS:
            moment = "({own} AT TIME ZONE 'UTC')" if column.oid == _ZONED else "{own}"
            text = f"CASE WHEN pg_catalog.isfinite({{own}}) THEN {moment}::pg_catalog.text END"
        elif column.category == "A":
            text = "pg_catalog.array_to_string({own}, {between})"
        elif column.oid in (*_FRACTIONAL, _MONEY):
            plain = "{own}::pg_catalog.numeric::pg_catalog.text" if column.oid == _MONEY else text
            signed = f"pg_catalog.replace({plain}, '.', ',')" if dialect.decimal == "," else plain
            text = (
                f"CASE {plain} WHEN 'NaN' THEN NULL WHEN 'Infinity' THEN 'inf' WHEN '-Infinity' THEN '-inf'"
                f" ELSE {signed} END"
            )
        if column.oid in _SHORT:
            return self.sql.SQL(text).format(own=own)
        bounded = f"CASE WHEN pg_catalog.octet_length({text}) <= {longest} THEN {text} END"
        between = self.sql.Literal(separator or SET_SEPARATOR)
        return self.sql.SQL(bounded).format(own=own, between=between)


def refuse_changed(before: tuple[tuple[str, str], ...], now: tuple[tuple[str, str], ...]) -> None:
    """Refuse a table with other columns than described before: numbers that became texts would be read as missing."""
    kinds = dict(now)
    for name, kind in before:
        if kinds.get(name) != kind:
            raise AllowanceError("source.changed" if name in kinds else "source.column_gone", column=name)
