"""A first look's counts beside bare DuckDB: `python -m bench.scan [rows]` (10⁷) makes the file, declares it, and prints
JSON; `bench.marginals` tells it.

20 columns of a made-up table, 12 numbers and 8 lists, two of these of interest: every column by itself and against
both, in groups that a first look chooses. *Ours* is `table.ask` end to end: charge, one pass over the coded file, exact
noise, answer stored. *Counts alone* is the pass. *Bare DuckDB* counts the same cells without privacy, with the settings
that the app gives it, in plain SQL in two ways; the faster counts. Over the coded file, where
it groups codes, and over the person's own, where lists are text. Each in a process of its own, by turns; medians.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from bench.measure import peak_mb
from bench.tasks import BUILD, ROOT, SEED

ROWS, TIMES = 10**7, 2
NUMBERS, LISTS = 12, (2, 6, 2, 3, 5, 8, 12, 16)
AGAINST = ["l0", "l1"]
TOP, STEP = 1_000, 100
FOLDER = BUILD / "scan"
WHO = ("ours", "coded", "own")
_PART = 10**6


def write(rows: int, path: Path) -> None:
    """Numbers with empty cells and some out of range, lists as text; in parts, so that it fits into memory."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random, store = np.random.default_rng(SEED), None
    labels = [np.array([f"value {at}" for at in range(size)]) for size in LISTS]
    for first in range(0, rows, _PART):
        count = min(_PART, rows - first)
        columns: dict[str, Any] = {}
        for place in range(NUMBERS):
            amounts = random.gamma(1 + place % 4, TOP / 8, count).astype(np.int32)  # a few above the range
            columns[f"n{place}"] = pa.array(amounts, mask=random.random(count) < 0.02)
        for place, names in enumerate(labels):
            columns[f"l{place}"] = pa.DictionaryArray.from_arrays(
                pa.array(random.integers(0, len(names), count, dtype=np.int32)), pa.array(names)
            )
        table = pa.table(columns)
        store = store or pq.ParquetWriter(path, table.schema)
        store.write_table(table)
    assert store is not None
    store.close()


def declare(folder: Path) -> None:
    """The file brought in; which of its folders holds the codes."""
    import dpengine as dp

    columns: dict[str, Any] = {f"n{place}": dp.Number(0, TOP, step=1) for place in range(NUMBERS)}
    for place, size in enumerate(LISTS):
        names = [f"value {at}" for at in range(size)]
        columns[f"l{place}"] = dp.Category(names, unknown=names[0], missing=names[0])
    home = dp.open_workspace(folder / "var")
    table = home.add_table(
        "wide",
        folder / "rows.parquet",
        schema=dp.Schema(columns),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("100", "1e-6"),
    )
    coded = next((folder / "var" / "tables" / table._record.folder).glob("coded-*.parquet"))
    (folder / "coded.txt").write_text(str(coded))
    home.close()


def measure(rows: int = ROWS) -> dict[str, Any]:
    folder = FOLDER / str(rows)
    if not (folder / "coded.txt").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for step in (f"write({rows}, Path('{folder}') / 'rows.parquet')", f"declare(Path('{folder}'))"):
            code = f"from pathlib import Path; from bench.scan import declare, write; {step}"
            subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    told: dict[str, list[dict[str, Any]]] = {who: [] for who in WHO}
    for _ in range(2):  # by turns: other work on the machine meets all
        for who in WHO:
            done = subprocess.run(
                [sys.executable, "-m", "bench.scan", str(rows), who], cwd=ROOT, check=True, stdout=subprocess.PIPE
            )
            told[who].append(json.loads(done.stdout.splitlines()[-1]))
    found: dict[str, Any] = {"rows": rows, "columns": NUMBERS + len(LISTS)}
    for who, runs in told.items():
        ways = {way: statistics.median(chain(*(run["times"][way] for run in runs))) for way in runs[0]["times"]}
        found[who] = {"times": ways, "peak_mb": max(run["peak_mb"] for run in runs)}
    return found | {"marginals": told["ours"][0]["marginals"]}


def _timed(ways: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(TIMES + 1):
        for way, work in ways.items():
            began = time.perf_counter()
            work()
            if turn:  # the first one warms up
                found[way].append(time.perf_counter() - began)
    return found


def ours(folder: Path) -> dict[str, Any]:
    import dpengine as dp

    home = dp.open_workspace(folder / "var")
    table = home.table("wide")
    query: Any = table.query("overview", against=AGAINST, epsilon="0.1")
    coded = Path((folder / "coded.txt").read_text())
    ways = {
        "ours": lambda: table.ask(query),
        "counts alone": lambda: home.engine.duck.read(query.need(), coded, table.schema),
    }
    return {"times": _timed(ways), "marginals": len(query.sets), "peak_mb": peak_mb()}


def bare(folder: Path, who: str) -> dict[str, Any]:
    import duckdb

    from dpengine.statistics.engines.duck import SETTINGS

    coded = who == "coded"
    path = (folder / "coded.txt").read_text() if coded else str(folder / "rows.parquet")
    names = [*(f"n{place}" for place in range(NUMBERS)), *(f"l{place}" for place in range(len(LISTS)))]
    cells = {}
    for place, name in enumerate(names):
        if coded:
            cell = f"c{place}"
            number = f"CASE WHEN f{place} = 1 THEN -2 WHEN {cell} < 0 THEN -1 ELSE {cell} // {STEP} END"
        else:
            cell = name
            number = f"CASE WHEN {cell} IS NULL THEN -1 WHEN {cell} > {TOP} THEN -2 ELSE {cell} // {STEP} END"
        cells[name] = f"{number if name.startswith('n') else cell} AS {name}"
    source = f"SELECT {', '.join(cells.values())} FROM read_parquet('{path}')"
    sets = [(name, hub) for hub in AGAINST for name in names if name != hub and (name, hub) != tuple(AGAINST)]
    connection = duckdb.connect(config=SETTINGS)

    def both() -> Any:
        first, second = AGAINST
        rest = [name for name in names if name not in AGAINST]
        return [
            connection.execute(f"SELECT {name}, {first}, {second}, count(*) FROM ({source}) GROUP BY ALL").fetchall()
            for name in rest
        ]

    def grouping() -> Any:
        wanted = ", ".join(f"({a}, {b})" for a, b in sets)
        listed = ", ".join(names)
        sql = f"SELECT {listed}, count(*) FROM ({source}) GROUP BY GROUPING SETS ({wanted})"
        return connection.execute(sql).fetchall()

    ways = {"a statement for each column, with both columns of interest": both, "grouping sets": grouping}
    return {"times": _timed(ways), "peak_mb": peak_mb()}


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    if len(sys.argv) > 2:
        place = FOLDER / str(wanted)
        print(json.dumps(ours(place) if sys.argv[2] == "ours" else bare(place, sys.argv[2])))
    else:
        print(json.dumps(measure(wanted), indent=1))
