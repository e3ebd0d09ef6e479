"""What each loss costs: on the safe side of the truth, by less than 10^-12. Exact computation, nothing random."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine.accountant import costs, renyi
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.history import History
from dpengine.accountant.loss import Approximate, Exponential, Gaussian, Loss, Pure, Together
from dpengine.core import exact
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import PICO, down, exp_decimal, ln_above, ln_below, text_of, up

MILLIONTH = Fraction(1, 10**6)
ONE_PICO = Fraction(1, PICO)
ALPHA = Fraction("21.985")
WIDE = Context(prec=160)  # the referee: 100 digits more than the engine works with


def wide(value: Fraction) -> Decimal:
    return WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


def wide_pure_curve(epsilon: Fraction, alpha: Fraction) -> Fraction:
    """ln(p^α q^(1−α) + q^α p^(1−α))/(α−1), straight from the definition."""
    e, a = wide(epsilon), wide(alpha)
    p = WIDE.divide(WIDE.exp(e), WIDE.add(1, WIDE.exp(e)))
    q = WIDE.divide(1, WIDE.add(1, WIDE.exp(e)))
    rest = WIDE.subtract(1, a)
    total = WIDE.add(
        WIDE.multiply(WIDE.power(p, a), WIDE.power(q, rest)), WIDE.multiply(WIDE.power(q, a), WIDE.power(p, rest))
    )
    return Fraction(WIDE.divide(WIDE.ln(total), WIDE.subtract(a, 1)))


def wide_toll(alpha: Fraction, delta: Fraction) -> Fraction:
    a = wide(alpha)
    first = WIDE.ln(WIDE.divide(WIDE.subtract(a, 1), a))
    second = WIDE.divide(WIDE.add(WIDE.ln(wide(delta)), WIDE.ln(a)), WIDE.subtract(a, 1))
    return Fraction(WIDE.subtract(first, second))


def rounded_up(value: Fraction, truth: Fraction) -> bool:
    """The least multiple of 10^-12 at or above the truth (the referee's own error is far below 10^-100)."""
    return truth - Fraction(1, 10**100) <= value < truth + ONE_PICO + Fraction(1, 10**30)


# Exact numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["1e-40", "1e-7", "0.999999999999", "1", "1.000000000001", "7", "1e40", "1e4000"])
def test_logarithms_lie_on_their_stated_side(value: str) -> None:
    truth = Fraction(WIDE.ln(Decimal(value)))
    assert truth < ln_above(Fraction(value)) < truth + Fraction(1, 10**39)
    assert truth - Fraction(1, 10**39) < ln_below(Fraction(value)) < truth


@pytest.mark.parametrize("value", ["-4000", "-200", "-1", "-1e-30", "0", "1e-30", "30", "4000"])
def test_exp_keeps_its_stated_error(value: str) -> None:
    truth = Fraction(WIDE.exp(Decimal(value)))
    assert abs(Fraction(exp_decimal(Fraction(value))) / truth - 1) <= (abs(Fraction(value)) + 1) / 10**59


def test_exp_of_a_huge_negative_number_is_quick_and_zero() -> None:
    assert Fraction(exp_decimal(Fraction(-(10**6)))) == 0
    assert Fraction(exp_decimal(Fraction(-(10**40)))) == 0


@pytest.mark.parametrize("value", ["0.375", "-7", "1/3", f"1/{2**100}", str(10**70 + 1)])
def test_an_exact_writing_reads_back_the_same(value: str) -> None:
    assert Fraction(text_of(Fraction(value))) == Fraction(value)


# Costs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ["1.001", "1.5", "2", "21.985", "167.55"])
@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", "0.01", "0.1", "1", "5", "40", "150"])
def test_the_pure_curve_rounds_up_and_by_less_than_a_pico(epsilon: str, alpha: str) -> None:
    charged = cost(Pure(Fraction(epsilon)), Fraction(alpha)).renyi
    assert rounded_up(charged, wide_pure_curve(Fraction(epsilon), Fraction(alpha)))
    assert (charged * PICO).denominator == 1


@settings(deadline=None, max_examples=60)
@given(
    epsilon=st.fractions(Fraction(1, 10**9), 20, max_denominator=10**9),
    alpha=st.fractions(Fraction(1001, 1000), 200, max_denominator=1000),
)
def test_the_pure_curve_lies_between_the_truth_and_its_simple_bounds(epsilon: Fraction, alpha: Fraction) -> None:
    charged = cost(Pure(epsilon), alpha).renyi
    assert rounded_up(charged, wide_pure_curve(epsilon, alpha))
    assert charged <= up(epsilon)
    assert charged <= up(alpha * renyi.zcdp_of_pure(epsilon)) <= up(alpha * epsilon**2 / 2)


@settings(deadline=None, max_examples=60)
@given(
    alpha=st.fractions(Fraction(1001, 1000), 500, max_denominator=1000),
    delta=st.fractions(Fraction(1, 10**12), Fraction(1, 2), max_denominator=10**12),
)
def test_the_toll_rounds_up(alpha: Fraction, delta: Fraction) -> None:
    assert rounded_up(renyi.toll(alpha, delta), max(Fraction(0), wide_toll(alpha, delta)))


@settings(deadline=None, max_examples=60)
@given(epsilon=st.fractions(Fraction(1, 10**9), 100, max_denominator=10**9))
def test_the_zcdp_of_a_pure_loss_is_never_below_the_truth(epsilon: Fraction) -> None:
    e = WIDE.exp(wide(-epsilon))
    truth = epsilon * Fraction(WIDE.divide(WIDE.subtract(1, e), WIDE.add(1, e)))
    assert truth - Fraction(1, 10**100) <= renyi.zcdp_of_pure(epsilon) <= truth + epsilon / 10**45


def test_every_logarithm_is_taken_on_the_side_that_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the guard of the logarithms made visibly wide, each of them adds its own share to the cost."""
    guard, tenth = Fraction(1, 1000), Fraction(1, 10)
    monkeypatch.setattr(exact, "_GUARD", guard)
    curve = renyi.of_pure.__wrapped__(tenth, ALPHA)
    assert curve - wide_pure_curve(tenth, ALPHA) == pytest.approx(2 * guard / (ALPHA - 1), abs=1e-30)
    toll = renyi.toll.__wrapped__(ALPHA, MILLIONTH)
    assert rounded_up(toll, wide_toll(ALPHA, MILLIONTH) + guard + guard / (ALPHA - 1))


@pytest.mark.parametrize("epsilon", ["1e-12", "1e6", "1e40"])
@pytest.mark.parametrize("alpha", ["1.001", "22", "1e15"])
def test_extreme_losses_have_a_sane_cost(epsilon: str, alpha: str) -> None:
    charged = cost(Pure(Fraction(epsilon)), Fraction(alpha))
    assert 0 < charged.renyi <= Fraction(epsilon) == charged.epsilon


def test_what_each_event_costs() -> None:
    alpha = Fraction(22)
    tenth = Fraction(1, 10)
    curve = up(renyi.of_pure(tenth, alpha))
    assert cost(Pure(tenth), alpha) == Cost(tenth, curve, Fraction(0))
    assert cost(Exponential(tenth), alpha) == Cost(tenth, alpha / 800, Fraction(0))
    assert cost(Exponential(Fraction(5)), alpha) == cost(Pure(Fraction(5)), alpha)
    assert cost(Gaussian(MILLIONTH), alpha) == Cost(None, alpha * MILLIONTH, Fraction(0))
    assert cost(Gaussian(Fraction(0)), alpha) == Cost(Fraction(0), Fraction(0), Fraction(0))
    assert cost(Approximate(tenth, MILLIONTH), alpha) == Cost(tenth, curve, MILLIONTH)
    assert cost(Together(()), alpha) == Cost(Fraction(0), Fraction(0), Fraction(0))


def test_parts_add_up_and_are_rounded_once() -> None:
    """Three thirds of 0.1 cost 0.1 and not three picos more; two bins at ε/2 cost much less than one at ε."""
    thirds = cost(Together((Pure(Fraction(1, 30)),) * 3), ALPHA)
    assert thirds.epsilon == Fraction(1, 10)
    assert thirds.renyi == up(3 * renyi.of_pure(Fraction(1, 30), ALPHA))
    nested = Together((Together((Pure(Fraction(1)), Gaussian(MILLIONTH))), Approximate(Fraction(1), MILLIONTH)))
    both = cost(nested, Fraction(2))
    assert both.epsilon is None
    assert both.renyi == up(2 * renyi.of_pure(Fraction(1), Fraction(2)) + 2 * MILLIONTH)
    assert both.delta == MILLIONTH
    tenth = cost(Pure(Fraction(1, 10)), ALPHA).renyi
    assert Fraction("0.66") < cost(Together((Pure(Fraction(1, 20)),) * 2), ALPHA).renyi / tenth < Fraction("0.68")


@pytest.mark.parametrize(
    ("loss", "code"),
    [
        ("nothing we know", "loss.unknown"),
        (Together((Pure(Fraction(1)), object())), "loss.unknown"),  # type: ignore[arg-type]
        (Pure(Fraction(-1)), "loss.range"),
        (Gaussian(Fraction(-1)), "loss.range"),
        (Approximate(Fraction(1), Fraction(-1)), "loss.range"),
        (Pure(0.1), "loss.range"),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_a_known_exact_loss_is_refused(loss: Loss, code: str) -> None:
    for attempt in (lambda: cost(loss, Fraction(2)), lambda: History.NOTHING.plus(loss)):
        with pytest.raises(AllowanceError) as refused:
            attempt()
        assert refused.value.code == code


def test_a_planted_rounding_down_is_told_by_the_referee(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "up", down)
    tenth = Fraction(1, 10)
    assert not rounded_up(cost(Pure(tenth), ALPHA).renyi, wide_pure_curve(tenth, ALPHA))
