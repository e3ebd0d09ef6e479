"""A column whose cells hold several values of one declared list."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.spelling import normal

MOST_LISTED = 10**5
LONGEST_SEPARATOR = 10
LONGEST_VALUE = 200

Code = int


@dataclass(frozen=True)
class ItemSet:
    """A set of values from a declared list: items in one cell with a separator between them (None: one item in a cell).

    An item twice in a cell counts once, an item outside the list is dropped, an empty cell is the empty set. Where a
    person has several rows, the person's set is the union over *all* of them, however many of them count elsewhere.
    `at_most` is needed only for histograms: of a larger set, that many items count there.
    """

    values: tuple[str, ...]
    separator: str | None
    at_most: int | None
    _places: dict[str, Code] = field(compare=False, repr=False)

    def __init__(self, values: Json, separator: str | None = "|", at_most: int | None = None) -> None:
        if isinstance(values, str) or not all(isinstance(value, (str, int)) for value in values):
            raise AllowanceError("schema.unreadable")
        listed = tuple(str(value).strip() for value in values)
        if not 2 <= len(listed) <= MOST_LISTED:
            raise AllowanceError("items.many", most=MOST_LISTED)
        if separator is not None and not (isinstance(separator, str) and 1 <= len(separator) <= LONGEST_SEPARATOR):
            raise AllowanceError("items.separator", most=LONGEST_SEPARATOR)
        places: dict[str, Code] = {}
        for place, value in enumerate(listed):
            if not value:
                raise AllowanceError("items.blank")
            if len(value) > LONGEST_VALUE:
                raise AllowanceError("category.long", most=LONGEST_VALUE)
            if separator is not None and separator in value:
                raise AllowanceError("items.inside", value=value, separator=separator)
            if places.setdefault(normal(value), place) != place:
                raise AllowanceError("category.twice", value=value)
        if at_most is not None and (type(at_most) is not int or not 1 <= at_most <= len(listed)):
            raise AllowanceError("items.at_most", most=len(listed))
        parts = {"values": listed, "separator": separator, "at_most": at_most, "_places": places}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.values

    @property
    def size(self) -> int:
        """How many different items."""
        return len(self.values)

    @property
    def points(self) -> int:
        """How many different sets: D = 2^H (thesis, Ex. 3.1)."""
        return 1 << self.size

    @property
    def diameter(self) -> Fraction:
        """Two sets are as far apart as there are items in one and not in the other."""
        return Fraction(self.size)

    @property
    def kappa(self) -> Fraction:
        return Fraction(1)

    def value(self, code: Code) -> str:
        return self.values[code]

    def code(self, value: Json) -> Code:
        """The place of one listed item; for public values typed into a form."""
        return self._places[normal(str(value))]

    def codes(self, cell: str) -> list[Code]:
        """The items a cell holds, in the declared order."""
        items = cell.split(self.separator) if self.separator else [cell]
        return sorted({self._places[item] for item in map(normal, items) if item in self._places})

    def as_json(self) -> JsonObject:
        return {
            "kind": "items",
            "values": list(self.values),
            "separator": self.separator,
            "at_most": self.at_most,
        }
