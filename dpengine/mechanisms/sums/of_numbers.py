"""The base of questions about sums of a number column: they read the column, and their sums fit 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.core.types import JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Number
from dpengine.mechanisms.noised import Noised
from dpengine.mechanisms.query import Fields, Statistic
from dpengine.messages import say

MOST_ROWS = 10**10
MOST_SUM = 2**62  # declared bounds times MOST_ROWS stay below it, so no table makes a sum overflow


@dataclass(frozen=True, kw_only=True)
class OfNumbers(Noised[Statistic]):
    column: str

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = str(given["column"])
        facts.schema.number(name)
        return {"column": name}

    def own_json(self) -> JsonObject:
        return {"column": self.column}

    @property
    def declared(self) -> Number:
        return self.facts.schema.number(self.column)

    def sentence(self) -> str:
        return say(f"sentence.{self.card.key}", column=self.column, who=self.whom())

    def values(self, rows: Sequence[Row]) -> list[float]:
        """The column's values, for `truth`."""
        return [float(self.declared.value(row[self.column])) for row in rows if row[self.column] != MISSING]

    @property
    def half(self) -> int:
        """h: how far a doubled code can be from the middle of the grid."""
        return self.declared.size - 1

    @property
    def known(self) -> int | None:
        """The number of rows, where it is public and may be divided by."""
        return self.facts.countable(self.where, self.column) if self.by is None else None
