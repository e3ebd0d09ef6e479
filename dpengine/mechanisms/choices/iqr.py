"""The interquartile range of a number column: the distance of its two quartiles.

Guarantee   ε-DP under replace-one and under add/remove, in ε-bounded-range parts.
Theorem     composition of exponential mechanisms (McSherry and Talwar 2007, Thm 6), as in `quantile`.
Statistic   how many rows hold each grid point. The scores of a quartile and their sensitivity are those of `quantile`
            at α = ¼ and α = ¾: Δ = 1 under replace-one; Δ = 3 points under add/remove, where a rank is four. At most m
            rows a person: m times.
Draw        for each quartile a grid point and the two ends of its range: six draws at ε/6 each.
Answer      the upper quartile less the lower one, in the column's unit, at least 0.
Range       the range of each quartile fails with chance at most β/2, so both hold with chance at least 1−β. Then a true
            distance lies between (least upper − greatest lower) and (greatest upper − least lower), cut at 0 and at the
            declared width, where every distance lies.
Accuracy    both quartiles are within λ = ⌈(2Δ·6/ε)·ln(2|R|/β)⌉ − 1 ranks of their places, with chance at least 1−β.
            The error in the column's unit depends on the data, so it comes with the answer and not before.
Cost        one grouped scan; draws linear in a public bound on the distinct values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from dpengine.core.types import Json, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.choices.quantile import Quantile
from dpengine.mechanisms.noise import ExponentialChoice, NoiseKind
from dpengine.mechanisms.promises import Rank
from dpengine.mechanisms.query import AnyQuery, Fields, Released, read_column
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say

QUARTILES = Fraction(1, 4), Fraction(3, 4)


@dataclass(frozen=True, kw_only=True)
class Iqr(Quantile):
    card: ClassVar[Card] = Card(
        key="iqr",
        order=90,
        answer="distance",
        states=(FEW,),
        caveats=("rank", "bounds"),
        own=(Parameter("column", "column.number", required=True), WHERE),
    )
    trial: ClassVar[Trial] = Trial(
        cases={"with empty cells": {"column": "x"}, "of some": {"column": "z", "where": IN_A}},
        example=Example({"column": "visits"}),
        broken_variants=("quarter",),
    )

    accepts: ClassVar[tuple[type[NoiseKind], ...]] = (ExponentialChoice,)
    ways = ()

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return {"column": read_column(given, facts.schema.number), "shares": QUARTILES}

    def own_json(self) -> JsonObject:
        return {"column": self.column}

    def sentence(self) -> str:
        return say("sentence.iqr", column=self.column, who=self.whom())

    def labels(self) -> list[str]:
        return []  # two quartiles are drawn, but one distance is released

    def shown(self) -> dict[str, str]:
        return {}

    def promise(self) -> Rank:
        return replace(super().promise(), floor=Fraction(0))  # no lower bound is known for distances

    def mute(self, interval: Json, part: str = "") -> bool:
        """Is nearly every distance possible, or is an end of a quartile's range at a rank beyond all people?"""
        most = None if self.facts.people is None else self.facts.people * self.facts.unit.at_most
        lost = most is not None and any(self.shift(share) >= max(share, 1 - share) * most for share in self.shares)
        return lost or AnyQuery.mute(self, interval, part)

    def finish(self, raw: tuple[int, ...]) -> Released:
        """Widens each quartile's range to contain its three draws (the promise still holds), and subtracts."""
        last = self.facts.schema[self.column].size - 1
        codes = [min(max(code, 0), last) for code in raw]  # a sentinel is the declared bound
        lower, upper = codes[:3], codes[3:]
        least, most = min(upper) - max(lower), max(upper) - min(lower)
        value, low, high = (self._distance(steps) for steps in (upper[0] - lower[0], least, most))
        return Released(value, (low, high))

    def _distance(self, steps: int) -> int | float:
        """A number of grid steps as a distance in the column's unit."""
        distance = max(steps, 0) * self.facts.schema.number(self.column).step
        return int(distance) if distance.denominator == 1 else float(distance)

    def truth(self, rows: Sequence[Row]) -> tuple[float, float]:
        """The least and the greatest true distance, since each quartile may be any of several points."""
        codes = [row[self.column] for row in rows if row[self.column] != MISSING]
        grid = range(self.facts.schema[self.column].size)

        def quartiles(share: Fraction) -> list[int]:
            below = {code: sum(other < code for other in codes) for code in grid}
            return [code for code in grid if below[code] <= share * len(codes) <= below[code] + codes.count(code)]

        lower, upper = (quartiles(share) for share in QUARTILES)
        return self._distance(min(upper) - max(lower)), self._distance(max(upper) - min(lower))
