"""How many people are at or below every point, from a tree of noisy counts.

Guarantee   ε-DP under replace-one and under add/remove; or ρ-zCDP with Gaussian noise.
Theorem     hierarchical counts: Hay, Rastogi, Miklau, Suciu 2010; Dwork, Naor, Pitassi, Rothblum 2010; the noise is
            that of `of_counts`.
Statistic   a tree over at most MOST_LEAVES equal cells of the grid, B branches at each node, L levels (the cells are
            the first, the root is left out): the rows in every node. A row is in one node of each level, so a person
            of at most k rows changes L·k in L1 on each side, L·k² in squared L2; two sides under replace-one.
Draw        every node's count + noise.
Accuracy    what is at or below a cell is a sum of nodes, none of them twice: at each level those left of its own path.
            The noise of the longest such sum, all cells at once by a union bound. B is chosen for the least of it,
            from the number of cells alone.
Several     draws are averaged node by node; sums of means are as far off as a sum of that many more noises, divided.
Cost        one grouped scan; one draw for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dpengine.core.json_types import Figures, Json, JsonObject
from dpengine.declared.condition_words import who
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.counts.of_counts import OfCounts
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Released
from dpengine.mechanisms.telling import FEW, NEARLY
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say
from dpengine.noise.tails import gaussian_mean_reach, sum_reach, total_reach
from dpengine.statistics.counts import BinCounts

MOST_LEAVES = 1_000
EXACT_SUMS = 12  # noises whose sum is bounded by its exact law; more by Chernoff's bound


@dataclass(frozen=True, kw_only=True)
class CdfTree(OfCounts):
    card: ClassVar[Card] = Card(
        key="cdf_tree",
        asked_on=("ask", "whatif"),
        order=140,
        version=1,
        answer="curve",
        states=(FEW,),
        caveats=("falls",),
        parameters=(
            Parameter("column", "column.ordered", required=True),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of a number": {"column": "x"},
            "of days of some, Gaussian": {"column": "b", "where": IN_A, "noise": "gaussian"},
        },
        example=Example({"column": "visits"}),
        twins=("half", "small"),
        covered="test_the_tree_keeps_its_band_also_when_averaged",
    )

    column: str

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = str(given["column"])
        facts.schema.ordered(name)
        return {"column": name}

    def own_json(self) -> JsonObject:
        return {"column": self.column}

    def sentence(self) -> str:
        return say("sentence.cdf_tree", column=self.column, who=who(self.where, rows=self._rows))

    @property
    def _rows(self) -> bool:
        return self.facts.unit.id_column is not None

    @property
    def leaves(self) -> int:
        return min(self.facts.schema[self.column].size, MOST_LEAVES)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first code of every cell."""
        size = self.facts.schema[self.column].size
        return tuple(place * size // self.leaves for place in range(self.leaves))

    @property
    def levels(self) -> int:
        return _shape(self.leaves)[1]

    @property
    def longest(self) -> int:
        """Nodes in the longest sum."""
        return _longest(self.leaves)

    def need(self) -> BinCounts:
        return BinCounts(self.column, self.starts, self.facts.schema[self.column].size, self.where)

    @property
    def moves(self) -> tuple[int, int]:
        return (2 if self.facts.relation == "replace" else 1), self.levels * self.facts.unit.at_most

    @property
    def variance(self) -> Fraction:
        """In squared L2 a side is L·k², not (L·k)², because a row is counted once in each level."""
        return self.moves[0] * self.levels * self.facts.unit.at_most**2 / (2 * self.rho)

    def measured(self, value: int | tuple[int, ...]) -> tuple[int, ...]:
        """Every node, the cells first."""
        branches, levels = _shape(self.leaves)
        nodes: list[int] = []
        level = list(value if isinstance(value, tuple) else (value,))
        for _ in range(levels):
            nodes += level
            level = [sum(level[place : place + branches]) for place in range(0, len(level), branches)]
        return tuple(nodes)

    @property
    def numbers(self) -> int:
        return self.leaves

    def reach(self, looks: int = 1) -> int | Fraction:
        """How far the number at or below a cell can be off, all cells at once: a sum of `longest` means."""
        beta, noises = self.beta / self.leaves, self.longest * looks
        if self.noise:
            total = int(gaussian_mean_reach(self.variance, noises, beta) * noises)  # a whole number by its definition
        else:
            total = (sum_reach if noises <= EXACT_SUMS else total_reach)(self.scale, noises, beta)
        return total if looks == 1 else Fraction(total, looks)

    @property
    def people_off(self) -> Fraction:
        return Fraction(self.reach())

    def promise(self) -> Within:
        return Within(self.people_off, self.leaves, self.beta, Fraction(0))

    @property
    def most(self) -> int:
        return self.facts.about * self.facts.unit.at_most

    def state(self, value: Json, interval: Json) -> str:
        """Does the band contain nearly every curve?"""
        return FEW if max(high - low for low, high in interval.values()) >= NEARLY * self.most else ""

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 8)

    def labels(self) -> list[str]:
        """The last value of every cell."""
        column = self.facts.schema.ordered(self.column)
        ends = [start - 1 for start in self.starts[1:]] + [column.size - 1]
        return [column.text(end) for end in ends]

    def around(self, raw: Figures, looks: int) -> Released:
        reach = self.reach(looks)
        below = [sum(sum(raw[first:end]) for first, end in parts) for parts in _sums(self.leaves)]
        value = dict(zip(self.labels(), below, strict=True))
        return Released(value, {name: (count - reach, count + reach) for name, count in value.items()})


@lru_cache(maxsize=64)
def _shape(leaves: int) -> tuple[int, int]:
    """(B, L): branches and levels, for the least noise in a sum of about L(B−1) nodes of scale ∝ L."""
    options = []
    for branches in range(2, max(leaves, 2) + 1):
        levels, reached = 1, branches
        while reached < leaves:
            levels, reached = levels + 1, reached * branches
        options.append((levels**3 * (branches - 1), branches, levels))
    _, branches, levels = min(options)
    return branches, levels


@lru_cache(maxsize=64)
def _sums(leaves: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """For every cell, the nodes whose counts add up to all that is at or below it: ranges [first, end) of
    `measured`."""
    branches, levels = _shape(leaves)
    begins, width = [0], leaves
    for _ in range(levels):
        begins.append(begins[-1] + width)
        width = -(-width // branches)
    sums = []
    for cells in range(1, leaves + 1):
        parts, place = [], cells
        for level in range(levels):
            left = place if level == levels - 1 else place % branches
            place //= branches
            first = begins[level] + (0 if level == levels - 1 else place * branches)
            if left:
                parts.append((first, first + left))
        sums.append(tuple(parts))
    return tuple(sums)


@lru_cache(maxsize=64)
def _longest(leaves: int) -> int:
    return max(sum(end - first for first, end in parts) for parts in _sums(leaves))
