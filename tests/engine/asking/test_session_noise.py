"""A session takes whichever noise is narrower for its share of the allowance, after what was asked before."""

from __future__ import annotations

from fractions import Fraction

import pytest
from battery import facts

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian, Pure, Repeated
from dpengine.asking.sessions import BEST, fitted
from dpengine.core.errors import AllowanceError
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession

RULE = Rule.make(Fraction(1), Fraction(1, 10**6))
HALF = Fraction(1, 2)
GAUSSIAN = Totals.NOTHING.plus(cost(Gaussian(Fraction(1, 1000)), RULE.alpha))
ONE_LAPLACE = Totals.NOTHING.plus(cost(Pure(Fraction(1, 2)), RULE.alpha))
MANY_LAPLACE = Totals.NOTHING.plus(cost(Repeated(Pure(Fraction(1, 100)), 100), RULE.alpha))
BEFORE = {"nothing": Totals.NOTHING, "a Gaussian": GAUSSIAN, "one Laplace": ONE_LAPLACE, "many": MANY_LAPLACE}


def session(
    kind: str, totals: Totals, questions: int = 20, rule: Rule = RULE, share: Fraction = HALF
) -> AdaptiveSession:
    return fitted(facts("replace", 10_000), questions, kind, share * (1 - filter.used(rule, totals)), rule, totals)


@pytest.mark.every(3)
@pytest.mark.parametrize("questions", [1, 3, 20, 200])
@pytest.mark.parametrize("before", BEFORE)
def test_the_narrower_of_the_two_is_taken_and_costs_no_more(before: str, questions: int) -> None:
    totals = BEFORE[before]
    found = session(BEST, totals, questions)
    others = []
    for kind in ("laplace", "gaussian"):
        try:
            others.append(session(kind, totals, questions))
        except AllowanceError as refused:
            assert refused.code == "session.no_room"
    assert found.alpha == min(other.alpha for other in others)
    share = filter.share(RULE, totals, cost(found.loss(), RULE.alpha))
    assert share <= HALF * (1 - filter.used(RULE, totals))


@pytest.mark.parametrize(("questions", "narrow", "wide"), [(20, "0.0088", "0.0165"), (100, "0.0225", "0.0485")])
def test_of_a_new_allowance_many_answers_are_twice_as_exact(questions: int, narrow: str, wide: str) -> None:
    found, laplace = (session(kind, Totals.NOTHING, questions) for kind in (BEST, "laplace"))
    assert found.calibration == "gaussian" and found.rounded is not None
    assert [one.alpha - one.half_cell for one in (found, laplace)] == [Fraction(narrow), Fraction(wide)]
    assert session(BEST, Totals.NOTHING, 3).calibration == "laplace", "of few questions it is narrower"


def test_where_gaussian_noise_fits_no_more_or_never_did_it_is_laplace() -> None:
    assert session(BEST, ONE_LAPLACE, 1).calibration == "laplace", "after one large pure question"
    pure = Rule.make(Fraction(1), Fraction(0))
    assert session(BEST, Totals.NOTHING, 3, pure).calibration == "laplace"
    with pytest.raises(AllowanceError) as refused:
        session(BEST, Totals.NOTHING, 1000, share=Fraction(1, 10**18))
    assert refused.value.code == "session.no_room"
