"""A table whose rows may not leave their database: coded there, into a table of ours beside it.

One transaction, which sees the raw table at one moment and only reads it, makes a table in the schema `allowance` that
holds codes and no text (coding_expressions.py), and is never written again: triggers refuse it to everybody, whoever
takes them away is noticed before the next question, and a newer state is another table. What leaves the database is how
many rows or people there are, and the sums of keyed hashes by which content is recognised (marks.py), computed there in
the same canonical form. While it is made, the texts lie in a temporary table of that transaction, which no other sees.

The keys of the hashes reach the database as data of a COPY: neither as the text of a statement nor as a parameter, both
of which a database may write to its log; and they are made from the workspace's secret for this one purpose.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from dpengine.core.errors import AllowanceError
from dpengine.core.libpq import AS_MADE, Driver
from dpengine.declared.cell_kinds import WORD
from dpengine.declared.dialect import Dialect, check_names
from dpengine.declared.schema import Category, ItemSet, Schema
from dpengine.declared.source import Source
from dpengine.declared.spelling import SPACES
from dpengine.declared.unit import Unit
from dpengine.intake.coding_expressions import TEXTS, listed, refuse_uncodable
from dpengine.intake.coding_sets import KEYS, POSTGRES, SET_TEXTS, coded_rows, cut_sizes, separators
from dpengine.intake.load import Loaded
from dpengine.intake.marks import (
    ALIKE,
    FALSE_WORDS,
    MISSING_WORDS,
    PLACES,
    TIMES,
    TRUE_WORDS,
    address_mark,
    mark_of,
    row_key,
)
from dpengine.intake.postgres import Snapshot, connected, spoken
from dpengine.intake.rows_per_person import PERSON
from dpengine.statistics.counts import cut_name

OURS = "allowance"
EVERY = "_every"  # what the table of every row is called more (statistics.engines.every_row)
_LETTERS = """
    SELECT collname FROM pg_catalog.pg_collation
    WHERE collnamespace = 'pg_catalog'::pg_catalog.regnamespace AND collname IN ('und-x-icu', 'default')
        AND collisdeterministic ORDER BY collname = 'default'
"""
_SMALL = 'lower({} COLLATE pg_catalog."{}") COLLATE "C"'
_SINGLY = "Σİ", "σi"  # marks.py makes letters small one by one: the last of a word like any other
_MAY = """
    SELECT CASE WHEN to_regnamespace(%(ours)s) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
        ELSE has_schema_privilege(%(ours)s, 'CREATE') END AND has_database_privilege(current_database(), 'TEMP')
        AND EXISTS (SELECT FROM pg_language WHERE lanname = 'plpgsql' AND has_language_privilege(oid, 'USAGE')),
        to_regnamespace(%(ours)s) IS NOT NULL
"""
NUMBER = "[+−-]?[0-9.,’ \u00a0\u2009\u202f]*[0-9][.,]?(e[+-]?[0-9]+)?"
SIGNS = ".,’ \u00a0\u2009\u202f+-−"


def bring(
    source: Source,
    name: str,
    schema: Schema,
    unit: Unit,
    dialect: Dialect,
    secret: bytes,
    tell: Callable[[float], None] | None = None,
) -> Loaded:
    """Code the table as `allowance.<name>`. After a refusal nothing of it is there."""
    refuse_uncodable(schema)
    return spoken(source, lambda found: _bring(found, name, schema, unit, dialect, secret, tell), writes=True)


def drop(source: Source, *names: str) -> None:
    """Delete coded tables, which a table that is forgotten leaves behind."""

    def gone(psycopg: Driver, connection: Driver) -> None:
        for name in (*names, *(f"{one}{EVERY}" for one in names)):
            for kind in ("TABLE IF EXISTS {}", "FUNCTION IF EXISTS {}()"):
                connection.execute(psycopg.sql.SQL(f"DROP {kind}").format(psycopg.sql.Identifier(OURS, name)))

    connected(source, gone)


def _bring(
    found: Snapshot,
    name: str,
    schema: Schema,
    unit: Unit,
    dialect: Dialect,
    secret: bytes,
    tell: Callable[[float], None] | None,
) -> Loaded:
    told = tell or (lambda share: None)
    run, columns = found.connection.execute, check_names([column.name for column in found.described.columns])
    for column in (*schema.columns, *([unit.id_column] if unit.id_column else [])):
        if column not in columns:
            raise AllowanceError("column.absent", column=column, columns=columns)
    if found.encoding != "UTF8":
        raise AllowanceError("source.in_place_encoding")
    letters = _letters(found)
    may, there = run(_MAY, {"ours": OURS}).fetchone()
    if not may:
        raise AllowanceError("source.in_place_forbidden", schema=OURS)
    run("SET LOCAL standard_conforming_strings TO on")
    if not there:
        run(found.sql.SQL("CREATE SCHEMA {}").format(found.sql.Identifier(OURS)))
    _texts(found, schema, dialect)
    run("SET LOCAL search_path TO pg_temp, pg_catalog")
    told(0.3)
    _lists(found, schema, secret)
    count, *sums = run(_marks(found, letters)).fetchone()
    told(0.6)
    rows = _made(found, name, schema, unit, dialect, columns, letters)
    made_as = _closed(found, name, schema, unit)
    if unit.id_column is not None and schema.of_kind(ItemSet):
        _made(found, name + EVERY, schema, unit, dialect, columns, letters)
        made_as += f" {_closed(found, name + EVERY, schema, unit)}"
    if unit.id_column is None and not rows:
        raise AllowanceError("source.no_rows")
    people = rows
    if unit.id_column is not None:
        counted = found.sql.SQL("SELECT count(DISTINCT {}) FROM {}")
        counted = counted.format(found.sql.Identifier(PERSON), found.sql.Identifier(OURS, name))
        people = int(run(counted).fetchone()[0])
    told(0.95)
    marks = tuple(address_mark(place, secret) for place in found.described.places)
    fingerprint = mark_of([int(count), *map(int, sums)], secret) if count else ""
    return Loaded(
        rows, tuple(columns), fingerprint, addresses=marks, seen=found.described.seen, people=people, made=made_as
    )


def _made(
    found: Snapshot, name: str, schema: Schema, unit: Unit, dialect: Dialect, columns: list[str], letters: str
) -> int:
    """Make a coded table, or that of every row, and return how many rows it has."""
    every = name.endswith(EVERY)
    coded = found.sql.SQL(_coded(schema, unit, dialect, columns, letters, every))
    target = found.sql.Identifier(OURS, name)
    made = found.connection.execute(found.sql.SQL("CREATE TABLE {} AS ").format(target) + coded)
    wanted = found.connection.execute(_wanted(unit, columns, every)).fetchone()
    if int(made.rowcount) != int(wanted[0]):  # cannot be, and a person with more would not be covered
        raise AllowanceError("source.unreadable", table=found.table)
    return int(made.rowcount)


def _closed(found: Snapshot, name: str, schema: Schema, unit: Unit) -> str:
    """No code is missing or outside its column's range, and nobody writes to the table again: not its owner, who could
    grant that to themselves, nor a superuser, unless they take the triggers away first. Returns what the table was when
    it was made (libpq.AS_MADE), by which that is noticed before the next question is charged."""
    run, sql = found.connection.execute, found.sql
    target = sql.Identifier(OURS, name)
    ranges = {f"c{at}": (-1, column.size - 1) for at, column in enumerate(schema.columns.values())}
    ranges |= {f"f{at}": (WORD, 127) for at, _ in enumerate(schema.columns)} | {"fault": (0, 1)}
    ranges |= {} if unit.id_column is None else {PERSON: (0, 2**63 - 1)}
    places = {f"c{at}": column.size for at, column in enumerate(schema.columns.values()) if isinstance(column, ItemSet)}
    if unit.id_column is None or name.endswith(EVERY):
        places |= {cut_name(column): places[column] for column in cut_sizes(schema)}
    limits = [
        f"ALTER COLUMN {column} SET NOT NULL, ADD CHECK ({column} BETWEEN {low} AND {high})"
        for column, (low, high) in ranges.items()
        if column not in places
    ]
    limits += [
        f"ALTER COLUMN {column} SET NOT NULL, ADD CHECK (0 <= ALL ({column}) AND {size} > ALL ({column})"
        f" AND array_position({column}, NULL) IS NULL)"
        for column, size in places.items()
    ]
    run(sql.SQL("ALTER TABLE {} ").format(target) + sql.SQL(", ".join(limits)))
    run(
        sql.SQL(
            "CREATE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql SET search_path TO pg_catalog AS"
            " $$BEGIN RAISE EXCEPTION 'a coded table of Allowance is never written again'; END$$"
        ).format(target)
    )
    for trigger, when, each in (("rows", "INSERT OR UPDATE OR DELETE", "ROW"), ("all", "TRUNCATE", "STATEMENT")):
        run(
            sql.SQL(
                f"CREATE TRIGGER never_{trigger} BEFORE {when} ON {{0}} FOR EACH {each} EXECUTE FUNCTION {{0}}()"
            ).format(target)
        )
        run(sql.SQL(f"ALTER TABLE {{}} ENABLE ALWAYS TRIGGER never_{trigger}").format(target))
    run(sql.SQL("REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {} FROM CURRENT_USER").format(target))
    query = sql.SQL(AS_MADE).format(schema=sql.Literal(OURS), table=sql.Literal(name))
    return str(run(query).fetchone()[0])


def _texts(found: Snapshot, schema: Schema, dialect: Dialect) -> None:
    """All cells as texts, without the rows that hold nothing: an array for each row, because Postgres keeps a long
    array elsewhere, and would have no room on a page for a long row of many short cells."""
    sql = found.sql
    cells = found.cells(dialect, separators(schema))
    some = sql.SQL("EXISTS (SELECT FROM unnest(cells) AS one(x) WHERE btrim(x, {}) <> '')").format(
        sql.Literal(" \t\"',")
    )
    query = sql.SQL(
        "CREATE TEMP TABLE allowance_rows ON COMMIT DROP AS"
        " SELECT cells FROM (SELECT ARRAY[{}] AS cells FROM {} OFFSET 0) AS all_rows WHERE {}"
    ).format(sql.SQL(", ").join(cells), found.here, some if len(cells) > 1 else sql.SQL("true"))
    found.connection.execute(query)


def _cell(columns: list[str], name: str) -> str:
    return f"cells[{columns.index(name) + 1}]"


def _lists(found: Snapshot, schema: Schema, secret: bytes) -> None:
    """The declared lists, and the keys."""
    run = found.connection.execute
    kinds = 'list bigint, spelled text COLLATE "C", place bigint, kind bigint'
    run(f"CREATE TEMP TABLE lists ({kinds}) ON COMMIT DROP")
    run("CREATE TEMP TABLE allowance_keys (rows text, marks text, items text) ON COMMIT DROP")
    with found.connection.cursor() as cursor:
        with cursor.copy("COPY pg_temp.lists FROM STDIN") as copy:
            for one in listed(schema):
                copy.write_row((one.column, one.spelled, one.place, one.kind))
        with cursor.copy("COPY pg_temp.allowance_keys FROM STDIN") as copy:
            copy.write_row((choosing_key("rows", secret), row_key(secret), choosing_key("items", secret)))


def choosing_key(what: str, secret: bytes) -> str:
    """The key by which rows or items are chosen where they are, and nothing else is."""
    return hmac.new(secret, f"allowance: which {what}, in place".encode(), hashlib.sha256).hexdigest()


def _who(unit: Unit, columns: list[str]) -> str:
    return f"btrim(normalize({_cell(columns, str(unit.id_column))}, NFC), '{SPACES}')"


def _wanted(unit: Unit, columns: list[str], every: bool) -> str:
    """How many coded rows there must be, counted another way than they are chosen."""
    if unit.id_column is None:
        return "SELECT count(*) FROM pg_temp.allowance_rows"
    who = _who(unit, columns)
    each = f"SELECT count(*) AS n FROM pg_temp.allowance_rows WHERE {who} <> '' GROUP BY {who}"
    return f"SELECT coalesce(sum({'n' if every else f'least(n, {unit.at_most})'}), 0) FROM ({each}) AS each"


def _coded(schema: Schema, unit: Unit, dialect: Dialect, columns: list[str], letters: str, every: bool = False) -> str:
    """The coded rows: all, or at most the declared number of each person by a keyed hash of their content. With
    `every`, all rows of each person."""
    told = [
        _SMALL.format(_cell(columns, name), letters) if isinstance(column, Category) else _cell(columns, name)
        for name, column in schema.columns.items()
    ]
    texts = ", ".join(f"{cell} AS t{at}" for at, cell in enumerate(told))
    rows, kept = f"SELECT {texts} FROM pg_temp.allowance_rows", tuple[str, ...]()
    if unit.id_column is not None:
        kept = (PERSON,)
        who = _who(unit, columns)
        told_all = (
            "SELECT string_agg(coalesce(octet_length(x) || ':' || x, '-'), '' ORDER BY at)"
            " FROM unnest(cells) WITH ORDINALITY AS one(x, at)"
        )
        hashed = f"sha256(convert_to((SELECT rows FROM pg_temp.allowance_keys) || ({told_all}), 'UTF8'))"
        marked = f"SELECT *, {who} AS who, {hashed} AS mark FROM pg_temp.allowance_rows OFFSET 0"
        chosen = (
            f'SELECT *, dense_rank() OVER (ORDER BY who COLLATE "C") - 1 AS {PERSON},'
            f' row_number() OVER (PARTITION BY who COLLATE "C" ORDER BY mark) AS place'
            f" FROM ({marked}) AS marked WHERE who <> ''"
        )
        few = "" if every else f" WHERE place <= {unit.at_most}"
        rows = f"SELECT {texts}, {PERSON} FROM ({chosen}) AS chosen{few}"
    tables = {TEXTS: rows, SET_TEXTS: f"SELECT * FROM {TEXTS}", KEYS: "SELECT items FROM pg_temp.allowance_keys"}
    small = _SMALL.format("{}", letters)
    tables |= coded_rows(POSTGRES, schema, dialect, small, kept, cut=every or unit.id_column is None)
    named = ", ".join(f"{name} AS ({query})" for name, query in tables.items())
    return f"WITH {named} SELECT * FROM coded"


def _letters(found: Snapshot) -> str:
    """The collation by whose rules capitals become small: ours, not that of the database or of a column, for which Š
    may be no letter. Else the same rows would be others than those of a file."""
    run = found.connection.execute
    for (name,) in run(_LETTERS).fetchall():
        small = _SMALL.format("'ČŠÉIΩ'", name)
        if run(f"SELECT {small} = 'čšéiω'").fetchone()[0]:
            return str(name)
    raise AllowanceError("source.in_place_letters")


def _marks(found: Snapshot, letters: str) -> Driver:
    """SQL for the number of rows that hold something, and the sums of their keyed hashes: marks.py, cell by cell."""
    literal = found.sql.Literal
    alike = "btrim(regexp_replace({}, ' +', ' ', 'g'))"
    bare = f"translate(normalize(translate(x, {{}}, {{}}), NFC), '{_SINGLY[0]}', '{_SINGLY[1]}')"
    tidy = found.sql.SQL(_SMALL.format(alike.format(bare), letters)).format(*map(literal, ALIKE))
    ascii_too = found.sql.SQL(f"lower({alike.format('translate(x, {}, {})')})").format(*map(literal, ALIKE))
    tidy = found.sql.SQL("CASE WHEN octet_length(x) = length(x) THEN {} ELSE {} END").format(ascii_too, tidy)
    digits = found.sql.SQL("translate(split_part(x, 'e', 1), {}, '')").format(literal(SIGNS))
    time = found.sql.SQL("x")
    for written, same in TIMES:
        time = found.sql.SQL("regexp_replace({}, {}, {})").format(time, literal(written), literal(same))
    kinds = found.sql.SQL(
        "CASE WHEN x = ANY({missing}) THEN NULL WHEN x = ANY({true}) THEN '#1' WHEN x = ANY({false}) THEN '#'"
        " WHEN x ~ '^[0-9]+([.][0-9]+)?$' THEN '#' || ltrim(replace(x, '.', ''), '0')"
        " WHEN x ~ {number} THEN CASE WHEN left(x, 1) IN ('-', '−') THEN '-' ELSE '#' END || ltrim({digits}, '0')"
        " WHEN strpos(x, ':') > 0 THEN '=' || {time} ELSE '=' || x END"
    ).format(
        missing=literal(list(MISSING_WORDS)),
        true=literal(list(TRUE_WORDS)),
        false=literal(list(FALSE_WORDS)),
        number=literal(f"^{NUMBER}$"),
        digits=digits,
        time=time,
    )
    long = f"left(x, 1) || ((substr(x, 2, {PLACES + 1})::bigint + 5) / 10)::text"
    rounded = (
        f"CASE WHEN left(x, 1) = '=' THEN x WHEN x = '-' THEN '#' ELSE"
        f" rtrim(CASE WHEN octet_length(x) > {PLACES + 1} THEN {long} ELSE x END, '0') END"
    )
    steps = found.sql.SQL("SELECT x FROM unnest(cells) AS one(x)")
    for step in (tidy, kinds, found.sql.SQL(rounded), found.sql.SQL("octet_length(x) || ':' || x")):
        steps = found.sql.SQL("SELECT {} AS x FROM ({}) AS cells OFFSET 0").format(step, steps)
    lanes = ", ".join(
        f"coalesce(sum(('x' || substr(hash, {at}, 16))::bit(64)::bigint::numeric"
        f" + CASE WHEN substr(hash, {at}, 1) >= '8' THEN 18446744073709551616 ELSE 0 END), 0)"
        for at in (1, 17, 33, 49)
    )
    return found.sql.SQL(
        "SELECT count(*), {lanes} FROM"
        " (SELECT encode(sha256(convert_to(marks || told, 'UTF8')), 'hex') COLLATE \"C\" AS hash"
        " FROM pg_temp.allowance_keys, pg_temp.allowance_rows CROSS JOIN LATERAL"
        " (SELECT string_agg(x, '' ORDER BY x COLLATE \"C\") AS told FROM ({steps}) AS cells) AS row"
        " WHERE told <> '') AS hashed"
    ).format(lanes=found.sql.SQL(lanes), steps=steps)
