"""Several questions of a table whose membership is secret: each column is checked, or it is said that it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.checking import ColumnDoubted
from dpengine.declared.id_names import id_like
from tests.helpers_ledger import PATIENCE


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


def test_questions_sent_at_once_buy_their_check_once(tmp_path: Path) -> None:
    table, names = clinic(tmp_path), ("age one", "age two", "age three")
    before = len(table.fits().checks)
    for name in names:
        table.submit(table.query("mean", column="age", epsilon="0.02"), name, checked=True)
    states = {table._workspace.jobs.wait(name, PATIENCE).state for name in names}
    assert states == {"done"} and len(table.fits().checks) == before + 1
    assert len([name for name in names if table.checks_of(name)]) == 1, "one of them paid for it"


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


@pytest.fixture
def waits(tmp_path: Path) -> dp.Table:
    """2,400 people; a fifth of the waiting days is 99, which was named as “unknown” after a check."""
    frame = pd.DataFrame({"wait": [99 if at % 5 == 0 else at % 28 for at in range(2_400)]})
    workspace = dp.open_workspace(tmp_path / "own")
    schema = dp.Schema({"wait": dp.Number(0, 100)})
    table = workspace.add_table("waits", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("30", "1e-6"))
    table.ask(table.query("fit_checks", columns=["wait"], epsilon="2"))
    return table.revise(dp.Schema({"wait": dp.Number(0, 100, codes=[99])}))


def test_a_session_gives_no_average_where_many_have_no_value(waits: dp.Table) -> None:
    """22.6 was believed where 14 was true: a fifth of the people counted as 50."""
    session = waits.open_session(waits.query("adaptive_session", questions=2, epsilon="3"), "session", checked=True)
    with pytest.raises(dp.AllowanceError) as refused:
        session.ask({"average": "wait"}, "one", checked=True)
    assert refused.value.code == "session.valueless" and "as 50" in str(refused.value)
    assert session.look()[0].asked == 0


@pytest.mark.parametrize("key", ["proportion", "count"])
def test_a_share_says_how_many_have_no_value(waits: dp.Table, key: str) -> None:
    """53 % of all were believed to be 53 % of those who are known: 66 % is true."""
    rows = [["wait", "<=", 15]]
    query = waits.query(key, epsilon="1", **({"of": rows} if key == "proportion" else {"where": rows}))
    notes = waits.fits().notes(query)
    assert any("of the cells of wait hold no value" in note for note in notes)
    assert "hold no value" in waits.fits().in_short(query)
    assert not waits.fits().unknown_notes(waits.query("mean", column="wait", epsilon="1"))


def test_an_average_of_a_session_says_what_a_missing_value_counts_as(waits: dp.Table) -> None:
    session = waits.query("adaptive_session", questions=2, epsilon="3")
    assert "counts as 50" in session.asking({"average": "wait"}).ask.middle_note()


def test_a_session_gives_no_average_that_counts_rows_which_people_do_not_have(tmp_path: Path) -> None:
    """89 was believed where 57 was true: everybody counted with twelve rows."""
    frame = pd.DataFrame({"who": [f"p{at // 5}" for at in range(5_000)], "minutes": [at % 60 for at in range(5_000)]})
    table = dp.open_workspace(tmp_path / "own").add_table(
        "gym",
        frame,
        schema=dp.Schema({"minutes": dp.Number(0, 240)}),
        unit=dp.Unit.column("who", 12),
        budget=dp.Budget("60", "1e-6"),
    )
    table.ask(table.query("fit_checks", columns=["minutes"], epsilon="20"))
    session = table.open_session(table.query("adaptive_session", questions=2, epsilon="5"), "session")
    with pytest.raises(dp.AllowanceError) as refused:
        session.ask({"average": "minutes"}, "one", checked=True)
    assert refused.value.code == "session.padded" and session.look()[0].asked == 0


def test_a_column_that_the_owner_names_is_counted_whatever_it_is_called(tmp_path: Path) -> None:
    """“Oznaka lastnika” is no name that the rule knows: 361 rows were believed to be people."""
    frame = pd.DataFrame({"Mark X": [at // 3 for at in range(3_000)], "age": [20 + at % 50 for at in range(3_000)]})
    workspace, schema = dp.open_workspace(tmp_path / "own"), dp.Schema({"age": dp.Number(0, 110)})
    given = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("1", "1e-6")}
    table = workspace.add_table("bikes", frame, **given, whose="Mark X")
    with pytest.raises(ColumnDoubted) as refused:
        table.ask(table.query("mean", column="age", epsilon="0.1"), checked=True)
    assert [way.kind for way in refused.value.ways] == ["people", "rows"] and "different Mark X" in str(refused.value)
    assert workspace.table("bikes").facts.whose == "Mark X", "it is kept"


def test_a_named_column_that_may_name_people_by_its_name_is_counted_once(tmp_path: Path) -> None:
    """With “Kartoteka” named, nothing could be asked: it stood twice in the check."""
    frame = pd.DataFrame({"Kartoteka": [f"k{at}" for at in range(2_000)], "age": [20 + at % 50 for at in range(2_000)]})
    workspace, schema = dp.open_workspace(tmp_path / "own"), dp.Schema({"age": dp.Number(0, 110)})
    given = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("1", "1e-6")}
    table = workspace.add_table("teeth", frame, **given, whose="Kartoteka")
    assert id_like(table.facts) == ["Kartoteka"]
    assert table.preview(table.query("mean", column="age", epsilon="0.1"), checked=True).admissible
