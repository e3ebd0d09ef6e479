"""Two tables about the same people on one allowance: a person in both is protected once, by what both are charged."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import dpengine as dp
from dpengine.audit.exact import hockey_stick
from dpengine.audit.world import build, neighbouring_statistics
from dpengine.noise.laws import Independent

SCHEMA = dp.Schema({"age": dp.Number(0, 99, missing=0), "ill": dp.Category(["yes", "no"], "no", "no")})
VISITS = dp.Schema({"days": dp.Number(0, 30, missing=0)})


def test_both_are_charged_to_one_allowance_and_stop_together(tmp_path: Path) -> None:
    space = dp.open_workspace(tmp_path)
    rows = pd.DataFrame({"who": list("abcd"), "age": list("1234"), "ill": ["yes", "no"] * 2})
    terms = {"unit": dp.Unit.column("who", 1), "budget": dp.Budget("1", "0")}
    people = space.add_table("patients", rows, schema=SCHEMA, **terms)
    stays = pd.DataFrame({"who": list("aabc"), "days": list("1234")})
    shared = {"unit": dp.Unit.column("who", 2), "budget": people.budget.id}
    visits = space.add_table("stays", stays, schema=VISITS, **shared)
    visits.ask(visits.query("count", where=[["days", ">", 2]], epsilon="0.6"))
    assert people.meter().used == visits.meter().used == Fraction(3, 5)
    with pytest.raises(dp.AllowanceError):
        people.ask(people.query("count", where=[["ill", "in", ["yes"]]], epsilon="0.5"))
    people.ask(people.query("count", where=[["ill", "in", ["yes"]]], epsilon="0.4"))
    assert not visits.meter().unused and not people.meter().unused


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_one_person_s_rows_in_both_move_both_answers_by_no_more_than_is_charged(relation: str) -> None:
    """Every pair of small neighbouring tables with every other one: one person is changed in both at once. What is
    enough for one of them alone is not enough for both."""
    first = build("count", {"where": [["c", "in", ["a"]]]}, relation, epsilon="0.3")
    second = build("histogram", {"column": "d"}, relation, epsilon="0.5")
    sides = [
        {(query.law(one), query.law(other)) for one, other in neighbouring_statistics(query.need().of, relation)}
        for query in (first, second)
    ]
    worst = Decimal(0)
    for one, other in sides[0]:
        for own, theirs in sides[1]:
            before, after = Independent((one, own)), Independent((other, theirs))
            assert hockey_stick(before, after, Fraction(8, 10)).high < Decimal("1e-12")
            worst = max(worst, hockey_stick(before, after, Fraction(5, 10)).low)
    assert worst > Decimal("0.01")
