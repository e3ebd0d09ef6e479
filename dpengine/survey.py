"""A look at a file's form before anything is declared: its column names, and whether every record can be read.

The names are public. The number of records is public only where the number of people is; whoever calls `survey` keeps
it to themselves until then. Nothing is written, and a refusal names a fault of form, never a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpengine.dialect import Dialect, check_names, ordinary, read_header
from dpengine.errors import AllowanceError
from dpengine.records import read_csv

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")


MOST_UNPACKED = 10**9  # bytes a small Parquet file may unpack to …
MOST_TIMES = 200  # … and a larger one, for each of its own bytes
CELL = 8  # bytes an empty cell counts for


def is_parquet(path: Path) -> bool:
    return files_of(path)[0].suffix.lower() == ".parquet"


def is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


class Unpacked:
    """Refuses a Parquet file that unpacks to far more than it is: a few bytes can stand for any number of rows."""

    def __init__(self, path: Path) -> None:
        self._most = MOST_UNPACKED + MOST_TIMES * path.stat().st_size
        self._size = 0

    def add(self, cells: int, text: int = 0) -> None:
        self._size += CELL * cells + text
        if self._size > self._most:
            raise AllowanceError("load.swollen")

    def declared(self, metadata: Any) -> None:
        """What its own table of contents says, before anything is read; what it holds is counted again as it comes."""
        self.add(metadata.num_rows * metadata.num_columns)
        self._size = 0
        groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
        if sum(max(group.total_byte_size, 0) for group in groups) > self._most:
            raise AllowanceError("load.swollen")


def files_of(path: Path) -> list[Path]:
    """The file itself, or all files of a folder in the order of their names; links are not followed out of it."""
    ordinary(path)
    if not path.is_dir():
        return [path]
    here = (one for one in path.iterdir() if one.is_file() and not one.is_symlink())
    found = sorted(one for one in here if one.suffix.lower() in SUFFIXES)
    if not found:
        raise AllowanceError("load.folder_empty", kinds=SUFFIXES)
    return found


def names_of(path: Path, dialect: Dialect) -> list[str]:
    """The column names, without a look at any row."""
    first = files_of(path)[0]
    return _parquet(first)[0] if is_parquet(first) else read_header(first, dialect)


def survey(
    path: Path, dialect: Dialect, bad_records: str = "refuse", progress: Callable[[float], None] | None = None
) -> int:
    """How many records there are; refuses what `load` would refuse."""
    if path.is_dir():
        return sum(survey(one, dialect, bad_records, progress) for one in files_of(path))
    if is_parquet(path):
        rows = _parquet(path)[1]
    else:
        rows = 0
        try:
            for columns, share in read_csv(path, dialect, bad_records)[1]:
                rows += len(columns[0])
                if progress is not None:
                    progress(share)
        except AllowanceError as refusal:
            refusal.__context__ = None  # an error below it may quote a cell
            raise
    if not rows:
        raise AllowanceError("load.no_rows")
    return rows


def people_of(path: Path, dialect: Dialect, column: str, bad_records: str = "refuse") -> int:
    """How many different values an id column has, blank ones aside. Public only where the number of people is."""
    found: set[str] = set()
    try:
        for cells in _cells(path, dialect, column, bad_records):
            found.update(str(one).strip() for one in cells if one is not None)
    except (AllowanceError, pa.ArrowException, OSError):
        refusal = AllowanceError("load.unreadable")
        refusal.__context__ = None  # an error below it may quote a cell
        raise refusal from None
    found.discard("")
    return len(found)


def _cells(path: Path, dialect: Dialect, column: str, bad_records: str) -> Iterator[list[Any]]:
    if path.is_dir():
        for one in files_of(path):
            yield from _cells(one, dialect, column, bad_records)
        return
    if is_parquet(path):
        with pq.ParquetFile(path, memory_map=False) as file:
            texts = [one.name for one in file.schema_arrow if is_text(one.type)]
        # Each different text of a batch once: one long text can stand in every row.
        with pq.ParquetFile(path, memory_map=False, read_dictionary=texts) as file:
            for batch in file.iter_batches(columns=[column]):
                yield pc.unique(batch.column(0)).to_pylist()
        return
    names, batches = read_csv(path, dialect, bad_records)
    for columns, _ in batches:
        yield columns[names.index(column)].to_pylist()


def _parquet(path: Path) -> tuple[list[str], int]:
    try:
        with pq.ParquetFile(path, memory_map=False) as file:
            names, rows = list(file.schema_arrow.names), int(file.metadata.num_rows)
            Unpacked(path).declared(file.metadata)
    except (pa.ArrowException, OSError, UnicodeError):
        raise AllowanceError("load.unreadable") from None
    check_names(names)
    return names, rows
