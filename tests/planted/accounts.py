"""Wrong twins of the accountant: rules that are no filters, meters that lie, ranges stated too often."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpengine.accountant import costs
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, spent
from dpengine.accountant.loss import Exponential, Gaussian, Pure
from dpengine.asking import paid_answers
from dpengine.core.exact import down, up
from dpengine.released import compare
from tests.helpers_compare import check_a_comparison_holds_whatever_was_picked
from tests.helpers_filter import (
    CAP,
    DELTA,
    MIXED,
    ONE_SIZE,
    RAISED,
    RULE,
    Counts,
    Floats,
    by_the_rule,
    check_a_raise_keeps_the_meter_true,
    check_no_chooser_gets_past,
    check_the_meter_is_true_at_any_moment,
    totals,
)
from tests.helpers_looks import check_a_range_holds_however_often_one_looks
from tests.planted.registry import Planted

REFROZEN = Rule.make(Fraction(1), Fraction(1, 10**6), slack_share=Fraction(1))  # α and c chosen anew


def by_the_rule_without_its_toll(counts: Counts) -> bool:
    """c left out."""
    return totals(counts, MIXED).renyi <= RULE.epsilon


def by_the_exact_loss_distribution(counts: Counts) -> bool:
    """The exact δ of this multiset, had it been fixed in advance."""
    return fixed_plan_delta(counts) <= DELTA


def by_the_best_order_so_far(counts: Counts) -> bool:
    """The Rényi sum at whichever order suits this multiset."""
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


def check_no_question_is_free(rounding: Callable[[Fraction, int], Fraction]) -> None:
    """However small, a question costs something in every coin it is charged in."""
    alpha = Fraction("21.985")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "up", rounding)
        for epsilon in (Fraction(1, 10**7), Fraction(1, 10**12), Fraction(1, 10**30)):
            charged = cost(Pure(epsilon), alpha)
            assert charged.epsilon is not None and charged.epsilon > 0 and charged.renyi > 0, "a question is free"
            assert cost(Exponential(epsilon), alpha).renyi > 0, "a question is free"
            assert cost(Gaussian(epsilon), alpha).renyi > 0, "a question is free"


def the_meter(counts: Counts) -> float:
    return float(spent(RULE, totals(counts, ONE_SIZE)))


def the_meter_at_its_best_order(counts: Counts) -> float:
    """True of a plan that was fixed; 3.9 times δ when stopping well."""
    return best_order_reading(counts, ONE_SIZE)


def the_same_beta(beta: Fraction, spend: int, look: int) -> Fraction:
    return beta


def one_by_one(beta: Fraction, place: int) -> Fraction:
    return beta


PLANTED = [
    Planted(
        "PLD used as a filter",
        "Each multiset that was asked has δ as if it had been fixed in advance.",
        check_no_chooser_gets_past,
        "past the cap",
        by_the_rule,
        by_the_exact_loss_distribution,
    ),
    Planted(
        "a re-optimised Rényi order",
        "The sum is read at whichever order suits what was asked so far.",
        check_no_chooser_gets_past,
        "past the cap",
        by_the_rule,
        by_the_best_order_so_far,
    ),
    Planted(
        "the toll c left out",
        "The Rényi sum is taken for ε without what the change of divergence costs.",
        check_no_chooser_gets_past,
        "past the cap",
        by_the_rule,
        by_the_rule_without_its_toll,
        long=True,
    ),
    Planted(
        "a meter at its best order",
        "The meter shows the order that looks best at each moment.",
        check_the_meter_is_true_at_any_moment,
        "chosen moment",
        the_meter,
        the_meter_at_its_best_order,
    ),
    Planted(
        "cap raised with α chosen anew",
        "A raised cap takes the order that suits the larger one.",
        check_a_raise_keeps_the_meter_true,
        "after the raise",
        RAISED,
        REFROZEN,
    ),
    Planted(
        "costs rounded down",
        "What a small question loses is rounded to nothing.",
        check_no_question_is_free,
        "free",
        up,
        down,
    ),
    Planted(
        "remeasure at naive β each look",
        "Every further look states its range at the same β.",
        check_a_range_holds_however_often_one_looks,
        "too often",
        paid_answers.share_of,
        the_same_beta,
        long=True,
    ),
    Planted(
        "a picked difference at naive β",
        "Figures that were picked after seeing all are compared by ranges that hold one by one.",
        check_a_comparison_holds_whatever_was_picked,
        "too often",
        compare.share_of,
        one_by_one,
        long=True,
    ),
]
