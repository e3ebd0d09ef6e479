"""A Spark that is not in this process: a master with two workers, and a Spark Connect server, as processes of this
machine. A lake is brought and asked there, and every answer's statistic is what it means.

A process has one Spark of its own, and the other tests have that: so each journey runs in a process beside. They take
minutes, six Java machines at once, so `make test-clusters` runs them and `make test-engines` does not."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines.spark_processes import cluster, connect_server, environment

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.statistics.counts import BinCounts, Distribution, Moments, RowCount
from dpengine.workspace import Workspace

ROWS = 200
SCHEMA = dp.Schema({"n": dp.Number(0, 99), "town": dp.Category(["a", "b"])})
NEEDS: dict[str, Any] = {
    "count": RowCount(),
    "histogram": BinCounts("town", (0, 1, 2, 3), 4),
    "mean": Moments("n", 100, 1, None, 1),
    "ranks": Distribution("n", 100),
}


def journey(address: str, folder: Path) -> dict[str, object]:
    """Everything that a person does with a lake, on one Spark."""
    with closing(Workspace(folder / "var")) as home:
        source = dp.Source(address, path=str(folder / "lake" / "*.parquet"))
        assert [one.name for one in home.describe_source(source).columns] == ["n", "town"]
        budget = dp.Budget("20", "1e-6")
        table = home.add_table("lake", source, schema=SCHEMA, unit=dp.Unit.rows(), budget=budget)
        record = home.record("lake")
        found = {name: home.read(need, record, SCHEMA) for name, need in NEEDS.items()}
        few = [["n", "<", 50]]
        asked: dict[str, Any] = {
            "count": {"where": few},
            "histogram": {"column": "town"},
            "mean": {"column": "n"},
            "median": {"column": "n"},
        }
        answers = [table.ask(table.query(key, epsilon="1", **given)) for key, given in asked.items()]
        ranks = found.pop("ranks")
        told = {name: value if isinstance(value, int) else list(value) for name, value in found.items()}
        told["ranks"] = [ranks.codes.tolist(), ranks.counts.tolist()]
        return told | {"people": table.facts.people, "answers": sum(one.value is not None for one in answers)}


def meant() -> dict[str, object]:
    rows = [{"n": at % 100, "town": at % 2} for at in range(ROWS)]
    ranks = NEEDS["ranks"].of(rows)
    found = {name: need.of(rows) for name, need in NEEDS.items() if name != "ranks"}
    told = {name: value if isinstance(value, int) else list(value) for name, value in found.items()}
    told["ranks"] = [ranks.codes.tolist(), ranks.counts.tolist()]
    return json.loads(json.dumps(told | {"people": ROWS, "answers": 4}))


def travelled(address: str, folder: Path) -> None:
    (folder / "lake").mkdir()
    for part in range(2):
        places = range(part * ROWS // 2, (part + 1) * ROWS // 2)
        columns = {"n": [at % 100 for at in places], "town": ["ab"[at % 2] for at in places]}
        pq.write_table(pa.table(columns), folder / "lake" / f"{part}.parquet")
    assert beside(address, folder) == meant()


def beside(address: str, folder: Path) -> Any:
    """The journey in a process of its own, whose PySpark no other test has touched; or why it was refused."""
    known = ("PySpark does not yet fully support pandas:FutureWarning", "[RETRIES_EXCEEDED]:UserWarning")
    known_too = [word for one in known for word in ("-W", f"ignore:{one}")]
    words = [sys.executable, "-W", "error", *known_too, "-m", "engines.test_spark_elsewhere", address, str(folder)]
    run = subprocess.run(words, capture_output=True, text=True, timeout=500, env=environment(), check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_master_with_two_workers_is_asked(tmp_path: Path) -> None:
    with cluster() as (address, workers):
        travelled(address, tmp_path)
        assert all(any(worker.glob("app-*/*")) for worker in workers)  # both had a part in it


@pytest.mark.long
@pytest.mark.timeout(600)
def test_spark_connect_is_asked(tmp_path: Path) -> None:
    with connect_server() as address:
        travelled(address, tmp_path)


def test_a_spark_connect_that_is_not_there_is_told_soon_and_costs_nothing(tmp_path: Path) -> None:
    assert beside("sc://127.0.0.1:9", tmp_path) == "source.lake"


def main(address: str, folder: str) -> str:
    try:
        return json.dumps(journey(address, Path(folder)))
    except AllowanceError as refusal:
        return json.dumps(refusal.code)


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
