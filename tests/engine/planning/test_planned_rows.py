"""Where a person may have several rows, plans suppose about as many as usual tables have. Guarantees do not move."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.unit import Relation, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.promises import Rank
from dpengine.messages import say
from dpengine.noise.coins import SystemCoins

PEOPLE = 2_000
SHAPES = {
    "visits": (10, Fraction(24, 10)),
    "marks": (8, Fraction(5)),
}  # the most rows of a person, and how many on average


def asked(key: str, most: int, relation: Relation = "add_remove", **given: Any) -> Any:
    schema = dp.Schema({"wait": dp.Number(0, 120), "clinic": dp.Category(list("abcdefgh"))})
    unit = Unit.column("who", most) if most else Unit.rows()
    facts = Facts("visits", schema, unit, relation, PEOPLE)
    return catalogue[key].build(facts, {"epsilon": "1"} | given)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_planned_mean_is_about_as_wide_as_its_range(shape: str) -> None:
    """At this ε noise moves the range by a few percent: a false alarm would take twenty scales of Laplace noise."""
    most, each = SHAPES[shape]
    query = asked("mean", most, column="wait")
    low, high = query.release((int(PEOPLE * each), 0), SystemCoins()).interval
    planned, got = query.promise().amount, Fraction(high - low) / 2
    assert got / 2 <= planned <= 2 * got
    one_each = query.of_size(PEOPLE // query.facts.unit.usual_rows).promise().amount
    assert one_each > 2 * got, "one row a person would be too gloomy"


def test_counts_are_useful_where_bars_are_clear() -> None:
    bars = asked("histogram", 10, column="clinic")
    assert bars.coarse() == Fraction(3 * PEOPLE, bars.numbers * 4)
    assert bars.promise() == asked("histogram", 10, column="clinic").of_size(1).promise(), (
        "what is proved does not move"
    )
    assert asked("count", 10, people=True).coarse() == Fraction(PEOPLE, 4), "people are not rows"


@pytest.mark.parametrize("most", [0, 1, 2, 4])
def test_with_few_rows_a_person_one_is_planned(most: int) -> None:
    assert asked("count", most).planned_size == PEOPLE


def test_the_proved_part_of_a_median_does_not_move() -> None:
    promise, one = asked("median", 10, column="wait").promise(), asked("median", 10, column="wait").of_size(1).promise()
    assert isinstance(promise, Rank) and isinstance(one, Rank)
    assert (promise.rows, promise.floor) == (one.rows, one.floor) and promise.nominal
    assert promise.share == promise.rows / (3 * PEOPLE)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_plan_says_how_many_rows_it_supposes(relation: Relation) -> None:
    for key in ("mean", "median"):
        query = asked(key, 10, relation, column="wait")
        assert say("promise.nominal_rows", rows=3 * PEOPLE) in query.promise().words(query)
    curve = asked("cdf", 10, relation, column="wait")
    assert say("promise.nominal_rows", rows=3 * PEOPLE) not in curve.promise().words(curve), (
        "its band is drawn for one row each"
    )
