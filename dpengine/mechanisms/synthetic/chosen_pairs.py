"""Which pairs of columns a synthetic table measures where all of them are too many: chosen one after the other, by how
far each is from what was released before (as in MST and AIM: McKenna, Miklau, Sheldon 2021; 2022).

How ρ is divided, what a choice costs and what noise a chosen pair gets is stated in `synthetic_table`.

Expected    what is known of a pair before it is measured, in whole rows: the pairs measured so far, each fitted by
            itself, form a forest of those that hang together most; along its path two columns are as likely together
            as the steps between them say, and without a path they are independent. It follows from released numbers.
Score       Σ|counts − expected| − c, c what the noise of its measurement would come to, √(2/π)·cells·sd: a pair whose
            measurement would be mostly noise is not worth one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

import numpy as np

from dpengine.core.arrays import Floats, Integers
from dpengine.core.exact import floor, up
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout
from dpengine.mechanisms.synthetic.soft_fit import nearest, of_pair, tree

FOR_COLUMNS, FOR_CHOICES = Fraction(1, 8), Fraction(1, 8)  # of ρ
_GRAIN = 10**6


@dataclass(frozen=True)
class Choosing:
    """Public facts of all choices: which pairs there are, how many are chosen, and what each may lose."""

    layout: ResidualLayout  # of the columns by themselves
    pairs: tuple[Columns, ...]
    turns: int
    rho: Fraction  # of everything

    @property
    def for_columns(self) -> Fraction:
        return self.rho * FOR_COLUMNS

    @cached_property
    def epsilon(self) -> Fraction:
        """ε′ of a choice, rounded down: T·ε′²/8 is at most its part of ρ."""
        if not self.turns:
            return Fraction(0)
        return Fraction(isqrt(floor(8 * self.rho * FOR_CHOICES / self.turns * _GRAIN**2)), _GRAIN)

    @property
    def for_measuring(self) -> Fraction:
        """Of each chosen pair."""
        return self.rho * (1 - FOR_COLUMNS - FOR_CHOICES) / self.turns

    @property
    def moved(self) -> int:
        """By how much one person moves a score, at most."""
        return self.layout.rows * (2 if self.layout.replaced else 1)

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.moved)

    def apart(self, pair: Columns) -> Fraction:
        """The most that one row moves the residual of a pair by, over the number of its cells, squared."""
        first, second = (Fraction(1, self.layout.sizes[place]) for place in pair)
        kept = (1 - first) * (1 - second)
        if not self.layout.replaced:
            return kept
        # The two rows agree in neither column, in the first, or in the second.
        others = (first * second, -(1 - first) * second, -first * (1 - second))
        return max(kept, *(2 * (kept - other) for other in others))

    @cached_property
    def noise(self) -> dict[Columns, Fraction]:
        """σ² of every pair's residual, were it chosen."""
        rows = self.layout.rows**2
        return {pair: up(rows * self.apart(pair) / (2 * self.for_measuring), _GRAIN) for pair in self.pairs}

    def worth(self, variances: Mapping[Columns, float]) -> Integers:
        """c of every pair."""
        told = [math.sqrt(2 / math.pi * variances[pair]) * self.layout.cells(pair) for pair in self.pairs]
        return np.array([round(one) for one in told], dtype=np.int64)

    def scores(self, cells: Sequence[Integers], expected: Mapping[Columns, Integers], worth: Integers) -> Integers:
        far = [int(np.abs(own - expected[pair]).sum()) for own, pair in zip(cells, self.pairs, strict=True)]
        return np.array(far, dtype=np.int64) - worth

    def expected(
        self, rows: float, columns: Sequence[Floats], measured: Mapping[Columns, tuple[Floats, float]]
    ) -> dict[Columns, Integers]:
        """Of every pair, from the columns by themselves and the pairs measured so far, with their variances."""
        shares = [nearest(one) for one in columns]
        known = {
            pair: of_pair(cells, variance, shares[pair[0]], shares[pair[1]], rows)
            for pair, (cells, variance) in measured.items()
        }
        given = _given(shares, known)
        return {
            (one, other): np.rint(rows * shares[one][:, None] * given[one][other]).astype(np.int64)
            for one, other in self.pairs
        }


def _given(shares: Sequence[Floats], known: Mapping[Columns, Floats]) -> list[dict[int, Floats]]:
    """For every two columns, how likely each cell of the second is given that of the first."""
    steps: dict[int, list[tuple[int, Floats]]] = {place: [] for place in range(len(shares))}
    for parent, child in tree(len(shares), known):
        if parent is not None:
            joint = known[(parent, child)] if parent < child else known[(child, parent)].T
            steps[parent].append((child, _rows(joint, shares[child])))
            steps[child].append((parent, _rows(joint.T, shares[parent])))
    found = []
    for start in range(len(shares)):
        reached = {start: np.eye(len(shares[start]))}
        waiting = [start]
        while waiting:
            now = waiting.pop()
            for after, likely in steps[now]:
                if after not in reached:
                    reached[after] = reached[now] @ likely
                    waiting.append(after)
        alone = {
            place: np.tile(one, (len(shares[start]), 1)) for place, one in enumerate(shares) if place not in reached
        }
        found.append(reached | alone)
    return found


def _rows(joint: Floats, other: Floats) -> Floats:
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), other)
