"""A first look at a random sample: ranges for the shares of the larger group, all at once. Figures in, figures out.

Assumption  that of `mechanisms.sampling`. Shown are the share of everybody in each cell of a column, the share who hold
            each item and, where columns were counted together, the share of everybody in each cell and the share of
            each cell among the people of a group. The question fixes which these are, so β is divided by their number:
            half of it for single columns, half for columns together (`Overview.population`, `shares_together`).

**Noise.** A sum of cells has the noise W = Σ a_k·Z_k, Z_k independent discrete Gaussians of parameter s_k²
(`residuals`: rebuilding). In law W ≤ X + c, X normal of variance V = Σ a_k²s_k², c = Σ|a_k|; −W too. *Proof.* f(z) =
e^(−z²/2s²), S = Σ f(z), at least √(2π)·s (Poisson's summation), at most 1 + √(2π)·s; X of variance s². (1) P(Z ≥ m) ≤
P(X ≥ m−1) for whole m ≥ 1, as Σ_{z≥m} f(z) ≤ ∫_{m−1}^∞ f. (2) P(Z ≥ k) ≥ P(X ≥ k) for whole k ≥ 1. If k ≤ s, f is
concave on [0, k], and by trapezoids f(0)/2 + f(1) + … + f(k−1) ≤ ∫_0^k f; divided by S, P(Z = 0)/2 + P(0 < Z < k) ≤ P(0
≤ X ≤ k), and P(Z ≥ k), P(X ≥ k) are ½ less that. If k > s, f is convex from k on, and Σ_{z≥k} f ≥ ∫_k^∞ f + f(k)/2 ≥ (1
+ 1/2s)·∫_k^∞ f (Mills), while S ≤ √(2π)·s·(1 + 1/2s). (3) So for m ≤ 0 P(Z ≥ m) = 1 − P(Z ≥ 1−m) ≤ 1 − P(X ≥ 1−m) = P(X
≥ m−1). Hence Z ≤ X + 1 in law, −Z by symmetry, and sums of independent parts. ∎ For a cell c is at most Π(3n_i −
2)/n_i² ≤ 1 people.

**Share of everybody, n public** (`of_everybody`). The test of `sampling.share_of_all`: h = H + W, and p is out where
Σ_k P(H = k)·P(X ≥ h − c − k) ≤ β/2. It rises with p, and nothing is lost but c. After other releases (S7.1) P(H ≥ k) ≤
exp(−n·kl(k/n‖p + `moved`)) takes the place of the binomial, as in `sampling`.

**Share of a group, or of a secret number of people** (`among`). t = N + ζ' and h = H + ζ are drawn, H ~ Bin(N, p) given
N. Test p by h − pt = B + W, B = H − pN, W = ζ − pζ', which is the noise of a sum of cells. (1) But for β/10 N ≤ n₊ = t
+ r, by the law of ζ'. (2) For θ > 0 let r(a) be the maximum over u of P(X > u)·e^(au − a²/2), X of variance 1. With a =
θ√V, P(X ≥ x) ≤ r(a)·e^(θ²V/2 − θx) for X of variance V and every x. So P(B + W ≥ y) ≤ r(a)·e^(θ²V/2 − θ(y−c))·E e^(θB),
and E e^(θB) = ((1 − p)·e^(−θp) + p·e^(θ(1−p)))^N ≥ 1 grows with N: it is bounded by that at n₊. Each θ that depends on
n₊, p and y serves. (3) Cells of p as in `sampling.share_among` (3), D ≤ R there but for β/1000. ∎ The sampling part is
Chernoff's: up to a fifth wider than `sampling.share_among`, less where noise matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from dpengine.core.exact import float_above, halved
from dpengine.core.types import Floats
from dpengine.mechanisms.marginals.residuals import Columns, moved_parts
from dpengine.mechanisms.sampling import SPARE, Range, binomial

_FAR = 9.0  # standard deviations: beyond them less than 10^-18
_FINE = 1024  # places to a standard deviation
_STEPS = 14  # of a bisection over eight standard deviations
_NEAR, _BELOW = 72, 18  # cells of p: near the end, and from there to 0
_HALVINGS, _TOGETHER = 10, 1_000
_N_SHARE, _FAR_SHARE = 0.1, 0.001  # of β: for the number of people, and for cells of p


@lru_cache(maxsize=1)
def _tails() -> Floats:
    """P(X ≥ x) from −_FAR on."""
    places = range(int(2 * _FAR * _FINE) + 1)
    return np.array([math.erfc((place / _FINE - _FAR) / math.sqrt(2)) / 2 for place in places])


def above(x: Floats) -> Floats:
    """P(X ≥ x), at the next lower place: never too small."""
    places = np.floor((np.clip(x, -_FAR, _FAR) + _FAR) * _FINE).astype(np.int64)
    found: Floats = _tails()[places]
    return found


@lru_cache(maxsize=1)
def _maxima() -> tuple[Floats, Floats]:
    """a, rising, and ln r(a): where P(X > u)·e^(au) is largest a is the density at u over P(X > u)."""
    u = np.arange(-6.0, 12.0, 1 / 128)
    tail = np.array([math.erfc(one / math.sqrt(2)) / 2 for one in u])
    a = np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi) / tail
    return a, np.minimum(np.log(tail) + a * u - a**2 / 2, 0.0)


def _ln_maximum(a: Floats) -> Floats:
    """ln r(a), which falls, at the next smaller a."""
    at, found = _maxima()
    place = np.searchsorted(at, a, side="right") - 1
    return np.where(place < 0, 0.0, found[np.maximum(place, 0)])


def noise_of_sum(noise: Mapping[Columns, Fraction], part: Columns, a: Floats) -> tuple[float, float]:
    """V and c of a sum of cells of a marginal; `noise` is σ_B² of each residual."""
    own = [(float(noise[base]), mean) for base, mean in moved_parts(part, a) if base in noise]
    return sum(each * float((mean**2).sum()) for each, mean in own), sum(float(np.abs(mean).mean()) for _, mean in own)


# Shares of everybody


def of_everybody(
    counts: Sequence[float], n: int, variance: float, off: float, beta: Fraction, moved: Fraction
) -> list[Range]:
    """Each except with probability β."""
    own = _OfEverybody(n, max(math.sqrt(variance), 1e-8), off + 1e-6, float(beta) / 2 - SPARE, float_above(moved))
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
        """The largest share up to which all are out, from below."""
        guess = min(max(count / self.n, 0.0), 1.0)
        rough = math.sqrt(guess * (1 - guess) * self.n + self.deviation**2 + 1) / self.n + self.moved / 8
        low, high = max(guess - 8 * rough, 0.0), guess
        if not self.out(low, count):
            low, high = 0.0, low
            if not self.out(low, count):
                return low
        return halved(lambda share: self.out(share, count), low, high, _STEPS)[0]


def _after(n: int, mean: float) -> tuple[int, Floats]:
    """A first place and a law above that of a number of people whose chances have at most this mean (S7.1)."""
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
    """The noise of a number of hits and of the number of people they are among: variances, covariance, and c."""

    hits: float
    people: float
    both: float
    off: float  # of h − pt, for every p
    off_people: float

    @staticmethod
    def of_cells(noise: Mapping[Columns, Fraction], part: Columns, hits: Floats, people: Floats) -> Off:
        """Of two sums of cells of one marginal, the first part of the second."""
        (own, off), (whole, off_people), (rest, off_rest) = (
            noise_of_sum(noise, part, a) for a in (hits, people, people - hits)
        )
        return Off(own, whole, (own + whole - rest) / 2, max(off, off_rest), off_people)

    def of_misses(self) -> Off:
        rest = self.hits + self.people - 2 * self.both
        return Off(rest, self.people, self.people - self.both, self.off, self.off_people)

    def beyond(self, beta: float) -> float:
        """The noise of the number of people is below this except with probability β."""
        return self.off_people + math.sqrt(self.people) * -NormalDist().inv_cdf(beta) * (1 + 1e-9)


def among(hits: Floats, people: Floats, noise: Off, beta: Fraction, most: int | None) -> tuple[Floats, Floats]:
    """Each except with probability β; `most` people there are in all, if that is public."""
    low, high = np.empty(len(hits)), np.empty(len(hits))
    for start in range(0, len(hits), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        low[some] = _least(hits[some], people[some], noise, float(beta), most)
        high[some] = 1 - _least(people[some] - hits[some], people[some], noise.of_misses(), float(beta), most)
    crossed = low > high
    return np.where(crossed, 0.0, low), np.where(crossed, 1.0, high)


def _least(hits: Floats, people: Floats, noise: Off, beta: float, most: int | None) -> Floats:
    n = np.maximum(np.floor(people + noise.beyond(beta * _N_SHARE)), 1.0)
    n = n if most is None else np.minimum(n, most)
    far = noise.beyond(beta * _N_SHARE) + noise.beyond(beta * _FAR_SHARE)
    wanted = math.log(beta * (1 - _N_SHARE) / 2 - beta * _FAR_SHARE - SPARE)
    known = people > 0
    t = np.where(known, people, 1.0)
    guess = np.clip(hits / t, 0.0, 1.0)
    spread = guess * (1 - guess) * n + noise.hits - 2 * guess * noise.both + guess**2 * noise.people + 1
    start = np.maximum(guess - 1.3 * math.sqrt(-2 * wanted) * np.sqrt(spread) / t, 0.0)
    below = (1 - np.linspace(1, 0, _BELOW + 1)[:-1] ** 2) * start[:, None]  # narrower towards the start
    near = start[:, None] + np.linspace(0, 1, _NEAR + 1) * (guess - start)[:, None]
    edges = np.concatenate((below, near), axis=1)
    u, v = edges[:, :-1], edges[:, 1:]
    y = hits[:, None] - v * t[:, None] - (v - u) * far - noise.off - 1e-6
    variance = np.maximum(noise.hits - 2 * v * noise.both + v**2 * noise.people, 0.0)
    bound = _ln_tail(n[:, None], v, variance, np.maximum(y, 0.0))
    out = (y > 0) & (bound <= wanted) & known[:, None]
    cells = np.cumprod(out, axis=1).sum(axis=1)
    found: Floats = np.take_along_axis(edges, cells[:, None], axis=1)[:, 0]
    return found


def _ln_tail(n: Floats, p: Floats, variance: Floats, y: Floats) -> Floats:
    """An upper bound on ln P(B + X ≥ y); θ about where it is least: between 0 and what either part alone needs."""
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
