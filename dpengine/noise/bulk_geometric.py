"""Exact geometric variables in bulk, from uniform 64-bit words by inversion.

Statement   G with Pr[G=g] = (1−r)·r^g, r = exp(−1/scale), is a sum of independent digits, G = Σ_j d_j·B^j; digit j has
            Pr[d] ∝ r^(d·B^j): for 0 ≤ d < B below the top one, for every d ≥ 0 at the top. (r^g factors over
            the digits of g.) The difference of two independent ones has Pr[z] ∝ exp(−|z|/scale).
Draw        a digit is #{d : F_d ≤ x} for x uniform in [0, 1) and its distribution function F. A table holds
            ⌊F_d·2^64⌋ exactly. The first 64 bits u of x settle every comparison except those with ⌊F_d·2^64⌋ = u; for
            those we draw more bits and compute F_d to as many digits as needed. Nothing is rounded.
Work        one word and one search for each digit, whatever its value, except with probability B·2^−64 per digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpengine.core.exact import ceiling, floor
from dpengine.core.types import Integers

Words = npt.NDArray[np.uint64]

BASE = 256
WORD = 64


@dataclass(frozen=True)
class Digit:
    """Pr[d] ∝ exp(−d/scale), for d < BASE or, if it is the top one, for every d ≥ 0."""

    scale: Fraction
    top: bool

    def below(self, d: int, digits: int) -> tuple[Fraction, Fraction]:
        """Bounds around F_d, about 10^−digits apart."""
        if not self.top and d >= BASE - 1:
            return Fraction(1), Fraction(1)
        context = Context(prec=digits + 20)
        slack = Fraction(1, 10**digits)

        def power(times: int) -> Fraction:
            exponent = -times / self.scale
            if exponent < -3 * (digits + 20):  # e^−3 < 10^−1: below this precision
                return Fraction(0)
            ratio = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
            return Fraction(context.exp(ratio))  # off by less than (|exponent| + 1)·10^−(digits+18)

        near = (1 - power(d + 1)) / (1 if self.top else 1 - power(BASE))
        return near - slack, near + slack


@dataclass(frozen=True)
class GeometricTable:
    digit: Digit
    cuts: Words  # ⌊F_d·2^64⌋ for d = 0, 1, … until it is 2^64 − 1, or to the last F_d below 1


@lru_cache(maxsize=64)
def tables(scale: Fraction) -> tuple[GeometricTable, ...]:
    """The digits of a geometric variable, the lowest first; public, so they may be cached."""
    if scale <= 0:
        raise ValueError("a noise scale must be positive")
    lower, digit_scale = [], scale
    while BASE / digit_scale < WORD:  # then one table of BASE entries would not reach 2^−64
        lower.append(_table(Digit(digit_scale, top=False)))
        digit_scale /= BASE
    return (*lower, _table(Digit(digit_scale, top=True)))


def _table(digit: Digit) -> GeometricTable:
    cuts: list[int] = []
    for d in range(BASE if digit.top else BASE - 1):
        cuts.append(_cut(digit, d))
        if cuts[-1] == 2**WORD - 1:
            break
    return GeometricTable(digit, np.array(cuts, dtype=np.uint64))


def _cut(digit: Digit, d: int) -> int:
    """⌊F_d·2^64⌋, with more and more digits. F_d is irrational, so the loop ends."""
    precision = 40
    while True:
        low, high = (floor(bound * 2**WORD) for bound in digit.below(d, precision))
        if low == high:
            return low
        precision *= 2


def geometric(scale: Fraction, count: int, words: Callable[[int], Words]) -> Integers:
    """`count` independent draws; `words(k)` gives k uniform 64-bit words."""
    total = np.zeros(count, dtype=np.int64)
    for place, table in enumerate(tables(scale)):
        drawn = words(count)
        digits = np.searchsorted(table.cuts, drawn, side="left")
        at = np.minimum(digits, len(table.cuts) - 1)
        digits = digits.astype(np.int64)
        for row in np.flatnonzero(table.cuts[at] == drawn).tolist():
            digits[row] = _settled(table.digit, int(digits[row]), int(drawn[row]), words)
        total += digits * BASE**place
    return total


def _settled(digit: Digit, d: int, point: int, words: Callable[[int], Words]) -> int:
    """The digit at x ≥ F_(d−1) with the first bits `point`: draw more bits until no F_d separates the possible x."""
    width = WORD
    while True:
        point, width = point << WORD | int(words(1)[0]), width + WORD
        least, most = Fraction(point, 2**width), Fraction(point + 1, 2**width)
        while digit.below(d, width)[1] <= least:
            d += 1
        if most <= digit.below(d, width)[0] or (not digit.top and d == BASE - 1):
            return d


def dyadic_above(chance: Fraction, bits: int = 62) -> Fraction:
    """The least multiple of 2^−bits that is at least `chance`: words flip such a coin exactly."""
    return Fraction(ceiling(chance * 2**bits), 2**bits)
