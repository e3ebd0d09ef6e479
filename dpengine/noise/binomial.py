"""Binomial noise: its exact privacy, the least amount of it, and its tails.

n people each send, beside their true bit, a coin that is 1 with probability p. The shuffled messages show the true sum
plus Z ~ Bin(n, p). One person changes the true sum by 1, so the privacy loss is that between Z and 1 + Z:

    δ(ε) = max( Σ_x [P(x) − e^ε·P(x−1)]₊ , Σ_x [P(x−1) − e^ε·P(x)]₊ ),

and if a person moves from one sum to another, each with its own noise, that between (1+Z_a, Z_b) and (Z_a, 1+Z_b):

    δ₂(ε) = Σ_(a,b) [P(a−1)·P(b) − e^ε·P(a)·P(b−1)]₊,

the same in both directions. With R(x) = P(x−1)/P(x) = x(1−p)/((n−x+1)p), which rises in x, the positive terms are those
with R(b) < R(a)·e^(−ε): for each a, all b up to some b*, so one pass with running sums of P suffices.

Numbers are decimals of 50 digits. We compute P from its mode outwards by P(x+1)/P(x), and cut it off below 10^−45 of
the mode; beyond, it falls at least geometrically, and we add the cut-off part to δ. So the computed δ is never too
small, and too large by less than 10^−40. Floats only guess where to search for p; the decimals decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpengine.core.exact import ceiling, exp_decimal, first_true, ln_above

HALF = Fraction(1, 2)
BITS = 40  # p is a multiple of 2^-40
_DIGITS = Context(prec=50)
_SMALL = Decimal(10) ** -45
_NEAR = 1e-8
_CUT = Decimal(10) ** -40  # more than the part that is cut off or rounded


@dataclass(frozen=True)
class Window:
    """P(first), P(first+1), … of Bin(n, p), and an upper bound on the probability that is cut off at both ends."""

    first: int
    chances: tuple[Decimal, ...]

    def at(self, x: int) -> Decimal:
        place = x - self.first
        return self.chances[place] if 0 <= place < len(self.chances) else Decimal(0)


@lru_cache(maxsize=64)
def window(n: int, p: Fraction) -> Window:
    if n < 1 or not 0 < p < 1:
        raise ValueError("binomial noise needs people and a probability between 0 and 1")
    odds = p / (1 - p)
    with localcontext(_DIGITS):
        top, bottom = Decimal(odds.numerator), Decimal(odds.denominator)
        mode = int((n + 1) * p)
        up, down = [Decimal(1)], [Decimal(1)]
        for x in range(mode, n):
            up.append(up[-1] * (n - x) * top / ((x + 1) * bottom))
            if up[-1] < _SMALL:
                break
        for x in range(mode, 0, -1):
            down.append(down[-1] * x * bottom / ((n - x + 1) * top))
            if down[-1] < _SMALL:
                break
        weights = [*reversed(down[1:]), *up]
        total = sum(weights, Decimal(0))
        return Window(mode - len(down) + 1, tuple(weight / total for weight in weights))


@lru_cache(maxsize=256)
def excess(n: int, p: Fraction, epsilon: Fraction) -> Decimal:
    """δ(ε), if a person is in one sum."""
    law = window(n, p)
    with localcontext(_DIGITS):
        factor = exp_decimal(epsilon)
        less = more = _CUT
        for x in range(law.first, law.first + len(law.chances) + 1):
            before, here = law.at(x - 1), law.at(x)
            less += max(here - factor * before, Decimal(0))
            more += max(before - factor * here, Decimal(0))
        return max(less, more)


@lru_cache(maxsize=256)
def excess_of_two(n: int, p: Fraction, epsilon: Fraction) -> Decimal:
    """δ₂(ε), if a person moves from one sum to another."""
    law = window(n, p)
    with localcontext(_DIGITS):
        factor = exp_decimal(epsilon)
        last = law.first + len(law.chances)
        total, reached = _CUT, law.first - 1
        below = Decimal(0)  # Σ P(b) for b ≤ reached
        for a in range(law.first, last + 1):
            # R(b) < R(a)/e^ε, written without division: b·(n−a+1)·e^ε < a·(n−b+1)
            while reached < last and (reached + 1) * (n - a + 1) * factor < a * (n - reached):
                reached += 1
                below += law.at(reached)
            total += law.at(a - 1) * below - factor * law.at(a) * (below - law.at(reached))
        return max(total, Decimal(0))


def _meets(n: int, p: Fraction, epsilon: Fraction, delta: Fraction, sums: int) -> bool:
    return Fraction((excess if sums == 1 else excess_of_two)(n, p, epsilon)) <= delta


@lru_cache(maxsize=256)
def least_chance(n: int, epsilon: Fraction, delta: Fraction, sums: int = 1) -> Fraction | None:
    """The least p ≤ ½, a multiple of 2^-40, with which one sum, or two, are (ε, δ)-DP; None if even ½ is too small."""
    if not _meets(n, HALF, epsilon, delta, sums):
        return None
    low, high = 0, 2 ** (BITS - 1)
    guess = _guess(n, float(epsilon), float(delta), sums) * 2**BITS
    below, over = max(int(guess * (1 - _NEAR)) - 1, low), min(int(guess * (1 + _NEAR)) + 2, high)
    if below and not _meets(n, Fraction(below, 2**BITS), epsilon, delta, sums):
        low = below
    if low < over and _meets(n, Fraction(over, 2**BITS), epsilon, delta, sums):
        high = over
    return Fraction(
        first_true(lambda p: _meets(n, Fraction(p, 2**BITS), epsilon, delta, sums), min(low + 1, high), high), 2**BITS
    )


def _guess(n: int, epsilon: float, delta: float, sums: int) -> float:
    """About the result of `least_chance`, in floating point."""
    low, high = 1 / (4 * n * 2**10), 0.5
    for _ in range(50):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if _about(n, middle, epsilon, sums) <= delta else (middle, high)
    return high


def _about(n: int, p: float, epsilon: float, sums: int) -> float:
    """`excess` or `excess_of_two` in floating point."""
    reach, mode = int(16 * (n * p * (1 - p)) ** 0.5) + 90, int((n + 1) * p)
    places = np.arange(max(mode - reach, 0), min(mode + reach, n) + 1, dtype=np.float64)
    steps = np.log((n - places[:-1]) / (places[1:]) * (p / (1 - p)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    chances = np.concatenate([[0.0], chances / chances.sum(), [0.0]])
    before, here, factor = chances[:-1], chances[1:], np.exp(epsilon)
    if sums == 1:
        return float(max(np.maximum(here - factor * before, 0).sum(), np.maximum(before - factor * here, 0).sum()))
    a = np.concatenate([places, [places[-1] + 1]])
    last = np.ceil(a * (n + 1) / (factor * (n - a + 1) + a)) - 1  # the largest b that counts
    sums_up = np.concatenate([[0.0], np.cumsum(here)])  # Σ P(b) for b below a place
    place = np.clip(last - places[0] + 1, 0, len(here)).astype(np.int64)
    before_that = np.clip(place - 1, 0, None)
    return float((before * sums_up[place] - factor * here * sums_up[before_that]).sum())


def lecture_chance(n: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The lecture's p = 48·ln(2/δ)/(ε²n), rounded up; this number may be larger than 1."""
    return Fraction(ceiling(48 * ln_above(2 / delta) / (epsilon * epsilon * n) * 2**BITS), 2**BITS)


def lecture_holds(n: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Is one sum (ε, δ)-DP with the lecture's p? A p below 1 is not enough: near 1 the noise vanishes."""
    p = lecture_chance(n, epsilon, delta)
    return epsilon <= 1 and p < 1 and _meets(n, p, epsilon, delta, sums=1)


@lru_cache(maxsize=256)
def least_people(epsilon: Fraction, delta: Fraction, sums: int = 1, most: int = 10**7) -> int | None:
    """The fewest people whose coins with p = ½ make one sum, or two, (ε, δ)-DP; None if even `most` people are too
    few."""
    if _about(most, 0.5, float(epsilon), sums) > 1.01 * float(delta):
        return None
    guess = first_true(lambda people: _about(people, 0.5, float(epsilon), sums) <= float(delta), 1, most)
    low, high = max(guess - 3, 0), guess + 2
    if low and _meets(low, HALF, epsilon, delta, sums):
        low = 0
    if not _meets(high, HALF, epsilon, delta, sums):
        low, high = high, 2 * most
    return first_true(lambda people: _meets(people, HALF, epsilon, delta, sums), low + 1, high)


@lru_cache(maxsize=1024)
def reach(n: int, p: Fraction, beta: Fraction) -> tuple[int, int]:
    """Two numbers (low, high): Z < low has chance at most β/2, and so has Z > high."""
    law = window(n, p)
    with localcontext(_DIGITS):
        wanted = Decimal(beta.numerator) / Decimal(beta.denominator) / 2 - _CUT
        low, tail = law.first, Decimal(0)
        for place, chance in enumerate(law.chances):
            tail += chance
            if tail > wanted:
                low = law.first + place
                break
        high, tail = law.first + len(law.chances) - 1, Decimal(0)
        for place in range(len(law.chances) - 1, -1, -1):
            tail += law.chances[place]
            if tail > wanted:
                high = law.first + place
                break
        return low, high


@lru_cache(maxsize=1024)
def rare(n: int, p: Fraction, beta: Fraction) -> int:
    """The least f with Pr[Bin(n, p) ≥ f] ≤ β."""
    law = window(n, p)
    with localcontext(_DIGITS):
        wanted = Decimal(beta.numerator) / Decimal(beta.denominator) - _CUT
        tail = Decimal(0)
        for place in range(len(law.chances) - 1, -1, -1):
            tail += law.chances[place]
            if tail > wanted:
                return law.first + place + 1
        return 0
