"""The budget rule and its meter. Exact computation, nothing random."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine.accountant import renyi
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, admits, fits, price, spent
from dpengine.accountant.loss import Approximate, Exponential, Gaussian, Loss, Pure, Together
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import PICO
from dpengine.messages import known

MILLIONTH = Fraction(1, 10**6)
ONE_PICO = Fraction(1, PICO)
ALL_SLACK = Rule.make(Fraction(1), MILLIONTH, slack_share=Fraction(1))
USUAL = Rule.make(Fraction(1), MILLIONTH)
PURE_ONLY = Rule.make(Fraction(1), Fraction(0))
SMALL = [Fraction("0.01"), Fraction("0.05"), Fraction("0.1")]


def test_the_order_and_toll_of_the_usual_cap() -> None:
    alpha, c = ALL_SLACK.alpha, ALL_SLACK.c
    assert alpha is not None and c is not None
    assert float(alpha) == pytest.approx(21.98, abs=0.01)
    assert float(c) == pytest.approx(0.4645, abs=5e-5)
    assert float((1 - c) / alpha) == pytest.approx(0.024356, abs=5e-7)


def test_the_order_is_the_best_one() -> None:
    """No other order to two decimals holds more zCDP under the cap, over caps from careful to loose."""
    for epsilon in ("0.01", "0.5", "1", "3", "20"):
        rule = Rule.make(Fraction(epsilon), MILLIONTH)
        assert rule.alpha is not None and rule.c is not None
        held = (rule.epsilon - rule.c) / rule.alpha
        for nudge in ("0.5", "0.9", "0.99", "1.01", "1.1", "2"):
            other = 1 + (rule.alpha - 1) * Fraction(nudge)
            assert (rule.epsilon - renyi.toll(other, rule.delta_slack)) / other < held


@pytest.mark.parametrize(
    ("rule", "kind", "expected"),
    [
        (ALL_SLACK, Pure, [490, 22, 10]),
        (ALL_SLACK, Exponential, [1948, 77, 19]),
        (USUAL, Pure, [486, 22, 10]),
        (USUAL, Exponential, [1930, 77, 19]),
        (PURE_ONLY, Pure, [100, 20, 10]),
    ],
)
def test_how_many_questions_fit(rule: Rule, kind: type[Pure], expected: list[int]) -> None:
    assert [fits(rule, Totals.NOTHING, cost(kind(size), rule.alpha)) for size in SMALL] == expected


def test_ten_tenths_are_exactly_one() -> None:
    for rule in (USUAL, PURE_ONLY):
        totals = Totals.NOTHING
        for _ in range(10):
            totals = totals.plus(cost(Pure(Fraction("0.1")), rule.alpha))
            assert admits(rule, totals)
        assert spent(rule, totals) == rule.epsilon
        assert not admits(rule, totals.plus(cost(Pure(ONE_PICO), rule.alpha)))


def test_the_renyi_clause_is_exact_at_its_cap() -> None:
    assert USUAL.c is not None
    brim = Totals(None, USUAL.epsilon - USUAL.c, Fraction(0))
    assert admits(USUAL, brim) and spent(USUAL, brim) == USUAL.epsilon
    assert not admits(USUAL, Totals(None, brim.renyi + Fraction(1, 10**100), Fraction(0)))


def test_either_clause_is_enough() -> None:
    assert USUAL.c is not None
    over = USUAL.epsilon - USUAL.c + 1
    assert admits(USUAL, Totals(USUAL.epsilon, over, Fraction(0)))
    assert admits(USUAL, Totals(USUAL.epsilon + 1, Fraction(0), Fraction(0)))
    assert not admits(USUAL, Totals(USUAL.epsilon + ONE_PICO, over, Fraction(0)))


def test_a_gaussian_closes_the_pure_clause() -> None:
    half = cost(Pure(Fraction("0.5")), USUAL.alpha)
    gaussian = cost(Gaussian(Fraction(1, 10**9)), USUAL.alpha)
    assert admits(USUAL, Totals.NOTHING.plus(half).plus(half))
    mixed = Totals.NOTHING.plus(half).plus(gaussian)
    assert mixed.epsilon is None and mixed.plus(half).epsilon is None
    assert admits(USUAL, mixed) and not admits(USUAL, mixed.plus(half))
    assert fits(USUAL, Totals.NOTHING, half) == 2 and fits(USUAL, Totals.NOTHING.plus(gaussian), half) == 1
    assert price(USUAL, Totals.NOTHING, gaussian) == gaussian.renyi + (USUAL.c or 0)  # the toll is paid on entering


def test_a_budget_without_delta_takes_no_gaussian_and_no_delta() -> None:
    assert PURE_ONLY.alpha is None and PURE_ONLY.c is None
    gaussian = cost(Gaussian(MILLIONTH), PURE_ONLY.alpha)
    after = Totals.NOTHING.plus(gaussian)
    assert not admits(PURE_ONLY, after) and fits(PURE_ONLY, Totals.NOTHING, gaussian) == 0
    with pytest.raises(BudgetExceeded) as refused:
        price(PURE_ONLY, Totals.NOTHING, gaussian)
    assert refused.value.code == "budget.needs_delta"
    assert not admits(PURE_ONLY, Totals.NOTHING.plus(cost(Approximate(ONE_PICO, MILLIONTH), None)))


def test_the_delta_reserve_is_its_own_cap() -> None:
    each = cost(Approximate(Fraction("0.001"), USUAL.delta_reserve / 4), USUAL.alpha)
    assert fits(USUAL, Totals.NOTHING, each) == 4
    totals = Totals.NOTHING.plus(each).plus(each).plus(each).plus(each)
    assert admits(USUAL, totals)
    assert not admits(USUAL, Totals(totals.epsilon, totals.renyi, totals.delta + Fraction(1, 10**50)))
    assert USUAL.delta_slack + USUAL.delta_reserve == USUAL.delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "share", "code"),
    [
        ("0", "1e-6", "0.9", "budget.epsilon_range"),
        ("-1", "0", "0.9", "budget.epsilon_range"),
        ("1", "-1e-9", "0.9", "budget.delta_range"),
        ("1", "1", "0.9", "budget.delta_range"),
        ("1", "2", "0.9", "budget.delta_range"),
        ("1", "1e-6", "1.1", "budget.share_range"),
        ("1", "1e-6", "-0.1", "budget.share_range"),
    ],
)
def test_impossible_budgets_are_refused(epsilon: str, delta: str, share: str, code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        Rule.make(Fraction(epsilon), Fraction(delta), Fraction(share))
    assert refused.value.code == code


@pytest.mark.parametrize("code", ["epsilon_range", "delta_range", "share_range", "rule_unknown", "needs_delta"])
def test_every_refusal_has_its_sentence(code: str) -> None:
    assert known(f"budget.{code}") and known("loss.range") and known("loss.unknown") and known("lecture.epsilon_range")


@pytest.mark.parametrize("rule", [ALL_SLACK, USUAL, PURE_ONLY, Rule.make(Fraction(1, 3), Fraction(1, 7))])
def test_a_rule_reads_back_exactly(rule: Rule) -> None:
    assert Rule.from_json(json.loads(json.dumps(rule.as_json()))) == rule


@pytest.mark.parametrize(
    "change",
    [
        {"c": "0"},
        {"c": None},
        {"alpha": None},
        {"alpha": "1"},
        {"kind": "pld"},
        {"c": str((USUAL.c or 0) - ONE_PICO)},
    ],
    ids=str,
)
def test_a_stored_rule_without_its_full_toll_is_refused(change: dict[str, str | None]) -> None:
    with pytest.raises(AllowanceError) as refused:
        Rule.from_json(USUAL.as_json() | change)
    assert refused.value.code == "budget.rule_unknown"


@pytest.mark.parametrize("epsilon", ["1e-12", "1e-3", "100", "1e6", "1e40"])
@pytest.mark.parametrize("delta", ["1e-40", "0.5", "0.999999"])
def test_extreme_budgets_have_a_rule(epsilon: str, delta: str) -> None:
    rule = Rule.make(Fraction(epsilon), Fraction(delta))
    assert rule.alpha is not None and rule.alpha > 1 and rule.c is not None and rule.c >= 0
    assert spent(rule, Totals.NOTHING) == 0
    assert fits(rule, Totals.NOTHING, cost(Pure(rule.epsilon), rule.alpha)) >= 1


# The meter, for any history -----------------------------------------------------------------------------------------

amounts = st.fractions(Fraction(1, 10**9), 2, max_denominator=10**9)
simple = st.one_of(
    amounts.map(Pure),
    amounts.map(Exponential),
    amounts.map(lambda rho: Gaussian(rho / 50)),
    st.builds(Approximate, amounts, st.fractions(0, Fraction(1, 10**7), max_denominator=10**12)),
)
losses = st.one_of(simple, st.lists(simple, max_size=3).map(lambda parts: Together(tuple(parts))))
rules = st.sampled_from(
    [ALL_SLACK, USUAL, PURE_ONLY, Rule.make(Fraction(3), Fraction(1, 100)), Rule.make(Fraction(1, 3), MILLIONTH)]
)


@settings(deadline=None)
@given(rule=rules, history=st.lists(losses, max_size=8))
def test_the_meter_never_falls_and_stays_within_the_cap(rule: Rule, history: list[Loss]) -> None:
    """A run of the rule itself, refused events skipped; its first condition holds iff the meter is at most ε."""
    totals, before = Totals.NOTHING, Fraction(0)
    assert spent(rule, totals) == 0
    for loss in history:
        charged = cost(loss, rule.alpha)
        after = totals.plus(charged)
        if rule.alpha is None and after.epsilon is None:
            assert not admits(rule, after)
            continue
        reading = spent(rule, after)
        assert reading >= before and price(rule, totals, charged) == reading - before
        assert admits(rule, after) == (reading <= rule.epsilon and after.delta <= rule.delta_reserve)
        assert (fits(rule, totals, charged) >= 1) == admits(rule, after)
        if admits(rule, after):
            totals, before = after, reading
    assert Totals.from_json(json.loads(json.dumps(totals.as_json()))) == totals


@settings(deadline=None)
@given(rule=rules, first=st.lists(losses, max_size=3), loss=losses, most=st.integers(0, 40))
def test_fits_is_what_counting_one_by_one_gives(rule: Rule, first: list[Loss], loss: Loss, most: int) -> None:
    totals = Totals.NOTHING
    for earlier in first:
        if admits(rule, totals.plus(cost(earlier, rule.alpha))):
            totals = totals.plus(cost(earlier, rule.alpha))
    charged = cost(loss, rule.alpha)
    count, running = 0, totals.plus(charged)
    while count < most and admits(rule, running):
        count, running = count + 1, running.plus(charged)
    assert fits(rule, totals, charged, most) == count


def test_nothing_more_fits_where_the_totals_are_already_over() -> None:
    over = Totals(Fraction(2), Fraction(2), Fraction(0))
    assert fits(USUAL, over, cost(Together(()), USUAL.alpha)) == 0
    assert fits(USUAL, Totals.NOTHING, cost(Together(()), USUAL.alpha)) == 10**6
