"""Which value of a list is the most common.

Guarantee   ε-DP, and ε-bounded range.
Theorem     exponential mechanism: McSherry and Talwar 2007, Thm 6; utility Thm 7.
Statistic   q(r) = number of rows with value r; Δq = m under both relations. Under add/remove all scores move one
            way (monotone), so the factor 2 is not needed: rate ε/m; under replace-one ε/(2m).
Draw        r with probability ∝ exp(rate·q(r)), exactly, over the public list; rows without an answer do not compete.
Accuracy    q(chosen) ≥ best − g with probability ≥ 1−β, g = ⌈ln(|R|/β)/rate⌉ − 1.
Cost        one scan and one draw over |R| candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpengine import needs
from dpengine.bounds import choice_gap, least_choice_gap
from dpengine.coins import Coins
from dpengine.contract import Card, Facts, NearBest, Parameter, Query, Released, Sensitivity
from dpengine.laws import Finite, weighted
from dpengine.loss import Exponential, Loss
from dpengine.messages import say
from dpengine.wording import who


@dataclass(frozen=True, kw_only=True)
class TopItem(Query):
    card: ClassVar[Card] = Card(
        key="top_item",
        version=1,
        picture="label",
        caveats=("ties",),
        parameters=(
            Parameter("column", "column.category", required=True),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )

    column: str

    @classmethod
    def read(cls, facts: Facts, given: dict[str, Any]) -> dict[str, Any]:
        name = str(given["column"])
        facts.schema.category(name)
        return {"column": name}

    def own_json(self) -> dict[str, Any]:
        return {"column": self.column}

    def sentence(self) -> str:
        return say("sentence.top_item", column=self.column, who=who(self.where))

    def candidates(self) -> list[int]:
        """The codes that compete: all but a label that only stands for “no answer”."""
        column = self.facts.schema.category(self.column)
        return [code for code, label in enumerate(column.labels) if label != column.missing or label in column.values]

    def need(self) -> needs.Histogram:
        size = self.facts.schema[self.column].size
        return needs.Histogram(self.column, tuple(range(size)), size, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(value[code] for code in self.candidates())

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.facts.unit.at_most)

    @property
    def rate(self) -> Fraction:
        moves = 2 if self.facts.relation == "replace" else 1
        return self.epsilon / (moves * self.sensitivity().bound)

    def loss(self) -> Loss:
        return Exponential(self.epsilon)

    def promise(self) -> NearBest:
        size = len(self.candidates())
        floor = least_choice_gap(self.epsilon, size, self.beta)
        return NearBest(choice_gap(self.rate, size, self.beta), self.beta, floor)

    def coarse(self) -> Fraction:
        """An even share of the people: with a larger gap almost any item could win."""
        return Fraction(self.facts.about, len(self.candidates()))

    def gaps(self, value: tuple[int, ...]) -> dict[int, int]:
        scores = self.measured(value)
        return {code: max(scores) - score for code, score in zip(self.candidates(), scores, strict=True)}

    def draw(self, value: tuple[int, ...], coins: Coins) -> int:
        gaps = self.gaps(value)
        most = None if self.facts.people is None else self.facts.people * self.facts.unit.at_most
        block, _ = coins.choose(np.array([*gaps.values()]), np.ones(len(gaps), dtype=np.int64), self.rate, most)
        return list(gaps)[block]

    def law(self, value: tuple[int, ...]) -> Finite:
        return weighted(self.gaps(value), self.rate)

    def finish(self, raw: int) -> Released:
        return Released(self.facts.schema[self.column].value(raw))
