"""What a question knows about its answer: its kind, unit and limits, and when it is too noisy to say anything. Public
facts, the promise and the released answer decide all of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.core.amounts import BETA
from dpengine.core.types import Ends, Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Ref, base
from dpengine.declared.schema import ItemSet, Number
from dpengine.mechanisms.answer_state import APART, FEW, NOISE, alike, fills
from dpengine.mechanisms.card import ALL, FIGURES, ON_COLUMN, AnswerKind, Card
from dpengine.mechanisms.promises import Goal, Promise

Runs = tuple[str, tuple[int, ...], tuple[float, ...], float]  # a column, the first code of each run, counts, error


@dataclass(frozen=True, kw_only=True)
class Answered(ABC):
    card: ClassVar[Card]
    makes_rows: ClassVar[str] = ""  # a synthetic table: "drawn" as rows, or "fitted" to what was drawn
    keeps_empty: ClassVar[bool] = False  # does a row count although its number or day is missing?

    facts: Facts
    by: Ref | None = None  # a list or a grouped column: one answer for each of its values
    beta: Fraction = BETA

    @abstractmethod
    def promise(self) -> Promise: ...

    @abstractmethod
    def promise_of(self, people: int) -> Promise:
        """The promise of this same question if only this many people count."""

    @abstractmethod
    def coarse(self) -> Fraction:
        """Errors above this are called coarse: usually a quarter of the answer's possible range. From public facts."""

    @property
    def conditional(self) -> bool:
        """Does a condition decide who counts? How many meet it is never public."""
        return False

    @property
    def answer_kind(self) -> AnswerKind:
        return self.card.answer

    @property
    def answer_column(self) -> str:
        """The column of the answer's values or unit; "" if there is none."""
        return str(base(getattr(self, "column", "")))

    @abstractmethod
    def valued(self) -> set[str]:
        """The declared columns with values in the answer."""

    def left_out(self) -> list[str]:
        """The columns of numbers and days in which a row needs a value to count."""
        columns = {} if self.keeps_empty else {name: self.facts.schema[name] for name in sorted(self.valued())}
        return [name for name, column in columns.items() if isinstance(column, Number | Date) and not column.complete]

    def counted_empty(self) -> list[str]:
        """Columns that may be empty in a row although the row counts in the total of a share."""
        return []

    def column_of(self, part: str = "") -> str:
        """The column with the unit of this part of the answer."""
        return self.answer_column

    @property
    def own_scales(self) -> bool:
        """Does every part of the answer have a column of its own, so that they cannot share an axis?"""
        return False

    @property
    def counts_rows(self) -> bool:
        """Does the question count rows rather than people? Yes if a person may or does have several rows, unless the
        question decides otherwise. Sets count the people who hold an item."""
        return self.rows_in_form(self.facts, {"column": self.answer_column, "people": getattr(self, "people", False)})

    @classmethod
    def rows_in_form(cls, facts: Facts, given: JsonObject) -> bool:
        """`counts_rows` for a form that is not complete yet."""
        sets = isinstance(facts.schema.columns.get(str(given.get("column"))), ItemSet)
        return facts.said_rows is not None and not sets and not given.get("people")

    @property
    def counted(self) -> str:
        """“rows” or “people”."""
        return "rows" if self.counts_rows else "people"

    @property
    def unit(self) -> str:
        """The unit of the answer's figures: "people", "rows", "percent" or "column"."""
        return "column" if self.answer_kind in ON_COLUMN else self.promise().unit_for(self)

    @property
    def measure(self) -> str:
        """The declared unit of a figure on a column: €, kg. "" if none is declared or the figure is of another kind."""
        return self.measure_of()

    def measure_of(self, part: str = "") -> str:
        """The measure of a part of the answer."""
        measure = getattr(self.facts.schema.columns.get(self.column_of(part)), "measure", "")
        return measure if measure and self.unit == "column" else ""

    @property
    def wanted_places(self) -> tuple[Fraction, ...]:
        """The ranks asked for, as shares of people (½ for a median)."""
        return ()

    @property
    def chooses(self) -> bool:
        """Does it measure only some figures, chosen with noise, and promise nothing about the others?"""
        return False

    @property
    def names_ordered(self) -> bool:
        """Does an answer of several names also give their order?"""
        return True

    @property
    def names_ranks(self) -> bool:
        """Is each name promised to be near its own rank, and not ahead of those left out?"""
        return False

    def has_range(self) -> bool:
        """Does the answer come with a range of values?"""
        return True

    @property
    def goal(self) -> Goal | None:
        """What the model predicts; None if the answer is not a model."""
        return None

    @property
    def predicts(self) -> str:
        """The column predicted by a model that is read off the answer's figures."""
        return ""

    def limits(self, part: str = "") -> Ends | None:
        """The range of an answer, or of a part, by declaration. It uses the declared number of people if the true one
        is not public. None if the answer is not a number."""
        match self.answer_kind:
            case "count":
                return 0, self.most
            case "share":
                return Fraction(0), ALL
            case "place":
                return self.facts.schema.ordered(self.answer_column).ends
            case "distance":
                return Fraction(0), self.facts.schema[self.answer_column].diameter
        return None

    @property
    def most(self) -> int:
        """The largest possible count; approximate if the number of people is not public."""
        return self.facts.about * self.facts.unit.at_most

    def sure(self, part: str = "") -> Ends:
        """The range of the true answer on every table; None for an unknown end."""
        least, most = self.limits(part) or (None, None)
        return least, None if self.answer_kind == "count" and self.facts.people is None else most

    def mute(self, interval: Json, part: str = "") -> bool:
        """Is this range so wide that the figure says nothing?"""
        limits = self.limits(part)
        return limits is not None and interval is not None and fills(interval[0], interval[1], *limits)

    def maybe_none(self, interval: Json, part: str = "") -> bool:
        """Is this a count that may be zero, because its range holds 0?"""
        return self.answer_kind == "count" and interval is not None and bool(interval[0] <= 0)

    @property
    def none_hoped(self) -> bool:
        """Is zero the best value of every part? Then all parts that may be zero are one good finding."""
        return False

    def verdict(self, interval: Json) -> str:
        """Does the declaration fit, judged by this range? A word of `data.fit`."""
        return ""

    def finding(self, value: Json, interval: Json) -> str:
        """The answer in a few words, if the question has better words than its kind of answer."""
        return ""

    def finding_of(self, value: Json, interval: Json, raw: tuple[int, ...] | None) -> str:
        """`finding` from the numbers that were drawn, which may hold more than the answer."""
        return self.finding(value, interval)

    def spreads(self, value: Json) -> Iterator[Runs]:
        """Ordered columns for which the answer counts everybody by runs of codes."""
        return iter(())

    def holds_none(self, interval: Json) -> bool:
        """May a count of something unwanted, such as misfits, be 0?"""
        return False

    @property
    def compared(self) -> bool:
        """Are the parts figures of the same kind, so that one of them can be the largest?"""
        return self.by is not None

    def headline_parts(self, parts: list[str]) -> list[str]:
        """The parts in the order in which a headline should begin, if it has too many."""
        return parts

    @property
    def comparable(self) -> bool:
        """Can its figures be compared with those of other answers?"""
        return self.answer_kind in FIGURES

    def state(self, value: Json, interval: Json) -> str:
        """Why the answer says nothing: one of the card's `states`, or "" if it does say something."""
        if not isinstance(interval, dict):
            return FEW if self.mute(interval) else ""
        narrow = [ends for part, ends in interval.items() if not self.mute(ends, part)]
        if interval and not narrow:
            return FEW
        return APART if self.compared and len(narrow) > 1 and alike(narrow) else ""

    def mostly_noise(self, value: Json, interval: Json) -> bool:
        """Is a released answer mostly noise, by its own ranges? Before the release, the promise decides."""
        if self.state(value, interval) in (FEW, NOISE):
            return True
        ranges = interval if isinstance(interval, dict) else {"": interval}
        figures = value if isinstance(interval, dict) else {"": value}
        known = {part: ends for part, ends in ranges.items() if ends is not None and not isinstance(ends[0], str)}
        if not known or any(self.limits(part) is None for part in known):
            return False
        good = [part for part, ends in known.items() if not self._wide(figures.get(part) or 0, ends, part)]
        if 2 * len(good) >= len(known):
            return False
        counted = sum(max(figures.get(part) or 0, 0) for part in known) if self.answer_kind == "count" else 0
        return not counted or 2 * sum(max(figures.get(part) or 0, 0) for part in good) < counted

    def _wide(self, figure: Json, ends: Ends, part: str) -> bool:
        """Is a range coarse: wider than a quarter of the figure's limits and, for a count, of the figure itself?"""
        half = (ends[1] - ends[0]) / 2
        if self.answer_kind == "count":
            return bool(half > max(self.coarse(), abs(figure) / 4))
        least, most = self.limits(part) or (0, 0)
        return bool(half > (most - least) / 8)
