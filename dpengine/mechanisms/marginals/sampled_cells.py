"""A first look at a random sample: ranges for the shares of the larger group, all at once. Figures in, figures out.

Assumption  that of `mechanisms.sampling`. Shown are the share of everybody in each cell of a column, the share who hold
            each item and, where columns were counted together, the share of everybody in each cell and the share of
            each cell among the people of a group. The question fixes which these are, so β is divided by their number:
            half of it for single columns, half for columns together (`Overview.population`, `shares_together`).

**Noise.** A sum of cells has the noise W = Σ a_k·Z_k, Z_k independent discrete Gaussians of parameter s_k²
(`residuals`: rebuilding). X is normal of variance V = Σ a_k²s_k², and c = Σ|a_k|. For every w P(W ≥ w) is at most (a)
e^κ·P(X ≥ w − c/2), κ = Σ 1/(24s_k²), the sum over a_k ≠ 0, and (b) P(X ≥ w − c). Used is (a) where κ ≤ 1/10, else (b):
the question fixes κ. For a cell c is at most Π(3n_i − 2)/n_i² ≤ 1 people. *Proof.* f(z) = e^(−z²/2s²), S = Σ f(z), at
least √(2π)·s (Poisson's summation), at most 1 + √(2π)·s; X of variance s². (a) By Jensen's inequality the mean of f
over [z − ½, z + ½] is at least e^(−(z² + 1/12)/2s²), so P(Z = z) ≤ e^(1/24s²)·P(X rounds to z). So the law of all Z_k
together is at most e^κ times that of normal variables rounded to whole numbers, which moves W by at most c/2. (b) (1)
P(Z ≥ m) ≤ P(X ≥ m−1) for whole m ≥ 1, as Σ_{z≥m} f(z) ≤ ∫_{m−1}^∞ f. (2) P(Z ≥ k) ≥ P(X ≥ k) for whole k ≥ 1. If k ≤
s, f is concave on [0, k], and by trapezoids f(0)/2 + f(1) + … + f(k−1) ≤ ∫_0^k f; divided by S, P(Z = 0)/2 + P(0 < Z <
k) ≤ P(0 ≤ X ≤ k), and P(Z ≥ k), P(X ≥ k) are ½ less that. If k > s, f is convex from k on, and Σ_{z≥k} f ≥ ∫_k^∞ f +
f(k)/2 ≥ (1 + 1/2s)·∫_k^∞ f (Mills), while S ≤ √(2π)·s·(1 + 1/2s). (3) So for m ≤ 0 P(Z ≥ m) = 1 − P(Z ≥ 1−m) ≤ 1 − P(X
≥ 1−m) = P(X ≥ m−1). Hence Z ≤ X + 1 in law, −Z by symmetry, and sums of independent parts. ∎ Below, *off* and *times*
are c/2 and e^κ, or c and 1.

**Share of everybody, n public** (`of_everybody`). The test of `sampling.share_of_all`: h = H + W, and p is out where
Σ_k P(H = k)·P(X ≥ h − off − k) ≤ β/2/times. It rises with p, and nothing is lost but off and times. After other
releases (S7.1) P(H ≥ k) ≤ exp(−n·kl(k/n‖p + `moved`)) takes the place of the binomial, as in `sampling`.

**Share of a group, or of a secret number of people** (`among`). t = N + ζ' and h = H + ζ are drawn, H ~ Bin(N, p) given
N. Test p by h − pt = B + W, B = H − pN, W = ζ − pζ', which is the noise of a sum of cells. But for β/50 n₋ ≤ N ≤ n₊,
by the law of ζ'. p is out where one of three bounds on P(B + W ≥ y) is small enough for all those N; each is tried only
beyond what the one before it left in, as it takes longer. Let x = y − off; P(B + W ≥ y) ≤ times·P(B + X ≥ x).
(1) *Chernoff.* For θ > 0 let r(a) be the maximum over u of P(X > u)·e^(au − a²/2), X of variance 1. With a = θ√V, P(X ≥
x) ≤ r(a)·e^(θ²V/2 − θx) for X of variance V and every x. So P(B + X ≥ x) ≤ r(a)·e^(θ²V/2 − θx)·E e^(θB), and E e^(θB) =
((1 − p)·e^(−θp) + p·e^(θ(1−p)))^N ≥ 1 grows with N: it is bounded by that at n₊. Each θ that depends on n₊, p and x
serves.
(2) *Normal tails.* P(B ≥ b) ≤ Q(b − 1), Q(b) = P(Y ≥ ±√(2N·kl(p + b/N‖p))), Y of variance 1 and the sign that of b
(Zubkov and Serov 2013); Q is 1 below −pN and 0 above (1−p)N. As kl is convex and 0 at b = 0, N·kl(p + b/N‖p) falls with
N: Q is largest at n₊ for b > 0, at n₋ for b < 0. So P(B + X ≥ x) is at most the sum over cells [x_j, x_{j+1}] of X of
their chance times that largest Q(x − 1 − x_{j+1}). It is one person wider than exact.
(3) *Exactly*, where n₊ is small: Σ_k P(H = k)·P(X ≥ x − k + pN) for every N, or for every w-th, as in
`sampling.share_among` (2), at x − (1−p)(w−1).
Cells of p as in `sampling.share_among` (3), D ≤ R there but for β/1000. ∎ Tests compare with `sampling.share_among`: at
most a tenth wider; `python -m bench.population` compares groups of looks with (3) for every N.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from dpengine.core.exact import float_above, halved
from dpengine.core.types import Bools, Floats
from dpengine.mechanisms.marginals.residuals import Columns, moved_parts
from dpengine.mechanisms.sampling import SPARE, Range, binomial

_FAR = 9.0  # standard deviations: beyond them less than 10^-18
_FINE = 1024  # places to a standard deviation
_STEPS = 14  # of a bisection over eight standard deviations
_NEAR, _BELOW = 72, 18  # cells of p: near the end, and from there to 0
_FINER, _AHEAD = 24, 0.25  # cells of p beyond those, over this part of what is left
_FINEST, _LITTLE = 10, (0.2, 0.02)  # the same for small groups, twice
_SMALL, _ANCHORS = 600, 40  # people in a small group; how many numbers of people stand for all
_HALVINGS, _TOGETHER = 10, 100
_N_SHARE, _FAR_SHARE = 0.02, 0.001  # of β: for the number of people, and for cells of p
_MOST_LN_TIMES = 0.1


@lru_cache(maxsize=1)
def _tails() -> Floats:
    """P(X ≥ x) for X of variance 1, at places from −_FAR to _FAR."""
    places = range(int(2 * _FAR * _FINE) + 1)
    return np.array([math.erfc((place / _FINE - _FAR) / math.sqrt(2)) / 2 for place in places])


def above(x: Floats) -> Floats:
    """P(X ≥ x) at the table's next lower place: never too small."""
    places = np.floor((np.clip(x, -_FAR, _FAR) + _FAR) * _FINE).astype(np.int64)
    found: Floats = _tails()[places]
    return found


@lru_cache(maxsize=1)
def _maxima() -> tuple[Floats, Floats]:
    """Values a, rising, and ln r(a). Where u makes P(X > u)·e^(au) largest, a is the density at u over P(X > u)."""
    u = np.arange(-6.0, 12.0, 1 / 128)
    tail = np.array([math.erfc(one / math.sqrt(2)) / 2 for one in u])
    a = np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi) / tail
    return a, np.minimum(np.log(tail) + a * u - a**2 / 2, 0.0)


def _ln_maximum(a: Floats) -> Floats:
    """ln r(a) at the table's next smaller a: never too small, since r falls."""
    at, found = _maxima()
    place = np.searchsorted(at, a, side="right") - 1
    return np.where(place < 0, 0.0, found[np.maximum(place, 0)])


@dataclass(frozen=True)
class SumNoise:
    """A bound on a sum's noise W: P(W ≥ w) ≤ times·P(X ≥ w − off), X normal of this variance."""

    variance: float
    off: float
    times: float

    @staticmethod
    def of(variance: float, c: float, kappa: float) -> SumNoise:
        """The narrower of the two bounds on a sum of discrete Gaussians."""
        return SumNoise(variance, c / 2, math.exp(kappa)) if kappa <= _MOST_LN_TIMES else SumNoise(variance, c, 1.0)

    @staticmethod
    def of_one(variance: float) -> SumNoise:
        """The bound for one integer with discrete Gaussian noise."""
        return SumNoise.of(variance, 1.0, 1 / (24 * variance))


def noise_of_sum(noise: Mapping[Columns, Fraction], part: Columns, *sums: Floats) -> SumNoise:
    """The bound for a sum of cells of a marginal; `noise` is σ_B² of each residual. For several sums it holds for every
    weighted mean of them, but has the first one's variance."""
    own = [[(float(noise[base]), mean) for base, mean in moved_parts(part, a) if base in noise] for a in sums]
    variance = sum(each * float((mean**2).sum()) for each, mean in own[0])
    c = max(sum(float(np.abs(mean).mean()) for _, mean in parts) for parts in own)
    moved = [(each, mean.size) for parts in own for each, mean in parts if mean.any()]
    return SumNoise.of(variance, c, sum(1 / (24 * each * size) for each, size in moved))


# Shares of everybody


def of_everybody(counts: Sequence[float], n: int, noise: SumNoise, beta: Fraction, moved: Fraction) -> list[Range]:
    """The range of each count's share of everybody; each fails with probability at most β."""
    wanted = (float(beta) / 2 - SPARE) / noise.times
    own = _OfEverybody(n, max(math.sqrt(noise.variance), 1e-8), noise.off + 1e-6, wanted, float_above(moved))
    return [(own.least(count), 1 - own.least(n - count)) for count in counts]


@dataclass(frozen=True)
class _OfEverybody:
    n: int
    deviation: float
    off: float
    wanted: float
    moved: float

    def out(self, p: float, count: float) -> bool:
        first, chances = _after(self.n, p + self.moved) if self.moved else binomial(self.n, p)
        k = np.arange(first, first + len(chances), dtype=np.float64)
        return float((chances * above((count - self.off - k) / self.deviation)).sum()) <= self.wanted

    def least(self, count: float) -> float:
        """The largest share, approached from below, up to which all shares are out."""
        guess = min(max(count / self.n, 0.0), 1.0)
        rough = math.sqrt(guess * (1 - guess) * self.n + self.deviation**2 + 1) / self.n + self.moved / 8
        low, high = max(guess - 8 * rough, 0.0), guess
        if not self.out(low, count):
            low, high = 0.0, low
            if not self.out(low, count):
                return low
        return halved(lambda share: self.out(share, count), low, high, _STEPS)[0]


def _after(n: int, mean: float) -> tuple[int, Floats]:
    """A law above that of how many of n people count, if their chances average at most `mean`; and its first place."""
    if mean >= 1:
        return n, np.ones(1)
    first = math.floor(n * mean)
    k = np.arange(first + 1, min(n, first + int(10 * math.sqrt(n)) + 40) + 1)
    share, tiny = k / n, np.finfo(np.float64).tiny
    distance = share * np.log(share / mean) + (1 - share) * np.log(np.maximum(1 - share, tiny) / (1 - mean))
    tails = np.concatenate(([1.0], np.minimum(np.exp(-n * distance), 1.0), [0.0]))
    return first, -np.diff(tails)


# Shares among a noisy number of people


@dataclass(frozen=True)
class Off:
    """The noise of the hits h and of the people t that they are among: variances, and their covariance (`both`). `off`
    and `times` are those of `SumNoise` for h − pt, for every p; `off_people` is that for t."""

    hits: float
    people: float
    both: float
    off: float
    off_people: float
    times: float

    @staticmethod
    def of_cells(noise: Mapping[Columns, Fraction], part: Columns, hits: Floats, people: Floats) -> Off:
        """For two sums of cells of one marginal; the hits are part of the people."""
        own, whole = noise_of_sum(noise, part, hits, people - hits), noise_of_sum(noise, part, people)
        rest = noise_of_sum(noise, part, people - hits).variance
        both = (own.variance + whole.variance - rest) / 2
        return Off(own.variance, whole.variance, both, own.off, whole.off, max(own.times, whole.times))

    @staticmethod
    def of_two(hits: float, people: float) -> Off:
        """For two numbers that are drawn independently, with noise of these variances."""
        own, whole = SumNoise.of(hits, 2.0, (1 / hits + 1 / people) / 24), SumNoise.of_one(people)
        return Off(hits, people, 0.0, own.off, whole.off, max(own.times, whole.times))

    def of_misses(self) -> Off:
        rest = self.hits + self.people - 2 * self.both
        return Off(rest, self.people, self.people - self.both, self.off, self.off_people, self.times)

    def beyond(self, beta: float) -> float:
        """The noise of the number of people is below this except with probability β."""
        return self.off_people + math.sqrt(self.people) * -NormalDist().inv_cdf(beta / self.times) * (1 + 1e-9)


def among(hits: Floats, people: Floats, noise: Off, beta: Fraction, most: int | None) -> tuple[Floats, Floats]:
    """The ends of the range of each share hits/people; each range fails with probability at most β. `most` is the
    number of all people, if that is public."""
    low, high = np.empty(len(hits)), np.empty(len(hits))
    for start in range(0, len(hits), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        low[some] = _SharesAmong.of(hits[some], people[some], noise, float(beta), most).least()
        high[some] = (
            1 - _SharesAmong.of(people[some] - hits[some], people[some], noise.of_misses(), float(beta), most).least()
        )
    crossed = low > high
    return np.where(crossed, 0.0, low), np.where(crossed, 1.0, high)


@dataclass(frozen=True)
class _SharesAmong:
    """Finds the lower ends of several shares at once; cells [u, v] of p are on the second axis."""

    hits: Floats
    people: Floats
    fewest: Floats
    most: Floats
    noise: Off
    far: float
    wanted: float

    @staticmethod
    def of(hits: Floats, people: Floats, noise: Off, beta: float, most: int | None) -> _SharesAmong:
        off = noise.beyond(beta * _N_SHARE / 2)
        n = np.maximum(np.floor(people + off), 1.0)
        n = n if most is None else np.minimum(n, most)
        fewest = np.clip(np.ceil(people - off), 0.0, n)
        wanted = (beta * (1 - _N_SHARE) / 2 - beta * _FAR_SHARE - SPARE) / noise.times
        return _SharesAmong(hits, people, fewest, n, noise, off + noise.beyond(beta * _FAR_SHARE), wanted)

    def least(self) -> Floats:
        """The lower ends: all cells of p from 0 up to there are out, by one of the three bounds."""
        noise, known = self.noise, self.people > 0
        t = np.where(known, self.people, 1.0)
        guess = np.clip(self.hits / t, 0.0, 1.0)
        spread = guess * (1 - guess) * self.most + noise.hits - 2 * guess * noise.both + guess**2 * noise.people + 1
        start = np.maximum(guess - 1.3 * math.sqrt(-2 * math.log(self.wanted)) * np.sqrt(spread) / t, 0.0)
        below = (1 - np.linspace(1, 0, _BELOW + 1)[:-1] ** 2) * start[:, None]  # narrower towards the start
        near = start[:, None] + np.linspace(0, 1, _NEAR + 1) * (guess - start)[:, None]
        end = _first_in(np.concatenate((below, near), axis=1), self.out_by_chernoff)
        end = _first_in(_ahead(end, guess, _AHEAD, _FINER), self.out_by_tails)
        small = np.flatnonzero((self.most <= _SMALL) & (end < guess))
        if len(small):
            held, people, fewest, most = (each[small] for each in (self.hits, self.people, self.fewest, self.most))
            some = _SharesAmong(held, people, fewest, most, noise, self.far, self.wanted)
            for part in _LITTLE:
                end[small] = _first_in(_ahead(end[small], guess[small], part, _FINEST), some.out_exactly)
        return np.where(known, end, 0.0)

    def _tested(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """x and V of the tests, for each cell [u, v]."""
        x = self.hits[:, None] - v * self.people[:, None] - (v - u) * self.far - self.noise.off - 1e-6
        return x, np.maximum(self.noise.hits - 2 * v * self.noise.both + v**2 * self.noise.people, 0.0)

    def out_by_chernoff(self, u: Floats, v: Floats) -> Bools:
        x, variance = self._tested(u, v)
        bound = _ln_tail(self.most[:, None], v, variance, np.maximum(x, 0.0))
        return (x > 0) & (v < 1) & (bound <= math.log(self.wanted))

    def out_by_tails(self, u: Floats, v: Floats) -> Bools:
        x, variance = self._tested(u, v)
        ends, chances = _cells_of_normal()
        p, places = np.clip(v, 1e-12, 1 - 1e-12)[:, :, None], (x - 1)[:, :, None] - ends * np.sqrt(variance)[:, :, None]
        n = np.where(places > 0, self.most[:, None, None], self.fewest[:, None, None])
        found = _binomial_tail(n, p, places) @ chances + 2e-12
        return (x > 0) & (v < 1) & (found <= self.wanted)

    def out_exactly(self, u: Floats, v: Floats) -> Bools:
        x, variance = self._tested(u, v)
        out = (x > 0) & (v < 1)
        for at in range(len(x)):
            worst = _worst_of_small(
                int(self.fewest[at]), int(self.most[at]), np.clip(v[at], 1e-12, 1 - 1e-12), variance[at], x[at]
            )
            out[at] &= worst <= self.wanted
        return out


def _first_in(edges: Floats, out: Callable[[Floats, Floats], Bools]) -> Floats:
    """Where the first cell begins that is not out."""
    cells = np.cumprod(out(edges[:, :-1], edges[:, 1:]), axis=1).sum(axis=1)
    found: Floats = np.take_along_axis(edges, cells[:, None], axis=1)[:, 0]
    return found


def _ahead(end: Floats, guess: Floats, part: float, cells: int) -> Floats:
    return end[:, None] + part * np.linspace(0, 1, cells + 1) * (guess - end)[:, None]


@lru_cache(maxsize=1)
def _cells_of_normal() -> tuple[Floats, Floats]:
    """Cells of a normal variable of variance 1: their upper ends and chances. Less than 2·10^-12 is beyond the last."""
    ends = np.linspace(-3, 7, 161)
    tails = np.array([math.erfc(end / math.sqrt(2)) / 2 for end in ends])
    return ends, -np.diff(np.concatenate(([1.0], tails)))


def _binomial_tail(n: Floats, p: Floats, b: Floats) -> Floats:
    """Q(b), see above: an upper bound on a tail of Bin(n, p)."""
    n = np.maximum(n, 1e-9)
    share = p + b / n
    inside = np.minimum(np.maximum(share, 1e-12), 1 - 1e-12)
    distance = n * (inside * np.log(inside / p) + (1 - inside) * np.log((1 - inside) / (1 - p)))
    found = above(np.copysign(np.sqrt(2 * np.maximum(distance - 1e-9 - 1e-15 * n, 0.0)), b))
    return np.where(share < 0, 1.0, np.where(share > 1, 0.0, found))


@lru_cache(maxsize=1)
def _ln_factorials() -> Floats:
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, _SMALL + 1)))))


def _worst_of_small(fewest: int, most: int, p: Floats, variance: Floats, x: Floats) -> Floats:
    """The largest P(B + X ≥ x) over the numbers of people, for each p. What is not summed (below 10^-12) is added."""
    step = -(-(most - fewest + 1) // _ANCHORS)
    off = 7 * math.sqrt(most * float((p * (1 - p)).max())) + 15
    first, last = max(int(fewest * p[0] - off), 0), min(int(most * p[-1] + off) + 1, most)
    n, k = np.arange(fewest, most + 1, step)[:, None, None], np.arange(first, last + 1)
    share, each, logs = p[:, None], np.maximum(np.sqrt(variance), 1e-8)[:, None], _ln_factorials()
    ways = logs[n] - logs[k] - logs[np.maximum(n - k, 0)]
    chances = np.where(k <= n, np.exp(ways + k * np.log(share) + np.maximum(n - k, 0) * np.log1p(-share)), 0.0)
    beyond = above(((x - (1 - p) * (step - 1))[:, None] - k + share * n) / each)
    found: Floats = (chances * beyond).sum(axis=-1).max(axis=0) + 1e-12
    return found


def _ln_tail(n: Floats, p: Floats, variance: Floats, y: Floats) -> Floats:
    """An upper bound on ln P(B + X ≥ y), at a θ where it is about least (found by bisection)."""
    inside, share = np.clip(p, 1e-12, 1 - 1e-12), np.clip(p + y / n, 1e-12, 1 - 1e-12)
    alone = np.log(share * (1 - inside) / ((1 - share) * inside))
    low, high = np.zeros_like(y), np.minimum(np.minimum(np.maximum(alone, 0.0), y / np.maximum(variance, 1e-9)), 50.0)
    for _ in range(_HALVINGS):
        theta = (low + high) / 2
        grown = np.exp(theta)
        less = n * (p * grown / (1 - p + p * grown) - p) + theta * variance < y
        low, high = np.where(less, theta, low), np.where(less, high, theta)
    theta = (low + high) / 2
    moment = n * (np.log1p(p * np.expm1(theta)) - theta * p) + theta**2 * variance / 2
    found: Floats = moment - theta * y + _ln_maximum(theta * np.sqrt(variance)) + 1e-9
    return found
