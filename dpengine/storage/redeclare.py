"""Declares a table anew: codes it again from the raw rows, on the same budget.

One process at a time, under a lock in the table's folder: the new coded file is written beside the old one, then
version and schema change in one transaction of the registry. What a killed process left of that version goes first: its
kept counts follow another declaration. A running question keeps reading the file it began with, so a replaced file
stays for an hour, and the last replaced one until the next change. Also here: the raw rows that count, for questions
about undeclared columns.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core import files
from dpengine.core.errors import AllowanceError, UnknownTable, refusing
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Unit
from dpengine.intake.rows_per_person import keep_rows
from dpengine.storage.registry import Record, Registry

RAW, COUNTED = "raw.parquet", "counted-{}.parquet"
_LOCK = "revise.lock"  # of a table's folder; the kernel drops it on a kill
SPARED = 3600  # seconds for which a question may still read rows that were coded anew meanwhile


def names_of(folder: Path) -> tuple[str, ...]:
    """The names of the columns in the table's file of raw rows, in that file's order."""
    with (
        refusing("engine.unreadable", pa.ArrowException, OSError),
        pq.ParquetFile(folder / RAW, memory_map=False) as file,
    ):
        return tuple(file.schema_arrow.names)


def raw_rows(folder: Path, unit: Unit, secret: bytes) -> Path:
    """The path of a file with the raw rows that count: all rows, or at most the declared number of each person. Those
    rows are chosen once and stored."""
    if unit.id_column is None:
        return folder / RAW
    counted = folder / COUNTED.format(unit.at_most)
    if not counted.is_file():
        fresh = Path(tempfile.mkdtemp(prefix=".", dir=folder))  # two questions at once must not write to the same file
        try:
            keep_rows(folder / RAW, names_of(folder), unit, secret, fresh / counted.name)
            os.replace(fresh / counted.name, counted)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return counted


def revise(
    registry: Registry, name: str, folder: Path, schema: Schema, header: Sequence[str], code: Callable[[Record], object]
) -> Record:
    """Declare a table with another schema and code it anew. `header`: the file's columns; `code` codes the rows. After
    an error everything is as before."""
    with files.locked(folder / _LOCK):
        old = registry.get(name)
        if old is None:
            raise UnknownTable(name)
        for column in schema.columns:
            if column not in header:
                raise AllowanceError("column.absent", column=column, columns=list(header))
        new = replace(old, version=old.version + 1, schema=schema.as_json(), header=list(header))
        _drop(folder, new.version)
        code(new)
        with registry.transaction() as rows:
            registry.update(rows, new)
        _drop_replaced(folder, new.version)
        return new


def protect(
    registry: Registry,
    folders: Mapping[str, Path],
    unit: Unit,
    code: Callable[[Record], Record],
    commit: Callable[[], None],
) -> None:
    """Code tables anew with rows that belong to people, and update the registry. `folders`: each table's folder. In
    between, `commit` writes the ledger's row, so that no question reads the new codes before earlier charges are
    counted anew. After an error everything is as before."""
    with ExitStack() as stack:
        for name in sorted(folders):
            stack.enter_context(files.locked(folders[name] / _LOCK))
        coded: list[Record] = []
        try:
            for name in sorted(folders):
                old = registry.get(name)
                if old is None:
                    raise UnknownTable(name)
                if old.unit != unit.as_json():
                    coded.append(replace(old, version=old.version + 1, unit=unit.as_json()))
                    _drop(folders[name], coded[-1].version)
                    coded[-1] = code(coded[-1])
            commit()
        except BaseException:
            for record in coded:
                _drop(folders[record.name], record.version)
            raise
        with registry.transaction() as rows:
            for record in coded:
                registry.protect(rows, record)
        for record in coded:
            _drop_replaced(folders[record.name], record.version)


def _drop_replaced(folder: Path, current: int) -> None:
    """Delete codings that were replaced long ago: each of them was in use until the file of the next version was
    written."""
    written = {version: folder / f"coded-{version}.parquet" for version in range(2, current + 1)}
    ages = {version: time.time() - path.stat().st_mtime for version, path in written.items() if path.exists()}
    for version, age in ages.items():
        if age > SPARED:
            _drop(folder, version - 1)


def _drop(folder: Path, version: int) -> None:
    for file in folder.glob(f"coded-{version}.*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)  # Spark writes a folder
