"""Strong composition with the constants of the lecture (Dwork, Rothblum and Vadhan 2010, in its form).

**Theorem.** Releases that are (ε_i, δ_i)-DP, *fixed in advance*, are together (ε̂, δ̂ + Σδ_i)-DP for every δ̂ > 0, with

    ε̂ = 2Σε_i² + √(2Σε_i²·ln(1/δ̂)).

With k equal pure releases this is 2kε² + ε√(2k·ln(1/δ̂)); with k equal (ε, δ) ones and δ̂ = kδ it is (ε̂, 2kδ).
A person who picks each ε after seeing answers is not covered: that takes a filter.

**Corollary.** With γ = ε/√(8k·ln(1/δ)), k pure-γ releases are (ε, δ)-DP, *only* where ε ≤ 2·ln(1/δ): the bound
comes out as ε²/(4·ln(1/δ)) + ε/2, which is 0.84 at ε = 0.5, δ = 0.9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpengine.accountant.history import History, history_of
from dpengine.accountant.loss import Loss
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import PICO, ceiling, down, ln_below, up


def epsilon_of(entries: History | Sequence[Loss], delta: Fraction) -> Fraction | None:
    """ε̂ at `delta` in all, rounded up; None where a Gaussian is in the history or its own δ leave no δ̂ over."""
    history = history_of(entries)
    slack = delta - history.delta
    if history.squares is None or slack < 0:
        return None
    if history.squares == 0:
        return Fraction(0)
    if slack == 0:
        return None
    return up(2 * history.squares) + _root_above(2 * history.squares * _ln_inverse_above(slack))


def each(epsilon: Fraction, delta: Fraction, count: int) -> Fraction:
    """γ of the corollary, rounded down; refused where the corollary does not hold."""
    if epsilon <= 0 or not 0 < delta < 1 or count < 1 or epsilon > -2 * ln_below(delta):
        raise AllowanceError("lecture.epsilon_range")
    gamma = down(epsilon / _root_above(8 * count * _ln_inverse_above(delta)))
    if gamma <= 0:
        raise AllowanceError("lecture.epsilon_range")
    return gamma


def _ln_inverse_above(delta: Fraction) -> Fraction:
    return max(Fraction(0), -ln_below(delta))


def _root_above(value: Fraction) -> Fraction:
    """√value rounded up to 10^-12, in integers alone."""
    scaled = ceiling(value * PICO**2)
    root = math.isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, PICO)
