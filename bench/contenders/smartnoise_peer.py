"""smartnoise-sql over a pandas frame. It has no median; a top item is the first of its noisy counts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from snsql import Privacy, from_df

from bench.data import read
from bench.tasks import BINS, EPSILON, GRID, HIGH, LOW

QUESTIONS = {
    "top51": "SELECT state, COUNT(*) AS n FROM bench.people GROUP BY state ORDER BY n DESC LIMIT 1",
    "top100k": "SELECT item, COUNT(*) AS n FROM bench.people GROUP BY item ORDER BY n DESC LIMIT 1",
    "hist51": "SELECT state, COUNT(*) AS n FROM bench.people GROUP BY state",
    "hist100": "SELECT bin, COUNT(*) AS n FROM bench.people GROUP BY bin",
    "count": f"SELECT COUNT(*) AS n FROM bench.people WHERE amount >= {LOW} AND amount <= {HIGH}",
    "mean": "SELECT AVG(amount) AS n FROM bench.people",
}


def reader(frame: pd.DataFrame) -> Any:
    columns: dict[str, Any] = {name: {"type": "int"} for name in frame.columns}
    columns["amount"] |= {"lower": 0, "upper": GRID - 1}
    # The keys are public, so it need not hide rare ones.
    people = {"row_privacy": True, "rows": len(frame), "censor_dims": False} | columns
    return from_df(frame, privacy=Privacy(epsilon=EPSILON, delta=1e-9), metadata={"": {"bench": {"people": people}}})


def questions(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    columns = read(folder / "rows.parquet")
    private = reader(pd.DataFrame(columns | {"bin": columns["amount"] // (GRID // BINS)}))

    def asker(sql: str) -> Callable[[], Any]:
        return lambda: private.execute(sql)

    return {task: asker(sql) for task, sql in QUESTIONS.items()}


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("smartnoise-sql", "opendp", "pandas")}
