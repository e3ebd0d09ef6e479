"""Two files, one table: events (visits, payments) and the people they belong to, joined by the id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect


@dataclass(frozen=True)
class Joined:
    """`Joined("visits.csv", "people.csv", on=("patient", "id"))`: every row of the first file, with the columns of the
    second beside it where `patient` equals `id`. Both files must be about people and say who; a record that several
    people share (a household, a shop) makes that the unit. With `everybody`, people without events are one row each,
    with empty event columns."""

    events: str | Path
    people: str | Path
    on: tuple[str, str]
    events_dialect: Dialect = field(default_factory=Dialect)
    people_dialect: Dialect = field(default_factory=Dialect)
    everybody: bool = True

    def __post_init__(self) -> None:
        if not all(isinstance(file, str | Path) for file in (self.events, self.people)):
            raise AllowanceError("joined.files")
        if isinstance(self.on, str) or len(self.on) != 2 or not all(isinstance(name, str) and name for name in self.on):
            raise AllowanceError("joined.on")
        one, other = self.events_dialect, self.people_dialect
        if (one.decimal, one.thousands) != (other.decimal, other.thousands):
            raise AllowanceError("joined.numbers")

    def names(self, events: Sequence[str], people: Sequence[str]) -> list[str]:
        """The columns of the joined table: those of the events, then the others of the people. A name that both files
        have gets a number."""
        for column, names in zip(self.on, (events, people), strict=True):
            if column not in names:
                raise AllowanceError("column.absent", column=column, columns=list(names))
        joined = list(events)
        for name in people:
            if name != self.on[1]:
                fresh, number = name, 2
                while fresh in joined:
                    fresh, number = f"{name} {number}", number + 1
                joined.append(fresh)
        return joined
