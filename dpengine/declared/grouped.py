"""A column in coarser groups: days by month, quarter, year or weekday, numbers by even steps or between edges, merged
values of a list.

The group of a row is a public function of the code of one declared column, and the declared range fixes the list of
groups. So any question that counts by a list can count by groups: a row with a value is in exactly one, a row without
in none.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpengine.core.types import Json, JsonObject
from dpengine.declared.spelling import normal
from dpengine.messages import called, plain, say
from dpengine.messages.language import current

ABSENT = -1  # the code of a missing value, which is in no group
WEEK = 7
MERGED = "merged"
AGAIN = ("weekday", "month_of_year")  # groups that recur within a range
OF_DAYS = ("month", "quarter", "year", "weekday", "month_of_year")


@dataclass(frozen=True)
class Grouped:
    """Groups of a column's codes. Run i begins at code starts[i] and is in group places[i]. For days of the week there
    are no runs; `monday` is the code of the first Monday."""

    column: str
    by: str | tuple[str, tuple[str, ...]]  # "month" and so on; ("step", ("10",)); ("edges", ("18", "65"));
    # (MERGED, …) with a JSON list of a name and its values for each merged group
    labels: tuple[str, ...]  # as they are stored: 2024-10, 2024-Q4, Monday, 30–39
    starts: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    monday: int = 0
    _places: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._places.update({normal(label): place for place, label in enumerate(self.labels)})

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def values(self) -> tuple[str, ...]:
        return self.labels

    def of(self, code: int) -> int:
        if code == ABSENT:
            return ABSENT
        return self.places[bisect_right(self.starts, code) - 1] if self.starts else (code - self.monday) % WEEK

    def value(self, place: int) -> str:
        return self.labels[place]

    def code(self, value: Json) -> int:
        """The place of the group whose stored label a person typed."""
        return self._places[normal(str(value))]

    @property
    def rule(self) -> str:
        return self.by if isinstance(self.by, str) else self.by[0]

    def as_json(self) -> JsonObject:
        """The groups as JSON, as in a question's parameters."""
        if isinstance(self.by, str):
            return {"column": self.column, "by": self.by}
        rule, figures = self.by
        if rule == MERGED:
            return {"column": self.column, rule: [json.loads(group) for group in figures]}
        return {"column": self.column, rule: figures[0] if rule == "step" else list(figures)}

    def __str__(self) -> str:
        """The groups as text in the reader's language: “month of visited”."""
        return _called(self.column, self.by, current())

    def where(self) -> str:
        """How a condition names the groups: “weekday of visited”, or the column if the labels say the rest."""
        if self.rule in ("step", "edges"):
            return self.column
        return str(self) if self.rule == MERGED else say(f"group.where.{self.rule}", column=self.column)

    def shown(self) -> dict[str, str]:
        """Maps each stored label to its text in the reader's language."""
        years = self.rule in ("step", "edges") and _years([end for label in self.labels for end in label.split("–")])
        return {label: self._shown(label, years) for label in self.labels}

    def _shown(self, label: str, years: bool) -> str:
        match self.rule:
            case "month":
                return say("group.month", month=say(f"month.{int(label[5:])}"), year=label[:4])
            case "quarter":
                return say("group.quarter", quarter=label[6:], year=label[:4])
            case "month_of_year":
                return say(f"month.{self.code(label) + 1}")
            case "weekday":
                return say(f"weekday.{self.code(label) + 1}")
            case "year":
                return label
            case "merged":
                return called(label)
        return "–".join(_figure(end, years) for end in label.split("–"))


Ref = str | Grouped  # a declared column with a list of values, or a grouped one


def base(ref: Ref) -> str:
    """The declared column behind a column or its groups."""
    return ref.column if isinstance(ref, Grouped) else ref


def code_of(row: Mapping[str, Any], ref: Ref) -> Any:
    return ref.of(row[ref.column]) if isinstance(ref, Grouped) else row[ref]


def ref_json(ref: Ref) -> Json:
    return ref.as_json() if isinstance(ref, Grouped) else ref


@lru_cache(maxsize=1000)
def _called(column: str, by: str | tuple[str, tuple[str, ...]], lang: str) -> str:
    """The name of a grouped column in the language `lang`. Cached, because every bar has it."""
    rule, ends = (by, ()) if isinstance(by, str) else by
    ends = () if rule == MERGED else ends
    return say(f"group.of.{rule}", column=column, figures=", ".join(_figure(end) for end in ends))


def _years(ends: Iterable[str]) -> bool:
    """Can all of these numbers be years? Then they are written without a thousands sign."""
    return all(1_000 <= Fraction(end) < 3_000 for end in ends)


def _figure(text: str, bare: bool = True) -> str:
    """A number as text. With `bare`, four digits have no thousands sign: for years, and in a list with commas."""
    exact = Fraction(text)
    return text if bare and exact.denominator == 1 and abs(exact) < 10_000 else plain(exact)
