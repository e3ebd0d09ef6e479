"""The meter: the share of what can ever be asked that is gone."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Exponential, Gaussian, Pure
from dpengine.core.errors import BudgetExceeded

ONE = Rule.make(Fraction(1), Fraction(1, 10**6))
THREE = Rule.make(Fraction(3), Fraction(1, 10**6))


def percent(share: Fraction) -> float:
    return round(float(share) * 100, 1)


def after(rule: Rule, *losses: object) -> Totals:
    totals = Totals.NOTHING
    for loss in losses:
        totals = totals.plus(cost(loss, rule.alpha))  # type: ignore[arg-type]
    return totals


@pytest.mark.parametrize(
    ("rule", "many", "told"), [(ONE, 1, 0.2), (ONE, 10, 2.1), (ONE, 100, 20.6), (ONE, 400, 82.2), (THREE, 400, 10.9)]
)
def test_many_small_questions(rule: Rule, many: int, told: float) -> None:
    assert percent(filter.used(rule, after(rule, *[Pure(Fraction(1, 100))] * many))) == told


def test_first_questions_of_each_kind() -> None:
    assert percent(filter.used(ONE, after(ONE, Gaussian(Fraction(1, 800))))) == 5.2
    assert percent(filter.used(ONE, after(ONE, Exponential(Fraction(1, 10))))) == 5.2
    assert percent(filter.used(ONE, after(ONE, Pure(Fraction(1, 10))))) == 10.0


def test_the_first_gaussian_takes_what_the_tenth_takes() -> None:
    paid = cost(Gaussian(Fraction(1, 800)), ONE.alpha)
    totals, takes = Totals.NOTHING, []
    for _ in range(10):
        takes.append(filter.share(ONE, totals, paid))
        totals = totals.plus(paid)
    assert len(set(takes)) == 1


def test_486_questions_move_it_by_the_same_share() -> None:
    paid = cost(Pure(Fraction(1, 100)), ONE.alpha)
    many = filter.fits(ONE, Totals.NOTHING, paid)
    totals, takes = Totals.NOTHING, []
    for _ in range(many):
        takes.append(filter.share(ONE, totals, paid))
        totals = totals.plus(paid)
    assert many == 486
    assert max(takes) <= min(takes) * Fraction(11, 10)
    assert filter.used(ONE, totals) <= 1 < filter.used(ONE, totals.plus(paid))


def test_a_mixed_history_moves_prices_and_the_price_told_is_the_true_one() -> None:
    gaussian = cost(Gaussian(Fraction(1, 800)), ONE.alpha)
    half, most = after(ONE, Pure(Fraction(1, 2))), after(ONE, Pure(Fraction(3, 5)))
    assert 40 <= percent(filter.share(ONE, half, gaussian)) <= 46
    assert filter.admits(ONE, half.plus(gaussian))
    assert not filter.admits(ONE, most.plus(gaussian))


amounts = st.fractions(0, 2, max_denominator=10**6)
costs = st.builds(
    lambda pure, renyi, delta: Cost(pure, renyi if pure is None else min(pure, renyi), delta),
    st.none() | amounts,
    amounts,
    st.just(Fraction(0)) | st.fractions(0, Fraction(1, 10**6), max_denominator=10**12),
)
rules = st.builds(
    Rule.make,
    st.fractions(Fraction(1, 100), 10, max_denominator=1000),
    st.sampled_from([Fraction(1, 10**k) for k in (3, 6, 9)]),
)


@given(rules, st.lists(costs, max_size=12))
def test_it_never_falls_and_is_at_most_one_exactly_while_the_condition_holds(rule: Rule, paid: list[Cost]) -> None:
    totals, before = Totals.NOTHING, filter.used(rule, Totals.NOTHING)
    assert before == 0
    for one in paid:
        totals = totals.plus(one)
        now = filter.used(rule, totals)
        assert now >= before
        assert (now <= 1) == filter.admits(rule, Totals(totals.epsilon, totals.renyi, Fraction(0)))
        if now <= 1:
            assert now <= filter.spent(rule, totals) / rule.epsilon
        before = now


@given(rules, st.lists(costs, max_size=8), st.randoms(use_true_random=False))
def test_equal_histories_read_equal(rule: Rule, paid: list[Cost], mixed: object) -> None:
    one, other = Totals.NOTHING, Totals.NOTHING
    shuffled = list(paid)
    mixed.shuffle(shuffled)  # type: ignore[attr-defined]
    for first, second in zip(paid, shuffled, strict=True):
        one, other = one.plus(first), other.plus(second)
    assert filter.used(rule, one) == filter.used(rule, other)


def test_without_delta_only_the_pure_sum_counts() -> None:
    rule = Rule.make(Fraction(1), Fraction(0))
    assert filter.used(rule, after(rule, Pure(Fraction(1, 4)))) == Fraction(1, 4)
    with pytest.raises(BudgetExceeded):
        filter.used(rule, Totals(None, Fraction(0), Fraction(0)))
