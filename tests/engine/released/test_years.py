"""This year and last year: the same figure of two tables, with a range that holds for both at once."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.core.amounts import BETA
from dpengine.released.compare import promised, share_of

SCHEMA = dp.Schema({"age": dp.Number(0, 100), "way": dp.Category(["bus", "car"])})


def year(workspace: dp.Workspace, name: str, ages: list[int], **more: Any) -> dp.Table:
    frame = pd.DataFrame({"age": ages, "way": ["bus", "car"] * (len(ages) // 2)})
    given: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("60", "1e-6")}
    return workspace.add_table(name, frame, **(given | more))


@pytest.fixture
def tables(tmp_path: Path) -> tuple[dp.Table, dp.Table]:
    workspace = dp.open_workspace(tmp_path / "home")
    return year(workspace, "last", [30, 31] * 200), year(workspace, "this", [40, 43] * 200)


def test_the_same_question_is_found_in_both_and_no_other(tables: tuple[dp.Table, dp.Table]) -> None:
    last, this = tables
    assert this.beside(last) == []
    for table, epsilon in ((last, "3"), (this, "5")):  # at any ε
        table.ask(table.query("mean", column="age", epsilon=epsilon))
        table.ask(table.query("histogram", column="way", epsilon=epsilon))
    last.ask(last.query("mean", column="age", where=[["way", "=", "bus"]], epsilon="3"))
    pairs = this.beside(last)
    assert [(pair.first.table, pair.second.table, pair.part) for pair in pairs] == [
        ("last", "this", "bus"),
        ("last", "this", "car"),
        ("last", "this", "other"),
        ("last", "this", "no answer"),
        ("last", "this", ""),
    ]
    mean = pairs[-1]
    assert mean.different and 9 < mean.difference.value < 13  # else noise of 24 times its scale: 1 in 10^10
    assert mean.change is not None and mean.change.value > 20


def test_each_table_may_fail_half_as_often(tables: tuple[dp.Table, dp.Table]) -> None:
    last, this = tables
    for table in tables:
        table.ask(table.query("count", epsilon="1", where=[["way", "=", "bus"]]))
    (pair,) = this.beside(last)
    for table, figure in ((last, pair.first), (this, pair.second)):
        (whole,) = table.figures(table.history(1)[0])
        (half,) = table.figures(table.history(1)[0], beta=BETA / 2)
        assert figure == half and half.beta == BETA / 2
        assert half.stated.high - half.stated.low >= whole.stated.high - whole.stated.low
    assert share_of(BETA / 2, 1) * 2 == share_of(BETA, 1)
    wide = pair.difference.high - pair.difference.low
    assert wide == sum(figure.stated.high - figure.stated.low for figure in (pair.first, pair.second))


def test_other_declarations_are_not_compared(tmp_path: Path) -> None:
    workspace = dp.open_workspace(tmp_path / "home")
    last = year(workspace, "last", [30, 31] * 200)
    other = dp.Schema({"age": dp.Number(0, 50), "way": SCHEMA["way"]})
    this = year(workspace, "this", [40, 43] * 200, schema=other)
    for table in (last, this):
        table.ask(table.query("mean", column="age", epsilon="3"))
    assert this.beside(last) == []


def test_names_that_differ_in_capitals_are_the_same_column(tmp_path: Path) -> None:
    """As where a table is declared like last year's."""
    workspace = dp.open_workspace(tmp_path / "home")
    last = year(workspace, "last", [30, 31] * 200)
    frame = pd.DataFrame({"AGE": [40, 43] * 200, "Way": ["bus", "car"] * 200})
    schema = dp.Schema({"AGE": SCHEMA["age"], "Way": SCHEMA["way"]})
    this = workspace.add_table("this", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("60", "1e-6"))
    for table, age, way in ((last, "age", "way"), (this, "AGE", "Way")):
        table.ask(table.query("mean", column=age, where=[[way, "=", "bus"]], epsilon="9"))
        table.ask(table.query("histogram", column=way, epsilon="9"))
    pairs = this.beside(last)
    assert [pair.part for pair in pairs] == ["bus", "car", "other", "no answer", ""]
    assert pairs[-1].different and pairs[-1].first.unit[1] == "age" and pairs[-1].second.unit[1] == "AGE"


def test_two_columns_that_differ_in_capitals_alone_are_not_mixed_up(tmp_path: Path) -> None:
    workspace = dp.open_workspace(tmp_path / "home")
    last = year(workspace, "last", [30, 31] * 200)
    frame = pd.DataFrame({"age": [40, 43] * 200, "Age": [1, 2] * 200, "way": ["bus", "car"] * 200})
    schema = dp.Schema({"age": SCHEMA["age"], "Age": SCHEMA["age"]})
    this = workspace.add_table("this", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("60", "1e-6"))
    last.ask(last.query("mean", column="age", epsilon="3"))
    this.ask(this.query("mean", column="Age", epsilon="3"))
    assert this.beside(last) == []
    this.ask(this.query("mean", column="age", epsilon="3"))
    assert [pair.second.unit[1] for pair in this.beside(last)] == ["age"]


def test_a_person_in_both_is_promised_the_sum(tmp_path: Path) -> None:
    workspace = dp.open_workspace(tmp_path / "home")
    last = year(workspace, "last", [30, 31] * 20)
    secret = year(workspace, "this", [40, 43] * 20, relation="add_remove", about_rows=40)
    same = year(workspace, "next", [50, 53] * 20, budget=last.budget.id)
    assert same.person_in_both(last).shared and same.person_in_both(last).epsilon == last.meter().epsilon
    both = secret.person_in_both(last)
    assert both.relation == "replace" and both.epsilon == last.meter().epsilon + 2 * secret.meter().epsilon
    one, two = (Fraction(1), Fraction(1, 10**6), "replace"), (Fraction(2), Fraction(1, 10**5), "replace")
    assert (promised((one, two)).epsilon, promised((one, two)).delta) == (3, Fraction(11, 10**6))
    mixed = promised((one, (Fraction(2), Fraction(1, 10**5), "add_remove")))
    assert mixed.epsilon == 5 and mixed.delta >= Fraction(1, 10**6) + Fraction(1, 10**5) * Fraction(1 + math.exp(2))
