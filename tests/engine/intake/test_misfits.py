"""What does not fit, where the numbers lie, which values occur: bought before or after a table is declared."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.declared.cell_kinds import ABOVE, EMPTY, FITS, UNREADABLE
from dpengine.declared.unit import RELATIONS
from dpengine.intake.encode import encode
from dpengine.statistics.counts import MisfitCount
from dpengine.statistics.raw_cells import BANDS, EDGES, band, kind_of
from dpengine.statistics.raw_needs import Bands, Values
from dpengine.workspace import Workspace

USUAL = dp.Dialect()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def add(workspace: Workspace, frame: Any, **changes: Any) -> dp.Table:
    given: dict[str, Any] = {
        "schema": dp.Schema({"pay": dp.Number(0, 100), "town": dp.Category(["Mill", "Hill"])}),
        "unit": dp.Unit.rows(),
        "relation": "replace",
        "budget": dp.Budget("99", "1e-6"),
    }
    return workspace.add_table("people", frame, **(given | changes))


def test_misfits_by_hand() -> None:
    number = dp.Number(0, 10, step="0.5", missing=3)
    closed = dp.Category(["Mill", "Hill"], unknown="Hill", missing="Mill", aliases={"m": "Mill"})
    items, one = dp.ItemSet(["a", "b"]), dp.ItemSet(["a b", "c"], separator=None)
    fits: list[tuple[Any, list[str]]] = [
        (number, ["", "  ", "0", "10", "10.0", "3.3", "+5", "1e1"]),
        (closed, ["", "mill", " HILL ", "M"]),
        (dp.Category(["x"]), ["other", "no answer", "X"]),
        (dp.Category(["x", "y"], complete=True, aliases={"z": "y"}, spellings="missing-1"), ["X", "y", "z"]),
        (dp.Date("1990-01-01", "1990-12-31"), ["", "1990-01-01", "1990/12/31 10:00"]),
        (items, ["", "a", "A|b", "b||a", " b "]),
        (one, ["a b", "C", ""]),
    ]
    faults: list[tuple[Any, list[str]]] = [
        (number, ["-0.0001", "10.00000000000000000000001", "inf", "-inf", "ten", "nan", "5 €", "1e999"]),
        (closed, ["other", "Mil", "-"]),
        (dp.Category(["x"]), ["y"]),
        (
            dp.Category(["x", "y"], complete=True, spellings="missing-1"),
            ["", " ", "?", "NA", "other", "no answer", "w"],
        ),
        (dp.Date("1990-01-01", "1990-12-31"), ["1989-12-31", "1991-01-01", "31.12.1990", "soon"]),
        (items, ["c", "a|c", "a,b"]),
        (one, ["a", "b c"]),
    ]
    for wanted, cases in ((False, fits), (True, faults)):
        for column, cells in cases:
            found = {cell: kind_of("a", column, USUAL)(cell) < FITS for cell in cells}
            assert found == dict.fromkeys(cells, wanted)


def test_flags_in_the_coded_file_are_what_the_engine_counts(workspace: Workspace, tmp_path: Path) -> None:
    schema = dp.Schema({"pay": dp.Number(0, 100), "town": dp.Category(["Mill", "Hill"])})
    cells = {"pay": ["5", "500", None, "x", "7"], "town": ["Mill", "Hull", "Hill", "Hull", None]}
    pq.write_table(pa.table({name: pa.array(texts, pa.string()) for name, texts in cells.items()}), tmp_path / "raw")
    encode(tmp_path / "raw", schema, USUAL, tmp_path / "coded")
    found = pq.read_table(tmp_path / "coded").to_pydict()
    assert (found["f0"], found["f1"], found["fault"]) == (
        [FITS, ABOVE, EMPTY, UNREADABLE, FITS],
        [FITS, UNREADABLE, FITS, UNREADABLE, EMPTY],
        [0, 1, 0, 1, 0],
    )
    rows = [
        {"fault": any_, "kind pay": pay, "kind town": town}
        for any_, pay, town in zip(found["fault"], found["f0"], found["f1"], strict=True)
    ]
    for need in (MisfitCount(), MisfitCount("pay"), MisfitCount("town")):
        assert workspace.engine.duck.read(need, tmp_path / "coded", schema) == need.of(rows) == 2


@pytest.mark.parametrize("unit", [dp.Unit.rows(), dp.Unit.column("who", at_most=2)], ids=["rows", "id"])
def test_fit_check_from_a_file(workspace: Workspace, unit: dp.Unit) -> None:
    frame = pd.DataFrame({"who": range(400), "pay": ["5"] * 300 + ["500"] * 100, "town": ["Mill"] * 350 + ["?"] * 50})
    table = add(workspace, frame, unit=unit)
    every, town = (table.ask(table.query("fit_check", epsilon="10", **more)) for more in ({}, {"column": "town"}))
    assert abs(every.value - 100) < 12 and abs(town.value - 50) < 12 and town.interval[0] <= town.value
    assert "town" in town.sentence and set(every.receipt["claim"]["bounds"]) == {"pay", "town"}
    with pytest.raises(dp.AllowanceError, match="nobody"):
        table.query("fit_check", column="nobody", epsilon="1")


# --- ranges that are found


def test_bands_by_hand() -> None:
    places = {"0": 0, "-0": 0, "0.0009": 0, "1": 1, "1.999": 1, "2": 2, "1000": 512, "1e30": 2**39, "inf": 2**39}
    places |= {"-1": -1, "-1.5": -2, "-3": -4, "-1e30": -(2**40), "-inf": -(2**40), "-0.0001": -(2**-10)}
    for text, lower in places.items():
        assert EDGES[band(text) or 0] == lower
    assert band("nan") is None and len(EDGES) == BANDS + 1 == 103 and sorted(EDGES) == list(EDGES)


@pytest.mark.every(3)
@pytest.mark.parametrize("unit", [dp.Unit.rows(), dp.Unit.column("who", at_most=1)], ids=["rows", "id"])
@pytest.mark.parametrize(("relation", "noise"), list(zip(RELATIONS, ("laplace", ""), strict=True)))
def test_the_range_of_an_undeclared_column(workspace: Workspace, unit: dp.Unit, relation: str, noise: str) -> None:
    """Ages 18 to 90 in a column that nobody declared; a few impossible ones do not show. Wrong with chance β = 1e-8."""
    ages = [str(18 + place % 73) for place in range(2_000)] + ["-5", "99999", "old", None, "1,5"]
    frame = pd.DataFrame({"who": range(2_005), "pay": "5", "town": "Mill", "age": ages, "empty": None})
    about = 2_000 if relation == "add_remove" else None
    table = add(workspace, frame, unit=unit, relation=relation, about_rows=about)
    query = table.query("find_declarations", numbers=["age"], epsilon="2", beta="1e-8", noise=noise)
    assert table.preview(query).admissible
    answer = table.ask(query, request_id="range")
    low, high = answer.value["age: From"], answer.value["age: To"]
    ages_outside = sum(not low <= age < high for age in (18 + place % 73 for place in range(2_000)))
    assert ages_outside <= 2 * query.promise().amount and low >= 1 and high <= 1024
    assert workspace.job("range").answer is not None and list(table.recall(query)[0].value)[:2] == [
        "age: From",
        "age: To",
    ]
    nothing = table.ask(table.query("find_declarations", numbers=["empty"], epsilon="2", beta="1e-8", noise=noise))
    assert list(nothing.value) == ["empty: Hold"]
    with pytest.raises(dp.AllowanceError) as refused:
        table.query("find_declarations", numbers=["nobody"], epsilon="1")
    assert refused.value.code == "column.absent"


def test_a_declared_decimal_sign_counts(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("pay;town;weight\n" + "5;Mill;70,5\n" * 900)
    table = add(workspace, path, dialect=dp.Dialect(separator=";", decimal=","))
    query = table.query("find_declarations", numbers=["weight"], epsilon="5", beta="1e-8")
    assert (answer := table.ask(query).value)["weight: From"] == 64 and answer["weight: To"] == 128


# --- lists that are found


@pytest.mark.parametrize("unit", [dp.Unit.rows(), dp.Unit.column("who", at_most=2)], ids=["rows", "id"])
def test_the_values_of_an_undeclared_column(workspace: Workspace, unit: dp.Unit) -> None:
    jobs = ["Cook", " cook", "COOK", "Nurse"] * 400 + ["spy zebra7421", None, ""]
    frame = pd.DataFrame({"who": range(len(jobs)), "pay": "5", "town": "Mill", "job": jobs, "empty": None})
    table = add(workspace, frame, unit=unit)
    reserve = table.meter().delta_reserve
    query = table.query("find_declarations", lists=["job"], epsilon="4", delta=reserve / 10)
    assert table.preview(query).admissible
    answer = table.ask(query, request_id="values")
    assert list(answer.value)[:2] == ["job: cook", "job: nurse"] and abs(answer.value["job: cook"] - 1_200) < 40
    assert answer.interval["job: cook"][0] <= answer.value["job: cook"] <= answer.interval["job: cook"][1]
    assert {*answer.value} <= {"job: cook", "job: nurse", "job: Else"}
    assert table.meter().spent_delta == reserve / 10
    again = workspace.job("values").answer
    assert again is not None and again.value == answer.value and again.interval == answer.interval
    empty = table.ask(table.query("find_declarations", lists=["empty"], epsilon="4", delta=reserve / 10))
    assert {*empty.value} <= {"empty: Else"}


def test_a_delta_above_the_reserve_is_refused_by_the_ledger(workspace: Workspace) -> None:
    table = add(workspace, pd.DataFrame({"pay": ["5"], "town": ["Mill"]}))
    reserve = table.meter().delta_reserve
    query = table.query("find_declarations", lists=["town"], epsilon="1", delta=reserve + Fraction(1, 10**12))
    assert not table.preview(query).admissible
    with pytest.raises(dp.BudgetExceeded) as refused:
        table.ask(query)
    assert refused.value.code == "budget.exceeded_delta" and table.meter().charges == 0
    table.ask(table.query("find_declarations", lists=["town"], epsilon="1", delta=reserve))
    with pytest.raises(dp.BudgetExceeded):
        table.ask(table.query("find_declarations", lists=["town"], epsilon="1", delta="1e-12"))


def test_raw_needs_mean_what_the_engine_reads(workspace: Workspace, tmp_path: Path) -> None:
    from dpengine.statistics.engines.duck import read_raw

    cells = ["5", " 5 ", None, "-3.5", "x", "İ", "i̇", "tab\t", "1e99", "5"] * 3
    pq.write_table(pa.table({"a": ["9"] * 30, "b": pa.array(cells, pa.string())}), tmp_path / "raw", row_group_size=7)
    rows = [{"b": cell} for cell in cells]
    for need in (Bands("b"), Values("b")):
        assert read_raw(need, tmp_path / "raw", 1) == need.of(rows)
