"""Losses of wide noise: the short way against all atoms."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpengine.audit.exact import WIDE, _of_one, losses
from dpengine.noise.laws import Independent, Normal


@pytest.mark.long
def test_a_wide_number_beside_narrow_ones() -> None:
    """The narrow ones do not change, so only the wide one loses anything."""
    beside, wide = (Normal(0, Fraction(3)), Normal(4, Fraction(1, 2))), Fraction(2 * WIDE)
    first, second = (Independent((*beside, Normal(center, wide))) for center in (0, 500))
    near = losses(first, second).delta(Fraction(1))
    exact = _of_one(Normal(0, wide), Normal(500, wide)).delta(Fraction(1))
    assert near.low <= exact.high and exact.low <= near.high and near.high - near.low < Fraction(1, 50)
