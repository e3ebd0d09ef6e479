"""The rule against every strategy of a person who picks each question after seeing the answers (helpers_filter.py)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpengine.accountant import renyi
from dpengine.accountant.filter import spent
from tests.helpers_filter import DELTA, MIXED, ONE_SIZE, RULE, Counts, Game, by_the_rule, constant_cap, totals
from tests.planted.accounts import ORDERS, TOLLS, _curve, by_the_exact_loss_distribution, fixed_plan_delta

# The helper itself --------------------------------------------------------------------------------------------------


def test_the_game_equals_a_plain_walk_through_every_strategy() -> None:
    sizes = (Fraction("0.25"), Fraction("0.75"))

    def admitted(counts: Counts) -> bool:
        return sum(counts) <= 4 and counts[1] <= 2

    def walk(counts: Counts, loss: Fraction) -> float:
        best = max(0.0, 1 - math.exp(0.3 * sum(counts) - loss))
        for i, size in enumerate(sizes):
            more = tuple(n + (i == j) for j, n in enumerate(counts))
            if admitted(more):
                p = math.exp(size) / (1 + math.exp(size))
                best = max(best, p * walk(more, loss + size) + (1 - p) * walk(more, loss - size))
        return best

    worth = Game(sizes, admitted).worth(lambda counts: 0.3 * sum(counts))
    assert worth == pytest.approx(walk((0, 0), Fraction(0)), rel=1e-12)


def test_with_one_size_and_no_choice_the_game_is_the_fixed_plan() -> None:
    game = Game(MIXED, lambda counts: counts[0] <= 130 and not any(counts[1:]))
    assert game.worth(constant_cap) == pytest.approx(fixed_plan_delta((130, 0, 0, 0)), rel=1e-9)


def test_the_curves_of_the_planted_rules_are_those_of_the_engine() -> None:
    """The floats the planted rules use are the engine's own numbers, so only the planted fault differs."""
    place = int(np.argmin(np.abs(ORDERS - float(RULE.alpha or 0))))
    alpha = Fraction(float(ORDERS[place]))
    assert TOLLS[place] == pytest.approx(float(renyi.toll(alpha, Fraction(1, 10**6))), abs=1e-11)
    for size in MIXED:
        assert _curve(size)[place] == pytest.approx(float(renyi.of_pure(size, alpha)), abs=1e-11)


# As a filter --------------------------------------------------------------------------------------------------------


def test_no_adaptive_chooser_gets_past_the_rule() -> None:
    worth = Game(MIXED, by_the_rule).worth(constant_cap)
    assert worth <= DELTA
    assert worth == pytest.approx(4.5e-7, rel=0.01)


def test_an_exact_loss_distribution_admits_only_plans_that_are_right_as_plans() -> None:
    """Each multiset it admits has δ ≤ 10^-6 as a plan; tests/planted shows that choosing along the way reaches more."""
    game = Game(MIXED, by_the_exact_loss_distribution)
    assert max(fixed_plan_delta(counts) for layer in game.layers for counts in layer) <= DELTA


# As a reading of the meter ------------------------------------------------------------------------------------------


def test_stopping_at_the_best_moment_cannot_make_the_meter_lie() -> None:
    """spent, at the frozen order, is true at δ whenever one stops: to the cap, far beyond it, and with mixed sizes."""
    to_the_cap = Game(ONE_SIZE, lambda counts: counts[0] <= 490)
    assert to_the_cap.worth(lambda counts: float(spent(RULE, totals(counts, ONE_SIZE)))) <= DELTA
    beyond = Game(ONE_SIZE, lambda counts: counts[0] <= 2000)
    worth = beyond.worth(lambda counts: float(spent(RULE, totals(counts, ONE_SIZE))))
    assert 0.99 * DELTA < worth <= DELTA  # the bound is nearly met, so a slightly smaller reading would be false
    mixed = Game(MIXED, by_the_rule)
    assert mixed.worth(lambda counts: float(spent(RULE, totals(counts, MIXED)))) <= DELTA


def test_a_meter_a_hundredth_too_low_is_caught() -> None:
    game = Game(ONE_SIZE, lambda counts: counts[0] <= 2000)
    assert game.worth(lambda counts: float(spent(RULE, totals(counts, ONE_SIZE))) - 0.01) > DELTA
