"""The same history under basic, lecture and zCDP accounting, as if it had all been fixed in advance."""

from __future__ import annotations

import json
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpengine.accountant import compositions, renyi
from dpengine.accountant.compositions import EPSILON_OF
from dpengine.accountant.costs import cost
from dpengine.accountant.history import History
from dpengine.accountant.loss import Approximate, Exponential, Gaussian, Loss, Pure, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import PICO, ln_below

MILLIONTH = Fraction(1, 10**6)
ONE_PICO = Fraction(1, PICO)
SMALL = [Fraction("0.01"), Fraction("0.05"), Fraction("0.1")]

amounts = st.fractions(Fraction(1, 10**9), 2, max_denominator=10**9)
simple = st.one_of(
    amounts.map(Pure),
    amounts.map(Exponential),
    amounts.map(lambda rho: Gaussian(rho / 50)),
    st.builds(Approximate, amounts, st.fractions(0, Fraction(1, 10**7), max_denominator=10**12)),
)
losses = st.one_of(simple, st.lists(simple, max_size=3).map(lambda parts: Together(tuple(parts))))


@pytest.mark.parametrize(
    ("rule", "kind", "expected"),
    [
        (EPSILON_OF["basic"], Pure, [100, 20, 10]),
        (EPSILON_OF["lecture"], Pure, [317, 12, 3]),
        (EPSILON_OF["zcdp"], Pure, [487, 19, 4]),
        (EPSILON_OF["zcdp"], Exponential, [1948, 77, 19]),
    ],
    ids=["basic", "lecture", "zcdp", "zcdp of selections"],
)
def test_how_many_fit_when_fixed_in_advance(rule: Any, kind: type[Pure], expected: list[int]) -> None:
    for size, most in zip(SMALL, expected, strict=True):
        history = History.of([kind(size)] * most)
        assert rule(history, MILLIONTH) <= 1 < rule(history.plus(kind(size)), MILLIONTH)
        assert history.count == most


def test_the_lecture_bound_is_its_formula_rounded_up() -> None:
    sizes = [Fraction("0.1"), Fraction("0.2"), Fraction("0.05")]
    squares = Fraction("0.0525")
    wide = Context(prec=160)
    inside = wide.multiply(Decimal("0.105"), wide.ln(Decimal(10**6)))
    truth = 2 * squares + Fraction(wide.sqrt(inside))
    stated = compositions.advanced_epsilon([Pure(size) for size in sizes], MILLIONTH)
    assert stated is not None and truth <= stated <= truth + 3 * ONE_PICO
    # k equal (ε, δ) releases at 2kδ in all are the pure bound at kδ
    approximate = [Approximate(Fraction("0.1"), MILLIONTH)] * 5
    pure = [Pure(Fraction("0.1"))] * 5
    assert compositions.advanced_epsilon(approximate, 10 * MILLIONTH) == compositions.advanced_epsilon(
        pure, 5 * MILLIONTH
    )


def test_the_corollary_is_refused_where_it_fails() -> None:
    each = compositions.advanced_each(Fraction(1), MILLIONTH, 100)
    together = compositions.advanced_epsilon([Pure(each)] * 100, MILLIONTH)
    assert together is not None and together <= 1
    assert float(each) == pytest.approx(1 / (8 * 100 * 13.815510558) ** 0.5, rel=1e-9)
    for epsilon, delta, count in [("0.5", "0.9", 1), ("0", "1e-6", 1), ("1", "1e-6", 0), ("1", "0", 1)]:
        with pytest.raises(AllowanceError) as refused:
            compositions.advanced_each(Fraction(epsilon), Fraction(delta), count)
        assert refused.value.code == "lecture.epsilon_range"


def test_bounds_say_so_where_they_do_not_apply() -> None:
    gaussian: list[Loss] = [Gaussian(Fraction("0.01")), Pure(Fraction("0.1"))]
    assert compositions.basic_epsilon(gaussian, MILLIONTH) is None
    assert compositions.advanced_epsilon(gaussian, MILLIONTH) is None
    assert compositions.zcdp_epsilon(gaussian, MILLIONTH) is not None
    greedy = [Approximate(Fraction("0.1"), MILLIONTH)]
    for rule in EPSILON_OF.values():
        assert rule(greedy, MILLIONTH / 2) is None
        assert rule([], Fraction(0)) == 0
    assert compositions.basic_epsilon(greedy, MILLIONTH) == Fraction("0.1")
    assert (
        compositions.advanced_epsilon(greedy, MILLIONTH) is None
        and compositions.zcdp_epsilon(greedy, MILLIONTH) is None
    )


def test_the_zcdp_reading_is_sound_and_about_the_best() -> None:
    """Against the toll at ten thousand orders: never below the minimum, and above it by less than one part in 10^5."""
    for rho in ("0.0001", "0.024356", "1", "30"):
        stated = compositions.zcdp_epsilon([Gaussian(Fraction(rho))], MILLIONTH)
        best = min(
            float(rho) * a + float(renyi._toll_near(a - 1, float(ln_below(MILLIONTH))))
            for a in (1 + 10 ** (k / 2000) for k in range(-2000, 8000))
        )
        assert stated is not None and best * (1 - 1e-6) <= float(stated) <= best * (1 + 1e-5)


@settings(deadline=None)
@given(history=st.lists(losses, max_size=8))
def test_a_history_is_the_sum_of_its_entries_and_reads_back_exactly(history: list[Loss]) -> None:
    sums = History.of(history)
    assume(sums.delta < MILLIONTH)
    assert History.from_json(json.loads(json.dumps(sums.as_json()))) == sums
    for rule in EPSILON_OF.values():
        assert rule(history, MILLIONTH) == rule(sums, MILLIONTH)
        later = rule(sums.plus(Pure(Fraction("0.1"))), MILLIONTH)
        now = rule(sums, MILLIONTH)
        assert (now is None) == (later is None)
        assert now is None or later is None or now < later
    basic_reading = compositions.basic_epsilon(sums, MILLIONTH)
    assert basic_reading is None or basic_reading == sum(((cost(x, None).epsilon or 0) for x in history), Fraction(0))


def test_sums_stay_small_after_many_entries() -> None:
    """A ledger row carries the sums: their writing grows with the number of digits, not with the number of rows."""
    third = Pure(Fraction(1, 3))
    once, history = History.of([third]), History.of([third] * 300)
    assert history.epsilon == 300 * (once.epsilon or 0) and history.rho == 300 * once.rho
    assert len(json.dumps(history.as_json())) <= len(json.dumps(once.as_json())) + 20
