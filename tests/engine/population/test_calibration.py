"""Noise for k statistical queries: the least noise the budget rule admits."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from helpers_noise import laplace

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian, Pure, Together
from dpengine.core.errors import AllowanceError
from dpengine.noise.coins import SystemCoins
from dpengine.population import noise_for_k
from dpengine.population.noise_for_k import Calibration

RULE = noise_for_k.rule_of(F(1), F(1, 10**6))
TIGHT = (laplace, noise_for_k.gaussian)


@pytest.mark.parametrize("answers", [1, 5, 50, 500])
@pytest.mark.parametrize("make", TIGHT, ids=["laplace", "gaussian"])
def test_least_noise_the_rule_admits(make, answers: int) -> None:  # type: ignore[no-untyped-def]
    """The whole session fits, and a part in a million less noise would not."""
    found = make(1000, answers, RULE)
    assert filter.admits(RULE, Totals.NOTHING.plus(cost(found.whole, RULE.alpha)))
    assert filter.fits(RULE, Totals.NOTHING, cost(found.each, RULE.alpha), answers) == answers
    less = Calibration(found.kind, 1000, answers, 1, found.amount * (1 - F(1, 10**6)))
    assert filter.fits(RULE, Totals.NOTHING, cost(less.each, RULE.alpha), answers) < answers


def test_after_other_spending_there_is_less_room() -> None:
    half = Totals.NOTHING.plus(cost(Pure(F(1, 2)), RULE.alpha))
    for make in TIGHT:
        assert make(1000, 20, RULE, totals=half).amount > make(1000, 20, RULE).amount
    full = Totals.NOTHING.plus(cost(Pure(F(1)), RULE.alpha))
    for make in TIGHT:
        with pytest.raises(AllowanceError, match="no room"):
            make(1000, 20, RULE, totals=full)


def test_gaussian_noise_is_tighter_for_many_answers() -> None:
    for answers, tighter in ((3, laplace), (100, noise_for_k.gaussian)):
        assert min(TIGHT, key=lambda make: make(1000, answers, RULE).alpha) is tighter
    with pytest.raises(AllowanceError):
        noise_for_k.gaussian(1000, 100, Rule.make(F(1), F(0)))  # no δ, no Gaussian


def test_a_finer_grid_is_the_same_question() -> None:
    coarse, fine = (noise_for_k.gaussian(1000, 50, RULE, steps=steps) for steps in (1, 1000))
    assert abs(fine.amount / 10**6 - coarse.amount) <= F(1, 10**6)
    assert abs(fine.alpha - coarse.alpha) <= F(1, 1000)


def test_losses_are_exact_events() -> None:
    gaussian, laplace = (make(1000, 7, RULE) for make in TIGHT[::-1])
    assert gaussian.whole == Gaussian(7 * F(1) / (2 * gaussian.amount))
    assert laplace.whole == Together((Pure(1 / laplace.amount),) * 7)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"people": 0}, "number of people"),
        ({"people": True}, "number of people"),
        ({"answers": 0}, "number of questions"),
        ({"steps": 0}, "grid"),
        ({"beta": F(0)}, "chance of a miss"),
    ],
)
def test_refusals(change: dict[str, object], words: str) -> None:
    given = {"people": 100, "answers": 5, "rule": RULE} | change
    with pytest.raises(AllowanceError, match=words):
        noise_for_k.gaussian(**given)  # type: ignore[arg-type]
    with pytest.raises(AllowanceError, match="δ"):
        noise_for_k.gaussian(100, 5, Rule.make(F(1), F(0)))
    with pytest.raises(AllowanceError, match="Laplace or Gaussian"):
        Calibration("cauchy", 100, 5, 1, F(1))


def test_answers_stay_on_the_grid_and_within_bounds() -> None:
    noise = noise_for_k.gaussian(50, 40, RULE, steps=4)
    answers = noise.draw(SystemCoins(), [0, 200] * 20)
    assert len(answers) == 40 and all(0 <= answer <= 1 and (answer * 200).denominator == 1 for answer in answers)
    assert len(set(answers)) > 2
