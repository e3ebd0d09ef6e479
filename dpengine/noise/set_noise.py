"""Noise for a set of listed items, D = 2^H with |H| = h: as one value of 2^h, or item by item.

A set is a code: bit i is 1 if item i is in it. The distance of two sets is the number of items in one and not in the
other, so diam = h and κ = 1.

AsOne       randomised response over all 2^h sets (thesis, Exx. 3.1 and 4.10): the true set, or with probability λ a
            uniformly random set. (ε, δ)-DP iff λ ≥ 2^h(1−δ)/(2^h−1+e^ε). In a random set each item is wrong with chance
            ½, so an item is wrong with chance f = λ/2, and the expected distance is
            hλ/2 = h·2^(h−1)·(1−δ)/(2^h−1+e^ε).
ItemByItem  each of the h answers “is it in?” by randomised response at (ε/h, δ/h), independently: (ε, δ)-DP by
            composition, because another set may answer all h otherwise. An item is wrong with chance
            f = (1−δ/h)/(1+e^(ε/h)), and the expected distance is hf.
`of_sets`   the one with the smaller expected distance, from public facts. In both f is the same for every item and
            every set, so hf is also the *worst* expected distance, and a smaller f also improves every count of an
            item.
SetMarginal the effect of randomised response over whole rows on a set in them: as AsOne, with the rows' λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpengine.core.exact import decimal_of
from dpengine.core.types import Integers
from dpengine.noise.coins import Coins
from dpengine.noise.floors import least_error
from dpengine.noise.laws import Finite
from dpengine.noise.row_noise import Blur, Marginal, Swap

MOST_ITEMS = 62  # a set is an integer of 63 bits
MOST_AT_ONCE = 2**32 - 1  # values for a draw in bulk (`coins.many_below`)


class OfItems:
    """A set of `items` items: each is published wrong with chance `flip`."""

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
    """One of all 2^h sets for another."""

    items: int
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
    """Every item by itself, at its share of ε and δ."""

    items: int
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
        """Over all sets, for few items: a test lists them."""
        wrong, right, every = decimal_of(self.flip), decimal_of(1 - self.flip), range(2**self.items)
        return Finite({other: _chance((other ^ code).bit_count(), self.items, wrong, right) for other in every})


@dataclass(frozen=True)
class SetMarginal(OfItems):
    """A set in rows published as one value each."""

    items: int
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
    """The noise with the smaller error, by formula; if both are equal, all items at once."""
    apart = ItemByItem(items, epsilon, delta)
    if 2**items > MOST_AT_ONCE:
        return apart
    whole = AsOne(items, epsilon, delta)
    return whole if whole.error <= apart.error else apart


def set_floor(items: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """No (ε, δ)-DP mechanism of the row publishes sets at a smaller worst expected distance."""
    return least_error(2**items, Fraction(items), Fraction(1), epsilon, delta)


def _chance(apart: int, items: int, wrong: Decimal, right: Decimal) -> Decimal:
    return wrong**apart * right ** (items - apart)
