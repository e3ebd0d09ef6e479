"""Needs of a raw column, read off the raw Parquet file one row group at a time.

Each different text of a group is looked at once, so memory grows with the different values and not with the rows.
Nothing a cell holds can make a reading fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.arrays import Arrow
from dpengine.core.errors import AllowanceError
from dpengine.statistics.raw_needs import OfOne, OneColumn, RawNeed, RawStatistic, Several


def read_columns(need: RawNeed, rows: Path, place: Callable[[str], int]) -> RawStatistic:
    """Exactly `need.of(rows)`; `place` says where in the file a column stands."""
    if isinstance(need, Several):
        return tuple(read_raw(one, rows, place(one.column)) for one in need.needs)
    return read_raw(need, rows, place(need.column))


def read_raw(need: OneColumn, rows: Path, place: int) -> OfOne:
    """Exactly `need.of(rows)`, where the need's column is the one at `place` in the file."""
    rows_of: Counter[str | None] = Counter()
    try:
        with pq.ParquetFile(rows, memory_map=False) as file:
            name = file.schema_arrow.names[place]
            for group in range(file.num_row_groups):
                cells: Arrow = file.read_row_group(group, columns=[name])
                counted = cells.column(cells.schema.get_field_index(name)).combine_chunks().value_counts()
                texts, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
                for text, count in zip(texts, counts, strict=True):
                    rows_of[text] += count
    except (pa.ArrowException, OSError, IndexError):
        raise AllowanceError("engine.unreadable") from None
    return need.of_cells(rows_of.items())
