"""Declares a table anew: codes it again from the raw rows, on the same budget.

One process at a time, under a lock in the table's folder: the new coded file is written beside the old one, then
version and schema change in one transaction of the registry. Running questions keep reading the file they began with:
one old version stays. Also here: the raw rows that count, for questions about columns that are not declared.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Unit
from dpengine.intake.rows_per_person import keep_rows
from dpengine.storage.registry import Record, Registry

RAW, COUNTED = "raw.parquet", "counted.parquet"


def names_of(folder: Path) -> tuple[str, ...]:
    """The columns of the raw file, in its order."""
    try:
        with pq.ParquetFile(folder / RAW, memory_map=False) as file:
            return tuple(file.schema_arrow.names)
    except (pa.ArrowException, OSError):
        raise AllowanceError("engine.unreadable") from None


def raw_rows(folder: Path, unit: Unit, secret: bytes, rule: int) -> Path:
    """The raw rows that count: all of them, or at most the declared number of each person, chosen once and stored."""
    if unit.id_column is None:
        return folder / RAW
    counted = folder / COUNTED
    if not counted.is_file():
        fresh = Path(tempfile.mkdtemp(prefix=".", dir=folder))  # two questions at once do not write to the same file
        try:
            keep_rows(folder / RAW, names_of(folder), unit, secret, fresh / COUNTED, rule=rule)
            os.replace(fresh / COUNTED, counted)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return counted


def revise(
    registry: Registry,
    name: str,
    folder: Path,
    schema: Schema,
    header: Sequence[str],
    code: Callable[[Record], None],
) -> Record:
    """Code the table, which has the columns of `header`, under another schema and update the registry; after an error
    everything is as it was."""
    with (folder / "revise.lock").open("a") as lock:
        os.chmod(lock.name, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)  # the kernel drops it on a kill
        old = registry.get(name)
        if old is None:
            raise AllowanceError("table.unknown", name=name)
        for column in schema.columns:
            if column not in header:
                raise AllowanceError("column.absent", column=column, columns=list(header))
        new = replace(old, version=old.version + 1, schema=schema.as_json(), header=list(header))
        code(new)
        with registry.transaction() as rows:
            registry.update(rows, new)
        for file in folder.glob(f"coded-{old.version - 1}.*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)  # a folder is what Spark wrote
        return new
