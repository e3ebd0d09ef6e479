"""Date columns: one public, total rule for a cell; ISO text wherever a person sees a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import MISSING, Schema
from dpengine.intake.encode import encode
from dpengine.workspace import Workspace

BORN = dp.Date("1990-01-01", "1999-12-31")
NO_DATES = [
    "",
    " ",
    "n/a",
    "1990",
    "90-01-01",
    "1990-13-01",
    "1990-02-30",
    "1990-01",
    "1990-1.1",
    "0000-01-01",
    "1990-01-01x",
    "1990-01-01 noon",
    "19900101",
    "١٩٩٠-٠١-٠١",
    "1990--01-01",
    "x" * 70_000,
    "1990-01-01 " + "0" * 90,
    "32874",
    "inf",
]


def codes(cells: list[str | None], column: dp.Date, folder: Path) -> tuple[list[int], list[int]]:
    pq.write_table(pa.table({"born": pa.array(cells, pa.string())}), folder / "raw")
    encode(folder / "raw", Schema({"born": column}), dp.Dialect(), folder / "coded")
    found = pq.read_table(folder / "coded")
    return found["c0"].to_pylist(), [int(kind < 0) for kind in found["f0"].to_pylist()]


def test_days_by_hand(tmp_path: Path) -> None:
    cells: list[str | None] = ["1990-01-01", " 1990/1/2 ", "1990.01.03", "1990-01-04T23:59:59Z"]
    cells += ["1990-01-05 10:00:00.123456"]
    cells += ["1889-05-05", "2020-01-01", "1999-12-31 12:30 PM", "1990-01-06 00:00:00+02:00", None, "31.12.1999"]
    found, faults = codes(cells, BORN, tmp_path)
    assert found == [0, 1, 2, 3, 4, 0, BORN.size - 1, BORN.size - 1, 5, MISSING, MISSING]
    assert faults == [0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1]


@pytest.mark.parametrize(("order", "second"), [("dmy", "2.1.1990"), ("mdy", "1/2/1990"), ("ymd", "1990-01-02")])
def test_the_declared_order(order: str, second: str, tmp_path: Path) -> None:
    column = dp.Date("1990-01-01", "1999-12-31", order)
    iso = "1990-01-03"  # a year of four digits in front has one meaning
    found, _ = codes([second, iso, second.replace(".", ". ").replace("/", "/ "), f"{second} 08:15"], column, tmp_path)
    assert found == [1, 2, 1, 1]


def test_a_dot_after_the_year_as_croatian_writes_it(tmp_path: Path) -> None:
    column = dp.Date("1990-01-01", "1999-12-31", "dmy")
    found, faults = codes(["2.1.1990.", "2. 1. 1990. 08:15", "1990.01.02.", "2.1.1990.."], column, tmp_path)
    assert found == [1, 1, MISSING, MISSING] and faults == [0, 0, 1, 1]
    assert [column.day(cell) for cell in ("2.1.1990.", "2. 1. 1990. 08:15", "2.1.1990..")] == [1, 1, None]


@pytest.mark.parametrize("order", ["ymd", "dmy", "mdy"])
def test_what_is_no_date_is_missing(order: str, tmp_path: Path) -> None:
    found, faults = codes([*NO_DATES], dp.Date("1990-01-01", "1999-12-31", order), tmp_path)
    assert set(found) == {MISSING}
    assert faults == [int(bool(cell.strip())) for cell in NO_DATES]


def test_round_trip_and_values() -> None:
    for column in (BORN, dp.Date(date(1, 1, 1), datetime(9999, 12, 31, 5), order="mdy")):
        schema = dp.Schema({"born": column})
        assert dp.Schema.from_json(schema.as_json()) == schema
        assert column.value(0) == column.first.isoformat() and column.value(column.size - 1) == column.last.isoformat()
        assert column.code(column.last.isoformat()) == column.size - 1


def test_declarations_are_refused_in_one_sentence() -> None:
    wrong: list[tuple[str, Callable[[], Any]]] = [
        ("date.reversed", lambda: dp.Date("2000-01-02", "2000-01-01")),
        ("date.reversed", lambda: dp.Date("2000-01-01", "2000-01-01")),
        ("date.unreadable", lambda: dp.Date("2000-02-30", "2001-01-01")),
        ("date.unreadable", lambda: dp.Date("1.1.2000", "2001-01-01")),
        ("date.unreadable", lambda: dp.Date(2000, 2001)),
        ("date.order", lambda: dp.Date("2000-01-01", "2001-01-01", order="dym")),
        ("schema.unreadable", lambda: dp.Schema.from_json({"columns": [["a", {"kind": "date", "first": "2000"}]]})),
    ]
    for code, declare in wrong:
        with pytest.raises(AllowanceError) as refused:
            declare()
        assert refused.value.code == code and str(refused.value).endswith(".")


@pytest.fixture
def table(tmp_path: Path) -> dp.Table:
    workspace = Workspace(tmp_path / "var")
    days = pd.date_range("1990-01-01", "1999-12-31", periods=2_000).strftime("%d.%m.%Y")
    frame = pd.DataFrame({"born": [*days, None, "never", "1.1.1700"], "none": [None] * 2_003})
    schema = dp.Schema({"born": dp.Date("1990-01-01", "1999-12-31", "dmy"), "none": BORN})
    return workspace.add_table(
        "people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("90", "1e-6"), relation="replace"
    )


def test_questions_about_days(table: dp.Table) -> None:
    median = table.ask(table.query("median", column="born", epsilon="8"))
    assert "1994-10-01" < median.value < "1995-04-01" and median.interval[0] <= median.value <= median.interval[1]
    assert table.history()[0].charge.claim["bounds"]["born"]["first"] == "1990-01-01"
    bars = table.ask(table.query("histogram", column="born", bins=["1990-01-01", "1995-01-01"], epsilon="8")).value
    assert list(bars) == ["1990-01-01–1994-12-31", "1995-01-01–1999-12-31"]
    assert all(abs(count - 1_000) < 30 for count in bars.values())
    assert len(table.query("histogram", column="born", bins=10, epsilon="1").labels()) == 10
    where = [["born", "between", ["1980-01-01", "1990-12-31"]]]
    query = table.query("count", where=where, epsilon="8")
    assert query.parameters()["where"] == where and "from 1980-01-01 to 1990-12-31" in query.sentence()
    assert abs(table.ask(query).value - 201) < 20
    by_share = table.ask(table.query("quantile", column="born", share=["0.25", "0.75"], with_range=False, epsilon="8"))
    assert by_share.value["25 %"] < "1993-01-01" < "1997-01-01" < by_share.value["75 %"]
    for key in ("median", "histogram"):  # nobody has a day there
        assert table.ask(table.query(key, column="none", epsilon="4")).value


@pytest.mark.every(3)
@pytest.mark.parametrize("key", ["mean", "sum", "variance", "top_item"])
def test_days_are_not_added_up(table: dp.Table, key: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        table.query(key, column="born", epsilon="1")
    assert refused.value.code == "column.wrong_kind" and str(refused.value).endswith(".")


@pytest.mark.every(3)
@pytest.mark.parametrize("operand", ["5", 5, "1990-02-30", None, ["1990-01-01"], "1.1.1990"])
def test_a_bad_day_in_a_condition_is_one_sentence(table: dp.Table, operand: Any) -> None:
    for op in ("=", "<", "between"):
        with pytest.raises(AllowanceError) as refused:
            table.query("count", where=[["born", op, operand]], epsilon="1")
        assert str(refused.value).endswith(".")
    with pytest.raises(AllowanceError, match="rise"):
        table.query("histogram", column="born", bins=["1995-01-01", "1994-01-01"], epsilon="1")
    with pytest.raises(AllowanceError, match="1990-01-01 and 1999-12-31"):
        table.query("histogram", column="born", bins=["1989-01-01", "1994-01-01"], epsilon="1")
