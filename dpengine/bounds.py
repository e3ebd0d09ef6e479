"""Tails of the noise, the promises that follow, and what nobody can beat: public arithmetic, rounded to be safe."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dpengine.exact import ceiling, down, exp_decimal, float_above, ln_above, ln_below

BETA = Fraction(1, 20)  # “95 times in 100”


@lru_cache(maxsize=1024)
def laplace_reach(scale: Fraction, beta: Fraction) -> int:
    """The least t with Pr[|Z| > t] ≤ β for discrete Laplace noise Pr[Z=z] ∝ exp(−|z|/scale).

    Pr[|Z| ≥ k] = 2·e^(−k/scale)/(1+e^(−1/scale)) for k ≥ 1.
    """
    ratio = Fraction(exp_decimal(-1 / scale))
    if 2 * ratio / (1 + ratio) <= beta:
        return 0
    return max(ceiling(scale * ln_above(2 / (beta * (1 + ratio)))) - 1, 0)


@lru_cache(maxsize=1024)
def choice_gap(rate: Fraction, candidates: int, beta: Fraction) -> int:
    """Exponential mechanism with integer scores: with probability ≥ 1−β the gap to the best is at most this.

    Pr[gap ≥ t] ≤ |R|·exp(−rate·t); the least such integer t, less one.
    """
    return max(ceiling(ln_above(Fraction(candidates) / beta) / rate) - 1, 0)


@lru_cache(maxsize=1024)
def gaussian_reach(variance: Fraction, beta: Fraction) -> int:
    """A t with Pr[|Z| > t] ≤ β for discrete Gaussian noise Pr[Z=z] ∝ exp(−z²/(2·variance)).

    Pr[Z ≥ t+1] ≤ Pr[N(0, v) ≥ t] (Canonne, Kamath, Steinke 2020, Prop. 25), so Pr[|Z| > t] ≤ erfc(t/√(2v)).
    The least such t, in floats with a part in 10^9 to spare, far above their error.
    """
    width = math.sqrt(2 * float_above(variance)) * (1 + 1e-12)
    wanted = float(beta) * (1 - 1e-9)
    low, high = 0, 1
    while math.erfc(high / width) > wanted:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if math.erfc(middle / width) > wanted else (low, middle)
    return low


@lru_cache(maxsize=1024)
def flip_gap(rate: Fraction, candidates: int, beta: Fraction) -> int:
    """Permute-and-flip with integer scores: with probability ≥ 1−β the gap to the best is at most this.

    Let K of the candidates that are t or more below come up. The best one comes up too, so one of the K is chosen with
    probability at most E[K/(K+1)] ≤ E[K]/2 ≤ |R|·exp(−rate·t)/2: half of the exponential mechanism's bound.
    """
    return choice_gap(rate, candidates, 2 * beta)


def least_count_error(epsilon: Fraction, beta: Fraction) -> Fraction:
    """No ε-DP count is within less than this, 95 times in 100, on every table of enough people.

    Answers within t of counts that are 2t+1 apart do not overlap, so 2(1−β)·Σ_j e^(−jε(2t+1)) ≤ β.
    """
    return _told((ln_below((2 - beta) / beta) / epsilon - 1) / 2)


def least_choice_gap(epsilon: Fraction, candidates: int, beta: Fraction) -> Fraction:
    """No ε-DP choice among |R| items has a smaller gap on every table.

    Raise one of |R| equal items by g+1 people: that one must win with probability 1−β, so |R|·e^(−ε(g+1))(1−β) ≤ 1.
    """
    return _told(ln_below(candidates * (1 - beta)) / epsilon - 1)


def least_rank_error(epsilon: Fraction, candidates: int, beta: Fraction) -> Fraction:
    """No ε-DP quantile on |R| grid points is nearer in rank on every table large enough.

    Put 2λ+1 people on one grid point between two equal halves: only that point is within λ ranks.
    """
    return _told((ln_below(candidates * (1 - beta)) / epsilon - 1) / 2)


def _told(bound: Fraction) -> Fraction:
    """A lower bound is rounded down, to thousandths."""
    return max(down(bound, 1000), Fraction(0))
