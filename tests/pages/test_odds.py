"""The odds a page tells are right to two digits, and never too small, at every ε that can be chosen."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule
from dpengine.accountant.loss import Gaussian, Pure
from dpengine.declared.unit import RELATIONS
from dpengine.messages import plain
from dpengine.messages.language import speaking
from ui.ask import spend
from ui.data.draft import CARE
from ui.parts import fields


def exact(prior: int, epsilon: Fraction) -> Decimal:
    """In percent, worked out another way: one over one plus the odds against."""
    with localcontext(prec=50):
        against = Decimal(100 - prior) / prior
        return 100 / (1 + against * (-Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp())


def two_digits_off(shown: Decimal, true: Decimal) -> bool:
    """By half a unit of the second digit or more; near 100 by one of what is left."""
    unit = Decimal(1).scaleb(true.adjusted() - 1)
    left = Decimal(1).scaleb((100 - true).adjusted() - 1)
    return shown < true or shown - true >= min(unit / 2, max(left, unit / 1000))


@pytest.mark.parametrize("prior", [int(one) for one in fields.PRIORS])
def test_the_odds_are_right_to_two_digits_at_every_step(prior: int) -> None:
    steps = [Fraction(one) for one in (*spend.STEPS, *CARE.values())]
    for epsilon in [*steps, *(2 * one for one in steps)]:
        shown = fields.odds_after(prior, epsilon)
        told = Decimal(plain(shown).replace(",", ""))  # as a person reads it
        assert not two_digits_off(told, exact(prior, epsilon)), (prior, epsilon, told)


def test_rounding_to_whole_percents_would_be_seen() -> None:
    assert two_digits_off(Decimal(11), exact(10, Fraction("0.01")))
    assert two_digits_off(Decimal(10), exact(10, Fraction("0.01")))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_a_receipt_tells_epsilon_delta_and_the_odds(relation: str, lang: str) -> None:
    rule = Rule.make(Fraction(1), Fraction(1, 10**6))
    pure = filter.alone(rule, cost(Pure(Fraction(1, 10)), rule.alpha))
    blurred = filter.alone(rule, cost(Gaussian(Fraction(1, 200)), rule.alpha))
    assert pure == (Fraction(1, 10), 0) and blurred[1] == rule.delta_slack and blurred[0] < 1
    with speaking(lang):
        told, noisy = fields.odds_of_answer(*pure, relation), fields.odds_of_answer(*blurred, relation)
    assert "11 %" in told.replace("\u00a0", " ") and "δ" in told and "10⁻⁷" in noisy
