"""Noise for every row separately, which makes a whole table publishable: its exact law, the least noise that keeps the
guarantee, and a lower bound on the error that no other mechanism can beat.

A row mechanism R is (ε, δ)-DP for the whole table, and for every question asked of the published rows, iff for all
values d, d′ and sets S: Pr[R(d) ∈ S] ≤ e^ε·Pr[R(d′) ∈ S] + δ (thesis, Thm 4.3: the identity query decides; Thm 4.7:
tables of one row do; Ex. 4.8 counts what is left). For one pair the least such δ is Σ_x [P(x) − e^ε·P′(x)]₊.

Blur        a number on a grid of D+1 points: d + Z, Pr[Z=z] ∝ r^|z|, r = e^(−1/t). With a shift by D the log-ratio at x
            is (D−2x)/t between 0 and D, so the sum runs over x ≤ k, k the largest integer below (D−εt)/2, and
                δ(t) = 1 − (r^(k+1) + e^ε·r^(D−k))/(1+r),     0 where εt ≥ D.
            A smaller shift loses no more: the laws of shifts 0, s, D have monotone likelihood ratios. A larger t loses
            no more: discrete Laplace noise of a larger scale is that of the smaller one plus an independent variable
            (its geometric halves are). So the least t with δ(t) ≤ δ is found by bisection, rounded up.
            Thesis, Ex. 4.9: t = D/(ε − ln(1−δ)) is enough. The least for *continuous* noise is D/(ε − 2·ln(1−δ)), which
            on a coarse grid is too little.
Swap        one of m+1 listed values: the truth with probability 1−pm, each other one with p. (ε, δ)-DP iff
            p ≥ (1−δ)/(m+e^ε) (thesis, Ex. 4.10). Drawn as: with probability λ = (m+1)p a uniformly random value; else
            the truth. λ is rounded up to a multiple of 2^−62.
Marginal    the effect of randomised response over whole rows on one of their columns: the truth, or with probability λ
            a uniformly random value of the column (a uniform row has uniform parts).
Floor       the worst-case error that no (ε, δ)-DP mechanism of the *row* can beat: `floors`. A column published at ε/k
            beside others has no such bound at ε/k: another mechanism may split ε otherwise.

Sets of items are in `set_noise`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

from dpengine.core.exact import ceiling, decimal_of, down, exp_decimal, first_true, ln_above, up
from dpengine.core.types import Integers
from dpengine.noise.bulk_geometric import dyadic_above
from dpengine.noise.coins import Coins
from dpengine.noise.floors import farthest, least_error
from dpengine.noise.laws import Finite, Laplace

_GUARD = Decimal(10) ** -40  # far above the rounding of a few 60-digit operations
_GRAIN = 10**9  # t is a multiple of 10^-9


@dataclass(frozen=True)
class Blur:
    """Discrete Laplace noise of scale t, in steps of the grid."""

    steps: int  # D: the grid has D+1 points
    epsilon: Fraction
    delta: Fraction

    @cached_property
    def scale(self) -> Fraction:
        return least_scale(self.steps, self.epsilon, self.delta)

    def perturb(self, codes: Integers, coins: Coins) -> Integers:
        return coins.many_laplace(codes, self.scale)

    def law(self, code: int) -> Laplace:
        return Laplace(code, self.scale)

    @property
    def error(self) -> Fraction:
        """The expected |Z|, 2r/(1−r²), in steps, rounded up; the same for every row."""
        return expected_error(self.scale)

    @property
    def truth(self) -> Fraction:
        """The chance that Z = 0, (1−r)/(1+r), rounded down."""
        ratio = exp_decimal(-1 / self.scale)
        return down(Fraction((1 - ratio) / (1 + ratio)), _GRAIN)

    @property
    def floor(self) -> Fraction:
        """Lower bound on the worst-case error, in steps, of any mechanism that is (ε, δ)-DP for the row."""
        return least_error(self.steps + 1, Fraction(self.steps), Fraction(1), self.epsilon, self.delta)


class Mixing:
    """The truth, or with probability λ a uniformly random one of `size` values, including the true one."""

    size: int

    @property
    def mixed(self) -> Fraction:
        """λ"""
        raise NotImplementedError

    @property
    def chance(self) -> Fraction:
        """p: the chance of each untrue value."""
        return self.mixed / self.size

    @property
    def truth(self) -> Fraction:
        return 1 - self.mixed + self.chance

    def perturb(self, codes: Integers, coins: Coins) -> Integers:
        return coins.respond(codes, self.mixed, self.size)

    def law(self, code: int) -> Finite:
        other, truth = decimal_of(self.chance), decimal_of(self.truth)
        return Finite({place: truth if place == code else other for place in range(self.size)})

    @property
    def error(self) -> Fraction:
        """The chance that a published value is not the true one."""
        return 1 - self.truth


@dataclass(frozen=True)
class Swap(Mixing):
    """Randomised response over m+1 listed values."""

    size: int  # m+1
    epsilon: Fraction
    delta: Fraction

    @cached_property
    def mixed(self) -> Fraction:
        return dyadic_above(self.size * self.least_chance)

    @property
    def least_chance(self) -> Fraction:
        """(1−δ)/(m+e^ε), rounded up."""
        return (1 - self.delta) / (self.size - 1 + Fraction(exp_decimal(self.epsilon) - _GUARD))

    @property
    def floor(self) -> Fraction:
        """Lower bound on the worst-case chance of an untrue value, for any mechanism that is (ε, δ)-DP for the row."""
        return least_error(self.size, Fraction(1), Fraction(1), self.epsilon, self.delta)


@dataclass(frozen=True)
class Marginal(Mixing):
    """One column of rows published as one value each."""

    size: int
    whole: Swap

    @property
    def mixed(self) -> Fraction:
        return self.whole.mixed

    @property
    def off(self) -> Fraction:
        """The expected distance from the lowest of `size` points on a line, in steps: the worst case."""
        return self.mixed * (self.size - 1) / 2


def expected_error(scale: Fraction) -> Fraction:
    ratio = exp_decimal(-1 / scale)
    return up(Fraction(2 * ratio / (1 - ratio * ratio)), _GRAIN)


def excess(steps: int, scale: Fraction, epsilon: Fraction) -> Decimal:
    """δ(t): the least δ for which noise of this scale is (ε, δ)-DP, for the two values farthest apart."""
    if epsilon * scale >= steps:
        return Decimal(0)
    last = ceiling((steps - epsilon * scale) / 2) - 1
    ratio = exp_decimal(-1 / scale)
    overlap = exp_decimal(-Fraction(last + 1) / scale) + exp_decimal(epsilon - Fraction(steps - last) / scale)
    return 1 - overlap / (1 + ratio)


@lru_cache(maxsize=1024)
def least_scale(steps: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least t, in multiples of 10^-9, with δ(t) ≤ δ."""
    most = ceiling(steps / epsilon * _GRAIN)  # enough without any δ
    if not delta:
        return Fraction(most, _GRAIN)

    def enough(grains: int) -> bool:
        return Fraction(excess(steps, Fraction(grains, _GRAIN), epsilon) + _GUARD) <= delta

    return Fraction(first_true(enough, 1, most), _GRAIN)


def thesis_scale(steps: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """t = D/(ε − ln(1−δ)), rounded up; D/ε if δ = 0."""
    return up(steps / (epsilon - ln_above(1 - delta)) if delta else steps / epsilon, _GRAIN)


def thesis_floor(steps: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Thm 5.3 as the thesis states it, (1−δ)·D/(2(1+e^ε))."""
    return farthest(Fraction(steps), epsilon, delta) / 2
