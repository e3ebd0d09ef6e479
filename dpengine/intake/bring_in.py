"""Loads a file or a data frame and turns it into the integer codes of a declared table, in the table's own folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import ItemSet, Schema
from dpengine.declared.unit import Unit
from dpengine.intake.coding_sets import separators
from dpengine.intake.encode import encode
from dpengine.intake.items_per_person import cut_sets
from dpengine.intake.load import Loaded, load
from dpengine.intake.rows_per_person import keep_rows
from dpengine.statistics.engines import every_row

RAW = "raw.parquet"


def load_raw(
    folder: Path,
    source: object,
    schema: Schema,
    unit: Unit,
    dialect: Dialect,
    secret: bytes,
    bad_records: str = "refuse",
    progress: Callable[[float], None] | None = None,
) -> Loaded:
    """Stores every cell as text, after checking that all declared columns exist."""
    if isinstance(source, str) and not source:  # Path("") would be the current folder
        raise AllowanceError("load.absent")
    path = Path(source) if isinstance(source, (str, Path)) else source
    loaded = load(path, dialect, folder / RAW, secret, progress, bad_records, separators(schema))
    for name in (*schema.columns, *([unit.id_column] if unit.id_column else [])):
        if name not in loaded.columns:
            raise AllowanceError("column.absent", column=name, columns=list(loaded.columns))
    return loaded


def code_rows(
    folder: Path,
    loaded: Loaded,
    schema: Schema,
    unit: Unit,
    dialect: Dialect,
    secret: bytes,
    version: int = 1,
) -> int:
    """Stores the rows that count as integer codes under a schema; returns the number of people."""
    raw, coded = folder / RAW, folder / f"coded-{version}.parquet"
    if unit.id_column is None:
        encode(raw, schema, dialect, coded)
        cut_sets(coded, schema, secret, several=False)
        return loaded.rows
    kept = folder / "kept.parquet"
    people = keep_rows(raw, loaded.columns, unit, secret, kept)
    encode(kept, schema, dialect, coded, loaded.columns)
    if schema.of_kind(ItemSet):
        keep_rows(raw, loaded.columns, unit, secret, kept, every=True)
        encode(kept, schema, dialect, every_row(coded), loaded.columns)
        cut_sets(every_row(coded), schema, secret, several=True)
    kept.unlink()
    return people
