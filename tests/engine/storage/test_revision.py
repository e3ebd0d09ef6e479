"""A table declared anew: same rows, same budget, answers already given as they were."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.ledger.sqlite_file import VERSION
from dpengine.storage.redeclare import SPARED
from dpengine.storage.registry import Registry
from dpengine.workspace import Workspace
from tests.helpers_ledger import PATIENCE

NARROW = dp.Schema({"pay": dp.Number(0, 100), "town": dp.Category(["Mill", "Hill"])})
WIDE = dp.Schema({"pay": dp.Number(0, 500), "town": dp.Category(["Hill", "Quay", "Mill"]), "age": dp.Number(0, 120)})


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def add(workspace: Workspace, unit: dp.Unit | None = None, **changes: Any) -> dp.Table:
    frame = pd.DataFrame(
        {"who": range(600), "pay": [50] * 300 + [400] * 300, "town": ["Mill", "Hill", "Quay"] * 200, "age": [30] * 600}
    )
    return workspace.add_table(
        "people", frame, schema=NARROW, unit=unit or dp.Unit.rows(), budget=dp.Budget("90", "1e-6"), **changes
    )


def coded(workspace: Workspace) -> list[str]:
    return sorted(path.name for path in (workspace.folder / "tables").rglob("coded*"))


@pytest.mark.parametrize("unit", [dp.Unit.rows(), dp.Unit.column("who", at_most=2)], ids=["rows", "id"])
def test_the_same_rows_under_another_schema(workspace: Workspace, unit: dp.Unit) -> None:
    old = add(workspace, unit)
    bars = old.ask(old.query("histogram", column="town", epsilon="5"), request_id="bars")
    high = old.ask(old.query("count", where=[["pay", ">", 90]], epsilon="5"), request_id="high")
    before = old.meter()
    table = old.revise(WIDE)
    assert table.meter() == before and table.budget == old.budget and table.facts.people == 600
    assert table.schema == WIDE == workspace.table("people").schema
    mean = table.ask(table.query("quantile", column="pay", share="0.9", epsilon="5")).value
    assert 350 < mean < 450  # was clamped to 100 before
    assert abs(table.ask(table.query("histogram", column="town", epsilon="5")).value["Quay"] - 200) < 30
    # What was answered keeps its bars and its meaning.
    for given, kept in ((bars, workspace.job("bars").answer), (high, workspace.job("high").answer)):
        assert kept is not None and kept.value == given.value and kept.interval == given.interval
        assert kept.sentence == given.sentence and kept.receipt == given.receipt and kept.promise == given.promise
    assert list(workspace.job("bars").answer.value) == ["Mill", "Hill", "other", "no answer"]  # type: ignore[union-attr]
    # The same words are another question now: nothing of the old one is recalled for it.
    assert table.recall(table.query("count", where=[["pay", ">", 90]], epsilon="5")) == []
    assert len(old.recall(high.query)) == 1
    assert workspace.verify_ledger().ok


def test_a_check_of_what_was_declared_keeps_its_meaning_when_a_column_is_added(workspace: Workspace) -> None:
    """No bound that it names has changed, but it did not look at the new column."""
    old = add(workspace)
    first = old.ask(old.query("fit_check", epsilon="5"), request_id="fit")
    table = old.revise(dp.Schema({**NARROW.columns, "age": dp.Number(0, 20)}))
    kept = workspace.job("fit").answer
    assert kept is not None and kept.query.used() == {"pay", "town"} and kept.receipt == first.receipt
    assert [look.request_id for look in table.looks(kept.query).answers] == ["fit"]
    assert kept.query.facts != table.facts and table.looks(table.query("fit_check", epsilon="5")).count == 0


def test_an_old_table_is_told_and_spends_nothing(workspace: Workspace) -> None:
    old = add(workspace)
    query = old.query("histogram", column="town", epsilon="1")
    answer = old.ask(query, request_id="one")
    old.revise(WIDE)
    with pytest.raises(dp.AllowanceError) as refused:
        old.ask(query)
    assert refused.value.code == "table.revised" and old.meter().charges == 1
    assert old.ask(query, request_id="one").value == answer.value  # what was paid for is still there
    with pytest.raises(dp.AllowanceError) as reused:
        new = workspace.table("people")
        new.ask(new.query("histogram", column="town", epsilon="1"), request_id="one")
    assert reused.value.code == "request.reused"


def test_a_question_under_way_reads_the_file_it_began_with(workspace: Workspace) -> None:
    table, read = add(workspace), workspace.engine.duck.read
    begun, go = threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        begun.set()
        go.wait(PATIENCE)
        return read(*given)

    workspace.engine.duck.read = slow  # type: ignore[method-assign]
    table.submit(table.query("histogram", column="town", epsilon="5"), request_id="slow")
    assert begun.wait(PATIENCE)
    for schema in (WIDE, NARROW, WIDE):
        table = table.revise(schema)
    go.set()
    assert workspace.jobs.wait("slow", PATIENCE).state == "done"
    answer = workspace.job("slow").answer
    assert answer is not None and list(answer.value) == ["Mill", "Hill", "other", "no answer"]
    assert abs(answer.value["other"] - 200) < 30


def test_replaced_codings_stay_for_an_hour_and_the_last_one_longer(workspace: Workspace) -> None:
    table = add(workspace)
    for schema in (WIDE, NARROW, WIDE):
        table = table.revise(schema)
    assert coded(workspace) == [f"coded-{version}.parquet" for version in (1, 2, 3, 4)]
    for path in (workspace.folder / "tables").rglob("coded*"):
        hours_ago = path.stat().st_mtime - 2 * SPARED
        os.utime(path, (hours_ago, hours_ago))
    table.revise(NARROW)
    assert coded(workspace) == ["coded-4.parquet", "coded-5.parquet"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in workspace.folder.rglob("*"))


def test_what_is_wrong_leaves_everything_as_it_was(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    table = add(workspace)
    with pytest.raises(dp.AllowanceError) as refused:
        table.revise(dp.Schema({"nobody": dp.Number(0, 1)}))
    assert refused.value.code == "column.absent" and coded(workspace) == ["coded-1.parquet"]
    with pytest.raises(dp.AllowanceError) as refused:
        workspace.table("residents").revise(WIDE)
    assert refused.value.code == "table.practice"

    def broken(*_: Any) -> None:
        raise dp.AllowanceError("ledger.locked")

    monkeypatch.setattr(Registry, "update", broken)
    with pytest.raises(dp.AllowanceError):
        table.revise(WIDE)
    assert workspace.table("people").schema == NARROW
    assert workspace.table("people").ask(table.query("histogram", column="town", epsilon="1")).value
    assert table.meter().spent_epsilon == Fraction(1)


def test_two_revisions_at_once_end_with_one_of_them(workspace: Workspace) -> None:
    add(workspace)
    other = Workspace(workspace.folder)
    threads = [
        threading.Thread(target=place.table("people").revise, args=[schema])
        for place, schema in ((workspace, WIDE), (other, NARROW))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table = workspace.table("people")
    assert workspace._registry.get("people").version == 3  # type: ignore[union-attr]
    bars = table.ask(table.query("histogram", column="town", epsilon="5")).value
    assert sum(abs(count - 200) < 30 for count in bars.values()) == 3
    other.close()


@pytest.mark.parametrize(("version", "code"), [(VERSION + 1, "workspace.newer"), (VERSION - 1, "workspace.older")])
def test_a_workspace_of_another_version_is_left_alone(tmp_path: Path, version: int, code: str) -> None:
    workspace = Workspace(tmp_path / "var")
    add(workspace)
    workspace.close()
    path = tmp_path / "var" / "registry.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(dp.AllowanceError) as refused:
        Workspace(tmp_path / "var")
    assert refused.value.code == code and path.read_bytes() == before
