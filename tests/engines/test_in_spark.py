"""A table in a lake: Parquet that Spark reads, coded and asked there as a file would be, on one allowance with the same
rows from a file."""

from __future__ import annotations

import hashlib
import hmac
import random
from contextlib import closing
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine.intake.test_coding_expressions import ODD, cell
from engine.intake.test_coding_expressions import SCHEMA as CODED
from engines.sets import SETS, from_file, some_rows, tuples
from engines.states import catalogue
from pyspark.sql import SparkSession

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.cell_kinds import ABOVE
from dpengine.intake.bring_in import Declared, code_rows, load_raw
from dpengine.intake.marks import row_key
from dpengine.statistics.counts import RowCount
from dpengine.statistics.engines import SparkRows, every_row
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
        declared = Declared(CODED, unit, DIALECT, home._secret)
        loaded = load_raw(folder, files, declared)
        people, _ = code_rows(folder, loaded, declared)
        with closing(Workspace(tmp_path / name)) as other:
            table = add(other, lake(files), name, unit=unit)
            record = other.record(name)
            assert table.facts.people == people
            local = load_raw(folder, files, Declared(CODED, unit, DIALECT, other._secret))
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
    declared = Declared(schema, dp.Unit.rows(), DIALECT, home._secret)
    code_rows(local, load_raw(local, tmp_path / "plain.parquet", declared), declared)
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


def test_one_column_and_a_new_description(home: Workspace, tmp_path: Path, spark: SparkEngine) -> None:
    files = tmp_path / "one"
    files.mkdir()
    pq.write_table(pa.table({"n": [1, 2, 3, 40]}), files / "0.parquet")
    table = add(home, lake(files), "one", schema=dp.Schema({"n": dp.Number(0, 9)}))
    folder = home.folder / "tables" / home.record("one").folder
    assert codes(folder / "coded-1.parquet") == [(1, 0, 0), (2, 0, 0), (3, 0, 0), (9, ABOVE, 1)]
    for top in (50, 60):
        table = table.revise(dp.Schema({"n": dp.Number(0, top)}))
    assert codes(folder / "coded-3.parquet") == [(1, 0, 0), (2, 0, 0), (3, 0, 0), (40, 0, 0)]
    assert sorted(one.name for one in folder.glob("coded-*")) == [f"coded-{version}.parquet" for version in (1, 2, 3)]
    assert table.ask(table.query("mean", column="n", epsilon="1")).value is not None
    pq.write_table(pa.table({"n": [5]}), files / "1.parquet")
    with pytest.raises(AllowanceError) as told:
        table.revise(dp.Schema({"n": dp.Number(0, 70)}))
    assert told.value.code == "source.moved_on" and home.record("one").version == 3
    assert sorted(one.name for one in folder.glob("coded-*")) == [f"coded-{version}.parquet" for version in (1, 2, 3)]


@pytest.mark.parametrize(
    ("unit", "arrays"),
    [
        pytest.param(dp.Unit.rows(), False, id="rows"),
        pytest.param(dp.Unit.column("id", 2), True, id="people, arrays"),
        pytest.param(dp.Unit.rows(), True, id="rows, arrays", marks=pytest.mark.long),
        pytest.param(dp.Unit.column("id", 2), False, id="people", marks=pytest.mark.long),
    ],
)
def test_sets_are_coded_as_from_a_file(
    home: Workspace, tmp_path: Path, spark: SparkEngine, unit: dp.Unit, arrays: bool
) -> None:
    """As texts, or the first column as an array."""
    rows = list(zip(*some_rows(random.Random(), 300), strict=True))
    names = ["id", *SETS.columns]
    plain = pa.table({name: pa.array(cells, pa.string()) for name, cells in zip(names, rows, strict=True)})
    split = pa.array([None if cell is None else cell.split("|") for cell in rows[1]], pa.list_(pa.string()))
    for folder, whole in (("here", plain), ("lake", plain.set_column(1, "tags", split) if arrays else plain)):
        (tmp_path / folder).mkdir()
        pq.write_table(whole, tmp_path / folder / "0.parquet")
    here, every, people = from_file(tmp_path / "here", unit, tmp_path / "coded here", home._secret)
    table = add(home, lake(tmp_path / "lake"), "lake", schema=SETS, unit=unit)
    coded = SparkRows(str(home.folder / "tables" / home.record("lake").folder / "coded-1.parquet"))
    found = tuples(row.values() for row in pq.read_table(coded.path).to_pylist())
    assert table.facts.people == people and len(found) == len(here)
    if unit.id_column is None:
        assert found == here
    else:  # people are numbered in another order
        all_of_them = tuples(row.values() for row in pq.read_table(every_row(coded).path).to_pylist())
        assert tuples(row[:9] + row[10:] for row in all_of_them) == tuples(row[:9] + row[10:] for row in every)
        assert set(found) <= {row[:10] for row in all_of_them}
    assert table.ask(table.query("histogram", column="tags", epsilon="1")).value is not None


def test_a_table_of_the_catalogue_is_brought_and_no_path_or_view_under_its_name(
    home: Workspace, tmp_path: Path, spark: SparkEngine
) -> None:
    session = spark.session("local[2]")
    pq.write_table(pa.table({"n": [1, 2, 3]}), tmp_path / "rows.parquet")
    rows = session.read.parquet(str(tmp_path / "rows.parquet"))
    rows.write.option("path", str(tmp_path / "visits")).mode("overwrite").saveAsTable("visits")
    rows.createOrReplaceTempView("coded_of_somebody")
    schema = dp.Schema({"n": dp.Number(0, 9)})
    table = add(home, dp.Source("spark", table="default.visits"), "care", schema=schema)
    assert table.facts.people == 3
    session.sql("INSERT INTO visits VALUES (7)")
    newer = home.bring_newer("care", "newer")
    assert newer.joined and newer.facts.people == 4
    before = sorted(home.folder.rglob("*"))
    for named, more, code in (
        ("coded_of_somebody", {}, "source.lake"),
        (f'parquet."{tmp_path}/rows.parquet"', {}, "source.lake"),
        ("default.visits", {"snapshot": "3"}, "source.no_state"),  # Parquet keeps no states
        ("nowhere", {}, "source.lake"),
    ):
        with pytest.raises(AllowanceError) as told:
            add(home, dp.Source("spark", table=named, **more), "refused", schema=schema)
        assert told.value.code == code and sorted(home.folder.rglob("*")) == before
    session.sql("DROP TABLE visits")


def test_a_state_of_a_table_is_brought_and_the_newest_after_it(
    home: Workspace, tmp_path: Path, spark: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a catalogue that keeps states, by the statement that is written here; the table itself goes on meanwhile."""
    for state, numbers in (("7", [1, 2, 3]), ("tag.a:1-b", [4]), ("now", [5, 6])):
        (tmp_path / "visits" / state).mkdir(parents=True)
        pq.write_table(pa.table({"n": numbers}), tmp_path / "visits" / state / "0.parquet")
    asked = list[str]()
    sql = SparkSession.sql
    monkeypatch.setattr(SparkSession, "sql", lambda own, text, *a, **k: asked.append(text) or sql(own, text, *a, **k))
    schema = dp.Schema({"n": dp.Number(0, 9)})
    with catalogue(spark.session("local[2]"), tmp_path) as named:
        of = partial(dp.Source, "spark", table=f"{named}.care.visits")
        for state, people in (("7", 3), ("tag.a:1-b", 1)):
            table = add(home, of(snapshot=state), f"state {state}", schema=schema)
            assert f"SELECT * FROM `{named}`.`care`.`visits` VERSION AS OF '{state}'" in asked
            assert table.facts.people == people
            newest = home.bring_newer(f"state {state}", f"after {state}")
            assert asked.count(f"SELECT * FROM `{named}`.`care`.`visits`") > 0
            assert newest.joined and newest.facts.people == 2
            asked.clear()
        before = sorted(home.folder.rglob("*"))
        for state in ("8", "tag.b"):
            for refused in (lambda one: add(home, one, "refused", schema=schema), home.describe_source):
                with pytest.raises(AllowanceError) as told:
                    refused(of(snapshot=state))
                assert told.value.code == "source.no_state" and sorted(home.folder.rglob("*")) == before


def test_a_process_has_one_spark(home: Workspace, tmp_path: Path, spark: SparkEngine) -> None:
    """PySpark would answer from the one that runs, whichever was asked for."""
    spark.session("local[2]")
    with pytest.raises(AllowanceError) as told:
        home.describe_source(dp.Source("spark://127.0.0.1:7077", path=str(tmp_path)))
    assert told.value.code == "engine.other_spark"


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
