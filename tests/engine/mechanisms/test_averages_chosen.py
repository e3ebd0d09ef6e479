"""The highest of several averages: what is compared, what one person can move, and what is promised."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Category, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.noise.coins import SystemCoins
from tests.battery import allowed_failures
from tests.planted.choices import check_a_choice_of_averages_keeps_its_epsilon, right

SCHEMA = Schema(
    {
        "first": Number(1, 5, missing=3),
        "second": Number(1, 5, missing=3),
        "half": Number(1, 5, step="0.5"),
        "c": Category(["a", "b"], unknown="b", missing="b"),
    }
)


def asked(*columns: str, people: int = 1_000, relation: str = "replace", **more: Any) -> Any:
    facts = Facts("t", SCHEMA, more.pop("unit", Unit.rows()), relation, people)  # type: ignore[arg-type]
    options = [{"mean": column} for column in columns]
    return catalogue["noisy_argmax"].build(facts, {"options": options, "epsilon": "1"} | more)


def row(first: int, half: int, c: int = 0) -> dict[str, int]:
    return {"first": first, "second": first, "half": half, "c": c}


def test_the_largest_sum_is_the_highest_average() -> None:
    """By hand, over every table of three people: the one with the largest sum has the highest average among those who
    have both, in the columns' own unit, since the ranges are the same."""
    query = asked("first", "half")
    assert query.steps == 8 and query.need().weights == (2, 1)
    for halves in product((MISSING, 0, 3, 8), repeat=3):
        rows = [row(first, half) for first, half in zip((0, 2, 4), halves, strict=True)]
        kept = [one for one in rows if one["half"] != MISSING]
        sums = query.need().of(rows)
        if kept:
            means = [
                sum(SCHEMA.number(name).value(one[name]) for one in kept) / len(kept) for name in ("first", "half")
            ]
            assert [value / 8 / len(kept) for value in sums] == [pytest.approx((mean - 1) / 4) for mean in means]
        else:
            assert sums == (0, 0)


@pytest.mark.parametrize(("relation", "claimed"), [("replace", 8), ("add_remove", 8)])
def test_one_person_moves_every_sum_by_the_whole_range_at_most(relation: str, claimed: int) -> None:
    query = asked("first", "half", relation=relation)
    possible = [row(first, half) for first in (0, 2, 4) for half in (MISSING, 0, 5, 8)]
    rest = [row(1, 7)]
    of = query.need().of
    if relation == "replace":
        moved = [(of([*rest, one]), of([*rest, other])) for one in possible for other in possible]
    else:
        moved = [(of(rest), of([*rest, one])) for one in possible]
        assert all(b >= a for before, after in moved for a, b in zip(before, after, strict=True)), "none falls"
    assert max(abs(b - a) for before, after in moved for a, b in zip(before, after, strict=True)) == claimed
    assert query.sensitivity().bound == claimed and 1 / query.rate == claimed * (2 if relation == "replace" else 1)


@pytest.mark.long
def test_the_promise_is_a_share_of_the_range_and_kept() -> None:
    query, coins, draws = asked("first", "second", people=400, beta="0.2", epsilon="0.5"), SystemCoins(), 1_500
    promise = query.promise()
    gap = promise.share * query.steps * 400
    value = (int(gap) + 101, 100)
    missed = sum(query.draw(value, coins) != 0 for _ in range(draws))
    assert missed <= allowed_failures(draws, 0.2)
    assert sum(query.draw((101, 100), coins) != 0 for _ in range(200)) > 20, "a small lead is often missed"
    assert not promise.nominal and asked("first", "half").promise().nominal, "of how many people is not public there"
    assert asked("first", "second", where=[["c", "in", ["a"]]]).promise().nominal
    assert "of the range below the highest average" in promise.words(query)


def test_what_is_compared_is_said_and_read_back() -> None:
    query = asked("first", "half")
    assert "first (1 to 5); half (1 to 5)" in query.sentence() and "a value in all of them" in query.sentence()
    assert query.own_json() == {"options": [{"mean": "first"}, {"mean": "half"}]}
    again = catalogue["noisy_argmax"].build(query.facts, {"epsilon": "1", **query.own_json()})
    assert again == query and query.valued() == {"first", "half"} and query.finish(1).value == "half"


REFUSED: list[tuple[list[Any], str]] = [
    ([{"mean": "first"}, [["c", "in", ["a"]]]], "options.mixed"),
    ([{"mean": "first"}, {"mean": "first"}], "options.twice"),
    ([{"mean": "first"}, {"mean": "second", "x": 1}], "options.mixed"),
    ([{"mean": "first"}], "options.many"),
    ([{"mean": "first"}, {"mean": "c"}], "schema"),
    ([{"mean": "first"}, {"mean": "nobody"}], "schema"),
]


@pytest.mark.parametrize(("options", "code"), REFUSED, ids=[code for _, code in REFUSED])
def test_what_cannot_be_compared_is_one_sentence(options: list[Any], code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        asked("first", "second", options=options)
    assert refused.value.code.startswith(code) or code == "schema", refused.value.code
    assert str(refused.value).endswith(".")


def test_steps_that_do_not_fit_together_are_refused() -> None:
    schema = Schema({"a": Number(0, 9973), "b": Number(0, 9967)})
    facts = Facts("t", schema, Unit.rows(), "replace", 10)
    with pytest.raises(AllowanceError) as refused:
        catalogue["noisy_argmax"].build(facts, {"options": [{"mean": "a"}, {"mean": "b"}], "epsilon": "1"})
    assert refused.value.code == "options.steps"


def test_several_rows_of_a_person_move_it_by_as_many_ranges() -> None:
    query = asked("first", "second", unit=Unit.column("who", at_most=3))
    assert query.sensitivity().bound == 3 * query.steps == 12 and query.rate == Fraction(1, 24)


def test_the_exact_loss_over_every_small_table() -> None:
    check_a_choice_of_averages_keeps_its_epsilon(right)


def test_the_promise_is_how_far_a_choice_stays_behind() -> None:
    query = asked("first", "half", people=400, beta="0.2")
    assert query.promise().share == Fraction(22, 8 * 400), "⌈16·ln 4⌉ − 1"
