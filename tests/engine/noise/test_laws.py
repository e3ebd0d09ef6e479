"""Closed forms of laws against the sums that they stand for."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from battery import _inside

from dpengine.noise.laws import Laplace, chance, renyi


@pytest.mark.parametrize("order", [1.5, 5.5, 40.0])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(5, 2), Fraction(40)])
@pytest.mark.parametrize("shift", [0, 1, 2, 7])
def test_renyi_of_laplace_noise_is_its_sum(shift: int, scale: Fraction, order: float) -> None:
    s, reach = float(scale), int(60 * scale) + shift + 2
    exponents = [(-abs(z) * order + abs(z - shift) * (order - 1)) / s for z in range(-reach, reach + 1)]
    total = math.fsum(math.exp(exponent) for exponent in exponents) * math.tanh(1 / (2 * s))
    found = renyi(Laplace(0, scale), Laplace(shift, scale), order)
    assert found == pytest.approx(math.log(total) / (order - 1), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("reach", [1, 4, 9])
def test_the_middle_of_laplace_noise_is_its_sum(scale: Fraction, reach: int) -> None:
    law = Laplace(5, scale)
    assert _inside(law, reach) == pytest.approx(float(sum(chance(law, 5 + z) for z in range(-reach, reach + 1))))


def test_wide_noise_takes_no_longer() -> None:
    """A ratio of a fine column has a weight of a million; a sum over the places of this noise would never end."""
    wide = Fraction(4 * 10**15)
    assert 0 < renyi(Laplace(0, wide), Laplace(10**15, wide), 5.5) < 0.25
    assert _inside(Laplace(0, wide), 4 * 10**15) > 0.6
