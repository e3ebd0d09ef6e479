"""How far the values of a number column spread: their standard deviation, for everyone or by group.

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
By group    under add/remove as for everyone. Under replace-one a row may leave one group and enter another: 6h² in L1,
            six parts of ε/6; squared 6h⁴. A row that stays in its group changes (hS, Q) by ((1+t)h², 2(1−t²)h²), t in
            ±1, or less: with r(ax) ≤ a²r(x) for a ≥ 1 and r(ax) ≤ ar(x) for a ≤ 1 that loses at most (1+t)² + 4(1−t²)²
            < 5.1 of the six parts; squared at most 5.1h⁴.
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

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figures
from dpengine.declared.conditions import Row
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import BY, EPSILON, WHERE, Card, Parameter
from dpengine.mechanisms.query import Sensitivity
from dpengine.mechanisms.ratios import Estimate, Number, OfRatio
from dpengine.mechanisms.sums.of_numbers import MOST_ROWS, MOST_SUM, OfNumbers
from dpengine.mechanisms.trial import Example, Trial
from dpengine.noise.ratio_intervals import ratio, ratio_range
from dpengine.statistics.counts import Moments

OF_SUM, OF_SQUARES = 6, 5  # w = 6/5


@dataclass(frozen=True, kw_only=True)
class Variance(OfNumbers[tuple[int, ...]], OfRatio[tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="variance",
        asked_on=("ask", "whatif"),
        order=100,
        answer="distance",
        states=(FEW, APART),
        caveats=("bounds",),
        parameters=(Parameter("column", "column.number", required=True), BY, WHERE, EPSILON),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "with empty cells": {"column": "x"},
            "of everybody": {"column": "z"},
            "by group": {"column": "x", "by": "c"},
            "with empty cells, Gaussian": {"column": "x", "noise": "gaussian"},
            "of everybody, Gaussian": {"column": "z", "noise": "gaussian"},
            "by group, Gaussian": {"column": "z", "by": "c", "noise": "gaussian"},
        },
        example=Example({"column": "visits"}, instead="near"),
    )

    def __post_init__(self) -> None:
        if 2 * self.half**2 * MOST_ROWS > MOST_SUM:
            raise AllowanceError("variance.overflow", column=self.column, most=isqrt(MOST_SUM // MOST_ROWS // 2))

    def need(self) -> Moments:
        return Moments(self.column, self.half + 1, 2, self.by, self.groups, self.where)

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """(N, S, Q) for each group, or (S, Q) if N is known."""
        groups = zip(value[0::3], value[1::3], value[2::3], strict=True)
        parts = [(n, s, 2 * squares - n * self.half**2) for n, s, squares in groups]
        return tuple(number for part in parts for number in (part if self.known is None else part[1:]))

    @property
    def weights(self) -> tuple[int, ...]:
        h = self.half
        return (h * h, h, 1) if self.known is None else (OF_SUM * h, OF_SQUARES)

    @property
    def copies(self) -> tuple[int, ...]:
        if self.known is not None:
            return 1, 1
        free = self.noise_kind.norm == "l2sq" and self.facts.relation == "replace" and self.by is None
        return (_farthest(self.half, 1, 1) // self.half**4 - 2 if free else 1), 1, 1

    def sensitivity(self) -> Sensitivity:
        h, replaced = self.half, self.facts.relation == "replace"
        moved = 0 if self.known is not None else sum(self.copies) * (2 if replaced and self.by is not None else 1)
        first, second = moved * h**2, moved * h**4  # of a row that comes or goes
        if replaced:
            of_sum, of_squares = self.weights[-2] // h, self.weights[-1]
            first = max(first, _longest(h, of_sum, of_squares))
            second = max(second, _farthest(h, of_sum, of_squares))
        return self.of_rows(first, second)

    def supposed(self, people: Fraction) -> Number:
        """The whole range, as its ends lie unevenly: for values spread over half the declared one, around its middle
        or, if the number of people is public, around a quarter of the way from there to an end."""
        h = self.half
        middle = people, Fraction(0), -people * h * h / 2
        beside = people, people * h / 4, -people * 3 * h * h / 8
        low, high = self.estimate(middle if self.known is None else beside)[1]
        return high - low

    def limits(self, part: str = "") -> Ends | None:
        """From 0, if all have the same value, to half the range, if half of the rows are at each end."""
        return 0, self.declared.diameter / 2

    def coarse(self) -> Fraction:
        return self.declared.diameter / 8

    def truth(self, rows: Sequence[Row]) -> float:
        return pstdev(self.values(rows))

    def answer(self, numbers: Figures, reaches: Figures) -> Estimate:
        """The standard deviation in the column's unit, and every value the noisy ranges allow."""
        (n, s, q), (reach_n, reach_s, reach_q), h = numbers, reaches, Fraction(self.half)
        mean_low, mean_high = ratio_range(s, reach_s, n, reach_n, -h, h)
        q_low, q_high = ratio_range(q, reach_q, n, reach_n, -h * h, h * h)
        nearest = Fraction(0) if mean_low <= 0 <= mean_high else min(mean_low**2, mean_high**2)
        farthest = max(mean_low**2, mean_high**2)
        low, high = (q_low + h * h) / 2 - farthest, (q_high + h * h) / 2 - nearest
        middle = (ratio(q, n, -h * h, h * h) + h * h) / 2 - ratio(s, n, -h, h) ** 2

        def deviation(square: Fraction) -> float:
            return float(self.declared.step) / 2 * sqrt(min(max(square, Fraction(0)), h * h))

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
