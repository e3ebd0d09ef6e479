"""Checks a file before anything is declared: its column names, and whether every record can be read.

The names are public. The number of records is not reported. Nothing is written, and a refusal names a formal fault of
the file, never a value.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Arrow
from dpengine.declared.dialect import Dialect, check_names, read_header, refuse_unreadable
from dpengine.intake import foreign
from dpengine.intake.csv_records import read_csv
from dpengine.intake.file_kinds import unpacked

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", *foreign.FOREIGN, ".gz", ".zip")
MOST_UNPACKED = 10**9  # bytes that a small Parquet file may unpack to …
MOST_TIMES = 200  # … and a larger one, per byte of its own
CELL = 8  # bytes that an empty cell counts for


def is_parquet(path: Path) -> bool:
    return files_of(path)[0].suffix.lower() == ".parquet"


def is_sheet(path: Path) -> bool:
    return files_of(path)[0].suffix.lower() in foreign.SHEETS


def is_statistics(path: Path) -> bool:
    return foreign.is_statistics(files_of(path)[0])


def is_text(kind: Arrow) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


class Unpacked:
    """Refuses a Parquet file that unpacks to far more than its size: a few bytes can encode any number of rows."""

    def __init__(self, path: Path) -> None:
        self._most = MOST_UNPACKED + MOST_TIMES * path.stat().st_size
        self._size = 0

    def add(self, cells: int, text: int = 0) -> None:
        self._size += CELL * cells + text
        if self._size > self._most:
            raise AllowanceError("load.swollen")

    def declared(self, metadata: Arrow) -> None:
        """Refuse by the sizes in the file's metadata, before a row is read. Rows are counted again when read."""
        self.add(metadata.num_rows * metadata.num_columns)
        self._size = 0
        groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
        if sum(max(group.total_byte_size, 0) for group in groups) > self._most:
            raise AllowanceError("load.swollen")


def files_of(path: Path) -> list[Path]:
    """The file itself, or a folder's files in the order of their names; links in it are not followed."""
    refuse_unreadable(path)
    if not path.is_dir():
        return [path]
    here = (file for file in path.iterdir() if file.is_file() and not file.is_symlink())
    files = sorted(file for file in here if file.suffix.lower() in SUFFIXES)
    if not files:
        raise AllowanceError("load.folder_empty", kinds=SUFFIXES)
    return files


def names_of(path: Path, dialect: Dialect) -> list[str]:
    """The file's column names; no row is read."""
    with unpacked(files_of(path)[0]) as first:
        if foreign.is_foreign(first):
            return list(foreign.describe(first, dialect).names)
        return _parquet(first)[0] if is_parquet(first) else read_header(first, dialect)


def survey(
    path: Path, dialect: Dialect, bad_records: str = "refuse", progress: Callable[[float], None] | None = None
) -> None:
    """Refuse what `load` would refuse. Nothing else is reported, since the number of rows is still private."""
    if not sum(_some(file, dialect, bad_records, progress) for file in files_of(path)):  # each is read to its end
        raise AllowanceError("load.no_rows")


def _some(path: Path, dialect: Dialect, bad_records: str, progress: Callable[[float], None] | None) -> bool:
    """Does the file hold any row?"""
    with unpacked(path) as plain:
        return _some_plain(plain, dialect, bad_records, progress)


def _some_plain(path: Path, dialect: Dialect, bad_records: str, progress: Callable[[float], None] | None) -> bool:
    if is_parquet(path):
        return bool(_parquet(path)[1])
    if foreign.is_foreign(path):
        return foreign.has_rows(path, dialect, progress)
    rows = 0
    try:
        for columns, share in read_csv(path, dialect, bad_records)[1]:
            rows += len(columns[0])
            if progress is not None:
                progress(share)
    except AllowanceError as refusal:
        refusal.__context__ = None  # an error below it may quote a cell
        raise
    return bool(rows)


def _parquet(path: Path) -> tuple[list[str], int]:
    with (
        refusing("load.unreadable", pa.ArrowException, OSError, UnicodeError),
        pq.ParquetFile(path, memory_map=False) as file,
    ):
        names, rows = list(file.schema_arrow.names), int(file.metadata.num_rows)
        Unpacked(path).declared(file.metadata)
    return check_names(names), rows
