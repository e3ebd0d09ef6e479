"""The exact privacy loss of a release, computed from its law: no draws, and floats only where stated.

**Hockey-stick.** δ(ε) = Σ (P − e^ε·Q)₊ = E_P[(1 − e^(ε−L))₊] with L = ln(P/Q): the least δ for which the pair keeps
(ε, δ) in this direction. It needs only the law of L under P. Independent coordinates add their losses, so that law is a
convolution; coordinates on which the two tables agree drop out.

    Finite    one atom for each outcome; outcomes that Q lacks have infinite loss and are counted whole.
    Laplace   outside the two centres L is constant: the two sides are one atom each, d − 1 points lie between. Exact.
    Normal    L = (d² − 2dz)/(2σ²), on a window |z| ≤ t with t² ≥ 140σ². Beyond lies less than 2e^-70, since the noise
              is σ²-subgaussian (Canonne, Kamath, Steinke 2020, Lemma 5); it is counted whole into the upper end.
    Wide      Normals of one large variance v (WIDE): L = (|d|² − 2⟨d, Z⟩)/(2v). Each Z is within 1 of a continuous
              N(0, v) (`tails.gaussian_mix_reach`), so L is within |d|₁/v of N(m, 2m), m = |d|²/(2v), which
              is cut into cells; both are told as `fuzz`. What floats round, and what lies beyond seven deviations
              (less than 10^-11), is lost.
    Many      More than two Normals of several variances: their atoms, each moved to a grid of _STEP, are summed as
              floats and told on a grid of _TOLD; what they move by is `fuzz`, what floats round is lost.

**Max-divergence**, the exact ε, is `laws.max_divergence`; the Rényi divergence `laws.renyi` (floats, twelve digits).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpengine.accountant import zcdp
from dpengine.accountant.costs import cost
from dpengine.accountant.loss import Loss
from dpengine.audit.found_laws import found_bell, found_laws
from dpengine.audit.losses import DIGITS, PLACES, Losses, Span
from dpengine.audit.pairs import Pair, pairs
from dpengine.audit.world import key_of
from dpengine.core.exact import decimal_of, exp_decimal
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.choices.find_values import FindValues
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.laws import Finite, Independent, Laplace, Law, Normal, chance, max_divergence, renyi

ORDER = Fraction(11, 2)  # about the order that a budget of ε = 1, δ = 10^-6 freezes
WIDE = 10**5  # a variance of one coordinate beyond which its atoms are too many; of k of them together its k-th root
_CELLS, _SIDES = 100, 7  # cells in a deviation of a bell, and deviations to both sides
_STEP, _TOLD = 5e-4, 5e-3  # of losses that are summed as floats
_FARTHEST = Decimal(1000)  # no claim is near e^-1000

SEEN_DELTA = Fraction(1, 1000)  # the δ at which a loss without a finite ε is shown and searched for


def losses(first: Law, second: Law) -> Losses:
    """The law of ln(first/second) under `first`."""
    total = Losses({Decimal(0): Decimal(1)}, fuzz=Decimal(0))
    pairs = [(p, q) for p, q in zip(_parts(first), _parts(second), strict=True) if p != q]
    noise = [(p, q) for p, q in pairs if isinstance(p, Normal) and isinstance(q, Normal) and p.variance == q.variance]
    if noise and len({p.variance for p, _ in noise}) == 1 and noise[0][0].variance > WIDE ** (1 / len(noise)):
        shifts = tuple(abs(p.center - q.center) for p, q in noise)
        total, pairs = _of_wide(shifts, noise[0][0].variance), [pair for pair in pairs if pair not in noise]
    elif len(noise) > 2 and len({p.variance for p, _ in noise}) > 1:
        bells = tuple(sorted((abs(p.center - q.center), p.variance) for p, q in noise))
        total, pairs = _of_bells(bells), [pair for pair in pairs if pair not in noise]
    for p, q in pairs:
        total = total.plus(_of_one(p, q))
    return total


def hockey_stick(first: Law, second: Law, epsilon: Fraction) -> Span:
    """The least δ for which Pr[one ∈ S] ≤ e^ε·Pr[other ∈ S] + δ for every S. The other direction is another call."""
    return losses(first, second).delta(epsilon)


def epsilon_at(first: Law, second: Law, delta: Fraction) -> Span:
    """The least ε ≥ 0 for which this direction is (ε, δ)-DP, to 10^-6; infinite where no ε up to 1,000 is."""
    loss_law, wanted = losses(first, second), decimal_of(delta)
    return Span(
        _least(lambda at: loss_law.delta(at).low <= wanted),
        _least(lambda at: loss_law.delta(at).high <= wanted),
    )


def _least(holds: Callable[[Fraction], bool]) -> Decimal:
    grain = 10**6
    low, high = 0, int(_FARTHEST) * grain
    if not holds(Fraction(high, grain)):
        return Decimal("Infinity")
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(Fraction(middle, grain)) else (middle + 1, high)
    return Decimal(low) / grain


def _parts(law: Law) -> tuple[Law, ...]:
    return law.parts if isinstance(law, Independent) else (law,)


def _of_one(first: Law, second: Law) -> Losses:
    """The losses of one coordinate."""
    if isinstance(first, Independent) or isinstance(second, Independent):
        return losses(first, second)
    if isinstance(first, Laplace) and isinstance(second, Laplace) and first.scale == second.scale:
        return _of_laplace(abs(first.center - second.center), first.scale)
    if isinstance(first, Normal) and isinstance(second, Normal) and first.variance == second.variance:
        return _of_normal(abs(first.center - second.center), first.variance)
    if isinstance(first, Finite) and isinstance(second, Finite):
        return _of_finite(first, second)
    raise ValueError("laws of different noise are not compared")


def _of_finite(first: Finite, second: Finite) -> Losses:
    atoms: dict[Decimal, Decimal] = {}
    infinite = Decimal(0)
    with localcontext(prec=DIGITS):
        for outcome, p in first.chances.items():
            q = second.chances.get(outcome, Decimal(0))
            if p and q:
                loss = (p / q).ln().quantize(PLACES)
                atoms[loss] = atoms.get(loss, Decimal(0)) + p
            elif p:
                infinite += p
    return Losses(atoms, infinite)


@lru_cache(maxsize=1024)
def _of_laplace(apart: int, scale: Fraction) -> Losses:
    with localcontext(prec=DIGITS):
        ratio = exp_decimal(-1 / scale)
        side = exp_decimal(-Fraction(apart) / scale) / (1 + ratio)
        atoms = {_told(Fraction(apart) / scale): 1 / (1 + ratio), _told(Fraction(-apart) / scale): side}
        power = Decimal(1)
        for place in range(1, apart):
            power *= ratio
            atoms[_told(Fraction(apart - 2 * place) / scale)] = (1 - ratio) / (1 + ratio) * power
    return Losses(atoms)


@lru_cache(maxsize=1024)
def _of_normal(apart: int, variance: Fraction) -> Losses:
    noise, reach = Normal(0, variance), math.isqrt(int(140 * variance)) + 2
    with localcontext(prec=DIGITS):
        atoms = {
            _told(Fraction(apart**2 - 2 * apart * z) / (2 * variance)): chance(noise, z)
            for z in range(-reach, reach + 1)
        }
        return Losses(atoms, lost=2 * exp_decimal(Fraction(-70)))


@lru_cache(maxsize=64)
def _of_wide(shifts: tuple[int, ...], variance: Fraction) -> Losses:
    mean = float(sum(shift * shift for shift in shifts) / (2 * variance))
    edges = [place / _CELLS for place in range(-_SIDES * _CELLS, _SIDES * _CELLS + 1)]
    below = [math.erfc(-edge / math.sqrt(2)) / 2 for edge in edges]
    root = math.sqrt(2 * mean)
    atoms: dict[Decimal, Decimal] = {}
    for low, p, more in zip(edges, below, below[1:], strict=False):
        loss = Decimal(mean + root * (low + 0.5 / _CELLS)).quantize(PLACES)
        atoms[loss] = atoms.get(loss, Decimal(0)) + Decimal(max(more - p, 0.0) * (1 - 1e-9))
    fuzz = Decimal(float(sum(shifts) / variance) * (1 + 1e-9) + root * 0.51 / _CELLS)
    return Losses(atoms, lost=Decimal("1e-8"), fuzz=fuzz)


@lru_cache(maxsize=64)
def _of_bells(bells: tuple[tuple[int, Fraction], ...]) -> Losses:
    """Each bell by what it moves by and its variance."""
    laws, first = [], 0
    for apart, variance in bells:
        reach = math.isqrt(int(140 * variance)) + 2
        z = np.arange(-reach, reach + 1)
        chances = np.exp(-(z**2) / (2 * float(variance)))
        places = np.rint((apart**2 - 2 * apart * z) / (2 * float(variance)) / _STEP).astype(np.int64)
        laws.append(np.bincount(places - places.min(), weights=chances / chances.sum()))
        first += int(places.min())
    cells = 1 << (sum(map(len, laws)) - 1).bit_length()
    summed = np.fft.irfft(math.prod((np.fft.rfft(law, cells) for law in laws), start=np.ones(1)), cells)
    told = np.rint((first + np.arange(cells)) * (_STEP / _TOLD)).astype(np.int64)
    chances = np.bincount(told - told[0], weights=np.clip(summed, 0, None))
    atoms = {
        (Decimal(int(told[0]) + place) * Decimal(str(_TOLD))).quantize(PLACES): Decimal(float(p) * (1 - 1e-9))
        for place, p in enumerate(chances)
        if p > 1e-15
    }
    fuzz = Decimal((len(bells) * _STEP + _TOLD) * 0.501)
    return Losses(atoms, lost=max(Decimal(0), 1 - sum(atoms.values(), Decimal(0))) + Decimal("1e-8"), fuzz=fuzz)


def _told(loss: Fraction) -> Decimal:
    return decimal_of(loss).quantize(PLACES)


# Questions of the catalogue -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Worst:
    """The largest loss over all neighbouring tables of the small world, in each quantity; the pair is the worst in the
    quantity that is claimed (where a δ is claimed, at half of its ε)."""

    epsilon: Decimal  # max-divergence; infinite where no ε holds at δ = 0
    renyi: float  # at the order that was asked for
    delta: Span | None  # at the claimed ε, where a δ is claimed
    pair: Pair


def worst(query: AnyQuery, order: Fraction = ORDER, whole: bool = False) -> Worst:
    """The exact loss of a question: over every pair of neighbours that decides (`pairs`), in both directions. `whole`
    lists all pairs, also where a theorem makes that needless."""
    claimed = cost(query.loss(), order)
    at, _ = claimed_at(query.loss())
    epsilon, most, delta = Decimal("-Infinity"), -math.inf, None
    pair: Pair | None = None
    rank: tuple[float, float] | None = None
    known: dict[Any, Law | None] = {}
    for one, other in pairs(query, whole):
        first, second = laws_of(query, one, other, known)
        own, curve = max_divergence(first, second), renyi(first, second, float(order))
        epsilon, most = max(epsilon, own), max(most, curve)
        if claimed.delta:
            span = hockey_stick(first, second, at)
            delta = span if delta is None else Span(max(delta.low, span.low), max(delta.high, span.high))
            # A δ of 10^-6 is never seen in draws: at half of the claimed ε a pair is picked whose δ is.
            place = (float(hockey_stick(first, second, at / 2).high), 0.0)
        elif claimed.epsilon is None:
            place = (curve, 0.0)
        else:
            place = (round(float(own), 12), curve)
        if rank is None or place > rank:
            rank, pair = place, (one, other)
    assert pair is not None
    return Worst(epsilon, most, delta, pair)


def claimed_at(loss: Loss) -> tuple[Fraction, Fraction]:
    """The ε and the δ that a loss claims; without a finite ε, the one that follows at SEEN_DELTA beside its own δ."""
    claimed = cost(loss, ORDER)
    if claimed.epsilon is not None:
        return claimed.epsilon, claimed.delta
    epsilon = zcdp.epsilon_of([loss], SEEN_DELTA + claimed.delta)
    assert epsilon is not None
    return epsilon, SEEN_DELTA + claimed.delta


def laws_of(query: AnyQuery, one: Any, other: Any, known: dict[Any, Law | None] | None = None) -> tuple[Law, Law]:
    """The laws of a question on two statistics, on one support; that of the values it finds depends on both.
    `known` keeps those that were computed already."""
    if isinstance(query, FindValues):
        return found_laws(dict(one), dict(other), query.threshold, query.scale)
    if isinstance(query, FindDeclarations):
        return _declared_laws(query, one, other, {} if known is None else known)
    cached = {} if known is None else known
    for statistic in (one, other):
        if (key := key_of(statistic)) not in cached:
            cached[key] = query.law(statistic)
    first, second = cached[key_of(one)], cached[key_of(other)]
    if first is None or second is None:
        raise ValueError("a question without a law has no exact audit")
    return first, second


def _declared_laws(
    query: FindDeclarations, one: Any, other: Any, known: dict[Any, Any]
) -> tuple[Independent, Independent]:
    """Of ranges the law itself; of every value that either table holds, as in `found_laws`, with Gaussian noise."""
    sides: tuple[list[Law], list[Law]] = ([], [])
    for (_, kind), *both in zip(query.asked, one, other, strict=True):
        if kind != "list":
            for parts, value in zip(sides, both, strict=True):
                if (kind, value) not in known:
                    known[kind, value] = query.ends_law(value, kind)
                parts.extend(known[kind, value])
            continue
        for name in sorted({name for value in both for name, _ in value}):
            counts = [dict(value).get(name, 0) for value in both]
            for parts, count in zip(sides, counts, strict=True):
                parts.append(found_bell(count, query.threshold, query.variance, min(counts), max(counts)))
    return Independent(tuple(sides[0])), Independent(tuple(sides[1]))
