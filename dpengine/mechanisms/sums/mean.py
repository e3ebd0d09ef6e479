"""The mean of a number column, for everyone or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on the vector (S, N): Dwork et al. 2006, Prop. 1.
Statistic   y = 2·code − h measures a value from the middle of the grid, h = size − 1, so |y| ≤ h. S = Σy and N = rows
            that have a value. One row added or removed: |ΔS| ≤ h, |ΔN| = 1. One replaced: |ΔS| ≤ 2h with ΔN = 0, or
            it loses or gains its value: |ΔS| ≤ h, |ΔN| = 1. In all cases |ΔS| + h·|ΔN| ≤ 2h (twice that by group
            under replace-one: one group left, one entered). At most m rows a person: m times.
Draw        S + Laplace(Δ/ε) and N + Laplace(Δ/(hε)), Δ the bound above; or Gaussian noise; or two sums that share out
            each row (`ratios.OfMeans`, with W = h, has all three, and the loss). Where N is known it is not drawn.
Answer      middle + step·S/(2N). Its range is every mean that a test at β does not reject (β/k by group).
Accuracy    before the draw: for a table of the declared size, with values spread evenly if N is drawn. At an end of the
            range the error is up to √2 times that.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from statistics import fmean
from typing import ClassVar

from dpengine.declared.conditions import Row
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.noised import card_of_figure
from dpengine.mechanisms.quotients import Exact
from dpengine.mechanisms.ratios import OfMeans, Point
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.statistics.counts import Moments


@dataclass(frozen=True, kw_only=True)
class Mean(OfMeans[tuple[int, ...]]):
    typical: ClassVar[str] = "median"
    card: ClassVar[Card] = card_of_figure("mean", "place", 20)
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
            "with empty cells, shared": {"column": "x", "noise": "shared"},
            "by group, shared": {"column": "x", "by": "c", "noise": "shared"},
        },
        example=Example({"column": "visits"}),
        broken_variants=("half", "bare"),
    )

    rises: ClassVar[bool] = True

    holds_squares: ClassVar[bool] = True

    def need(self) -> Moments:
        return Moments(self.column, self.declared.size, 1 + self.draws_squares, self.by, self.groups, self.where)

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        many = 2 + self.draws_squares
        groups = [value[at : at + many] for at in range(0, len(value), many)]
        return tuple(number for moments in groups for number in self.in_group(*moments))

    @property
    def width(self) -> int:
        return self.half

    @property
    def placed(self) -> bool:
        return self.known is None

    def supposed(self, people: Fraction) -> Fraction:
        """How far a mean at the middle of the range may be off: there the noise of N matters least."""
        known = self.known is not None
        off = self.added[0].reach(self.beta) / max(people, Fraction(1)) if known else self.off_middle(people)
        return min(off * self.declared.step / 2, self.declared.diameter)

    def figure(self, mean: Fraction) -> Point:
        return self.figure_of(mean.numerator, mean.denominator)

    def figure_of(self, total: Exact, number: Exact) -> Point:
        middle, half, whole = self._line
        return (middle * number + half * total) / (whole * number)

    @cached_property
    def _line(self) -> tuple[int, int, int]:
        """(middle of the range, half a step, denominator): the first two as integers over the common denominator."""
        middle, half = (self.declared.lower + self.declared.upper) / 2, self.declared.step / 2
        whole = lcm(middle.denominator, half.denominator)
        return int(middle * whole), int(half * whole), whole

    def truth(self, rows: Sequence[Row]) -> float:
        return fmean(self.values(rows))
