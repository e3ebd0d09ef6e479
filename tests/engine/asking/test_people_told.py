"""A declared number of people that is far off is doubted: by released figures alone, with ranges that hold."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.column_fit import ImpliedPeople, implied_by
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.counts.fit_checks import FitChecks
from dpengine.noise.coins import SystemCoins
from dpengine.workspace import Workspace

PEOPLE, DECLARED = 5_200, 2_000
SCHEMA = dp.Schema({"age": dp.Number(0, 100), "sex": dp.Category(["f", "m"]), "pay": dp.Number(0, 5_000)})
TELLING: dict[str, dict[str, Any]] = {
    "fit_checks": {},
    "count": {},
    "histogram": {"column": "sex"},
    "proportion": {"of": [["age", ">=", 50]]},
    "overview": {"columns": ["sex", "age"]},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def clinic(workspace: Workspace, about: int = DECLARED, relation: dp.Relation = "add_remove") -> dp.Table:
    rows = {"age": [str(place % 90) for place in range(PEOPLE)], "sex": ["f", "m"] * (PEOPLE // 2)}
    rows["pay"] = ["" if place % 3 else "100" for place in range(PEOPLE)]
    given = {"about_rows": about} if relation == "add_remove" else {}
    return workspace.add_table(
        "our patients",
        pd.DataFrame(rows),
        schema=SCHEMA,
        unit=dp.Unit.rows(),
        relation=relation,
        budget=dp.Budget("50", "1e-6"),
        **given,
    )


@pytest.mark.every(3)
@pytest.mark.parametrize("key", TELLING)
def test_an_answer_that_shows_it_says_it(workspace: Workspace, key: str) -> None:
    table = clinic(workspace)
    assert table.people_far_off() is None, "nothing was bought yet"
    answer = table.ask(table.query(key, epsilon="1", beta="1e-7", **TELLING[key]))
    told = implied_by(answer)
    assert told is not None and told.far and told.high is not None
    assert 0.8 * PEOPLE < told.low <= PEOPLE <= told.high < 1.2 * PEOPLE
    assert told.note("far").startswith("You declared about 2,000 people; this answer says between ")
    assert table.people_far_off() == told


def test_nothing_is_said_where_it_agrees_or_is_public_or_cannot_be_known(workspace: Workspace) -> None:
    right = clinic(workspace, PEOPLE)
    right.ask(right.query("count", epsilon="1"))
    assert right.people_far_off() is None
    some = implied_by(right.ask(right.query("count", epsilon="1", where=[["sex", "in", ["f"]]])))
    assert some is not None and some.high is None and not some.far, "those who meet a condition are some of them"
    gaps = implied_by(right.ask(right.query("histogram", epsilon="1", column="pay")))
    assert gaps is not None and gaps.high is None and gaps.low < PEOPLE / 2 and not gaps.far, (
        "empty cells are in no bar"
    )
    assert ImpliedPeople(1_000, 1_500, None, Fraction(1, 20)).far
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "replace", PEOPLE)
    check = catalogue["fit_checks"].build(facts, {"epsilon": "1"})
    assert check.people_bounds((0, 0, 0)) is None and len(check.measured((1, 2, 3))) == 3


def test_rows_of_several_bound_people_from_both_sides() -> None:
    facts = Facts("t", SCHEMA, dp.Unit.column("id", at_most=4), "add_remove", 100)
    rows = catalogue["count"].build(facts, {"epsilon": "1"})
    low, high = rows.row_bounds((4_000,))
    assert rows.people_bounds((4_000,)) == (-(-low // 4), high) and low < 4_000 < high
    people = catalogue["count"].build(facts, {"epsilon": "1", "people": True})
    assert people.people_bounds((4_000,)) == people.row_bounds((4_000,))
    each = catalogue["count"].build(facts, {"epsilon": "1", "people": True, "by": "sex"})
    assert each.people_bounds((1, 2, 3, 4)) is None, "a person counts once in each group"


@pytest.mark.every(3)
@pytest.mark.parametrize("noise", ["", "gaussian"])
def test_a_check_of_columns_tells_the_rows(noise: str) -> None:
    """The bars of every column add up to them. A twentieth of beta may fail: of 400 draws one, and 14 with chance below
    1e-10."""
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "add_remove", DECLARED)
    query = catalogue["fit_checks"].build(facts, {"epsilon": "0.2", "noise": noise})
    assert isinstance(query, FitChecks)
    true = [PEOPLE if bar.name == "fits" else 0 for name in query.columns for bar in query.bars_of(name)]
    coins = SystemCoins()
    told = [query.row_bounds(query.draw(tuple(true), coins)) for _ in range(400)]
    assert sum(not one[0] <= PEOPLE <= one[1] for one in told) < 14  # type: ignore[index,operator]


def test_a_corrected_number_plans_anew_and_leaves_answers_as_they_were(workspace: Workspace) -> None:
    table = clinic(workspace)
    mean = table.query("mean", column="age", epsilon="0.5")
    answer = table.ask(mean)
    session = table.open_session(table.session_for(3, Fraction(1, 100)))
    table.ask(table.query("count", epsilon="1"))
    assert table.people_far_off() is not None
    used = table.meter().used
    table = table.correct_people(PEOPLE)
    assert table.facts.about == PEOPLE and workspace.table("our patients").facts.about == PEOPLE
    assert table.meter().used == used and table.people_far_off() is None
    assert table.query("mean", column="age", epsilon="0.5").promise().amount < mean.promise().amount
    again = workspace.answer_of(workspace.ledger.find(answer.request_id))  # type: ignore[arg-type]
    assert again is not None and again.promise == answer.promise and again.query.facts.about == DECLARED
    assert table.session(session.request).query.facts.about == DECLARED, "its sums are divided by what was agreed"
    assert table.ask(table.query("count", epsilon="1")).receipt["claim"]["about"] == PEOPLE
    assert workspace.verify_ledger().ok
    for bad in (0, -5, True, "many"):
        with pytest.raises(dp.AllowanceError, match="whole number"):
            table.correct_people(bad)  # type: ignore[arg-type]


def test_a_number_that_was_counted_stays(workspace: Workspace) -> None:
    table = clinic(workspace, relation="replace")
    with pytest.raises(dp.AllowanceError, match="their number is public"):
        table.correct_people(10)
    assert table.people_far_off() is None
    with pytest.raises(dp.AllowanceError):
        workspace.table("town").correct_people(10)


def test_an_answer_that_knows_both_ends_goes_before_one_that_knows_the_least(workspace: Workspace) -> None:
    table = clinic(workspace)
    women = table.query("count", epsilon="1", where=[["sex", "in", ["f"]]])
    table.ask(women)
    told = table.people_far_off()
    assert told is not None and told.high is None and 2_000 < told.low < PEOPLE
    table.ask(table.query("count", epsilon="1"))
    table.ask(women)
    told = table.people_far_off()
    assert told is not None and told.high is not None and 5_000 < told.low <= told.high < 5_400
