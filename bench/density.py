"""A private curve and a private map: how long each part takes, as points, rows and columns grow.

    python -m bench.density

Rows are made up and lie in a coded Parquet file, as a declared table's do. *table*: the public integer table, made once
for each bandwidth and grid; *read*: the distribution of the column or the pairs, by the engine; *sums*: the exact
coefficients, whole numbers; *draw*: their noise; *told*: the curve with its band. Seconds, the least of three.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.curves.density import Density
from dpengine.noise import density_table
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.engines.duck import DuckEngine

SCHEMA = Schema({"age": Number(0, 120, missing=0), "income": Number(0, 20_000, missing=0)})
PARTS = ("table", "read", "sums", "draw", "told")
ONE, TWO = ["income"], ["age", "income"]
GROWTH = [
    *((ONE, points, 10**6) for points in (25, 50, 100, 200)),
    *((ONE, 100, rows) for rows in (10**3, 10**4, 10**5, 10**6)),
    *((TWO, points, 10**6) for points in (25, 50, 100)),
    *((TWO, 100, rows) for rows in (10**3, 10**4, 10**5, 10**6)),
]


def stored(rows: int, folder: Path) -> Path:
    generator = np.random.default_rng(1)
    ages = generator.normal(45, 18, rows).clip(0, 120).astype(np.int8)
    incomes = generator.gamma(3, 900, rows).clip(0, 20_000).astype(np.int16)
    path = folder / f"{rows}.parquet"
    pq.write_table(pa.table({"c0": ages, "c1": incomes}), path)
    return path


def measure(columns: list[str], points: int, path: Path, rows: int) -> dict[str, float]:
    facts = Facts("bench", SCHEMA, Unit.rows(), "replace", rows)
    query = Density.build(facts, {"columns": columns, "resolution": points, "epsilon": "0.5"})
    engine, coins = DuckEngine(), SystemCoins()

    def made() -> Any:
        density_table.table.cache_clear()
        return [density_table.table(axis) for axis in query.axes]

    found: dict[str, float] = {}
    _, found["table"] = _least(made)
    value, found["read"] = _least(lambda: engine.read(query.need(), path, SCHEMA))
    sums, found["sums"] = _least(lambda: query.measured(value))
    noise, found["draw"] = _least(lambda: coins.gaussian([0] * len(sums), query.variance))
    raw = tuple(one + other for one, other in zip(sums, noise, strict=True))
    _, found["told"] = _least(lambda: query.finish(raw))
    return found


def _least(work: Callable[[], Any]) -> tuple[Any, float]:
    best, result = float("inf"), None
    for _ in range(3):
        began = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - began)
    return result, best


def main() -> None:
    print("| columns | points | rows | " + " | ".join(PARTS) + " | all |")
    print("|---" * (len(PARTS) + 4) + "|")
    with tempfile.TemporaryDirectory() as folder:
        paths = {rows: stored(rows, Path(folder)) for rows in sorted({rows for _, _, rows in GROWTH})}
        for columns, points, rows in GROWTH:
            found = measure(columns, points, paths[rows], rows)
            shape = f"{points} × {points}" if len(columns) > 1 else str(points)
            told = " | ".join(f"{found[part]:.3f}" for part in PARTS)
            print(f"| {' × '.join(columns)} | {shape} | {rows:,} | {told} | {sum(found.values()):.3f} |", flush=True)


if __name__ == "__main__":
    main()
