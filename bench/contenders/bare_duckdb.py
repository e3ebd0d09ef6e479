"""The same aggregates without privacy, in plain SQL over the same coded files and with the same settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb

from bench.tasks import BINS, GRID, HIGH, LOW
from dpengine.statistics.engines.duck import SETTINGS

QUESTIONS = {
    # The counts on the grid, from which a median is read off: faster than `median(c0)`, so the harder one to match.
    "median": "SELECT c0, count(*) FROM '{bench}' GROUP BY c0 ORDER BY c0",
    "top51": "SELECT c1, count(*) AS n FROM '{bench}' GROUP BY c1 ORDER BY n DESC LIMIT 1",
    "top100k": "SELECT c0, count(*) AS n FROM '{bench items}' GROUP BY c0 ORDER BY n DESC LIMIT 1",
    "hist51": "SELECT c1, count(*) FROM '{bench}' GROUP BY c1 ORDER BY c1",
    "hist100": f"SELECT c0 // {GRID // BINS} AS bin, count(*) FROM '{{bench}}' GROUP BY bin ORDER BY bin",
    "count": f"SELECT count(*) FROM '{{bench}}' WHERE c0 BETWEEN {LOW} AND {HIGH}",
    "mean": "SELECT avg(c0) FROM '{bench}'",
    "mean51": "SELECT c1, avg(c0) FROM '{bench}' GROUP BY c1 ORDER BY c1",
    "sum": "SELECT sum(c0) FROM '{bench}'",
    "variance": "SELECT var_pop(c0) FROM '{bench}'",
}


def questions(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    connection = duckdb.connect(config=SETTINGS)
    coded = json.loads((folder / "coded.json").read_text())

    def asker(sql: str) -> Callable[[], Any]:
        for name, path in coded.items():
            sql = sql.replace(f"{{{name}}}", path)
        return lambda: connection.execute(sql).fetchall()

    return {task: asker(sql) for task, sql in QUESTIONS.items()}


def versions() -> dict[str, str]:
    return {"duckdb": version("duckdb")}
