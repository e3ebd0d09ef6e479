"""A new answer is offered as a more exact one only where its promise is narrower than the range that is there."""

from __future__ import annotations

from fractions import Fraction

from dpengine.mechanisms.promises import Rank, Within


def test_a_promise_that_is_wider_than_the_range_is_no_improvement() -> None:
    beta, none = Fraction(1, 20), Fraction(0)
    promised = Within(Fraction(6), 1, beta, none, "wait")
    assert promised.narrows(Fraction(7)) and not promised.narrows(Fraction(6)) and not promised.narrows(Fraction(4))
    assert Within(Fraction(6), 2, beta, none, "wait").narrows(Fraction(4))  # ranges of several: not one to compare with
    assert Rank(Fraction(9), Fraction(1, 10), beta, none).narrows(Fraction(4))  # people, not values
