"""The sum of a number column, for everyone or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism: Dwork et al. 2006, Prop. 1.
Statistic   values are integer multiples k of a public grain g (the common measure of the lowest value and the step), so
            the sum is an exact integer multiple of g. With K = max|k|: a row added or removed changes it by at most K;
            a row replaced by at most max(K, range/g), or by the range alone where nobody can be filtered out or lack a
            value; by group under replace-one two sums change, by at most K each. At most m rows a person: m times.
Draw        every sum + Laplace(Δ/ε), on the public grain.
Gaussian    every sum + Z of variance Δ₂²/(2ρ), ρ = ε²/2, about the Rényi loss of Laplace noise at ε: ρ-zCDP (Canonne,
            Kamath, Steinke 2020, Thm 14), no finite ε. Δ₂ is Δ, but by group under replace-one: a row that stays in its
            group moves one sum by the range, one that leaves it two by K each, so Δ₂² = max(range², 2K²), m² times.
Accuracy    all k sums at once, by a union bound.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, gcd, lcm
from typing import ClassVar

from dpengine.accountant.loss import Gaussian, Loss, Pure
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figures
from dpengine.declared.conditions import Row
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.sums.of_numbers import MOST_ROWS, MOST_SUM, OfNumbers
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace, Normal
from dpengine.noise.tails import gaussian_mean_reach, mean_reach
from dpengine.statistics.counts import Moments


@dataclass(frozen=True, kw_only=True)
class Sum(OfNumbers[tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="sum",
        asked_on=("ask", "whatif"),
        order=70,
        version=1,
        answer="amount",
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
            "by group": {"column": "z", "by": "c"},
            "with empty cells, Gaussian": {"column": "x", "noise": "gaussian"},
            "by group, Gaussian": {"column": "z", "by": "c", "noise": "gaussian"},
        },
        example=Example({"column": "visits"}),
        broken_variants=("unclipped", "half"),
    )

    rises: ClassVar[bool] = True
    noises: ClassVar[tuple[str, ...]] = ("gaussian",)

    def __post_init__(self) -> None:
        if self._largest * MOST_ROWS > MOST_SUM:
            raise AllowanceError("sum.overflow", column=self.column)

    def sentence(self) -> str:
        return say("sentence.sum", column=self.column, who=self.whom())

    @property
    def grain(self) -> Fraction:
        """g: the largest number that measures both the lowest value and the step."""
        column = self.facts.schema.number(self.column)
        shared = lcm(column.lower.denominator, column.step.denominator)
        return Fraction(gcd(int(column.lower * shared), int(column.step * shared)), shared)

    @property
    def _largest(self) -> int:
        """K."""
        column = self.facts.schema.number(self.column)
        return int(max(abs(column.lower), abs(column.upper)) / self.grain)

    def need(self) -> Moments:
        size = self.facts.schema[self.column].size
        return Moments(self.column, size, 1, self.by, self.groups, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """Each group's sum in grains: Σ(lower + step·code), with Σ2·code = Σy + N·(size−1)."""
        column = self.facts.schema.number(self.column)
        lower, step = int(column.lower / self.grain), int(column.step / self.grain)
        codes = [(s + n * (column.size - 1)) // 2 for n, s in zip(value[0::2], value[1::2], strict=True)]
        return tuple(n * lower + step * code for n, code in zip(value[0::2], codes, strict=True))

    def sensitivity(self) -> Sensitivity:
        column = self.facts.schema.number(self.column)
        width = int(column.diameter / self.grain)
        if self.facts.relation == "add_remove":
            change = self._largest
        elif self.by is not None and self.noise:
            return Sensitivity("l2sq", max(width**2, 2 * self._largest**2) * self.facts.unit.at_most**2)
        elif self.by is not None:
            change = max(2 * self._largest, width)
        elif self.facts.countable(self.where, self.column) is not None:
            change = width
        else:
            change = max(self._largest, width)
        change *= self.facts.unit.at_most
        return Sensitivity("l2sq", change**2) if self.noise else Sensitivity("l1", change)

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / 2

    @property
    def variance(self) -> Fraction:
        """σ² of Gaussian noise."""
        return self.sensitivity().bound / (2 * self.rho)

    @property
    def scale(self) -> Fraction:
        return self.sensitivity().bound / self.epsilon

    def loss(self) -> Loss:
        """Pure ε also by group: a change inside one group can use more than half of it."""
        return Gaussian(self.rho) if self.noise else Pure(self.epsilon)

    def _reach(self, draws: int = 1) -> int | Fraction:
        beta = self.beta / self.groups
        return gaussian_mean_reach(self.variance, draws, beta) if self.noise else mean_reach(self.scale, draws, beta)

    def promise(self) -> Within:
        return Within(self._reach() * self.grain, self.groups, self.beta, Fraction(0), self.column)

    def limits(self, part: str = "") -> Ends | None:
        """From everybody at one end of the range to everybody at the other; includes 0 if rows may not count."""
        column, rows = self.facts.schema.number(self.column), self.facts.about * self.facts.unit.at_most
        if self.by is None and self.facts.countable(self.where, self.column) is not None:
            return rows * column.lower, rows * column.upper
        return rows * min(column.lower, Fraction(0)), rows * max(column.upper, Fraction(0))

    def sure(self, part: str = "") -> Ends:
        """If the number of people is not public, only the sign is certain, and only if all values share it."""
        if self.facts.people is not None:
            return super().sure(part)
        column = self.facts.schema.number(self.column)
        return 0 if column.lower >= 0 else None, 0 if column.upper <= 0 else None

    def coarse(self) -> Fraction:
        """A quarter of the sum if everybody were at the middle of the range, or, if larger, half a range each."""
        column = self.facts.schema.number(self.column)
        return max(abs(column.lower + column.upper), column.diameter) / 2 * self.facts.about / self.groups / 4

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        sums = list(self.measured(value))
        return tuple(coins.gaussian(sums, self.variance) if self.noise else coins.laplace(sums, self.scale))

    def law(self, value: tuple[int, ...]) -> Independent:
        if self.noise:
            return Independent(tuple(Normal(total, self.variance) for total in self.measured(value)))
        return Independent(tuple(Laplace(total, self.scale) for total in self.measured(value)))

    def truth(self, rows: Sequence[Row]) -> float:
        return fsum(self.values(rows))

    def from_mean(self, raw: Figures, draws: int) -> Released:
        reach = self._reach(draws)
        return self.released([(self._plain(k), (self._plain(k - reach), self._plain(k + reach))) for k in raw])

    def _plain(self, k: int | Fraction) -> int | float:
        exact = k * self.grain
        return int(exact) if exact.denominator == 1 else float(exact)
