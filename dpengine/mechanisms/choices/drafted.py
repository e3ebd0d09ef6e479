"""What was found of several columns as one flat answer, part by part, and column by column again.

A part is called “column: part”. Values that are found are in small letters, so the four capitals are never one; and no
column of one purchase is called as another with a colon behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.core.types import Ends, Json, JsonObject
from dpengine.messages import plain, say
from dpengine.messages.numbers import day

FROM, TO, HOLD, ELSE = "From", "To", "Hold", "Else"
_ORDER = {FROM: 0, TO: 1, HOLD: 2, ELSE: 2}  # the values of a list stand at 1

_NAMED = 12  # values in a line

Asked = Sequence[tuple[str, str]]  # each column with what it is taken for: number, date or list


@dataclass(frozen=True)
class Drafted:
    """What was found of one column: a range, or a list with the rows of each value; None where nothing stands out."""

    column: str
    kind: str  # number, date or list
    ends: Ends | None = None
    values: tuple[tuple[str, int], ...] = ()
    other: tuple[int, Ends] | None = None  # rows that hold something else, where that is known

    @property
    def usable(self) -> bool:
        """Can a declaration be made of it? A list has two values at least."""
        return self.ends is not None or len(self.values) > 1

    def words(self) -> str:
        """What was found, and what was not."""
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
    """Column by column: the ends of a range, the values of a list by size, and last what is left."""

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
    """Which column a part is of, and what it says of it."""
    at = next(at for at, (name, _) in enumerate(asked) if label.startswith(f"{name}: "))
    return at, label.removeprefix(f"{asked[at][0]}: ")
