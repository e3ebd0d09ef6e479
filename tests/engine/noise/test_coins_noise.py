"""Additive noise keeps its law, by samples; each check has a wrong sampler beside it that it must reject."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from fractions import Fraction

import pytest
from helpers_laws import gaussian_law, laplace_law, rejected, with_rest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpengine.noise.coins import Coins, SystemCoins, gaussian_scale, laplace_scale
from tests.helpers_coins import SeededCoins

# --- additive noise


def noise(add: Callable[[list[int], Fraction], list[int]], parameter: Fraction, n: int) -> list[int]:
    """Around 10^12, where a 32-bit sampler would saturate."""
    return [value - 10**12 for value in add([10**12] * n, parameter)]


@pytest.mark.every(3)
@pytest.mark.parametrize("scale", [Fraction(10, 3), Fraction(1, 2)], ids=str)
@pytest.mark.parametrize(
    ("make", "n"), [(SystemCoins, 10_000), (lambda: SeededCoins(secrets.randbits(64)), 4000)], ids=["system", "seeded"]
)
def test_laplace_noise_follows_the_law(make: Callable[[], Coins], n: int, scale: Fraction) -> None:
    law, coins = laplace_law(float(scale), 12), make()
    drawn = noise(coins.laplace, scale, n)
    assert not rejected(drawn, law)
    assert rejected(noise(coins.laplace, scale / 2, n // 2), law)
    assert rejected([z + 1 for z in drawn], law)


@pytest.mark.every(9)
@pytest.mark.parametrize("variance", [Fraction(17, 3), Fraction(1, 2)], ids=str)
@pytest.mark.parametrize(
    ("make", "n"), [(SystemCoins, 10_000), (lambda: SeededCoins(secrets.randbits(64)), 4000)], ids=["system", "seeded"]
)
def test_gaussian_noise_follows_the_law(make: Callable[[], Coins], n: int, variance: Fraction) -> None:
    law, coins = gaussian_law(math.sqrt(variance), 7), make()
    drawn = noise(coins.gaussian, variance, n)
    assert not rejected(drawn, law)
    assert rejected(noise(coins.gaussian, variance / 4, n // 2), law)
    assert rejected([z + 1 for z in drawn], law)


def test_noise_is_independent_across_a_vector() -> None:
    coins = SystemCoins()
    single = laplace_law(1.0, 3)
    law = {(a, b): single[a] * single[b] for a in single for b in single if None not in (a, b)}
    drawn = coins.laplace([0] * 20_000, Fraction(1))
    assert not rejected(zip(drawn[::2], drawn[1::2], strict=True), with_rest(law))
    assert rejected(zip(drawn, drawn, strict=True), with_rest(law))


@pytest.mark.parametrize("make", [SystemCoins, lambda: SeededCoins(1)], ids=["system", "seeded"])
def test_answers_are_plain_integers_in_64_bits(make: Callable[[], Coins]) -> None:
    coins = make()
    values = [0, -(10**12), 2**62, 2**31]
    for drawn in (coins.laplace(values, Fraction(3)), coins.gaussian(values, Fraction(3))):
        assert all(type(value) is int for value in drawn)
        # Noise beyond 150 has probability below 1e-20.
        assert all(abs(value - drawn_value) < 150 for value, drawn_value in zip(values, drawn, strict=True))
    assert coins.laplace([], Fraction(1)) == [] and coins.gaussian([], Fraction(1)) == []


@settings(deadline=None)
@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**12).filter(lambda value: value > 0))
@example(Fraction(6325220216146209395446931011974811553955078381, 256 * 10**40))  # a first guess is too high
@example(Fraction(1) + Fraction(1, 10**30))  # and here too low
def test_the_noise_scale_is_the_least_float_not_below(value: Fraction) -> None:
    scale, sigma = laplace_scale(value), gaussian_scale(value)
    assert Fraction(math.nextafter(scale, 0)) < value <= Fraction(scale)
    assert Fraction(math.nextafter(sigma, 0)) ** 2 < value <= Fraction(sigma) ** 2


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1)])
def test_noise_without_a_scale_is_refused(scale: Fraction) -> None:
    with pytest.raises(ValueError):
        SystemCoins().laplace([1], scale)
    with pytest.raises(ValueError):
        SystemCoins().gaussian([1], scale)
