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
Floor       the worst-case error that no (ε, δ)-DP mechanism of the *row* can beat: `least_error`. A column published at
            ε/k beside others has no such bound at ε/k: another mechanism may split ε otherwise.

Sets of items: `OfItems`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from dpengine.core.exact import ceiling, decimal_of, down, exp_decimal, first_true, ln_above, up
from dpengine.core.types import Integers
from dpengine.noise.coins import Coins, dyadic_above
from dpengine.noise.laws import Finite, Laplace


def least_error(points: int, diameter: Fraction, kappa: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Lower bounds on the worst expected error of *any* mechanism that is (ε, δ)-DP for a row.

    A row is an element of a finite metric space D of m+1 points, with the public diameter diam and the least distance κ
    of two of them. The mechanism may publish anything; its error is ρ(Y, d) if the truth is d.

    Theorem     (thesis, Thm 5.5) γ ≥ (1−δ)·κ·m/(m+e^ε). Randomised response meets it where all distances are 1 (Ex.
                5.6). (thesis, Thm 5.3) γ ≥ (1−δ)·diam/(2(1+e^ε)); and here twice that, (1−δ)·diam/(1+e^ε). Proof: let
                d, d′ be diam apart and P, P′ the laws of their outputs. Then
                    E ρ(Y, d) + E′ ρ(Y, d′) ≥ Σ_y min(P, P′)(y)·(ρ(y, d) + ρ(y, d′)) ≥ diam·Σ min(P, P′),
                and Σ min(P, P′) = 1 − TV ≥ 2(1−δ)/(1+e^ε): from P(S) ≤ e^ε·P′(S) + δ for S = {P > P′} and the same the
                other way for its complement, TV·(1+e^ε) ≤ e^ε − 1 + 2δ. ∎
    Which       the larger of the two. On a grid of numbers or days κ is its step and diam = mκ, so the second is never
                less; in a list κ = diam = 1, so the first is never less; among sets of h items κ = 1, diam = h and m+1
                = 2^h: the second is the larger one while ε is small, the first once e^ε is beyond 2^h or so.
    Whole row   one element of the product D₁×…×D_k. The chance of an untrue row has the first bound with all distances
                1 and m+1 = |D₁|·…·|D_k|. And since a mechanism that publishes a row publishes each of its cells, the
                bound of every column at the *whole* ε holds whatever else is published.

    Rounded down, so that they stay lower bounds; in the unit of the two distances.
    """
    return kappa * max(nearest(points, epsilon, delta), farthest(diameter / kappa, epsilon, delta))


def nearest(points: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The bound of Thm 5.5 in units of κ, for m+1 = `points`."""
    m = points - 1
    return down((1 - delta) * m / (m + _power(epsilon)), _GRAIN)


def farthest(diameter: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Twice the bound of Thm 5.3, from the two points farthest apart."""
    return down((1 - delta) * diameter / (1 + _power(epsilon)), _GRAIN)


def _power(epsilon: Fraction) -> Fraction:
    """e^ε, rounded up."""
    return Fraction(exp_decimal(epsilon) + _GUARD)


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
        """A lower bound on the worst-case error, in steps, of any mechanism that is (ε, δ)-DP for the row."""
        return least_error(self.steps + 1, Fraction(self.steps), Fraction(1), self.epsilon, self.delta)


class Mixing:
    """The true value, or with probability λ a uniformly random one of `size` values, the true one among them."""

    size: int

    @property
    def mixed(self) -> Fraction:
        """λ: the probability of a random value."""
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
        """The least p that keeps (ε, δ): (1−δ)/(m+e^ε), rounded up."""
        return (1 - self.delta) / (self.size - 1 + Fraction(exp_decimal(self.epsilon) - _GUARD))

    @property
    def floor(self) -> Fraction:
        """Lower bound on the worst-case chance of an untrue value, for any mechanism that is (ε, δ)-DP for the row."""
        return least_error(self.size, Fraction(1), Fraction(1), self.epsilon, self.delta)


@dataclass(frozen=True)
class Marginal(Mixing):
    """The noise of one column in rows that are each published as one value."""

    size: int
    whole: Swap

    @property
    def mixed(self) -> Fraction:
        return self.whole.mixed

    @property
    def off(self) -> Fraction:
        """The expected distance of a published value from the true one, in steps, if the true one is the lowest of
        `size` points on a line: the worst case."""
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
    """The scale of Ex. 4.9 of the thesis, t = D/(ε − ln(1−δ)), rounded up."""
    return up(steps / (epsilon - ln_above(1 - delta)) if delta else steps / epsilon, _GRAIN)


MOST_ITEMS = 62  # a set is an integer of 63 bits
MOST_AT_ONCE = 2**32 - 1  # values for a draw in bulk (`coins.many_below`)


@dataclass(frozen=True)
class OfItems:
    """Noise for a set of listed items, D = 2^H with |H| = h: as one value of 2^h, or item by item.

    A set is a code: bit i is 1 if item i is in it. The distance of two sets is the number of items in one and not in
    the other, so diam = h and κ = 1.

    AsOne       randomised response over all 2^h sets (thesis, Exx. 3.1 and 4.10): the true set, or with probability λ a
                uniformly random set. (ε, δ)-DP iff λ ≥ 2^h(1−δ)/(2^h−1+e^ε). In a random set each item is wrong with
                chance ½, so an item is wrong with chance f = λ/2, and the expected distance is hλ/2 =
                h·2^(h−1)·(1−δ)/(2^h−1+e^ε).
    ItemByItem  each of the h answers “is it in?” by randomised response at (ε/h, δ/h), independently: (ε, δ)-DP by
                composition, because another set may answer all h otherwise. An item is wrong with chance f =
                (1−δ/h)/(1+e^(ε/h)), and the expected distance is hf.
    `of_sets`   the one with the smaller expected distance, from public facts. In both f is the same for every item and
                every set, so hf is also the *worst* expected distance, and a smaller f also improves every count of an
                item.
    SetMarginal the effect of randomised response over whole rows on a set in them: as AsOne, with the rows' λ.

    A set of `items` items: each is published wrong with chance `flip`.
    """

    items: int

    @property
    def flip(self) -> Fraction:
        raise NotImplementedError

    @property
    def error(self) -> Fraction:
        """The expected distance between the published set and any true one."""
        return self.items * self.flip


@dataclass(frozen=True)
class AsOne(OfItems):
    """Randomised response over all 2^h sets."""

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def swap(self) -> Swap:
        return Swap(2**self.items, self.epsilon, self.delta)

    @property
    def flip(self) -> Fraction:
        return self.swap.mixed / 2

    @property
    def truth(self) -> Fraction:
        return self.swap.truth

    def perturb(self, codes: Integers, coins: Coins) -> Integers:
        return self.swap.perturb(codes, coins)

    def law(self, code: int) -> Finite:
        return self.swap.law(code)


@dataclass(frozen=True)
class ItemByItem(OfItems):
    """Randomised response on every item by itself, each at its share of ε and δ."""

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def each(self) -> Swap:
        return Swap(2, self.epsilon / self.items, self.delta / self.items)

    @property
    def flip(self) -> Fraction:
        return self.each.chance

    @property
    def truth(self) -> Fraction:
        return Fraction((1 - self.flip) ** self.items)

    def perturb(self, codes: Integers, coins: Coins) -> Integers:
        places = np.arange(self.items, dtype=np.int64)
        held = (np.asarray(codes, dtype=np.int64)[:, None] >> places) & 1
        toggled = coins.toggle(held.astype(np.bool_).ravel(), self.flip).reshape(held.shape)
        return np.asarray((toggled.astype(np.int64) << places).sum(axis=1), dtype=np.int64)

    def law(self, code: int) -> Finite:
        """The law over all sets, for few items: a test lists them."""
        wrong, right = decimal_of(self.flip), decimal_of(1 - self.flip)
        apart = {other: (other ^ code).bit_count() for other in range(2**self.items)}
        return Finite({other: wrong**bits * right ** (self.items - bits) for other, bits in apart.items()})


@dataclass(frozen=True)
class SetMarginal(OfItems):
    """The noise of a set in rows that are each published as one value."""

    whole: Swap

    @property
    def flip(self) -> Fraction:
        return self.whole.mixed / 2

    @property
    def truth(self) -> Fraction:
        return 1 - self.whole.mixed + self.whole.mixed / (1 << self.items)


SetNoise = AsOne | ItemByItem
RowNoise = Blur | Swap | Marginal | AsOne | ItemByItem | SetMarginal


def of_sets(items: int, epsilon: Fraction, delta: Fraction) -> SetNoise:
    """The noise with the smaller error, by the two formulas; all items as one value if both are equal."""
    apart = ItemByItem(items, epsilon, delta)
    if 2**items > MOST_AT_ONCE:
        return apart
    whole = AsOne(items, epsilon, delta)
    return whole if whole.error <= apart.error else apart
