"""Exact output distributions (laws) of mechanisms. Tests check each law against the privacy loss that the mechanism
claims, and the mechanism's samples against its law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpengine.core.exact import decimal_of, exp_decimal

_WIDE = 4  # noise of at least this variance is wide
_PI = Decimal("3.14159265358979323846264338327950288419716939937511")


@dataclass(frozen=True)
class Finite:
    """A law with finitely many outcomes."""

    chances: Mapping[Any, Decimal]


@dataclass(frozen=True)
class Laplace:
    """center + discrete Laplace noise, Pr[Z=z] ∝ exp(−|z|/scale), on all integers."""

    center: int
    scale: Fraction


@dataclass(frozen=True)
class Normal:
    """center + discrete Gaussian noise, Pr[Z=z] ∝ exp(−z²/(2·variance)), on all integers."""

    center: int
    variance: Fraction


@dataclass(frozen=True)
class Independent:
    """Several independent outcomes released together."""

    parts: tuple[Law, ...]


Law = Finite | Laplace | Normal | Independent


def weighted(gaps: Mapping[Any, int], rate: Fraction, ways: Mapping[Any, int] | None = None) -> Finite:
    """The exponential mechanism's law: probability ∝ exp(−rate·gap), times the number of candidates of an outcome."""
    best = min(gaps.values())
    weights = {outcome: exp_decimal(-rate * (gap - best)) for outcome, gap in gaps.items()}
    weights = weights if ways is None else {outcome: ways[outcome] * weight for outcome, weight in weights.items()}
    total = sum(weights.values(), Decimal(0))
    return Finite({outcome: weight / total for outcome, weight in weights.items()})


def flipped(gaps: Mapping[Any, int], rate: Fraction) -> Finite:
    """The law of permute-and-flip, which is a uniform choice among those whose coin came up: p_i·E[1/(1 + the number of
    others that came up)]."""
    best = min(gaps.values())
    chances = {outcome: exp_decimal(-rate * (gap - best)) for outcome, gap in gaps.items()}
    chance_of: dict[Any, Decimal] = {}
    for outcome, own in chances.items():
        others = [Decimal(1)]  # the law of the number of others that came up
        for other, p in chances.items():
            if other != outcome:
                more = [Decimal(0), *(p * part for part in others)]
                others = [(1 - p) * a + b for a, b in zip([*others, Decimal(0)], more, strict=True)]
        chance_of[outcome] = own * sum((part / (many + 1) for many, part in enumerate(others)), Decimal(0))
    return Finite(chance_of)


def chance(law: Law, outcome: Any) -> Decimal:
    if isinstance(law, Finite):
        return law.chances.get(outcome, Decimal(0))
    if isinstance(law, Laplace):
        ratio = exp_decimal(-1 / law.scale)
        return (1 - ratio) / (1 + ratio) * exp_decimal(-abs(Fraction(outcome - law.center)) / law.scale)
    if isinstance(law, Normal):
        return exp_decimal(-(Fraction(outcome - law.center) ** 2) / (2 * law.variance)) / _normal_total(law.variance)
    product = Decimal(1)
    for part, outcome_of_part in zip(law.parts, outcome, strict=True):
        product *= chance(part, outcome_of_part)
    return product


@lru_cache(maxsize=256)
def _normal_total(variance: Fraction) -> Decimal:
    """Σ_z exp(−z²/(2·variance)); less than e^-70 lies beyond the window. For wide noise by Poisson's summation formula:
    √(2πv)·(1 + 2·Σ_k e^(−2π²vk²)), with a second part below 10^-33."""
    if variance >= _WIDE:
        return (2 * _PI * decimal_of(variance)).sqrt()
    reach = math.isqrt(int(140 * variance)) + 2
    half = sum((exp_decimal(-Fraction(z * z) / (2 * variance)) for z in range(1, reach + 1)), Decimal(0))
    return 1 + 2 * half


def above(law: Laplace, value: int) -> Decimal:
    """Pr[outcome > value] under this law."""
    return _tail(law.scale, value - law.center)


@lru_cache(maxsize=65536)
def _tail(scale: Fraction, away: int) -> Decimal:
    """Pr[Z > away] for discrete Laplace noise Z."""
    ratio = exp_decimal(-1 / scale)
    if away >= 0:
        return exp_decimal(-Fraction(away + 1) / scale) / (1 + ratio)
    return 1 - exp_decimal(Fraction(away) / scale) / (1 + ratio)


def max_divergence(first: Law, second: Law) -> Decimal:
    """max over outcomes of ln(P/Q); infinite if Q lacks an outcome of P."""
    match first, second:
        case Independent(), Independent():
            pairs = zip(first.parts, second.parts, strict=True)
            return sum((max_divergence(p, q) for p, q in pairs), Decimal(0))
        case Laplace(), Laplace() if first.scale == second.scale:
            return decimal_of(abs(first.center - second.center) / first.scale)
        case Normal(), Normal():
            return Decimal(0) if first == second else Decimal("Infinity")
        case Finite(), Finite():
            likely = ((p, second.chances.get(outcome)) for outcome, p in first.chances.items() if p)
            largest = max((p / q if q else Decimal("Infinity") for p, q in likely), default=Decimal(0))
            return largest.ln()  # of the largest alone: a logarithm grows with its number
    raise ValueError("laws of different kinds or noise are not compared")


def renyi(first: Law, second: Law, order: float) -> float:
    """Rényi divergence of the given order > 1, to about twelve digits (floats: for checks, never for charges)."""
    match first, second:
        case Independent(), Independent():
            return sum(renyi(p, q, order) for p, q in zip(first.parts, second.parts, strict=True))
        case Laplace(), Laplace() if first.scale == second.scale:
            return _renyi_of_shift(abs(first.center - second.center), float(first.scale), order)
        case Normal(), Normal() if first.variance == second.variance:
            return _renyi_of_normal(abs(first.center - second.center), float(first.variance), order)
        case Finite(), Finite():
            if any(p and not second.chances.get(outcome) for outcome, p in first.chances.items()):
                return math.inf
            pairs = ((float(p), float(second.chances[outcome])) for outcome, p in first.chances.items() if p)
            return math.log(math.fsum(p * (p / q) ** (order - 1) for p, q in pairs)) / (order - 1)
    raise ValueError("laws of different kinds or noise are not compared")


@lru_cache(maxsize=4096)
def _renyi_of_shift(shift: int, scale: float, order: float) -> float:
    """Rényi divergence of discrete Laplace noise from itself moved by k = `shift`, in closed form.

    Σ_z exp((−α|z| + (α−1)|z−k|)/s) is a geometric sum in each of z ≤ 0, 0 < z < k and z ≥ k. With r = e^(−1/s) and
    q = e^(−(2α−1)/s) it is e^(k(α−1)/s) times 1/(1−r) + q(1−q^(k−1))/(1−q) + r^k·e^(−2k(α−1)/s)/(1−r)."""
    if shift == 0:
        return 0.0
    rest, below = -math.expm1(-1 / scale), -math.expm1(-(2 * order - 1) / scale)  # 1 − r and 1 − q
    between = (1 - below) * -math.expm1(-(2 * order - 1) * (shift - 1) / scale) / below
    total = (1 + math.exp(-(shift + 2 * shift * (order - 1)) / scale)) / rest + between
    norm = math.tanh(1 / (2 * scale))  # (1−r)/(1+r)
    return shift / scale + math.log(norm * total) / (order - 1)


@lru_cache(maxsize=4096)
def _renyi_of_normal(shift: int, variance: float, order: float) -> float:
    """Rényi divergence of discrete Gaussian noise from itself moved by `shift`; terms peak at −shift·(order−1). It is
    order·shift²/(2v) + ln(θ(a)/θ(0))/(order−1), θ(a) = Σ_z exp(−(z−a)²/(2v)): for wide noise both sums are equal to
    within 10^-33 (`_normal_total`)."""
    if variance >= _WIDE:
        return order * shift * shift / (2 * variance)
    reach = int(math.sqrt(140 * variance)) + 2
    peak = round(-shift * (order - 1))
    norm = math.fsum(math.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1))
    most = shift * shift * order * (order - 1) / (2 * variance)  # the largest exponent: nothing overflows
    terms = (
        math.exp((-z * z * order + (z - shift) ** 2 * (order - 1)) / (2 * variance) - most)
        for z in range(peak - reach, peak + reach + 1)
    )
    return (math.log(math.fsum(terms) / norm) + most) / (order - 1)
