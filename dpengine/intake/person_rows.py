"""One row a person: columns that summarise the person's own rows (theory: one person changes one row, so m = 1).

All rows of a person count, however many; nothing is dropped. A summary reads codes: each cell under its declared range
or list, as everywhere. Nothing is computed across people: no ranks, no shares of a total, and ties are decided by the
person's own rows (the least code). So if one person's records change, that person's row may change and no other does.

The summaries are one query over coded rows in plain SQL (`summary_sql`), the same for DuckDB, Postgres and Spark. Sums
are of integer codes and exact; a mean is rounded to its declared step. A value beyond its declared range is written as
it is and cut when it is coded, so that a paid check can find that the range is too narrow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import refusing
from dpengine.core.exact import text_of
from dpengine.core.types import Arrow
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Column, Number, Schema
from dpengine.declared.summary import ANY, BY_DAY, COUNT, FREQUENT, Summary, inputs_of
from dpengine.intake.bring_in import Declared
from dpengine.intake.encode import encode
from dpengine.intake.rows_per_person import PERSON, keep_rows
from dpengine.statistics.engines.duck import connect

BATCH = 61_440  # people at once


def summary_sql(rows: str, schema: Schema, summaries: Sequence[Summary]) -> str:
    """SQL for one row a person from coded `rows` (c0, c1, … in the schema's order, and `person`). It has s0, s1, …: a
    code, or a sum of codes (for a mean too); and n0, n1, …: the number of values behind each."""
    places = {name: f"c{place}" for place, name in enumerate(schema.columns)}
    each, chosen, columns = ["count(*) AS rows_of"], "", [f"each_one.{PERSON} AS {PERSON}"]
    for at, summary in enumerate(summaries):
        cell = places.get(summary.column, "")
        kept = f"CASE WHEN {_has_value(cell, schema, summary.column)} THEN {cell} END"
        if summary.kind in (*BY_DAY, FREQUENT):
            one = _first(rows, cell, places, schema, summary)
            chosen += f" LEFT JOIN ({one}) AS j{at} ON j{at}.{PERSON} = each_one.{PERSON}"
            columns += [f"j{at}.chosen AS s{at}", f"CASE WHEN j{at}.chosen IS NULL THEN 0 ELSE 1 END AS n{at}"]
            continue
        if summary.kind == COUNT:
            value, many = f"count({kept})" if summary.column else "count(*)", "count(*)"
        elif summary.kind == ANY:
            code = schema.category(summary.column).code(summary.value)
            value, many = f"max(CASE WHEN {cell} = {code} THEN 1 ELSE 0 END)", "count(*)"
        elif summary.kind in ("least", "most"):
            value, many = f"{'min' if summary.kind == 'least' else 'max'}({kept})", f"count({kept})"
        else:
            value, many = f"sum(CASE WHEN {cell} >= 0 THEN CAST({cell} AS DECIMAL(28, 0)) END)", f"count({kept})"
        each += [f"{value} AS s{at}", f"{many} AS n{at}"]
        columns += [f"each_one.s{at} AS s{at}", f"each_one.n{at} AS n{at}"]
    grouped = f"SELECT {PERSON}, {', '.join(each)} FROM {rows} GROUP BY {PERSON}"
    return f"SELECT {', '.join(columns)} FROM ({grouped}) AS each_one{chosen}"


def _has_value(cell: str, schema: Schema, name: str) -> str:
    """SQL: does the cell hold a value? In a list an empty cell has a code of its own, or counts as a listed value."""
    column = schema.columns.get(name)
    if isinstance(column, Category) and column.missing not in column.values:
        return f"({cell} >= 0 AND {cell} <> {column.code(column.missing)})"
    return f"{cell} >= 0"


def _first(rows: str, cell: str, places: Mapping[str, str], schema: Schema, summary: Summary) -> str:
    """SQL for one value of each person: the first by an order of the person's own rows."""
    if summary.kind in BY_DAY:
        day, order = places[summary.by], "ASC" if summary.kind == "first" else "DESC"
        source, order = f"{rows} WHERE {cell} >= 0 AND {day} >= 0", f"{day} {order}, {cell} ASC"
    else:
        column = schema.category(summary.column)
        empty = "" if column.missing in column.values else f" WHERE {cell} <> {column.code(column.missing)}"
        counted = f"SELECT {PERSON}, {cell}, count(*) AS n FROM {rows}{empty} GROUP BY {PERSON}, {cell}"
        source, order = f"({counted}) AS counted", f"n DESC, {cell} ASC"
    place = f"row_number() OVER (PARTITION BY {PERSON} ORDER BY {order})"
    placed = f"SELECT {PERSON}, {cell} AS chosen, {place} AS place FROM {source}"
    return f"SELECT {PERSON}, chosen FROM ({placed}) AS placed WHERE place = 1"


def summarise(
    raw: Path, names: Sequence[str], declared: Declared, summaries: Mapping[str, Summary], target: Path
) -> None:
    """Write one row for each person as Parquet of texts: the id, then each summary under its name."""
    inputs, id_column = inputs_of(summaries, declared.schema), str(declared.unit.id_column)
    writers = [_writer(summary, inputs, declared.dialect) for summary in summaries.values()]
    schema = pa.schema([(name, pa.string()) for name in (id_column, *summaries)])
    with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as inside:
        kept, coded = Path(inside) / "kept.parquet", Path(inside) / "coded.parquet"
        keep_rows(raw, names, declared.unit, declared.secret, kept, every=True)
        encode(kept, inputs, declared.dialect, coded, names)
        with (
            refusing("load.unreadable", duckdb.Error, pa.ArrowException, OSError),
            connect(target.parent) as connection,
            pq.ParquetWriter(target, schema, write_statistics=False) as store,
        ):
            connection.from_parquet(str(coded)).create_view("coded_rows")
            connection.from_parquet(str(kept)).create_view("kept_rows")
            rows = summary_sql("coded_rows", inputs, list(summaries.values()))
            who = f"c{list(names).index(id_column)}"
            ids = f"SELECT {PERSON}, min({who}) AS id FROM kept_rows GROUP BY {PERSON}"
            query = f"SELECT ids.id, rows.* FROM ({rows}) AS rows JOIN ({ids}) AS ids ON ids.{PERSON} = rows.{PERSON}"
            for batch in connection.sql(query).to_arrow_reader(BATCH):
                store.write_batch(_texts(batch, writers, schema))


def _texts(batch: Arrow, writers: Sequence[Callable[[int, int], str | None]], schema: Arrow) -> Arrow:
    columns = [batch.column("id").cast(pa.string())]
    for at, writer in enumerate(writers):
        pairs = zip(batch.column(f"s{at}").to_pylist(), batch.column(f"n{at}").to_pylist(), strict=True)
        columns.append(pa.array([None if value is None else writer(int(value), int(n)) for value, n in pairs]))
    return pa.record_batch([column.cast(pa.string()) for column in columns], schema=schema)


def _writer(summary: Summary, inputs: Schema, dialect: Dialect) -> Callable[[int, int], str | None]:
    """A function that writes a cell's text from a code or a sum of codes, and from the number of values behind it."""
    if summary.kind == COUNT:
        return lambda value, n: str(value)
    if summary.kind == ANY:
        return lambda value, n: "yes" if value else "no"
    column: Column = inputs[summary.column]
    declared = summary.declared(inputs)
    if isinstance(column, Number):
        lower, step = column.lower, column.step
        grain = declared.step if isinstance(declared, Number) else step
        start = declared.lower if isinstance(declared, Number) else lower

        def number(value: int, n: int) -> str | None:
            if not n:
                return None
            total = lower * (n if summary.kind in ("sum", "mean") else 1) + step * value
            exact = Fraction(total, n) if summary.kind == "mean" else total
            near = start + round((exact - start) / grain) * grain if summary.kind == "mean" else exact
            return text_of(near).replace(".", dialect.decimal)

        return number
    if isinstance(column, Category):
        return lambda value, n: str(column.labels[value])
    return lambda value, n: str(column.value(value))


# The same texts where the rows stay, as SQL for Postgres and Spark


@dataclass(frozen=True)
class TextWords:
    """An engine's SQL for the type of texts, and for a day plus a number of days."""

    text: str
    day: Callable[[str, str], str]


def labels_of(inputs: Schema, summaries: Sequence[Summary]) -> list[tuple[int, int, str]]:
    """For each label that a summary may show: the summary's place, the code and the label. They are public."""
    return [
        (at, place, label)
        for at, summary in enumerate(summaries)
        if summary.kind in (*BY_DAY, FREQUENT) and isinstance(column := inputs[summary.column], Category)
        for place, label in enumerate(column.labels)
    ]


def texts_sql(rows: str, inputs: Schema, summaries: Sequence[Summary], decimal: str, words: TextWords) -> str:
    """SQL for `person` and each summary's text, x0, x1, …: the texts that `_writer` writes. It reads coded rows and the
    table `labels` (list, place, label). Integers are exact, with at most 38 digits."""
    first, second, texts, joins = list[str](), list[str](), [PERSON], ""
    for at, summary in enumerate(summaries):
        column = None if summary.kind == COUNT else inputs[summary.column]
        if summary.kind == ANY:
            texts.append(f"CASE WHEN s{at} = 1 THEN 'yes' ELSE 'no' END AS x{at}")
        elif isinstance(column, Category):
            joins += f" LEFT JOIN labels AS l{at} ON l{at}.list = {at} AND l{at}.place = s{at}"
            texts.append(f"l{at}.label AS x{at}")
        elif column is None or isinstance(column, Number):
            places = _places(column, summary, inputs)
            quotient, value = _exact(at, summary, column, inputs, 10**places)
            first += quotient
            second.append(f"CAST({value} AS DECIMAL(38, 0)) AS v{at}")
            digits = f"CAST(abs(v{at}) AS {words.text})"
            padded = f"concat(repeat('0', greatest({places + 1} - length({digits}), 0)), {digits})"
            point = f"left({padded}, length({padded}) - {places}), '{decimal}', right({padded}, {places})"
            sign = f"CASE WHEN v{at} < 0 THEN '-' ELSE '' END"
            number = f"concat({sign}, {point if places else digits})"
            texts.append(f"CASE WHEN v{at} IS NOT NULL THEN {number} END AS x{at}")
        else:
            texts.append(f"CAST({words.day(column.value(0), f's{at}')} AS {words.text}) AS x{at}")
    query = summary_sql(rows, inputs, list(summaries))
    query = f"SELECT one.*{''.join(f', {part}' for part in first)} FROM ({query}) AS one"
    query = f"SELECT one.*{''.join(f', {part}' for part in second)} FROM ({query}) AS one"
    return f"SELECT {', '.join(texts)} FROM ({query}) AS one{joins}"


def _places(column: Number | None, summary: Summary, inputs: Schema) -> int:
    """How many digits after the point every value of a summary is written with."""
    if column is None:
        return 0
    grid = [column.lower, column.step]
    if summary.kind == "mean" and isinstance(declared := summary.declared(inputs), Number):
        grid += [declared.lower, declared.step]
    places = 0
    while any((part * 10**places).denominator != 1 for part in grid):
        places += 1
    return places


def _exact(at: int, summary: Summary, column: Number | None, inputs: Schema, unit: int) -> tuple[list[str], str]:
    """SQL for a summary as an integer multiple of 1/`unit`: columns to compute first, and then the number. A mean is
    rounded to its grid, half to even, in whole numbers."""
    value, n = (f"CAST({name}{at} AS DECIMAL(38, 0))" for name in "sn")
    if column is None:
        return [], value
    lower, step = (int(part * unit) for part in (column.lower, column.step))
    if summary.kind not in ("sum", "mean"):
        return [], f"CASE WHEN n{at} > 0 THEN {lower} + {step} * {value} END"
    total = f"({lower} * {n} + {step} * {value})"
    if summary.kind == "sum":
        return [], f"CASE WHEN n{at} > 0 THEN {total} END"
    declared = summary.declared(inputs)
    assert isinstance(declared, Number)
    start, grain = (int(part * unit) for part in (declared.lower, declared.step))
    whole = f"(2 * ({total} - {start} * {n}) + {grain} * {n})"  # over twice the grain times n: a half up
    over = f"(2 * {grain} * nullif({n}, 0))"
    rest = f"((({whole} % {over}) + {over}) % {over})"
    parts = [
        f"CAST(({whole} - {rest}) / {over} AS DECIMAL(38, 0)) AS k{at}",
        f"CASE WHEN {rest} = 0 THEN 1 ELSE 0 END AS half{at}",
    ]
    even = f"(k{at} - CASE WHEN half{at} = 1 AND k{at} % 2 <> 0 THEN 1 ELSE 0 END)"
    return parts, f"{start} + {grain} * {even}"
