"""How far the values of a number column spread: their standard deviation, for everyone.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on the vector (N, S, Q): Dwork et al. 2006, Prop. 1.
Statistic   with y = 2·code − h, |y| ≤ h = size − 1 (as for the mean): N = rows that have a value, S = Σy,
            Q = Σ(2y² − h²), whose terms lie in ±h². Weighted L1 change of (h²N, hS, Q): 3h² for a row added or removed.
            Replaced: the largest of h|y−y′| + 2|y²−y′²|, which is 3h² + a(h−2a) at y = h, y′ = −a, a near h/4. At most
            m rows a person: m times.
Draw        each part + Laplace, a third of the weighted budget each.
Answer      the root of Q̂ − Ŝ², from noisy ratios; its range is every value the three noisy ranges allow.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt
from statistics import pstdev
from typing import ClassVar

from dpengine.accountant.loss import Loss, Pure, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Ends, Figure, Figures
from dpengine.declared.conditions import Row
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.sums.of_numbers import MOST_ROWS, MOST_SUM, OfNumbers
from dpengine.mechanisms.telling import FEW
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace
from dpengine.noise.ratio_intervals import ratio, ratio_range
from dpengine.noise.tails import mean_reach
from dpengine.statistics.counts import Moments


@dataclass(frozen=True, kw_only=True)
class Variance(OfNumbers[tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="variance",
        asked_on=("ask", "whatif"),
        order=100,
        version=1,
        answer="distance",
        states=(FEW,),
        caveats=("bounds",),
        parameters=(
            Parameter("column", "column.number", required=True),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={"with empty cells": {"column": "x"}},
        example=Example({"column": "visits"}, instead="near"),
    )

    def __post_init__(self) -> None:
        if 2 * self.half**2 * MOST_ROWS > MOST_SUM:
            raise AllowanceError("variance.overflow", column=self.column, most=isqrt(MOST_SUM // MOST_ROWS // 2))

    def sentence(self) -> str:
        return say("sentence.variance", column=self.column, who=self.whom())

    def need(self) -> Moments:
        return Moments(self.column, self.half + 1, 2, None, 1, self.where)

    def _parts(self, value: tuple[int, ...]) -> tuple[int, int, int]:
        n, s, squares = value
        return n, s, 2 * squares - n * self.half**2

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        n, s, q = self._parts(value)
        return self.half**2 * n, self.half * s, q

    def sensitivity(self) -> Sensitivity:
        h = self.half
        bound = 3 * h * h
        if self.facts.relation == "replace":
            near = [place for place in range(h // 4 - 2, h // 4 + 3) if (place - h) % 2 == 0 and -h <= place <= h]
            bound = max([bound] + [3 * h * h + a * (h - 2 * a) for a in near])
        return Sensitivity("l1", bound * self.facts.unit.at_most)

    @property
    def scales(self) -> tuple[Fraction, Fraction, Fraction]:
        scale = self.sensitivity().bound / self.epsilon
        return scale / self.half**2, scale / self.half, scale

    def loss(self) -> Loss:
        if self.facts.relation == "replace":
            return Pure(self.epsilon)
        return Together((Pure(self.epsilon / 3),) * 3)

    def _reaches(self, looks: int) -> tuple[int | Fraction, int | Fraction, int | Fraction]:
        n, s, q = (mean_reach(scale, looks, self.beta / 3) for scale in self.scales)
        return n, s, q

    def promise(self) -> Within:
        """For a table of the declared size whose values spread over half the range."""
        people, h = self.facts.about, self.half
        values = (people, 0, -people * h * h // 2)
        low, high = self._told(*values, 1)[1]
        column = self.facts.schema.number(self.column)
        alpha = min(Fraction(high - low).limit_denominator(10**6), column.diameter)
        return Within(alpha, 1, self.beta, Fraction(0), self.column, nominal=True)

    def limits(self, part: str = "") -> Ends | None:
        """From 0, if all have the same value, to half the range, if half of the rows are at each end."""
        return 0, self.facts.schema[self.column].diameter / 2

    def coarse(self) -> Fraction:
        return self.facts.schema[self.column].diameter / 8

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        drawn = [coins.laplace([part], scale)[0] for part, scale in zip(self._parts(value), self.scales, strict=True)]
        return tuple(drawn)

    def law(self, value: tuple[int, ...]) -> Independent:
        pairs = zip(self._parts(value), self.scales, strict=True)
        return Independent(tuple(Laplace(part, scale) for part, scale in pairs))

    def truth(self, rows: Sequence[Row]) -> float:
        return pstdev(self.values(rows))

    def around(self, raw: Figures, looks: int) -> Released:
        """For several draws, the three parts are averaged, not their ratios."""
        return Released(*self._told(raw[0], raw[1], raw[2], looks))

    def _told(self, n: Figure, s: Figure, q: Figure, looks: int) -> tuple[float, tuple[float, float]]:
        """The standard deviation in the column's unit, and every value the noisy ranges allow."""
        h = Fraction(self.half)
        reach_n, reach_s, reach_q = self._reaches(looks)
        mean_low, mean_high = ratio_range(s, reach_s, n, reach_n, -h, h)
        q_low, q_high = ratio_range(q, reach_q, n, reach_n, -h * h, h * h)
        nearest = Fraction(0) if mean_low <= 0 <= mean_high else min(mean_low**2, mean_high**2)
        farthest = max(mean_low**2, mean_high**2)
        low, high = (q_low + h * h) / 2 - farthest, (q_high + h * h) / 2 - nearest
        middle = (ratio(q, n, -h * h, h * h) + h * h) / 2 - ratio(s, n, -h, h) ** 2
        step = self.facts.schema.number(self.column).step

        def deviation(square: Fraction) -> float:
            return float(step) / 2 * sqrt(min(max(square, Fraction(0)), h * h))

        return deviation(middle), (deviation(low), deviation(high))
