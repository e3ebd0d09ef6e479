"""The one generated file: integers from a public seed, as Parquet. It describes nobody."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.tasks import GRID, ITEMS, SEED, STATES

COLUMNS = ("amount", "state", "item")
_PART = 10**6


def zipf_shares(size: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1)
    return weights / weights.sum()


def write(rows: int, path: Path, names: Sequence[str] = COLUMNS) -> None:
    """`amount` a bell on the grid, `state` and `item` Zipf over 51 and 100,000 codes; these columns."""
    random = np.random.default_rng(SEED)
    edges = {"state": np.cumsum(zipf_shares(STATES)), "item": np.cumsum(zipf_shares(ITEMS))}
    schema = pa.schema([(name, pa.int64()) for name in names])
    with pq.ParquetWriter(path, schema) as store:
        for first in range(0, rows, _PART):
            count = min(_PART, rows - first)
            columns = {"amount": bell(random, count)}
            for name, edge in edges.items():
                if name in names:
                    columns[name] = np.minimum(np.searchsorted(edge, random.random(count)), len(edge) - 1)
            store.write_table(pa.table(columns, schema=schema))


def bell(random: np.random.Generator, rows: int) -> np.ndarray:
    return np.clip(random.normal(0.5 * GRID, 0.15 * GRID, rows).round(), 0, GRID - 1).astype(np.int64)


def skewed(random: np.random.Generator, rows: int) -> np.ndarray:
    return np.clip(random.exponential(0.2 * GRID, rows).round(), 0, GRID - 1).astype(np.int64)


def read(path: Path) -> dict[str, np.ndarray]:
    """The columns as arrays in memory, writable: OpenDP refuses others."""
    table = pq.read_table(path)
    return {name: table.column(name).to_numpy().astype(np.int64, copy=True) for name in COLUMNS}
