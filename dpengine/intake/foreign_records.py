"""Files of foreign formats as rows of text. These functions run in a process of their own (file_process.py).

A reader yields the column names and rows of texts; the same rules bound them as any other file: no more cells than a
file of its size can hold, no cell longer than a record, nothing read from rows but the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow, Json, JsonObject
from dpengine.declared.dialect import LONGEST_RECORD, Dialect, check_names
from dpengine.intake import sheet_records, statistics_records

MOST_UNPACKED = 10**9  # bytes that a small file may unpack to …
MOST_TIMES = 200  # … and a larger one, per byte of its own
CELL = 8  # bytes that an empty cell counts for

Tell = Callable[[float], None]


def describe(tell: Tell, path: str, dialect: Json) -> JsonObject:
    """The column names, the visible sheets, and the code book that the file itself holds. No row is returned."""
    place, how = Path(path), Dialect.from_json(dialect)
    if sheet_records.is_sheet(place):
        return {"sheets": sheet_records.sheets(place), "names": sheet_records.sheet_names(place, how), "book": {}}
    return {"sheets": [], **statistics_records.describe(place, how)}


def list_sheets(tell: Tell, path: str) -> list[str]:
    return sheet_records.sheets(Path(path))


def has_rows(tell: Tell, path: str, dialect: Json) -> bool:
    """Reads everything and keeps nothing: refuses what `convert` would refuse."""
    some = False
    for columns, share in _batches(Path(path), Dialect.from_json(dialect))[1]:
        some = some or bool(len(columns[0]))
        tell(share)
    return some


def convert(tell: Tell, path: str, dialect: Json, to: str) -> list[str]:
    """Write the rows as a Parquet file of texts with columns c0, c1, …; returns the column names."""
    names, batches = _batches(Path(path), Dialect.from_json(dialect))
    schema = pa.schema([(f"c{place}", pa.string()) for place in range(len(names))])
    with pq.ParquetWriter(to, schema, write_statistics=False) as writer:
        for columns, share in batches:
            writer.write_batch(pa.record_batch(columns, schema=schema))
            tell(share)
    return names


def _batches(path: Path, dialect: Dialect) -> tuple[list[str], Iterator[tuple[list[Arrow], float]]]:
    reader = sheet_records.read_rows if sheet_records.is_sheet(path) else statistics_records.read_rows
    names, batches = reader(path, dialect)
    return check_names(names), _bounded(path, batches)


def _bounded(path: Path, batches: Iterator[tuple[list[Arrow], float]]) -> Iterator[tuple[list[Arrow], float]]:
    import pyarrow.compute as pc  # slow to import

    most, size = MOST_UNPACKED + MOST_TIMES * path.stat().st_size, 0
    for columns, share in batches:
        for cells in columns:
            lengths = pc.binary_length(cells)
            if (pc.max(lengths).as_py() or 0) > LONGEST_RECORD:
                raise AllowanceError("load.long", most=LONGEST_RECORD)
            size += CELL * len(cells) + (pc.sum(lengths).as_py() or 0)
        if size > most:
            raise AllowanceError("load.swollen")
        yield columns, share
