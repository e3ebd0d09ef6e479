"""The exact privacy loss of a release, computed from its law: no draws, and floats only where stated.

**Hockey-stick.** δ(ε) = Σ (P − e^ε·Q)₊ = E_P[(1 − e^(ε−L))₊] with L = ln(P/Q): the least δ for which the pair keeps
(ε, δ) in this direction. It needs only the law of L under P. Independent coordinates add their losses, so that law is a
convolution; coordinates on which the two tables agree drop out.

    Finite    one atom for each outcome; outcomes that Q lacks have infinite loss and count in full.
    Laplace   outside the two centres L is constant: the two sides are one atom each, d − 1 points lie between. Exact.
    Normal    L = (d² − 2dz)/(2σ²), on a window |z| ≤ t with t² ≥ 140σ². Beyond lies less than 2e^-70, since the noise
              is σ²-subgaussian (Canonne, Kamath, Steinke 2020, Lemma 5); it counts in full in the upper end.
    Wide      Normals of large variances v (WIDE): L = Σ (d² − 2dZ)/(2v). Each Z is within 1 of a continuous N(0, v)
              (`tails.gaussian_mix_reach`), so L is within Σ |d|/v of N(m, 2m), m = Σ d²/(2v), which is cut into cells;
              both errors are in `fuzz`. Rounding of floats, and the tail beyond seven deviations (less than 10^-11),
              is lost.
    Many      More than two Normals of several variances: their atoms, each moved to a grid of _STEP, are summed as
              floats and put on a grid of _GRID; their shift is in `fuzz`, rounding of floats is lost.

**Max-divergence**, the exact ε, is `laws.max_divergence`; the Rényi divergence `laws.renyi` (floats, twelve digits).

**Pairs.** Every two neighbours of the small world are compared, or fewer if a theorem shows that they decide.

*One row decides* (thesis, Thm 4.7). A mechanism of the form Y_d = (Y_{d₁}, …, Y_{d_n}) with independent Y_{d_i} is
(ε, δ)-DP on tables of n rows if Y is on tables of one; and so is everything computed from it (Thm 4.3). So if every row
is released by itself, the |D|(|D|−1) ordered pairs of one-row tables decide what n·C(|D|, 2)·|D|^(n−1) pairs of tables
would (Ex. 4.8): 56 instead of 2,520 here. Whether a question *has* this form is checked: on every table of two and of
three rows its law must be made of the laws of its rows (`made_of_rows`); otherwise all pairs are listed.

*Events* (Thm 4.1) need no list at all: for a finite law the sum of positive parts is the worst event's excess.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, combinations_with_replacement
from typing import Any

import numpy as np

from dpengine.accountant import compositions
from dpengine.accountant.costs import cost
from dpengine.accountant.loss import Loss
from dpengine.audit.world import POSSIBLE_ROWS, key_of, neighbouring_statistics
from dpengine.core.exact import decimal_of, exp_decimal, first_true
from dpengine.core.types import Floats, Json
from dpengine.declared.unit import Unit
from dpengine.mechanisms.choices.find_declarations import FindDeclarations, ValueCounts
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.laws import Finite, Independent, Laplace, Law, Normal, above, chance, max_divergence, renyi

# The law of a value that is released only if its noisy count reaches a threshold: hidden, or a count


@lru_cache(maxsize=4096)
def found_tent(count: int, threshold: int, scale: Fraction, last: int) -> Finite:
    """The law of a list's value with Laplace noise: hidden, or its noisy count from the threshold on. `last` is at
    least its count in both tables, so the ratio of the two laws is constant from there on: we keep that as one outcome
    and lose nothing."""
    if count == 0:
        return Finite({"hidden": Decimal(1)})  # a value that nobody holds is never released
    noisy = Laplace(count, scale)
    chances: dict[object, Decimal] = {place: chance(noisy, place) for place in range(threshold, last)}
    return Finite({"hidden": 1 - above(noisy, threshold - 1), **chances, "beyond": above(noisy, last - 1)})


@lru_cache(maxsize=4096)
def found_bell(count: int, threshold: int, variance: Fraction, least: int, most: int) -> Finite:
    """`found_tent` with Gaussian noise. `least` and `most` are the lesser and the larger count of the two tables, so
    that they share one window; beyond it lies less than 2e^-70."""
    if count == 0:
        return Finite({"hidden": Decimal(1)})
    noisy, reach = Normal(count, variance), math.isqrt(int(140 * variance)) + 2
    chances = {place: chance(noisy, place) for place in range(least - reach, most + reach + 1)}
    hidden = sum((p for place, p in chances.items() if place < threshold), Decimal(0))
    return Finite({"hidden": hidden} | {place: p for place, p in chances.items() if place >= threshold})


# The law of a privacy loss, and sums of independent ones
#
# A `Span` holds the true value. Losses are kept to 10^-25. If a convolution has more than MOST_ATOMS of them, they are
# moved to a grid of 10^-6. Beyond MOST_PRODUCTS they are first moved to a grid of at most CELLS points, without the
# outermost 10^-15 of chance, which are lost, and summed as floats. Each moves by at most `fuzz`; since (1 − e^(ε−L))₊
# rises with L, its values at L ∓ fuzz give the two ends. Chances come from laws of 28 digits: TOLERANCE, far above
# their rounding, is added at both ends.

TOLERANCE = Decimal("1e-20")
MOST_ATOMS = 20_000
MOST_PRODUCTS = 10**6  # of two losses; beyond, a convolution in whole decimals takes minutes
CELLS = 8_000
PLACES, _COARSE = Decimal("1e-25"), Decimal("1e-6")
_ENDS = 1e-15
DIGITS = 40


@dataclass(frozen=True)
class Span:
    """The true value is neither below `low` nor above `high`."""

    low: Decimal
    high: Decimal


@dataclass(frozen=True)
class Losses:
    """The law of L = ln(P/Q) under P: chances by loss, each loss true to ± fuzz; the chance of outcomes that Q lacks;
    and the omitted chance, which may have any loss."""

    atoms: dict[Decimal, Decimal]
    infinite: Decimal = Decimal(0)
    lost: Decimal = Decimal(0)
    fuzz: Decimal = PLACES

    def delta(self, epsilon: Fraction) -> Span:
        """Bounds on δ(ε), the part of P that e^ε·Q does not cover."""
        with localcontext(prec=DIGITS):
            at = decimal_of(epsilon)
            low, high = (self._over(at + self.fuzz), self._over(at - self.fuzz))
            return Span(
                max(Decimal(0), self.infinite + low - TOLERANCE),
                min(Decimal(1), self.infinite + self.lost + high + TOLERANCE),
            )

    def _over(self, at: Decimal) -> Decimal:
        """Σ p·(1 − e^(at−L)) over losses L > at, as Σ p − e^at·Σ p·e^(−L). Each sum is at most 1, so DIGITS places
        suffice although much of them cancels."""
        losses, chances, covered = self._from_above
        larger = len(losses) - bisect_right(losses, at)
        return chances[larger] - at.exp() * covered[larger]

    @cached_property
    def _from_above(self) -> tuple[list[Decimal], list[Decimal], list[Decimal]]:
        """The losses in order; and for each k the chance of the k largest under P and under Q."""
        with localcontext(prec=DIGITS):
            order = sorted(self.atoms)
            chances = accumulate((self.atoms[loss] for loss in reversed(order)), initial=Decimal(0))
            covered = accumulate((self.atoms[loss] * (-loss).exp() for loss in reversed(order)), initial=Decimal(0))
            return order, list(chances), list(covered)

    def plus(self, other: Losses) -> Losses:
        """The losses of two independent coordinates together, with their chances of infinite and of unknown loss."""
        if len(self.atoms) * len(other.atoms) > MOST_PRODUCTS:
            return _on_one_grid(self, other)
        with localcontext(prec=DIGITS):
            atoms: dict[Decimal, Decimal] = {}
            for loss, p in self.atoms.items():
                for two, q in other.atoms.items():
                    atoms[loss + two] = atoms.get(loss + two, Decimal(0)) + p * q
            infinite = 1 - (1 - self.infinite) * (1 - other.infinite)
            finite = Losses(atoms, infinite, self.lost + other.lost, self.fuzz + other.fuzz)
        return finite if len(atoms) <= MOST_ATOMS else finite.coarser()

    def coarser(self) -> Losses:
        """Losses moved to the nearest point of a grid."""
        atoms: dict[Decimal, Decimal] = {}
        for loss, p in self.atoms.items():
            near = loss.quantize(_COARSE)
            atoms[near] = atoms.get(near, Decimal(0)) + p
        return Losses(atoms, self.infinite, self.lost, self.fuzz + _COARSE)


def _on_one_grid(one: Losses, other: Losses) -> Losses:
    """The sum of two laws with very many losses, both on one grid. Rounding of floats is lost."""
    kept = [_without_ends(each) for each in (one, other)]
    widest = max(losses[-1] - losses[0] for losses, _, _ in kept)
    step = max(float(_COARSE), widest / CELLS)
    summed, first, lost = np.ones(1), 0, one.lost + other.lost
    for losses, chances, outside in kept:
        places = np.rint(losses / step).astype(np.int64)
        summed = np.convolve(summed, np.bincount(places - places[0], weights=chances))
        first, lost = first + int(places[0]), lost + outside
    atoms = {
        (Decimal(step) * (first + place)).quantize(PLACES): Decimal(float(p) * (1 - 1e-11))
        for place, p in enumerate(summed)
        if p > 0
    }
    infinite = 1 - (1 - one.infinite) * (1 - other.infinite)
    return Losses(atoms, infinite, lost + Decimal("2e-11"), one.fuzz + other.fuzz + Decimal(step) * Decimal("1.001"))


def _without_ends(law: Losses) -> tuple[Floats, Floats, Decimal]:
    """Losses in order, with their chances, without the outermost of both ends; and the chance of those."""
    order = sorted(law.atoms)
    losses = np.array([float(loss) for loss in order])
    chances = np.array([float(law.atoms[loss]) for loss in order])
    inside = (np.cumsum(chances) > _ENDS) & (np.cumsum(chances[::-1])[::-1] > _ENDS)
    return losses[inside], chances[inside], 2 * Decimal(_ENDS)


# The compared tables

Pair = tuple[Json, Json]  # statistics of two neighbouring tables


def pairs(query: AnyQuery, whole: bool = False) -> Iterator[Pair]:
    """Every two different statistics of two neighbouring tables of the small world, in both directions; of tables of
    one row if those decide, unless the `whole` world is requested."""
    facts = query.facts
    alone = not whole and facts.relation == "replace" and facts.unit == Unit.rows() and made_of_rows(query)
    for first, second in neighbouring_statistics(query.need().of, facts.relation, facts.unit, 1 if alone else None):
        yield first, second
        if isinstance(query, FindDeclarations):
            yield from _lifted_columns(query, first, second)


def made_of_rows(query: AnyQuery) -> bool:
    """Does the question release every row by itself? It must declare so, and its law on every small table must be that
    of independent rows, each as on a table of its own."""
    if not query.row_wise:
        return False
    read = query.need().of
    alone = [_pair_parts(query, read((row,))) for row in POSSIBLE_ROWS]
    for many in (2, 3):
        for places in combinations_with_replacement(range(len(POSSIBLE_ROWS)), many):
            rows = tuple(POSSIBLE_ROWS[place] for place in places)
            if _pair_parts(query, read(rows)) != sum((alone[place] for place in places), Counter[str]()):
                return False
    return True


def _pair_parts(query: AnyQuery, value: Json) -> Counter[str]:
    law = query.law(value)
    return Counter(map(repr, law.parts if isinstance(law, Independent) else (law,)))


def _lifted(first: ValueCounts, second: ValueCounts, more: int) -> tuple[ValueCounts, ValueCounts]:
    """The same two tables with `more` further people for each value, so that counts are near the threshold."""
    names = sorted({name for name, _ in (*first, *second)})
    before, after = (tuple((name, held.get(name, 0) + more) for name in names) for held in (dict(first), dict(second)))
    return before, after


def _lifted_columns(query: FindDeclarations, one: Json, other: Json) -> Iterator[Pair]:
    """The same two tables with further people in each column: so that counts are near a list's threshold, and ranks
    beyond the one that an end of a range seeks."""
    kinds = [kind for _, kind in query.asked]
    for more in (query.threshold - 1, query.threshold + 2) if query.lists else (1,):
        lifted = [
            _lifted(a, b, more) if kind == "list" else (_many(a, query.slack(kind)), _many(b, query.slack(kind)))
            for kind, a, b in zip(kinds, one, other, strict=True)
        ]
        yield tuple(a for a, _ in lifted), tuple(b for _, b in lifted)


def _many(bands: tuple[int, ...], more: int) -> tuple[int, ...]:
    middle = len(bands) // 2
    return (*bands[:middle], bands[middle] + more, *bands[middle + 1 :])


# Divergences of two laws

ORDER = Fraction(11, 2)  # about the order that a budget of ε = 1, δ = 10^-6 freezes
WIDE = 10**5  # a coordinate with a larger variance has too many atoms; for k of them together, its k-th root
_CELLS, _SIDES = 100, 7  # cells in a deviation of a bell, and deviations to both sides
_STEP, _GRID = 5e-4, 5e-3  # for losses that are summed as floats
_FARTHEST = Decimal(1000)  # no claim is near e^-1000

SEEN_DELTA = Fraction(1, 1000)  # the δ at which a loss without a finite ε is shown and searched for


def losses(first: Law, second: Law) -> Losses:
    """The law of ln(first/second) under `first`."""
    total = Losses({Decimal(0): Decimal(1)}, fuzz=Decimal(0))
    pairs = [(p, q) for p, q in zip(_parts(first), _parts(second), strict=True) if p != q]
    noise = [(p, q) for p, q in pairs if isinstance(p, Normal) and isinstance(q, Normal) and p.variance == q.variance]
    from_here = WIDE ** (1 / len(noise)) if len({p.variance for p, _ in noise}) == 1 else WIDE
    wide = [(p, q) for p, q in noise if p.variance > from_here]
    rest = [pair for pair in noise if pair not in wide]
    if wide:
        total, pairs = _of_wide(_bells(wide)), [pair for pair in pairs if pair not in wide]
    if len(rest) > 2 and len({p.variance for p, _ in rest}) > 1:
        total, pairs = total.plus(_of_bells(_bells(rest))), [pair for pair in pairs if pair not in rest]
    for p, q in pairs:
        total = total.plus(_of_one(p, q))
    return total


def hockey_stick(first: Law, second: Law, epsilon: Fraction) -> Span:
    """The least δ for which Pr[first ∈ S] ≤ e^ε·Pr[second ∈ S] + δ for every S. The other direction is another call."""
    return losses(first, second).delta(epsilon)


def epsilon_at(first: Law, second: Law, delta: Fraction) -> Span:
    """The least ε ≥ 0 for which this direction is (ε, δ)-DP, to 10^-6; infinite if no ε up to 1,000 is."""
    loss_law, wanted = losses(first, second), decimal_of(delta)
    return Span(
        _least(lambda at: loss_law.delta(at).low <= wanted), _least(lambda at: loss_law.delta(at).high <= wanted)
    )


def _least(holds: Callable[[Fraction], bool]) -> Decimal:
    grain = 10**6
    if not holds(Fraction(_FARTHEST)):
        return Decimal("Infinity")
    return Decimal(first_true(lambda grains: holds(Fraction(grains, grain)), 0, int(_FARTHEST) * grain)) / grain


def _parts(law: Law) -> tuple[Law, ...]:
    return law.parts if isinstance(law, Independent) else (law,)


def _of_one(first: Law, second: Law) -> Losses:
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
        atoms = {_rounded(Fraction(apart) / scale): 1 / (1 + ratio), _rounded(Fraction(-apart) / scale): side}
        power = Decimal(1)
        for place in range(1, apart):
            power *= ratio
            atoms[_rounded(Fraction(apart - 2 * place) / scale)] = (1 - ratio) / (1 + ratio) * power
    return Losses(atoms)


@lru_cache(maxsize=1024)
def _of_normal(apart: int, variance: Fraction) -> Losses:
    noise, reach = Normal(0, variance), math.isqrt(int(140 * variance)) + 2
    with localcontext(prec=DIGITS):
        atoms = {
            _rounded(Fraction(apart**2 - 2 * apart * z) / (2 * variance)): chance(noise, z)
            for z in range(-reach, reach + 1)
        }
        return Losses(atoms, lost=2 * exp_decimal(Fraction(-70)))


def _bells(pairs: list[tuple[Normal, Normal]]) -> tuple[tuple[int, Fraction], ...]:
    """The shift and the variance of each pair of Gaussian laws, sorted."""
    return tuple(sorted((abs(p.center - q.center), p.variance) for p, q in pairs))


@lru_cache(maxsize=64)
def _of_wide(bells: tuple[tuple[int, Fraction], ...]) -> Losses:
    mean = float(sum(shift * shift / (2 * variance) for shift, variance in bells))
    edges = [place / _CELLS for place in range(-_SIDES * _CELLS, _SIDES * _CELLS + 1)]
    below = [math.erfc(-edge / math.sqrt(2)) / 2 for edge in edges]
    root = math.sqrt(2 * mean)
    atoms: dict[Decimal, Decimal] = {}
    for low, p, more in zip(edges, below, below[1:], strict=False):
        loss = Decimal(mean + root * (low + 0.5 / _CELLS)).quantize(PLACES)
        atoms[loss] = atoms.get(loss, Decimal(0)) + Decimal(max(more - p, 0.0) * (1 - 1e-9))
    nearly = float(sum(shift / variance for shift, variance in bells))
    fuzz = Decimal(nearly * (1 + 1e-9) + root * 0.51 / _CELLS)
    return Losses(atoms, lost=Decimal("1e-8"), fuzz=fuzz)


@lru_cache(maxsize=64)
def _of_bells(bells: tuple[tuple[int, Fraction], ...]) -> Losses:
    laws, first = [], 0
    for apart, variance in bells:
        reach = math.isqrt(int(140 * variance)) + 2
        z = np.arange(-reach, reach + 1)
        chances = np.exp(-(z**2) / (2 * float(variance)))
        steps = np.rint((apart**2 - 2 * apart * z) / (2 * float(variance)) / _STEP).astype(np.int64)
        laws.append(np.bincount(steps - steps.min(), weights=chances / chances.sum()))
        first += int(steps.min())
    cells = 1 << (sum(map(len, laws)) - 1).bit_length()
    summed = np.fft.irfft(math.prod((np.fft.rfft(law, cells) for law in laws), start=np.ones(1)), cells)
    places = np.rint((first + np.arange(cells)) * (_STEP / _GRID)).astype(np.int64)
    chances = np.bincount(places - places[0], weights=np.clip(summed, 0, None))
    atoms = {
        (Decimal(int(places[0]) + place) * Decimal(str(_GRID))).quantize(PLACES): Decimal(float(p) * (1 - 1e-9))
        for place, p in enumerate(chances)
        if p > 1e-15
    }
    fuzz = Decimal((len(bells) * _STEP + _GRID) * 0.501)
    return Losses(atoms, lost=max(Decimal(0), 1 - sum(atoms.values(), Decimal(0))) + Decimal("1e-8"), fuzz=fuzz)


def _rounded(loss: Fraction) -> Decimal:
    return decimal_of(loss).quantize(PLACES)


# Questions of the catalogue


@dataclass(frozen=True)
class Worst:
    """The largest loss over all neighbouring tables of the small world, in each quantity. The pair is the worst in the
    claimed quantity (if a δ is claimed, at half of its ε)."""

    epsilon: Decimal  # max-divergence; infinite if no ε holds at δ = 0
    renyi: float  # at the requested order
    delta: Span | None  # at the claimed ε, if a δ is claimed
    pair: Pair


def worst(query: AnyQuery, order: Fraction = ORDER, whole: bool = False) -> Worst:
    """The exact loss of a question: over every pair of neighbours that decides (`pairs`), in both directions. `whole`
    lists all pairs, even if a theorem makes that needless."""
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
            # A δ of 10^-6 is never seen in draws: choose a pair with a visible δ at half of the claimed ε.
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
    """The ε and the δ that a loss claims; without a finite ε, the ε that follows at a δ larger by SEEN_DELTA."""
    claimed = cost(loss, ORDER)
    if claimed.epsilon is not None:
        return claimed.epsilon, claimed.delta
    epsilon = compositions.zcdp_epsilon([loss], SEEN_DELTA + claimed.delta)
    assert epsilon is not None
    return epsilon, SEEN_DELTA + claimed.delta


def laws_of(query: AnyQuery, one: Any, other: Any, known: dict[Any, Law | None] | None = None) -> tuple[Law, Law]:
    """The laws of a question on two statistics, on one common support. `known` caches computed laws."""
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
    """`laws_of` column by column: for ranges the law itself; for lists the law of every value in either table."""
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
            least, spread = query.threshold, query.of_values.size
            for parts, count in zip(sides, counts, strict=True):
                if query.noise:
                    parts.append(found_tent(count, least, spread, max(least, *counts)))
                else:
                    parts.append(found_bell(count, least, spread, min(counts), max(counts)))
    return Independent(tuple(sides[0])), Independent(tuple(sides[1]))
