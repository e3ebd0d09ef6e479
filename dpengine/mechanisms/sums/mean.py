"""The mean of a number column, for everyone or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on the vector (S, N): Dwork et al. 2006, Prop. 1.
Statistic   y = 2·code − h measures a value from the middle of the grid, h = size − 1, so |y| ≤ h. S = Σy and N = rows
            that have a value. One row added or removed: |ΔS| ≤ h, |ΔN| = 1. One replaced: |ΔS| ≤ 2h with ΔN = 0, or
            it loses or gains its value: |ΔS| ≤ h, |ΔN| = 1. In all cases |ΔS| + h·|ΔN| ≤ 2h (twice that by group
            under replace-one: one group left, one entered). At most m rows a person: m times.
Draw        S + Laplace(Δ/ε) and N + Laplace(Δ/(hε)), Δ the bound above. Where the number of people is public, nobody
            can lack a value and nobody is filtered out, N is known and not drawn.
Loss        add/remove: two parts of ε/2. Replace-one: ε. By group under replace-one: four parts of ε/4, which also
            covers a change of ε/2 inside one group: the pure Rényi curve grows at most quadratically, r(2x) ≤ 4r(x).
Answer      middle + step·S/(2N). Its range is every ratio the two noisy ranges allow, each at β/2 (β/2k by group).
Accuracy    before the draw: for a table of the declared size, at the end of the range where the ratio moves most.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import ClassVar

from dpengine.accountant.loss import Loss, Pure, Together
from dpengine.core.json_types import Ends, Figure, Figures
from dpengine.declared.conditions import Row
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.sums.of_numbers import OfNumbers
from dpengine.mechanisms.telling import APART, FEW
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace
from dpengine.noise.ratio_intervals import ratio, ratio_range
from dpengine.noise.tails import mean_reach
from dpengine.statistics.counts import Moments


@dataclass(frozen=True, kw_only=True)
class Mean(OfNumbers[tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="mean",
        asked_on=("ask", "whatif"),
        order=20,
        version=1,
        answer="place",
        states=(FEW, APART),
        caveats=("bounds",),
        parameters=(
            Parameter("column", "column.number", required=True),
            Parameter("by", "by"),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "with empty cells": {"column": "x"},
            "of everybody": {"column": "z"},
            "by group": {"column": "x", "by": "c"},
            "by numbers in steps": {"column": "z", "by": {"column": "x", "step": 2}},
            "of some": {"column": "z", "where": IN_A},
        },
        example=Example({"column": "visits"}),
        twins=("half", "bare"),
    )

    def sentence(self) -> str:
        return say("sentence.mean", column=self.column, who=self.whom())

    @property
    def known(self) -> int | None:
        """The number of rows, where it is public and may be divided by."""
        return self.facts.countable(self.where, self.column) if self.by is None else None

    def need(self) -> Moments:
        size = self.facts.schema[self.column].size
        return Moments(self.column, size, 1, self.by, self.groups, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """(h·N, S) for each group; S alone where N is known."""
        if self.known is not None:
            return (value[1],)
        return tuple(part for n, s in _pairs(value) for part in (self.half * n, s))

    def sensitivity(self) -> Sensitivity:
        twice = self.by is not None and self.facts.relation == "replace"
        return Sensitivity("l1", (4 if twice else 2) * self.half * self.facts.unit.at_most)

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """The noise scales of N and of S."""
        scale = self.sensitivity().bound / self.epsilon
        return scale / self.half, scale

    def loss(self) -> Loss:
        if self.facts.relation == "replace" and self.by is None:
            return Pure(self.epsilon)
        part = Pure(self.for_each(self.epsilon) / 2)  # half for N, half for S
        return self.of_groups(Together((part, part)))

    def _reaches(self, looks: int = 1) -> tuple[int | Fraction, int | Fraction]:
        if self.known is not None:
            return 0, mean_reach(self.scales[1], looks, self.beta)
        beta = self.beta / (2 * self.groups)
        return mean_reach(self.scales[0], looks, beta), mean_reach(self.scales[1], looks, beta)

    def promise(self) -> Within:
        reach_n, reach_s = self._reaches()
        column = self.facts.schema.number(self.column)
        people = Fraction(self.facts.about, self.groups)
        worst = Fraction(reach_s + self.half * reach_n) / max(people - reach_n, Fraction(1)) / 2
        alpha = min(worst * column.step, column.diameter)
        return Within(alpha, self.groups, self.beta, Fraction(0), self.column, nominal=self.known is None)

    def coarse(self) -> Fraction:
        return self.facts.schema[self.column].diameter / 8

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        scale_n, scale_s = self.scales
        sums = coins.laplace([s for _, s in _pairs(value)], scale_s)
        if self.known is not None:
            return tuple(sums)
        counts = coins.laplace([n for n, _ in _pairs(value)], scale_n)
        return tuple(part for pair in zip(counts, sums, strict=True) for part in pair)

    def law(self, value: tuple[int, ...]) -> Independent:
        scale_n, scale_s = self.scales
        if self.known is not None:
            return Independent((Laplace(value[1], scale_s),))
        return Independent(tuple(law for n, s in _pairs(value) for law in (Laplace(n, scale_n), Laplace(s, scale_s))))

    def truth(self, rows: Sequence[Row]) -> float:
        return fmean(self.values(rows))

    def around(self, raw: Figures, looks: int) -> Released:
        """For several draws, N and S are averaged, not their ratios."""
        pairs = [(self.known, raw[0])] if self.known is not None else _pairs(raw)
        column = self.facts.schema.number(self.column)
        reach_n, reach_s = self._reaches(looks)
        edge = Fraction(self.half)
        middle, step = (column.lower + column.upper) / 2, column.step / 2

        def told(n: Figure, s: Figure) -> tuple[float, tuple[float, float]]:
            ratios = (ratio(s, n, -edge, edge), *ratio_range(s, reach_s, n, reach_n, -edge, edge))
            value, low, high = (float(middle + step * y) for y in ratios)
            return value, (low, high)

        return self.told([told(n, s) for n, s in pairs])


def _pairs(value: Figures) -> list[Ends]:
    return list(zip(value[0::2], value[1::2], strict=True))
