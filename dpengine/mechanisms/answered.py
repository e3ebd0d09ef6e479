"""What a question says about its answer: its kind, its unit, its limits, and when it is too noisy to say anything. All
of it follows from public facts, the promise and what was released."""

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

Runs = tuple[str, tuple[int, ...], tuple[float, ...], float]  # a column, where runs begin, counts, how far they are off


@dataclass(frozen=True, kw_only=True)
class Answered(ABC):
    card: ClassVar[Card]
    makes_rows: ClassVar[str] = ""  # a synthetic table: "drawn" as rows, or "fitted" to what was drawn
    keeps_empty: ClassVar[bool] = False  # does a row count though the number or day that is asked for is missing?

    facts: Facts
    by: Ref | None = None  # a Category or a column told in groups: one answer for each of its values
    beta: Fraction = BETA

    @abstractmethod
    def promise(self) -> Promise: ...

    @abstractmethod
    def promise_of(self, people: int) -> Promise:
        """What this very question promises if only so many people count."""

    @abstractmethod
    def coarse(self) -> Fraction:
        """A promised error above this is called coarse: a quarter of the answer's possible range, from public facts."""

    @property
    def conditional(self) -> bool:
        """Do only those count who meet a condition? How many they are is never public."""
        return False

    @property
    def answer_kind(self) -> AnswerKind:
        return self.card.answer

    @property
    def answer_column(self) -> str:
        """The column whose values or unit the answer has; "" where there is none."""
        return str(base(getattr(self, "column", "")))

    @abstractmethod
    def valued(self) -> set[str]:
        """The declared columns whose values enter the answer."""

    def left_out(self) -> list[str]:
        """The columns of numbers and days in which a row needs a value to count."""
        columns = {} if self.keeps_empty else {name: self.facts.schema[name] for name in sorted(self.valued())}
        return [name for name, column in columns.items() if isinstance(column, Number | Date) and not column.complete]

    def counted_empty(self) -> list[str]:
        """The columns without a value in which a row still counts among those that a share is of."""
        return []

    def column_of(self, part: str = "") -> str:
        """The column whose unit this part of the answer has."""
        return self.answer_column

    @property
    def own_scales(self) -> bool:
        """Does every part of the answer stand on a column of its own, so that one axis cannot hold them all?"""
        return False

    @property
    def counts_rows(self) -> bool:
        """Are rows counted rather than people? Yes where a person may have several rows, unless the question says
        otherwise; for sets, the people who hold an item are counted."""
        return self.rows_in_form(self.facts, {"column": self.answer_column, "people": getattr(self, "people", False)})

    @classmethod
    def rows_in_form(cls, facts: Facts, given: JsonObject) -> bool:
        """The same of a form that is still being filled in."""
        sets = isinstance(facts.schema.columns.get(str(given.get("column"))), ItemSet)
        return facts.unit.id_column is not None and not sets and not given.get("people")

    @property
    def counted(self) -> str:
        """What is counted, "rows" or "people"."""
        return "rows" if self.counts_rows else "people"

    @property
    def unit(self) -> str:
        """The unit of the answer's figures: "people", "rows", "percent" or "column"."""
        return "column" if self.answer_kind in ON_COLUMN else self.promise().told_in(self)

    @property
    def measure(self) -> str:
        """What a figure on a column is counted in, by its declaration: €, kg; "" where nothing is said, or where the
        figure is of another kind than the column's own."""
        return self.measure_of()

    def measure_of(self, part: str = "") -> str:
        """The same, of one part of the answer."""
        measure = getattr(self.facts.schema.columns.get(self.column_of(part)), "measure", "")
        return measure if measure and self.unit == "column" else ""

    @property
    def wanted_places(self) -> tuple[Fraction, ...]:
        """The ranks that are asked for, as shares of people (½ for a median); none for other questions."""
        return ()

    @property
    def chooses(self) -> bool:
        """Is only a part of the figures measured, chosen with noise, and of the others nothing promised?"""
        return False

    @property
    def names_ordered(self) -> bool:
        """Of several names: is their order told?"""
        return True

    def tells_range(self) -> bool:
        """Does the answer come with a range of values?"""
        return True

    @property
    def goal(self) -> Goal | None:
        """What the model predicts; None where the answer is not a model."""
        return None

    @property
    def predicts(self) -> str:
        """Of figures that were bought to read a model off them: the column that it predicts."""
        return ""

    def limits(self, part: str = "") -> Ends | None:
        """The numbers between which an answer, or a part of it, lies by declaration; where the number of people is not
        public, the declared one is used. None where the answer is not a number."""
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
        """How many people or rows can be counted at most; an approximate number where that is not public."""
        return self.facts.about * self.facts.unit.at_most

    def sure(self, part: str = "") -> Ends:
        """The numbers between which the true answer lies for certain, whatever the table holds; None for an end that is
        unknown."""
        least, most = self.limits(part) or (None, None)
        return least, None if self.answer_kind == "count" and self.facts.people is None else most

    def mute(self, interval: Json, part: str = "") -> bool:
        """Is this range so wide that the figure says nothing?"""
        limits = self.limits(part)
        return limits is not None and interval is not None and fills(interval[0], interval[1], *limits)

    def maybe_none(self, interval: Json, part: str = "") -> bool:
        """Is this a number of people or rows that cannot be told from none, because 0 is in its range?"""
        return self.answer_kind == "count" and interval is not None and bool(interval[0] <= 0)

    @property
    def none_hoped(self) -> bool:
        """Is none what one hopes for of every part? Then all that cannot be told from it are one good finding."""
        return False

    def off(self) -> Fraction:
        """How far the figures shown may be off, all at once."""
        return self.promise().amount

    def verdict(self, interval: Json) -> str:
        """For questions about the declaration: whether it fits, judged by this range, as a word of `data.fit`."""
        return ""

    def finding(self, value: Json, interval: Json) -> str:
        """What an answer says in a few words, where the question can tell it better than its kind of answer."""
        return ""

    def finding_of(self, value: Json, interval: Json, raw: tuple[int, ...] | None) -> str:
        """The same where what was drawn is known, which may tell more."""
        return self.finding(value, interval)

    def spreads(self, value: Json) -> Iterator[Runs]:
        """Columns of numbers or days of which the answer counts everybody by runs of codes, whatever else they meet."""
        return iter(())

    def holds_none(self, interval: Json) -> bool:
        """Is 0 possible, in a count of something unwanted such as misfits?"""
        return False

    def unseen(self) -> Fraction | None:
        """Values that the answer leaves out are held by fewer than this many; None where it leaves nothing out."""
        return None

    @property
    def compared(self) -> bool:
        """Are the parts of the answer figures of the same kind, so that one of them can be called the largest?"""
        return self.by is not None

    def told_first(self, parts: list[str]) -> list[str]:
        """Where there are too many parts for a headline: those that it begins with."""
        return parts

    @property
    def comparable(self) -> bool:
        """Are there figures in the answer that may be set beside those of other answers? Not where it names its parts
        itself: what is missing there is no 0."""
        return self.answer_kind in FIGURES and self.unseen() is None

    def state(self, value: Json, interval: Json) -> str:
        """The reason why the answer says nothing, one of the card's `states`; "" where it does say something."""
        if not isinstance(interval, dict):
            return FEW if self.mute(interval) else ""
        telling = [part_interval for part, part_interval in interval.items() if not self.mute(part_interval, part)]
        if interval and not telling:
            return FEW
        return APART if self.compared and len(telling) > 1 and alike(telling) else ""

    def mostly_noise(self, value: Json, interval: Json) -> bool:
        """Is a released answer mostly noise, by its own ranges? Before there is one, the promise decides."""
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
        """Is a range coarse: wider than a quarter of what the figure can be, and of a count of the figure too?"""
        half = (ends[1] - ends[0]) / 2
        if self.answer_kind == "count":
            return bool(half > max(self.coarse(), abs(figure) / 4))
        least, most = self.limits(part) or (0, 0)
        return bool(half > (most - least) / 8)
