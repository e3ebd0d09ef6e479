"""Kill -9 in the middle of a release: what was charged stays charged, nothing is drawn twice, and the next question is
answered as soon as the engine is back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from engines.elsewhere import Elsewhere
from engines.postgres_server import PostgresServer, running
from pyspark import SparkContext

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.statistics.engines import SparkRows
from dpengine.statistics.engines.spark import SparkEngine


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Elsewhere]:
    opened = Elsewhere(tmp_path / "var")
    yield opened
    opened.close()


def brought(home: Elsewhere) -> dp.Table:
    frame = pd.DataFrame({"x": range(200), "town": ["A", "B"] * 100})
    schema = dp.Schema({"x": dp.Number(0, 200), "town": dp.Category(["A", "B"])})
    return home.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))


def killed_between(home: Elsewhere, monkeypatch: pytest.MonkeyPatch, kill: Callable[[], None]) -> None:
    """The engine dies after the charge, before the statistic is read."""
    engine = home.engine.of(home.addresses["t"])
    read = engine.read

    def and_before(*asked: Any, **named: Any) -> object:
        monkeypatch.setattr(engine, "read", read)
        kill()
        return read(*asked, **named)

    monkeypatch.setattr(engine, "read", and_before)


def check(home: Elsewhere, table: dp.Table, restart: Callable[[], None]) -> None:
    query = table.query("count", where=[["town", "in", ["A"]]], epsilon="1")
    for _ in range(2):  # the same request again: charged once, and never drawn
        with pytest.raises(AllowanceError) as failed:
            table.ask(query, "killed")
        assert failed.value.code == "release.failed"
    assert [entry.charge.request for entry in home.ledger.charges(limit=-1)] == ["killed"]
    restart()
    assert table.ask(query, "after").value is not None
    assert len(list(home.ledger.charges(limit=-1))) == 2 and home.verify_ledger().ok


def test_postgres_is_killed_in_the_middle_of_a_release(home: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as server:
        table = brought(home)
        home.to_postgres(table, server)
        killed_between(home, monkeypatch, lambda: all_of(server))
        check(home, table, server.start)


def all_of(server: PostgresServer) -> None:
    """The first process and every one that it started."""
    assert server.process is not None
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    server.stop(signal.SIGKILL)
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)


def test_spark_is_killed_in_the_middle_of_a_release(
    home: Elsewhere, spark: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = brought(home)
    home.engine._spark = spark
    where = home.to_spark(table)
    spark.refuse_away(where)

    def kill() -> None:
        gateway = SparkContext._gateway
        assert gateway is not None
        gateway.proc.kill()
        gateway.proc.wait(60)

    killed_between(home, monkeypatch, kill)
    check(home, table, lambda: None)  # it starts again by itself


def test_files_that_vanish_cost_nothing(home: Elsewhere, spark: SparkEngine, tmp_path: Path) -> None:
    table = brought(home)
    home.engine._spark = spark
    home.addresses["t"] = SparkRows(str(tmp_path / "gone.parquet"))
    with pytest.raises(AllowanceError) as refused:
        table.ask(table.query("count", where=[["town", "in", ["A"]]], epsilon="1"))
    assert refused.value.code == "engine.away" and not list(home.ledger.charges(limit=-1))
