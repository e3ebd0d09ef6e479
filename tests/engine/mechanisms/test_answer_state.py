"""Every question has a state in which its answer says nothing, reached on small tables and left on large ones.

How often it is shown is counted on tables made for it; false alarms: FALSE_ALARM for each count (exact binomial tails).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from battery import CASES, allowed_failures, build, case_name
from helpers_made_up import made_up

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import answer_state, catalogue
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.stepwise import Stepwise
from dpengine.mechanisms.trial import WORLD, model
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.need import Spread

in_each_relation = pytest.mark.parametrize(
    ("case", "relation"),
    [
        pytest.param(case, relation, id=f"{case_name(case)}-{relation}")
        for case in CASES
        for relation in catalogue[case[0]].card.relations
    ],
)


def state_of(query: Query, people: int) -> str:
    """The state of one answer on a made-up table of so many people, whose groups differ."""
    if isinstance(query, Stepwise) or query.answer_kind == "file":  # decided by the promise
        return query.state(None, None)
    released = query.release(made_up(query, people, "bell"), SystemCoins())
    return query.state(released.value, released.interval)


@pytest.mark.parametrize("key", catalogue)
def test_every_card_declares_when_its_answer_says_nothing(key: str) -> None:
    states = catalogue[key].card.states
    assert states and set(states) <= set(answer_state.STATES)


@pytest.mark.every(9)
@in_each_relation
def test_a_small_spend_on_a_small_table_says_nothing(case: tuple[str, dict[str, Any]], relation: str) -> None:
    """Ranges that fail once in 10^7: a false alarm is no likelier. Messages through a shuffler are refused where their
    coins cannot protect, so theirs are about the smallest tables that can, and told is the likeliest of an even one."""
    key, given = case
    if not key.startswith("shuffle"):
        query = build(key, given | {"beta": "1e-7"}, relation, "0.01", about=20)
        no_figures = key == "fit_checks" and not query.labels()  # a check of ids alone only names those that repeat
        assert state_of(query, 20) in (("",) if no_figures else catalogue[key].card.states)
        return
    people, epsilon = (6, "0.3") if key == "shuffle_count" else (20, "0.5")
    small: Any = build(key, given | {"delta": "0.2", "beta": "1e-7"}, relation, epsilon, about=people)
    size = getattr(small, "size", 2)
    held = Fraction(people, size)
    sent = round(people * small.chance + (people - held if given.get("solution") == "second" else held))
    released = small.finish((sent,) * size if key == "shuffle_histogram" else sent)
    assert small.state(released.value, released.interval) in catalogue[key].card.states


@pytest.mark.every(27)
@pytest.mark.parametrize("key", catalogue)
def test_a_large_spend_on_a_large_table_tells(key: str) -> None:
    for relation in catalogue[key].card.relations:
        trial = catalogue[key].trial  # some cases are made to be listed, not to learn
        given = dict(trial.large or next(iter(trial.cases.values())))
        assert state_of(build(key, given, relation, "8", about=20_000), 20_000) == ""


def test_a_state_is_a_function_of_promise_public_facts_and_answer_alone() -> None:
    """It is asked with the question's public facts and what was released; there is no table anywhere near."""
    query = build("mean", {"column": "x"}, "replace")
    assert query.state(1.0, (0.0, 3.0)) == query.state(2.0, (0.2, 2.95)) == "few" and query.state(1.0, (0.0, 2.0)) == ""
    by = build("mean", {"column": "x", "by": "c"}, "replace")
    assert by.state({}, {"a": (0.0, 1.0), "b": (1.0, 2.0)}) == "apart"
    assert by.state({}, {"a": (0.0, 0.9), "b": (1.0, 2.0)}) == ""
    assert by.state({}, {"a": (0.0, 0.9), "b": (0.0, 3.0)}) == ""  # one of them tells
    checked = build(
        "check_model", {"parts": 2, "error_steps": 2, "model": model(WORLD, "z", "c", (), (), 0, 1, 1)}, "replace"
    )
    typical, leaning, *_ = checked.labels()
    assert checked.mute((0, 3), typical) and not checked.mute((0, 3), leaning)  # a typical error has no sign


# Percentiles: on tables where the wanted place is far from both ends of the ordering, and where it is not.

PAY = Schema({"pay": Number(0, 20_000, step=10)})
DRAWS = 200


def quantile(people: int, relation: str, epsilon: str, **given: Any) -> Query:
    known = Facts("people", PAY, Unit.rows(), relation, people)  # type: ignore[arg-type]
    return catalogue["median"].build(known, {"column": "pay", "epsilon": epsilon, "beta": "0.1"} | given)


def shown(query: Query, value: Spread) -> int:
    coins, times = SystemCoins(), 0
    for _ in range(DRAWS):
        released = query.release(value, coins)
        times += query.state(released.value, released.interval) == "few"
    return times


@pytest.mark.long
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_median_too_few_can_tell_is_not_shown(relation: str) -> None:
    """Where both ends of the range are aimed beyond the ordering they are drawn there, except with chance β = 0.1."""
    query: Any = quantile(20, relation, "0.05")
    assert query.shift(Fraction(1, 2)) > 4 * 20  # far beyond: 20 rows change the odds of an end by little
    value = Spread(np.array([100, 101], dtype=np.int64), np.array([10, 10], dtype=np.int64))
    missed = DRAWS - shown(query, value)
    assert missed <= allowed_failures(DRAWS, 0.1 * np.exp(float(query.rate(Fraction(1, 2)) * 20)))
    assert not missed or relation == "add_remove"  # where the number of people is public, it alone says so


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_median_enough_can_tell_is_shown(relation: str) -> None:
    """All pay lies in a tenth of the declared range; both ends stay in it, except with chance β = 0.1."""
    query: Any = quantile(4_000, relation, "1")
    assert 4 * query.shift(Fraction(1, 2)) < 4_000
    value = Spread(np.arange(100, 300, dtype=np.int64), np.full(200, 20, dtype=np.int64))
    assert shown(query, value) <= allowed_failures(DRAWS, 0.1)


def test_a_percentile_without_a_range_says_nothing_where_its_place_is_anywhere() -> None:
    few, many = (quantile(people, "replace", "0.05", with_range=False) for people in (20, 100_000))
    assert few.state(10_000, None) == "few" and many.state(10_000, None) == ""


# The top item: a headline names it where it has nine tenths of the best one's rows, except with chance β.

JOBS = [f"job {place}" for place in range(15)]
COUNTS = (4_140, 4_099, 3_770, 3_650, 3_295, 1_843, 2_002, 1_597, 1_370, 994, 928, 649, 149, 9, 4_066)


def top(epsilon: str, **given: Any) -> Query:
    schema = Schema({"job": Category(JOBS, unknown=JOBS[-1], missing=JOBS[-1])})
    known = Facts("people", schema, Unit.rows(), "replace", sum(COUNTS))
    return catalogue["top_item"].build(known, {"column": "job", "epsilon": epsilon, "beta": "0.1"} | given)


def test_a_top_item_that_runners_up_may_equal_is_never_called_certain() -> None:
    """The two largest differ by 41, the promise allows for hundreds: the wrong one is drawn often, and only likely."""
    unsure, coins = top("0.02"), SystemCoins()
    drawn = [unsure.release(COUNTS, coins).value for _ in range(2 * DRAWS)]
    assert all(unsure.state(name, None) == "likely" for name in drawn)
    assert top("0.001").state(JOBS[0], None) == "apart"  # with so much noise almost any could come out
    wrong = sum(name != JOBS[0] for name in drawn)
    assert wrong > allowed_failures(2 * DRAWS, 0.1)  # or nothing would be told here


def test_a_top_item_that_is_told_has_nine_tenths_of_the_largest() -> None:
    """At the least spend at which it is told, on the table where missing is easiest: one largest, all others just under
    nine tenths of it."""
    people = sum(COUNTS)
    spends = (top(str(step / 1_000)) for step in range(1, 5_000))
    query = next(one for one in spends if not one.state("", None))
    coins, best = SystemCoins(), people // 14
    table = (best, *(int(best * 0.9) - 1,) * 14)
    chosen = [query.release(table, coins).value for _ in range(DRAWS)]
    assert sum(name != JOBS[0] for name in chosen) <= allowed_failures(DRAWS, 0.1)


def test_a_name_under_a_condition_is_never_certain() -> None:
    """How many rows it leaves is not public: perhaps none."""
    asked = [["job", "in", JOBS[:3]]]
    assert top("5").state(JOBS[0], None) == "" and top("5", where=asked).state(JOBS[0], None) == "apart"


def test_limits_are_what_is_sure_where_the_size_is_public() -> None:
    assert build("count", {"where": [["c", "in", ["a"]]]}, "replace", about=50).sure() == (0, 50)
    assert build("count", {"where": [["c", "in", ["a"]]]}, "add_remove", about=50).sure() == (0, None)
    assert build("sum", {"column": "z"}, "replace", about=50).sure() == (-200, 100)
    assert build("sum", {"column": "x"}, "add_remove", about=50).sure() == (0, None)
    assert build("sum", {"column": "z"}, "add_remove", about=50).sure() == (None, None)


def test_limits_follow_from_what_an_answer_is() -> None:
    """A distance is not a place: neither figure nor range of one is cut at the ends of its column."""
    pay = Number(1_200, 3_000, step=100)
    facts = Facts("t", Schema({"pay": pay, "sex": Category(["a", "b"])}), Unit.rows(), "replace", 100)
    where = {"where": [["sex", "in", ["a"]]]}
    asked = {
        "count": where,
        "proportion": {"of": [["sex", "in", ["a"]]]},
        "mean": {"column": "pay"},
        "median": {"column": "pay"},
        "variance": {"column": "pay"},
        "cdf_tree": {"column": "pay"},
        "top_item": {"column": "sex"},
    }
    found = {key: catalogue[key].build(facts, {"epsilon": "1"} | given) for key, given in asked.items()}
    assert {key: query.limits() for key, query in found.items()} == {
        "count": (0, 100),
        "proportion": (0, 100),
        "mean": (1_200, 3_000),
        "median": (1_200, 3_000),
        "variance": (0, 900),
        "cdf_tree": (0, 100),
        "top_item": None,
    }
