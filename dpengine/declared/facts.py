"""The public facts of a table. Forms, prices and promises use nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject
from dpengine.declared.conditions import Predicate
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Relation, Unit

MOST_VALUES = 10**6  # of a column, in a public bound


@dataclass(frozen=True)
class Facts:
    """The public facts of a table. `people` is None if membership is secret; `about` is then the owner's estimate."""

    table: str
    schema: Schema
    unit: Unit
    relation: Relation
    about: int
    header: tuple[str, ...] = ()  # the file's column names, declared or not
    # A paid check says that "one row each" is wrong: words say rows, and nothing else changes.
    repeated: bool = field(default=False, compare=False)
    # For one row each: the column that tells people apart, if its owner named one.
    whose: str = field(default="", compare=False)
    sample: bool = False  # its owner says: one row each, and these people are a random sample of a larger group

    @property
    def people(self) -> int | None:
        return self.about if self.relation == "replace" else None

    @property
    def sides(self) -> int:
        """2 under replace-one, where a person's old data go and new data come; else 1, because they only come or go."""
        return 2 if self.relation == "replace" else 1

    @property
    def said_rows(self) -> int | None:
        """What sentences count. None: people. Else rows: at most this many of each person, or 0 for all rows."""
        return self.unit.counted if self.unit.counted or self.repeated else None

    def values_at_most(self, column: str) -> int:
        """A public bound, at most a million, on the different values of a column: for the work of a selection."""
        size = self.schema[column].size
        return min(size if self.people is None else min(size, self.people * self.unit.at_most), MOST_VALUES)

    def in_file(self, name: object) -> str:
        """The name, if the file has such a column, declared or not; else refused. Names in a file are public."""
        header = self.header or tuple(self.schema.columns)
        if name not in header:
            raise AllowanceError("column.absent", column=str(name)[:60], columns=list(header))
        return str(name)

    def countable(self, where: Predicate, *columns: str) -> int | None:
        """The number of rows behind a statistic, if it is public, so that one may divide by it: under replace-one, with
        one row per person, no condition and no missing value. Else None."""
        asked = [self.schema[name] for name in columns]
        complete = all(not isinstance(column, (Number, Date)) or column.complete for column in asked)
        return self.people if where.everyone and complete and self.unit.single else None


def named_columns(parameters: JsonObject) -> list[str]:
    """The names of the columns in a stored question's parameters, declared or not."""
    names = [parameters.get("column"), *(name for part in _PARTS for name in parameters.get(part) or [])]
    return [name for name in names if isinstance(name, str)]


_PARTS = ("numbers", "dates", "lists", "ids")
