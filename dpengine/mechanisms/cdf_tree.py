"""How many people are at or below every point, from a tree of noisy counts.

Guarantee   ε-DP under replace-one and under add/remove; or ρ-zCDP with Gaussian noise.
Theorem     hierarchical counts: Hay, Rastogi, Miklau, Suciu 2010; Dwork, Naor, Pitassi, Rothblum 2010; the noise is
            that of `of_counts`.
Statistic   a tree over at most MOST_LEAVES equal cells of the grid, B branches at each node, L levels: the rows in
            every node. A row is in one node of each level, so a person of at most k rows changes L·k in L1 on each
            side, L·k² in squared L2; two sides under replace-one.
Draw        every node's count + noise.
Accuracy    what is at or below a cell is a sum of at most L(B−1) nodes, none of them twice: the noise of so many, all
            cells at once by a union bound. B is chosen for the least of it, from public facts.
Cost        one grouped scan; one draw for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, ClassVar

from dpengine import needs
from dpengine.bounds import sum_reach, total_reach
from dpengine.contract import Card, Facts, Parameter, Released, Within
from dpengine.errors import AllowanceError
from dpengine.exact import ceiling, ln_above
from dpengine.mechanisms.of_counts import OfCounts
from dpengine.messages import say
from dpengine.wording import who

MOST_LEAVES = 1_000
EXACT_SUMS = 12  # noise variables whose sum is bounded by its exact law; more by Chernoff's bound


@dataclass(frozen=True, kw_only=True)
class CdfTree(OfCounts):
    card: ClassVar[Card] = Card(
        key="cdf_tree",
        version=1,
        picture="curve",
        caveats=("falls",),
        parameters=(
            Parameter("column", "column.ordered", required=True),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    averages: ClassVar[bool] = False

    column: str

    def __post_init__(self) -> None:
        if self.by is not None:
            raise AllowanceError("curve.by")

    @classmethod
    def read(cls, facts: Facts, given: dict[str, Any]) -> dict[str, Any]:
        name = str(given["column"])
        facts.schema.ordered(name)
        return {"column": name}

    def own_json(self) -> dict[str, Any]:
        return {"column": self.column}

    def sentence(self) -> str:
        return say("sentence.cdf_tree", column=self.column, who=who(self.where))

    @property
    def leaves(self) -> int:
        return min(self.facts.schema[self.column].size, MOST_LEAVES)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first code of every cell."""
        size = self.facts.schema[self.column].size
        return tuple(place * size // self.leaves for place in range(self.leaves))

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(B, L): branches and levels, for the least noise in a sum of L(B−1) nodes of scale ∝ L."""
        return min(
            ((branches, _levels(branches, self.leaves)) for branches in range(2, max(self.leaves, 2) + 1)),
            key=lambda one: (one[1] ** 3 * (one[0] - 1), one[0]),
        )

    def need(self) -> needs.Histogram:
        return needs.Histogram(self.column, self.starts, self.facts.schema[self.column].size, self.where)

    @property
    def moves(self) -> tuple[int, int]:
        return (2 if self.facts.relation == "replace" else 1), self.shape[1] * self.facts.unit.at_most

    @property
    def variance(self) -> Fraction:
        sides = self.moves[0]
        return sides * self.shape[1] * self.facts.unit.at_most**2 / (2 * self.rho)

    def measured(self, value: int | tuple[int, ...]) -> tuple[int, ...]:
        """Every node, the lowest level first."""
        branches, levels = self.shape
        nodes, level = [], list(value if isinstance(value, tuple) else (value,))
        for _ in range(levels):
            nodes += level
            level = [sum(level[place : place + branches]) for place in range(0, len(level), branches)]
        return tuple(nodes)

    @property
    def numbers(self) -> int:
        return self.leaves

    def reach(self, looks: int = 1) -> int:
        branches, levels = self.shape
        nodes, each = levels * (branches - 1), self.beta / self.leaves
        if self.noise:  # a sum of k has Pr[|S| ≥ t] ≤ 2·e^(−t²/(2kv)): subgaussian, as in `bounds.gaussian_mean_reach`
            return isqrt(ceiling(2 * nodes * self.variance * ln_above(2 / each)))
        return sum_reach(self.scale, nodes, each) if nodes <= EXACT_SUMS else total_reach(self.scale, nodes, each)

    def promise(self) -> Within:
        return Within(Fraction(self.reach()), self.leaves, self.beta, Fraction(0))

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 10)

    def labels(self) -> list[str]:
        """The last value of every cell."""
        column = self.facts.schema.ordered(self.column)
        ends = [start - 1 for start in self.starts[1:]] + [column.size - 1]
        return [column.text(end) for end in ends]

    def finish(self, raw: tuple[int, ...]) -> Released:
        below = self.below(raw)
        reach = self.reach()
        value = dict(zip(self.labels(), below, strict=True))
        return Released(value, {name: (count - reach, count + reach) for name, count in value.items()})

    def below(self, raw: tuple[int, ...]) -> list[int]:
        """The noisy number at or below every cell: of each level, the nodes to the left of its own path."""
        branches, levels = self.shape
        starts, width = [0], self.leaves
        for _ in range(levels):
            starts.append(starts[-1] + width)
            width = -(-width // branches)
        found = []
        for cell in range(1, self.leaves + 1):
            total, place = 0, cell
            for level in range(levels):
                place, left = divmod(place, branches)
                if level == levels - 1:
                    place, left = 0, place * branches + left
                first = starts[level] + place * branches
                total += sum(raw[first : first + left])
            found.append(total)
        return found


def _levels(branches: int, leaves: int) -> int:
    levels, reached = 1, branches
    while reached < leaves:
        levels, reached = levels + 1, reached * branches
    return levels
