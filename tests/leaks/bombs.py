"""Small files that stand for very large ones."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LONG = 10 * 2**20


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("people.csv", b"a,b\n" + b"1,2\n" * 10**6)
    return packed.getvalue()


def gzipped() -> bytes:
    return gzip.compress(b"a,b\n" + b"1,2\n" * 10**6)


def many_rows(path: Path) -> Path:
    """Rows without end in a few kilobytes: what is the same is written once."""
    with pq.ParquetWriter(path, pa.schema([("a", pa.int8())])) as writer:
        for _ in range(14):
            writer.write_table(pa.table({"a": pa.nulls(10**7, pa.int8())}), row_group_size=10**7)
    return path


def many_texts(path: Path) -> Path:
    """One long text in every row: 54 gigabytes in one kilobyte."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 60_000, pa.int32()), pa.array(["x" * 900_000]))
    plain = pa.schema([("a", pa.string())])
    dictionary = pa.table({"a": texts}).replace_schema_metadata(None)
    pq.write_table(dictionary, path, store_schema=False)
    assert pq.read_schema(path).equals(plain) and path.stat().st_size < 10**6
    return path


def long_cell(path: Path) -> Path:
    pq.write_table(pa.table({"a": ["1", "x" * LONG]}), path)
    return path
