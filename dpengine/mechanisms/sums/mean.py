"""The mean of a number column, for everyone or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on the vector (S, N): Dwork et al. 2006, Prop. 1.
Statistic   y = 2·code − h measures a value from the middle of the grid, h = size − 1, so |y| ≤ h. S = Σy and N = rows
            that have a value. One row added or removed: |ΔS| ≤ h, |ΔN| = 1. One replaced: |ΔS| ≤ 2h with ΔN = 0, or
            it loses or gains its value: |ΔS| ≤ h, |ΔN| = 1. In all cases |ΔS| + h·|ΔN| ≤ 2h (twice that by group
            under replace-one: one group left, one entered). At most m rows a person: m times.
Draw        S + Laplace(Δ/ε) and N + Laplace(Δ/(hε)), Δ the bound above. Where the number of people is public, nobody
            can lack a value and nobody is filtered out, N is known and not drawn.
Gaussian    S + Z of variance σ², N + Z of variance σ²/(kh²): Σδ²/(2·variance) = (k(h·ΔN)² + ΔS²)/(2σ²). One row added
            or removed: with k = 1 at most 2h². One replaced: 4h² where it keeps a value, (k + 1)h² where it loses or
            gains one, so k = 3 costs nothing; by group with k = 1 at most 4h², since two groups change by 2h² each. m
            rows: m² times, as lengths add. σ² = that/(2ρ), ρ-zCDP (Canonne, Kamath, Steinke 2020, Thm 14), with ρ about
            the Rényi loss of Laplace noise at ε: ε²/2, of two parts ε²/4, of four ε²/8. No finite ε.
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

from dpengine.accountant.loss import Gaussian, Loss, Pure, Together
from dpengine.core.types import Ends, Figure, Figures
from dpengine.declared.conditions import Row
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.sums.of_numbers import OfNumbers
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace, Normal
from dpengine.noise.ratio_intervals import ratio, ratio_range
from dpengine.noise.tails import gaussian_mean_reach, mean_reach
from dpengine.statistics.counts import Moments


@dataclass(frozen=True, kw_only=True)
class Mean(OfNumbers[tuple[int, ...]]):
    typical: ClassVar[str] = "median"
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
            "with empty cells, Gaussian": {"column": "x", "noise": "gaussian"},
            "of everybody, Gaussian": {"column": "z", "noise": "gaussian"},
            "by group, Gaussian": {"column": "x", "by": "c", "noise": "gaussian"},
        },
        example=Example({"column": "visits"}),
        broken_variants=("half", "bare"),
    )

    rises: ClassVar[bool] = True
    noises: ClassVar[tuple[str, ...]] = ("gaussian",)

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
        """(h·N, S) for each group, with k copies of h·N; S alone if N is known."""
        if self.known is not None:
            return (value[1],)
        return tuple(part for n, s in _pairs(value) for part in (*[self.half * n] * self._weight, s))

    @property
    def _weight(self) -> int:
        """k: N gets k times less variance than at the scale of S."""
        return 3 if self.noise and self.facts.relation == "replace" and self.by is None else 1

    def sensitivity(self) -> Sensitivity:
        if self.noise:
            moves = 4 if self.facts.relation == "replace" else 2
            return Sensitivity("l2sq", moves * (self.half * self.facts.unit.at_most) ** 2)
        twice = self.by is not None and self.facts.relation == "replace"
        return Sensitivity("l1", (4 if twice else 2) * self.half * self.facts.unit.at_most)

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """The noise scales of N and of S."""
        scale = self.sensitivity().bound / self.epsilon
        return scale / self.half, scale

    @property
    def rho(self) -> Fraction:
        parts = 2 if self.facts.relation == "add_remove" else 1 if self.by is None else 4
        return self.epsilon**2 / (2 * parts)

    @property
    def variances(self) -> tuple[Fraction, Fraction]:
        """The variances of Gaussian noise on N and on S."""
        variance = self.sensitivity().bound / (2 * self.rho)
        return variance / (self._weight * self.half**2), variance

    def loss(self) -> Loss:
        if self.noise:
            return Gaussian(self.rho)
        if self.facts.relation == "replace" and self.by is None:
            return Pure(self.epsilon)
        part = Pure(self.for_each(self.epsilon) / 2)  # half for N, half for S
        return self.of_groups(Together((part, part)))

    def _reaches(self, draws: int = 1) -> tuple[int | Fraction, int | Fraction]:
        of_n, of_s = self.variances if self.noise else self.scales
        reach = gaussian_mean_reach if self.noise else mean_reach
        if self.known is not None:
            return 0, reach(of_s, draws, self.beta)
        beta = self.beta / (2 * self.groups)
        return reach(of_n, draws, beta), reach(of_s, draws, beta)

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
        of_n, of_s = self.variances if self.noise else self.scales
        noise = coins.gaussian if self.noise else coins.laplace
        sums = noise([s for _, s in _pairs(value)], of_s)
        if self.known is not None:
            return tuple(sums)
        counts = noise([n for n, _ in _pairs(value)], of_n)
        return tuple(part for pair in zip(counts, sums, strict=True) for part in pair)

    def law(self, value: tuple[int, ...]) -> Independent:
        of_n, of_s = self.variances if self.noise else self.scales
        law = Normal if self.noise else Laplace
        if self.known is not None:
            return Independent((law(value[1], of_s),))
        return Independent(tuple(part for n, s in _pairs(value) for part in (law(n, of_n), law(s, of_s))))

    def truth(self, rows: Sequence[Row]) -> float:
        return fmean(self.values(rows))

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """For several draws, N and S are averaged, not their ratios."""
        pairs = [(self.known, raw[0])] if self.known is not None else _pairs(raw)
        column = self.facts.schema.number(self.column)
        reach_n, reach_s = self._reaches(draws)
        edge = Fraction(self.half)
        middle, step = (column.lower + column.upper) / 2, column.step / 2

        def answer(n: Figure, s: Figure) -> tuple[float, tuple[float, float]]:
            ratios = (ratio(s, n, -edge, edge), *ratio_range(s, reach_s, n, reach_n, -edge, edge))
            value, low, high = (float(middle + step * y) for y in ratios)
            return value, (low, high)

        return self.released([answer(n, s) for n, s in pairs])


def _pairs(value: Figures) -> list[Ends]:
    return list(zip(value[0::2], value[1::2], strict=True))
