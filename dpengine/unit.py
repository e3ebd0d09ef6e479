"""Who is protected (the privacy unit) and from what change (the neighbouring relation).

*replace*: two tables with the same number of people, one of whom has other data. The number of people is public.
*add_remove*: one person more or less. Membership itself is protected, so no number of rows is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dpengine.errors import AllowanceError

Relation = Literal["replace", "add_remove"]
RELATIONS: tuple[Relation, ...] = ("replace", "add_remove")


def read_relation(value: Any) -> Relation:
    if value not in RELATIONS:
        raise AllowanceError("relation.unknown")
    return value  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Unit:
    """One row per person. `at_most` is how many rows of one person count: 1 here."""

    at_most: int = 1

    def __post_init__(self) -> None:
        if self.at_most != 1:
            raise AllowanceError("unit.unknown")

    @staticmethod
    def rows() -> Unit:
        return Unit()

    def as_json(self) -> dict[str, Any]:
        return {"kind": "rows"}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Unit:
        if data != {"kind": "rows"}:
            raise AllowanceError("unit.unknown")
        return Unit.rows()
