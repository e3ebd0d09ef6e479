"""A look at a file's form before anything is declared: its column names, and whether every record can be read.

The names are public. The number of records is public only where the number of people is; whoever calls `survey` keeps
it to themselves until then. Nothing is written, and a refusal names a fault of form, never a value.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.dialect import Dialect, check_names, read_header
from dpengine.errors import AllowanceError
from dpengine.records import read_csv


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def names_of(path: Path, dialect: Dialect) -> list[str]:
    """The column names, without a look at any row."""
    return _parquet(path)[0] if is_parquet(path) else read_header(path, dialect)


def survey(
    path: Path, dialect: Dialect, bad_records: str = "refuse", progress: Callable[[float], None] | None = None
) -> int:
    """How many records there are; refuses what `load` would refuse."""
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


def _parquet(path: Path) -> tuple[list[str], int]:
    try:
        with pq.ParquetFile(path, memory_map=False) as file:
            names, rows = list(file.schema_arrow.names), int(file.metadata.num_rows)
    except (pa.ArrowException, OSError, UnicodeError):
        raise AllowanceError("load.unreadable") from None
    check_names(names)
    return names, rows
