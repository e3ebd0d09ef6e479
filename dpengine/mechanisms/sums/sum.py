"""The sum of a number column, for everyone or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism: Dwork et al. 2006, Prop. 1.
Statistic   values are integer multiples k of a public grain g (the common measure of the lowest value and the step), so
            the sum is an exact integer multiple of g. With K = max|k|: a row added or removed changes it by at most K;
            a row replaced by at most max(K, range/g), or by the range alone where nobody can be filtered out or lack a
            value; by group under replace-one two sums change, by at most K each. At most m rows a person: m times.
Draw        every sum + Laplace(Δ/ε), on the public grain.
Gaussian    every sum + Z of variance Δ₂²/(2ρ), ρ = ε²/2: ρ-zCDP (Canonne, Kamath, Steinke 2020, Thm 14). Δ₂ is Δ, but
            by group under replace-one: a row that stays in its group moves one sum by the range, one that leaves it two
            by K each, so Δ₂² = max(range², 2K²), m² times.
Squares     of a random sample whose number of people is public R = Σ(h² − y²) is drawn too (y and h as for the mean),
            for the range of the larger group, and the sum has the same noise as without it: with s = step/g, of
            (4h·sum, s·R) a value that changes by d on the scale of y changes at most s·d(2h + 2h − d) ≤ 4h²s, most at
            d = 2h, and as squares s²d²(4h² + (2h − d)²) ≤ (4h²s)².
Loss        ε also by group: a change inside one group can use more than half of it.
Accuracy    all k sums at once, by a union bound.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, gcd, lcm
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figure, Figures, Json
from dpengine.declared.conditions import Row
from dpengine.mechanisms import sampling
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.noised import MOST_ROWS, MOST_SUM, OfNumbers, card_of_figure
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.ratios import ENOUGH, squares_fit
from dpengine.mechanisms.trial import Example, Trial
from dpengine.statistics.counts import Moments


@dataclass(frozen=True, kw_only=True)
class Sum(OfNumbers[tuple[int, ...]]):
    card: ClassVar[Card] = card_of_figure("sum", "amount", 70)
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
    of_known_people = True

    def __post_init__(self) -> None:
        if self._largest * MOST_ROWS > MOST_SUM:
            raise AllowanceError("sum.overflow", column=self.column)

    @property
    def grain(self) -> Fraction:
        """g: the largest number that divides the lowest value and the step."""
        column = self.declared
        shared = lcm(column.lower.denominator, column.step.denominator)
        return Fraction(gcd(int(column.lower * shared), int(column.step * shared)), shared)

    @property
    def _largest(self) -> int:
        """K: the largest size of a value, in grains."""
        column = self.declared
        return int(max(abs(column.lower), abs(column.upper)) / self.grain)

    @property
    def draws_squares(self) -> bool:
        """Is R drawn too?"""
        facts, enough = self.facts, self.known is not None and self.epsilon * self.known >= ENOUGH
        return facts.sample and facts.unit.at_most == 1 and enough and squares_fit(self.half * self._step)

    @property
    def _step(self) -> int:
        """s: a step of the grid, in grains."""
        return int(self.declared.step / self.grain)

    @property
    def weights(self) -> tuple[int, ...]:
        return (4 * self.half, self._step) if self.draws_squares else (1,)

    def need(self) -> Moments:
        return Moments(self.column, self.declared.size, 1 + self.draws_squares, self.by, self.groups, self.where)

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """Each group's sum in grains: Σ(lower + step·code), with Σ2·code = Σy + N·(size−1); and R."""
        lower, h = int(self.declared.lower / self.grain), self.half
        if self.draws_squares:
            n, s, squares = value
            return n * lower + self._step * ((s + n * h) // 2), h * h * n - squares
        pairs = zip(value[0::2], value[1::2], strict=True)
        return tuple(n * lower + self._step * ((s + n * h) // 2) for n, s in pairs)

    def sensitivity(self) -> Sensitivity:
        if self.draws_squares:
            most = 4 * self.half**2 * self._step
            return self.of_rows(most, most**2)
        far, wide = self._largest, int(self.declared.diameter / self.grain)
        if self.facts.relation == "add_remove":
            return self.of_rows(far, far**2)
        if self.by is not None:
            return self.of_rows(max(2 * far, wide), max(2 * far**2, wide**2))
        change = wide if self.known is not None else max(far, wide)
        return self.of_rows(change, change**2)

    def promise(self) -> Within:
        return Within(self._reach() * self.grain, self.groups, self.beta, Fraction(0), self.column)

    def limits(self, part: str = "") -> Ends | None:
        """The sums of everybody at either end of the range; with 0 between them, if rows may not count."""
        column, rows = self.declared, self.facts.about * self.facts.unit.at_most
        if self.known is not None:
            return rows * column.lower, rows * column.upper
        return rows * min(column.lower, Fraction(0)), rows * max(column.upper, Fraction(0))

    def sure(self, part: str = "") -> Ends:
        """If the number of people is not public, only the sign is certain, and only if all values share it."""
        if self.facts.people is not None:
            return super().sure(part)
        column = self.declared
        return 0 if column.lower >= 0 else None, 0 if column.upper <= 0 else None

    def coarse(self) -> Fraction:
        """A quarter of the larger of two sums: everybody at the middle of the range, or half a range for everybody."""
        column = self.declared
        return max(abs(column.lower + column.upper), column.diameter) / 2 * self.planned_size / self.groups / 4

    def truth(self, rows: Sequence[Row]) -> float:
        return fsum(self.values(rows))

    def from_mean(self, raw: Figures, draws: int) -> Released:
        reach, sums = self._reach(draws), raw[:1] if self.draws_squares else raw
        return self.released([(self._plain(k), (self._plain(k - reach), self._plain(k + reach))) for k in sums])

    def _reach(self, draws: int = 1) -> Figure:
        return self.added[0].reach(self.beta / self.groups, draws)

    def _plain(self, k: int | Fraction) -> int | float:
        exact = k * self.grain
        return int(exact) if exact.denominator == 1 else float(exact)

    @property
    def speaks_of_all(self) -> bool:
        return self.known is not None

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """The range of the larger group's average; None if the number of people who count is not public."""
        people, column = self.known, self.declared
        if people is None:
            return None
        # Of y = 2·code − h: the sum is step/2·Σy + n·(lower + upper)/2
        low, width, whole = column.lower, float(column.diameter), float(column.step / 2)
        total = float(raw[0] * self.grain - people * (column.lower + column.upper) / 2) / whole
        adds = [(0.0, float(self.grain) / whole, 0.0), (0.0, 0.0, -1.0)][: len(self.added)]
        squares = float(self.half**2 * people - raw[1]) if self.draws_squares else 0.0
        moments = sampling.SampledMoments(self.half, (float(people), total, squares), tuple(adds), self.added)
        if self.draws_squares and not moved:
            ends = sampling.mean_of_moments(moments, beta, people)
        else:
            summed, noises = moments.total()
            ends = sampling.mean_of_all(summed, people, noises, beta, moved)
        return sampling.as_answer([], [(float(low) + width * ends[0], float(low) + width * ends[1])])

    def supposed_draw(self) -> tuple[int, ...] | None:
        column = self.declared
        if self.known is None:
            return None
        even = self.half**2 * self.known * 2 // 3  # values spread evenly over the range
        return int((column.lower + column.upper) / 2 * self.known / self.grain), *([even] if self.draws_squares else [])
