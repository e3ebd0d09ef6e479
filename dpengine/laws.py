"""Exact output laws: the executable proof obligation. A mechanism's law is checked against its claimed loss,
and its samples against its law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpengine.exact import decimal_of, exp_decimal


@dataclass(frozen=True)
class Finite:
    """Finitely many outcomes."""

    chances: Mapping[Any, Decimal]


@dataclass(frozen=True)
class Laplace:
    """center + discrete Laplace noise, Pr[Z=z] ∝ exp(−|z|/scale), on all integers."""

    center: int
    scale: Fraction


@dataclass(frozen=True)
class Independent:
    """Several independent outcomes released together."""

    parts: tuple[Law, ...]


Law = Finite | Laplace | Independent


def weighted(gaps: Mapping[Any, int], rate: Fraction) -> Finite:
    """The exponential mechanism's law: chance ∝ exp(−rate·gap)."""
    best = min(gaps.values())
    weights = {outcome: exp_decimal(-rate * (gap - best)) for outcome, gap in gaps.items()}
    total = sum(weights.values(), Decimal(0))
    return Finite({outcome: weight / total for outcome, weight in weights.items()})


def chance(law: Law, outcome: Any) -> Decimal:
    if isinstance(law, Finite):
        return law.chances.get(outcome, Decimal(0))
    if isinstance(law, Laplace):
        ratio = exp_decimal(-1 / law.scale)
        return (1 - ratio) / (1 + ratio) * exp_decimal(-abs(Fraction(outcome - law.center)) / law.scale)
    product = Decimal(1)
    for part, one in zip(law.parts, outcome, strict=True):
        product *= chance(part, one)
    return product


def above(law: Laplace, value: int) -> Decimal:
    """Pr[outcome > value]."""
    return _tail(law.scale, value - law.center)


@lru_cache(maxsize=65536)
def _tail(scale: Fraction, away: int) -> Decimal:
    """Pr[Z > away] for discrete Laplace noise."""
    ratio = exp_decimal(-1 / scale)
    if away >= 0:
        return exp_decimal(-Fraction(away + 1) / scale) / (1 + ratio)
    return 1 - exp_decimal(Fraction(away) / scale) / (1 + ratio)


def max_divergence(first: Law, second: Law) -> Decimal:
    """max over outcomes of ln(P/Q); infinite when Q lacks an outcome of P."""
    if isinstance(first, Independent) and isinstance(second, Independent):
        pairs = zip(first.parts, second.parts, strict=True)
        return sum((max_divergence(p, q) for p, q in pairs), Decimal(0))
    if isinstance(first, Laplace) and isinstance(second, Laplace):
        if first.scale != second.scale:
            raise ValueError("laws of different noise are not compared")
        return decimal_of(abs(first.center - second.center) / first.scale)
    if isinstance(first, Finite) and isinstance(second, Finite):
        worst = Decimal("-Infinity")
        for outcome, p in first.chances.items():
            q = second.chances.get(outcome, Decimal(0))
            if p:
                worst = max(worst, (p / q).ln() if q else Decimal("Infinity"))
        return worst
    raise ValueError("laws of different kinds are not compared")


def renyi(first: Law, second: Law, order: float) -> float:
    """Rényi divergence of the given order > 1, to about twelve digits (floats: for checks, never for charges)."""
    if isinstance(first, Independent) and isinstance(second, Independent):
        return sum(renyi(p, q, order) for p, q in zip(first.parts, second.parts, strict=True))
    if isinstance(first, Laplace) and isinstance(second, Laplace):
        if first.scale != second.scale:
            raise ValueError("laws of different noise are not compared")
        return _renyi_of_shift(abs(first.center - second.center), float(first.scale), order)
    if isinstance(first, Finite) and isinstance(second, Finite):
        if any(p and not second.chances.get(outcome) for outcome, p in first.chances.items()):
            return math.inf
        pairs = ((float(p), float(second.chances[outcome])) for outcome, p in first.chances.items() if p)
        return math.log(math.fsum(p * (p / q) ** (order - 1) for p, q in pairs)) / (order - 1)
    raise ValueError("laws of different kinds are not compared")


@lru_cache(maxsize=4096)
def _renyi_of_shift(shift: int, scale: float, order: float) -> float:
    """Of discrete Laplace noise and the same noise moved by `shift`; beyond the window lies less than e^-60."""
    reach = int(scale * 60) + shift + 2
    norm = math.tanh(1 / (2 * scale))  # (1−r)/(1+r) with r = e^(−1/scale)
    terms = (
        norm * math.exp((-abs(place) * order + abs(place - shift) * (order - 1)) / scale)
        for place in range(-reach, reach + 1)
    )
    return math.log(math.fsum(terms)) / (order - 1)
