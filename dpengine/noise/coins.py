"""All randomness comes from here: integers, drawn exactly from the requested distribution.

Additive noise comes from OpenDP's exact samplers. Noise for every row of a table comes from an equally exact inversion
in bulk (`geometric`). We draw selections here, because their running time must not reveal which score won: every
draw does the same array work and uses the same number of random bits, except with a probability below 2^-39 (for a
million blocks), when a comparison is too close for floats and exact arithmetic settles it.
"""

from __future__ import annotations

import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpengine.core.exact import ceiling, exp_decimal, float_above, floor, ln_above
from dpengine.core.types import Floats, Integers

Words = npt.NDArray[np.uint64]

BASE = 256
WORD = 64


@dataclass(frozen=True)
class Digit:
    """A digit of a geometric variable: Pr[d] ∝ exp(−d/scale), for d < BASE or, if it is the top one, every d ≥ 0."""

    scale: Fraction
    top: bool

    def below(self, d: int, digits: int) -> tuple[Fraction, Fraction]:
        """A lower and an upper bound on the distribution function F_d, about 10^−digits apart."""
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
    """⌊F_d·2^64⌋, computed with ever more digits until it is certain. F_d is irrational, so the loop ends."""
    precision = 40
    while True:
        low, high = (floor(bound * 2**WORD) for bound in digit.below(d, precision))
        if low == high:
            return low
        precision *= 2


def geometric(scale: Fraction, count: int, words: Callable[[int], Words]) -> Integers:
    """Exact geometric variables in bulk, from uniform 64-bit words by inversion.

    Statement   G with Pr[G=g] = (1−r)·r^g, r = exp(−1/scale), is a sum of independent digits, G = Σ_j d_j·B^j; digit j
                has Pr[d] ∝ r^(d·B^j): for 0 ≤ d < B below the top one, for every d ≥ 0 at the top. (r^g factors over
                the digits of g.) The difference of two independent ones has Pr[z] ∝ exp(−|z|/scale).
    Draw        a digit is #{d : F_d ≤ x} for x uniform in [0, 1) and its distribution function F. A table holds
                ⌊F_d·2^64⌋ exactly. The first 64 bits u of x settle every comparison except those with ⌊F_d·2^64⌋ = u;
                for those we draw more bits and compute F_d to as many digits as needed. Nothing is rounded.
    Work        one word and one search for each digit, whatever its value, except with probability B·2^−64 per digit.

    `count` independent draws; `words(k)` gives k uniform 64-bit words.
    """
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
    """The digit of x, which is at least F_(d−1) and begins with the bits `point`. We draw more bits of x until no F_d
    lies among the values that it may still have."""
    width = WORD
    while True:
        point, width = point << WORD | int(words(1)[0]), width + WORD
        least, most = Fraction(point, 2**width), Fraction(point + 1, 2**width)
        while digit.below(d, width)[1] <= least:
            d += 1
        if most <= digit.below(d, width)[0] or (not digit.top and d == BASE - 1):
            return d


def dyadic_above(chance: Fraction) -> Fraction:
    """The least multiple of 2^−62 that is at least `chance`: a coin of that chance is flipped exactly with words."""
    return Fraction(ceiling(chance * 2**62), 2**62)


_ROOM = 62  # selection weights add up to about 2^62, so that int64 adds them exactly
_SPARE = 64  # extra bits: a uniform integer is redrawn with probability below 2^-64
_CHUNK = 64  # bits per step of the exact comparison
_DIGIT = 11  # exp(-rate*gap) is a product over the gap's base-2048 digits: small tables stay in the processor's cache
_MARGIN = 2.0**-47  # above every relative rounding error of a float weight; `_envelope` says why
_MOST_CANDIDATES = 2**62
_LARGEST = 2**63 - 1


class Coins(ABC):
    """A source of uniform bits, and the laws built on it."""

    @abstractmethod
    def bits(self, count: int) -> int:
        """A uniform integer of `count` bits."""

    @abstractmethod
    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        """Each value plus independent noise with Pr[z] ∝ exp(-|z|/s), s = laplace_scale(scale) ≥ scale."""

    @abstractmethod
    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        """Each value plus independent noise with Pr[z] ∝ exp(-z²/(2s²)), s = gaussian_scale(sigma_squared)."""

    def below(self, bound: int, width: int | None = None) -> int:
        """A uniform integer in [0, bound), exactly; from `width` bits, if their number must not reveal the bound."""
        return self._below(bound, bound.bit_length() + _SPARE if width is None else width)

    def under(self, height: int, size: int, exponent: Fraction, shift: int = 0) -> bool:
        """Is height + U < size * 2^shift * exp(-exponent), for U uniform in [0, 1)? Decided exactly."""
        return self._under(height, size, exponent, shift)

    def words(self, count: int) -> Words:
        """Uniform 64-bit words."""
        return np.frombuffer(self.bits(WORD * count).to_bytes(WORD // 8 * count, "little"), dtype="<u8")

    def many_laplace(self, values: Integers, scale: Fraction) -> Integers:
        """`laplace` for millions of values, with exactly the requested scale."""
        count = len(values)
        return values + geometric(scale, count, self.words) - geometric(scale, count, self.words)

    def wide_gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        """`gaussian` for values that may need more than 64 bits: draw the noise alone, for which 64 bits are enough,
        then add it."""
        noise = self.gaussian([0] * len(values), sigma_squared)
        return [value + z for value, z in zip(values, noise, strict=True)]

    def respond(self, codes: Integers, mixed: Fraction, size: int) -> Integers:
        """Randomised response to every code: with probability `mixed` a uniformly random one of `size` codes, else the
        true one."""
        random = self.many_flips(mixed, len(codes))
        return np.where(random, self.many_below(size, len(codes)), codes)

    def toggle(self, bits: npt.NDArray[np.bool_], chance: Fraction) -> npt.NDArray[np.bool_]:
        """Every bit, flipped with this probability."""
        return bits ^ self.many_flips(chance, len(bits))

    def geometric(self, scale: Fraction) -> int:
        """One draw with Pr[g] ∝ exp(-g/scale), g ≥ 0."""
        return int(geometric(scale, 1, self.words)[0])

    def many_flips(self, chance: Fraction, count: int) -> npt.NDArray[np.bool_]:
        """`count` independent coins, each True with exactly this probability, a multiple of 2^-64."""
        edge = chance * 2**WORD
        if not 0 <= chance <= 1 or edge.denominator != 1:
            raise ValueError("a coin needs a probability that 64 bits can hold")
        if chance == 1:
            return np.ones(count, dtype=np.bool_)
        return self.words(count) < np.uint64(int(edge))

    def many_below(self, bound: int, count: int) -> Integers:
        """`count` uniform integers in [0, bound), bound below 2^32: each is a word's remainder. Words that would favour
        some remainders are drawn again (each with probability below 2^-32)."""
        if not 0 < bound < 2**32:
            raise ValueError("a bulk draw needs a bound between 1 and 2^32")
        fair = np.uint64(2**WORD - 1 - 2**WORD % bound)  # the last word of the last whole round
        drawn = self.words(count)
        while len(again := np.flatnonzero(drawn > fair)):
            drawn = drawn.copy()
            drawn[again] = self.words(len(again))
        return (drawn % np.uint64(bound)).astype(np.int64)

    def order(self, count: int) -> Integers:
        """A uniformly random permutation: the order of `count` random words, drawn again if two are equal."""
        while True:
            drawn = self.words(count)
            order = np.argsort(drawn)
            if count < 2 or (np.diff(drawn[order]) > 0).all():
                return order.astype(np.int64)

    def choose(self, gaps: Integers, sizes: Integers, rate: Fraction, most: int | None = None) -> tuple[int, int]:
        """The exponential mechanism over blocks of equally good candidates.

        Block i holds sizes[i] candidates, each gaps[i] below the best possible score. Returns (block, place in the
        block), each candidate with probability exactly exp(-rate*gap) / Σ sizes[j]*exp(-rate*gaps[j]). `most` is a
        public bound on the gaps, if there is one. The work depends on the number of blocks and of candidates, on `rate`
        and on `most`, and not on the gaps.

        Why it is exact: we draw a point uniformly under an envelope that gives each block an integer number of unit
        steps, at least its true weight, and keep it if it lies below the true weight. Kept points follow the true
        weights, whatever the envelope; the floats only shape the envelope and spare most comparisons.
        """
        gaps, sizes, total = _checked(gaps, sizes, rate, most)
        # Only differences of gaps matter; with the least at 0 the weights never all vanish.
        gaps = gaps - np.where(sizes > 0, gaps, _LARGEST).min()
        levels, tables = _layout(rate, total, most)
        steps, weights, shift = _envelope(gaps, sizes, levels, tables)
        edges = np.cumsum(steps)
        while True:
            point = self._below(int(edges[-1]), _ROOM + 1 + _SPARE)
            block = int(np.searchsorted(edges, np.int64(point), side="right"))
            size, gap = int(sizes[block]), int(gaps[block])
            height = point - int(edges[block]) + int(steps[block])
            surely = int(float(weights[block]) * (1 - _MARGIN))
            if height < surely or self._under(height, size, rate * gap, shift):
                return block, self._below(size, total.bit_length() + _SPARE)

    def flip(self, gaps: Integers, rate: Fraction, most: int | None = None) -> int:
        """Permute-and-flip (McKenna and Sheldon 2020): in a random order each candidate flips a coin that comes up
        with probability exp(-rate*gap), and the first that comes up is chosen. The best candidate's always comes up.

        We flip all coins at once and choose uniformly among those that came up. That is the same law, because the first
        of them in a random order is each of them with equal probability. The work is the same on every table, except
        with a probability below 2^-25 (for a million candidates), when a flip is too close for floats.
        """
        gaps, _, total = _checked(gaps, np.ones(len(gaps), dtype=np.int64), rate, most)
        gaps = gaps - gaps.min()
        levels, tables = _layout(rate, total, most)
        drawn = self.bits(64 * total).to_bytes(8 * total, "little")
        points = (np.frombuffer(drawn, dtype="<u8") >> np.uint64(64 - _ROOM)).astype(np.int64)
        chances = _powers(gaps, levels, tables)
        chances *= 2.0**_ROOM
        came_up = points < (chances * (1 - _MARGIN)).astype(np.int64)
        unsure = ~came_up & (points <= (chances * (1 + _MARGIN)).astype(np.int64))
        for place in np.flatnonzero(unsure).tolist():
            came_up[place] = self._under(int(points[place]), 1, rate * int(gaps[place]), _ROOM)
        reached = np.cumsum(came_up)  # as long whatever came up
        place = self._below(int(reached[-1]), total.bit_length() + _SPARE)
        return int(np.searchsorted(reached, np.int64(place), side="right"))

    def _below(self, bound: int, width: int) -> int:
        """A uniform integer in [0, bound) from `width` bits, so that the number of bits used can be public: the 2^width
        values fall into `bound` equal intervals, and those left over are redrawn."""
        if not 0 < bound <= 1 << width:
            raise ValueError("a uniform draw needs a positive bound that its bits can reach")
        surplus = (1 << width) % bound
        while True:
            drawn, place = divmod(self.bits(width) * bound, 1 << width)
            if place >= surplus:
                return drawn

    def _under(self, height: int, size: int, exponent: Fraction, shift: int) -> bool:
        """Is height + U < size * 2^shift * exp(-exponent), for U uniform in [0, 1)? Decided exactly.

        Draw bits of U until the comparison is decided. A positive rational exponent makes the right side irrational and
        0 makes it a dyadic number, so the loop ends with probability 1.
        """
        drawn, width = 0, 0
        while True:
            drawn, width = drawn << _CHUNK | self.bits(_CHUNK), width + _CHUNK
            point = (height << width) + drawn
            least, greatest = _weight_bounds(size, exponent, shift + width)
            if point + 1 <= least:
                return True
            if point >= greatest:
                return False


class SystemCoins(Coins):
    """The coins of releases: the operating system's randomness, and OpenDP's samplers with their own secure
    generator."""

    def bits(self, count: int) -> int:
        return secrets.randbits(count)

    def words(self, count: int) -> Words:
        return np.frombuffer(secrets.token_bytes(WORD // 8 * count), dtype="<u8")

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return _opendp("laplace", laplace_scale(scale))(np.array(values, dtype=np.int64))

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return _opendp("gaussian", gaussian_scale(sigma_squared))(np.array(values, dtype=np.int64))


def laplace_scale(scale: Fraction) -> float:
    """The scale that OpenDP's sampler gets: the least float that is at least `scale`, so that no loss exceeds the
    stated one."""
    if scale <= 0:
        raise ValueError("a noise scale must be positive")
    return float_above(scale)


def gaussian_scale(sigma_squared: Fraction) -> float:
    """The scale that OpenDP's sampler gets: the least float whose exact square is at least `sigma_squared`."""
    if sigma_squared <= 0:
        raise ValueError("a noise scale must be positive")
    near = math.sqrt(float_above(sigma_squared))  # at most a step off
    while Fraction(near) ** 2 < sigma_squared:
        near = math.nextafter(near, math.inf)
    while Fraction(math.nextafter(near, 0)) ** 2 >= sigma_squared:
        near = math.nextafter(near, 0)
    return near


def get_ready() -> None:
    """Import OpenDP now, and not when the first question waits for it: that takes a tenth of a second."""
    _opendp("laplace", 1.0)


@lru_cache(maxsize=64)
def _opendp(law: str, scale: float) -> Callable[[Integers], list[int]]:
    """OpenDP's sampler, as a function that adds noise to integers. The submodules imported here load in a tenth of the
    time and memory of opendp.prelude. The type is always i64: OpenDP's "int" means i32 and saturates silently at
    2147483647."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian, make_laplace
    from opendp.metrics import l1_distance, l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = vector_domain(atom_domain(T="i64"))
    if law == "laplace":
        return make_laplace(domain, l1_distance(T="i64"), scale=scale)
    return make_gaussian(domain, l2_distance(T="f64"), scale=scale)


def _checked(gaps: Integers, sizes: Integers, rate: Fraction, most: int | None) -> tuple[Integers, Integers, int]:
    """The arrays as int64, and the number of candidates. An error raised here is a programming error and names no
    value."""
    gaps, sizes = np.asarray(gaps), np.asarray(sizes)
    if gaps.ndim != 1 or gaps.shape != sizes.shape or gaps.dtype.kind not in "iu" or sizes.dtype.kind not in "iu":
        raise ValueError("gaps and sizes must be two integer arrays of one length")
    gaps, sizes = gaps.astype(np.int64, copy=False), sizes.astype(np.int64, copy=False)
    if rate <= 0 or (most is not None and most < 0):
        raise ValueError("the rate must be positive and the bound on the gaps not negative")
    if len(gaps) == 0 or gaps.min() < 0 or sizes.min() < 0:
        raise ValueError("gaps and sizes must be given and not negative")
    # The float sum is within a part in 2^20 of the true one: below 2^62 it proves that the int64 sum did not wrap.
    if float(sizes.sum(dtype=np.float64)) >= _MOST_CANDIDATES or (total := int(sizes.sum())) == 0:
        raise ValueError("the number of candidates must be between 1 and 2^62")
    if most is not None and np.where(sizes > 0, gaps, 0).max() > most:
        raise ValueError("a gap is beyond its public bound")
    return gaps, sizes, total


@lru_cache(maxsize=64)
def _layout(rate: Fraction, total: int, most: int | None) -> tuple[int, tuple[Floats, ...]]:
    """The largest gap before the tail, and tables t_d with exp(-rate*g) = Π t_d[digit d of g] for g up to it.

    Larger gaps are one tail: even all candidates together would weigh less there than 2^-64 of one at gap 0. The
    entries are powers of exp(-rate) in 60 digits, rounded once to floats. All of it is public, so it may be cached.
    """
    levels = ceiling((ln_above(Fraction(total)) + 64 * ln_above(Fraction(2))) / rate)
    levels = min(levels, _LARGEST if most is None else most)
    context, base, rest = Context(prec=60), exp_decimal(-rate), levels
    tables: list[Floats] = []
    while rest or not tables:
        power, table = Decimal(1), np.empty(min(rest, (1 << _DIGIT) - 1) + 1)
        for digit in range(len(table)):
            table[digit] = float(power)
            power = context.multiply(power, base)
        tables.append(table)
        base, rest = power, rest >> _DIGIT
    return levels, tuple(tables)


def _envelope(gaps: Integers, sizes: Integers, levels: int, tables: tuple[Floats, ...]) -> tuple[Integers, Floats, int]:
    """Unit steps per block, at least sizes * 2^shift * exp(-rate*gaps); that weight in floats; and the shift.

    The float weight is a product of at most 7 correctly rounded numbers (there are at most 6 tables) with 6 roundings,
    so it is within 14 * 2^-53 < _MARGIN/4 of the truth, relatively; scaling by 2^shift is exact and the last product
    adds 2^-53. Gaps in the tail get the weight of its nearest gap: more than theirs, and less than the one step that
    every block with candidates gets, so nothing there is kept without the exact comparison. The same holds where a
    float underflows.
    """
    weights = _powers(gaps, levels, tables)
    weights *= sizes
    shift = _ROOM - math.frexp(float(weights.sum()))[1]
    weights *= 2.0**shift
    steps = (weights * (1 + _MARGIN)).astype(np.int64)
    steps += sizes > 0
    return steps, weights, shift


def _powers(gaps: Integers, levels: int, tables: tuple[Floats, ...]) -> Floats:
    """exp(-rate*gap) for each gap, as a product of table entries; gaps above `levels` count as `levels`."""
    capped = np.minimum(gaps, levels)
    np.maximum(capped, 0, out=capped)  # an empty block may lie above the best block with candidates
    powers = np.ones(len(gaps))
    for place, table in enumerate(tables):
        digits = capped >> (_DIGIT * place)
        if place + 1 < len(tables):
            digits &= (1 << _DIGIT) - 1
        powers *= table.take(digits)
    return powers


def _weight_bounds(size: int, exponent: Fraction, shift: int) -> tuple[int, int]:
    """Integers on both sides of size * 2^shift * exp(-exponent): the nearest ones, except for a part in 10^30."""
    if exponent == 0:
        exact = Fraction(size) * Fraction(2) ** shift
        return floor(exact), ceiling(exact)
    reach = size.bit_length() + max(shift, 0)
    if exponent > reach:  # then exp(-exponent) < 2^-reach, and the weight is less than one
        return 0, 1
    # Rounding the exponent and the power, each by at most 5 parts in 10^digits, stays within the slack.
    digits = reach // 3 + 40
    context = Context(prec=digits)
    power = Fraction(context.exp(context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))))
    scale = size * Fraction(2) ** shift
    slack = power * Fraction(10 * (reach + 2), 10**digits)
    return max(0, floor((power - slack) * scale)), ceiling((power + slack) * scale)
