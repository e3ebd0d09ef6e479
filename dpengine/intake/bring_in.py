"""Loads a file or a data frame and turns it into the integer codes of a declared table, in the table's own folder."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Arrow
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import ItemSet, Schema
from dpengine.declared.unit import Unit
from dpengine.intake.coding_sets import separators
from dpengine.intake.encode import KeptColumns, encode
from dpengine.intake.load import Loaded, load, parquet, written
from dpengine.intake.rows_per_person import PERSON, keep_rows
from dpengine.statistics.counts import cut_name
from dpengine.statistics.engines import every_row
from dpengine.statistics.engines.duck import connect

BATCH = 61_440  # rows at once
RAW = "raw.parquet"


@dataclass(frozen=True)
class Declared:
    """A table's declaration, as far as coding its rows needs it, and the workspace's secret."""

    schema: Schema
    unit: Unit
    dialect: Dialect
    secret: bytes = field(repr=False)


def cut_sets(coded: Path, schema: Schema, secret: bytes, several: bool) -> None:
    """For each column of sets with a declared size, add a column with the items that count in a histogram: at most that
    many of each person. With `several`, the rows of a `person` hold one set together.

    The rule uses only the person's own set and the workspace's secret: of a larger set, the first k by a keyed hash of
    the whole set and the item. The hash is keyed so that nobody can choose which items win. It covers the set, not the
    person's number in the file, which depends on who else is in it. The cut comes before any condition: the same k
    items of a person count in every histogram, and a condition can only leave out some of them.
    """
    columns = [(f"c{place}", column) for place, column in enumerate(schema.columns.values())]
    sizes = {name: column.at_most for name, column in columns if isinstance(column, ItemSet) and column.at_most}
    if not sizes:
        return
    key = hmac.new(secret, b"allowance: which items", hashlib.sha256).hexdigest()
    joins, added = "", ""
    for name, size in sizes.items():
        if several:
            own = f"SELECT {PERSON}, list_sort(list_distinct(flatten(list({name})))) AS own FROM rows GROUP BY {PERSON}"
            best = f"SELECT {PERSON}, {_first('own', size, key)} AS best_{name} FROM ({own})"
            joins += f" JOIN ({best}) USING ({PERSON})"
            added += f", list_filter({name}, lambda x: list_contains(best_{name}, x)) AS {cut_name(name)}"
        else:
            added += f", {_first(name, size, key)} AS {cut_name(name)}"
    with (
        refusing("engine.unreadable", duckdb.Error, pa.ArrowException),
        connect(coded.parent) as connection,
        written(coded) as part,
    ):
        connection.from_parquet(str(coded)).create_view("rows")
        batches: Arrow = connection.sql(f"SELECT rows.*{added} FROM rows{joins}").to_arrow_reader(BATCH)
        with parquet(part, batches.schema) as store:
            for batch in batches:
                store(batch)


def _first(items: str, size: int, key: str) -> str:
    """SQL that keeps at most `size` items of each list: those with the smallest keyed hash of the whole list and the
    item. The column `items` holds the lists, each sorted."""
    mark = f"sha256(concat('{key}', {items}::VARCHAR, ':', x))"
    marked = f"list_sort(list_transform({items}, lambda x: struct_pack(mark := {mark}, item := x)))"
    few = f"list_transform({marked}[:{size}], lambda pair: pair.item)"
    return f"CASE WHEN len({items}) <= {size} THEN {items} ELSE {few} END"


def load_raw(
    folder: Path,
    source: object,
    declared: Declared,
    bad_records: str = "refuse",
    progress: Callable[[float], None] | None = None,
    marked: bool = True,
) -> Loaded:
    """Load a source into the table's folder, every cell as text. Refused if a declared column is absent."""
    if isinstance(source, str) and not source:  # Path("") would be the current folder
        raise AllowanceError("load.absent")
    path = Path(source) if isinstance(source, (str, Path)) else source
    given = declared.dialect, folder / RAW, declared.secret
    loaded = load(path, *given, progress, bad_records, separators(declared.schema), marked)
    refuse_absent(declared, loaded.columns)
    return loaded


def refuse_absent(declared: Declared, columns: Sequence[str]) -> None:
    """Refuse a declaration with columns that the file does not have."""
    unit = declared.unit
    for name in (*declared.schema.columns, *([unit.id_column] if unit.id_column else [])):
        if name not in columns:
            raise AllowanceError("column.absent", column=name, columns=list(columns))


def code_rows(
    folder: Path,
    loaded: Loaded,
    declared: Declared,
    version: int = 1,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[int, KeptColumns]:
    """Write the rows that count as integer codes; returns the number of people, and the counts to keep (kept.py)."""
    raw, coded = folder / RAW, folder / f"coded-{version}.parquet"
    schema, unit, dialect, secret = declared.schema, declared.unit, declared.dialect, declared.secret
    if unit.id_column is None:
        counted = encode(raw, schema, dialect, coded, report=report)
        cut_sets(coded, schema, secret, several=False)
        return loaded.rows, counted
    kept = folder / "kept.parquet"
    people = keep_rows(raw, loaded.columns, unit, secret, kept)
    counted = encode(kept, schema, dialect, coded, loaded.columns, report)
    if schema.of_kind(ItemSet):
        keep_rows(raw, loaded.columns, unit, secret, kept, every=True)
        encode(kept, schema, dialect, every_row(coded), loaded.columns)
        cut_sets(every_row(coded), schema, secret, several=True)
    kept.unlink()
    return people, counted
