"""Gaussian noise on means, sums, shares and spreads: where it is taken, that its ranges hold, and a spread without its
count."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from battery import allowed_failures

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Pure
from dpengine.declared.facts import Facts
from dpengine.mechanisms.sums.variance import _farthest, _longest
from dpengine.noise.coins import SystemCoins
from dpengine.planning.opening import cheapest

RULE = Rule.make(Fraction(1), Fraction(1, 10**6))
SCHEMA = dp.Schema(
    {"x": dp.Number(0, 40), "z": dp.Number(0, 40, missing=0), "c": dp.Category(["a", "b", "c"], "c", "c")}
)
IN_A = [["c", "in", ["a"]]]
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("mean", {"column": "x"}),
    ("mean", {"column": "z"}),
    ("mean", {"column": "x", "by": "c"}),
    ("sum", {"column": "z"}),
    ("sum", {"column": "x", "by": "c"}),
    ("proportion", {"of": IN_A}),
    ("proportion", {"of": [["x", ">", 3]], "by": "c"}),
    ("variance", {"column": "x"}),
    ("variance", {"column": "z"}),
]
NAMES = [f"{key} {' '.join(map(str, given))} {given.get('column', '')}" for key, given in ASKED]


def asked(key: str, given: dict[str, Any], relation: str = "replace", people: int = 2_000, **more: Any) -> Any:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), relation, people)  # type: ignore[arg-type]
    return dp.catalogue[key].build(facts, {"epsilon": "0.05"} | given | more)


def rows(people: int) -> list[dict[str, int]]:
    draw = np.random.default_rng(3)  # made-up people
    return [
        {"x": int(draw.integers(-1, 41)), "z": int(draw.integers(5, 30)), "c": int(draw.integers(0, 3))}
        for _ in range(people)
    ]


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize(("key", "given"), ASKED, ids=NAMES)
def test_it_is_taken_where_it_promises_more_for_the_same_share(key: str, given: dict[str, Any], relation: str) -> None:
    usual = asked(key, given, relation, people=20_000)
    for totals in (Totals.NOTHING, Totals.NOTHING.plus(cost(Pure(Fraction(1, 2)), RULE.alpha))):
        found = cheapest(usual, RULE, totals)
        before, after = (filter.share(RULE, totals, cost(one.loss(), RULE.alpha)) for one in (usual, found))
        assert after <= before and found.promise().amount <= usual.promise().amount
        if totals == Totals.NOTHING:
            assert found.noise == "gaussian" and found.promise().amount < usual.promise().amount * 9 / 10
    assert cheapest(usual, Rule.make(Fraction(1), Fraction(0)), Totals.NOTHING).noise != "gaussian", "without δ"


@pytest.mark.every(9)
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize(("key", "given"), ASKED, ids=NAMES)
def test_its_ranges_hold_the_truth(key: str, given: dict[str, Any], relation: str) -> None:
    people, draws, coins = rows(200), 60, SystemCoins()
    query = asked(key, given, relation, 200, noise="gaussian", epsilon="0.5", beta="0.2")
    value, missed = query.need().of(people), 0
    for _ in range(draws):
        told = query.release(value, coins)
        if query.by is None:
            held = [told.interval[0] - 1e-9 <= query.truth(people) <= told.interval[1] + 1e-9]
        else:
            groups = {label: [row for row in people if row["c"] == at] for at, label in enumerate(query.labels())}
            held = [
                told.interval[label][0] - 1e-9 <= query.truth(group) <= told.interval[label][1] + 1e-9
                for label, group in groups.items()
            ]
        missed += not all(held)
    assert missed <= allowed_failures(draws, 0.2)


@pytest.mark.parametrize("h", [1, 2, 3, 4, 5, 8, 11, 16, 31])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (6, 5), (3, 1)])
def test_the_most_that_one_value_moves_is_found_by_formula(h: int, p: int, q: int) -> None:
    """Over every two values of the grid."""
    moves = [(abs(a - b), 2 * abs(a * a - b * b)) for a, b in product(range(-h, h + 1, 2), repeat=2)]
    assert _longest(h, p, q) == max(p * h * s + q * squares for s, squares in moves)
    assert _farthest(h, p, q) == max((p * h * s) ** 2 + (q * squares) ** 2 for s, squares in moves)


def test_a_spread_of_a_public_number_of_people_needs_no_count() -> None:
    """So its range is a quarter narrower and more, at the middle and a quarter of the way from there to an end, where
    the promise is told."""
    now = asked("variance", {"column": "z"}, epsilon="0.5")
    counting = asked("variance", {"column": "z", "where": [["z", "<=", now.facts.schema["z"].upper]]}, epsilon="0.5")
    value = now.need().of(rows(2_000))
    assert len(now.draw(value, SystemCoins())) == 2 and len(counting.draw(value, SystemCoins())) == 3
    h = now.half
    for mean in (Fraction(0), Fraction(1, 4)):
        squares = 2 * (Fraction(h * h, 4) + (h * mean) ** 2) - h * h
        parts = 2_000, 2_000 * h * mean, 2_000 * squares
        narrow, wide = (one.estimate(parts)[1] for one in (now, counting))
        assert narrow[1] - narrow[0] < (wide[1] - wide[0]) * 3 / 4
    assert float(now.promise().amount) == pytest.approx(narrow[1] - narrow[0])
    secret = [asked("variance", {"column": "x"}), asked("variance", {"column": "z"}, "add_remove")]
    assert all(len(query.added) == 3 for query in secret)
