"""Composition theorems for releases fixed in advance; only basic composition allows an adaptive choice.

**Basic** (Dwork, McSherry, Nissim, Smith 2006). Releases that are (ε_i, δ_i)-DP are together (Σε_i, Σδ_i)-DP. Adaptive
choice of the releases is allowed.

**Concentrated** (Bun and Steinke 2016). Releases that are ρ_i-zCDP up to δ_i, *fixed in advance*, are together ρ-zCDP
up to Σδ_i with ρ = Σρ_i, and so (ε, δ)-DP with ε = min over α > 1 of [ρα + c(α)], c the toll at δ − Σδ_i. Pure ε counts
as ρ = ε·tanh(ε/2), the exponential mechanism as ε²/8, the discrete Gaussian as its own ρ, Laplace noise on a vector as
the smaller of its own ρ and that of its ε.

**Strong**, with the constants of the lecture (Dwork, Rothblum and Vadhan 2010, in its form). Releases that are
(ε_i, δ_i)-DP, *fixed in advance*, are together (ε̂, δ̂ + Σδ_i)-DP for every δ̂ > 0, with

    ε̂ = 2Σε_i² + √(2Σε_i²·ln(1/δ̂)).

With k equal pure releases this is 2kε² + ε√(2k·ln(1/δ̂)); with k equal (ε, δ) ones and δ̂ = kδ it is (ε̂, 2kδ). It does
not cover an analyst who picks each ε after seeing answers: that takes a filter.
*Corollary.* With γ = ε/√(8k·ln(1/δ)), k pure-γ releases are (ε, δ)-DP, *only* where ε ≤ 2·ln(1/δ): the bound comes out
as ε²/(4·ln(1/δ)) + ε/2, which is 0.84 at ε = 0.5, δ = 0.9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from dpengine.accountant import renyi
from dpengine.accountant.history import History, history_of
from dpengine.accountant.loss import Loss
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import PICO, ceiling, down, ln_below, up


def basic_epsilon(entries: History | Sequence[Loss], delta: Fraction) -> Fraction | None:
    """The ε of the whole history at `delta`; None if a Gaussian is in the history, or if its own δ exceed `delta`."""
    history = history_of(entries)
    return history.epsilon if history.delta <= delta else None


def zcdp_epsilon(entries: History | Sequence[Loss], delta: Fraction) -> Fraction | None:
    """The ε of the whole history at `delta`, rounded up; None if the history's own δ use up `delta`."""
    history = history_of(entries)
    slack = delta - history.delta
    if history.rho == 0:
        return Fraction(0) if slack >= 0 else None
    if slack <= 0:
        return None
    alpha = renyi.order_for_sum(history.rho, slack)  # a float search: any order is valid, this one is about the best
    return up(history.rho * alpha) + renyi.toll(alpha, slack)


def advanced_epsilon(entries: History | Sequence[Loss], delta: Fraction) -> Fraction | None:
    """The history's ε̂ at `delta` in all, rounded up; None if a Gaussian is in it, or if its own δ use up `delta`."""
    history = history_of(entries)
    slack = delta - history.delta
    if history.squares is None or slack < 0:
        return None
    if history.squares == 0:
        return Fraction(0)
    if slack == 0:
        return None
    return up(2 * history.squares) + _root_above(2 * history.squares * _ln_inverse_above(slack))


def advanced_each(epsilon: Fraction, delta: Fraction, count: int) -> Fraction:
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


EPSILON_OF: Mapping[str, Callable[[History | Sequence[Loss], Fraction], Fraction | None]] = MappingProxyType(
    {"basic": basic_epsilon, "lecture": advanced_epsilon, "zcdp": zcdp_epsilon}
)  # ε of releases that are fixed in advance, by the name of the theorem
