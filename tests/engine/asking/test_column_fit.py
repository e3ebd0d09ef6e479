"""What is known of whether a column's cells are as declared, and what an answer about it says of that."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.column_fit import MADE, UNCHECKED, Check, ColumnFit, Fits, slip
from dpengine.mechanisms.counts.fit_checks import FITS, MOSTLY_NOT, in_part
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.workspace import Workspace

LIST = dp.Category(["ženska", "moški"])


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


@pytest.fixture
def table(workspace: Workspace) -> dp.Table:
    frame = pd.DataFrame({"spol": ["Male", "Female"] * 490 + ["moški"] * 20, "age": ["30"] * 1000, "pay": ["5"] * 1000})
    return workspace.add_table(
        "people",
        frame,
        schema=dp.Schema({"spol": LIST, "age": dp.Number(0, 120)}),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("99", "1e-6"),
    )


def notes(table: dp.Table, key: str = "proportion", **more: object) -> list[str]:
    given = {"of": [["spol", "in", ["ženska"]]]} if key == "proportion" else {}
    return table.fits().notes(table.query(key, epsilon="0.1", **(given | more)))


def test_before_a_check_an_answer_says_that_nobody_looked(table: dp.Table) -> None:
    assert table.fit_of("spol").state == UNCHECKED and not table.fit_of("spol").checked
    assert notes(table) == [say("fit.note.unchecked", column="spol")]
    both = notes(table, where=[["age", ">", 20]])
    assert both == [say("fit.note.unchecked_several", columns=["spol", "age"])]
    assert notes(table, "fit_checks") == []  # it is the check
    assert notes(table, "find_range", column="pay") == []


def test_after_a_check_an_answer_says_what_does_not_fit(table: dp.Table) -> None:
    table.ask(table.query("fit_checks", epsilon="20"))
    spol, age = table.fit_of("spol"), table.fit_of("age")
    assert (spol.state, age.state) == (MOSTLY_NOT, FITS) and spol.share is not None
    assert abs(float(spol.share) - 0.98) < 0.02
    assert notes(table) == [spol.note()] and "spol" in spol.note()
    assert notes(table, "median", column="age") == []
    assert "spol" in spol.words() and age.words()


def test_columns_that_were_checked_only_roughly_are_told_together(table: dp.Table) -> None:
    wide = dict.fromkeys(("spol", "age"), (0, (-150, 150)))
    known = Fits((Check({name: table.schema[name].as_json() for name in wide}, wide, 1_000, 1),))
    query = table.query("proportion", epsilon="0.1", of=[["spol", "in", ["ženska"]]], where=[["age", ">", 20]])
    assert known.notes(query) == [say("fit.note.fits_rough_several", columns=["spol", "age"])]
    alone = table.query("median", epsilon="0.1", column="age")
    assert known.notes(alone) == [say("fit.note.fits_rough", column="age")]


def test_declared_anew_a_column_is_unchecked_and_the_others_are_not(table: dp.Table) -> None:
    old = table.query("proportion", epsilon="0.1", of=[["spol", "in", ["ženska"]]])
    table.ask(table.query("fit_checks", epsilon="20"))
    new = table.revise(dp.Schema({"spol": dp.Category(["Female", "Male"]), "age": dp.Number(0, 120)}))
    assert new.fit_of("spol").state == UNCHECKED and new.fit_of("age").state == FITS
    assert new.fits().notes(old) == [table.fit_of("spol").note()]  # an answer of before, under its own declaration
    new.ask(new.query("fit_checks", columns=["spol"], epsilon="20"))
    assert new.fit_of("spol").state == FITS and new.fits().notes(old)
    back = new.revise(dp.Schema({"spol": LIST, "age": dp.Number(0, 120)}))
    assert back.fit_of("spol").state == MOSTLY_NOT  # what was paid for stays paid


def test_a_single_check_and_one_of_all_rows_count_too(table: dp.Table) -> None:
    table.ask(table.query("fit_check", epsilon="20"))
    assert table.fit_of("age").state == UNCHECKED  # many rows do not fit somewhere: nobody knows where
    table.ask(table.query("fit_check", column="spol", epsilon="20"))
    assert table.fit_of("spol").state == MOSTLY_NOT
    ages = table.revise(dp.Schema({"age": dp.Number(0, 120)}))
    ages.ask(ages.query("fit_check", epsilon="20"))
    assert ages.fit_of("age").state == FITS


def test_the_newest_sure_check_counts(table: dp.Table) -> None:
    table.ask(table.query("fit_checks", epsilon="20"))
    table.ask(table.query("fit_checks", epsilon="0.002", beta="1e-7"))  # says nothing
    assert table.fit_of("spol").state == MOSTLY_NOT and table.fit_of("age").state == FITS


def test_tables_made_here_are_known_to_fit(workspace: Workspace) -> None:
    town = workspace.table("town")
    assert town.fit_of("age").state == MADE
    assert town.fits().notes(town.query("median", column="age", epsilon="0.1")) == []


def test_rows_of_several_per_person_are_told_without_a_share(workspace: Workspace) -> None:
    frame = pd.DataFrame({"who": [i // 2 for i in range(2_000)], "spol": ["Male"] * 2_000})
    table = workspace.add_table(
        "journeys",
        frame,
        schema=dp.Schema({"spol": LIST}),
        unit=dp.Unit.column("who", at_most=2),
        relation="replace",
        budget=dp.Budget("99", "1e-6"),
    )
    table.ask(table.query("fit_checks", epsilon="20"))
    fit = table.fit_of("spol")
    assert (
        fit.state == MOSTLY_NOT and fit.share is None and fit.note() == say("fit.note.mostly_not_rows", column="spol")
    )


def test_the_slip_is_guessed_from_the_declaration_alone() -> None:
    told = [slip(one) for one in (LIST, dp.Category(["1", "2"]), dp.Number(0, 1), dp.Date("1990-01-01", "1999-01-01"))]
    assert len({*told, slip(dp.ItemSet(["a", "b"]))}) == 5 and all(one.endswith("?") for one in told)


def looked(table: dp.Table, *columns: object) -> None:
    table.ask(table.query("overview", epsilon="3", columns=list(columns)))


def test_a_first_look_tells_how_many_numbers_and_days_do_not_fit(workspace: Workspace) -> None:
    frame = pd.DataFrame({"age": ["30"] * 1000, "pay": ["900"] * 980 + ["5"] * 20, "sex": ["moški", ""] * 500})
    columns = {"age": dp.Number(0, 120), "pay": dp.Number(0, 9), "sex": LIST}
    unit, budget = dp.Unit.rows(), dp.Budget("99", "1e-6")
    table = workspace.add_table("seen", frame, schema=dp.Schema(columns), unit=unit, relation="replace", budget=budget)
    looked(table, {"column": "age", "step": 10}, {"column": "pay", "step": 2}, "sex")
    assert [table.fit_of(name).state for name in columns] == [FITS, MOSTLY_NOT, FITS]
    assert notes(table, "median", column="age") == [] and notes(table, "median", column="pay") != []
    anew = table.revise(dp.Schema(columns | {"age": dp.Number(0, 130)}))
    assert anew.fit_of("age").state == UNCHECKED and anew.fit_of("sex").state == FITS


@pytest.mark.parametrize(("language", "label"), [("en", "other"), ("sl", "drugo")])
def test_of_a_list_it_says_what_was_counted_and_not_that_it_fits(table: dp.Table, language: str, label: str) -> None:
    """A cell that says “other” fits and is in the same bar, so a large bar is no proof of misfits."""
    looked(table, "spol")
    assert table.fit_of("spol").state == UNCHECKED and not table.fit_of("spol").checked
    with speaking(language):
        (told,) = notes(table)
        assert "98" in told and "spol" in told and label in told
    assert notes(table, where=[["age", ">", 20]]) == [*notes(table), say("fit.note.unchecked", column="age")]
    table.ask(table.query("fit_checks", epsilon="20"))
    assert table.fit_of("spol").state == MOSTLY_NOT


def test_a_complete_list_is_not_told_by_a_first_look(table: dp.Table) -> None:
    whole = table.revise(dp.Schema({"spol": dp.Category(["ženska", "moški"], complete=True)}))
    looked(whole, "spol")
    assert whole.fit_of("spol") == ColumnFit("spol", UNCHECKED)


def test_codes_for_unknown_in_a_column_that_fits_are_told_beside_its_answers(table: dp.Table) -> None:
    """999 for “unknown” in a tenth of the cells: each counts as the end of the range, and an average moves."""
    figures: dict[str | None, tuple[int, tuple[int, int]]] = {"age": (100, (45, 155)), "spol": (-2, (-57, 53))}
    check = Check({name: one.as_json() for name, one in table.schema.columns.items()}, figures, 1000, 1)
    age, spol = check.of("age"), check.of("spol")
    assert age == ColumnFit("age", FITS, Fraction(1, 10), Fraction(155, 1000), "", False, True, Fraction(45, 1000))
    assert age.words() == "Most cells of age fit, but between 4 % and 16 % of them do not."
    assert spol is not None and spol.state == FITS and not spol.in_part
    query = table.query("mean", column="age", epsilon="0.1")
    told, remedy = Fits((check,)).notes(query)
    assert told.startswith("Careful: about 10 % of the cells of age did not fit")
    assert remedy.startswith("If a number such as 999 stands for “unknown”, say so when you declare")
    assert "Or ask only of those below 120" in remedy
    several = Check(check.bounds, figures, 1000, 3).of("age")
    assert several is not None and several.note().startswith("Careful: some cells of age did not fit")
    assert not in_part(100, (-5, 205), 1000), "that may be noise alone"
    assert not in_part(40, (5, 75), 1000), "next to nothing"


def test_a_check_names_a_column_of_which_a_part_does_not_fit(table: dp.Table) -> None:
    check = table.query("fit_checks", epsilon="1")
    value, ends = {"spol": 0, "age": 100}, {"spol": (-55, 55), "age": (45, 155)}
    assert check.finding(value, ends) == "Most cells fit, but not all of: age"
    assert check.finding(value | {"age": 0}, ends | {"age": (-55, 55)}) == "Most cells fit; 2 columns were checked"


def test_a_share_says_that_rows_without_a_value_are_in_its_whole(table: dp.Table) -> None:
    share = table.query("proportion", of=[["spol", "in", ["ženska"]], ["age", ">", 20]], epsilon="0.1")
    assert share.counted_empty() == ["age", "spol"] and share.left_out() == []
    assert table.query("mean", column="age", epsilon="0.1").counted_empty() == []
