"""A table in a lake: Parquet that Spark reads, coded and asked there as a file would be, on one allowance with the same
rows from a file."""

from __future__ import annotations

import hashlib
import hmac
import random
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine.intake.test_coding_expressions import ODD, cell
from engine.intake.test_coding_expressions import SCHEMA as CODED
from pyspark.sql import SparkSession

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.intake.bring_in import code_rows, load_raw
from dpengine.intake.marks import row_key
from dpengine.statistics.counts import RowCount
from dpengine.statistics.engines.spark import SparkEngine
from dpengine.workspace import Workspace

DIALECT = dp.Dialect(thousands=",")


def lake(folder: Path) -> dp.Source:
    return dp.Source("spark", path=str(folder / "*.parquet"))


def add(home: Workspace, source: object, name: str, **terms: Any) -> dp.Table:
    usual: dict[str, Any] = {"schema": CODED, "unit": dp.Unit.rows(), "budget": dp.Budget("20", "1e-6")}
    return home.add_table(name, source, dialect=DIALECT, **(usual | terms))


def codes(folder: Path) -> list[tuple[int, ...]]:
    return sorted(map(tuple, pq.read_table(folder).to_pandas().to_numpy().tolist()))


def test_cells_are_coded_as_from_a_file_and_asked_there(home: Workspace, tmp_path: Path, spark: SparkEngine) -> None:
    chance = random.Random()
    rows = [[cell(chance) for _ in CODED.columns] for _ in range(600)] + [[odd] * len(CODED.columns) for odd in ODD]
    ids = [f" {place // 3}\u00a0" if place % 7 else "" for place in range(len(rows))]
    columns = {
        name: pa.array(values, pa.string()) for name, values in zip(CODED.columns, zip(*rows, strict=True), strict=True)
    }
    whole = pa.table({"id": ids} | columns)
    files = tmp_path / "lake"
    files.mkdir()
    for part in range(3):
        pq.write_table(whole.slice(part * 220, 220 if part < 2 else None), files / f"{part}.parquet")
    for unit in (dp.Unit.rows(), dp.Unit.column("id", 3)):
        name = f"lake {unit.at_most}"
        folder = tmp_path / f"local {unit.at_most}"
        folder.mkdir()
        loaded = load_raw(folder, files, CODED, unit, DIALECT, home._secret)
        people = code_rows(folder, loaded, CODED, unit, DIALECT, home._secret)
        with closing(Workspace(tmp_path / name)) as other:
            table = add(other, lake(files), name, unit=unit)
            record = other.record(name)
            assert table.facts.people == people
            local = load_raw(folder, files, CODED, unit, DIALECT, other._secret)
            assert record.fingerprint == local.fingerprint
            there = other.folder / "tables" / record.folder / "coded-1.parquet"
            mine, theirs = codes(folder / "coded-1.parquet"), codes(there)
            if unit.id_column is None:
                assert theirs == mine
            else:  # people are numbered in another order
                assert sorted(row[:-1] for row in theirs) == sorted(row[:-1] for row in mine)
                assert len({row[-1] for row in theirs}) == people
            assert other.read(RowCount(), record, table.schema) == len(mine)
            assert table.ask(table.query("mean", column="n", epsilon="1")).value is not None
            again = add(other, files, "from files", unit=unit)
            assert again.joined and again.budget.id == table.budget.id


def test_typed_columns_faults_and_newer_files(home: Workspace, tmp_path: Path, spark: SparkEngine) -> None:
    files = tmp_path / "typed"
    files.mkdir()
    typed = pa.table(
        {
            "n": pa.array([1.5, float("nan"), float("inf"), 1e300], pa.float64()),
            "whole": pa.array([5, -1, None, 2**40], pa.int64()),
            "day": pa.array([date(2024, 1, 5), None, date(1, 1, 1), date(2024, 1, 31)]),
            "at": pa.array([datetime(2024, 1, 5, 10, 30), None, None, datetime(2030, 1, 1)], pa.timestamp("us", "UTC")),
            "yes": pa.array([True, False, None, True]),
            "many": pa.array([["a"], [], None, ["b"]]),
        }
    )
    pq.write_table(typed, files / "0.parquet")
    schema = dp.Schema(
        {
            "n": dp.Number(0, 10, step="0.5"),
            "whole": dp.Number(0, 10),
            "day": dp.Date("2024-01-01", "2024-01-31"),
            "at": dp.Date("2024-01-01", "2024-01-31"),
            "yes": dp.yes_no(),
        }
    )
    add(home, lake(files), "typed", schema=schema)
    found = pq.read_table(home.folder / "tables" / home.record("typed").folder / "coded-1.parquet").to_pydict()
    local = tmp_path / "local"
    local.mkdir()
    plain = typed.drop_columns(["many"])
    pq.write_table(plain, tmp_path / "plain.parquet")
    loaded = load_raw(local, tmp_path / "plain.parquet", schema, dp.Unit.rows(), DIALECT, home._secret)
    code_rows(local, loaded, schema, dp.Unit.rows(), DIALECT, home._secret)
    wanted = pq.read_table(local / "coded-1.parquet").to_pydict()
    assert {name: sorted(found[name]) for name in wanted} == {name: sorted(wanted[name]) for name in wanted}
    pq.write_table(typed, files / "1.parquet")
    assert home.bring_newer("typed", "newer").budget.id == home.record("typed").budget
    (files / "1.parquet").write_bytes(b"PAR1 this is none PAR1")
    before = sorted(home.folder.rglob("*"))
    for source, code in (
        (lake(files), "source.lake"),
        (lake(tmp_path / "nowhere"), "source.lake"),
    ):
        with pytest.raises(AllowanceError) as told:
            add(home, source, "refused", schema=schema)
        assert told.value.code == code and sorted(home.folder.rglob("*")) == before


def test_a_lake_is_brought_with_its_keys_in_no_plan_and_its_spill_in_the_workspace(
    home: Workspace, tmp_path: Path, spark: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Spark elsewhere shows plans on its page and in its event log. Whoever brings a lake first starts the Spark that
    is asked later."""
    files = tmp_path / "keyed"
    files.mkdir()
    pq.write_table(pa.table({"id": [1, 1, 2], "n": [3, 4, 5], "m": [6, 7, 8]}), files / "0.parquet")
    plans, spilled = list[str](), list[Path | None]()
    sql, start = SparkSession.sql, SparkEngine._start

    def seen(session: SparkSession, text: str, *more: Any, **named: Any) -> Any:
        found = sql(session, text, *more, **named)
        plans.extend((text, found._jdf.queryExecution().toString()))
        return found

    def started(engine: SparkEngine, master: str) -> SparkSession:
        spilled.append(engine._spill and engine._spill())
        return start(engine, master)

    monkeypatch.setattr(SparkSession, "sql", seen)
    monkeypatch.setattr(SparkEngine, "_start", started)
    home.describe_source(lake(files))
    schema = dp.Schema({"n": dp.Number(0, 10), "m": dp.Number(0, 10)})
    assert add(home, lake(files), "keyed", schema=schema, unit=dp.Unit.column("id", 1)).facts.people == 2
    of_rows = hmac.new(home._secret, b"allowance: which rows, in place", hashlib.sha256).hexdigest()
    assert len(plans) > 4 and not any(key in plan for plan in plans for key in (of_rows, row_key(home._secret)))
    assert len(spilled) == 2 and all(one and one.parent == home.folder / "tmp" for one in spilled)
    assert not list(home.folder.rglob("keys.parquet"))
