"""Several percentiles with their ranges from one tree of noisy counts: the “tree” noise of `quantile`.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     hierarchical counts, as in `curves.cdf_tree`: every grid point is a cell, and a person of at most m rows
            changes L·m in L1 on each side, a = 2 sides under replace-one and 1 under add/remove.
Draw        every node's count + discrete Laplace noise of scale a·L·m/ε.
Range       let S(c) = (rows at or below cell c) − α·(all rows). A cell with S(c−1) ≤ 0 ≤ S(c) holds a true percentile.
            Let S̃ be S from the nodes, and t(c) a bound on its noise except with chance β/k on both sides together. S̃
            comes from least squares over all nodes or from a short sum of them (both in `curves.count_tree`), for each
            cell the one with the lesser t, a choice of public facts.
            The range goes from the first cell with S̃(c) ≥ −t(c) to the last with S̃(c−1) ≤ t(c−1). It misses c only if
            S̃(c) < −t(c) or S̃(c−1) > t(c−1): two one-sided chances of β/(2k) for each of k shares. So all ranges hold
            at once with probability ≥ 1−β, on every table.
Point       halfway between the first cell with S̃ ≥ 0 and the last with S̃(c−1) ≤ 0.
Accuracy    if every S̃(c) is within T of S(c), the rank of the point is off by T at most, since S never falls: T bounds
            the noise of the farthest cell except with β/|R|.
Noise       of S̃ as a sum: as many nodes as the sum has, if the number of rows is public. Else α times the sum of the
            last level is subtracted too: then no node counts more than once, and Chernoff's bound for this many whole
            noises holds, because a cumulant of symmetric noise rises with the size of its factor. By least squares: the
            weights of the nodes, α times all rows among them, by Chernoff's bound.
Cost        one grouped scan; one draw for each node.
Root        “gaussian_root”: Gaussian noise by a root of the matrix of sums (`curves.count_tree.rooted`) in place of the
            tree, ρ-zCDP with ρ = ε²/(2a). Range, point and accuracy are the same, with the reach of its noise.
By group    a tree for each group, all for one ε: each row is in one node of each level of one tree, so all trees
            together change no more than one would. With roots, a row that goes from one group to another moves two
            columns, each in its own root: the squared lengths add up to at most twice the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Loss
from dpengine.core.types import Floats
from dpengine.mechanisms.choices.joint_cuts import Codes, Cuts
from dpengine.mechanisms.curves import count_tree
from dpengine.mechanisms.noise import Added, GaussianNoise, LaplaceNoise, NoiseKind
from dpengine.mechanisms.query import Sensitivity
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Law
from dpengine.noise.tails import gaussian_mix_reach, weighted_reaches
from dpengine.statistics.need import Spread

MOST_CELLS = 1_000
ROUNDED = count_tree.ROUNDED  # far above the rounding of floats here
EXACT_SUMS = 12  # the exact law bounds a sum of up to this many noises; Chernoff's bound a longer one


@dataclass(frozen=True)
class TreeCuts(NoiseKind):
    """The tree noise of `quantile`. `epsilon` is for all groups together, `beta` for one group."""

    name: ClassVar[str] = "tree"
    each: ClassVar[type[Added]] = LaplaceNoise  # of every node

    asked: Cuts
    epsilon: Fraction
    beta: Fraction

    @property
    def shape(self) -> count_tree.TreeShape:
        return count_tree.balanced(self.asked.size)

    @property
    def levels(self) -> int:
        return self.shape.levels

    @property
    def sides(self) -> int:
        return 2 if self.asked.replaced else 1

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("l1", self.sides * self.levels * self.asked.rows_each)

    @property
    def added(self) -> Added:
        return self.each.fitted(self.sensitivity().bound, self.epsilon, self.sides)

    def loss(self) -> Loss:
        return self.each.loss(self.epsilon, self.sides)

    @cached_property
    def width(self) -> int:
        """The number of nodes."""
        return sum(self.shape.widths)

    def _cells(self, value: Spread) -> list[int]:
        cells = [0] * self.asked.size
        for code, count in zip(value.codes.tolist(), value.counts.tolist(), strict=True):
            cells[code] = count
        return cells

    def measured(self, value: Spread) -> tuple[int, ...]:
        return tuple(count_tree.nodes_of(self._cells(value), self.shape))

    def draw(self, value: Spread, coins: Coins) -> Codes:
        return tuple(self.added.draw(self.measured(value), coins))

    def law(self, value: Spread) -> tuple[Law, ...]:
        return tuple(self.added.law(count) for count in self.measured(value))

    @cached_property
    def _top(self) -> int:
        """The index of the first node in the last level."""
        return sum(self.shape.widths[:-1])

    @property
    def _lengths(self) -> list[int]:
        """For each cell, a bound on how many noises its S̃ adds up."""
        if self.asked.rows is not None:
            return list(count_tree.lengths(self.shape, True))
        whole, top = self.width - self._top, self._top
        sums = count_tree.sums(self.shape, False)
        return [whole + sum(part.end - part.first for part in parts if part.end <= top) for parts, _ in sums]

    def _reach(self, noises: int, beta: Fraction) -> int:
        if not noises:
            return 0
        return self.added.sum_reach(noises, beta, EXACT_SUMS if self.asked.rows is not None else 0)

    def _plain(self, beta: Fraction) -> Floats:
        """For each cell a bound on the noise of S̃ as a sum of nodes, except with chance β."""
        by_length = {noises: self._reach(noises, beta) for noises in set(self._lengths)}
        return np.array([by_length[noises] for noises in self._lengths], dtype=np.float64)

    def _fitted(self, beta: Fraction, share: Fraction) -> Floats:
        """For each cell a bound on the noise of S̃ by least squares, except with chance β."""
        root = share if self.asked.rows is None else Fraction(0)
        return _fit_reaches(self.shape, self.asked.rows is not None, root, self.added.size, beta)

    def reaches(self, beta: Fraction, share: Fraction) -> Floats:
        """t: for each cell a bound on the noise of the better S̃, except with chance β."""
        return np.minimum(self._plain(beta), self._fitted(beta, share))

    def farthest(self, beta: Fraction) -> int:
        """The largest of these bounds over all cells and shares, rounded up."""
        return ceil(max(float(self.reaches(beta, share).max()) for share in self.asked.shares) + ROUNDED)

    @property
    def rows_off(self) -> Fraction:
        return Fraction(self.farthest(self.beta / self.asked.size))

    @property
    def shift(self) -> int:
        """How many ranks the ends of a range can be off at most."""
        return self.farthest(self.beta / len(self.asked.shares))

    def over(self, drawn: Codes, share: Fraction, beta: Fraction) -> Floats:
        """S̃ of every cell, from the sum of nodes or from least squares: whichever has the lesser bound at chance β."""
        by_sums, all_of_sums = self._sums(drawn)
        fit = [float(sum_of) for sum_of in count_tree.fitted_tree(drawn, self.shape, self.asked.rows)]
        all_of_fit = fit[-1] if self.asked.rows is None else self.asked.rows
        sums = np.array(by_sums, dtype=np.float64) - float(share) * all_of_sums
        least = np.array(fit, dtype=np.float64) - float(share) * all_of_fit
        return np.where(self._plain(beta) <= self._fitted(beta, share), sums, least)

    def _sums(self, drawn: Codes) -> tuple[list[int | Fraction], int]:
        """The number of rows at or below each cell, and the number of all rows, as sums of nodes."""
        below = count_tree.sums_of(drawn, self.shape, self.asked.rows)
        return below, sum(drawn[self._top :]) if self.asked.rows is None else self.asked.rows

    def triples(self, drawn: Codes) -> list[Codes]:
        """For every share (point, lower end, upper end)."""
        each, everywhere = self.beta / len(self.asked.shares), self.beta / self.asked.size
        answers: list[Codes] = []
        for share in self.asked.shares:
            first, end = self._between(self.over(drawn, share, everywhere), np.zeros(self.asked.size))
            ends = self._between(self.over(drawn, share, each), self.reaches(each, share) + ROUNDED)
            answers.append(((first + end) // 2, *ends))
        return answers

    def _between(self, over: Floats, reaches: Floats) -> tuple[int, int]:
        """The first cell with S̃ ≥ −t, and the last cell c with S̃(c−1) ≤ t(c−1)."""
        from_below, from_above = np.flatnonzero(over >= -reaches), np.flatnonzero(over[:-1] <= reaches[:-1])
        first = int(from_below[0]) if len(from_below) else self.asked.size - 1
        return first, int(from_above[-1]) + 1 if len(from_above) else 0


@lru_cache(maxsize=256)
def _fit_reaches(shape: count_tree.TreeShape, known: bool, root: Fraction, scale: Fraction, beta: Fraction) -> Floats:
    return weighted_reaches(scale, *count_tree.tree_arrays(shape, known, root), beta)


@dataclass(frozen=True)
class RootCuts(TreeCuts):
    """The “gaussian_root” noise of `quantile`: Gaussian noise by a root of the matrix of sums."""

    name: ClassVar[str] = "gaussian_root"
    each: ClassVar[type[Added]] = GaussianNoise

    def sensitivity(self) -> Sensitivity:
        moved = count_tree.moved(self.asked.size, self.asked.replaced)
        if self.asked.grouped and self.asked.replaced:
            moved = 2 * count_tree.moved(self.asked.size, replaced=False)
        return Sensitivity("l2sq", moved * self.asked.rows_each**2)

    @cached_property
    def width(self) -> int:
        return self.asked.size

    def measured(self, value: Spread) -> tuple[int, ...]:
        return tuple(count_tree.rooted(self._cells(value)))

    def reaches(self, beta: Fraction, share: Fraction) -> Floats:
        """`reaches` for the root. A secret number of rows adds α < 1 times the last sum: at most its length."""
        lengths, sums = count_tree.prefix_lengths(self.asked.size)
        more = 0 if self.asked.rows is not None else 1
        return gaussian_mix_reach(self.added.size, lengths + more * lengths[-1], sums + more * sums[-1], beta)

    def farthest(self, beta: Fraction) -> int:
        return ceil(float(self.reaches(beta, self.asked.shares[0])[-1]) + ROUNDED)

    def over(self, drawn: Codes, share: Fraction, beta: Fraction) -> Floats:
        below = count_tree.prefix_sums(list(drawn))
        return np.asarray(
            below - float(share) * (below[-1] if self.asked.rows is None else self.asked.rows), dtype=np.float64
        )
