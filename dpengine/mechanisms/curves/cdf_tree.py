"""How many people are at or below every point, from a tree of noisy counts.

Guarantee   ε-DP under replace-one and under add/remove; or ρ-zCDP with Gaussian noise.
Theorem     hierarchical counts: Hay, Rastogi, Miklau, Suciu 2010; Dwork, Naor, Pitassi, Rothblum 2010; the noise is
            that of `noised`.
Statistic   a tree over at most MOST_LEAVES equal cells of the grid, B branches at each node, L levels (the cells are
            the first, the root is left out): the rows in every node. A row is in one node of each level, so a person
            of at most k rows changes L·k in L1 on each side, L·k² in squared L2; two sides under replace-one.
Draw        every node's count + noise.
Accuracy    the number at or below a cell comes from least squares over all nodes, or from a short sum of nodes, some of
            them subtracted, none of them twice (both in `count_tree`): for each cell the estimate with the lesser
            bound, a choice of public facts. A weighted sum of noises has the bound of `tails.weighted_reaches`, near
            the law of continuous noise, a short sum the exact law; all cells at once by a union bound. B depends on the
            number of cells, and on whether that of all rows is public (`count_tree.from_left` if not). True numbers are
            integers, so we round the result of least squares, and its range inwards. The promise is that of the
            farthest cell.
Root        “gaussian_root”: Gaussian noise by a root of the matrix of sums (`count_tree.rooted`) in place of the tree:
            ρ-zCDP at the same ρ, and less noise. All cells at once by a union bound.
Several     draws are averaged node by node; sums of means are as far off as a sum of that many more noises, divided.
Cost        one grouped scan; one draw for each node.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, sqrt
from typing import ClassVar

from dpengine.core.types import Figures, Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import FEW, NEARLY
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.curves import count_tree
from dpengine.mechanisms.noise import Added, GaussianNoise, LaplaceNoise
from dpengine.mechanisms.noised import OfCounts
from dpengine.mechanisms.promises import Runs, Within
from dpengine.mechanisms.query import Fields, Released, Sensitivity, read_column
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say
from dpengine.noise.tails import gaussian_mix_reach
from dpengine.statistics.counts import BinCounts

MOST_LEAVES = 1_000
EXACT_SUMS = 12  # the exact law bounds a sum of up to this many noises; Chernoff's bound a longer one


class GaussianRoot(GaussianNoise):
    """Gaussian noise on a root of the matrix of sums, in place of the tree."""

    name = "gaussian_root"


@dataclass(frozen=True, kw_only=True)
class CdfTree(OfCounts):
    card: ClassVar[Card] = Card(
        key="cdf_tree",
        order=140,
        answer="curve",
        states=(FEW,),
        caveats=("falls",),
        own=(Parameter("column", "column.ordered", required=True), WHERE),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of a number": {"column": "x"},
            "by a root": {"column": "x", "noise": "gaussian_root"},
            "of days of some, Gaussian": {"column": "b", "where": IN_A, "noise": "gaussian"},
        },
        example=Example({"column": "visits"}),
        broken_variants=("half", "small"),
        covered="test_the_tree_keeps_its_band_also_when_averaged",
    )

    accepts: ClassVar[tuple[type[Added], ...]] = (LaplaceNoise, GaussianNoise, GaussianRoot)

    column: str

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return {"column": read_column(given, facts.schema.ordered)}

    def sentence(self) -> str:
        return say("sentence.cdf_tree", column=self.column, who=self.whom())

    @property
    def leaves(self) -> int:
        return min(self.facts.schema[self.column].size, MOST_LEAVES)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first code of every cell."""
        size = self.facts.schema[self.column].size
        return tuple(place * size // self.leaves for place in range(self.leaves))

    @property
    def shape(self) -> count_tree.TreeShape:
        return (count_tree.from_left if self.everyone is None else count_tree.balanced)(self.leaves)

    @property
    def levels(self) -> int:
        return self.shape.levels

    @property
    def everyone(self) -> int | None:
        """The number of all rows, if it is public."""
        return self.facts.countable(self.where, self.column)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The number of nodes in the sum of each cell."""
        return count_tree.lengths(self.shape, self.everyone is not None)

    def need(self) -> BinCounts:
        return BinCounts(self.column, self.starts, self.facts.schema[self.column].size, self.where)

    @property
    def rooted(self) -> bool:
        return self.noise_kind is GaussianRoot

    @property
    def moves(self) -> tuple[int, int]:
        return self.facts.sides, self.levels * self.facts.unit.at_most

    def sensitivity(self) -> Sensitivity:
        if self.rooted:
            replaced = self.facts.relation == "replace"
            return Sensitivity("l2sq", count_tree.moved(self.leaves, replaced) * self.facts.unit.at_most**2)
        return super().sensitivity()

    @property
    def variance(self) -> Fraction:
        """σ². In squared L2 a side is L·k², not (L·k)², because a row is counted once in each level."""
        if self.rooted:
            return self.sensitivity().bound / (2 * self.rho)
        return self.moves[0] * self.levels * self.facts.unit.at_most**2 / (2 * self.rho)

    def measured(self, value: int | tuple[int, ...]) -> tuple[int, ...]:
        """The count in every node, cells first; for “gaussian_root” R·x, R a root of the matrix of sums."""
        cells = list(value if isinstance(value, tuple) else (value,))
        return tuple(count_tree.rooted(cells) if self.rooted else count_tree.nodes_of(cells, self.shape))

    @property
    def numbers(self) -> int:
        return self.leaves

    def reach(self, draws: int = 1) -> int | Fraction:
        """How far the number at or below a cell can be off, for all cells at once: the largest reach of any cell."""
        if self.rooted:
            return ceil(self._rooted_reaches(draws)[-1] + Fraction(1, 2))
        fits: dict[int, list[float]] = {}
        for nodes, fit in zip(self.lengths, self._fitted_reaches(draws), strict=True):
            fits.setdefault(nodes, []).append(fit)
        farthest: int | Fraction = 0
        # Cells with sums of as many nodes share one plain reach, and none of them is off by more than its fit and ½.
        for nodes, some in sorted(fits.items(), key=lambda group: -max(group[1])):
            some.sort()
            if some[-1] + Fraction(1, 2) <= farthest:
                break
            short = self._reach(nodes, draws)
            less = bisect_left(some, short)
            if less < len(some):
                farthest = max(farthest, short)
            if less:
                farthest = max(farthest, floor(some[less - 1] + Fraction(1, 2)))
        return farthest

    def _fitted_reaches(self, draws: int) -> tuple[float, ...]:
        """How far the estimate of every cell by least squares can be off before it is rounded."""
        return _fitted(self.shape, self.everyone is not None, self.added[0], draws, self.beta / self.leaves)

    def _plain_reaches(self, draws: int) -> list[int | Fraction]:
        """How far the sum of nodes of every cell can be off."""
        by_length = {nodes: self._reach(nodes, draws) for nodes in set(self.lengths)}
        return [by_length[nodes] for nodes in self.lengths]

    def _reach(self, nodes: int, draws: int) -> int | Fraction:
        """How far a sum of this many nodes can be off, each of them the mean of `draws` draws."""
        if not nodes:
            return 0
        total = self.added[0].sum_reach(nodes * draws, self.beta / self.leaves, EXACT_SUMS)
        return total if draws == 1 else Fraction(total, draws)

    def _rooted_reaches(self, draws: int) -> list[float]:
        """How far the number at or below every cell can be off by the root, for the mean of `draws` draws."""
        lengths, sums = count_tree.prefix_lengths(self.leaves)
        reaches = gaussian_mix_reach(self.variance, lengths / sqrt(draws), sums, self.beta / self.leaves)
        return [reach + count_tree.ROUNDED for reach in reaches.tolist()]

    @property
    def people_off(self) -> Fraction:
        return Fraction(self.reach())

    def promise(self) -> Within:
        return Within(self.people_off, self.leaves, self.beta, Fraction(0))

    @property
    def most(self) -> int:
        return self.facts.about * self.facts.unit.at_most

    def state(self, value: Json, interval: Json) -> str:
        """FEW if the band contains nearly every curve, else ""."""
        return FEW if max(high - low for low, high in interval.values()) >= NEARLY * self.most else ""

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 8)

    def labels(self) -> list[str]:
        """The last value of every cell."""
        column = self.facts.schema.ordered(self.column)
        ends = [start - 1 for start in self.starts[1:]] + [column.size - 1]
        return [column.text(end) for end in ends]

    def from_mean(self, raw: Figures, draws: int) -> Released:
        if self.rooted:
            sums = count_tree.prefix_sums([float(node) for node in raw]).tolist()
            ends = zip(sums, self._rooted_reaches(draws), strict=True)
            return self.by_label((round(sum_), (floor(sum_ - off), ceil(sum_ + off))) for sum_, off in ends)
        plain = zip(count_tree.sums_of(raw, self.shape, self.everyone), self._plain_reaches(draws), strict=True)
        best = count_tree.fitted_tree(tuple(raw), self.shape, self.everyone)
        fitted = zip(best, self._fitted_reaches(draws), strict=True)
        return self.by_label(
            (below, (below - short, below + short)) if short <= fit else _whole(value, fit)
            for (below, short), (value, fit) in zip(plain, fitted, strict=True)
        )

    def spreads(self, value: Json) -> Iterator[Runs]:
        """The count of a cell is the difference of two cumulative counts, so it can be twice as far off."""
        if self.where.everyone:
            below = [0.0, *(float(value[label]) for label in self.labels())]
            counts = tuple(after - before for before, after in pairwise(below))
            yield self.column, self.starts, counts, 2 * float(self.reach())


def _whole(best: Fraction, reach: float) -> tuple[int, tuple[int, int]]:
    """The nearest integer to an estimate, and the range of the integers within `reach` of it."""
    low, high = ceil(best - Fraction(reach)), floor(best + Fraction(reach))
    near = round(best)
    return near, (min(low, near), max(high, near))


@lru_cache(maxsize=256)
def _fitted(shape: count_tree.TreeShape, known: bool, noise: Added, draws: int, beta: Fraction) -> tuple[float, ...]:
    """How far least squares over the mean of `draws` draws can be off in every cell, except with probability β."""
    return noise.mixed_reaches(*count_tree.tree_arrays(shape, known, Fraction(0)), draws, beta)
