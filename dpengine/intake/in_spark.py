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
from dpengine.declared.source import Joined, Source
from dpengine.declared.spelling import SPACES
from dpengine.declared.summary import PersonRows, Staying, tables_of
from dpengine.declared.unit import Unit
from dpengine.intake.bring_in import Declared, refuse_absent
from dpengine.intake.coding_expressions import LISTS, TEXTS, listed, refuse_uncodable
from dpengine.intake.coding_sets import KEYS, SET_TEXTS, SPARK, coded_rows, separators
from dpengine.intake.in_place import NUMBER, SIGNS, choosing_key
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
from dpengine.intake.postgres import SET_SEPARATOR, Described, SourceColumn, refuse_changed
from dpengine.intake.rows_per_person import PERSON
from dpengine.statistics.engines import SparkRows, every_row

_numbers = count()
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_AS_TEXT = ("boolean", *_WHOLE, "date", "timestamp", "timestamp_ntz")


class Lake:
    """A session of Spark with the source's files, and temporary tables under names that are unique in it."""

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
    """A context with a `Lake`. Errors of Spark become one sentence, since their text may quote a value. `spill`: the
    folder for what exceeds Spark's memory."""
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
    """The name of the source's table in this session. Its files are listed once."""
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
    source: Staying,
    target: Path,
    declared: Declared,
    report: Callable[[float], None] = lambda share: None,
    spill: Callable[[], Path] | None = None,
) -> Loaded:
    """Code the table into the folder `target`. If it is refused, nothing of it stays."""
    refuse_uncodable(declared.schema, "pyspark")
    if isinstance(source, PersonRows):
        refuse_uncodable(source.inputs, "pyspark")
    beside, every = target.with_suffix(".beside"), Path(every_row(SparkRows(str(target))).path)
    for left in (beside, target, every):  # left by a killed program
        shutil.rmtree(left, ignore_errors=True)
    beside.mkdir(mode=0o700)
    try:
        with reading(tables_of(source)[0], spill) as lake:
            return _code_table(lake, source, target, beside, declared, report)
    except BaseException as refusal:
        refusal.__context__ = None  # an error below it may quote a cell
        for left in (target, every):
            shutil.rmtree(left, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _code_table(
    lake: Lake, source: Staying, target: Path, beside: Path, declared: Declared, report: Callable[[float], None]
) -> Loaded:
    secret = declared.secret
    read = [lake, *(Lake(lake.session, _view(lake.session, other), other) for other in tables_of(source)[1:])]
    for one in read:
        refuse_changed(one.source.seen, one.described.seen)
    key_of = {what: [choosing_key(what, secret)] for what in ("rows", "items")} | {"marks": [row_key(secret)]}
    pq.write_table(pa.table(key_of), beside / "keys.parquet")
    keys = lake.table("keys", lake.session.read.parquet(str(beside / "keys.parquet")))
    laid = Laid(lake, keys, secret)
    try:
        names, rows = laid.lay(source, read, declared.schema, declared.dialect, beside)
        refuse_absent(declared, names)
        fingerprint = laid.mark(rows, len(names))
        report(0.4)
        people = _code(lake, names, rows, target, beside, declared, keys)
    finally:
        laid.let_go()
    report(0.95)
    coded = int(lake.session.read.parquet(str(target)).count())
    if not coded and declared.unit.id_column is None:
        raise AllowanceError("source.no_rows")
    places = [] if isinstance(source, PersonRows) else [place for one in read for place in one.described.places]
    addresses = tuple(address_mark(place, secret) for place in places)
    about = coded if people is None else people
    seen = lake.described.seen
    return Loaded(coded, tuple(names), fingerprint, laid.parts, addresses=addresses, seen=seen, people=about)


class Laid:
    """The texts of all rows, stored on Spark's own disks while they are marked and coded."""

    def __init__(self, lake: Lake, keys: str, secret: bytes) -> None:
        self._lake, self._keys, self._secret = lake, keys, secret
        self._held: list[Driver] = []
        self.parts: tuple[str, ...] = ()  # the marks of two tables that were joined

    def lay(
        self, source: Staying, read: list[Lake], schema: Schema, dialect: Dialect, beside: Path
    ) -> tuple[list[str], str]:
        """Store the texts; returns the columns' names, and the name of the table with the texts r0, r1, …"""
        if isinstance(source, PersonRows):
            names, rows = self.lay(source.rows, read, source.schema, source.dialect, beside)
            if self.mark(rows, len(names)) != source.mark:
                raise AllowanceError("source.moved_on", table=self._lake.source.table)
            self.parts = ()
            made = [str(source.unit.id_column), *source.summaries]
            return made, self._keep("made", _summarised(self._lake, source, names, rows, beside, self._keys))
        if not isinstance(source, Joined):
            return self._lake.names, self._keep("rows", _texts(self._lake, schema, dialect))
        first, second = read
        tables = [self._keep(f"part{at}", _texts(one, schema, dialect)) for at, one in enumerate(read)]
        marks = [self.mark(table, len(one.names)) for table, one in zip(tables, read, strict=True)]
        self.parts = tuple(dict.fromkeys(mark for mark in marks if mark))
        names = source.names(first.names, second.names)

        def mark(cells: list[str]) -> str:
            lengths = ", ".join(f"coalesce(concat(octet_length({cell}), ':', {cell}), '-')" for cell in cells)
            return f"sha2(concat(record_key, {lengths}), 256)"

        words = JoinWords(lambda side, place: f"{side}r{place}", _trimmed, mark)
        # A column, because Spark has no query inside the order of a window.
        keyed = f"(SELECT part.*, (SELECT rows FROM {self._keys}) AS record_key FROM {tables[1]} AS part)"
        widths = len(first.names), len(second.names)
        places = first.names.index(source.on[0]), second.names.index(source.on[1])
        cells, joined = join_sql(tables[0], keyed, widths, places, words, source.everybody)
        query = f"SELECT {', '.join(f'{cell} AS r{at}' for at, cell in enumerate(cells))} FROM {joined}"
        return names, self._keep("rows", query)

    def _keep(self, name: str, query: str) -> str:
        from pyspark import StorageLevel

        rows = self._lake.session.sql(query).persist(StorageLevel.DISK_ONLY)
        self._held.append(rows)
        return self._lake.table(name, rows)

    def mark(self, rows: str, width: int) -> str:
        """The mark of these rows; "" if none holds a cell that counts."""
        marks = _marks(rows, width, f"(SELECT marks FROM {self._keys})")
        count, *sums = self._lake.session.sql(marks).toArrow().to_pylist()[0].values()
        return mark_of([int(count), *map(int, sums)], self._secret) if count else ""

    def let_go(self) -> None:
        for rows in self._held:
            rows.unpersist()


def _trimmed(cell: str) -> str:
    return f"trim(BOTH '{SPACES}' FROM replace({cell}, chr(0), ''))"


def _summarised(lake: Lake, source: PersonRows, names: list[str], rows: str, beside: Path, keys: str) -> str:
    """SQL for one row for each person, as person_rows.py makes them of a file."""
    inside, inputs, summaries = beside / "inputs", source.inputs, list(source.summaries.values())
    inside.mkdir(mode=0o700)
    _, everyone = _numbered(lake, names, rows, inside, source.unit, keys)
    everyone = lake.table("of_everyone", lake.session.sql(everyone))
    lists = _lists(lake, inside, inputs)
    coded = _coding(everyone, everyone, names, inputs, source.dialect, (PERSON,), lists, keys, cut=False)
    lake.session.sql(coded).write.parquet(str(inside / "coded.parquet"))
    lake.table("inputs", lake.session.read.parquet(str(inside / "coded.parquet")))
    kinds = pa.schema({"list": pa.int64(), "place": pa.int64(), "label": pa.string()})
    entries = [dict(zip(kinds.names, entry, strict=True)) for entry in labels_of(inputs, summaries)]
    pq.write_table(pa.Table.from_pylist(entries, kinds), inside / "labels.parquet")
    labels = lake.table("labels", lake.session.read.parquet(str(inside / "labels.parquet")))
    words = TextWords("STRING", lambda first, days: f"date_add(DATE '{first}', CAST({days} AS INT))")
    texts = texts_sql(lake.named("inputs"), inputs, summaries, source.dialect.decimal, words)
    who = _trimmed(f"r{names.index(str(source.unit.id_column))}")
    ids = f"SELECT {PERSON}, min({who}) AS id FROM {everyone} GROUP BY {PERSON}"
    cells = ", ".join(["id AS r0", *(f"x{at} AS r{at + 1}" for at, _ in enumerate(summaries))])
    return f"WITH labels AS (SELECT * FROM {labels}) SELECT {cells} FROM ({ids}) JOIN ({texts}) USING ({PERSON})"


def _numbered(lake: Lake, names: list[str], rows: str, beside: Path, unit: Unit, keys: str) -> tuple[int, str]:
    """The number of people; and SQL for all rows, each with its `person` and its `place` among that person's rows."""
    who, key = _trimmed(f"r{names.index(str(unit.id_column))}"), f"(SELECT rows FROM {keys})"
    cells = ", ".join(f"coalesce(concat(octet_length(r{at}), ':', r{at}), '-')" for at, _ in enumerate(names))
    hashes = f"sha2(concat({key}, {who}), 256) AS who, sha2(concat({key}, {cells}), 256) AS mark"
    known = lake.table(f"known_{next(_numbers)}", lake.session.sql(f"SELECT *, {hashes} FROM {rows} WHERE {who} <> ''"))
    numbered = f"SELECT who, monotonically_increasing_id() AS {PERSON} FROM (SELECT DISTINCT who FROM {known})"
    # Written down before use: counted again, somebody could get another number.
    lake.session.sql(numbered).write.parquet(str(beside / "people.parquet"))
    numbers = lake.session.read.parquet(str(beside / "people.parquet"))
    numbers_of = lake.table(f"people_{next(_numbers)}", numbers)
    ranked = f"SELECT *, row_number() OVER (PARTITION BY who ORDER BY mark) AS place FROM {known}"
    return int(numbers.count()), f"SELECT * FROM ({ranked}) JOIN {numbers_of} USING (who)"


def _lists(lake: Lake, beside: Path, schema: Schema) -> str:
    """Add the declared lists as a table."""
    kinds = pa.schema({"list": pa.int64(), "spelled": pa.string(), "place": pa.int64(), "kind": pa.int64()})
    spelled = [dict(zip(kinds.names, astuple(entry), strict=True)) for entry in listed(schema)]
    pq.write_table(pa.Table.from_pylist(spelled, kinds), beside / "lists.parquet")
    return lake.table(f"lists_{next(_numbers)}", lake.session.read.parquet(str(beside / "lists.parquet")))


def _coding(
    from_rows: str,
    all_rows: str,
    names: list[str],
    schema: Schema,
    dialect: Dialect,
    kept: tuple[str, ...],
    lists: str,
    keys: str,
    cut: bool,
) -> str:
    places = [names.index(name) for name in schema.columns]
    texts = ", ".join(f"r{place} AS t{at}" for at, place in enumerate(places))
    tables = {TEXTS: f"SELECT {', '.join([texts, *kept])} FROM {from_rows}", LISTS: f"SELECT * FROM {lists}"}
    tables |= {SET_TEXTS: f"SELECT {texts} FROM {all_rows}"}  # faster than choosing rows once more
    tables |= {KEYS: f"SELECT items FROM {keys}"} | coded_rows(SPARK, schema, dialect, "lower({})", kept, cut)
    named = ", ".join(f"{name} AS ({query})" for name, query in tables.items())
    return f"WITH {named} SELECT * FROM coded"


def _code(
    lake: Lake, names: list[str], rows: str, target: Path, beside: Path, declared: Declared, keys: str
) -> int | None:
    """Write the coded rows. Returns the number of people if that is not the number of rows, else None."""
    chosen, everyone, people = rows, "", None
    schema, unit, dialect = declared.schema, declared.unit, declared.dialect
    if unit.id_column is not None:
        people, everyone = _numbered(lake, names, rows, beside, unit, keys)
        chosen = lake.table("chosen", lake.session.sql(f"{everyone} WHERE place <= {unit.at_most}"))
    lists, kept = _lists(lake, beside, schema), () if unit.id_column is None else (PERSON,)

    def write(from_rows: str, to: str, cut: bool) -> None:
        lake.session.sql(_coding(from_rows, rows, names, schema, dialect, kept, lists, keys, cut)).write.parquet(to)

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
    """SQL for all cells as texts r0, r1, …, without empty rows."""
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
    """SQL for the number of rows that are not empty, and the sums of their products, as marks.py computes them."""
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
    )
    cells = f"array({', '.join(f'r{at}' for at in range(width))})"
    for step in steps:
        cells = f"transform({cells}, x -> {step})"
    hashes = f"transform(filter({cells}, x -> x IS NOT NULL), x -> sha2(concat(own, x), 256))"
    counted = f"SELECT {hashes} AS hashes FROM (SELECT *, {key} AS own FROM {rows})"
    number = f"CAST(conv(substr(x, {{}}, 8), 16, 10) AS BIGINT) % {PRIME}"
    lanes = [
        f"aggregate(hashes, 1L, (made, x) -> made * ({number.format(1 + 8 * lane)}) % {PRIME})" for lane in range(LANES)
    ]
    sums = ", ".join(f"coalesce(sum(CAST({lane} AS DECIMAL(20, 0))), 0) AS s{at}" for at, lane in enumerate(lanes))
    return f"SELECT count(*) AS n, {sums} FROM ({counted}) WHERE size(hashes) > 0"
