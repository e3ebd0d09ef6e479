"""How many people meet a condition, in all or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace (geometric) mechanism: Ghosh, Roughgarden, Sundararajan 2009, Thm 1.1; Dwork et al. 2006.
Statistic   c = #{rows that meet the condition}; one person holds at most m rows, so |c − c′| ≤ m under both relations.
            By group it is a vector of counts: L1 change m under add/remove, 2m under replace-one (one group left, one
            entered). The number of *people* with such a row changes by 1 whatever m; by group a person counts once in
            each group that one of their m rows is in, so at most Δ = min(m, groups) counts change under add/remove and
            min(2m, groups) under replace-one (those in one set of groups and not in the other), by one each: Δ
            independent parts of ε/Δ.
Draw        c + Z, Pr[Z=z] ∝ exp(−ε|z|/Δ), or Gaussian noise: `noised`.
Accuracy    |Z| ≤ t except with probability 2e^(−ε(t+1)/Δ)/(1+e^(−ε/Δ)); all k groups at once by a union bound.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Figures, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import BY, Card, Parameter
from dpengine.mechanisms.noised import OfCounts
from dpengine.mechanisms.query import Bounds, Fields
from dpengine.mechanisms.trial import IN_A, WEST, Example, Trial
from dpengine.messages import say
from dpengine.statistics.counts import CellCounts, RowCount


@dataclass(frozen=True, kw_only=True)
class Count(OfCounts):
    card: ClassVar[Card] = Card(
        key="count",
        order=30,
        answer="count",
        states=(FEW, APART),
        own=(Parameter("people", "people", default=True), BY, Parameter("where", "where", words="count")),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of some": {"where": IN_A},
            "of either": {"where": [["any", [["x", ">", 1], ["c", "in", ["b"]]]]]},
            "by group": {"by": "c", "where": [["x", ">=", 1]]},
            "of sets": {"where": [["s", "has", ["p", "r"]]]},
            "of people": {"people": True, "where": [["x", ">=", 1]]},
            "of people by group": {"people": True, "by": "c"},
            "of days": {"where": [["b", ">", "1990-01-01"]]},
            "by weekday": {"by": {"column": "b", "by": "weekday"}},
            "of some days of the week": {"where": [[{"column": "b", "by": "weekday"}, "in", ["Monday", "Thursday"]]]},
            "of numbers between edges": {"where": [[{"column": "x", "edges": [1, 3]}, "in", ["1–2"]]]},
            "by group, Gaussian": {"by": "c", "where": [["x", ">=", 1]], "noise": "gaussian"},
            "of some, Gaussian": {"where": IN_A, "noise": "gaussian"},
        },
        example=Example({"where": WEST}),
        broken_variants=("half", "floating", "small", "bare"),
        with_noise={"gaussian": Example({"where": WEST, "noise": "gaussian"})},
    )

    people: bool = False  # where a person may have several rows: count people, not rows

    def __post_init__(self) -> None:
        rows_are_people = self.facts.unit.id_column is None or self.people
        if self.where.everyone and self.by is None and rows_are_people and self.facts.people is not None:
            raise AllowanceError("count.public", people=self.facts.people)

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        people = given.get("people", False)
        if not isinstance(people, bool):
            raise AllowanceError("query.switch", name=say("param.people.label"))
        return {"people": people and facts.unit.id_column is not None}

    @classmethod
    def known_of_everyone(cls, facts: Facts) -> bool:
        return facts.people is not None

    def sentence(self) -> str:
        return say("sentence.count", of_who=self.whom(of=True))

    @property
    def most_rows(self) -> int | None:
        """The limit on rows per person; None if all people are counted, as everybody has a row that counts."""
        return None if self.people and self.where.everyone and self.by is None else super().most_rows

    def truth(self, rows: Sequence[Row]) -> int:
        return len(rows)

    def need(self) -> RowCount | CellCounts:
        if self.by is None:
            return RowCount(self.where, self.people)
        return CellCounts((self.by,), (self.groups,), self.where, self.people)

    def holds_rows(self) -> bool | None:
        if self.by is not None and self.people:
            return None  # a person counts once in each group
        return self.by is None or isinstance(self.facts.schema.category(self.by), Category)

    def people_bounds(self, raw: Figures) -> Bounds | None:
        return self.row_bounds(raw) if self.people else super().people_bounds(raw)

    @property
    def moves(self) -> tuple[int, int]:
        if self.people and self.by is not None:
            return min(self.facts.sides * self.facts.unit.at_most, self.groups), 1
        sides = 1 if self.by is None else self.facts.sides
        return sides, 1 if self.people else self.facts.unit.at_most

    def coarse(self) -> Fraction:
        return Fraction(self.planned_size, 4 * self.groups)
