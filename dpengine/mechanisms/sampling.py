"""Ranges for the larger group that a table's people are a random sample of: figures in, figures out, no data.

Assumption  Every function: the n people were drawn independently from one population, a row a person, and the question
            was chosen without looking at them. `moved` is for questions chosen after other releases (the end).
Noise       integers with a known law (`mechanisms.noise`), drawn independently of the table.
Floats      Tails are sums of positive floats over a window that leaves out less than 10^-13; SPARE covers that and the
            rounding, so a range is a hair wider than the exact one, never narrower.

**Share, n public** (`share_of_all`). h = H + Z, H ~ Bin(n, p). p is out of the range if P(H + Z ≥ h) ≤ β/2 or P(H + Z ≤
h) ≤ β/2 under p: Clopper and Pearson's range (1934) with the exact law of H + Z. *Proof.* For the true p, a tail of a
discrete variable at its own value is ≤ β/2 with chance ≤ β/2. Both tails are monotone in p, as Bin(n, p) rises with p,
so what is kept is an interval and bisection finds it, from the outside. ∎

**Share, n private** (`share_among`). h = H + Z₁ and m = M + Z₂ are drawn; N = H + M people count, and given N, H ~
Bin(N, p). Test p by h − p(h+m) = B + W, B = H − pN, W = (1−p)Z₁ − pZ₂. (1) but for β/10 |N − (h+m)| ≤ r, from the law
of Z₁ + Z₂. (2) p is out, on the one side, if P(B + W ≥ t) ≤ 9β/20 for *every* such N, t = h − p(h+m); likewise on the
other, with hits and misses exchanged. Neighbouring N are treated together: for a ≤ N ≤ a+w, B_N − B_a ≤ (1−p)w, so the
tail for N at t is at most the tail for a at t − (1−p)w. (3) Several p together: let D = N + Z₁ + Z₂ − (h+m), |D| ≤ R
but for 10^-9. For p in [u, v] the event H + Z₁ − h ≥ pD under p implies, H growing with p, H + Z₁ − h ≥ vD − (v−u)R
under v; so the tail at t − (v−u)R under v bounds all of them. Such cells cover everything beyond the range's end. ∎

**Mean of values in [0, 1]** (`mean_of_all`). s = Σx + Z and n public, or s and N are drawn. Test μ by Σ(x − μ) + W ≥ t,
W the noise of s − μN. (1) N ≤ N₊ but for a part of β. (2) Among all laws of x in [0, 1] with mean μ, zeros and ones
have the largest E f(Σx) for convex f (Hoeffding 1963), and E f(Bin(N, μ) − Nμ) grows with N; so by Markov's inequality,
for every c < y, P(Σ(x − μ) ≥ y) ≤ E(Bin(N₊, μ) − N₊μ − c)₊/(y − c): at most e times the binomial tail (Bentkus 2004).
(3) Given W that bounds the tail of the sum, and W is averaged over with its own law: no union bound between sampling
and noise. (4) Several μ together as in (3) above, for Bin(N, μ) grows with μ in the same order. It needs no spread, and
is wider than need be where values lie close together. ∎

**Mean, with squares drawn too** (`mean_of_moments`). (1) Cells of one public width cover [0, 1]; let c be the middle of
the cell that μ is in. But for β/10, V ≤ E(x − c)² ≤ v: one side of the range of a mean, as (x − c)²/b, b = max(c,
1−c)², lies in [0, 1]. (2) X = x − μ ≤ a = 1 − μ has mean 0 and EX² ≤ v. Let T be a or −v/a with mean 0. For f(x) =
(x − k)₊² E f(X) ≤ E f(T): if k ≤ −v/a, f(x) ≤ (x − k)², whose mean is at most v + k². Else f(x) ≤ g(x) = (x + v/a)²·
((a−k)/(a + v/a))² for x ≤ a, with equality at −v/a and a, and E g(X) ≤ E g(T). One after another the n people are
replaced by such T, so for every k < y P(Σ(x − μ) ≥ y) ≤ E(ΣT − k)₊²/(y − k)² (Bentkus 2004), which grows with v, a and
n. ΣT is a binomial. Noise as in (3) above. (3) All μ in [u, w] together: the test at w with a = 1 − u and the largest
v. v is never more than μ(1−μ), so farther cells are out where they are out with that. (4) β: a tenth for v, the rest
for μ. The same test at every μ, whatever was drawn: nothing is chosen after the draw. It is Maurer and Pontil's idea
(2009, Thm 4) with exact tails; `python -m bench.population` has both widths, and the width without squares. ∎

**Spread of values in [0, 1]** (`spread_of_all`). V = E(x − μ)². (1) But for β/5, μ is in the range of `mean_of_all`.
(2) Cells of one public width 2d cover [0, 1]; let c be the middle of the cell that μ is in: it depends on the
population alone. (x − c)²/b, b = max(c, 1−c)², lies in [0, 1], so its mean has a range by `mean_of_all` but for 4β/5,
and E(x − c)² = V + (μ − c)² is between V and V + d². (3) μ's cell is not known, but it is one of those that the range
of (1) meets: the hull over them holds V. Where V is small that range is as narrow as a binomial's with a small share.
Maurer and Pontil's (2009, Thm 10: √V within √(2·ln(2/β)/(n−1)) of the table's, without noise) is twice as wide where
tests compare them, at a thousand people; so it is not offered, and nothing is chosen after the draw. ∎

**Percentile** (`ranks_around`, `ranks_off`). Let k₋ be the largest k with P(Bin(n, q) ≤ k−1) ≤ b and k₊ the least with
P(Bin(n, q) ≥ k) ≤ b. But for 2b, the k₋-th smallest of n values is at most, and the k₊-th at least, Q = inf{x: F(x) ≥
q}: #{x ≤ Q} is at least Bin(n, q) in law and #{x < Q} at most, with ties too. A private range for the ranks k₋ … k₊
covers Q.

**Percentile, n private** (`ranks_by_line`). How many people have a value is secret, so the ranks must not be computed
from it: a lower end aims at the share q − a of them, less b ranks, a and b public. It misses Q only if Bin(N, q) ≤
(q−a)N − b. *For every N* that has chance ≤ Φ(−z): (1) P(Bin(N, q) ≤ k) ≤ Φ(−√(2N·kl((k+1)/N‖q))) for k+1 < qN (Zubkov
and Serov 2013). (2) Let θ > 0 with ln(1 − q + qe^−θ) + θ(q−a) ≤ 0. Then N·kl(x/N‖q) ≥ −θx − N·ln(1 − q + qe^−θ) ≥
θ((q−a)N − x), so with x = (q−a)N − b + 1 it is enough that θ(b−1) ≥ z²/2. The line touches the curve of the exact ranks
near a guessed number of people and lies outside it elsewhere: a wrong guess costs width (a quarter for four times as
many or as few people), not coverage. Upper ends: values turned around, 1−q for q. So a condition, groups and empty
cells need no count either, and nothing more is paid. ∎

**Most common values** (`pairs_off`). All shares of the sample are within t of the population's but for 2d·exp(−2nt²), d
the number of values (Hoeffding 1963, Thm 2). Then differences of two shares, and of a share and the i-th largest share,
are within 2t: the i-th largest moves no more than all shares do. For two values, better: the two ordered differences
are means of n values in [−1, 1], each off by 2t or more with chance at most exp(−2nt²).

**After other releases** (S7.1). The rows were looked at before the question was chosen. `population/validity.shift`:
given everything released, row x_i has a law within TV_i of the population's, and the mean TV is at most `moved` but for
a part of β. So given the rows before it x_i has a mean μ_i ≤ μ + TV_i, Π e^(θx_i)/(1 − μ_i + μ_i·e^θ) is a
supermartingale, and as ln(1 − m + me^θ) is concave in m, P(Σx ≥ y) ≤ min over θ of (1 − μ' + μ'e^θ)^n·e^(−θy) =
exp(−n·kl(y/n‖μ')), μ' = μ + `moved`: in place of (2) above. Noise is fresh. A share is a mean of zeros and ones. n must
be everybody, or an upper bound. ∎
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from statistics import NormalDist

import numpy as np

from dpengine.core.exact import first_true, float_above, halved
from dpengine.core.types import Floats, Json
from dpengine.mechanisms.noise import Added, GaussianNoise

Range = tuple[float, float]
Factor = Callable[[float], float]
Noises = list[tuple[Added, Factor, int]]  # a noise, its factor for a tested mean, and how many there are of it
EVERYTHING: Range = (0.0, 1.0)
SPARE = 1e-11
_WIDEST = 10**6  # noise that reaches farther has no window, and nothing is claimed
_ANCHORS = 64  # at most this many numbers of people are tested; each stands for those up to the next
_MOST_EXACT = 12  # if `misses` adds up more numbers, `part` tests a mean
_STEPS = 8  # of a bisection: to 1/256 of about two standard deviations
_MOST_STEPS = 6_000  # places on each side of 0 in a law that is tabled often; longer laws get larger steps
_MOST_CELLS = 80
_MOST_MEANS = 16  # for a spread, at most this many cells of the mean are tested
_COARSE, _PLACES = 4, 400  # of a grid with 200 places to a standard deviation, every fourth is tabled
_N_SHARE = Fraction(1, 10)  # of β, for the number of people
_V_SHARE = Fraction(1, 10)  # of β, for the spread that a mean's range uses


class NoiseWindow:
    """The law of integer noise on −reach … reach; less than 10^-13 lies outside."""

    def __init__(self, chances: Floats) -> None:
        self.chances, self.reach = chances, len(chances) // 2

    @cached_property
    def variance(self) -> float:
        return _sum_of(self.chances, np.arange(-self.reach, self.reach + 1.0) ** 2)

    @cached_property
    def _above(self) -> Floats:
        """P(Z ≥ place − reach)."""
        return np.concatenate((np.cumsum(self.chances[::-1])[::-1], [0.0]))

    def at_least(self, value: Floats) -> Floats:
        """P(Z ≥ value), for whole numbers."""
        above: Floats = self._above[np.clip(value.astype(np.int64) + self.reach, 0, len(self.chances))]
        return above

    def plus(self, other: NoiseWindow, trim: bool = True) -> NoiseWindow:
        size = len(self.chances) + len(other.chances) - 1
        points = 1 << (size - 1).bit_length()
        both = np.fft.irfft(np.fft.rfft(self.chances, points) * np.fft.rfft(other.chances, points), points)[:size]
        both = np.maximum(both, 0.0)
        return NoiseWindow(_trimmed(both) if trim else both)

    def times(self, many: int) -> NoiseWindow:
        """The law of the sum of `many` independent noises with this law."""
        if many == 1:
            return self
        half = self.times(many // 2)
        return half.plus(half).plus(self) if many % 2 else half.plus(half)

    def beyond(self, beta: float) -> int:
        """The least r with P(|Z| > r) ≤ β."""
        tail = 2 * self._above[self.reach + 1 :] + SPARE
        return int(np.argmax(tail <= beta)) if (tail <= beta).any() else self.reach + 1


def _sum_of(one: Floats, other: Floats) -> float:
    """Σ one·other. It is no dot product: those of long arrays would wait for threads."""
    return float((one * other).sum())


def _trimmed(chances: Floats) -> Floats:
    """Drops the outermost places, which hold less than 10^-15 at each end."""
    middle = len(chances) // 2
    kept = int(np.searchsorted(np.cumsum(chances[:middle]), 1e-15))
    return chances[kept : len(chances) - kept]


@lru_cache(maxsize=64)
def window(noise: Added) -> NoiseWindow | None:
    """The law of this noise; None if it reaches too far."""
    size = float_above(noise.size)
    wide = 8.5 * size**0.5 + 3 if isinstance(noise, GaussianNoise) else 33 * size + 2
    if wide > _WIDEST:
        return None
    z = np.arange(-int(wide), int(wide) + 1, dtype=np.float64)
    weights = np.exp(-(z**2) / (2 * size)) if isinstance(noise, GaussianNoise) else np.exp(-np.abs(z) / size)
    return NoiseWindow(weights / weights.sum())


@lru_cache(maxsize=1024)
def binomial(n: int, p: float) -> tuple[int, Floats]:
    """The first place of a window, and the law of Bin(n, p) on it; less than 10^-13 lies outside."""
    if n == 0 or p <= 0 or p >= 1:
        return (0 if p <= 0 else n), np.ones(1)
    off = 8.2 * (n * p * (1 - p)) ** 0.5 + 40
    first, last = max(int(n * p - off), 0), min(int(n * p + off) + 1, n)
    k = np.arange(first, last, dtype=np.float64)
    logs = np.concatenate(([0.0], np.cumsum(np.log((n - k) / (k + 1)) + np.log(p) - np.log1p(-p))))
    weights = np.exp(logs - logs.max())
    return first, weights / weights.sum()


# What questions use


def share(hits: int, people: int, noise: Added, beta: Fraction, moved: Fraction) -> Range:
    """The range of a share of everybody. `moved`: see “After other releases” above."""
    if not moved:
        return share_of_all(hits, people, noise, beta)
    return mean_of_all(hits, people, [(noise, lambda mean: 1.0, 1)], beta, moved)


def part(hits: int, misses: int, first: Added, rest: Added, beta: Fraction, moved: Fraction, many: int = 1) -> Range:
    """The range of the share hits/(hits + misses), both drawn. `misses` is the sum of `many` numbers, each with the
    noise `rest`. If there are many, or after other releases, we test a mean instead, which is quicker and wider."""
    if not moved and many <= _MOST_EXACT:
        return share_among(hits, misses, first, rest, beta, many)
    law = window(rest)
    own = window(first)
    if law is None or own is None or hits + misses <= 0:
        return EVERYTHING
    total = hits + misses
    off = own.beyond(float(beta * _N_SHARE) / 2) + law.beyond(float(beta * _N_SHARE) / (2 * many)) * many
    noises: Noises = [(first, lambda mean: 1 - mean, 1), (rest, lambda mean: -mean, many)]
    return mean_of_all(hits, total, noises, beta * (1 - _N_SHARE), moved, off)


def percent(ends: Range) -> Range:
    """The range in percent, rounded outwards to 10^-6."""
    low, high = (100 * end for end in ends)
    return max(np.floor(low * 1e6) / 1e6, 0.0), min(np.ceil(high * 1e6) / 1e6, 100.0)


def as_answer(labels: list[str], ranges: list[Range]) -> Json:
    """The ranges in the shape of an answer: one range, or one for each label."""
    pairs = [[float(low), float(high)] for low, high in ranges]
    return dict(zip(labels, pairs, strict=True)) if labels else pairs[0]


# A share of everybody, n public


def share_of_all(hits: int, n: int, noise: Added, beta: Fraction) -> Range:
    law = window(noise)
    if law is None or n < 1:
        return EVERYTHING
    wanted = float(beta) / 2 - SPARE

    def least(h: int) -> float:
        def tail(p: float) -> float:
            first, chances = binomial(n, p)
            k = np.arange(first, first + len(chances), dtype=np.float64)
            return _sum_of(chances, law.at_least(h - k))

        return share_up_to(lambda p: tail(p) <= wanted)

    return least(hits), 1 - least(n - hits)


def share_up_to(out: Callable[[float], bool]) -> float:
    """The largest share up to which `out` holds, approached from below; 0 if it holds nowhere. `out` is monotone."""
    return halved(out, 0.0, 1.0, 40)[0] if out(0.0) else 0.0


# A share where the number of people is noisy too


def share_among(hits: int, misses: int, first: Added, rest: Added, beta: Fraction, many: int = 1) -> Range:
    """The range of the share hits/(hits + misses). `misses` adds up `many` numbers, each with the noise `rest`."""
    laws = _laws_of_both(first, rest, many)
    if laws is None or hits + misses <= 0:
        return EVERYTHING
    one, other, both = laws
    total, off = hits + misses, both.beyond(float(beta * _N_SHARE))
    people = range(max(total - off, 0), max(total + off, 0) + 1)
    far = off + both.beyond(1e-9)
    low = _Among(hits, total, one, other, people, far, beta).least()
    high = 1 - _Among(misses, total, other, one, people, far, beta).least()
    return (low, high) if low <= high else EVERYTHING


@lru_cache(maxsize=64)
def _laws_of_both(first: Added, rest: Added, many: int) -> tuple[NoiseWindow, NoiseWindow, NoiseWindow] | None:
    """The laws of the noise in the hits, the misses and their sum; None if one reaches too far."""
    one, other = window(first), window(rest)
    if one is None or other is None or other.reach * many > _WIDEST:
        return None
    other = other.times(many)
    return one, other, one.plus(other)


class _Side(ABC):
    """Finds the lower end of a range. Values below it are out: the test rejects them."""

    guess: float  # the estimate
    rough: float  # about its standard deviation

    @abstractmethod
    def out(self, u: float, v: float) -> bool:
        """Does the test reject all of [u, v]?"""

    def least(self) -> float:
        """The lower end: a bisection finds where values are out, then cells show that all below are out too."""
        low, high, wide = self.guess - 2 * self.rough, self.guess, 2 * self.rough
        while low > 0 and not self.out(low, low):
            low, high, wide = low - wide, low, 2 * wide
        if low <= 0 and not self.out(0.0, 0.0):
            return 0.0
        low, _ = halved(lambda u: self.out(u, u), max(low, 0.0), high, _STEPS)
        return self._covered(low)

    def _covered(self, end: float) -> float:
        """The largest number, up to `end`, with cells that are out all the way below it; 0 if that takes too many."""
        top, wide = end, end if self.out(0.0, end) else end / 64
        for _ in range(_MOST_CELLS):
            bottom = max(top - wide, 0.0)
            if top <= 0 or (bottom == 0 and self.out(bottom, top)):
                return end
            if bottom and self.out(bottom, top):
                top, wide = bottom, 2 * wide
            elif wide > end * 1e-4:
                wide /= 4
            else:  # the cell that is not out becomes part of the range
                end = top = bottom
                wide = end / 64
        return 0.0


class _Among(_Side):
    """One side of `share_among`."""

    def __init__(
        self, hits: int, total: int, one: NoiseWindow, other: NoiseWindow, people: range, far: int, beta: Fraction
    ) -> None:
        self.hits, self.total, self.one, self.other, self.people, self.far = hits, total, one, other, people, far
        self.wanted = float(beta * (1 - _N_SHARE)) / 2 - 1e-9 - SPARE
        self.block = -(-len(people) // _ANCHORS)
        self.guess = min(max(hits / total, 0.0), 1.0)
        self.rough = (self.guess * (1 - self.guess) * total + one.variance + 1) ** 0.5 / total

    def out(self, u: float, v: float) -> bool:
        if v <= 0:
            return bool(self.one.at_least(np.array([self.hits]))[0] <= self.wanted)
        if v >= 1:
            return False
        t = self.hits - v * self.total - (v - u) * self.far - (1 - v) * (self.block - 1)
        grain, noise = self._noise(v)
        middle = len(noise) // 2
        for n in reversed(self.people[:: self.block]):
            first, chances = binomial(n, v)
            # W is needed from t + vN − k on, each place rounded down: its tail is never too small
            at = np.floor((t + v * n - first - np.arange(len(chances))) / grain).astype(np.int64) + middle
            if _sum_of(chances, noise[np.clip(at, 0, len(noise) - 1)]) > self.wanted:
                return False
        return True

    def _noise(self, v: float) -> tuple[float, Floats]:
        """The step of a grid around 0, and P(W ≥ place) for its places."""
        spread = v * (1 - v) * len(self.people) / 4 + (1 - v) ** 2 * self.one.variance + v**2 * self.other.variance
        grain = max((spread + v * (1 - v) * self.people[len(self.people) // 2]) ** 0.5 / 400, 1 / 64)
        grain = _table_grain(grain)
        return grain, _tails_on_grid(self.one, self.other, v, grain)


@lru_cache(maxsize=16)
def _tails_on_grid(one: NoiseWindow, other: NoiseWindow, v: float, grain: float) -> Floats:
    """P(W ≥ place), W = (1−v)Z₁ − vZ₂, both parts rounded up to the grid. The last place stands for all beyond it."""
    both = NoiseWindow(_added(_on_grid(one, 1 - v, grain), _on_grid(other, v, grain)))
    above = np.concatenate((np.cumsum(both.chances[::-1])[::-1], [0.0, 0.0]))
    return above[: 2 * both.reach + 2]


# A mean of values in [0, 1]


@dataclass(frozen=True)
class SampledMoments:
    """For values y in ±h: the drawn N, Σy and Σy² (`drawn`), and what a unit of each drawn number adds to these three
    (`adds`). x = (y + h)/2h lies in [0, 1]."""

    half: int
    drawn: tuple[float, float, float]
    adds: tuple[tuple[float, float, float], ...]
    added: tuple[Added, ...]

    def total(self) -> tuple[float, Noises]:
        """The drawn Σx, and the noises in Σx − w·N, with which a mean w is tested."""
        return self._summed(lambda n, s, squares: s / (2 * self.half) + n / 2)

    def around(self, c: float) -> tuple[float, Noises]:
        """`total` for (x − c)² in place of x, where x − c = (y − at)/2h."""
        at, whole = self.half * (2 * c - 1), 4 * self.half**2
        return self._summed(lambda n, s, squares: (squares - 2 * at * s + at * at * n) / whole)

    def _summed(self, of: Callable[[float, float, float], float]) -> tuple[float, Noises]:
        noises: Noises = [
            (noise, lambda w, a=one: of(*a) - w * a[0], 1)  # type: ignore[misc]
            for noise, one in zip(self.added, self.adds, strict=True)
        ]
        return of(*self.drawn), noises

    def off(self, beta: Fraction) -> float:
        """How far the noise may move N, except with probability β."""
        return self._reach([n for n, _, _ in self.adds], beta)

    def cell(self, people: float, beta: Fraction) -> float:
        """The width of a cell of the mean: about a quarter of its range among `people`. Public, a power of two."""
        people, reach = max(people, 1.0), self._reach([s / (2 * self.half) for _, s, _ in self.adds], beta)
        return float(2.0 ** min(math.ceil(math.log2((1.5 / math.sqrt(people) + reach / people) / 2)), 0))

    def _reach(self, factors: list[float], beta: Fraction) -> float:
        own = [(noise, factor) for noise, factor in zip(self.added, factors, strict=True) if factor]
        if not own:
            return 0.0
        noises, kept = zip(*own, strict=True)
        return float(noises[0].line_reaches(noises, np.array([kept]), 1, beta)[0])


def mean_of_all(
    total: float,
    people: float,
    noises: Noises,
    beta: Fraction,
    moved: Fraction = Fraction(0),
    off: float = 0.0,
    squares: Squares | None = None,
) -> Range:
    """The range of the mean μ of x. `total` estimates Σx, `people` N up to `off`; `noises` are those in Σx − μN."""
    laws = _laws_for_means(noises)
    if people <= 0 or laws is None:
        return EVERYTHING

    def least(place: float, flip: bool) -> float:
        if squares is None or moved:
            return _Mean(place, people, laws, beta, float_above(moved), off, flip).least()
        return _MeanOfSpread(place, people, laws, beta * (1 - _V_SHARE), 0.0, off, flip, squares).least()

    low, high = least(total, False), 1 - least(people - total, True)
    return (low, high) if low <= high else EVERYTHING


def mean_of_moments(moments: SampledMoments, beta: Fraction, about: float, off: float = 0.0) -> Range:
    """`mean_of_all` with squares drawn too, which narrow the range; there are `about` this many people."""
    people, (total, noises) = moments.drawn[0], moments.total()
    squares = Squares(moments, off, beta * _V_SHARE, moments.cell(about, beta))
    return mean_of_all(total, people, noises, beta, off=off, squares=squares)


def _laws_for_means(noises: Noises) -> list[tuple[NoiseWindow, Factor]] | None:
    laws = [_law_for_means(noise, factor, many) for noise, factor, many in noises if many]
    known = [law for law in laws if law is not None]
    return known if len(known) == len(laws) else None


@dataclass(eq=False)
class _Mean(_Side):
    """One side of `mean_of_all`: the lower end for x, or with `flip` for 1 − x."""

    total: float
    people: float
    laws: list[tuple[NoiseWindow, Factor]]
    beta: Fraction
    moved: float
    off: float
    flip: bool

    def __post_init__(self) -> None:
        self.most = math.floor(self.people + self.off)
        self.wanted = float(self.beta) / 2 - 1e-9 - SPARE
        # How far N + noise can be from `people`: the noises at μ = 1 less those at 0 are those of N
        self.far = 0.0
        if self.off:
            each = 1e-9 / len(self.laws)
            self.far = self.off + sum(law.beyond(each) * abs(f(1.0) - f(0.0)) for law, f in self.laws)
        self.guess = min(max(self.total / self.people, 0.0), 1.0)
        noise = sum(law.variance * max(f(0.0) ** 2, f(1.0) ** 2) for law, f in self.laws)
        self.rough = (self.guess * (1 - self.guess) * self.people + noise + 1) ** 0.5 / self.people + self.moved

    def out(self, u: float, v: float) -> bool:
        n, t = self.most, self.total - v * self.people - (v - u) * self.far
        if v >= 1 or t <= 0:
            return False
        factors = [abs(factor(1 - v if self.flip else v)) for _, factor in self.laws]
        spread = sum(law.variance * factor**2 for (law, _), factor in zip(self.laws, factors, strict=True))
        grain = _table_grain((spread + n * max(self.spread(u, v), 1 / n)) ** 0.5 / 200)
        noise = _sum_on_grid(tuple(law for law, _ in self.laws), tuple(factors), grain)
        # The sampling part must make up for what noise z leaves of t, rounded down to the grid
        left = (np.floor(t / grain) - np.arange(len(noise)) + len(noise) // 2) * grain
        return _sum_of(noise, self._sampled(u, v, left, grain)) <= self.wanted

    def spread(self, u: float, v: float) -> float:
        """About the largest variance of a value whose mean is between u and v."""
        return v * (1 - v)

    def _sampled(self, u: float, v: float, y: Floats, grain: float) -> Floats:
        """An upper bound on P(Σ(x − μ) ≥ y) for all means μ from u to v, at places y of the grid in falling order."""
        n = self.most
        if self.moved:
            mean, share = min(v + self.moved, 1.0), np.clip(v + y / n, 0.0, 1.0)
            if mean >= 1:
                return np.ones_like(y)
            rest, tiny = 1 - share, np.finfo(np.float64).tiny  # 0·ln 0 is 0
            distance = share * np.log(np.maximum(share, tiny) / mean) + rest * np.log(
                np.maximum(rest, tiny) / (1 - mean)
            )
            return np.where(share > mean, np.exp(-n * distance), 1.0)
        return _looked_up(_tails(n, v, _COARSE * grain, 1), y, grain)


def _table_grain(grain: float) -> float:
    """The grain rounded down to a power of 2^(1/4), so that a table for one grain also serves similar ones."""
    return float(2.0 ** (math.floor(4 * math.log2(grain)) / 4))


def _looked_up(table: Floats, y: Floats, grain: float) -> Floats:
    found: Floats = table[np.clip(np.rint(y / grain) // _COARSE, 0, _PLACES).astype(np.int64)]
    return found


@lru_cache(maxsize=256)
def _tails(n: int, p: float, grain: float, power: int) -> Floats:
    """A bound on P(B ≥ y) at the places y of a grid, B = Bin(n, p) − np: min over k of E(B − k)₊^power/(y − k)^power.
    The last place stands for all beyond it, the first (0) for all below."""
    first, chances = binomial(n, p)
    above = np.cumsum(chances[::-1])[::-1]  # P(Bin ≥ k)
    over = np.concatenate((np.cumsum(above[::-1])[::-1][1:], [0.0]))  # E(Bin − k)₊
    if power == 2:
        over = 2 * np.cumsum(over[::-1])[::-1] - over  # E(Bin − k)₊²
    over = over + SPARE * (1 + n * p * (1 - p)) ** (power - 1)
    corners = first + np.arange(len(chances)) - n * p
    some = max(len(corners) // 60, 1)
    gaps = np.arange(1, _PLACES + 1)[:, None] * grain - corners[None, ::some]
    with np.errstate(divide="ignore"):
        bounds = np.where(gaps > 0, over[None, ::some] / gaps**power, np.inf)
    return np.concatenate(([1.0], np.minimum(bounds.min(axis=1), 1.0)))


class Squares:
    """For the middle c of each cell an upper bound on E(x − c)², which fails with probability at most β."""

    def __init__(self, moments: SampledMoments, off: float, beta: Fraction, cell: float) -> None:
        self.moments, self.off, self.beta, self.cell = moments, off, beta, cell
        self._found: dict[int, float] = {}

    def most(self, place: int) -> float:
        if place not in self._found:
            self._found[place] = self._most((place + 0.5) * self.cell)
        return self._found[place]

    def _most(self, middle: float) -> float:
        wide = max(middle, 1 - middle) ** 2
        total, noises = self.moments.around(middle)
        laws = _laws_for_means([(noise, _divided(factor, wide), many) for noise, factor, many in noises])
        if laws is None:
            return wide
        people = self.moments.drawn[0]
        return wide * (1 - _Mean(people - total / wide, people, laws, 2 * self.beta, 0.0, self.off, True).least())


@dataclass(eq=False)
class _MeanOfSpread(_Mean):
    """One end of the range of `mean_of_all`, narrowed by the drawn squares, which bound the variance."""

    squares: Squares
    place: int | None = None  # of the cell that is tested; None: no cell, and v is μ(1−μ)

    def least(self) -> float:
        """The end that variance μ(1−μ) gives, then moved up cell by cell as long as the whole cell is out."""
        cell, self.place = self.squares.cell, None
        low = super().least()
        self.place = math.floor(low / cell)
        if self.guess - low > _MOST_MEANS * cell:
            return low
        while (end := (self.place + 1) * cell) < self.guess and self.out(low, end):
            low, self.place = end, self.place + 1
        return halved(lambda high: self.out(low, high), low, min(end, self.guess), _STEPS)[0]

    def spread(self, u: float, v: float) -> float:
        largest = 0.25 if u <= 0.5 <= v else max(u * (1 - u), v * (1 - v))
        if self.place is None:
            return largest
        last = round(1 / self.squares.cell) - 1
        return min(largest, self.squares.most(last - self.place if self.flip else self.place))

    def _sampled(self, u: float, v: float, y: Floats, grain: float) -> Floats:
        a, most = 1 - u, max(self.spread(u, v), 1e-12)
        table = _tails(self.most, most / (most + a * a), _COARSE * grain / (a + most / a), 2)
        return _looked_up(table, y, grain)


def _law_for_means(noise: Added, factor: Factor, many: int) -> tuple[NoiseWindow, Factor] | None:
    """The law of the sum of `many` noises, and its factor. A very long law is rounded up to larger steps; None if it
    reaches too far."""
    if many == 1 and (step := _step(noise)) > 1:
        return _in_steps(noise, step), lambda mean: step * factor(mean)
    law = window(noise)
    if law is None or law.reach * many > _WIDEST:
        return None
    law = law.times(many)
    step = -(-law.reach // _MOST_STEPS)
    if step <= 1:
        return law, factor
    return NoiseWindow(_on_grid(law, 1.0, step)), lambda mean: step * factor(mean)


def _step(noise: Added) -> int:
    size = float_above(noise.size)
    return math.ceil((8.5 * size**0.5 + 3 if isinstance(noise, GaussianNoise) else 33 * size) / _MOST_STEPS)


@lru_cache(maxsize=64)
def _in_steps(noise: Added, step: int) -> NoiseWindow:
    """The law of noise Z in whole steps, rounded up. Laplace: ⌈Z/step⌉ has q^(−j)·(1−q)/(1+r) up to 0, then
    r·q^(j−1)·(1−q)/(1+r), with r = e^(−1/size), q = r^step. Gaussian: a law above it, since P(Z ≥ m) ≤ P(N ≥ m − 1) for
    N normal of that variance (Canonne, Kamath, Steinke 2020, Prop. 25), so P(⌈Z/step⌉ > j) ≤ P(N ≥ j·step) for j ≥ 0.
    Below 0, P(Z ≥ m) ≥ P(N ≥ m)/(1 + 0.4/σ) by comparing sum and integral: more than P(N ≥ m + step)."""
    size = float_above(noise.size)
    if isinstance(noise, GaussianNoise):
        return _gaussian_in_steps(size**0.5, step)
    r, places = math.exp(-1 / size), np.arange(0, math.ceil(33 * size / step) + 2, dtype=np.float64)
    below = np.exp(-places * step / size) * (-math.expm1(-step / size)) / (1 + r)
    return NoiseWindow(np.concatenate((below[::-1], r * below[:-1])))


def _gaussian_in_steps(deviation: float, step: int) -> NoiseWindow:
    reach = math.ceil(8.5 * deviation / step) + 2
    law = NormalDist(0.0, deviation)
    above = [1.0 - law.cdf(float(j * step if j >= 0 else (j - 1) * step)) for j in range(-reach, reach)]
    chances = -np.diff(np.concatenate(([1.0], above, [0.0])))
    return NoiseWindow(np.maximum(chances, 0.0))


def _on_grid(law: NoiseWindow, factor: float, grain: float) -> Floats:
    """The law of factor·Z, rounded up to a grid, with 0 in the middle. Laws of noise are symmetric."""
    places = np.ceil(factor * np.arange(-law.reach, law.reach + 1) / grain - 1e-9).astype(np.int64)
    held = np.bincount(places - places[0], law.chances).astype(np.float64)
    beside = len(held) - 1 + 2 * int(places[0])  # places above 0 less places below
    return np.pad(held, (max(beside, 0), max(-beside, 0)))


@lru_cache(maxsize=64)
def _sum_on_grid(laws: tuple[NoiseWindow, ...], factors: tuple[float, ...], grain: float) -> Floats:
    return reduce(_added, (_on_grid(law, factor, grain) for law, factor in zip(laws, factors, strict=True)))


def _added(one: Floats, other: Floats) -> Floats:
    return NoiseWindow(one).plus(NoiseWindow(other), trim=False).chances


# A spread of values in [0, 1]


def spread_of_all(moments: SampledMoments, beta: Fraction, moved: Fraction, about: float, off: float = 0.0) -> Range:
    """The range of the variance V of x in the larger group; there are `about` this many people."""
    people, cell = moments.drawn[0], moments.cell(about, beta)
    if people <= 0:
        return 0.0, 0.25
    total, noises = moments.total()
    mean = mean_of_all(total, people, noises, beta / 5, moved, off)
    first, last = math.floor(mean[0] / cell), math.floor(mean[1] / cell)
    if last - first >= _MOST_MEANS:
        return 0.0, 0.25
    low, high = 0.25, 0.0
    for place in range(first, last + 1):
        least, most = spread_around((place + 0.5) * cell, moments, beta * 4 / 5, moved, off)
        low, high = min(low, least - (cell / 2) ** 2), max(high, most)
    return max(low, 0.0), min(high, 0.25)


def spread_around(middle: float, moments: SampledMoments, beta: Fraction, moved: Fraction, off: float) -> Range:
    """The range of E(x − c)² in the larger group, for c = `middle`."""
    wide = max(middle, 1 - middle) ** 2
    total, noises = moments.around(middle)
    scaled: Noises = [(noise, _divided(factor, wide), many) for noise, factor, many in noises]
    least, most = mean_of_all(total / wide, moments.drawn[0], scaled, beta, moved, off)
    return wide * least, wide * most


def _divided(factor: Factor, by: float) -> Factor:
    """A noise's factor when a mean w of (x − c)²/b is tested: its factor in (Σ(x − c)² − w·b·N)/b."""
    return lambda mean: factor(mean * by) / by


# Percentiles


@lru_cache(maxsize=256)
def ranks_around(n: int, share: Fraction, beta: Fraction) -> tuple[int, int]:
    """k₋ and k₊ (see Percentile above); 0 or n+1 if the table's extreme values would not be enough."""
    first, chances = binomial(n, float(share))
    wanted = float(beta) / 2 - SPARE
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]  # P(Bin ≤ k) and P(Bin ≥ k), k from `first` on
    least = first + int(np.searchsorted(below, wanted, side="right"))  # so many k with P(Bin ≤ k−1) small enough
    most = first + int(np.count_nonzero(above > wanted))
    return least, most


@lru_cache(maxsize=256)
def ranks_off(n: int, share: Fraction, beta: Fraction) -> int:
    """How many ranks beyond qn a range must reach, if all n people have a value."""
    first, last = ranks_around(n, share, beta)
    low, high = share.numerator * n // share.denominator, -(-share.numerator * n // share.denominator)
    return max(low - first + 1, last - high, 0)


@lru_cache(maxsize=256)
def ranks_by_line(guess: int, share: Fraction, beta: Fraction) -> tuple[Fraction, int]:
    """(a, b) with P(Bin(N, q) ≤ (q−a)N − b) ≤ β for every N. aN + b is least at N = `guess`, among all a = 1/m."""
    q, z = float(share), -NormalDist().inv_cdf(float(beta) * (1 - 1e-9)) * (1 + 1e-9)

    def ranks(a: float) -> float:
        return 1 + z * z / (2 * _line_rate(q, q - a))

    def least(m: int) -> float:
        return guess / m + ranks(1 / m)

    fewest = int(1 / q) + 1  # a < q
    best = first_true(lambda m: least(m + 1) >= least(m), fewest, 10**6)
    return Fraction(1, best), math.ceil(ranks(1 / best) * (1 + 1e-9))


def _line_rate(q: float, aim: float) -> float:
    """The largest θ with ln(1 − q + qe^−θ) + θ·aim ≤ 0, from below."""

    def small(theta: float) -> bool:
        return math.log1p(q * math.expm1(-theta)) + theta * aim <= 0

    high = 1.0
    while small(high) and high < 700:
        high *= 2
    return halved(small, 0.0, high, 60)[0]


def pairs_off(n: int, size: int, beta: Fraction) -> float:
    """How far differences of two shares in a sample may be from those in the population, all ordered pairs at once."""
    return math.sqrt(2 * math.log(min(size - 1, 2) * size / float(beta)) / n) * (1 + 1e-9)
