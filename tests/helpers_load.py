"""Small files, and what became of them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from dpengine.declared.dialect import Dialect
from dpengine.intake.load import Loaded, load

SECRET = b"k" * 32
COMMA = Dialect()
BREAKS = Dialect(line_breaks=True)
CANARY = "zebra7421"
LINES = [  # a file with quotes where they belong and where they do not
    b"id,age,note",
    b"1,30,x",
    b'"2",,"y, z"',
    b'3,5" pipe,"say ""hi"""',
    b'4,5",z',
    b'5,60,""',
    b'6,"70","a"',
    b"7,80,b",
]


def put(folder: Path, data: bytes | str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def read(
    folder: Path, data: bytes | str, dialect: Dialect = COMMA, bad_records: str = "refuse"
) -> tuple[Loaded, list[Any]]:
    """Load what the file holds: the report, and the raw rows."""
    found = load(put(folder, data), dialect, folder / "raw.parquet", SECRET, bad_records=bad_records)
    return found, rows_of(folder / "raw.parquet")


def rows_of(raw: Path) -> list[Any]:
    return list(zip(*(column.to_pylist() for column in pq.read_table(raw).columns), strict=True))


def written(rows: list[list[str]], **how: Any) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", **how).writerows(rows)
    return out.getvalue()


def quoted(rows: list[list[str]]) -> str:
    return written(rows, quoting=csv.QUOTE_ALL)
