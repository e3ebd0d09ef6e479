"""Rényi divergence at one order α > 1: what a loss costs there, and what converting it to (ε, δ) costs.

*Pure ε* (Mironov 2017 for randomized response; by Kairouz, Oh and Viswanath 2015 every ε-DP pair is a post-processing
of it, so it is the worst case and the curve is attained). With p = e^ε/(1+e^ε), q = 1−p,

    r(α) = ln(p^α q^(1−α) + q^α p^(1−α)) / (α−1)  =  ε − [ln(1+e^(−ε)) − ln(1+e^(−(2α−1)ε))] / (α−1).

The right-hand form is the one computed: every exponent is negative, so nothing overflows and nothing cancels.

*Pure ε as zCDP*: ρ = ε·tanh(ε/2), the least ρ with r(α) ≤ αρ at every α > 1. The curve is also
ln[cosh((α−½)ε)/cosh(ε/2)]/(α−1); g(s) = ln cosh(ε√s) is concave with slope ε·tanh(ε/2) at s = ¼, and
α(α−1) = (α−½)² − ¼, so g((α−½)²) − g(¼) ≤ α(α−1)·ε·tanh(ε/2), with equality as α → 1. ∎

*ε-bounded range* (exponential mechanism): r(α) ≤ αε²/8 (Cesar and Rogers 2021), and it is ε-DP too, so the smaller
of the two.

*Toll*, the conversion to (ε, δ) (Canonne, Kamath, Steinke 2020, Prop. 12; Asoodeh et al. 2020): D_α(P‖Q) ≤ r gives
P(S) ≤ e^(r+c)·Q(S) + δ with

    c = ln((α−1)/α) − (ln δ + ln α)/(α−1).

Both are rounded up. The *best* α is searched for in floats, which is safe because any α > 1 is *valid*.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from dpengine.core.exact import exp_decimal, ln_above, ln_below, up

_DIGITS = Context(prec=60)
_NEGLIGIBLE = 200  # ln(1 + e^-200) < 10^-86, below the 10^-40 that every logarithm here is rounded by anyway
_LEAST_OVER_ONE, _MOST_OVER_ONE = 1e-3, 1e45  # where α − 1 is searched
_GRAIN = 1000  # orders are kept to three decimals
_PLENTY = Fraction(10**50)  # beyond it the best order is the least one searched


def _ln_one_plus_exp_of_minus(x: Fraction, ln: Callable[[Decimal], Fraction]) -> Fraction:
    """A bound on ln(1 + e^(−x)) for x ≥ 0, on the side on which `ln` is a bound."""
    return ln(_DIGITS.add(1, exp_decimal(-x) if x <= _NEGLIGIBLE else 0))


@lru_cache(maxsize=4096)
def of_pure(epsilon: Fraction, alpha: Fraction) -> Fraction:
    """An upper bound on the pure curve at α, too large by less than 10^-35 and never more than ε itself."""
    least = _ln_one_plus_exp_of_minus(epsilon, ln_below)
    most = _ln_one_plus_exp_of_minus((2 * alpha - 1) * epsilon, ln_above)
    return min(epsilon, epsilon - (least - most) / (alpha - 1))


@lru_cache(maxsize=4096)
def zcdp_of_pure(epsilon: Fraction) -> Fraction:
    """An upper bound on ρ = ε·tanh(ε/2), too large by less than 10^-45·ε."""
    if epsilon > _NEGLIGIBLE:
        return epsilon
    least = max(Fraction(0), Fraction(exp_decimal(-epsilon)) - Fraction(1, 10**50))
    return min(epsilon**2 / 2, epsilon * (1 - least) / (1 + least))


def of_bounded_range(epsilon: Fraction, alpha: Fraction) -> Fraction:
    return min(alpha * epsilon**2 / 8, of_pure(epsilon, alpha))


def of_gaussian(rho: Fraction, alpha: Fraction) -> Fraction:
    """ρ-zCDP (Bun and Steinke 2016, Def. 1.1): D_α ≤ αρ at every order. Exact."""
    return alpha * rho


@lru_cache(maxsize=256)
def toll(alpha: Fraction, delta: Fraction) -> Fraction:
    """The toll c, rounded up to 10^-12; 0 where the formula is negative (αδ large), because the meter starts at 0."""
    above = ln_above((alpha - 1) / alpha) - ln_below(delta * alpha) / (alpha - 1)
    return max(Fraction(0), up(above))


@lru_cache(maxsize=256)
def order_for_cap(epsilon: Fraction, delta: Fraction) -> Fraction:
    """α* of a cap (ε, δ). ρ fits if ρα + c(α) ≤ ε at some α; the largest fits at α*, which maximises (ε − c(α))/α."""
    cap, ln_delta = float(min(epsilon, _PLENTY)), float(ln_below(delta))
    return _best_order(lambda x: (max(0.0, _toll_near(x, ln_delta)) - cap) / (1 + x))


@lru_cache(maxsize=256)
def order_for_sum(rho: Fraction, delta: Fraction) -> Fraction:
    """The order at which ρα + c(α) is least: the one to convert a finished zCDP sum at."""
    total, ln_delta = float(min(rho, _PLENTY)), float(ln_below(delta))
    return _best_order(lambda x: total * (1 + x) + max(0.0, _toll_near(x, ln_delta)))


def _toll_near(x: float, ln_delta: float) -> float:
    return -math.log1p(1 / x) - (ln_delta + math.log1p(x)) / x


def _best_order(loss: Callable[[float], float]) -> Fraction:
    """The order 1 + x where `loss(x)` is about least, by a grid in ln x refined around its best point.

    Kept to three decimals, rounded up: the toll falls with α, steeply where α is near 1.
    """
    low, high = math.log(_LEAST_OVER_ONE), math.log(_MOST_OVER_ONE)
    for _ in range(8):
        step = (high - low) / 64
        grid = [low + i * step for i in range(65)]
        best = min(grid, key=lambda point: loss(math.exp(point)))
        low, high = max(grid[0], best - step), min(grid[-1], best + step)
    return 1 + max(Fraction(1, _GRAIN), Fraction(math.ceil(math.exp(best) * _GRAIN), _GRAIN))
