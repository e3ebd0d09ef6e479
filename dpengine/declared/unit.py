"""Who is protected (the privacy unit) and from what change (the neighbouring relation).

*replace*: two tables with the same number of people; one person's data differ. The number of people is public.
*add_remove*: one person more or less. Membership itself is protected, so no number of rows is public.

A person is one row, or all rows with the same id; at most `at_most` of these count. With an id the number of *rows* is
never public: a person's rows may be replaced by any others, up to `at_most` of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Json, JsonObject

Relation = Literal["replace", "add_remove"]
RELATIONS: tuple[Relation, ...] = ("replace", "add_remove")
MOST_ROWS_EACH = 1_000


def read_relation(value: Json) -> Relation:
    if value not in RELATIONS:
        raise AllowanceError("relation.unknown")
    return value  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Unit:
    """Who is protected. Make one by `Unit.rows()` or `Unit.column(name, at_most)`."""

    id_column: str | None = None
    at_most: int = 1
    person: bool = False  # every person has exactly one row, by construction

    def __post_init__(self) -> None:
        if self.person and (self.id_column is None or self.at_most != 1):
            raise AllowanceError("unit.unknown")
        if self.id_column is None and self.at_most != 1:
            raise AllowanceError("unit.unknown")
        if self.id_column is not None and not str(self.id_column).strip():
            raise AllowanceError("unit.column")
        if type(self.at_most) is not int or not 1 <= self.at_most <= MOST_ROWS_EACH:
            raise AllowanceError("unit.at_most", most=MOST_ROWS_EACH)

    @staticmethod
    def rows() -> Unit:
        """Each row is one person."""
        return Unit()

    @staticmethod
    def column(name: str, at_most: int) -> Unit:
        """Rows with the same value in this column are one person's; at most `at_most` of them count."""
        return Unit(name, at_most)

    @staticmethod
    def of_person(name: str) -> Unit:
        """Each row is one person, made of all their rows (intake/person_rows.py); this column is the id."""
        return Unit(name, 1, person=True)

    @property
    def counted(self) -> int:
        """How many rows of a person count; 0 if each row is a person."""
        return 0 if self.id_column is None or self.person else self.at_most

    @property
    def usual_rows(self) -> int:
        """About how many rows of a person a plan supposes, as their number is not public: a third of the most that
        count, at least one. The most is declared such that hardly anybody has more. In usual tables the average is then
        between a sixth of it (purchases: few people have many) and two thirds (marks: most have nearly all), so a third
        is at most twice too many or too few. For visits that come by chance (a Poisson number) it is about 3 of 8.
        Plans alone use it: no guarantee, price, draw or range of an answer does."""
        return max(round(self.at_most / 3), 1)

    @property
    def single(self) -> bool:
        """Has each person exactly one row, so that there are as many people as rows?"""
        return self.id_column is None or self.person

    def as_json(self) -> JsonObject:
        if self.id_column is None:
            return {"kind": "rows"}
        data: JsonObject = {"kind": "column", "column": self.id_column, "at_most": self.at_most}
        return data | ({"person": True} if self.person else {})

    def may_share(self, other: JsonObject) -> bool:
        """May tables with these two units be about the same people and share an allowance? Either both have an id,
        under any name, or neither has. How many rows count may differ, because every loss is stated for all of a
        person's rows in its table."""
        return (self.id_column is None) == (other.get("kind") == "rows")

    @staticmethod
    def from_json(data: JsonObject) -> Unit:
        if data == {"kind": "rows"}:
            return Unit.rows()
        if data.get("kind") == "column" and set(data) - {"person"} == {"kind", "column", "at_most"}:
            return Unit(data["column"], data["at_most"], data.get("person", False) is True)
        raise AllowanceError("unit.unknown")
