"""A fit of maximum entropy to noisy marginals, over listed points: floats, computed from released numbers alone.

Fit         points x, each a combination of cells, have a weight p(x) for about as many rows as there are. Released are
            y_A, the marginals, each cell with noise of variance V_A. The weights minimise
                KL(p ‖ q) + Σ_A ‖M_A·p − y_A‖²/(2·τ_A·V_A),
            q the points' first weights: the nearest to q among those that fit the released marginals about as well as
            their noise allows. No weight is below 0, so the fit itself removes noise from empty cells.
Trust       KL(p ‖ q) is about Σ(m − m_q)²/(2·m_q) over the cells of a marginal: as if its cells lay about those of q
            with variance c·m_q, c = 1/τ. How far a marginal really is from q can be read off its noisy cells,
            E‖y − m_q‖² = c·Σm_q + cells·V, so each has its own τ (`trusted`): we do not fit independent columns to
            noise, and follow dependent ones. But no closer than a part of the noise: λ is of the order of (y − m)/(τV),
            so τV is the number of rows by which a cell has to be off to be multiplied or divided by e, and with
            τV = κ·√V that is κ standard deviations of its noise, whatever the spend (`followed`). We follow a triple
            more closely than a pair, and compare it with the fit of all others (`by_others`): a triple that another
            one explains is not fitted to its noise.
            We solve the dual, marginal by marginal: p = q·exp(Σ_A λ_A), and given all others λ_A has the cells
                m′ = τV·ω(ln(m·e^(−λ)/(τV)) + y/(τV)),  λ′ = (y − m′)/(τV),
            m the marginal now and ω Wright's function (w + ln w = z). Each step is an exact maximum over λ_A of a
            concave function, so it converges; for τ → 0 it is iterative proportional fitting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpengine.core.types import Floats, Integers
from dpengine.mechanisms.marginals.residuals import Columns

SWEEPS = 40
SOFT = 0.05  # the default τ
TRUST, OFF_TREE = 3.0, 1.0  # τ = TRUST/c; OFF_TREE/c for marginals compared with more than single columns
HARDEST, SOFTEST = 0.7, 5.0  # but at least HARDEST/√V and at most SOFTEST
HARDEST_THREE = 0.3  # HARDEST for three columns
_NEAR = 2e-4  # a sweep that moves less than this share of all weight, on average over targets, is the last
_PAIRED, _STEEPEST = 20, 500.0  # sweeps of a triple to its pairs, and the largest exponent
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Target:
    """A released marginal: its cells, and the variance of the noise in each."""

    columns: Columns
    cells: Floats
    variance: float


@dataclass(frozen=True)
class Points:
    """Combinations of cells, by column, and the number of rows of each."""

    codes: tuple[Integers, ...]
    weights: Floats

    def places(self, columns: Columns, sizes: Sequence[int]) -> Integers:
        """The cell of a marginal that each point is in; the last column varies fastest."""
        place = self.codes[columns[0]].astype(np.int64)
        for column in columns[1:]:
            place = place * sizes[column] + self.codes[column]
        return place

    def marginal(self, columns: Columns, sizes: Sequence[int]) -> Floats:
        shape = [sizes[place] for place in columns]
        sums = np.bincount(self.places(columns, sizes), self.weights, math.prod(shape))
        return np.asarray(sums, dtype=np.float64).reshape(shape)


def quiet(done: int, total: int) -> None:
    """Report no progress."""


def raked(
    first: Points,
    sizes: Sequence[int],
    targets: Sequence[Target],
    sweeps: int = SWEEPS,
    progress: Progress = quiet,
) -> Points:
    """The fit over given points, which starts from their weights."""
    return _solved(first, sizes, targets, sweeps, progress)[0]


def by_others(first: Points, sizes: Sequence[int], targets: Sequence[Target], sweeps: int) -> dict[Columns, Floats]:
    """What the fit to all other marginals expects of each triple: m·e^(−λ), with the pairs of the fit. What other
    triples explain of it is included."""
    points, dual = _solved(first, sizes, targets, sweeps, quiet)
    explained: dict[Columns, Floats] = {}
    for target, own in zip(targets, dual, strict=True):
        if target.cells.ndim == 3:
            fitted = points.marginal(target.columns, sizes)
            bare = fitted * np.exp(np.minimum(-own.reshape(fitted.shape), _STEEPEST))
            for _ in range(_PAIRED):
                for axis in range(3):
                    wanted, now = fitted.sum(axis=axis, keepdims=True), bare.sum(axis=axis, keepdims=True)
                    bare = bare * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
            explained[target.columns] = bare
    return explained


def _solved(
    first: Points, sizes: Sequence[int], targets: Sequence[Target], sweeps: int, progress: Progress
) -> tuple[Points, list[Floats]]:
    """The fitted points, and λ. If the points are all combinations in order, sums go along axes: half the time."""
    grid = len(first.weights) == math.prod(sizes)
    weights = first.weights.copy().reshape(tuple(sizes) if grid else -1)
    total = float(weights.sum())
    places = [] if grid else [first.places(target.columns, sizes).astype(np.int32) for target in targets]
    rests = [tuple(axis for axis in range(len(sizes)) if axis not in target.columns) for target in targets]
    dual: list[Floats] = [np.zeros(target.cells.size) for target in targets]
    for sweep in range(sweeps):
        moved = 0.0
        for at, target in enumerate(targets):
            if grid:
                now: Floats = np.asarray(weights.sum(axis=rests[at]), dtype=np.float64).ravel()
            else:
                now = np.asarray(np.bincount(places[at], weights, target.cells.size), dtype=np.float64)
            then, change = soft_step(now, dual[at], target.cells.ravel(), SOFT * target.variance)
            dual[at] += change
            factor = np.exp(change)
            weights *= np.expand_dims(factor.reshape(target.cells.shape), rests[at]) if grid else factor[places[at]]
            moved += float(np.abs(then - now).sum())
        progress(sweep + 1, sweeps)
        if moved < _NEAR * total * len(targets):
            break
    return Points(first.codes, weights.ravel() * (total / weights.sum())), dual


def soft_step(now: Floats, dual: Floats, wanted: Floats, wide: float) -> tuple[Floats, Floats]:
    """(m′, λ′ − λ) of one step, see above; a cell without points stays as it is."""
    from scipy.special import wrightomega  # slow to import

    met = now > 0
    bare = np.log(now[met]) - dual[met] - math.log(wide)
    then = now.copy()
    then[met] = wide * wrightomega(bare + wanted[met] / wide)
    change = np.zeros_like(now)
    change[met] = (wanted[met] - then[met]) / wide - dual[met]
    return then, change


def followed(target: Target, deviations: float) -> Target:
    """The target with a variance that lets a fit be off by about `deviations` standard deviations of the noise."""
    return Target(target.columns, target.cells, deviations * math.sqrt(target.variance) / SOFT)


def trusted(target: Target, expected: Floats, rows: float, trust: float = TRUST, hardest: float = HARDEST) -> Target:
    """The target with τ/SOFT times its variance; τ depends on its distance from `expected` beyond its noise."""
    beyond = float(((target.cells - expected) ** 2).sum()) - target.cells.size * target.variance
    least = hardest / math.sqrt(target.variance)
    tau = SOFTEST if beyond <= 0 else min(max(trust * rows / beyond, least), SOFTEST)
    return Target(target.columns, target.cells, target.variance * tau / SOFT)


def of_pairs(
    sizes: Sequence[int], rows: float, shares: Sequence[Floats], pairs: Sequence[Target], sweeps: int
) -> Floats:
    """The joint counts of three columns by the fit of maximum entropy to their pairs."""
    weights = np.full(1, rows)
    for own in shares:
        weights = (weights[:, None] * own).ravel()
    joint: Floats = raked(Points((), weights), sizes, pairs, sweeps=sweeps).weights.reshape(tuple(sizes))
    return joint


def of_pair(cells: Floats, variance: float, first: Floats, second: Floats, rows: float) -> Floats:
    """The joint distribution of two columns, fitted to their noisy cells from the columns' own shares."""
    alone = np.outer(first, second).ravel()
    then, _ = soft_step(rows * alone, np.zeros_like(alone), cells.ravel(), SOFT * variance)
    shares: Floats = (then / then.sum()).reshape(cells.shape)
    return shares


def given_first(joint: Floats, other: Floats) -> Floats:
    """The distribution of the second column given the first; `other` for empty cells of the first."""
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), other)


def nearest(cells: Floats) -> Floats:
    """The nearest distribution to noisy cells: the same amount subtracted from all, and none below 0."""
    flat = np.sort(cells.ravel())[::-1]
    total = max(float(flat.sum()), 1.0)
    over = (np.cumsum(flat) - total) / np.arange(1, len(flat) + 1)
    last = int(np.flatnonzero(flat > over)[-1])
    shares: Floats = np.maximum(cells - over[last], 0.0) / total
    scaled: Floats = shares / shares.sum()
    return scaled


def together(joint: Floats) -> float:
    """The mutual information of a joint distribution."""
    alone = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    met = joint > 0
    return float((joint[met] * np.log(joint[met] / alone[met])).sum())


def tree(many: int, pairs: Mapping[Columns, Floats]) -> list[tuple[int | None, int]]:
    """Each column with its parent: a spanning forest of the pairs with the most mutual information."""
    strength = {pair: together(joint) for pair, joint in pairs.items()}
    joined: list[tuple[int | None, int]] = []
    left = set(range(many))
    while left:
        near = {pair: strong for pair, strong in strength.items() if (pair[0] in left) != (pair[1] in left)}
        if near:
            pair = max(near, key=near.__getitem__)
            child = pair[0] if pair[0] in left else pair[1]
            joined.append((pair[1] if child == pair[0] else pair[0], child))
        else:
            child = max(left, key=lambda place: max((s for p, s in strength.items() if place in p), default=0.0))
            joined.append((None, child))
        left.discard(child)
    return joined
