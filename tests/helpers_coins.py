"""Coins for tests: every draw, additive noise included, comes from bits that the test injects.

The samplers are those of Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020),
Algorithms 1-3, in integers and Fractions. They share no code with OpenDP, so each checks the other.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpengine.noise.coins import Coins, SystemCoins, gaussian_scale, laplace_scale


class BitCoins(Coins):
    """Exact noise from nothing but `bits`."""

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        used = Fraction(laplace_scale(scale))
        return [int(value) + self._laplace(used) for value in values]

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        used = Fraction(gaussian_scale(sigma_squared)) ** 2
        return [int(value) + self._gaussian(used) for value in values]

    def _bernoulli_exp(self, exponent: Fraction) -> bool:
        """True with probability exp(-exponent)."""
        while exponent > 1:
            if not self._bernoulli_exp(Fraction(1)):
                return False
            exponent -= 1
        turn = 1
        while self.below(exponent.denominator * turn) < exponent.numerator:
            turn += 1
        return turn % 2 == 1

    def _laplace(self, scale: Fraction) -> int:
        top, bottom = scale.numerator, scale.denominator
        while True:
            part = self.below(top)
            if not self._bernoulli_exp(Fraction(part, top)):
                continue
            wholes = 0
            while self._bernoulli_exp(Fraction(1)):
                wholes += 1
            size, negative = (part + top * wholes) // bottom, self.bits(1) == 1
            if size or not negative:
                return -size if negative else size

    def _gaussian(self, variance: Fraction) -> int:
        scale = int(variance**0.5) + 1  # any positive scale is exact; this one is quick
        while True:
            drawn = self._laplace(Fraction(scale))
            if self._bernoulli_exp((abs(drawn) - variance / scale) ** 2 / (2 * variance)):
                return drawn


class SeededCoins(BitCoins):
    """The same draws for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)


class NoNoise(SystemCoins):
    """For a page that shows what an answer means: every figure is released as it is."""

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return [int(value) for value in values]

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return self.laplace(values, sigma_squared)


class ScriptEnded(Exception):
    """The script has no more bits; `count` were asked for."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class ScriptedCoins(BitCoins):
    """Gives the integers of a script, one per request, and remembers in `asked` how many bits each request wanted."""

    def __init__(self, script: Iterable[int]) -> None:
        self._script = iter(script)
        self.asked: list[int] = []

    def bits(self, count: int) -> int:
        for value in self._script:
            if not 0 <= value < 1 << count:
                raise ValueError("the script does not fit the request")
            self.asked.append(count)
            return value
        raise ScriptEnded(count)
