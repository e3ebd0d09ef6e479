"""A table with rows that may not leave their database: coded there, into a table of ours beside it.

One transaction sees the raw table at one moment and only reads it. It creates a table in the schema `allowance` with
codes and no text (coding_expressions.py). That table is never written again: triggers refuse it to everybody, their
removal is noticed before the next question, and a newer state is another table. Only two things leave the database: the
number of rows or people, and the sums of keyed hashes that identify content (marks.py), computed there in the same
canonical form. Meanwhile the texts are in a temporary table of that transaction, which no other sees.

The keys of the hashes reach the database as data of a COPY, neither in a statement nor as a parameter: a database may
write both to its log. They are derived from the workspace's secret for this one purpose.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from functools import partial

from dpengine.core.errors import AllowanceError
from dpengine.core.libpq import AS_MADE, Driver
from dpengine.declared.cell_kinds import WORD
from dpengine.declared.dialect import Dialect, check_names
from dpengine.declared.schema import Category, ItemSet, Schema
from dpengine.declared.source import Joined, Source
from dpengine.declared.spelling import SPACES
from dpengine.declared.summary import PersonRows, Staying, tables_of
from dpengine.declared.unit import Unit
from dpengine.intake.bring_in import Declared, refuse_absent
from dpengine.intake.coding_expressions import TEXTS, listed, refuse_uncodable
from dpengine.intake.coding_sets import KEYS, POSTGRES, SET_TEXTS, coded_rows, cut_sizes, separators
from dpengine.intake.join_files import JoinWords, join_sql
from dpengine.intake.load import Loaded
from dpengine.intake.marks import (
    ALIKE,
    FALSE_WORDS,
    LANES,
    MISSING_WORDS,
    PLACES,
    PRIME,
    TIMES,
    TRUE_WORDS,
    address_mark,
    mark_of,
    row_key,
)
from dpengine.intake.person_rows import TextWords, labels_of, texts_sql
from dpengine.intake.postgres import Snapshot, in_snapshot, with_connection
from dpengine.intake.rows_per_person import PERSON
from dpengine.statistics.counts import cut_name

OURS = "allowance"
EVERY = "_every"  # suffix of the table of every row (statistics.engines.every_row)
_LETTERS = """
    SELECT collname FROM pg_catalog.pg_collation
    WHERE collnamespace = 'pg_catalog'::pg_catalog.regnamespace AND collname IN ('und-x-icu', 'default')
        AND collisdeterministic ORDER BY collname = 'default'
"""
_SMALL = 'lower({} COLLATE pg_catalog."{}") COLLATE "C"'
_SINGLY = "Σİ", "σi"  # marks.py lowers letters one by one: the last of a word like any other
_MAY = """
    SELECT CASE WHEN to_regnamespace(%(ours)s) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
        ELSE has_schema_privilege(%(ours)s, 'CREATE') END AND has_database_privilege(current_database(), 'TEMP')
        AND EXISTS (SELECT FROM pg_language WHERE lanname = 'plpgsql' AND has_language_privilege(oid, 'USAGE')),
        to_regnamespace(%(ours)s) IS NOT NULL
"""
NUMBER = "[+−-]?[0-9.,’ \u00a0\u2009\u202f]*[0-9][.,]?(e[+-]?[0-9]+)?"
SIGNS = ".,’ \u00a0\u2009\u202f+-−"


def code_table(
    source: Staying, name: str, declared: Declared, report: Callable[[float], None] = lambda share: None
) -> Loaded:
    """Code the table as `allowance.<name>`. If it is refused, nothing of it stays."""
    refuse_uncodable(declared.schema)
    if isinstance(source, PersonRows):
        refuse_uncodable(source.inputs)
    first, *others = tables_of(source)
    code = partial(_code_table, source=source, name=name, declared=declared, report=report)
    return in_snapshot(first, code, writes=True, also=others[0] if others else None)


def drop(source: Source, *names: str) -> None:
    """Delete these coded tables from the source's database."""

    def delete(psycopg: Driver, connection: Driver) -> None:
        for name in (*names, *(f"{name}{EVERY}" for name in names)):
            for kind in ("TABLE IF EXISTS {}", "FUNCTION IF EXISTS {}()"):
                connection.execute(psycopg.sql.SQL(f"DROP {kind}").format(psycopg.sql.Identifier(OURS, name)))

    with_connection(source, delete)


def _code_table(
    snapshot: Snapshot, source: Staying, name: str, declared: Declared, report: Callable[[float], None]
) -> Loaded:
    schema, unit, secret = declared.schema, declared.unit, declared.secret
    run, columns = snapshot.connection.execute, _columns(snapshot, source)
    refuse_absent(declared, columns)
    if snapshot.encoding != "UTF8":
        raise AllowanceError("source.in_place_encoding")
    letters = _letters(snapshot)
    may, there = run(_MAY, {"ours": OURS}).fetchone()
    if not may:
        raise AllowanceError("source.in_place_forbidden", schema=OURS)
    run("SET LOCAL standard_conforming_strings TO on")
    if not there:
        run(snapshot.sql.SQL("CREATE SCHEMA {}").format(snapshot.sql.Identifier(OURS)))
    _keys(snapshot, secret)
    parts = _lay(snapshot, source, schema, declared.dialect, letters, secret)
    report(0.3)
    _lists(snapshot, schema)
    fingerprint = _mark(snapshot, letters, secret)
    report(0.6)
    rows = _create(snapshot, name, declared, columns, letters)
    identity = _protect(snapshot, name, schema, unit)
    if unit.id_column is not None and schema.of_kind(ItemSet):
        _create(snapshot, name + EVERY, declared, columns, letters)
        identity += f" {_protect(snapshot, name + EVERY, schema, unit)}"
    if unit.id_column is None and not rows:
        raise AllowanceError("source.no_rows")
    people = rows
    if unit.id_column is not None:
        counted = snapshot.sql.SQL("SELECT count(DISTINCT {}) FROM {}")
        counted = counted.format(snapshot.sql.Identifier(PERSON), snapshot.sql.Identifier(OURS, name))
        people = int(run(counted).fetchone()[0])
    report(0.95)
    tables = [] if isinstance(source, PersonRows) else [table for table in (snapshot, snapshot.beside) if table]
    places = tuple(address_mark(place, secret) for table in tables for place in table.described.places)
    seen = snapshot.described.seen
    return Loaded(rows, tuple(columns), fingerprint, parts, addresses=places, seen=seen, people=people, made=identity)


def _columns(snapshot: Snapshot, source: Staying) -> list[str]:
    """The names of the columns that the rows to be coded have."""
    if isinstance(source, PersonRows):
        return [str(source.unit.id_column), *source.summaries]
    own, *others = (
        check_names([column.name for column in table.described.columns])
        for table in (snapshot, snapshot.beside)
        if table is not None
    )
    return source.names(own, others[0]) if isinstance(source, Joined) else own


def _lay(
    snapshot: Snapshot, source: Staying, schema: Schema, dialect: Dialect, letters: str, secret: bytes
) -> tuple[str, ...]:
    """Write all rows' texts to the temporary table `allowance_rows`. Returns the marks of two joined tables."""
    run = snapshot.connection.execute
    if isinstance(source, PersonRows):
        rows = source.rows
        _lay(snapshot, rows, source.schema, source.dialect, letters, secret)
        if _mark(snapshot, letters, secret) != source.mark:
            raise AllowanceError("source.moved_on", table=snapshot.table)
        _summarise(snapshot, source, _columns(snapshot, rows), letters)
        return ()
    marks = []
    for table in (snapshot, snapshot.beside):
        if table is not None:
            run("SET LOCAL search_path TO DEFAULT")
            _texts(table, schema, dialect)
            run("SET LOCAL search_path TO pg_temp, pg_catalog")
            if isinstance(source, Joined):
                marks.append(_mark(snapshot, letters, secret))
                run(f"ALTER TABLE pg_temp.allowance_rows RENAME TO allowance_{len(marks)}")
    if isinstance(source, Joined):
        _join(snapshot, source)
    return tuple(dict.fromkeys(mark for mark in marks if mark))


def _join(snapshot: Snapshot, joined: Joined) -> None:
    """Join the rows of the two tables, as join_files.py joins files."""
    assert snapshot.beside is not None
    names = [[column.name for column in table.described.columns] for table in (snapshot, snapshot.beside)]
    first, second = (check_names(own) for own in names)
    widths, places = (len(first), len(second)), (first.index(joined.on[0]), second.index(joined.on[1]))

    def mark(cells: list[str]) -> str:
        lengths = " || ".join(f"coalesce(octet_length({cell}) || ':' || {cell}, '-')" for cell in cells)
        return f"sha256(convert_to((SELECT rows FROM pg_temp.allowance_keys) || {lengths}, 'UTF8'))"

    words = JoinWords(lambda side, place: f"{side}cells[{place + 1}]", _trimmed, mark)
    tables = "pg_temp.allowance_1", "pg_temp.allowance_2"
    cells, rows = join_sql(*tables, widths, places, words, joined.everybody)
    run = snapshot.connection.execute
    run(f"CREATE TEMP TABLE allowance_rows ON COMMIT DROP AS SELECT ARRAY[{', '.join(cells)}] AS cells FROM {rows}")
    for table in tables:
        run(f"DROP TABLE {table}")


def _summarise(snapshot: Snapshot, source: PersonRows, columns: list[str], letters: str) -> None:
    """Replace `allowance_rows` by one row for each person, as person_rows.py makes them of a file."""
    run, inputs, summaries = snapshot.connection.execute, source.inputs, list(source.summaries.values())
    _lists(snapshot, inputs)
    coded = _coded(inputs, source.unit, source.dialect, columns, letters, every=True)
    run(snapshot.sql.SQL("CREATE TEMP TABLE allowance_inputs ON COMMIT DROP AS ") + snapshot.sql.SQL(coded))
    run("CREATE TEMP TABLE labels (list bigint, place bigint, label text) ON COMMIT DROP")
    with snapshot.connection.cursor() as cursor, cursor.copy("COPY pg_temp.labels FROM STDIN") as copy:
        for entry in labels_of(inputs, summaries):
            copy.write_row(entry)
    who = _who(source.unit, columns)
    each = f"SELECT DISTINCT {who} AS who FROM pg_temp.allowance_rows WHERE {who} <> ''"
    ids = f"SELECT dense_rank() OVER (ORDER BY who) - 1 AS {PERSON}, who FROM ({each}) AS each"
    words = TextWords("text", lambda first, days: f"DATE '{first}' + {days}::integer")
    texts = texts_sql("pg_temp.allowance_inputs", inputs, summaries, source.dialect.decimal, words)
    cells = ", ".join(["who", *(f"x{at}" for at, _ in enumerate(summaries))])
    made = f"SELECT ARRAY[{cells}]::text[] AS cells FROM ({ids}) AS ids JOIN ({texts}) AS each_person USING ({PERSON})"
    run(f"CREATE TEMP TABLE allowance_made ON COMMIT DROP AS {made}")
    for table in ("allowance_inputs", "allowance_rows"):
        run(f"DROP TABLE pg_temp.{table}")
    run("ALTER TABLE pg_temp.allowance_made RENAME TO allowance_rows")


def _create(snapshot: Snapshot, name: str, declared: Declared, columns: list[str], letters: str) -> int:
    """Create a coded table and return its number of rows. If its name ends in EVERY, it is that of all rows."""
    every, unit = name.endswith(EVERY), declared.unit
    coded = snapshot.sql.SQL(_coded(declared.schema, unit, declared.dialect, columns, letters, every))
    target = snapshot.sql.Identifier(OURS, name)
    created = snapshot.connection.execute(snapshot.sql.SQL("CREATE TABLE {} AS ").format(target) + coded)
    wanted = snapshot.connection.execute(_wanted(unit, columns, every)).fetchone()
    if int(created.rowcount) != int(wanted[0]):  # cannot happen; a person with more rows would not be covered
        raise AllowanceError("source.unreadable", table=snapshot.table)
    return int(created.rowcount)


def _protect(snapshot: Snapshot, name: str, schema: Schema, unit: Unit) -> str:
    """Check that every code is present and within its column's range, then protect the table from writing by anybody,
    its owner and superusers too, unless they remove the triggers first. Returns the table's identity (libpq.AS_MADE),
    by which a change is noticed before the next question is charged."""
    run, sql = snapshot.connection.execute, snapshot.sql
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


def _texts(snapshot: Snapshot, schema: Schema, dialect: Dialect) -> None:
    """Create `allowance_rows`: the texts of all cells, without empty rows. A row is one array: Postgres stores a long
    array outside the page, which has no room for a long row of many short cells."""
    sql = snapshot.sql
    cells = snapshot.cells(dialect, separators(schema))
    some = sql.SQL("EXISTS (SELECT FROM unnest(cells) AS cell(x) WHERE btrim(x, {}) <> '')").format(
        sql.Literal(" \t\"',")
    )
    query = sql.SQL(
        "CREATE TEMP TABLE allowance_rows ON COMMIT DROP AS"
        " SELECT cells FROM (SELECT ARRAY[{}] AS cells FROM {} OFFSET 0) AS all_rows WHERE {}"
    ).format(sql.SQL(", ").join(cells), snapshot.here, some if len(cells) > 1 else sql.SQL("true"))
    snapshot.connection.execute(query)


def _cell(columns: list[str], name: str) -> str:
    return f"cells[{columns.index(name) + 1}]"


def _lists(snapshot: Snapshot, schema: Schema) -> None:
    """Create the table of the declared lists."""
    run = snapshot.connection.execute
    kinds = 'list bigint, spelled text COLLATE "C", place bigint, kind bigint'
    run("DROP TABLE IF EXISTS pg_temp.lists")
    run(f"CREATE TEMP TABLE lists ({kinds}) ON COMMIT DROP")
    with snapshot.connection.cursor() as cursor, cursor.copy("COPY pg_temp.lists FROM STDIN") as copy:
        for entry in listed(schema):
            copy.write_row((entry.column, entry.spelled, entry.place, entry.kind))


def _keys(snapshot: Snapshot, secret: bytes) -> None:
    snapshot.connection.execute("CREATE TEMP TABLE allowance_keys (rows text, marks text, items text) ON COMMIT DROP")
    with snapshot.connection.cursor() as cursor, cursor.copy("COPY pg_temp.allowance_keys FROM STDIN") as copy:
        copy.write_row((choosing_key("rows", secret), row_key(secret), choosing_key("items", secret)))


def choosing_key(what: str, secret: bytes) -> str:
    """A key derived for one purpose: choosing rows or items in a database."""
    return hmac.new(secret, f"allowance: which {what}, in place".encode(), hashlib.sha256).hexdigest()


def _who(unit: Unit, columns: list[str]) -> str:
    return _trimmed(_cell(columns, str(unit.id_column)))


def _trimmed(cell: str) -> str:
    return f"btrim(normalize({cell}, NFC), '{SPACES}') COLLATE \"C\""


def _wanted(unit: Unit, columns: list[str], every: bool) -> str:
    """SQL for the number of rows that must be coded, counted in another way than they are chosen."""
    if unit.id_column is None:
        return "SELECT count(*) FROM pg_temp.allowance_rows"
    who = _who(unit, columns)
    each = f"SELECT count(*) AS n FROM pg_temp.allowance_rows WHERE {who} <> '' GROUP BY {who}"
    return f"SELECT coalesce(sum({'n' if every else f'least(n, {unit.at_most})'}), 0) FROM ({each}) AS each"


def _coded(schema: Schema, unit: Unit, dialect: Dialect, columns: list[str], letters: str, every: bool = False) -> str:
    """SQL for the coded rows: at most the declared number of each person, by keyed hash; with `every` all rows."""
    cells = [
        _SMALL.format(_cell(columns, name), letters) if isinstance(column, Category) else _cell(columns, name)
        for name, column in schema.columns.items()
    ]
    texts = ", ".join(f"{cell} AS t{at}" for at, cell in enumerate(cells))
    rows, kept = f"SELECT {texts} FROM pg_temp.allowance_rows", tuple[str, ...]()
    if unit.id_column is not None:
        kept = (PERSON,)
        who = _who(unit, columns)
        row_text = (
            "SELECT string_agg(coalesce(octet_length(x) || ':' || x, '-'), '' ORDER BY at)"
            " FROM unnest(cells) WITH ORDINALITY AS cell(x, at)"
        )
        hashed = f"sha256(convert_to((SELECT rows FROM pg_temp.allowance_keys) || ({row_text}), 'UTF8'))"
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


def _letters(snapshot: Snapshot) -> str:
    """The collation for lower case by our own rules. The database's or a column's may not know Š as a letter; the same
    rows would then differ from those of a file."""
    run = snapshot.connection.execute
    for (name,) in run(_LETTERS).fetchall():
        small = _SMALL.format("'ČŠÉIΩ'", name)
        if run(f"SELECT {small} = 'čšéiω'").fetchone()[0]:
            return str(name)
    raise AllowanceError("source.in_place_letters")


def _mark(snapshot: Snapshot, letters: str, secret: bytes) -> str:
    """The mark of the rows in `allowance_rows`; "" if none holds a cell that counts."""
    run = snapshot.connection.execute
    run("CREATE OR REPLACE AGGREGATE pg_temp.allowance_product(numeric) (SFUNC = numeric_mul, STYPE = numeric)")
    count, *sums = run(_marks(snapshot, letters)).fetchone()
    return mark_of([int(count), *map(int, sums)], secret) if count else ""


def _marks(snapshot: Snapshot, letters: str) -> Driver:
    """SQL for the number of rows that are not empty, and the sums of their products, as marks.py computes them."""
    literal = snapshot.sql.Literal
    alike = "btrim(regexp_replace({}, ' +', ' ', 'g'))"
    bare = f"translate(normalize(translate(x, {{}}, {{}}), NFC), '{_SINGLY[0]}', '{_SINGLY[1]}')"
    tidy = snapshot.sql.SQL(_SMALL.format(alike.format(bare), letters)).format(*map(literal, ALIKE))
    ascii_too = snapshot.sql.SQL(f"lower({alike.format('translate(x, {}, {})')})").format(*map(literal, ALIKE))
    tidy = snapshot.sql.SQL("CASE WHEN octet_length(x) = length(x) THEN {} ELSE {} END").format(ascii_too, tidy)
    digits = snapshot.sql.SQL("translate(split_part(x, 'e', 1), {}, '')").format(literal(SIGNS))
    time = snapshot.sql.SQL("x")
    for written, same in TIMES:
        time = snapshot.sql.SQL("regexp_replace({}, {}, {})").format(time, literal(written), literal(same))
    kinds = snapshot.sql.SQL(
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
    steps = snapshot.sql.SQL("SELECT x FROM unnest(cells) AS cell(x)")
    for step in (tidy, kinds, snapshot.sql.SQL(rounded)):
        steps = snapshot.sql.SQL("SELECT {} AS x FROM ({}) AS cells OFFSET 0").format(step, steps)
    number = f"(('x' || substr(hash, {{}}, 8))::bit(32)::bigint % {PRIME})::numeric"
    places = range(1, 1 + 8 * LANES, 8)
    products = ", ".join(f"pg_temp.allowance_product({number.format(at)}) % {PRIME} AS p{at}" for at in places)
    sums = ", ".join(f"coalesce(sum(p{at}), 0)" for at in places)
    return snapshot.sql.SQL(
        f"SELECT count(*), {sums} FROM pg_temp.allowance_keys, pg_temp.allowance_rows CROSS JOIN LATERAL"
        f" (SELECT count(*) AS counted, {products} FROM"
        " (SELECT encode(sha256(convert_to(marks || x, 'UTF8')), 'hex') AS hash FROM ({}) AS cells WHERE x IS NOT NULL"
        " OFFSET 0) AS hashes) AS products WHERE counted > 0"
    ).format(steps)
