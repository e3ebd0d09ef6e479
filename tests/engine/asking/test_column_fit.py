"""What is known of whether a column's cells are as declared, and what an answer about it says of that."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant.filter import Rule, Totals
from dpengine.asking.checking import CHEAP
from dpengine.asking.column_fit import MADE, UNCHECKED, ColumnFit, slip, unchecked_words
from dpengine.declared.facts import Facts
from dpengine.mechanisms.counts.fit_checks import GATE, GOOD, MOSTLY_NOT, UNSURE, FitChecks
from dpengine.messages import say
from dpengine.noise.coins import SystemCoins
from dpengine.planning.opening import at_share
from dpengine.workspace import Workspace

LIST = dp.Category(["ženska", "moški"])


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


@pytest.fixture
def table(workspace: Workspace) -> dp.Table:
    ages = ["30"] * 960 + ["300"] * 40
    frame = pd.DataFrame({"spol": ["Male", "Female"] * 490 + ["moški"] * 20, "age": ages, "pay": ["5"] * 1000})
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
    assert notes(table, "find_declarations", numbers=["pay"]) == []


def test_after_a_check_an_answer_says_what_does_not_fit(table: dp.Table) -> None:
    table.ask(table.query("fit_checks", epsilon="40"))
    spol, age = table.fit_of("spol"), table.fit_of("age")
    assert (spol.state, age.state) == (MOSTLY_NOT, GOOD) and spol.doubted and age.in_part and not age.doubted
    assert notes(table) == [say("fit.note.careful", reason=spol.reason())] and "98 %" in spol.reason()
    assert "above 120" in age.reason() and "4 %" in age.reason()
    assert [fit.column for fit in table.fits().between(table.query("mean", column="age", epsilon="1"))] == ["age"]


def test_a_check_that_sees_little_says_so(table: dp.Table) -> None:
    table.ask(table.query("fit_checks", columns=["age"], epsilon="0.1"))
    fit = table.fit_of("age")
    assert fit.found is not None and fit.found.sees > GATE
    assert fit.rough or fit.doubted or fit.in_part or fit.state == "unsure"
    assert fit.note()


def test_declared_anew_a_column_is_unchecked_and_the_others_are_not(table: dp.Table) -> None:
    table.ask(table.query("fit_checks", epsilon="40"))
    anew = table.revise(dp.Schema({"spol": dp.Category(["Male", "Female"]), "age": table.schema["age"]}))
    assert not anew.fit_of("spol").checked and anew.fit_of("age").checked


def test_the_newest_check_that_could_tell_counts(table: dp.Table) -> None:
    table.ask(table.query("fit_checks", epsilon="40"))
    for _ in range(3):
        table.ask(table.query("fit_checks", epsilon="0.01"))
    assert table.fit_of("spol").state == MOSTLY_NOT


def test_tables_made_here_are_known_to_fit(workspace: Workspace) -> None:
    table = workspace.table("town")
    assert all(fit.state == MADE for fit in table.fits().all_of(table.schema.columns.items()))
    assert table.preview(table.query("mean", column="monthly_income", epsilon="0.1"), checked=True).check is None


def test_the_slip_is_guessed_from_the_declaration_alone() -> None:
    assert slip(LIST) == say("fit.slip.list") and slip(dp.Category(["1", "2"])) == say("fit.slip.codes")
    assert slip(dp.Number(0, 1)) == say("fit.slip.number") and slip(dp.ItemSet(["a", "b"])) == say("fit.slip.set")
    assert slip(dp.Date("2020-01-01", "2020-12-31")) == say("fit.slip.date")


def test_a_share_says_that_rows_without_a_value_are_in_its_whole(table: dp.Table) -> None:
    query = table.query("proportion", of=[["age", ">", 20]], epsilon="1")
    assert query.counted_empty() == ["age"]


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("people", [300, 1_000, 2_000])
def test_a_code_in_a_sixth_of_the_cells_is_refused_or_stands_beside_the_headline(people: int, relation: Any) -> None:
    """At the price of a usual check: refused, named with its share, or the check says that it may have missed a tenth.
    Silence in headline size would need a bar below by more than five standard deviations of its noise: 1e-7 a draw."""
    column = dp.Number(0, 120)
    facts = Facts("t", dp.Schema({"age": column}), dp.Unit.rows(), relation, people, ("age",))
    asked = FitChecks.build(facts, {"epsilon": "1", "noise": "gaussian"})
    query = at_share(asked, CHEAP, Rule.make(Fraction(1), Fraction("1e-6")), Totals.NOTHING)
    assert isinstance(query, FitChecks)
    cells = {"fits": people - people // 6, "99": people // 6}
    counts = tuple(cells.get(bar.name if bar.number is None else str(bar.number), 0) for bar in query.bars_of("age"))
    for _ in range(60):
        found = query.found(query.draw(counts, SystemCoins()))["age"]
        fit = ColumnFit("age", column, found.state, found)
        assert fit.doubted or fit.in_part or fit.may_hide or fit.state == UNSURE
        assert fit.doubted or fit.note()


def test_of_many_unchecked_columns_the_first_are_named_and_the_others_counted() -> None:
    fits: Any = [SimpleNamespace(column=f"c{place}", checked=place == 1) for place in range(12)]
    assert "c0, c2, c3, c4, c5 and 6 more" in unchecked_words(fits)
    assert "c0, c2, c3, c4, c5, c6" in unchecked_words(fits[:7]) and "more" not in unchecked_words(fits[:7])
