"""Finds share the δ that they take, and promise what a list of usual size needs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant.filter import Budget
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.workspace import Workspace

PEOPLE = 30_000
FACTS = Facts("t", Schema({"-": Number(0, 1)}), Unit.rows(), "replace", PEOPLE, ("gain", "work", "home", "town"))


@pytest.mark.parametrize("lists", [1, 2, 3])
def test_lists_promise_every_value_that_one_in_a_hundred_hold(lists: int) -> None:
    reserve = Budget("1", "1e-6").rule().delta_reserve
    given = {"lists": ["work", "home", "town"][:lists], "numbers": ["gain"], "epsilon": "0.1", "delta": reserve / 10}
    query = catalogue["find_declarations"].build(FACTS, given)
    assert query.least_held <= PEOPLE // 100  # type: ignore[attr-defined]


def test_ten_finds_fit_without_a_word_about_delta(tmp_path: Path) -> None:
    home = Workspace(tmp_path / "var")
    table = home.add_table(
        "people",
        pd.DataFrame({"job": ["cook"] * 500, "pay": "5"}),
        schema=Schema({"pay": Number(0, 10)}),
        unit=Unit.rows(),
        relation="replace",
        budget=Budget("5", "1e-6"),
    )
    reserve = table.meter().delta_reserve
    for _ in range(3):
        assert table.ask(table.query("find_declarations", lists=["job"], epsilon="0.5")).value.keys() <= {
            "job: cook",
            "job: Else",
        }
    assert table.meter().spent_delta == 3 * reserve / 10
    with pytest.raises(dp.AllowanceError):
        table.ask(table.query("find_declarations", lists=["job"], epsilon="0.5", delta=reserve))
    assert table.query("find_declarations", lists=["job"], epsilon="0.1").loss() is not None
    assert table.query("find_declarations", lists=["job"], epsilon="0.5", delta=Fraction(1, 10**9)).parameters()[
        "delta"
    ]
    home.close()
