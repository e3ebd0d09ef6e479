"""What a session refuses before anything is used up, and what it costs."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from battery import facts
from helpers_session import TX, X, add, query

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import checked_parts, cost
from dpengine.accountant.history import History
from dpengine.accountant.loss import Gaussian, Pure, Repeated, Together
from dpengine.asking.answers import claim_of
from dpengine.asking.sessions import most_questions
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.workspace import Workspace
from tests.helpers_ledger import raises

# What is refused, before anything is burned


@pytest.mark.parametrize("wrong", [0, -1, "many", 2.5, True, 10_001, None, [], "1e9"], ids=repr)
def test_a_number_of_questions_that_cannot_be(home: Workspace, wrong: Any) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        AdaptiveSession.build(facts("replace"), {"questions": wrong, "epsilon": "1"})
    assert str(refused.value).endswith(".") and refused.value.code in ("session.questions", "query.missing")


NO_QUERY = [
    None,
    {},
    {"sum": "x"},
    {"share": []},
    {"share": [["x", ">", 99]], "average": "x"},
    {"average": "town"},
    {"average": "nobody"},
    {"average": ["x"]},
    {"largest": [[["x", ">", 1]]]},
    {"share": "x"},
    "share",
    {"average": {"column": "x", "times": 2}},
    {"largest": [[["x", ">", 1]], []]},
]


def test_what_is_no_query_into_the_unit_interval_is_refused_and_burns_nothing(home: Workspace) -> None:
    table = add(home)
    session = table.open_session(query(table), "s")
    for wrong in NO_QUERY:
        with pytest.raises(dp.AllowanceError) as refused:
            session.ask(wrong, "a")
        assert str(refused.value).endswith(".") and "\n" not in str(refused.value)
    assert session.look()[0].asked == 0


def test_more_questions_than_the_spend_bears_names_the_most(home: Workspace) -> None:
    table = add(home)
    with raises("session.too_many") as refused:
        table.open_session(query(table, 5000, "1"))
    most = refused.value.facts["most"]
    assert table.meter().charges == 0 and 1 <= most < 5000
    table.open_session(query(table, most, "1"))
    with raises("session.too_many"):
        table.open_session(query(table, most + 1, "1"))
    with raises("session.too_small"):
        table.open_session(query(table, 1, "0.0001"))
    with raises("budget.exceeded", dp.BudgetExceeded):
        table.open_session(query(table, 2, "50"))


def test_gaussian_and_lecture_say_where_they_do_not_hold(home: Workspace) -> None:
    table = add(home)
    with raises("lecture.epsilon_range"):
        query(table, 3, "10", calibration="lecture", delta="0.01")  # 10 > 2·ln(100)
    with raises("delta.missing"):
        query(table, calibration="lecture")
    with raises("session.delta_unused"):
        query(table, delta="1e-6")
    with raises("session.calibration"):
        query(table, calibration="loose")
    pure = add(home, "pure", budget=dp.Budget("3", "0"))
    for calibration in ("gaussian", "lecture"):
        with raises("session.no_delta"):
            pure.session_for(3, Fraction(1), calibration)
    opened = table.open_session(query(table, 4, "1", calibration="gaussian"), "g")
    assert opened.entry.charge.loss == Gaussian(Fraction(1, 8)) and table.meter().pure_closed
    assert opened.ask(X, "a").state == "done"


def test_the_lecture_s_noise_promises_what_its_claim_says(home: Workspace) -> None:
    """All k answers within ln(k/β)/(γn), in percent, γ = ε/√(8k·ln(1/δ)); a person moves a sum by one."""
    table = add(home)
    asked = query(table, 20, "1", calibration="lecture", delta="1e-6")
    gamma = 1 / math.sqrt(8 * 20 * math.log(1e6))
    claimed = 100 * math.log(20 / float(asked.beta)) / (gamma * asked.facts.about)
    assert float(asked.promise().amount) == pytest.approx(claimed, rel=0.02)


# What it costs


def test_many_equal_parts_cost_what_they_cost_together_and_stay_short(home: Workspace) -> None:
    alpha = Fraction(22)
    for part in (Pure(Fraction(1, 700)), Gaussian(Fraction(1, 10**6)), Together((Pure(Fraction(1, 30)),) * 2)):
        many, one_by_one = Repeated(part, 50), Together((part,) * 50)
        assert cost(many, alpha) == cost(one_by_one, alpha)
        assert History.NOTHING.plus(many) == History.NOTHING.plus(one_by_one)
        assert checked_parts(many) == checked_parts(one_by_one)
    for wrong in (0, -1, True, Fraction(3)):
        with raises("loss.range"):
            cost(Repeated(Pure(Fraction(1)), wrong), alpha)  # type: ignore[arg-type]
    table = add(home, budget=dp.Budget("40", "1e-6"))
    asked = query(table, 10_000, "30")
    assert len(json.dumps(claim_of(asked))) < 2000 and cost(asked.loss(), alpha).epsilon == 30


@pytest.mark.every(3)
@pytest.mark.parametrize("calibration", ["laplace", "gaussian"])
def test_the_tight_session_spends_what_was_chosen_and_no_more(home: Workspace, calibration: str) -> None:
    table = add(home)
    table.ask(table.query("count", where=TX["share"], epsilon="0.3"))
    rule, spend = table.budget.rule, Fraction(1, 2)
    found = table.session_for(200, spend, calibration)
    assert table.preview(found).share <= spend and table.preview(found).admissible
    more = found.at(found.epsilon + Fraction(1, 10**6))
    assert table.preview(more).share > spend or not table.preview(more).admissible
    assert found.each > spend * rule.epsilon / 200, "better than dividing by the number of questions"
    wide = table.session_for(200, spend, "lecture")
    assert wide.delta == rule.delta_slack and wide.each < found.each and wide.alpha >= found.alpha
    assert wide.loss() == Repeated(Pure(wide.each), 200)
    assert filter.share(rule, home.ledger.standing(table.budget.id).totals, cost(wide.loss(), rule.alpha)) <= spend
    most = most_questions(lambda k: table.session_for(k, spend, calibration), Fraction(1, 4))
    assert table.session_for(most, spend, calibration).alpha <= Fraction(1, 4)
    assert table.session_for(most + 1, spend, calibration).alpha > Fraction(1, 4)
    with raises("session.no_room"):
        table.session_for(10, Fraction(1, 10**6), calibration)
