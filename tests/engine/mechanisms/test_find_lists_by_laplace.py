"""Finding lists with Laplace noise: (ε, δ) by exact enumeration (helpers_found.py), threshold, samples, what is never
released."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import astuple
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from battery import HEADER, POSSIBLE_ROWS, SCHEMA, allowed_failures, build, neighbours

from dpengine.accountant.loss import Approximate, Together
from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms.choices.find_declarations import (
    MOST_FOUND,
    FindDeclarations,
    chance_of_new,
    least_threshold,
)
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.raw_needs import Values
from tests.helpers_found import check_found_values

every_relation = pytest.mark.parametrize("relation", RELATIONS)


def query_of(relation: str, epsilon: str, delta: str, rows: int = 1, about: int = 100, **more: Any) -> FindDeclarations:
    unit = Unit.rows() if rows == 1 else Unit.column("who", at_most=rows)
    facts = Facts("small", SCHEMA, unit, relation, about, HEADER)  # type: ignore[arg-type]
    asked = {"lists": ["raw text"], "epsilon": epsilon, "delta": delta, "noise": "laplace"} | more
    query = FindDeclarations.build(facts, asked)
    assert isinstance(query, FindDeclarations)
    return query


@pytest.mark.every(9)
@every_relation
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.01"), ("3", "0.005"), ("0.5", "0.01")])
def test_exact_epsilon_and_delta_on_small_tables(relation: str, rows: int, epsilon: str, delta: str) -> None:
    query = query_of(relation, epsilon, delta, rows)
    worst = check_found_values(query)
    assert worst >= float(query.delta) * 0.15, "the threshold wastes what was paid"


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_the_threshold_is_the_least_and_its_chance_the_worst(rows: int) -> None:
    for scale, delta in product((Fraction(rows), Fraction(10 * rows), Fraction(rows, 3)), ("1e-3", "1e-7", "1e-20")):
        found = least_threshold(scale, rows, Fraction(delta))
        assert chance_of_new(scale, rows, found) <= float(delta) < chance_of_new(scale, rows, found - 1)
        ratio = math.exp(-1 / scale)
        counts = range(1, rows + 1)
        shares = [parts for size in counts for parts in combinations_with_replacement(counts, size)]
        worst = max(sum(ratio ** (found - k) for k in parts) for parts in shares if sum(parts) <= rows) / (1 + ratio)
        assert math.isclose(worst, chance_of_new(scale, rows, found), rel_tol=1e-9)


@pytest.mark.every(3)
@every_relation
@pytest.mark.parametrize("unit", [None, Unit.column("who", at_most=2)])
def test_one_person_moves_the_counts_by_what_is_claimed(relation: str, unit: Unit | None) -> None:
    query = build(
        "find_declarations", {"lists": ["raw text"], "delta": "1e-6", "noise": "laplace"}, relation, unit=unit
    )
    worst = 0
    for one, other in neighbours(relation, unit):
        before, after = (Counter(dict(query.need().of(rows)[0])) for rows in (one, other))
        worst = max(worst, ((before - after) + (after - before)).total())
    assert worst == query.sensitivity().bound


@pytest.mark.every(3)
@every_relation
def test_samples_follow_the_law_and_the_loss_is_what_was_asked(relation: str) -> None:
    """1,000 draws; false alarm below 1e-6 by the exact binomial tail on both sides."""
    query = query_of(relation, "2", "1e-3")
    value, draws, coins = (("ann", query.threshold), ("bo", 1)), 1_000, SystemCoins()
    seen = [dict(query.draw((value,), coins)[0]) for _ in range(draws)]
    ratio = math.exp(-1 / query.of_values.size)
    chance = 1 / (1 + ratio)  # a count at the threshold is released
    shown = sum("ann" in one for one in seen)
    assert draws - shown <= allowed_failures(draws, 1 - chance) and shown <= allowed_failures(draws, chance)
    assert sum("bo" in one for one in seen) <= allowed_failures(draws, 1e-3)
    assert all(count >= query.threshold for one in seen for count in one.values())
    assert query.loss() == Together((Approximate(Fraction(2), Fraction(1, 1000)),))


def test_what_is_never_released() -> None:
    rows = [{"v": text} for text in ["x" * 201, "tab\there", "line\nbreak", "a\u202eb", "\ue000", "", "  ", None]]
    assert Values("v").of(rows) == ()
    assert Values("v").of([{"v": " Ann "}, {"v": "ANN"}, {"v": "no\u00a0break"}]) == (("ann", 2), ("no\u00a0break", 1))


def test_at_most_so_many_and_the_largest_first() -> None:
    query = query_of("add_remove", "20", "1e-3", about=10_000)
    value = tuple((f"v{place:04}", 100 + 100 * place) for place in range(MOST_FOUND + 50))
    (found,) = query.draw((value,), SystemCoins())
    assert len(found) == MOST_FOUND and found[0][0] == f"v{MOST_FOUND + 49:04}" and found[-1][0] == "v0050"
    assert query.draw(((),), SystemCoins()) == ((),) and query.finish(((),)).value == {}
    shown = query.finish((found,))
    assert query.listed(shown.value) == [f"raw text: {name}" for name, _ in found]


@pytest.mark.every(3)
@every_relation
def test_the_promise_holds_for_released_and_for_missing_values(relation: str) -> None:
    """β = 0.2, 200 draws over values around the threshold; a value that does not appear counts as 0."""
    query = query_of(relation, "1", "1e-4", about=400, beta="0.2")
    value = tuple((f"v{place}", 4 * place + 1) for place in range(30))
    truth, alpha = dict(value), query.promise().alpha
    coins, draws, broken, missed = SystemCoins(), 200, 0, 0
    for _ in range(draws):
        released = query.finish(query.draw((value,), coins))
        broken += any(abs(released.value.get(f"raw text: {name}", 0) - count) > alpha for name, count in value)
        missed += any(
            not low <= truth[name.removeprefix("raw text: ")] <= high
            for name, (low, high) in released.interval.items()
            if not name.endswith("Else")
        )
    assert broken <= allowed_failures(draws, 0.2) and missed <= allowed_failures(draws, 0.2)


@pytest.mark.parametrize("delta", [0, 1, "", None, "-1e-6", "0.5", "nan", "much", True, [1]])
def test_a_bad_delta_is_one_clear_sentence(delta: Any) -> None:
    with pytest.raises(AllowanceError) as refused:
        build("find_declarations", {"lists": ["raw text"], "delta": delta}, "replace")
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_an_empty_column_finds_nothing() -> None:
    query = build("find_declarations", {"lists": ["raw text"], "delta": "1e-6", "noise": "laplace"}, "replace")
    nobody = [row | {"raw text": None} for row in POSSIBLE_ROWS]
    assert query.drafts(*astuple(query.release(query.need().of(nobody), SystemCoins())))[0].values == ()


@pytest.mark.every(3)
@every_relation
def test_values_that_as_many_hold_as_is_promised_are_found(relation: str) -> None:
    """30,000 people, ε 0.1: as many values as there can be of that size are held by just so many. But for β/2 all are
    found, though fewer people are promised than noise on 30,000 values alone would need. 100 draws; false alarm 1e-6 by
    the exact binomial tail."""
    query, draws = query_of(relation, "0.1", "1e-8", about=30_000), 100
    assert query.least_held < query.threshold + query.shown_reach
    values = tuple((f"v{place}", query.least_held) for place in range(30_000 // query.least_held))
    missed = sum(len(query.draw((values,), SystemCoins())[0]) < len(values) for _ in range(draws))
    assert missed <= allowed_failures(draws, 0.025)
    low = tuple((name, query.threshold) for name, _ in values)
    assert len(query.draw((low,), SystemCoins())[0]) < len(low), "fewer are not surely found"
