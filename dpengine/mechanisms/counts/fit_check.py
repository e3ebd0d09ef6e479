"""How many rows hold a cell that does not fit the declaration: out of range, not in the list, unreadable.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace (geometric) mechanism: Ghosh, Roughgarden, Sundararajan 2009, Thm 1.1; Dwork et al. 2006.
Statistic   c = #{rows flagged}, in one column or in any declared one. A flag looks at its own row and at the
            declaration; an empty cell is no misfit, except in a complete list. One person holds at most m rows, so
            |c − c′| ≤ m under both relations.
Draw        c + Z, Pr[Z=z] ∝ exp(−ε|z|/m).
Accuracy    |Z| ≤ t except with probability 2e^(−ε(t+1)/m)/(1+e^(−ε/m)).
Cost        one scan of one small column, written when the table was coded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.core.types import Json, JsonObject
from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import Row, kind_name
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.noised import OfMisfits
from dpengine.mechanisms.query import Fields
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.statistics.counts import MisfitCount


@dataclass(frozen=True, kw_only=True)
class FitCheck(OfMisfits):
    card: ClassVar[Card] = Card(
        key="fit_check",
        asked_on=("data",),
        order=160,
        answer="count",
        states=(FEW,),
        caveats=("empty",),
        own=(Parameter("column", "column.any"),),
    )
    trial: ClassVar[Trial] = Trial(
        cases={"of the table": {}, "of a column": {"column": "x"}},
        example=Example({"column": "visits"}),
        broken_variants=("half", "floating", "small"),
    )

    column: str | None = None

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = given.get("column")
        if name in (None, ""):
            return {"column": None}
        facts.schema[str(name)]  # refuses a column that is not declared
        return {"column": str(name)}

    def used(self) -> set[str]:
        """All columns: what counts as a misfit depends on the whole declaration."""
        return set(self.facts.schema.columns) if self.column is None else {self.column}

    def sentence(self) -> str:
        return say("sentence.fit_check" if self.column is None else "sentence.fit_check_column", column=self.column)

    def verdict(self, interval: Json) -> str:
        low, high = interval
        return "few" if high <= self.coarse() else "many" if low >= self.coarse() else "unsure"

    def truth(self, rows: Sequence[Row]) -> int:
        return sum(row["fault"] if self.column is None else row[kind_name(self.column)] < FITS for row in rows)

    def need(self) -> MisfitCount:
        return MisfitCount(self.column)

    @property
    def moves(self) -> tuple[int, int]:
        return 1, self.facts.unit.at_most

    def coarse(self) -> Fraction:
        """A twentieth of the people: a declaration with more misfits needs attention."""
        return Fraction(self.facts.about, 20)
