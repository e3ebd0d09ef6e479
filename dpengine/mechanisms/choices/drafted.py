"""The answer of `find_declarations`: as one flat answer, part by part, and column by column.

A part has the name “column: part”. Found values are in small letters, so none of them is one of the four capitalised
parts. No column of a purchase has the name of another one followed by a colon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.core.types import Ends, Json, JsonObject
from dpengine.messages import plain, say
from dpengine.messages.numbers import day

FROM, TO, HOLD, ELSE = "From", "To", "Hold", "Else"
_ORDER = {FROM: 0, TO: 1, HOLD: 2, ELSE: 2}  # the values of a list have 1
_NAMED = 12  # values in a line

Asked = Sequence[tuple[str, str]]  # each column with its kind: number, date or list


@dataclass(frozen=True)
class Drafted:
    """The draft of a column's declaration: a range, or a list with the rows of each value, or neither."""

    column: str
    kind: str  # number, date or list
    ends: Ends | None = None
    values: tuple[tuple[str, int], ...] = ()
    other: tuple[int, Ends] | None = None  # rows with other values, if known

    @property
    def usable(self) -> bool:
        """Does it give a declaration? A list needs two values."""
        return self.ends is not None or len(self.values) > 1

    def words(self) -> str:
        if self.ends is not None:
            return say(f"found.line.{self.kind}", column=self.column, low=_end(self.ends[0]), high=_end(self.ends[1]))
        if not self.values:
            return say("found.line.nothing", column=self.column)
        named = ", ".join(value for value, _ in self.values[:_NAMED]) + (", …" if len(self.values) > _NAMED else "")
        line = say("found.line.list", column=self.column, values=len(self.values), named=named)
        if self.other is None:
            return line
        most = max(self.other[1][1], 0)
        return f"{line} {say('found.line.other', about=max(self.other[0], 0), most=most)}"


def listed(asked: Asked, value: JsonObject) -> list[str]:
    """The parts column by column: the ends of a range, the values of a list by size, and last the rest."""

    def rank(label: str) -> tuple[int, int, float, str]:
        at, part = _parted(asked, label)
        return at, _ORDER.get(part, 1), 0 if part in _ORDER else -value[label], part

    return sorted(value, key=rank)


def drafts(asked: Asked, value: JsonObject, interval: JsonObject) -> list[Drafted]:
    parts: list[dict[str, str]] = [{} for _ in asked]
    for label in listed(asked, value):
        at, part = _parted(asked, label)
        parts[at][part] = label
    columns = []
    for (name, kind), own in zip(asked, parts, strict=True):
        ends = (value[own[FROM]], value[own[TO]]) if FROM in own else None
        values = tuple((part, value[label]) for part, label in own.items() if part not in _ORDER)
        low, high = interval[own[ELSE]] if ELSE in own else (0, 0)
        other = (value[own[ELSE]], (low, high)) if ELSE in own else None
        columns.append(Drafted(name, kind, ends, values, other))
    return columns


def _end(end: Json) -> str:
    return day(end) if isinstance(end, str) else plain(end)


def _parted(asked: Asked, label: str) -> tuple[int, str]:
    """The place of a part's column, and the part itself."""
    at = next(at for at, (name, _) in enumerate(asked) if label.startswith(f"{name}: "))
    return at, label.removeprefix(f"{asked[at][0]}: ")
