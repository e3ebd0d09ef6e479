"""Several questions of a table whose membership is secret: each column is checked, or it is said that it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.checking import ColumnDoubted


def clinic(folder: Path) -> dp.Table:
    """1,400 patients; 99 stands for “unknown” in a fifth of the waiting days, inside the declared range."""
    rows = range(1_400)
    frame = pd.DataFrame(
        {
            "sex": ["f" if at % 2 else "m" for at in rows],
            "waiting_days": [99 if at % 5 == 0 else at % 40 for at in rows],
            "age": [20 + at % 60 for at in rows],
            "visits": [at % 9 for at in rows],
        }
    )
    schema = {"sex": dp.Category(["f", "m"]), "waiting_days": dp.Number(0, 100), "age": dp.Number(0, 110)}
    return dp.open_workspace(folder / "own").add_table(
        "our clinic",
        frame,
        schema=dp.Schema(schema | {"visits": dp.Number(0, 20)}),
        unit=dp.Unit.rows(),
        relation="add_remove",
        about_rows=1_400,
        budget=dp.Budget("1", "1e-6"),
    )


def asked(table: dp.Table) -> list[Any]:
    given = [("proportion", {"of": [["sex", "in", ["f"]]]})]
    given += [("mean", {"column": name}) for name in ("waiting_days", "age", "visits")]
    return [table.query(key, epsilon="0.02", **parts) for key, parts in given]


def test_a_third_question_does_not_take_the_check_of_the_others_away(tmp_path: Path) -> None:
    table = clinic(tmp_path)
    for many in range(1, 5):
        names = {name for check in table.checks_for(asked(table)[:many]) for name in check.parameters()["columns"]}
        assert len(names) >= min(many, 3), f"{many} questions have only {sorted(names)} checked"
        assert "waiting_days" in names or many == 1


def test_a_session_answers_about_no_column_that_nobody_checked(tmp_path: Path) -> None:
    table = clinic(tmp_path)
    opened = table.query("adaptive_session", questions=2, epsilon="0.3")
    session = table.open_session(opened, "session")  # a program: no check is bought
    with pytest.raises(dp.AllowanceError) as refused:
        session.ask({"average": "waiting_days"}, "one", checked=True)
    assert refused.value.code == "session.unchecked" and not isinstance(refused.value, ColumnDoubted)
    assert session.look()[0].asked == 0, "no step is used"


def test_a_session_opened_although_ids_repeat_answers_and_says_so(tmp_path: Path) -> None:
    frame = pd.DataFrame({"Pupil no.": [at // 10 for at in range(3_000)], "age": [8 + at % 9 for at in range(3_000)]})
    schema = dp.Schema({"age": dp.Number(0, 20)})
    workspace = dp.open_workspace(tmp_path / "own")
    table = workspace.add_table("school", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("2", "1e-6"))
    opened = table.query("adaptive_session", questions=2, epsilon="0.3")
    with pytest.raises(ColumnDoubted) as refused:
        table.open_session(opened, "first", checked=True)
    assert [way.kind for way in refused.value.ways] == ["people", "rows"]
    table.ask(opened, "session", checked=True, anyway=True)
    session = table.session("session")
    taken = session.ask({"average": "age"}, "one", checked=True)
    assert taken.state == "done" and table.fits().row_notes(taken.query)
