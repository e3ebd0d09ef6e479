"""Release several marginals together, by their residuals: the noise of each, the loss of all, and the accuracy of every
cell. Everything here follows from the columns' sizes.

Setting     columns with n_1, …, n_c cells; a row is in exactly one cell of each. For a set B of columns the marginal
            M_B counts the rows in each combination of their cells. Wanted are some marginals, each with a weight.
Residual    R_B = ⊗_{i∈B}(n_i·I − J)·M_B, a vector of integers, for every B that is part of a wanted set; J is all ones.
            A row r adds u_B(r) = ⊗(n_i·e_{r_i} − 1) to it, and
                ⟨u_B(r), u_B(s)⟩ = Π_{i∈B} n_i²·([r_i = s_i] − 1/n_i).
Release     R_B + Z, Z independent discrete Gaussian noise of parameter σ_B²·Πn_i² in each cell. The map comes first
            and the noise after it: noise drawn before the map does not have the loss claimed here.
Loss        one row added (p_B = Π_{i∈B}(1 − 1/n_i)):  ρ = ½·Σ_B p_B/σ_B²
            one row replaced by one that agrees with it on the columns E:  ρ = ½·Σ_B d_B(E)/σ_B² with
                d_B(E) = 2·Π_B(1−1/n_i) − 2·Π_{B∩E}(1−1/n_i)·Π_{B∖E}(−1/n_i),
            and the loss is the largest over all E. (Discrete Gaussian noise with whole shifts: Canonne, Kamath, Steinke
            2020, Theorem 14; Xiao, He, Zhang, Kifer 2023 for the decomposition.) A person of at most m rows moves each
            R_B by at most m such vectors; the norm Σ_B ‖·‖²/(σ_B²Πn_i²) is that of a Hilbert space, so by the triangle
            inequality m² times the larger of the two (one of the person's rows may be missing on one side).
            If the number of rows is public and one row is one person, R_∅ is known and needs no noise: d_∅ = 0.
Rebuilding  M_A = Σ_{B⊆A} ⊗_{i∈B}(I − J/n_i)·(R_B/Πn_i) ⊗_{i∈A∖B} (1/n_i)·1, so the noise of a cell of M_A has variance
                Σ_{B⊆A} σ_B²·Π_{i∈B}(1−1/n_i)·Π_{i∈A∖B} 1/n_i²,
            the same for all its cells. The noise is subgaussian with that parameter (ibid., Corollary 17).
Noise       `level`: least max_A weight_A·variance_A at a given loss, so that all cells are equally exact for equal
            weights. Else least Σ_A weight_A·variance_A. The sum, one row added:
            σ_B² ∝ √(p_B/c_B), c_B the cost of σ_B² in it. One row replaced: the same with a mixture of the d(E) for p,
            the mixture that makes the sum largest (Σ√(c_B·p_B) is concave in it: Frank and Wolfe). The maximum is the
            sum with the weights that make it largest (√(c·p) is concave in both together), found on the way: a
            marginal's weight grows with its variance. Any σ is valid; we compute the loss of the chosen σ, and round it
            up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain, combinations

import numpy as np

from dpengine.core.exact import ln_above, up
from dpengine.core.types import Floats, Integers

Columns = tuple[int, ...]  # places of columns, rising
MOST_TOGETHER = 16  # try all agreements of up to this many columns; beyond, take each residual at its worst
_STEPS = 60  # of Frank and Wolfe: within about one part in a hundred of the least
_FLOOR = 1e-3  # the least change of a residual, as a share of the largest: it may move in another mixture
_GRAIN = 10**6
_SPARE = 1 + 1e-9


def parts_of(columns: Columns) -> list[Columns]:
    """All subsets, the empty one first."""
    return list(chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1)))


@dataclass(frozen=True)
class ResidualLayout:
    """The wanted marginals of a table, and whether its number of rows is public and one row is one person."""

    sizes: tuple[int, ...]
    wanted: tuple[tuple[Columns, Fraction], ...]  # each with its weight
    known: bool  # the number of rows
    replaced: bool  # neighbours differ in a replaced row; else in a row added or left out
    rows: int = 1  # of one person, at most
    level: bool = False  # minimise the largest weighted variance, not the sum of all

    @cached_property
    def bases(self) -> list[Columns]:
        """Every set that needs a residual, smaller ones first."""
        parts = {part for columns, _ in self.wanted for part in parts_of(columns)}
        return sorted(parts - ({()} if self.known else set()), key=lambda part: (len(part), part))

    def cells(self, columns: Columns) -> int:
        return math.prod(self.sizes[place] for place in columns)

    def kept(self, columns: Columns) -> Fraction:
        """p_B = Π(1 − 1/n_i): the squared length by which an added row changes R_B/Πn_i."""
        return _share(tuple(self.sizes[place] for place in columns), ())

    def share(self, columns: Columns, part: Columns) -> Fraction:
        """The share of σ_part² in the variance of a cell of the marginal `columns`."""
        rest = tuple(self.sizes[place] for place in columns if place not in part)
        return _share(tuple(self.sizes[place] for place in part), rest)

    @cached_property
    def costs(self) -> dict[Columns, Fraction]:
        """c_B: the cost of σ_B² in the weighted sum of variances."""
        costs = dict.fromkeys(self.bases, Fraction(0))
        for columns, weight in self.wanted:
            for part in parts_of(columns):
                if part in costs:
                    costs[part] += weight * self.share(columns, part)
        return costs

    @cached_property
    def apart(self) -> dict[Columns, Floats]:
        """d_B(E), with an axis for each column of B: 0 if the rows differ there, 1 if they agree."""
        bounds = {}
        for part in self.bases:
            other = np.ones(())
            for place in part:
                ends = np.array([-1 / self.sizes[place], 1 - 1 / self.sizes[place]])
                other = other[..., None] * ends
            bounds[part] = np.maximum(2 * (float(self.kept(part)) - other), 0.0)
        return bounds

    def variance(self, columns: Columns, noise: Mapping[Columns, Fraction]) -> Fraction:
        """The variance of the noise in each cell of a marginal."""
        parts = (part for part in parts_of(columns) if part in noise)
        return sum((self.share(columns, part) * noise[part] for part in parts), Fraction(0))

    def rho(self, noise: Mapping[Columns, Fraction]) -> Fraction:
        """The loss of the whole release, rounded up."""
        added = sum((self.kept(part) / noise[part] for part in self.bases), Fraction(0))
        if not self.replaced:
            return self.rows**2 * added / 2
        most, _ = self.worst({part: float(1 / noise[part]) for part in self.bases})
        moved = up(Fraction(most * _SPARE), _GRAIN**2)  # a sum of few positive floats
        return self.rows**2 * (moved if self.known else max(moved, added)) / 2

    def worst(self, weights: Mapping[Columns, float]) -> tuple[float, dict[Columns, float]]:
        """max over E of Σ_B d_B(E)·weight_B, and the d_B(E) there. If too many columns are linked, an upper bound: each
        residual at its own worst."""
        tables = {part: table * weights[part] for part, table in self.apart.items()}
        agrees = _agreement(tables, self._order)
        if agrees is None:
            moves = {part: float(table.max()) for part, table in self.apart.items()}
        else:
            moves = {
                part: float(table[tuple(int(agrees[place]) for place in part)]) for part, table in self.apart.items()
            }
        return sum(moves[part] * weights[part] for part in moves), moves

    def moved(self) -> Fraction:
        """The largest squared length of one row's change to all residuals, with a margin for floats."""
        squares = {part: self.cells(part) ** 2 for part in self.bases}
        added = sum((self.kept(part) * square for part, square in squares.items()), Fraction(0))
        if not self.replaced:
            return added
        most, _ = self.worst({part: float(square) for part, square in squares.items()})
        replaced = Fraction(most * _SPARE)
        return replaced if self.known else max(replaced, added)

    @cached_property
    def bounded(self) -> bool:
        """Are too many columns linked, so that the loss is bounded and not computed?"""
        return self.replaced and self._order is None

    @property
    def _order(self) -> tuple[_Turn, ...] | None:
        return _order(tuple(self.apart), MOST_TOGETHER)

    def best(self, rho: Fraction) -> dict[Columns, Fraction]:
        """σ_B² for every base, with a loss of at most ρ and about the least weighted sum, or maximum, of variances."""
        shape = _level(self) if self.level else _shape(self)
        unit = self.rho(shape)
        return {part: up(value * unit / rho, _GRAIN) for part, value in shape.items()}


@lru_cache(maxsize=256)
def _shape(layout: ResidualLayout) -> dict[Columns, Fraction]:
    """σ_B² with about the least weighted sum of variances at some loss; `best` scales it. Any outcome is valid."""
    costs = {part: float(cost) for part, cost in layout.costs.items()}
    added = {part: float(layout.kept(part)) for part in layout.bases}
    weights = _weights(costs, added)
    if layout.replaced:
        mixed = _moves(layout, weights, added)
        for step in range(_STEPS):
            moves = _moves(layout, _weights(costs, mixed), added)
            stride = 2 / (step + 3)
            mixed = {part: (1 - stride) * mixed[part] + stride * moves[part] for part in mixed}
        weights = _weights(costs, mixed)
    return {part: Fraction(f"{1 / weight:.6g}") for part, weight in weights.items()}


@lru_cache(maxsize=256)
def _level(layout: ResidualLayout) -> dict[Columns, Fraction]:
    """σ_B² with about the least product of largest variance and loss, which scaling keeps: the best of all steps."""
    bases, wanted = layout.bases, layout.wanted
    place = {part: at for at, part in enumerate(bases)}
    triples = [
        (at, place[part], float(weight * layout.share(columns, part)))
        for at, (columns, weight) in enumerate(wanted)
        for part in parts_of(columns)
        if part in place
    ]
    marginal, of, share = (np.array(column) for column in zip(*triples, strict=True))
    added = {part: float(layout.kept(part)) for part in bases}
    matters, moves = np.ones(len(wanted)), np.array([added[part] for part in bases])
    mixed, best, least = moves, moves, math.inf
    for step in range(_STEPS):
        costs = np.bincount(of, share * matters[marginal], len(bases))
        weights = np.sqrt(costs / np.maximum(mixed, _FLOOR * mixed.max()))
        variances = np.bincount(marginal, share / weights[of], len(wanted))
        if layout.replaced:
            worst = _moves(layout, dict(zip(bases, weights.tolist(), strict=True)), added)
            moves = np.array([worst[part] for part in bases])
        if (judged := float(variances.max() * (moves @ weights))) < least:
            least, best = judged, weights
        stride = 2 / (step + 2)
        mixed = (1 - stride) * mixed + stride * moves
        matters = matters * variances / variances.max()
    return {part: Fraction(f"{1 / weight:.6g}") for part, weight in zip(bases, best.tolist(), strict=True)}


def _moves(
    layout: ResidualLayout, weights: Mapping[Columns, float], added: dict[Columns, float]
) -> dict[Columns, float]:
    """How the worst row changes each residual under these weights: replaced or, if their number is secret, added."""
    most, moves = layout.worst(weights)
    if not layout.known and sum(added[part] * weights[part] for part in added) > most:
        return added
    return moves


def _weights(costs: Mapping[Columns, float], moves: Mapping[Columns, float]) -> dict[Columns, float]:
    """1/σ² ∝ √(c/p); a residual that does not move still needs some noise, because it may move in another mixture."""
    floor = _FLOOR * max(moves.values())
    return {part: math.sqrt(costs[part] / max(moves[part], floor)) for part in costs}


_Turn = tuple[int, Columns, tuple[Columns, ...], Columns]  # a column, those around it, the tables with it, the rest


@lru_cache(maxsize=256)
def _order(parts: tuple[Columns, ...], most: int) -> tuple[_Turn, ...] | None:
    """The order of maximisation in `_agreement`, columns with few neighbours first; None if too many are linked."""
    waiting, order = list(parts), []
    while columns := {place for part in waiting for place in part}:
        reach: dict[int, set[int]] = {place: set() for place in columns}
        for part in waiting:
            for place in part:
                reach[place].update(part)
        chosen = min(columns, key=lambda place: (len(reach[place]), place))
        around = tuple(sorted(reach[chosen]))
        if len(around) > most:
            return None
        rest = tuple(place for place in around if place != chosen)
        order.append((chosen, around, tuple(part for part in waiting if chosen in part), rest))
        waiting = [part for part in waiting if chosen not in part]
        waiting += [] if rest in waiting else [rest]
    return tuple(order)


def _agreement(tables: Mapping[Columns, Floats], order: tuple[_Turn, ...] | None) -> dict[int, bool] | None:
    """On which columns two rows agree where the sum of one entry of each table is largest; None if too many columns are
    linked. We maximise over one column after the other."""
    if order is None:
        return None
    waiting, undone = dict(tables), []
    for chosen, around, with_it, rest in order:
        total = np.zeros((2,) * len(around))
        for part in with_it:
            total = total + waiting.pop(part).reshape([2 if place in part else 1 for place in around])
        axis = around.index(chosen)
        undone.append((chosen, rest, total.argmax(axis=axis)))
        waiting[rest] = waiting.get(rest, 0) + total.max(axis=axis)
    agrees: dict[int, bool] = {}
    for chosen, rest, picked in reversed(undone):
        agrees[chosen] = bool(picked[tuple(int(agrees[place]) for place in rest)])
    return agrees


def moved_parts(part: Columns, a: Floats) -> Iterator[tuple[Columns, Floats]]:
    """For a sum Σ a·cell of a marginal A and each B ⊆ A: v_B = ⊗_{i∈B}(I − J/n_i)·ā_B, with ā_B the mean of a over the
    columns of A not in B. The noise Z_B enters the sum as ⟨v_B, Z_B⟩/Πn_i, with variance σ_B²·‖v_B‖²."""
    for own in parts_of(part):
        rest = tuple(axis for axis, place in enumerate(part) if place not in own)
        mean = a.sum(axis=rest) / math.prod(a.shape[axis] for axis in rest) if rest else a
        for axis in range(mean.ndim):
            mean = mean - mean.sum(axis=axis, keepdims=True) / mean.shape[axis]
        yield own, np.asarray(mean)


def residual(cells: Integers) -> Integers:
    """R_B of a marginal, in integers; the axes are its columns."""
    for axis, size in enumerate(cells.shape):
        cells = size * cells - cells.sum(axis=axis, keepdims=True)
    return cells


def rebuilt(layout: ResidualLayout, columns: Columns, released: Mapping[Columns, Floats | Integers]) -> Floats:
    """A marginal from its released residuals: in floats, since it is post-processing."""
    shape = [layout.sizes[place] for place in columns]
    total = np.zeros(shape)
    for part in parts_of(columns):
        residual = np.asarray(released[part], dtype=np.float64) / layout.cells(part)
        for axis in range(residual.ndim):
            residual = residual - residual.mean(axis=axis, keepdims=True)
        for axis, place in enumerate(columns):
            if place not in part:
                residual = np.expand_dims(residual, axis) / layout.sizes[place]
        total = total + residual
    return total


@lru_cache(maxsize=10_000)
def _share(part: tuple[int, ...], rest: tuple[int, ...]) -> Fraction:
    """Π(1 − 1/n) over the sizes of a part, times Π 1/n² over those of the rest."""
    kept = math.prod((1 - Fraction(1, size) for size in part), start=Fraction(1))
    return kept / math.prod(size**2 for size in rest)


def union_reach(variance: float, numbers: int, beta: Fraction) -> float:
    """How far `numbers` noisy numbers can be off, all at once, except with probability β: by a union bound, since the
    noise is subgaussian, Pr[|Z| > t] ≤ 2·e^(−t²/(2V))."""
    return math.sqrt(2 * variance * _log(numbers, beta)) * _SPARE


@lru_cache(maxsize=10_000)
def _log(numbers: int, beta: Fraction) -> float:
    return float(ln_above(2 * numbers / beta))
