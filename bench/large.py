"""Large tables beside plain DuckDB over the own Parquet file: `python -m bench.large [rows]` (10⁷) prints JSON.

Questions   about everyone, and under a condition on another column; ours is `table.ask` end to end, with its charge.
            Both take turns in one process, so that other work meets both; medians. The first time of ours is told
            apart: there a pair of columns is counted.
Intake      `add_table` beside DuckDB's own copy of the same columns as text, and beside its reading of the same rows as
            CSV; seconds of the processor, because other work on the machine adds to the others.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import dpengine as dp
from bench import data
from bench.contenders import own_duckdb
from bench.contenders.ours import QUESTIONS, _list
from bench.measure import must, once
from bench.tasks import BINS, BUILD, GRID, STATES
from dpengine.statistics.engines.duck import SETTINGS

TURNS = 9
CONDITION = [["state", "in", [str(place) for place in range(5)]]]
PLAIN = {
    "median": "SELECT amount, count(*) FROM '{own}' WHERE state < 5 GROUP BY amount ORDER BY amount",
    "mean": "SELECT avg(amount) FROM '{own}' WHERE state < 5",
    "hist100": f"SELECT amount // {GRID // BINS} AS bin, count(*) FROM '{{own}}' WHERE state < 5 GROUP BY bin",
    "count": "SELECT count(*) FROM '{own}' WHERE state < 5",
}


def measure(rows: int) -> dict[str, Any]:
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=BUILD))
    try:
        own = folder / "rows.parquet"
        data.write(rows, own)
        found: dict[str, Any] = {"rows": rows, "intake": intake(folder, own)}
        workspace = dp.open_workspace(folder / "var")
        table = workspace.table("large")
        plain = own_duckdb.questions(folder, rows)
        asked = {task: (key, given) for task, (name, key, given) in QUESTIONS.items() if name == "bench"}
        found["everyone"] = {task: beside(table, key, given, plain[task], rows) for task, (key, given) in asked.items()}
        connection = duckdb.connect(config=SETTINGS)
        some: dict[str, Any] = {}
        for task, sql in PLAIN.items():
            key, given = asked[task]
            query = sql.replace("{own}", str(own))
            ask = lambda query=query: connection.execute(query).fetchall()  # noqa: E731
            some[task] = beside(table, key, given | {"where": CONDITION}, ask, rows)
        found["under a condition"] = some
        workspace.close()
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def beside(table: Any, key: str, given: dict[str, Any], plain: Callable[[], Any], rows: int) -> dict[str, float]:
    query = table.query(key, epsilon="0.05", **given)
    first = once(lambda: must(table.ask(query).value is not None, f"{key} was not answered."))
    rounds = [(once(lambda: table.ask(query)), once(plain)) for _ in range(TURNS)]
    ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
    return {"ours": ours, "plain": theirs, "ratio": ours / theirs, "first": first}


def intake(folder: Path, own: Path) -> dict[str, float]:
    """Seconds of the processor."""
    copy, csv = folder / "copy.parquet", folder / "rows.csv"
    columns = ", ".join(f"{name}::VARCHAR AS {name}" for name in data.COLUMNS)
    connection = duckdb.connect(config=SETTINGS | {"threads": 2})
    copied = spent(lambda: connection.execute(f"COPY (SELECT {columns} FROM '{own}') TO '{copy}' (FORMAT parquet)"))
    connection.execute(f"COPY (SELECT * FROM '{own}') TO '{csv}' (HEADER)")
    read = spent(lambda: connection.execute(f"COPY (SELECT * FROM '{csv}') TO '{copy}' (FORMAT parquet)"))
    schema = dp.Schema({"amount": dp.Number(0, GRID - 1, missing=0), "state": _list(STATES)})
    added = {}
    for name, source in (("large", own), ("from csv", csv)):
        workspace = dp.open_workspace(folder / ("var" if name == "large" else "other"))
        given: dict[str, Any] = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("100", "1e-6")}
        added[name] = spent(lambda w=workspace, n=name, s=source, g=given: w.add_table(n, s, **g))
        must(workspace.table(name).schema.columns, "no table was added.")
        workspace.close()
    return {
        "parquet": added["large"],
        "DuckDB's copy as text": copied,
        "parquet ratio": added["large"] / copied,
        "csv": added["from csv"],
        "DuckDB's csv to parquet": read,
        "csv ratio": added["from csv"] / read,
    }


def spent(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if sys.argv[1:] else 10**7), indent=1))
