"""Other ways to a synthetic table, as their papers tell them, in floats: to compare with, never for a release. Each is
given the true marginals and returns how likely it takes each combination to be. Their papers fit by least squares,
each measurement weighted by its noise; so does the fit here, that of this project with one τ for all (`soft_fit`),
which keeps it from following noise to the end. That ours follows each marginal by what its own noise says is part of
ours.

plain   every pair of columns with Gaussian noise of its own, ρ divided evenly: no table, so nothing of three columns
mst     McKenna, Miklau, Sheldon 2021 (arXiv 2108.04978): all columns; a spanning tree of pairs, chosen by how far each
        is from independent; these pairs. A third of ρ each
aim     McKenna, Mullins, Sheldon, Miklau 2022 (arXiv 2201.12677), workload all triples: rounds of choosing the marginal
        of up to three columns that is farthest off beyond its noise, measuring, and fitting; when a measurement changes
        little, noise is halved. Its limit on the size of a model is one on the cells of a marginal here
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from dpengine.mechanisms.synthetic.soft_fit import Points, Target, raked
from dpengine.released.synthetic_fit import MOST_PLACES, MOST_POINTS, SAMPLED, listed, sampled

Marginal = Callable[[tuple[int, ...]], Any]
MOST_CELLS = 20_000
POINTS, SWEEPS = 2**17, 8  # of a fit inside the rounds


class World:
    """The table, as its marginals, and what one person moves of them: `twice` under replace-one."""

    def __init__(self, codes: list[Any], sizes: tuple[int, ...], replaced: bool, seed: int) -> None:
        self.codes, self.sizes, self.replaced = codes, sizes, replaced
        self.people, self.rng = len(codes[0]), np.random.default_rng(seed)

    def cells(self, part: tuple[int, ...]) -> int:
        return math.prod(self.sizes[place] for place in part)

    def truth(self, part: tuple[int, ...]) -> Any:
        return Points(tuple(self.codes), np.ones(self.people)).marginal(part, self.sizes)

    def measured(self, part: tuple[int, ...], rho: float) -> Target:
        """One row added moves a marginal by 1, one replaced by √2."""
        variance = (2 if self.replaced else 1) / (2 * rho)
        noise = self.rng.normal(0, math.sqrt(variance), [self.sizes[place] for place in part])
        return Target(part, self.truth(part) + np.rint(noise), variance)

    def chosen(self, scores: dict[tuple[int, ...], float], moved: float, epsilon: float) -> tuple[int, ...]:
        """The exponential mechanism, ε²/8 of ρ."""
        rate = epsilon / (2 * moved * (2 if self.replaced else 1))
        odds = {part: rate * score + self.rng.gumbel() for part, score in scores.items()}
        return max(odds, key=odds.__getitem__)

    def fit(self, targets: list[Target], points: int, sweeps: int) -> Points:
        known = float(self.people if self.replaced else max(float(targets[0].cells.sum()), 1.0))
        points = max(min(points, MOST_PLACES // len(targets)), 2**14)
        few = math.prod(self.sizes) <= MOST_POINTS
        first = listed(self.sizes, targets, known) if few else sampled(self.sizes, targets, known, 1, points)
        return raked(first, self.sizes, targets, sweeps)


def shares(world: World, points: Points) -> Marginal:
    total = points.weights.sum()
    return lambda part: points.marginal(part, world.sizes) / total


def plain(world: World, rho: float) -> Marginal:
    pairs = list(combinations(range(len(world.sizes)), 2))
    told = {pair: world.measured(pair, rho / len(pairs)).cells / world.people for pair in pairs}

    def marginal(part: tuple[int, ...]) -> Any:
        if len(part) > 2:
            raise KeyError("no triple was bought")
        if len(part) == 2:
            return told[part]
        pair = next(one for one in pairs if part[0] in one)
        return told[pair].sum(axis=1 - pair.index(part[0]))

    return marginal


def mst(world: World, rho: float) -> Marginal:
    columns = len(world.sizes)
    singles = [world.measured((place,), rho / 3 / columns) for place in range(columns)]
    alone = shares(world, world.fit(singles, POINTS, SWEEPS)) if world.cells(tuple(range(columns))) <= 2**21 else None
    own = [np.maximum(one.cells, 0) / np.maximum(one.cells, 0).sum() for one in singles]
    scores = {}
    for pair in combinations(range(columns), 2):
        expected = alone(pair) if alone else np.outer(own[pair[0]], own[pair[1]])
        scores[pair] = float(np.abs(world.truth(pair) - world.people * expected).sum())
    groups, tree = {place: place for place in range(columns)}, []
    epsilon = math.sqrt(8 * rho / 3 / (columns - 1))
    for _ in range(columns - 1):
        able = {pair: one for pair, one in scores.items() if groups[pair[0]] != groups[pair[1]]}
        pair = world.chosen(able, 1.0, epsilon)
        tree.append(pair)
        groups = {place: groups[pair[0]] if of == groups[pair[1]] else of for place, of in groups.items()}
    told = [world.measured(pair, rho / 3 / len(tree)) for pair in tree]
    return shares(world, world.fit([*singles, *told], SAMPLED, 40))


def aim(world: World, rho: float) -> Marginal:
    columns = len(world.sizes)
    workload = list(combinations(range(columns), min(3, columns)))
    every = [part for size in (1, 2, 3) for part in combinations(range(columns), size)]
    weight = {part: sum(len(set(part) & set(one)) for one in workload) for part in every}
    truth = {part: world.truth(part) for part in every if world.cells(part) <= MOST_CELLS}
    rounds = 16 * columns
    part_rho, epsilon = 0.9 * rho / rounds, math.sqrt(8 * 0.1 * rho / rounds)
    targets = [world.measured((place,), part_rho) for place in range(columns)]
    used = columns * part_rho
    points = world.fit(targets, POINTS, SWEEPS)
    while used < rho * (1 - 1e-9):
        if rho - used < 2 * (part_rho + epsilon**2 / 8):
            part_rho, epsilon = 0.9 * (rho - used), math.sqrt(8 * 0.1 * (rho - used))
        sd = math.sqrt((2 if world.replaced else 1) / (2 * part_rho))
        now = shares(world, points)
        able = [part for part in truth if world.cells(part) <= max(MOST_CELLS * used / rho, 50)]
        scores = {
            part: weight[part]
            * (np.abs(truth[part] - world.people * now(part)).sum() - math.sqrt(2 / math.pi) * sd * world.cells(part))
            for part in able
        }
        part = world.chosen(scores, float(max(weight[one] for one in able)), epsilon)
        before = world.people * now(part)
        targets = _added(targets, world.measured(part, part_rho))
        used += part_rho + epsilon**2 / 8
        points = world.fit(targets, POINTS, SWEEPS)
        after = world.people * shares(world, points)(part)
        if np.abs(after - before).sum() <= math.sqrt(2 / math.pi) * sd * world.cells(part):
            part_rho, epsilon = 4 * part_rho, 2 * epsilon
    return shares(world, world.fit(targets, SAMPLED, 40))


def _added(targets: list[Target], more: Target) -> list[Target]:
    """A marginal that was measured before counts with both measurements, by their precision."""
    for place, one in enumerate(targets):
        if one.columns == more.columns:
            variance = 1 / (1 / one.variance + 1 / more.variance)
            cells = variance * (one.cells / one.variance + more.cells / more.variance)
            return [*targets[:place], Target(one.columns, cells, variance), *targets[place + 1 :]]
    return [*targets, more]


WAYS: dict[str, Callable[[World, float], Marginal]] = {
    "plain pairs": plain,
    "MST, our reading": mst,
    "AIM, our reading": aim,
}
