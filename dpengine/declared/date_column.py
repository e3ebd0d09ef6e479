"""A Date column: days on the public grid first, first+1, …, last. ISO text outside, day numbers inside.

Every cell is read by itself, by a declared rule: a year of four digits, month and day in the declared order, with the
same sign . / or - between them; a cell that starts with a year of four digits is always read as year, month, day; a
time of day after the date is cut off. Any other cell counts as missing. Days out of range are clamped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Json, JsonObject

ORDERS = ("ymd", "dmy", "mdy")
LONGEST_DATE = 60  # characters; longer cells are no dates
_TIME = r"(?:(?:T| +)\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([./-]) ?(\d{{1,2}})\2 ?(\d{{1,2}}){_TIME}", re.ASCII)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([./-]) ?(\d{{1,2}})\2 ?(\d{{4}})\.?{_TIME}", re.ASCII)


@dataclass(frozen=True)
class Date:
    """A day from `first` to `last`. `order`: how the file writes day, month and year. With `words` the usual words for
    “unknown” count as empty cells, which fit."""

    first: date
    last: date
    order: str
    words: bool

    complete: ClassVar[bool] = False  # a row without a day is left out
    kappa: ClassVar[Fraction] = Fraction(1)

    def __init__(self, first: object, last: object, order: str = "ymd", words: bool = False) -> None:
        low, high = read_date(first, "first"), read_date(last, "last")
        if not low < high:
            raise AllowanceError("date.reversed")
        if order not in ORDERS:
            raise AllowanceError("date.order", orders=ORDERS)
        if not isinstance(words, bool):
            raise AllowanceError("schema.unreadable")
        for name, value in {"first": low, "last": high, "order": order, "words": words}.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def ends(self) -> tuple[str, str]:
        return self.value(0), self.value(self.size - 1)

    @property
    def diameter(self) -> Fraction:
        return Fraction(self.size - 1)

    @property
    def points(self) -> int:
        return self.size

    def value(self, code: int) -> str:
        return date.fromordinal(self.first.toordinal() + code).isoformat()

    def text(self, code: int) -> str:
        return self.value(code)

    def place(self, value: Json, name: str = "value") -> Fraction:
        """The position of a public date, counted in days from the first; it may be outside the range."""
        return Fraction((read_date(value, name) - self.first).days)

    def plain(self, value: Json) -> str:
        """A public date as canonical text."""
        return read_date(value, "value").isoformat()

    def code(self, value: Json) -> int:
        """The code of a date that a person typed; clamped into the range."""
        return min(max(int(self.place(value)), 0), self.size - 1)

    def day(self, cell: str) -> int | None:
        """The day of a cell, counted from the first and not clamped; None if the cell is no date."""
        text = cell.strip()
        if len(text) > LONGEST_DATE:
            return None
        match = _YEAR_FIRST.fullmatch(text)
        if match:
            year, month, day = match[1], match[3], match[4]
        else:
            match = _YEAR_LAST.fullmatch(text)
            if not match or self.order == "ymd":
                return None
            year = match[4]
            day, month = (match[1], match[3]) if self.order == "dmy" else (match[3], match[1])
        try:
            return (date(int(year), int(month), int(day)) - self.first).days
        except ValueError:
            return None

    def as_json(self) -> JsonObject:
        ends = {"first": self.first.isoformat(), "last": self.last.isoformat()}
        return {"kind": "date"} | ends | {"order": self.order} | ({"words": True} if self.words else {})


def read_date(value: Json, name: str) -> date:
    """A date from a form or a notebook, where it is a date or ISO text."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value.strip(), re.ASCII):
        try:
            return date.fromisoformat(value.strip())
        except ValueError:
            pass
    raise AllowanceError("date.unreadable", name=name)
