"""A CSV of over 2 GB, brought in from a path: how long, and how much memory. `python -m bench.bigfile` prints JSON."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import duckdb

import dpengine as dp
from bench.measure import peak_mb
from bench.tasks import BUILD

LEAST_BYTES = 2 * 10**9
ROWS = 54_000_000
LINE = """
    SELECT 'p' || lpad((n * 7919 % 90000000)::VARCHAR, 8, '0') AS person, n % 100 AS age,
           1500 + n * 31 % 3000 AS income, 'district ' || (n * 17 % 40) AS district,
           CASE n % 3 WHEN 0 THEN 'yes' ELSE 'no' END AS works, (n * 13 % 1000) / 10 AS score
    FROM range({rows}) made(n)
"""


def write(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({LINE.format(rows=ROWS)}) TO '{path}' (HEADER, DELIMITER ',')")


def measure() -> dict[str, Any]:
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=BUILD))
    try:
        path = folder / "people.csv"
        with ProcessPoolExecutor(1) as other:  # so that its memory does not count
            other.submit(write, path).result()
        if path.stat().st_size < LEAST_BYTES:
            raise ValueError("the file is smaller than it should be")
        return load(path, folder / "var")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load(path: Path, folder: Path) -> dict[str, Any]:
    workspace = dp.open_workspace(folder)
    schema = dp.Schema(
        {
            "age": dp.Number(0, 120, missing=0),
            "income": dp.Number(0, 6_000, missing=0),
            "works": dp.yes_no(),
            "district": dp.Category([f"district {place}" for place in range(40)]),
        }
    )
    before, began = peak_mb(), time.perf_counter()
    table = workspace.add_table(
        "large",
        path,
        schema=schema,
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget(epsilon="1", delta="1e-9"),
    )
    loaded = time.perf_counter() - began
    began = time.perf_counter()
    table.ask(table.query("mean", column="income", by="district", epsilon="0.1"))
    answered = time.perf_counter() - began
    told = {"bytes": path.stat().st_size, "rows": ROWS, "load": loaded, "answer": answered}
    workspace.close()
    return told | {"before_mb": before, "peak_mb": peak_mb()}


if __name__ == "__main__":
    print(json.dumps(measure()))
