"""The same aggregates without privacy, in plain SQL over the person's own Parquet file and with the same settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from bench.contenders.bare_duckdb import versions as versions
from bench.tasks import BINS, GRID, HIGH, LOW
from dpengine.statistics.engines.duck import SETTINGS

QUESTIONS = {
    "median": "SELECT amount, count(*) FROM '{own}' GROUP BY amount ORDER BY amount",
    "top51": "SELECT state, count(*) AS n FROM '{own}' GROUP BY state ORDER BY n DESC LIMIT 1",
    "top100k": "SELECT item, count(*) AS n FROM '{own}' GROUP BY item ORDER BY n DESC LIMIT 1",
    "hist51": "SELECT state, count(*) FROM '{own}' GROUP BY state ORDER BY state",
    "hist100": f"SELECT amount // {GRID // BINS} AS bin, count(*) FROM '{{own}}' GROUP BY bin ORDER BY bin",
    "count": f"SELECT count(*) FROM '{{own}}' WHERE amount BETWEEN {LOW} AND {HIGH}",
    "mean": "SELECT avg(amount) FROM '{own}'",
    "mean51": "SELECT state, avg(amount) FROM '{own}' GROUP BY state ORDER BY state",
    "sum": "SELECT sum(amount) FROM '{own}'",
    "variance": "SELECT var_pop(amount) FROM '{own}'",
}


def questions(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    connection = duckdb.connect(config=SETTINGS)

    def asker(sql: str) -> Callable[[], Any]:
        sql = sql.replace("{own}", str(folder / "rows.parquet"))
        return lambda: connection.execute(sql).fetchall()

    return {task: asker(sql) for task, sql in QUESTIONS.items()}
