"""Questions about different people, asked as one."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from battery import check_law_against_loss, check_sensitivity

from dpengine.accountant.filter import Rule, Totals
from dpengine.asking.plan import Planner, Wish
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Category, Number, Schema
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.query import AnyQuery
from dpengine.planning.partition import candidates, merged_offer
from tests.planted.wrong_questions import made

SCHEMA = Schema({"age": Number(0, 99), "pay": Number(0, 1_000, step=10), "town": Category(["A", "B", "C", "D"])})
YOUNG, OLD = [["age", "<", 30]], [["age", ">=", 65]]


def facts(relation: str, rows: int = 1) -> Facts:
    unit = Unit.rows() if rows == 1 else Unit.column("who", at_most=rows)
    return Facts("t", SCHEMA, unit, relation, 10_000)  # type: ignore[arg-type]


def asked(relation: str, key: str, where: Any, amount: str | None = None, **given: Any) -> Wish:
    query: AnyQuery = catalogue[key].build(facts(relation), {"epsilon": "0.1", "where": where} | given)
    return Wish.of(query) if amount is None else Wish(query, Fraction(amount))


def planner() -> Planner:
    return Planner(RULE, Totals.NOTHING)


RULE = Rule.make(Fraction(1), Fraction(1, 10**6))


@pytest.mark.parametrize("relation", RELATIONS)
def test_disjoint_counts_cost_less_as_one_and_are_as_close(relation: str) -> None:
    """Three where one person changes one of them, eight where one changes two."""
    edges = [0, 30, 65, 100] if relation == "add_remove" else [0, 10, 20, 30, 40, 50, 65, 80, 100]
    bands: list[Any] = [[["age", "between", [low, high - 1]]] for low, high in pairwise(edges)]
    wishes = [asked(relation, "count", where, "60") for where in bands]
    other = asked(relation, "mean", [], "5", column="pay")
    plan = [wishes[0], other, *wishes[1:]]
    offer = merged_offer(planner(), plan)
    assert offer is not None and offer.places == (0, *range(2, len(plan))) and offer.after < offer.before
    assert offer.applied(plan) == [offer.wish, other]
    query = offer.wish.query
    assert query.parameters()["by"] == {"column": "age", "edges": [str(edge) for edge in edges[1:-1]]}
    assert "where" not in query.parameters()
    priced = planner().price(offer.applied(plan))
    assert priced.share == offer.after and priced.lines[0].promise.amount <= 60
    if relation == "add_remove":  # one of three, but for the union bound
        assert offer.after - planner().price([other]).share < Fraction(6, 10) * (
            offer.before - planner().price([other]).share
        )


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_condition_is_one_group_whatever_a_row_holds(relation: str) -> None:
    """Every code of the column, the missing one too; a common condition stays one, and gaps become groups."""
    both: list[Any] = [["town", "in", ["A"]]]
    wheres = [[["age", "between", [10, 19]], *both], [*both, ["age", ">", 40], ["age", "<=", 50]]]
    wheres.append([["age", "=", 30], *both])
    wishes = [asked(relation, "mean", where, column="pay") for where in wheres]
    offer = merged_offer(planner(), wishes)
    assert offer is not None and offer.places == (0, 1, 2)
    query = offer.wish.query
    assert query.where.as_json() == [["town", "in", ["A"]]]
    group: Any = query.by
    for wish in wishes:
        places = {group.of(code) for code in range(100) if wish.query.where.holds({"age": code, "town": 0})}
        assert len(places) == 1
        (place,) = places
        for code in (MISSING, *range(100)):
            row: Row = {"age": code, "town": 0}
            assert wish.query.where.holds(row) == (group.of(code) == place)
    noises = [one.query.at(Fraction(1)).added for one in wishes]
    assert query.at(Fraction(2 if relation == "replace" else 1)).added == noises[0]


def test_values_of_a_list_are_asked_by_that_list() -> None:
    wishes = [asked("add_remove", "count", [["town", "in", [one]]], "40") for one in "ABC"]
    offer = merged_offer(planner(), wishes)
    assert offer is not None and offer.wish.query.by == "town"


@pytest.mark.parametrize(
    "wheres",
    [
        (YOUNG, [["age", "<=", 30]]),  # one within the other
        (YOUNG, [["age", ">=", 29]]),  # 29 is in both
        (YOUNG, [["pay", ">", 500]]),  # different columns
        (YOUNG, [["age", ">", 40], ["pay", ">", 500]]),  # another condition beside it
        ([["any", [["age", "<", 30], ["pay", ">", 1]]]], [["any", [["age", ">", 40], ["pay", "<", 1]]]]),
        ([["town", "in", ["A", "B"]]], [["town", "in", ["C"]]]),  # two values are no group of the list
        (YOUNG, [["age", "between", [50, 40]]]),  # nobody
    ],
)
def test_what_may_overlap_or_is_no_group_is_not_offered(wheres: tuple[Any, Any]) -> None:
    assert merged_offer(planner(), [asked("add_remove", "count", where, "60") for where in wheres]) is None


def test_two_counts_that_a_replaced_person_may_both_change_are_not_cheaper() -> None:
    """Under replace-one one person leaves a group and enters another: two counts cost two."""
    assert merged_offer(planner(), [asked("replace", "count", where, "60") for where in (YOUNG, OLD)]) is None
    assert candidates([asked("replace", "count", where, "60") for where in (YOUNG, OLD)])
    mixed = [asked("replace", "count", YOUNG, "60"), asked("replace", "sum", OLD, column="pay")]
    assert merged_offer(planner(), mixed) is None


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows", [1, 2])
def test_what_is_asked_as_one_keeps_sensitivity_and_loss_over_every_neighbour(relation: str, rows: int) -> None:
    """On the small world, by the question that is offered there; a person with two rows may be in two groups."""
    unit = Unit.rows() if rows == 1 else Unit.column("who", at_most=rows)
    wheres: list[Any] = [[["x", "=", 0]], [["x", "=", 1]], [["x", ">=", 2]]]
    wishes = [Wish(made(Count, {"where": where}, relation, unit), Fraction(40)) for where in wheres]
    ((places, query),) = candidates(wishes)
    assert places == (0, 1, 2) and query.epsilon == 1
    check_sensitivity(query)
    check_law_against_loss(query)
