"""Row mechanisms keep (ε, δ) exactly, with no more noise than that takes, and nobody could err less."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest

from demos.thesis import thesis_floor
from dpengine.audit.exact import hockey_stick
from dpengine.core.exact import decimal_of, exp_decimal
from dpengine.noise.laws import Laplace
from dpengine.noise.row_noise import Blur, Swap, excess, expected_error, least_scale, thesis_scale

TOLD = (("0.1", "0.1"), ("1", "0.1"), ("3", "0.1"), ("1", "1e-6"), ("2", "0.6"))
PAIRS = [(Fraction(epsilon), Fraction(delta)) for epsilon, delta in TOLD]
GRIDS = [1, 2, 3, 12]
every_pair = pytest.mark.parametrize(("epsilon", "delta"), PAIRS, ids=str)


def exact_delta(first: Laplace, second: Laplace, epsilon: Fraction) -> Decimal:
    """Σ [P − e^ε·Q]₊ over a window beyond which less than 10^-25 lies, written down apart from the closed form."""
    ratio = exp_decimal(-1 / first.scale)
    factor = exp_decimal(epsilon)
    reach = int(60 * first.scale) + 60
    low, high = min(first.center, second.center) - reach, max(first.center, second.center) + reach
    norm = (1 - ratio) / (1 + ratio)
    powers = [Decimal(1)]
    for _ in range(high - low):
        powers.append(powers[-1] * ratio)
    terms = (norm * (powers[abs(x - first.center)] - factor * powers[abs(x - second.center)]) for x in range(low, high))
    return sum((term for term in terms if term > 0), Decimal(0))


@pytest.mark.every(3)
@every_pair
@pytest.mark.parametrize("steps", GRIDS)
def test_the_least_scale_is_enough_and_a_hair_less_is_not(steps: int, epsilon: Fraction, delta: Fraction) -> None:
    scale = least_scale(steps, epsilon, delta)
    wanted = decimal_of(delta)
    for apart in range(1, steps + 1):
        for one, other in ((0, apart), (apart, 0)):
            assert exact_delta(Laplace(one, scale), Laplace(other, scale), epsilon) <= wanted, "some pair loses more"
    hair = scale * (1 - Fraction(1, 10**6))
    left = exact_delta(Laplace(0, hair), Laplace(steps, hair), epsilon)
    assert left > wanted
    assert abs(left - excess(steps, hair, epsilon)) < Decimal("1e-20")


@every_pair
def test_the_auditor_says_the_same(epsilon: Fraction, delta: Fraction) -> None:
    row = Blur(10, epsilon, delta)
    span = hockey_stick(row.law(0), row.law(10), epsilon)
    assert span.low <= excess(10, row.scale, epsilon) <= span.high <= decimal_of(delta) + Decimal("1e-19")


def test_without_delta_it_is_the_usual_scale() -> None:
    assert least_scale(30, Fraction(3), Fraction(0)) == 10
    assert thesis_scale(30, Fraction(3), Fraction(0)) == 10


@pytest.mark.parametrize(("steps", "over"), [(1, "1.46"), (10, "1.05")])
def test_the_continuous_scale_is_too_little_on_a_grid(steps: int, over: str) -> None:
    """At ε = 1, δ = 10^-6 the least scale of continuous noise leaves 1.46 or 1.05 times δ."""
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    continuous = steps / (epsilon - 2 * Fraction(decimal_of(1 - delta).ln()))
    assert round(excess(steps, continuous, epsilon) / decimal_of(delta), 2) == Decimal(over)
    assert least_scale(steps, epsilon, delta) > continuous


@every_pair
@pytest.mark.parametrize("steps", [*GRIDS, 2996])
def test_the_thesis_is_safe_and_wasteful(steps: int, epsilon: Fraction, delta: Fraction) -> None:
    told = thesis_scale(steps, epsilon, delta)
    assert excess(steps, told, epsilon) <= decimal_of(delta)
    assert told >= least_scale(steps, epsilon, delta)


def test_the_figures_of_the_thesis() -> None:
    """Tables 2 and 4: b and the bounds from below for salaries, diameter 2996; two thirds of b would do."""
    epsilon = delta = Fraction(1, 10)
    assert round(thesis_scale(2996, epsilon, delta)) == 14589
    assert round(float(least_scale(2996, epsilon, delta) / thesis_scale(2996, epsilon, delta)), 2) == 0.66
    assert int(thesis_floor(2996, epsilon, delta)) == 640


@pytest.mark.parametrize("size", [2, 3, 5, 48])
@every_pair
def test_swapping_is_exact_and_meets_the_bound(size: int, epsilon: Fraction, delta: Fraction) -> None:
    row = Swap(size, epsilon, delta)
    for one, other in list(permutations(range(size), 2))[:6]:
        span = hockey_stick(row.law(one), row.law(other), epsilon)
        assert span.high <= decimal_of(delta) + Decimal("1e-19"), "some pair loses more"
    factor = Fraction(exp_decimal(epsilon))
    assert row.truth - factor * row.chance <= delta
    hair = row.chance * (1 - Fraction(1, 10**9))
    assert 1 - (size - 1) * hair - factor * hair > delta, "a hair less would not be private: iff"
    assert row.floor <= row.error <= row.floor + Fraction(1, 10**8), "nobody errs less"
    assert sum(row.law(0).chances.values()) == pytest.approx(1)


def test_blur_errs_more_than_anybody_must() -> None:
    for epsilon, delta in PAIRS:
        row = Blur(100, epsilon, delta)
        assert row.floor <= row.error
    exact = sum(2 * z * (1 - Decimal("0.5")) / (1 + Decimal("0.5")) * Decimal("0.5") ** z for z in range(1, 200))
    scale = Fraction(1 / -float(Decimal("0.5").ln()))
    assert float(expected_error(scale)) == pytest.approx(float(exact))
