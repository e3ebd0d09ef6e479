"""How far the values of a number column spread: their standard deviation, for everyone.

Guarantee   ε-DP under replace-one and under add/remove; with Gaussian noise ρ-zCDP, no finite ε.
Theorem     discrete Laplace mechanism on the vector (N, S, Q): Dwork et al. 2006, Prop. 1. Discrete Gaussian mechanism:
            Canonne, Kamath, Steinke 2020, Thm 14.
Statistic   with y = 2·code − h, |y| ≤ h = size − 1 (as for the mean): N = rows that have a value, S = Σy,
            Q = Σ(2y² − h²), whose terms lie in ±h². Weighted L1 change of (h²N, hS, Q): 3h² for a row added or removed.
            Replaced: the largest of h|y−y′| + 2|y²−y′²|, which is 3h² + a(h−2a) at y = h, y′ = −a, a near h/4. At most
            m rows a person: m times.
Draw        each part + Laplace, a third of the weighted budget each.
Public n    where the number of people is public, nobody can lack a value and nobody is filtered out, N is known and not
            drawn. S and Q are weighed w : 1, of (w·h·S, Q) one row changes at most 2(1 + w/4)²h². A small w is best for
            a mean at the middle of the range, where S matters only by its square; w = 6/5 is best at a quarter of the
            way from the middle to an end, and the promise is for that place.
Gaussian    the same vectors by their L2 norm. Two values d apart are at most 2h − d from 0 in the mean, so one row
            changes (p·h·S, q·Q) by at most the largest of d²(p²h² + 4q²(2h−d)²), near d = h(3 − √(1 − p²/2q²))/2 or at
            d = 2h. A row added changes (h²N, hS, Q) by 3h⁴ at most, as squares. One replaced changes (hS, Q) by up to
            5.1h⁴, so N may be drawn √k times as exactly for nothing while (k + 2)h⁴ is no more: k = 3, or 2 on a short
            grid. σ² is such that ρ is about the Rényi loss of Laplace noise at ε.
Answer      the root of Q̂ − Ŝ², from noisy ratios; its range is every value the noisy ranges allow.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt
from statistics import pstdev
from typing import ClassVar

from dpengine.accountant.loss import Gaussian, Loss, Pure, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figure, Figures
from dpengine.declared.conditions import Row
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.sums.of_numbers import MOST_ROWS, MOST_SUM, OfNumbers
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace, Normal
from dpengine.noise.ratio_intervals import ratio, ratio_range
from dpengine.noise.tails import gaussian_mean_reach, mean_reach
from dpengine.statistics.counts import Moments

OF_SUM, OF_SQUARES = 6, 5  # w = 6/5


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
        cases={
            "with empty cells": {"column": "x"},
            "of everybody": {"column": "z"},
            "with empty cells, Gaussian": {"column": "x", "noise": "gaussian"},
            "of everybody, Gaussian": {"column": "z", "noise": "gaussian"},
        },
        example=Example({"column": "visits"}, instead="near"),
    )

    noises: ClassVar[tuple[str, ...]] = ("gaussian",)

    def __post_init__(self) -> None:
        if 2 * self.half**2 * MOST_ROWS > MOST_SUM:
            raise AllowanceError("variance.overflow", column=self.column, most=isqrt(MOST_SUM // MOST_ROWS // 2))

    def sentence(self) -> str:
        return say("sentence.variance", column=self.column, who=self.whom())

    def need(self) -> Moments:
        return Moments(self.column, self.half + 1, 2, None, 1, self.where)

    @property
    def known(self) -> int | None:
        """The number of rows, where it is public and may be divided by."""
        return self.facts.countable(self.where, self.column)

    def _parts(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """The parts that get noise: (N, S, Q), or (S, Q) if N is known."""
        n, s, squares = value
        parts = n, s, 2 * squares - n * self.half**2
        return parts if self.known is None else parts[1:]

    @property
    def _weights(self) -> tuple[int, ...]:
        """The factor of each part that puts all parts on one scale."""
        h = self.half
        return (h * h, h, 1) if self.known is None else (OF_SUM * h, OF_SQUARES)

    @property
    def _copies(self) -> tuple[int, ...]:
        """Copies of each weighted part in the L2 norm: k, 1, 1."""
        if self.known is not None:
            return 1, 1
        freely = self.noise and self.facts.relation == "replace"
        return (_farthest(self.half, 1, 1) // self.half**4 - 2 if freely else 1), 1, 1

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        weighed = zip(self._parts(value), self._weights, self._copies, strict=True)
        return tuple(weight * part for part, weight, copies in weighed for _ in range(copies))

    def sensitivity(self) -> Sensitivity:
        h, rows = self.half, self.facts.unit.at_most
        of_sum, of_squares = self._weights[-2] // h, self._weights[-1]
        moved = 0 if self.known is not None else sum(self._copies) * h ** (4 if self.noise else 2)  # a row more or less
        if self.facts.relation == "replace":
            moved = max(moved, (_farthest if self.noise else _longest)(h, of_sum, of_squares))
        return Sensitivity("l2sq", moved * rows**2) if self.noise else Sensitivity("l1", moved * rows)

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """Of Laplace noise."""
        scale = self.sensitivity().bound / self.epsilon
        return tuple(scale / weight for weight in self._weights)

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / (2 if self.facts.relation == "replace" else 6)

    @property
    def variances(self) -> tuple[Fraction, ...]:
        """Of Gaussian noise."""
        variance = self.sensitivity().bound / (2 * self.rho)
        return tuple(
            variance / (copies * weight**2) for weight, copies in zip(self._weights, self._copies, strict=True)
        )

    def loss(self) -> Loss:
        if self.noise:
            return Gaussian(self.rho)
        if self.facts.relation == "replace":
            return Pure(self.epsilon)
        return Together((Pure(self.epsilon / 3),) * 3)

    def _reaches(self, draws: int) -> list[int | Fraction]:
        """Of N, S and Q."""
        beta = self.beta / len(self._weights)
        if self.noise:
            reaches = [gaussian_mean_reach(variance, draws, beta) for variance in self.variances]
        else:
            reaches = [mean_reach(scale, draws, beta) for scale in self.scales]
        return reaches if self.known is None else [0, *reaches]

    def promise(self) -> Within:
        """For a table of the declared size with values spread over half the range, around its middle or, if the number
        of people is public, around a quarter of the way from there to an end."""
        people, h = self.facts.about, self.half
        if self.known is None:
            low, high = self._deviation(people, 0, -people * h * h // 2, 1)[1]
        else:
            low, high = self._deviation(people, Fraction(people * h, 4), -Fraction(3 * people * h * h, 8), 1)[1]
        column = self.facts.schema.number(self.column)
        alpha = min(Fraction(high - low).limit_denominator(10**6), column.diameter)
        return Within(alpha, 1, self.beta, Fraction(0), self.column, nominal=True)

    def limits(self, part: str = "") -> Ends | None:
        """From 0, if all have the same value, to half the range, if half of the rows are at each end."""
        return 0, self.facts.schema[self.column].diameter / 2

    def coarse(self) -> Fraction:
        return self.facts.schema[self.column].diameter / 8

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        noise = coins.gaussian if self.noise else coins.laplace
        sizes = self.variances if self.noise else self.scales
        return tuple(noise([part], size)[0] for part, size in zip(self._parts(value), sizes, strict=True))

    def law(self, value: tuple[int, ...]) -> Independent:
        law, sizes = (Normal, self.variances) if self.noise else (Laplace, self.scales)
        return Independent(tuple(law(part, size) for part, size in zip(self._parts(value), sizes, strict=True)))

    def truth(self, rows: Sequence[Row]) -> float:
        return pstdev(self.values(rows))

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """For several draws, the parts are averaged, not their ratios."""
        n, s, q = raw if self.known is None else (self.known, *raw)
        return Released(*self._deviation(n, s, q, draws))

    def _deviation(self, n: Figure, s: Figure, q: Figure, draws: int) -> tuple[float, tuple[float, float]]:
        """The standard deviation in the column's unit, and every value the noisy ranges allow."""
        h = Fraction(self.half)
        reach_n, reach_s, reach_q = self._reaches(draws)
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


def _longest(h: int, of_sum: int, of_squares: int) -> int:
    """The most that replacing a value changes p·h·|S| + q·|Q|: d(p·h + 2q(2h−d)) for values d apart, one at an end."""
    best = (of_sum + 4 * of_squares) * h // (4 * of_squares)
    return max(d * (of_sum * h + 2 * of_squares * (2 * h - d)) for d in _near(best, h))


def _farthest(h: int, of_sum: int, of_squares: int) -> int:
    """The most that replacing a value changes (p·h·S)² + (q·Q)²."""
    p, q = of_sum**2, 4 * of_squares**2
    best = round(h * (3 - sqrt(1 - 2 * p / q)) / 2) if q > 2 * p else 2 * h
    return max(d * d * (p * h * h + q * (2 * h - d) ** 2) for d in _near(best, h))


def _near(best: int, h: int) -> set[int]:
    """Distances of two values on the grid, which are even: those around this one, and the longest."""
    return {2 * h} | {d for d in range(best - 4, best + 5) if d % 2 == 0 and 2 <= d <= 2 * h}
