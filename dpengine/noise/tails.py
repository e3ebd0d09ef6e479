"""Tail bounds of the noise, and lower bounds that no DP mechanism can beat: public arithmetic, rounded safely."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import comb, isqrt
from typing import TypeVar

import numpy as np

from dpengine.core.exact import ceiling, down, exp_decimal, first_true, float_above, halved, ln_above, ln_below
from dpengine.core.types import Floats

Each = TypeVar("Each", float, Floats)

# The factor between scales whose partial fractions are computed in floats, for up to three of them and for more.
_APART, _FARTHER_APART, _MOST_POLES = 1.01, 1.03, 6
_TERMS, _PERIOD = 48, 1.5  # of the sum in `_of_sums`: the number of terms, and T as a multiple of Chernoff's bound
_ROUNDED = 0.8  # k of `weighted_reaches`: a larger one costs more where noise is narrow, a smaller one where it is wide
_DIGITS = Context(prec=60)
_GUARD = Decimal(1) + Decimal(10) ** -20  # far above the rounding of a few hundred 60-digit operations


@lru_cache(maxsize=8192)
def laplace_reach(scale: Fraction, beta: Fraction) -> int:
    """The least t with Pr[|Z| > t] ≤ β for discrete Laplace noise Pr[Z=z] ∝ exp(−|z|/scale).

    Pr[|Z| ≥ k] = 2·e^(−k/scale)/(1+e^(−1/scale)) for k ≥ 1.
    """
    ratio = exp_decimal(-1 / scale)
    with localcontext(_DIGITS):
        outside = 2 * beta.denominator / (beta.numerator * (1 + ratio))  # 2/(β(1+r))
        if outside * ratio <= 1:
            return 0
    return max(ceiling(scale * ln_above(outside)) - 1, 0)


def sum_tail(scale: Fraction, draws: int, away: int) -> Decimal:
    """Pr[Z₁ + … + Z_m > t] for m independent discrete Laplace variables and t ≥ 0, to about forty digits.

    With r = e^(−1/scale) the sum has the generating function (1−r)^2m · (1−rz)^(−m) · (1−r/z)^(−m). Its part at z^k,
    k ≥ 0, comes from the pole at rz = 1 alone: Σ_l a_l (1−rz)^(−l), where a_(m−i) is the coefficient of u^i, u = 1−rz,
    in ((1−u)/(c−u))^m with c = 1−r². As (1−u)/(c−u) = (1 + (r²/c)·u/(1−u/c))/c all are positive: nothing cancels.
    And Σ_(k>t) C(k+l−1, l−1) r^k (1−r)^l = Pr[Binomial(t+l, 1−r) < l], a sum of l positive terms.
    """
    with localcontext(_DIGITS):
        r, far = exp_decimal(-1 / scale), exp_decimal(-away / scale)
        near = [r**i for i in range(draws + 1)]
        gone = [(1 - r) ** i for i in range(draws)]
        total = Decimal(0)
        for order, weight in enumerate(_weights(scale, draws), 1):
            few = (comb(away + order, i) * gone[i] * near[order - i] for i in range(order))
            total += weight * sum(few, Decimal(0))
        return total * far


@lru_cache(maxsize=256)
def _weights(scale: Fraction, draws: int) -> tuple[Decimal, ...]:
    """a_l · (1−r)^(2m−l) for l = 1 … m: above 0 the sum is a mixture of negative binomials with these weights."""
    with localcontext(_DIGITS):
        r = exp_decimal(-1 / scale)
        c = (1 - r) * (1 + r)
        series = [1 / c] + [r * r / c ** (place + 2) for place in range(draws - 1)]  # (1−u)/(c−u) by powers of u
        power = [Decimal(1)] + [Decimal(0)] * (draws - 1)
        for _ in range(draws):
            power = [sum((power[i] * series[k - i] for i in range(k + 1)), Decimal(0)) for k in range(draws)]
        return tuple(power[draws - order] * (1 - r) ** (2 * draws - order) for order in range(1, draws + 1))


@lru_cache(maxsize=1024)
def sum_reach(scale: Fraction, draws: int, beta: Fraction) -> int:
    """The least t with Pr[|Z₁ + … + Z_m| > t] ≤ β, from the exact law of the sum; m = 1 is `laplace_reach`."""
    if draws == 1:
        return laplace_reach(scale, beta)
    high = draws * laplace_reach(scale, beta / draws)  # each within a share of β: the sum within this
    return first_true(lambda t: Fraction(2 * sum_tail(scale, draws, t) * _GUARD) <= beta, 0, high)


def mean_reach(scale: Fraction, draws: int, beta: Fraction) -> int | Fraction:
    """How far the mean of independent draws of discrete Laplace noise can be off, except with probability β."""
    return laplace_reach(scale, beta) if draws == 1 else Fraction(sum_reach(scale, draws, beta), draws)


@lru_cache(maxsize=1024)
def choice_gap(rate: Fraction, candidates: int, beta: Fraction) -> int:
    """Exponential mechanism with integer scores: with probability ≥ 1−β the gap to the best is at most this.

    Pr[gap ≥ t] ≤ |R|·exp(−rate·t); the least such integer t, less one.
    """
    return max(ceiling(ln_above(Fraction(candidates) / beta) / rate) - 1, 0)


@lru_cache(maxsize=8192)
def gaussian_reach(variance: Fraction, beta: Fraction) -> int:
    """A t with Pr[|Z| > t] ≤ β for discrete Gaussian noise Pr[Z=z] ∝ exp(−z²/(2·variance)).

    Pr[Z ≥ t+1] ≤ Pr[N(0, v) ≥ t] (Canonne, Kamath, Steinke 2020, Prop. 25), so Pr[|Z| > t] ≤ erfc(t/√(2v)).
    The least such t, in floats with a part in 10^9 to spare, far above their error.
    """
    width = math.sqrt(2 * float_above(variance)) * (1 + 1e-12)
    wanted = float(beta) * (1 - 1e-9)
    low, high = 0, 1
    while math.erfc(high / width) > wanted:
        low, high = high, 2 * high
    return first_true(lambda t: math.erfc(t / width) <= wanted, low, high)


def gaussian_mean_reach(variance: Fraction, draws: int, beta: Fraction) -> int | Fraction:
    """How far the mean of independent draws of such noise can be off, except with chance β.

    E[e^(sZ)] ≤ e^(s²v/2) (Canonne, Kamath, Steinke 2020), so a sum of m has Pr[|S| ≥ k] ≤ 2·e^(−k²/(2mv)).
    """
    if draws == 1:
        return gaussian_reach(variance, beta)
    square = 2 * draws * variance * ln_above(2 / beta)
    return Fraction(isqrt(ceiling(square) - 1), draws)  # the least k with k² ≥ square is one more: |S| < k


@lru_cache(maxsize=1024)
def gaussian_quantile(beta: Fraction) -> float:
    """A z with Pr[|N(0, 1)| > z] ≤ β, within a part in 10^9 of the least."""
    wanted = float(beta) * (1 - 1e-12)
    _, high = halved(lambda z: math.erfc(z / math.sqrt(2)) > wanted, 0.0, 40.0, 100)
    return high * (1 + 1e-9)


def gaussian_mix_reach(variance: Fraction, length: Each, sum_of: Each, beta: Fraction) -> Each:
    """A t with Pr[|Σ a_i·Z_i| > t] ≤ β for independent discrete Gaussian noise of variance parameter v ≥ 1, where
    |a|₂ ≤ length and |a|₁ ≤ sum_of: t = z·√v·|a|₂ + |a|₁, with z of a continuous Gaussian. For one sum, or for each of
    several.

    Z can be drawn together with N ~ N(0, v) so that |Z − N| ≤ 1, by their quantiles: for that Pr[Z ≥ k] must lie
    between Pr[N ≥ k] and Pr[N ≥ k−1] for every k ≥ 1 (the rest is symmetry). The upper one is Canonne, Kamath, Steinke
    2020, Prop. 25. For the lower one let f(x) = e^(−x²/2v): f(z+t) ≤ f(z)·e^(−t²/2v), so ∫_z^(z+1) f ≤
    f(z)·(1 − 1/6v + 1/40v²) ≤ f(z)/(1 + 1/8v), and Σ_(z≥k) f ≥ (1 + 1/8v)·∫_k^∞ f, while Σ f over all z is at most
    √(2πv)·(1 + 3e^(−2π²v)) by Poisson's summation formula, which is less than √(2πv)·(1 + 1/8v).
    """
    if variance < 1:
        raise ValueError("too narrow a noise for this bound")
    return (gaussian_quantile(beta) * math.sqrt(float_above(variance)) * length + sum_of) * (1 + 1e-9)


def gaussian_sum_reach(variance: Fraction, length: Each, sum_of: Each, beta: Fraction) -> Each:
    """The lesser of `gaussian_mix_reach` and |a|₂·√(2v·ln(2/β)), which holds for every v as E[e^(sZ)] ≤ e^(s²v/2)."""
    plain = math.sqrt(2 * float_above(variance) * math.log(2 / float(beta))) * length * (1 + 1e-9)
    return np.minimum(plain, gaussian_mix_reach(variance, length, sum_of, beta)) if variance >= 1 else plain


def gaussian_sums(variance: Fraction, beta: Fraction) -> Callable[[float, float], float]:
    """`gaussian_sum_reach` for one noise, as a function of a sum's |a|₂ and |a|₁."""
    units = 1 + 1e-9
    plain = math.sqrt(2 * float_above(variance) * math.log(2 / float(beta))) * units
    if variance < 1:
        return lambda length, sum_of: plain * length
    mixed = gaussian_mix_reach(variance, 1.0, 0.0, beta)
    return lambda length, sum_of: min(plain * length, mixed * length + sum_of * units)


@lru_cache(maxsize=1024)
def flip_gap(rate: Fraction, candidates: int, beta: Fraction) -> int:
    """Permute-and-flip with integer scores: with probability ≥ 1−β the gap to the best is at most this.

    Let K of the candidates that are t or more below come up. The best one comes up too, so one of the K is chosen with
    probability at most E[K/(K+1)] ≤ E[K]/2 ≤ |R|·exp(−rate·t)/2: half of the exponential mechanism's bound.
    """
    return choice_gap(rate, candidates, 2 * beta)


def choice_behind(rate: Fraction, candidates: int, beta: Fraction) -> int:
    """`choice_gap` from the worst table: the best candidate, and all others t below it. With p = exp(−rate·t) they are
    chosen with probability x/(1+x), x = (|R|−1)·p; others that are t or more below weigh less, and candidates in
    between leave them less still. So t is the least integer with x ≤ β/(1−β); the gap is one less.
    """
    if candidates * beta >= candidates - 1:
        return 0
    return max(ceiling(ln_above((candidates - 1) * (1 - beta) / beta) / rate) - 1, 0)


@lru_cache(maxsize=4096)
def flip_behind(rate: Fraction, candidates: int, beta: Fraction) -> int:
    """`flip_gap` from the worst table. K of the |R|−1 others come up, each with probability p = exp(−rate·t), and one
    of them is chosen with probability E[K/(K+1)] = 1 − (1 − (1−p)^|R|)/(|R|·p). K/(K+1) rises with K, and K with every
    p, so no table with others t or more below is worse; it falls with t, so bisection finds the least t.
    """
    if candidates * beta >= candidates - 1:
        return 0

    def enough(t: int) -> bool:
        power = exp_decimal(-rate * t)
        with localcontext(_DIGITS):
            missed = 1 - (1 - (1 - power) ** candidates) / (candidates * power)
            return missed * _GUARD <= Decimal(beta.numerator) / Decimal(beta.denominator)

    return first_true(enough, 1, flip_gap(rate, candidates, beta) + 1) - 1  # at the end even the weaker bound holds


def least_count_error(epsilon: Fraction, beta: Fraction) -> Fraction:
    """No ε-DP count has an error below this with probability 1−β on every table of enough people.

    Answers within t of counts that are 2t+1 apart do not overlap, so 2(1−β)·Σ_j e^(−jε(2t+1)) ≤ β.
    """
    return _rounded((ln_below((2 - beta) / beta) / epsilon - 1) / 2)


def least_choice_gap(epsilon: Fraction, candidates: int, beta: Fraction) -> Fraction:
    """Lower bound: no ε-DP choice among |R| items has a smaller gap on every table.

    Raise one of |R| equal items by g+1 people: that one must win with probability 1−β, so |R|·e^(−ε(g+1))(1−β) ≤ 1.
    """
    return _rounded(ln_below(candidates * (1 - beta)) / epsilon - 1)


def least_rank_error(epsilon: Fraction, candidates: int, beta: Fraction) -> Fraction:
    """Lower bound: no ε-DP quantile on |R| grid points has a smaller rank error on every large enough table.

    Put 2λ+1 people on one grid point between two equal halves: only that point is within λ ranks.
    """
    return _rounded((ln_below(candidates * (1 - beta)) / epsilon - 1) / 2)


def _rounded(bound: Fraction) -> Fraction:
    """A lower bound, rounded down to thousandths."""
    return max(down(bound, 1000), Fraction(0))


@lru_cache(maxsize=1024)
def total_reach(scale: Fraction, draws: int, beta: Fraction) -> int:
    """A t with Pr[|Z₁ + … + Z_n| > t] ≤ β for millions of independent discrete Laplace variables.

    Chernoff: 2·exp(n·κ(s) − s(t+1)) ≤ β for any 0 < s < 1/scale, with κ(s) = ln E[e^(sZ)] = 2·ln(1−r) − ln(1−re^s) −
    ln(1−re^(−s)), r = e^(−1/scale). We take the best of some s, in floats; the part in 10^9 that we add is far above
    their error.
    """
    rate = 1 / float_above(scale)
    wanted = math.log(2 / float(beta))

    def least(s: float) -> float:
        cumulant = 2 * math.log(-math.expm1(-rate)) - math.log(-math.expm1(s - rate)) - math.log(-math.expm1(-s - rate))
        return (draws * (cumulant + 1e-13) + wanted) / s

    ratio = (math.sqrt(5) - 1) / 2
    low, high = rate * 1e-6, rate * (1 - 1e-9)
    for _ in range(80):  # `least` falls, then rises; a wrong turn only widens the bound, it stays valid
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if least(a) <= least(b) else (a, high)
    return math.ceil(least((low + high) / 2) * (1 + 1e-9)) - 1


def weighted_reaches(scale: Fraction, sizes: Floats, times: Floats, beta: Fraction) -> Floats:
    """For each row a t with Pr[|Σ a·Z| > t] ≤ β, for independent discrete Laplace variables with factors of these
    sizes, each with its multiplicity in `times`; 0 for a row without factors. The lesser of two bounds:

    Chernoff    as in `total_reach`, with Σ κ(a·s) for 0 < s < 1/(scale·a), and κ(x) = −ln(1 − q·(cosh x − 1)), where q
                = 2r/(1−r)² is the variance. (Σ κ(a·s) + ln(2/β))/s falls, then rises, and its least is at most the s
                of Gaussian noise of the same variance; a search that errs only widens the bound.
    The law     of continuous noise, about a sixth narrower. If E is exponential of mean `scale`, its whole part and the
                rest F < 1 are independent. So X = E − E′ ~ Laplace is Z + V, V = F − F′ independent of Z and symmetric.
                With x = s/2, y = 1/(2·scale) and g(z) = ln(sinh z/z), E[e^(sV)] = e^(g(y+x) + g(y−x) − 2g(y)) ≤
                e^(s²/12), since g″ ≤ 1/3. Hence Pr[ΣaV < −k|a|₂] ≤ e^(−3k²), and
                Pr[ΣaZ ≥ t]·(1 − e^(−3k²)) ≤ Pr[ΣaX ≥ t − k|a|₂]. The tail of ΣaX is that of `_of_sums`, which does
                not depend on the scale and is remembered: the same factors are asked for at many ε.
    """
    rate = 1 / float_above(scale)
    variance = 0.5 / math.sinh(rate / 2) ** 2
    wanted = math.log(2 / float(beta))
    used = sizes.max(axis=1) > 0
    if not used.any():
        return np.zeros(len(sizes))
    a, many = sizes[used], times[used]

    def least(s: Floats) -> Floats:
        lifted = 2 * variance * np.sinh(a * s[:, None] / 2) ** 2
        cumulant: Floats = (many * (1e-13 - np.log1p(-lifted))).sum(axis=1)
        return (cumulant + wanted) / s

    high = np.minimum(np.sqrt(2 * wanted / (variance * (many * a * a).sum(axis=1))), rate / a.max(axis=1) * (1 - 1e-6))
    low, ratio = high * 0.3, (math.sqrt(5) - 1) / 2
    lower, upper = high - ratio * (high - low), low + ratio * (high - low)
    at_lower, at_upper = least(lower), least(upper)
    for _ in range(11):  # by the golden section one of the two places serves again
        left = at_lower <= at_upper
        low, high = np.where(left, low, lower), np.where(left, upper, high)
        place = np.where(left, high - ratio * (high - low), low + ratio * (high - low))
        found = least(place)
        lower, upper = np.where(left, place, upper), np.where(left, lower, place)
        at_lower, at_upper = np.where(left, found, at_upper), np.where(left, at_lower, found)
    left = at_lower <= at_upper
    low, high = np.where(left, low, lower), np.where(left, upper, high)
    by_law = _of_sums(a.tobytes(), many.tobytes(), len(a), float(beta) * (1 - math.exp(-3 * _ROUNDED**2)))
    rounded = _ROUNDED * np.sqrt((many * a * a).sum(axis=1))
    reaches = np.zeros(len(sizes))
    reaches[used] = np.minimum(least((low + high) / 2), by_law / rate + rounded) * (1 + 1e-9)
    return reaches


@lru_cache(maxsize=64)
def _of_sums(raw_sizes: bytes, raw_times: bytes, rows: int, beta: float) -> Floats:
    """For each row a t with Pr[|Σ a·X| ≥ t] ≤ β, for independent Laplace variables X of scale 1.

    Let G be the tail of S = ΣaX, M(z) = Π (1 − a²z²)^(−times) its moments, 0 < c < 1/a, T > 0, u_j = 2πj/T. By
    Poisson's summation of e^(cx)·G(x), which is continuous and falls exponentially on both sides,

        e^(ct)·G(t) ≤ Σ_k e^(c(t+kT))·G(t+kT) = (1/T)·Σ_j e^(−i·u_j·t)·M(c+i·u_j)/(c+i·u_j):

    no term is negative, so the sum over j is a bound, whatever T is, and a near one where T is about the reach. We take
    c from Chernoff's bound, and |j| ≤ J. What is left out is at most |M(c+iU)|/π, U = u_J, where a·U ≥ 1 for the
    largest a: |1 − a²z²|/u of that factor does not fall with u beyond 1/a, nor |1 − a²z²| of any other.
    """
    sizes, times = (np.frombuffer(raw).reshape(rows, -1) for raw in (raw_sizes, raw_times))
    wide = sizes.max(axis=1)
    a = sizes / wide[:, None]
    wanted = math.log(2 / beta)

    def cumulant(s: Floats) -> Floats:
        found: Floats = -(times * np.log1p(-((a * s[:, None]) ** 2))).sum(axis=1)
        return found

    low, c = np.zeros(rows), np.full(rows, 1 - 1e-9)
    for _ in range(40):  # Chernoff's bound is least where s·K′(s) − K(s) = ln(2/β), and K′(s) there
        s = (low + c) / 2
        lifted = (a * s[:, None]) ** 2
        low_yet = (times * 2 * lifted / (1 - lifted)).sum(axis=1) - cumulant(s) <= wanted
        low, c = np.where(low_yet, s, low), np.where(low_yet, c, s)
    base = cumulant(c)
    chernoff = (base + wanted) / c
    step = 2 * np.pi / (_PERIOD * chernoff)
    terms = np.empty((_TERMS + 1, rows), dtype=np.complex128)
    for j in range(_TERMS + 1):
        z = c + 1j * j * step
        terms[j] = np.exp(-(times * np.log(1 - (a * z[:, None]) ** 2)).sum(axis=1) - base) / z
    left_out = np.where(_TERMS * step >= 1, np.abs(terms[-1] * (c + 1j * _TERMS * step)) / np.pi, np.inf) + 1e-12
    turns = -1j * step * np.arange(1, _TERMS + 1)[:, None]
    low, high = 0.7 * chernoff, chernoff
    for _ in range(16):
        t = (low + high) / 2
        summed = (terms[0].real + 2 * (terms[1:] * np.exp(turns * t)).real.sum(axis=0)) * step / (2 * np.pi)
        enough = base - c * t + np.log(np.maximum(summed, 0) + left_out) <= -wanted - 1e-9
        low, high = np.where(enough, low, t), np.where(enough, t, high)
    reaches: Floats = high * wide
    return reaches


def mixed_laplace_reaches(scales: tuple[Fraction, ...], sizes: Floats, draws: int, beta: Fraction) -> Floats:
    """For each row of sizes a t with Pr[|Σ a·Z| > t] ≤ β, where Z is the mean of `draws` independent draws of discrete
    Laplace noise of each of two or three scales. The lesser of two bounds:

    Exact law   for up to six variables in all. Z of one draw can be drawn together with X ~ Laplace so that |Z − X| ≤
                1, by their quantiles: with r = e^(−1/scale), Pr[|Z| ≥ k] = 2r^k/(1+r) lies between Pr[|X| ≥ k] = r^k
                and Pr[|X| ≥ k−1]. So t is Σ|a| more than the quantile of |Σ wX| over all draws. Its tail is
                Σ_i (Π_(j≠i) w_i²/(w_i² − w_j²))·e^(−t/w_i), by partial fractions of Π 1/(1 − w²s²), and grows with
                every w; scales that are nearly equal are moved apart, upwards.
    Chernoff    by the cumulant −ln(1 − w²s²) of continuous noise: that of discrete noise is no larger, because
                sinh(u)/u rises.

    Of continuous noise, both grow with the scales. So they are found for a first scale of 1 and remembered: the
    scales of a question keep their ratios at every ε.
    """
    ratios, unit = tuple(scale / scales[0] for scale in scales), float_above(scales[0])
    chernoff, law = _of_continuous(ratios, sizes.tobytes(), draws, beta)
    reaches = unit * chernoff
    if law is not None:
        reaches = np.minimum(reaches, unit * law + sizes.sum(axis=1))
    return reaches * (1 + 1e-9)


@lru_cache(maxsize=256)
def _of_continuous(
    ratios: tuple[Fraction, ...], raw: bytes, draws: int, beta: Fraction
) -> tuple[Floats, Floats | None]:
    """For continuous Laplace noise of these scales: Chernoff's bound, and the bound of the exact law (None for many
    variables)."""
    sizes = np.frombuffer(raw).reshape(-1, len(ratios))
    ordered = np.sort(sizes * np.array([float_above(ratio) for ratio in ratios]), axis=1)[:, ::-1]
    wide = ordered[:, 0]
    wanted, grown = math.log(2 / float(beta)), (np.sqrt(5) - 1) / 2

    def chernoff(s: Floats) -> Floats:
        cumulant: Floats = -draws * np.log1p(-((ordered * s[:, None] / draws) ** 2)).sum(axis=1)
        return (cumulant * (1 + 1e-12) + wanted) / s

    high = (1 - 1e-9) * draws / wide
    low = high * 1e-3
    for _ in range(40):
        lower, upper = high - grown * (high - low), low + grown * (high - low)
        left = chernoff(lower) <= chernoff(upper)
        low, high = np.where(left, low, lower), np.where(left, upper, high)
    least = chernoff((low + high) / 2)
    if draws * len(ratios) > _MOST_POLES:
        return least, None
    every = np.repeat(ordered / wide[:, None] / draws, draws, axis=1)
    return least, wide * _mixed_quantile(every, float(beta))


def _mixed_quantile(weights: Floats, beta: float) -> Floats:
    """The t at which |Σ wX| is exceeded with chance β, for Laplace variables X of scale 1 and falling weights."""
    w = np.maximum(weights, 1e-3)
    apart, error = (_APART, 1e-12) if w.shape[1] <= 3 else (_FARTHER_APART, 1e-9)
    for place in range(w.shape[1] - 2, -1, -1):
        w[:, place] = np.maximum(w[:, place], w[:, place + 1] * apart)
    squares = w**2
    ratios = squares[:, :, None] - squares[:, None, :]
    ratios[:, *np.diag_indices(w.shape[1])] = squares
    factors = np.prod(squares[:, :, None] / ratios, axis=2)
    low, high = np.zeros(len(w)), np.full(len(w), w.sum(axis=1).max() * (math.log(2 * w.shape[1] / beta) + 1))
    for _ in range(60):
        t = (low + high) / 2
        above = (factors * np.exp(-t[:, None] / w)).sum(axis=1) > beta * (1 - 1e-4) - error
        low, high = np.where(above, t, low), np.where(above, high, t)
    return high


def mixed_gaussian_reaches(squares: Floats, units: Floats, narrowest: Fraction, draws: int, beta: Fraction) -> Floats:
    """`mixed_laplace_reaches` for discrete Gaussian noise: `squares` is Σ a²v, `units` Σ|a|, `narrowest` the least v.
    The bounds are those of `gaussian_sum_reach`."""
    lengths = np.sqrt(squares / draws)
    plain: Floats = math.sqrt(2 * math.log(2 / float(beta))) * lengths
    if narrowest >= 1:
        plain = np.minimum(plain, gaussian_quantile(beta) * lengths + units)
    return plain * (1 + 1e-9)


def bernstein_reach(variance: Fraction, largest: Fraction, beta: Fraction) -> Fraction:
    """A t with Pr[|S − E[S]| > t] ≤ β for a sum of independent variables, each within `largest` of its mean, with
    variances that add up to at most `variance`: t = M·L/3 + √((M·L/3)² + 2·V·L), L = ln(2/β) (Bernstein 1924)."""
    length = ln_above(2 / beta)
    part = largest * length / 3
    square = part * part + 2 * variance * length
    grain = 10**6
    return part + Fraction(isqrt(ceiling(square * grain * grain)) + 1, grain)


def swap_reach(mixed: Fraction, size: int, people: int, beta: Fraction) -> Fraction:
    """How far (c − np)/(1 − λ) can be from the number of rows with a value, except with chance β: c counts the
    published rows that show it, each true with 1−λ+p or by chance with p = λ/size, independently."""
    p = mixed / size
    truth = 1 - mixed + p
    variance_of_row = max(p * (1 - p), truth * (1 - truth))
    return bernstein_reach(people * variance_of_row, Fraction(1), beta) / (1 - mixed)


def mixed_mean_reach(mixed: Fraction, steps: int, people: int, beta: Fraction) -> Fraction:
    """How far (Σy − nλD/2)/(1 − λ) can be from the sum of true places on a grid of D+1 points, except with chance β:
    each y is the true place x with 1−λ, else uniform. Its variance, λ(1−λ)(x−D/2)² + λD(D+2)/12, is largest at the
    ends."""
    variance = mixed * (1 - mixed) * Fraction(steps * steps, 4) + mixed * Fraction(steps * (steps + 2), 12)
    return bernstein_reach(people * variance, Fraction(steps), beta) / (1 - mixed)


def mixed_part_reach(mixed: Fraction, part: Fraction, people: int, beta: Fraction) -> Fraction:
    """How far (c − nλw)/(1 − λ) can be from the number of rows in a part of the grid with a share w of the grid's
    points: a row of that part is published in it with chance 1−λ+λw, any other row with chance λw."""
    within = (1 - mixed + mixed * part, mixed * part)
    return bernstein_reach(people * max(p * (1 - p) for p in within), Fraction(1), beta) / (1 - mixed)
