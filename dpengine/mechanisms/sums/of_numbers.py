"""The base of questions about sums of a number column: they read the column, and their sums fit 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.core.types import JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING
from dpengine.mechanisms.query import Averaged, Fields, Statistic

MOST_ROWS = 10**10
MOST_SUM = 2**62  # declared bounds times MOST_ROWS stay below it, so no table makes a sum overflow


@dataclass(frozen=True, kw_only=True)
class OfNumbers(Averaged[Statistic]):
    column: str

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = str(given["column"])
        facts.schema.number(name)
        return {"column": name}

    def own_json(self) -> JsonObject:
        return {"column": self.column}

    def values(self, rows: Sequence[Row]) -> list[float]:
        """The column's values, for `truth`."""
        column = self.facts.schema.number(self.column)
        return [float(column.value(row[self.column])) for row in rows if row[self.column] != MISSING]

    @property
    def half(self) -> int:
        """h: how far a doubled code can be from the middle of the grid."""
        return self.facts.schema[self.column].size - 1
