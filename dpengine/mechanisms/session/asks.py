"""The questions of a session: a query that maps a person to [0, 1], or which of several groups is largest.

    {"share": [conditions]}      1 if all conditions hold, else 0; several of them are a product. If a person may have
                                 several rows: 1 if one of them meets all conditions
    {"average": column}          the value moved from its declared range to [0, 1]; a missing value, and a row that a
                                 person does not have, count as the middle; the average of at most m rows
    {"largest": [[…], […]]}      which of these groups has the most people

By construction nothing leaves [0, 1]. Each has an exact integer over the rows, `total`. One person changes it by at
most `change`, and `grain` units of it are 1 for one person.

    share     number of people            change 1 under both relations         grain 1
    average   Σ(2·code − h), h = size−1   change 2hm, hm under add/remove       grain 2hm, measured from ½
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.conditions import Predicate, conditions, read_predicate
from dpengine.declared.facts import Facts
from dpengine.messages import say
from dpengine.statistics.counts import Moments, RowCount

KINDS = ("share", "average", "largest")
MOST_OPTIONS = 50


@dataclass(frozen=True)
class Share:
    of: Predicate
    people: bool  # count people, not rows
    start = Fraction(0)
    low, width, unit = Fraction(0), Fraction(100), "percent"
    grain = 1

    def as_json(self) -> JsonObject:
        return {"share": self.of.as_json()}

    def columns(self) -> set[str]:
        return self.of.columns()

    def words(self) -> str:
        return say("session.ask.share_several" if self.people else "session.ask.share", of=conditions(self.of))

    def need(self) -> RowCount:
        return RowCount(self.of, self.people)

    def total(self, value: Json) -> int:
        return int(value)

    def change(self, relation: str) -> int:
        return 1


@dataclass(frozen=True)
class Average:
    column: str
    size: int
    rows: int  # the most rows of a person that count
    low: Fraction
    width: Fraction
    complete: bool  # every row has a value, by declaration
    start = Fraction(1, 2)

    @property
    def unit(self) -> str:
        return self.column

    @property
    def grain(self) -> int:
        return 2 * (self.size - 1) * self.rows

    def as_json(self) -> JsonObject:
        return {"average": self.column}

    def columns(self) -> set[str]:
        return {self.column}

    def words(self) -> str:
        code = "session.ask.average" if self.complete else "session.ask.average_missing"
        return say(code if self.rows == 1 else "session.ask.average_several", column=self.column)

    def middle_note(self) -> str:
        """A note on the value that stands for a person without one; empty if everybody has one."""
        if self.complete and self.rows == 1:
            return ""
        code = "session.middle" if self.rows == 1 else "session.middle_rows"
        return say(code, rows=self.rows, middle=self.middle)

    @property
    def middle(self) -> str:
        return text_of(self.low + self.width / 2)

    def need(self) -> Moments:
        return Moments(self.column, self.size, 1, None, 1)

    def total(self, value: Json) -> int:
        return int(value[1])

    def change(self, relation: str) -> int:
        return self.grain if relation == "replace" else self.grain // 2


@dataclass(frozen=True)
class Largest:
    options: tuple[Predicate, ...]

    def as_json(self) -> JsonObject:
        return {"largest": [option.as_json() for option in self.options]}

    def columns(self) -> set[str]:
        return set().union(*(option.columns() for option in self.options))

    def words(self) -> str:
        return say("session.ask.largest", options="; ".join(conditions(option) for option in self.options))


Ask = Share | Average | Largest


def read_ask(given: Json, facts: Facts) -> Ask:
    """Read the form's JSON, or refuse in one sentence what is no query into [0, 1]."""
    if not isinstance(given, dict) or len(given) != 1 or next(iter(given)) not in KINDS:
        raise AllowanceError("session.ask_unknown")
    [(kind, what)] = given.items()
    if kind == "share":
        of = read_predicate(what, facts.schema)
        if of.everyone:
            raise AllowanceError("session.ask_everyone")
        return Share(of, facts.unit.id_column is not None)
    if kind == "average":
        column = facts.schema.number(str(what))
        return Average(str(what), column.size, facts.unit.at_most, column.lower, column.diameter, column.complete)
    if not isinstance(what, (list, tuple)) or not 2 <= len(what) <= MOST_OPTIONS:
        raise AllowanceError("options.many", most=MOST_OPTIONS)
    options = tuple(read_predicate(option, facts.schema) for option in what)
    if any(option.everyone for option in options) or len({conditions(option) for option in options}) < len(options):
        raise AllowanceError("options.different")
    return Largest(options)
