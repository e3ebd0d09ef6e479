"""The check is part of asking: a slip in declaring ends in a sentence with ways out, never in a number."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.column_fit import declared_since
from dpengine.declared.id_names import id_like
from dpengine.mechanisms.edges import near_end
from dpengine.workspace import Workspace

PEOPLE = 20_000
AGES, MARKS, TOWNS = dp.Number(0, 120), dp.Number(0, 5), dp.Category(["Mill", "Hill"])


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def school(**columns: Any) -> pd.DataFrame:
    draw = np.random.default_rng()
    ages = draw.integers(18, 90, PEOPLE)
    clean = {"age": ages, "mark": draw.integers(1, 6, PEOPLE), "town": draw.choice(["Mill", "Hill"], PEOPLE)}
    return pd.DataFrame({name: columns.get(name, cells) for name, cells in clean.items()} | columns)


def added(workspace: Workspace, frame: pd.DataFrame, name: str = "school", **more: Any) -> dp.Table:
    given: dict[str, Any] = {"unit": dp.Unit.rows(), "relation": "replace", "budget": dp.Budget("1", "1e-6")} | more
    return workspace.add_table(name, frame, schema=dp.Schema({"age": AGES, "mark": MARKS, "town": TOWNS}), **given)


def mean(table: dp.Table, column: str = "age") -> dp.Query:
    return table.query("mean", column=column, epsilon="0.05", beta="1e-7")


def keys(table: dp.Table) -> list[str]:
    return [entry.charge.claim["key"] for entry in reversed(table.history())]


def test_a_question_about_an_unchecked_column_buys_its_check_first(workspace: Workspace) -> None:
    table = added(workspace, school())
    seen = table.preview(mean(table), checked=True)
    assert seen.check is not None and 0 < seen.check_share < Fraction(2, 100)
    answer = table.ask(mean(table), checked=True)
    assert keys(table) == ["fit_checks", "mean"] and answer.query.card.key == "mean"
    assert table.meter().used == seen.share, "one displayed price"
    again = table.preview(mean(table, "mark"), checked=True)
    assert again.check is None, "next to nothing pays for all columns together"
    table.ask(mean(table, "mark"), checked=True)
    assert keys(table) == ["fit_checks", "mean", "mean"]


def test_from_python_a_plain_question_is_one_charge(workspace: Workspace) -> None:
    table = added(workspace, school())
    assert table.preview(mean(table)).check is None
    table.ask(mean(table))
    assert keys(table) == ["mean"]


def test_a_code_inside_the_range_is_found_and_the_question_is_not_asked(workspace: Workspace) -> None:
    ages = np.random.default_rng().integers(18, 90, PEOPLE)
    ages[: PEOPLE * 19 // 100] = 99
    table = added(workspace, school(age=ages))
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(mean(table), checked=True)
    doubt = refused.value
    assert isinstance(doubt, dp.AllowanceError) and "99" in str(doubt)
    assert keys(table) == ["fit_checks"], "only the check is paid for"
    assert doubt.check is not None and doubt.check.query.card.key == "fit_checks"
    assert [way.kind for way in doubt.ways] == ["code", "fitting"]
    used = table.meter().used
    with pytest.raises(dp.ColumnDoubted) as known:
        table.ask(mean(table), checked=True)
    assert known.value.check is None and table.meter().used == used, "the second time nothing is spent"

    anyway = table.ask(mean(table), checked=True, anyway=True)
    truth = float(ages[ages != 99].mean())
    assert anyway.interval[0] <= truth <= anyway.interval[1] and anyway.query.where.fitting().keys() == {"age"}

    schema = doubt.ways[0].schema
    assert schema is not None
    table = table.revise(schema)
    assert table.preview(mean(table), checked=True).check is None, "what was paid for still counts"
    named = table.ask(mean(table), checked=True)
    assert named.interval[0] <= truth <= named.interval[1]


def test_a_range_too_narrow_is_refused_with_three_ways_out(workspace: Workspace) -> None:
    marks = np.random.default_rng().integers(1, 11, PEOPLE)
    table = added(workspace, school(mark=marks))
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(mean(table, "mark"), checked=True)
    assert [way.kind for way in refused.value.ways] == ["widen", "name_code", "fitting"]
    fitting = refused.value.ways[-1].query
    assert fitting is not None
    answer = table.ask(fitting, checked=True)
    assert answer.interval[0] <= marks[marks <= 5].mean() <= answer.interval[1]
    assert marks.mean() > answer.interval[1], "and the words must say of which part it is"
    assert table.ask(mean(table, "age"), checked=True).query.card.key == "mean", "other columns are asked"


def test_cells_outside_a_list_and_words_for_unknown(workspace: Workspace) -> None:
    towns = np.array(["Mill", "Hill", "Town", "Town"])[np.arange(PEOPLE) % 4]
    table = added(workspace, school(town=towns))
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(table.query("histogram", column="town", epsilon="0.05"), checked=True)
    assert refused.value.ways[0].kind == "list" and "list" in refused.value.reasons[0]
    ages = np.random.default_rng().integers(18, 90, PEOPLE).astype(str)
    ages[: PEOPLE // 5] = "n/a"
    table = added(workspace, school(age=ages), "other")
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(mean(table), checked=True)
    way = refused.value.ways[0]
    assert way.kind == "words" and way.schema is not None
    table = table.revise(way.schema)
    assert table.preview(mean(table), checked=True).check is None
    truth = ages[ages != "n/a"].astype(float).mean()
    answer = table.ask(mean(table), checked=True)
    assert answer.interval[0] <= truth <= answer.interval[1]


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", [{}, {"relation": "add_remove", "about_rows": PEOPLE}], ids=["replace", "add"])
def test_a_person_with_several_rows_is_noticed(workspace: Workspace, relation: dict[str, Any]) -> None:
    numbers = {"Št. kartoteke": np.arange(PEOPLE) // 7}
    table = added(workspace, school(**numbers), **relation)
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(mean(table), checked=True)
    assert [way.kind for way in refused.value.ways] == ["people", "rows"] and "kartoteke" in str(refused.value)
    with pytest.raises(dp.ColumnDoubted):
        table.ask(table.query("count", epsilon="0.05", where=[["age", ">", 40]]), checked=True)
    assert keys(table) == ["fit_checks"] and table.meter().used < Fraction(1, 1000), "so it can be put right"
    fine = added(workspace, school(**{"Št. kartoteke": np.arange(PEOPLE)}), "fine", **relation)
    assert fine.ask(mean(fine), checked=True).query.card.key == "mean"
    assert keys(fine) == ["fit_checks", "fit_checks", "mean"]


def test_a_wrong_guess_at_the_number_of_people_is_not_told_as_repeated_ids(workspace: Workspace) -> None:
    """Everybody has a number of their own, and the owner declared three times as many people as there are."""
    frame = school(**{"Pupil no.": np.arange(PEOPLE)})
    table = added(workspace, frame, relation="add_remove", about_rows=3 * PEOPLE)
    assert table.ask(mean(table), checked=True).query.card.key == "mean" and not table.fits().repeated


def test_a_person_with_several_rows_has_a_check_too(workspace: Workspace) -> None:
    """Seven rows each: the misfit share is of rows, of which there are many more than people."""
    frame = school(mark=np.random.default_rng().integers(1, 11, PEOPLE), who=np.arange(PEOPLE) // 7)
    table = added(workspace, frame, unit=dp.Unit.column("who", at_most=8))
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(mean(table, "mark"), checked=True)
    assert "above 5" in str(refused.value) and table.meter().used < Fraction(5, 100)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "relation", [{}, {"relation": "add_remove", "about_rows": PEOPLE // 7}], ids=["replace", "add"]
)
def test_people_with_more_rows_than_count_are_noticed(workspace: Workspace, relation: dict[str, Any]) -> None:
    """Seven rows each, of which two count: a number of rows would be far too small."""
    frame = school(who=np.arange(PEOPLE) // 7)
    table = added(workspace, frame, unit=dp.Unit.column("who", at_most=2), **relation)
    question = table.query("count", epsilon="0.05", where=[["town", "in", ["Mill"]]])
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(question, checked=True)
    assert [way.kind for way in refused.value.ways] == ["more_rows", "cut"] and "more than 2 rows" in str(refused.value)
    assert keys(table) == ["fit_checks"] and table.meter().used < Fraction(1, 100)
    answer = table.ask(question, checked=True, anyway=True)
    assert "At most 2 rows per person" in table.fits().row_notes(answer.query)[0]
    wide = added(
        workspace, school(who=np.arange(PEOPLE) // 7), "wide", unit=dp.Unit.column("who", at_most=7), **relation
    )
    wide.ask(wide.query("fit_checks", columns=[], ids=["who"], epsilon="0.3"))
    assert wide.ask(question_of(wide), checked=True).query.card.key == "count" and not wide.doubts(question_of(wide))
    assert not wide.fits().row_notes(question_of(wide))


def question_of(table: dp.Table) -> dp.Query:
    return table.query("count", epsilon="0.05", where=[["town", "in", ["Mill"]]])


def test_an_answer_that_was_insisted_on_says_that_rows_are_counted(workspace: Workspace) -> None:
    marks = np.arange(PEOPLE) % 2 * 6 + 3  # half of them are 9
    table = added(workspace, school(**{"Št. kartoteke": np.arange(PEOPLE) // 7, "mark": marks}))
    answer = table.ask(table.query("count", epsilon="0.05", where=[["age", ">", 40]]), checked=True, anyway=True)
    assert "rows, not people" in table.fits().row_notes(answer.query)[0]
    with pytest.raises(dp.ColumnDoubted):
        table.ask(table.query("overview", epsilon="0.05"), checked=True)
    spared = table.ask(mean(table, "mark"), checked=True, anyway=True)
    assert spared.query.where.fitting().keys() == {"mark"}, "the columns were checked all the same"


def test_a_session_does_not_ask_about_a_column_declared_anew(workspace: Workspace) -> None:
    table = added(workspace, school())
    session = table.open_session(table.session_for(3, Fraction(1, 20)), checked=True)
    assert session.ask({"average": "age"}, "a", checked=True).state == "done"
    anew = table.revise(dp.Schema({"age": dp.Number(0, 60), "mark": MARKS, "town": TOWNS}))
    session = anew.session(session.request)
    with pytest.raises(dp.AllowanceError) as refused:
        session.ask({"average": "age"}, "b", checked=True)
    assert refused.value.code == "session.unchecked" and session.look()[0].asked == 1, "no step is used"


def test_names_that_number_people() -> None:
    def named(*names: str) -> list[str]:
        from dpengine.declared.facts import Facts

        return id_like(Facts("t", dp.Schema({"x": AGES}), dp.Unit.rows(), "replace", 10, names))

    assert named("Pupil no.", "Št. kartoteke", "age") == ["Pupil no.", "Št. kartoteke"]
    assert named("PatNr", "patient_id", "member no") == ["PatNr", "patient_id", "member no"]
    assert named("number of children", "postcode", "house number", "code", "weight") == []
    assert named("Member", "age") == ["Member"], "one word for a person may be an id"


def test_a_job_tells_the_same_and_a_request_is_asked_once(workspace: Workspace) -> None:
    marks = np.full(PEOPLE, 9)
    table = added(workspace, school(mark=marks))
    job = table.submit(mean(table, "mark"), "one", checked=True)
    workspace.jobs.wait("one", 60)
    job = workspace.job("one")
    assert job.state == "refused" and isinstance(job.error, dp.ColumnDoubted) and job.error.query.card.key == "mean"
    table.submit(mean(table), "two", checked=True)
    workspace.jobs.wait("two", 60)
    first = workspace.job("two").answer
    assert first is not None and table.ask(mean(table), "two", checked=True).value == first.value
    assert keys(table) == ["fit_checks", "mean"]


def test_a_request_of_another_table_on_the_same_allowance_is_refused(workspace: Workspace) -> None:
    """The same question to two tables states the same claim; the answer to one is none to the other."""
    one = added(workspace, school())
    two = added(workspace, school(), "next year", budget=one.budget.id)
    one.ask(mean(one), "same", checked=True)
    for checked in (True, False):
        with pytest.raises(dp.AllowanceError) as refused:
            two.ask(mean(two), "same", checked=checked)
        assert refused.value.code == "request.reused"
    assert "mean" not in [entry.charge.claim["key"] for entry in two.history() if entry.charge.table == "next year"]


def test_a_plan_leaves_out_what_is_doubted(workspace: Workspace) -> None:
    table = added(workspace, school(mark=np.full(PEOPLE, 9)))
    queries = [mean(table), mean(table, "mark")]
    assert table.checks_for(queries)
    table.submit_plan(queries, "run", checked=True)
    workspace.jobs.wait("run", 60)
    assert keys(table) == ["fit_checks", "mean"]
    with pytest.raises(dp.ColumnDoubted):
        raise_of(table, [mean(table, "mark")])


def test_a_known_doubt_about_one_question_of_a_plan_spares_no_check_of_the_others(workspace: Workspace) -> None:
    """Mark is doubted already. Age was never checked, and a fifth of its cells are 99: it must not be asked."""
    ages = np.random.default_rng().integers(18, 90, PEOPLE)
    ages[: PEOPLE // 5] = 99
    table = added(workspace, school(age=ages, mark=np.full(PEOPLE, 9), **{"Pupil no.": np.arange(PEOPLE)}))
    table.ask(table.query("fit_checks", columns=["mark"], epsilon="0.05"))
    with pytest.raises(dp.ColumnDoubted):
        raise_of(table, [mean(table, "mark"), mean(table)])
    assert keys(table) == ["fit_checks"] * 3, "the id, then age; no mean of it"


def raise_of(table: dp.Table, queries: list[dp.Query]) -> None:
    table.submit_plan(queries, "other", checked=True)
    table._workspace.jobs.wait("other", 60)
    error = table.run("other").error
    assert error is not None
    raise error


def test_a_session_checks_first_and_refuses_a_step(workspace: Workspace) -> None:
    table = added(workspace, school(mark=np.full(PEOPLE, 9)))
    session = table.open_session(table.session_for(3, Fraction(1, 20)), checked=True)
    assert keys(table) == ["fit_checks", "adaptive_session"]
    with pytest.raises(dp.ColumnDoubted):
        session.ask({"average": "mark"}, "a", checked=True)
    assert session.look()[0].asked == 0, "no step is used"
    assert session.ask({"average": "age"}, "b", checked=True).state == "done"


def test_what_does_not_fit_together_is_refused_before_anything_is_charged(workspace: Workspace) -> None:
    table = added(workspace, school())
    dear = table.query("mean", column="age", epsilon="1")
    assert table.preview(dear).admissible and not table.preview(dear, checked=True).admissible
    with pytest.raises(dp.BudgetExceeded):
        table.ask(dear, checked=True)
    assert keys(table) == []


def test_older_answers_say_what_was_declared_since(workspace: Workspace) -> None:
    table = added(workspace, school())
    claim = table.ask(mean(table)).receipt["claim"]
    assert declared_since(claim, table.facts) == []
    coded = table.revise(dp.Schema({"age": dp.Number(0, 120, codes=[99]), "mark": MARKS, "town": TOWNS}))
    assert "99" in declared_since(claim, coded.facts)[0]
    wider = coded.revise(dp.Schema({"age": dp.Number(0, 200), "mark": MARKS, "town": TOWNS}))
    assert "range" in declared_since(claim, wider.facts)[0]


def test_where_hardly_a_cell_fits_nothing_is_asked_of_the_cells_that_fit(workspace: Workspace) -> None:
    """Every mark is above 5: the noise of the check hides that with a chance below 1e-9."""
    table = added(workspace, school(mark=np.full(PEOPLE, 9)))
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(mean(table, "mark"), checked=True)
    assert "fitting" not in {way.kind for way in refused.value.ways} and table.fit_of("mark").hardly_fits
    fitting = table.query("mean", column="mark", where=[["mark", "fits", []]], epsilon="0.05")
    for query, anyway in ((mean(table, "mark"), True), (fitting, False), (fitting, True)):
        with pytest.raises(dp.ColumnDoubted, match="above 5"):
            table.ask(query, checked=True, anyway=anyway)
    assert keys(table) == ["fit_checks"], "nothing but the check is paid for"


def test_of_cells_that_fit_nothing_counts_as_an_end_of_the_range(workspace: Workspace) -> None:
    table = added(workspace, school())
    for where, told in (([], "upper"), ([["mark", "fits", []]], "")):
        query = table.query("mean", column="mark", where=where, epsilon="1")
        assert near_end(query, Fraction(49, 10), (Fraction(48, 10), Fraction(5))) == told


def test_what_is_not_in_a_complete_list_is_said_to_count_as_one_of_its_values(workspace: Workspace) -> None:
    """7 % are not in the list: the noise of the check hides that with a chance below 1e-9."""
    towns = ["Mill", "Hill"] * (PEOPLE // 2 - 700) + ["Dale"] * 1_400
    schema = dp.Schema({"town": dp.Category(["Hill", "Mill"], complete=True)})
    table = workspace.add_table(
        "towns", pd.DataFrame({"town": towns}), schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6")
    )
    table.ask(table.query("fit_checks", columns=["town"], epsilon="1"))
    (fit,) = table.fits().between(table.query("histogram", column="town", epsilon="1"))
    assert "% of the cells of town are not in your list. Such cells count as “Hill”." in fit.note()


def test_a_check_that_found_a_few_codes_names_them(workspace: Workspace) -> None:
    """5 % are -1: the noise of the check hides that with a chance below 1e-9."""
    waits = [*range(200)] * (PEOPLE // 200) + [-1] * (PEOPLE // 20)
    schema = dp.Schema({"wait": dp.Number(-1, 240)})
    table = workspace.add_table(
        "waits", pd.DataFrame({"wait": waits}), schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6")
    )
    check = table.ask(table.query("fit_checks", columns=["wait"], epsilon="1"))
    assert (
        "wait (-1)" in check.query.finding_of(check.value, check.interval, check.raw) and table.fit_of("wait").in_part
    )


def test_no_question_is_suggested_that_would_not_be_asked(workspace: Workspace) -> None:
    table = added(workspace, school(mark=np.full(PEOPLE, 9)), budget=dp.Budget("5", "1e-6"))
    assert any("mark" in query.about() for query in table.suggestions())
    table.ask(table.query("fit_checks", columns=["age", "mark", "town"], epsilon="1"))
    left = table.suggestions()
    assert left and all(table.doubts(query) is None for query in left)


def test_the_number_of_different_ids_is_said_with_its_range(workspace: Workspace) -> None:
    table = added(workspace, school(**{"Pupil no.": np.arange(PEOPLE) // 10}))
    with pytest.raises(dp.ColumnDoubted) as refused:
        table.ask(mean(table), checked=True)
    low, high, rows = table.fits().repeated["Pupil no."]
    assert low < high < rows and f"{low:,} to {high:,} different Pupil no." in str(refused.value)


def test_the_preview_reads_no_data(workspace: Workspace) -> None:
    table = added(workspace, school())
    for path in workspace.folder.glob("tables/*/*.parquet"):
        path.unlink()
    assert table.preview(mean(table), checked=True).check is not None and table.doubts(mean(table)) is None
