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
from dpengine.core.types import Ends, Figures, Json
from dpengine.declared.conditions import Row
from dpengine.mechanisms import sampling
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import BY, EPSILON, WHERE, Card, Parameter
from dpengine.mechanisms.noised import MOST_ROWS, MOST_SUM, OfNumbers
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.trial import Example, Trial
from dpengine.statistics.counts import Moments


@dataclass(frozen=True, kw_only=True)
class Sum(OfNumbers[tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="sum",
        asked_on=("ask", "whatif"),
        order=70,
        answer="amount",
        states=(FEW, APART),
        caveats=("bounds",),
        parameters=(Parameter("column", "column.number", required=True), BY, WHERE, EPSILON),
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

    def __post_init__(self) -> None:
        if self._largest * MOST_ROWS > MOST_SUM:
            raise AllowanceError("sum.overflow", column=self.column)

    @property
    def grain(self) -> Fraction:
        """g: the largest number that measures both the lowest value and the step."""
        column = self.declared
        shared = lcm(column.lower.denominator, column.step.denominator)
        return Fraction(gcd(int(column.lower * shared), int(column.step * shared)), shared)

    @property
    def _largest(self) -> int:
        """K."""
        column = self.declared
        return int(max(abs(column.lower), abs(column.upper)) / self.grain)

    def need(self) -> Moments:
        return Moments(self.column, self.declared.size, 1, self.by, self.groups, self.where)

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """Each group's sum in grains: Σ(lower + step·code), with Σ2·code = Σy + N·(size−1)."""
        lower, step = int(self.declared.lower / self.grain), int(self.declared.step / self.grain)
        pairs = zip(value[0::2], value[1::2], strict=True)
        return tuple(n * lower + step * ((s + n * self.half) // 2) for n, s in pairs)

    def sensitivity(self) -> Sensitivity:
        far, wide = self._largest, int(self.declared.diameter / self.grain)
        if self.facts.relation == "add_remove":
            return self.of_rows(far, far**2)
        if self.by is not None:
            return self.of_rows(max(2 * far, wide), max(2 * far**2, wide**2))
        change = wide if self.known is not None else max(far, wide)
        return self.of_rows(change, change**2)

    def promise(self) -> Within:
        return Within(self.reaches()[0] * self.grain, self.groups, self.beta, Fraction(0), self.column)

    def limits(self, part: str = "") -> Ends | None:
        """From everybody at one end of the range to everybody at the other; includes 0 if rows may not count."""
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
        """A quarter of the sum if everybody were at the middle of the range, or, if larger, half a range each."""
        column = self.declared
        return max(abs(column.lower + column.upper), column.diameter) / 2 * self.facts.about / self.groups / 4

    def truth(self, rows: Sequence[Row]) -> float:
        return fsum(self.values(rows))

    def from_mean(self, raw: Figures, draws: int) -> Released:
        (reach,) = self.reaches(draws)
        return self.released([(self._plain(k), (self._plain(k - reach), self._plain(k + reach))) for k in raw])

    def _plain(self, k: int | Fraction) -> int | float:
        exact = k * self.grain
        return int(exact) if exact.denominator == 1 else float(exact)

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """The average of a person, where everybody counts and their number is public."""
        people, column = self.known, self.declared
        if people is None:
            return None
        low, width, noise = column.lower, float(column.diameter), self.added[0]
        total, factor = float(raw[0] * self.grain - people * low) / width, float(self.grain) / width
        ends = sampling.mean_of_all(total, people, [(noise, lambda mean: factor, 1)], beta, moved)
        return sampling.as_answer([], [(float(low) + width * ends[0], float(low) + width * ends[1])])

    def supposed_draw(self) -> tuple[int, ...] | None:
        column = self.declared
        return None if self.known is None else (int((column.lower + column.upper) / 2 * self.known / self.grain),)
