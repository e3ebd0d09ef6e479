"""A new answer is offered as a more exact one only where its promise is narrower than the range that is there."""

from __future__ import annotations

from fractions import Fraction

from dpengine.mechanisms.promises import Rank, Within
from ui.ask import shown_answer


def test_a_promise_that_is_wider_than_the_range_is_no_improvement() -> None:
    beta, none = Fraction(1, 20), Fraction(0)
    promised = Within(Fraction(6), 1, beta, none, "wait")
    assert promised.narrows(Fraction(7)) and not promised.narrows(Fraction(6)) and not promised.narrows(Fraction(4))
    several = Within(Fraction(6), 2, beta, none, "wait")
    assert several.narrows(Fraction(7)) and not several.narrows(Fraction(4))
    assert Rank(Fraction(9), Fraction(1, 10), beta, none).narrows(Fraction(4))  # people, not values


def test_several_ranges_are_compared_by_the_widest_that_was_received() -> None:
    """Averages by group came within ±0.96 and ±0.47, and a new answer within ±1.1 was offered as more exact."""
    received = {"female": (Fraction("37.82"), Fraction("39.74")), "male": (Fraction("41.84"), Fraction("42.78"))}
    promised = Within(Fraction("1.1"), 2, Fraction(1, 20), Fraction(0), "hours")
    half = shown_answer._half(received)
    assert half == Fraction("0.96") and not promised.narrows(half)
    assert shown_answer._half(None) is None and shown_answer._half(("2020-01-01", "2020-02-01")) is None
