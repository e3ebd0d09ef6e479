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
Shared      C₀ = Σ(h − y)², C₁ = Σ2(h² − y²), C₂ = Σ(h + y)² instead, which add up to 4h²N; S = (C₂ − C₀)/4h and Σy² =
            (C₀ + C₂ − C₁)/4. A row adds 4h² in all, shared out among them, and nothing without a value: 4h² in L1
            where it is added or removed, twice that where it is replaced. Each gets the whole ε: under add/remove one
            part, by group under replace-one two parts of ε/2 (as for the mean, `ratios.OfMeans`).
Answer      the root of the spread V = Σy²/N − (S/N)².
Range       the true μ and V have Σy² − 2μS + (μ² − V)N = 0 and S − μN = 0. Every V that a test at 4β/5 does not reject
            for some μ that a test at β/5 does not reject: each test fails with its chance, so the truth is in the
            range except with β. Both left sides are known sums of noises, bounded in cells of μ and V.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt, sqrt
from statistics import pstdev
from typing import ClassVar

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figures, Floats, Json
from dpengine.declared.conditions import Row
from dpengine.mechanisms import sampling
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.noise import ADDED, Added, SharedNoise
from dpengine.mechanisms.noised import MOST_ROWS, MOST_SUM, OfNumbers, card_of_figure
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.quotients import edges_of, ratio, tested_range
from dpengine.mechanisms.ratios import MOST_GROUPS, Drawn, Estimate, OfRatio, Point
from dpengine.mechanisms.trial import Example, Trial
from dpengine.statistics.counts import Moments

OF_SUM, OF_SQUARES = 6, 5  # w = 6/5
_CELLS, _SPREADS = 64, 48  # tested means on each side of the middle, and tested spreads
_SPREAD_EDGES = np.linspace(0, 1, _SPREADS + 1)


@dataclass(frozen=True, kw_only=True)
class Variance(OfNumbers[tuple[int, ...]], OfRatio[tuple[int, ...]]):
    card: ClassVar[Card] = card_of_figure("variance", "distance", 100)
    trial: ClassVar[Trial] = Trial(
        cases={
            "with empty cells": {"column": "x"},
            "of everybody": {"column": "z"},
            "by group": {"column": "x", "by": "c"},
            "with empty cells, Gaussian": {"column": "x", "noise": "gaussian"},
            "of everybody, Gaussian": {"column": "z", "noise": "gaussian"},
            "by group, Gaussian": {"column": "z", "by": "c", "noise": "gaussian"},
            "with empty cells, shared": {"column": "x", "noise": "shared"},
            "by group, shared": {"column": "x", "by": "c", "noise": "shared"},
        },
        example=Example({"column": "visits"}, instead="near"),
    )

    accepts: ClassVar[tuple[type[Added], ...]] = (*ADDED, SharedNoise)

    def __post_init__(self) -> None:
        if 2 * self.half**2 * MOST_ROWS > MOST_SUM:
            raise AllowanceError("variance.overflow", column=self.column, most=isqrt(MOST_SUM // MOST_ROWS // 2))

    def need(self) -> Moments:
        return Moments(self.column, self.half + 1, 2, self.by, self.groups, self.where)

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """(N, S, Q) for each group, (S, Q) if N is known, or (C₀, C₁, C₂)."""
        groups = zip(value[0::3], value[1::3], value[2::3], strict=True)
        parts = [self._in_group(n, s, squares) for n, s, squares in groups]
        return tuple(number for part in parts for number in (part if self.known is None else part[1:]))

    def _in_group(self, n: Drawn, s: Drawn, squares: Drawn) -> tuple[Drawn, Drawn, Drawn]:
        h = self.half
        if self.shared:
            return squares - 2 * h * s + h * h * n, 2 * (h * h * n - squares), squares + 2 * h * s + h * h * n
        return n, s, 2 * squares - n * h**2

    def _moments(self, numbers: Figures) -> tuple[Fraction, Fraction, Fraction]:
        """N, S and Σy² from the numbers; a known N comes first. It is linear in them, as `_spread_of_group` needs: what
        a drawn number adds is the result where it is 1 and others are 0."""
        first, second, third = (Fraction(number) for number in numbers)
        h = self.half
        if self.shared:
            return (first + second + third) / (4 * h * h), (third - first) / (4 * h), (first + third - second) / 4
        return first, second, (third + h * h * first) / 2

    @property
    def weights(self) -> tuple[int, ...]:
        h = self.half
        return (1, 1, 1) if self.shared else (h * h, h, 1) if self.known is None else (OF_SUM * h, OF_SQUARES)

    @property
    def copies(self) -> tuple[int, ...]:
        if self.known is not None:
            return 1, 1
        free = self.noise_kind.norm == "l2sq" and self.facts.relation == "replace" and self.by is None
        return (_farthest(self.half, 1, 1) // self.half**4 - 2 if free else 1), 1, 1

    def sensitivity(self) -> Sensitivity:
        h, replaced = self.half, self.facts.relation == "replace"
        if self.shared:
            return self.of_rows((8 if replaced else 4) * h * h, 0)
        moved = 0 if self.known is not None else sum(self.copies) * (2 if replaced and self.by is not None else 1)
        first, second = moved * h**2, moved * h**4  # of a row that comes or goes
        if replaced:
            of_sum, of_squares = self.weights[-2] // h, self.weights[-1]
            first = max(first, _longest(h, of_sum, of_squares))
            second = max(second, _farthest(h, of_sum, of_squares))
        return self.of_rows(first, second)

    def supposed(self, people: Fraction) -> Point:
        """The width of the answer's range, since its ends lie unevenly. We suppose values spread over half the declared
        range: around its middle or, if the number of people is public, a quarter of the way from there to an end."""
        h = self.half
        if self.known is not None:
            _, (low, high) = self.estimate((people, people * h / 4, -people * 3 * h * h / 8))
            return high - low
        of_number = np.full((1, 3), 1 / (4 * h * h)) if self.shared else np.array([[1.0, 0, 0]])
        fewer = self.noise_kind.line_reaches(self.added, of_number, 1, self.beta / self.groups / 10)[0]
        people = max(people - Fraction(float(fewer)), Fraction(1))
        _, (low, high) = self.estimate(self._in_group(people, Fraction(0), people * h * h / 4))
        return high - low

    def limits(self, part: str = "") -> Ends | None:
        """From 0, if all have the same value, to half the range, if half of the rows are at each end."""
        return 0, self.declared.diameter / 2

    def coarse(self) -> Fraction:
        return self.declared.diameter / 8

    def truth(self, rows: Sequence[Row]) -> float:
        return pstdev(self.values(rows))

    def estimate(self, numbers: Figures, draws: int = 1) -> Estimate:
        """The standard deviation in the column's unit, and its range."""
        n, s, squares = self._moments(numbers)
        h = Fraction(self.half)
        mean = ratio(s, n, -h, h)
        middle = ratio(squares, n, Fraction(0), h * h) - mean**2
        low, high = self._spreads(float(s / h), float(squares / h**2), float(n), draws)

        def deviation(square: float) -> float:
            return float(self.declared.step * h) / 2 * sqrt(min(max(square, 0.0), 1.0))

        return deviation(min(max(float(middle / h**2), low), high)), (deviation(low), deviation(high))

    @property
    def speaks_of_all(self) -> bool:
        return self.facts.unit.at_most == 1 and self.groups <= MOST_GROUPS

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """The spread of x = (y + h)/2h, which lies in [0, 1] (`sampling.spread_of_all`), in the column's unit."""
        everybody = not self.conditional and self.by is None and self.declared.complete
        if not self.speaks_of_all or (moved and not everybody):
            return None
        many, whole = len(self.weights), float(self.declared.diameter)
        groups = [self._known_first(raw[at : at + many]) for at in range(0, len(raw), many)]
        spreads = [self._spread_of_group(numbers, beta / self.groups, moved) for numbers in groups]
        return sampling.as_answer(
            [] if self.by is None else self.labels(), [(whole * sqrt(low), whole * sqrt(high)) for low, high in spreads]
        )

    def _spread_of_group(self, numbers: Figures, beta: Fraction, moved: Fraction) -> tuple[float, float]:
        n, s, squares = (float(moment) for moment in self._moments(numbers))
        units = np.eye(3)[3 - len(self.added) :]
        adds = [tuple(float(part) for part in self._moments(tuple(int(one) for one in unit))) for unit in units]
        moments = sampling.SampledMoments(self.half, (n, s, squares), tuple(adds), self.added)  # type: ignore[arg-type]
        off = moments.off(beta / 10)
        return sampling.spread_of_all(
            moments, beta if off == 0 else beta * 9 / 10, moved, self.facts.about / self.groups, off
        )

    def _spreads(self, s: float, squares: float, n: float, draws: int) -> tuple[float, float]:
        """The least and the largest V/h² that the tests do not reject, from S/h, Σy²/h² and N."""
        beta = self.beta / self.groups
        kind = "shared" if self.shared else "known" if self.known is not None else ""
        of_mean, of_spread = _test_reaches(self.added, self.half, kind, draws, beta)
        if n <= 0:
            return 0.0, 1.0
        least, most = tested_range(s, n, of_mean)
        edges = edges_of(len(of_spread))
        start, end = np.maximum(edges[:-1], least), np.minimum(edges[1:], most)
        inside = start <= end
        start, end, of_spread = start[inside], end[inside], of_spread[inside]
        place = np.clip(s / n, start, end)  # where Σy² − 2μS + μ²N is least in a cell
        lowest = squares - 2 * place * s + place**2 * n
        highest = np.maximum(squares - 2 * start * s + start**2 * n, squares - 2 * end * s + end**2 * n)
        low = np.maximum((lowest[:, None] - of_spread) / n, _SPREAD_EDGES[:-1])
        high = np.minimum((highest[:, None] + of_spread) / n, _SPREAD_EDGES[1:])
        kept = low <= high
        if not kept.any():
            return 0.0, 1.0
        return max(float(low[kept].min()) - 1e-12, 0.0), min(float(high[kept].max()) + 1e-12, 1.0)


@lru_cache(maxsize=64)
def _test_reaches(noises: tuple[Added, ...], h: int, kind: str, draws: int, beta: Fraction) -> tuple[Floats, Floats]:
    """How far (S − uhN)/h can be from 0 in each cell of u, from −1 to 1, and (Σy² − 2uhS + (u² − v)h²N)/h² in each cell
    of u and of v, from 0 to 1. A cell takes the largest size of each factor in it, which is at a corner: each only
    rises or only falls with u and with v."""
    u, v = np.arange(_CELLS + 1) / _CELLS, np.arange(_SPREADS + 1) / _SPREADS
    if kind == "shared":
        line = np.stack((-1 - u, -u, 1 - u)) / (4 * h * h)
        squares = ((1 + u) ** 2, u**2 - 1, (1 - u) ** 2)
        field = np.stack([np.add.outer(square, -v) for square in squares]) / (4 * h * h)
    else:
        whole = np.zeros((len(u), len(v)))
        line = np.stack((-u, np.full(len(u), 1 / h), np.zeros(len(u))))
        of_sum, of_squares = whole + (-2 * u / h)[:, None], whole + 1 / (2 * h * h)
        field = np.stack([np.add.outer(u**2 + 0.5, -v), of_sum, of_squares])
        if kind == "known":
            line, field = line[1:], field[1:]
    largest = np.maximum.reduce([np.abs(field[:, a : a + _CELLS, b : b + _SPREADS]) for a in (0, 1) for b in (0, 1)])
    sides = np.maximum(np.abs(line[:, :-1]), np.abs(line[:, 1:]))
    reaches = noises[0].line_reaches
    of_mean = reaches(noises, sides.T, draws, beta / 5)
    of_spread = reaches(noises, largest.reshape(len(field), -1).T, draws, beta * 4 / 5).reshape(_CELLS, _SPREADS)
    return np.concatenate((of_mean[::-1], of_mean)), np.concatenate((of_spread[::-1], of_spread))


def _longest(h: int, of_sum: int, of_squares: int) -> int:
    """The most that replacing a value changes p·h·|S| + q·|Q|: d(p·h + 2q(2h−d)) for values d apart, one at an end."""
    best = (of_sum + 4 * of_squares) * h // (4 * of_squares)
    return max(d * (of_sum * h + 2 * of_squares * (2 * h - d)) for d in _near(best, h))


def _farthest(h: int, of_sum: int, of_squares: int) -> int:
    """The squared L2 sensitivity of (p·h·S, q·Q) to replacing a value: d²((p·h)² + (2q(2h−d))²) for values d apart, one
    at an end."""
    first, second = of_sum**2, 4 * of_squares**2
    best = round(h * (3 - sqrt(1 - 2 * first / second)) / 2) if second > 2 * first else 2 * h
    return max(d * d * (first * h * h + second * (2 * h - d) ** 2) for d in _near(best, h))


def _near(best: int, h: int) -> set[int]:
    """Distances of two values on the grid (all are even): those near `best`, and the longest."""
    return {2 * h} | {d for d in range(best - 4, best + 5) if d % 2 == 0 and 2 <= d <= 2 * h}
