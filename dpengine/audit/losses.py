"""The law of a privacy loss, and sums of independent ones.

A `Span` holds the true value. Losses are kept to 10^-25 and, should a convolution have more than MOST_ATOMS of them,
are moved to a grid of 10^-6; beyond MOST_PRODUCTS they are first moved to a grid of at most CELLS points, without the
outermost 10^-15 of chance, which are lost, and summed as floats. Each moves by at most `fuzz`, and since
(1 − e^(ε−L))₊ rises with L, taking it at L ∓ fuzz gives the two ends. Chances come from laws of 28 digits: TOLERANCE,
far above their rounding, is added at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from dpengine.core.arrays import Floats
from dpengine.core.exact import decimal_of

TOLERANCE = Decimal("1e-20")
MOST_ATOMS = 20_000
MOST_PRODUCTS = 10**6  # of two losses; beyond, a convolution in whole decimals takes minutes
CELLS = 8_000
PLACES, _COARSE = Decimal("1e-25"), Decimal("1e-6")
_ENDS = 1e-15
DIGITS = 40


@dataclass(frozen=True)
class Span:
    """The true value is neither below `low` nor above `high`."""

    low: Decimal
    high: Decimal


@dataclass(frozen=True)
class Losses:
    """The law of L = ln(P/Q) under P: chances by loss, each loss true to ± fuzz; the chance of outcomes that Q lacks;
    and the chance that was left out, whose loss may be anything."""

    atoms: dict[Decimal, Decimal]
    infinite: Decimal = Decimal(0)
    lost: Decimal = Decimal(0)
    fuzz: Decimal = PLACES

    def delta(self, epsilon: Fraction) -> Span:
        """δ(ε): what of P is not covered by e^ε·Q."""
        with localcontext(prec=DIGITS):
            at = decimal_of(epsilon)
            low, high = (self._over(at + self.fuzz), self._over(at - self.fuzz))
            return Span(
                max(Decimal(0), self.infinite + low - TOLERANCE),
                min(Decimal(1), self.infinite + self.lost + high + TOLERANCE),
            )

    def _over(self, at: Decimal) -> Decimal:
        terms = (p * (1 - (at - loss).exp()) for loss, p in self.atoms.items() if loss > at)
        return sum(terms, Decimal(0))

    def plus(self, other: Losses) -> Losses:
        """The losses of two independent coordinates together. Chances of infinite and of unknown loss are kept."""
        if len(self.atoms) * len(other.atoms) > MOST_PRODUCTS:
            return _on_one_grid(self, other)
        with localcontext(prec=DIGITS):
            atoms: dict[Decimal, Decimal] = {}
            for loss, p in self.atoms.items():
                for two, q in other.atoms.items():
                    atoms[loss + two] = atoms.get(loss + two, Decimal(0)) + p * q
            finite = Losses(
                atoms,
                1 - (1 - self.infinite) * (1 - other.infinite),
                self.lost + other.lost,
                self.fuzz + other.fuzz,
            )
        return finite if len(atoms) <= MOST_ATOMS else finite.coarser()

    def coarser(self) -> Losses:
        """Losses moved to the nearest point of a grid."""
        atoms: dict[Decimal, Decimal] = {}
        for loss, p in self.atoms.items():
            near = loss.quantize(_COARSE)
            atoms[near] = atoms.get(near, Decimal(0)) + p
        return Losses(atoms, self.infinite, self.lost, self.fuzz + _COARSE)


def _on_one_grid(one: Losses, other: Losses) -> Losses:
    """Of two that have very many losses: both on one grid, and their sum there. What floats round is lost."""
    kept = [_without_ends(each) for each in (one, other)]
    widest = max(losses[-1] - losses[0] for losses, _, _ in kept)
    step = max(float(_COARSE), widest / CELLS)
    summed, first, lost = np.ones(1), 0, one.lost + other.lost
    for losses, chances, outside in kept:
        places = np.rint(losses / step).astype(np.int64)
        summed = np.convolve(summed, np.bincount(places - places[0], weights=chances))
        first, lost = first + int(places[0]), lost + outside
    atoms = {
        (Decimal(step) * (first + place)).quantize(PLACES): Decimal(float(p) * (1 - 1e-11))
        for place, p in enumerate(summed)
        if p > 0
    }
    infinite = 1 - (1 - one.infinite) * (1 - other.infinite)
    return Losses(atoms, infinite, lost + Decimal("2e-11"), one.fuzz + other.fuzz + Decimal(step) * Decimal("1.001"))


def _without_ends(law: Losses) -> tuple[Floats, Floats, Decimal]:
    """Losses in their order, with their chances, without the outermost of both ends; and the chance of those."""
    order = sorted(law.atoms)
    losses = np.array([float(loss) for loss in order])
    chances = np.array([float(law.atoms[loss]) for loss in order])
    inside = (np.cumsum(chances) > _ENDS) & (np.cumsum(chances[::-1])[::-1] > _ENDS)
    return losses[inside], chances[inside], 2 * Decimal(_ENDS)
