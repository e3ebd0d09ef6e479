"""A table in a lake: Parquet that Spark reads, or a table of its catalogue, coded by Spark into Parquet in the table's
own folder.

As in in_place.py, only two things leave Spark: the number of rows or people, and the sums of keyed hashes that identify
content. Their keys are read from a file beside the codes, which is deleted afterwards, so they are in no statement and
no plan, which another Spark may show or write down. The files are listed once. Texts that are read twice, for the marks
and for the codes, are kept on Spark's own disks in between, encrypted. People are noted as keyed hashes, each with a
number.

Spark does not compose letters (NFC): ids that differ only in that are two people here, and such rows are not recognised
as those of a file. Spark's machines must reach the folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError
from dpengine.core.libpq import Driver
from dpengine.declared.dialect import LONGEST_RECORD, MOST_COLUMNS, Dialect, check_names
from dpengine.declared.schema import ItemSet, Schema
from dpengine.declared.source import Source
from dpengine.declared.spelling import SPACES
from dpengine.declared.unit import Unit
from dpengine.intake.coding_expressions import LISTS, TEXTS, listed, refuse_uncodable
from dpengine.intake.coding_sets import KEYS, SET_TEXTS, SPARK, coded_rows, separators
from dpengine.intake.in_place import NUMBER, SIGNS, choosing_key
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
from dpengine.intake.postgres import SET_SEPARATOR, Described, SourceColumn, refuse_changed
from dpengine.intake.rows_per_person import PERSON
from dpengine.statistics.engines import SparkRows, every_row

_numbers = count()
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_AS_TEXT = ("boolean", *_WHOLE, "date", "timestamp", "timestamp_ntz")


class Lake:
    """The files of a source as a table of a Spark session, under names that are unique in it."""

    def __init__(self, session: Driver, view: str, source: Source) -> None:
        self.session, self.source, self.mark = session, source, next(_numbers)
        self.view = view
        self.kinds = [(field.name, field.dataType.simpleString()) for field in session.table(view).schema.fields]
        if len(self.kinds) > MOST_COLUMNS:
            raise AllowanceError("load.many_columns", most=MOST_COLUMNS)
        self.names = check_names([name for name, _ in self.kinds])

    @property
    def described(self) -> Described:
        columns = tuple(SourceColumn(name, kind, _category(kind)) for name, kind in self.kinds)
        return Described(columns, (self.source.lake_place(),))

    def named(self, name: str) -> str:
        return f"allowance_{self.mark}_{name}"

    def table(self, name: str, rows: Driver) -> str:
        rows.createOrReplaceTempView(self.named(name))
        return self.named(name)


@contextmanager
def reading(source: Source, spill: Callable[[], Path] | None) -> Iterator[Lake]:
    """Drops Spark's error messages: they may quote a value. `spill`: the folder for what exceeds Spark's memory."""
    try:
        from dpengine.statistics.engines.spark import BROKEN, CONNECT, SparkEngine
    except ImportError:
        raise AllowanceError("source.driver_spark") from None
    failed, engine = "source.lake", SparkEngine(spill)
    try:
        session = engine.session_apart(source.spark)  # the coded rows of other tables have no name in it
        if source.snapshot:  # each format has its own errors for a state that it does not have
            failed = "source.no_state"
        lake = Lake(session, _view(session, source), source)
        failed = "source.lake"
        yield lake
        failed = ""
    except BROKEN:
        pass
    finally:
        if source.spark.startswith(CONNECT):  # opened for this source; a later one may use another Spark
            engine.stop()
    if failed:
        raise AllowanceError(failed, path=source.table, snapshot=source.snapshot) from None


def _view(session: Driver, source: Source) -> str:
    """The table under a name of ours; its files are looked up once."""
    if source.path:
        rows = session.read.parquet(source.path)
    else:
        named = ".".join(f"`{part.replace('`', '``')}`" for part in source.names)
        state = f" VERSION AS OF '{source.snapshot}'" if source.snapshot else ""
        rows = session.sql(f"SELECT * FROM {named}{state}")
    view = f"allowance_lake_{next(_numbers)}"
    rows.createOrReplaceTempView(view)
    return view


def describe_lake(source: Source, spill: Callable[[], Path] | None = None) -> Described:
    with reading(source, spill) as lake:
        return lake.described


def code_table(
    source: Source,
    target: Path,
    schema: Schema,
    unit: Unit,
    dialect: Dialect,
    secret: bytes,
    report: Callable[[float], None] | None = None,
    spill: Callable[[], Path] | None = None,
) -> Loaded:
    """Code the table into the folder `target`. A refusal leaves nothing of it behind."""
    refuse_uncodable(schema, "pyspark")
    beside, every = target.with_suffix(".beside"), Path(every_row(SparkRows(str(target))).path)
    for left in (beside, target, every):  # left by a killed program
        shutil.rmtree(left, ignore_errors=True)
    beside.mkdir(mode=0o700)
    try:
        with reading(source, spill) as lake:
            return _code_table(lake, target, beside, schema, unit, dialect, secret, report or (lambda share: None))
    except BaseException as refusal:
        refusal.__context__ = None  # an error below it may quote a cell
        for left in (target, every):
            shutil.rmtree(left, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _code_table(
    lake: Lake,
    target: Path,
    beside: Path,
    schema: Schema,
    unit: Unit,
    dialect: Dialect,
    secret: bytes,
    report: Callable[[float], None],
) -> Loaded:
    from pyspark import StorageLevel

    for name in (*schema.columns, *([unit.id_column] if unit.id_column else [])):
        if name not in lake.names:
            raise AllowanceError("column.absent", column=name, columns=lake.names)
    refuse_changed(lake.source.seen, lake.described.seen)
    texts = lake.session.sql(_texts(lake, schema, dialect)).persist(StorageLevel.DISK_ONLY)
    try:
        rows = lake.table("rows", texts)
        key_of = {what: [choosing_key(what, secret)] for what in ("rows", "items")} | {"marks": [row_key(secret)]}
        pq.write_table(pa.table(key_of), beside / "keys.parquet")
        keys = lake.table("keys", lake.session.read.parquet(str(beside / "keys.parquet")))
        marks = _marks(rows, len(lake.names), f"(SELECT marks FROM {keys})")
        count, *sums = lake.session.sql(marks).toArrow().to_pylist()[0].values()
        report(0.4)
        people = _code(lake, rows, target, beside, schema, unit, dialect, keys)
    finally:
        texts.unpersist()
    report(0.95)
    coded = int(lake.session.read.parquet(str(target)).count())
    if not coded and unit.id_column is None:
        raise AllowanceError("source.no_rows")
    fingerprint = mark_of([int(count), *map(int, sums)], secret) if count else ""
    addresses = tuple(address_mark(place, secret) for place in lake.described.places)
    about = coded if people is None else people
    return Loaded(coded, tuple(lake.names), fingerprint, addresses=addresses, seen=lake.described.seen, people=about)


def _code(
    lake: Lake, rows: str, target: Path, beside: Path, schema: Schema, unit: Unit, dialect: Dialect, keys: str
) -> int | None:
    """Write the coded rows; returns the number of people if it is not the number of rows."""
    chosen, everyone, people, key = rows, "", None, f"(SELECT rows FROM {keys})"
    if unit.id_column is not None:
        own = lake.names.index(unit.id_column)
        who = f"trim(BOTH '{SPACES}' FROM replace(r{own}, chr(0), ''))"
        cells = ", ".join(f"coalesce(concat(octet_length(r{at}), ':', r{at}), '-')" for at, _ in enumerate(lake.names))
        hashes = f"sha2(concat({key}, {who}), 256) AS who, sha2(concat({key}, {cells}), 256) AS mark"
        known = lake.table("known", lake.session.sql(f"SELECT *, {hashes} FROM {rows} WHERE {who} <> ''"))
        numbered = f"SELECT who, monotonically_increasing_id() AS {PERSON} FROM (SELECT DISTINCT who FROM {known})"
        # Written down before use: counted again, somebody could get another number.
        lake.session.sql(numbered).write.parquet(str(beside / "people.parquet"))
        numbers = lake.session.read.parquet(str(beside / "people.parquet"))
        people = int(numbers.count())
        numbers_of = lake.table("people", numbers)
        ranked = f"SELECT *, row_number() OVER (PARTITION BY who ORDER BY mark) AS place FROM {known}"
        everyone = f"SELECT * FROM ({ranked}) JOIN {numbers_of} USING (who)"
        chosen = lake.table("chosen", lake.session.sql(f"{everyone} WHERE place <= {unit.at_most}"))
    kinds = pa.schema({"list": pa.int64(), "spelled": pa.string(), "place": pa.int64(), "kind": pa.int64()})
    spelled = [dict(zip(kinds.names, astuple(entry), strict=True)) for entry in listed(schema)]
    pq.write_table(pa.Table.from_pylist(spelled, kinds), beside / "lists.parquet")
    lists = lake.table("lists", lake.session.read.parquet(str(beside / "lists.parquet")))

    def write(from_rows: str, to: str, cut: bool) -> None:
        kept = (PERSON,) if unit.id_column is not None else ()
        places = [lake.names.index(name) for name in schema.columns]
        texts = ", ".join(f"r{place} AS t{at}" for at, place in enumerate(places))
        tables = {TEXTS: f"SELECT {', '.join([texts, *kept])} FROM {from_rows}", LISTS: f"SELECT * FROM {lists}"}
        tables |= {SET_TEXTS: f"SELECT {texts} FROM {rows}"}  # faster than choosing rows once more
        tables |= {KEYS: f"SELECT items FROM {keys}"} | coded_rows(SPARK, schema, dialect, "lower({})", kept, cut)
        named = ", ".join(f"{name} AS ({query})" for name, query in tables.items())
        lake.session.sql(f"WITH {named} SELECT * FROM coded").write.parquet(to)

    write(chosen, str(target), cut=unit.id_column is None)
    if everyone and schema.of_kind(ItemSet):
        write(lake.table("everyone", lake.session.sql(everyone)), every_row(SparkRows(str(target))).path, cut=True)
    return people


def _category(kind: str) -> str:
    if kind.startswith("array"):
        return "A"
    days = kind in ("date", "timestamp", "timestamp_ntz")
    number = kind in (*_WHOLE, "float", "double") or kind.startswith("decimal")
    return "B" if kind == "boolean" else "D" if days else "N" if number else "S" if kind == "string" else ""


def _texts(lake: Lake, schema: Schema, dialect: Dialect) -> str:
    """All cells as texts r0, r1, …, without empty rows."""
    width = len(lake.kinds)
    longest = LONGEST_RECORD // (2 * width) - 4
    between = separators(schema)
    cells = [
        f"{_cell(name, kind, dialect, between.get(own, SET_SEPARATOR))} AS r{at}"
        for at, (own, (name, kind)) in enumerate(zip(lake.names, lake.kinds, strict=True))
    ]
    bounded = [f"CASE WHEN octet_length(r{at}) <= {longest} THEN r{at} END AS r{at}" for at in range(width)]
    some = " OR ".join(f"""trim(BOTH ' \t"'',' FROM coalesce(r{at}, '')) <> ''""" for at in range(width))
    where = f" WHERE {some}" if width > 1 else ""
    return f"SELECT {', '.join(bounded)} FROM (SELECT {', '.join(cells)} FROM {lake.view}){where}"


def _cell(name: str, kind: str, dialect: Dialect, between: str) -> str:
    own = "`" + name.replace("`", "``") + "`"
    text = f"CAST({own} AS STRING)"
    if kind in _AS_TEXT or kind == "string":
        return text
    signed = f"replace({text}, '.', ',')" if dialect.decimal == "," else text
    if kind.startswith("decimal"):
        return signed
    if kind in ("float", "double"):
        return (
            f"CASE WHEN isnan({own}) THEN NULL WHEN {text} = 'Infinity' THEN 'inf'"
            f" WHEN {text} = '-Infinity' THEN '-inf' ELSE {signed} END"
        )
    if kind.startswith("array<") and kind[6:-1] in (*_AS_TEXT, "string", "float", "double"):
        items = own if kind == "array<string>" else f"CAST({own} AS ARRAY<STRING>)"
        return f"array_join({items}, decode(unhex('{between.encode().hex()}'), 'UTF-8'))"
    return "CAST(NULL AS STRING)"


def _marks(rows: str, width: int, key: str) -> str:
    """SQL for the number of non-empty rows, and the sums of their keyed hashes: as marks.py, cell by cell."""
    missing, true, false = (
        ", ".join(f"'{word}'" for word in words) for words in (MISSING_WORDS, TRUE_WORDS, FALSE_WORDS)
    )
    signs, alike = (text.replace("'", "\\'") for text in ALIKE)
    digits = f"translate(split_part(x, 'e', 1), '{SIGNS}', '')"
    time = "x"
    for written, same in TIMES:
        replaced = same.replace("\\1", "$1").replace("\\2", "$2")
        time = f"regexp_replace({time}, r'{written}', '{replaced}')"
    long = f"concat(left(x, 1), CAST((CAST(substr(x, 2, {PLACES + 1}) AS BIGINT) + 5) div 10 AS STRING))"
    steps = (
        f"lower(trim(regexp_replace(translate(x, '{signs}', '{alike}'), ' +', ' ')))",
        f"CASE WHEN x IN ({missing}) THEN NULL WHEN x IN ({true}) THEN '#1' WHEN x IN ({false}) THEN '#'"
        " WHEN x RLIKE r'^[0-9]+([.][0-9]+)?$' THEN concat('#', trim(LEADING '0' FROM replace(x, '.', '')))"
        f" WHEN x RLIKE r'^{NUMBER}$' THEN concat(CASE WHEN left(x, 1) IN ('-', '−') THEN '-' ELSE '#' END,"
        f" trim(LEADING '0' FROM {digits})) WHEN contains(x, ':') THEN concat('=', {time}) ELSE concat('=', x) END",
        "CASE WHEN left(x, 1) = '=' THEN x WHEN x = '-' THEN '#' ELSE trim(TRAILING '0' FROM"
        f" CASE WHEN octet_length(x) > {PLACES + 1} THEN {long} ELSE x END) END",
        "concat(octet_length(x), ':', x)",
    )
    cells = f"array({', '.join(f'r{at}' for at in range(width))})"
    for step in steps:
        cells = f"transform({cells}, x -> {step})"
    row_text = f"SELECT array_join(array_sort(filter({cells}, x -> x IS NOT NULL)), '') AS row_text FROM {rows}"
    lanes = [f"CAST(conv(substr(hash, {at}, 16), 16, 10) AS DECIMAL(20, 0))" for at in (1, 17, 33, 49)]
    sums = ", ".join(f"coalesce(sum({lane}), 0) AS s{at}" for at, lane in enumerate(lanes))
    hashes = f"SELECT sha2(concat({key}, row_text), 256) AS hash FROM ({row_text}) WHERE row_text <> ''"
    return f"SELECT count(*) AS n, {sums} FROM ({hashes})"
