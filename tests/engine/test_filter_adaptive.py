"""Does the rule bear a person who picks each question after seeing the answers? Every strategy, by dynamic programming.

The game is `dpengine.audit.game`: randomized responses, a chooser who sees the loss, and what he is worth at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpengine.accountant import renyi
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, admits, spent
from dpengine.audit.game import Counts, Floats, Game
from dpengine.loss import Pure

CAP = 1.0
DELTA = 1e-6
RULE = Rule.make(Fraction(1), Fraction(1, 10**6), slack_share=Fraction(1))
MIXED = (Fraction("0.02"), Fraction("0.1"), Fraction("0.3"), Fraction("0.5"))
ONE_SIZE = (Fraction("0.01"),)


def constant_cap(counts: Counts) -> float:
    return CAP


# Admission tests ----------------------------------------------------------------------------------------------------


@cache
def totals(counts: Counts, sizes: tuple[Fraction, ...]) -> Totals:
    costs = [cost(Pure(size), RULE.alpha) for size in sizes]
    return Totals(
        sum((n * (c.epsilon or Fraction(0)) for n, c in zip(counts, costs, strict=True)), Fraction(0)),
        sum((n * c.renyi for n, c in zip(counts, costs, strict=True)), Fraction(0)),
        Fraction(0),
    )


def by_the_rule(counts: Counts) -> bool:
    return admits(RULE, totals(counts, MIXED))


def by_the_rule_without_its_toll(counts: Counts) -> bool:
    """Planted fault: c left out."""
    return totals(counts, MIXED).renyi <= RULE.epsilon


def by_the_exact_loss_distribution(counts: Counts) -> bool:
    """Planted fault: the exact δ of this multiset, had it been fixed in advance."""
    return fixed_plan_delta(counts) <= DELTA


def by_the_best_order_so_far(counts: Counts) -> bool:
    """Planted fault: the Rényi sum at whichever order suits this multiset."""
    return best_order_reading(counts, MIXED) <= CAP


def fixed_plan_delta(counts: Counts) -> float:
    """δ at ε = 1 of randomized responses fixed in advance: a sum over the binomials, exact up to rounding."""
    law, losses = np.ones(1), np.zeros(1)
    for n, size in zip(counts, MIXED, strict=True):
        binomial, their_losses = _binomial(n, size)
        law = np.outer(law, binomial).ravel()
        losses = np.add.outer(losses, their_losses).ravel()
    return float(np.sum(law * np.maximum(0.0, -np.expm1(CAP - losses))))


@cache
def _binomial(n: int, size: Fraction) -> tuple[Floats, Floats]:
    p = 1 / (1 + math.exp(-size))
    ups = range(n + 1)
    law = np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in ups])
    return law, np.array([float((2 * k - n) * size) for k in ups])


ORDERS = 1 + np.geomspace(1e-2, 1e4, 2000)
TOLLS = np.log((ORDERS - 1) / ORDERS) - (math.log(DELTA) + np.log(ORDERS)) / (ORDERS - 1)


@cache
def _curve(size: Fraction) -> Floats:
    e = float(size)
    curve: Floats = e - (math.log1p(math.exp(-e)) - np.log1p(np.exp(-(2 * ORDERS - 1) * e))) / (ORDERS - 1)
    return curve


@cache
def best_order_reading(counts: Counts, sizes: tuple[Fraction, ...]) -> float:
    """min over α of Σr_i(α) + c(α), or Σε_i if that is less."""
    curve = sum((n * _curve(size) for n, size in zip(counts, sizes, strict=True)), np.zeros_like(ORDERS))
    return min(float(np.min(curve + TOLLS)), float(sum(n * size for n, size in zip(counts, sizes, strict=True))))


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


def test_an_exact_loss_distribution_is_not_a_filter() -> None:
    """Every multiset it admits has δ ≤ 10^-6 as a plan; choosing along the way reaches five times that."""
    game = Game(MIXED, by_the_exact_loss_distribution)
    assert max(fixed_plan_delta(counts) for layer in game.layers for counts in layer) <= DELTA
    worth = game.worth(constant_cap)
    assert worth > DELTA
    assert worth == pytest.approx(5.45e-6, rel=0.01)


@pytest.mark.parametrize(
    ("planted", "at_least"),
    [(by_the_rule_without_its_toll, 1e-2), (by_the_best_order_so_far, 1.4e-6)],
    ids=["toll c left out", "order picked afresh each time"],
)
def test_a_planted_wrong_rule_is_caught(planted: Callable[[Counts], bool], at_least: float) -> None:
    assert Game(MIXED, planted).worth(constant_cap) > max(DELTA, at_least)


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


def test_a_meter_that_picks_its_order_afresh_lies() -> None:
    """The same 490 questions read at the best order of each moment: true of a plan, 3.9 times δ when stopping well."""
    game = Game(ONE_SIZE, lambda counts: counts[0] <= 490)
    worth = game.worth(lambda counts: best_order_reading(counts, ONE_SIZE))
    assert worth > DELTA
    assert worth == pytest.approx(3.85e-6, rel=0.01)


def test_a_meter_a_hundredth_too_low_is_caught() -> None:
    game = Game(ONE_SIZE, lambda counts: counts[0] <= 2000)
    assert game.worth(lambda counts: float(spent(RULE, totals(counts, ONE_SIZE))) - 0.01) > DELTA
