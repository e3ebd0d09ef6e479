"""What a question says about its answer: what it is, in which unit, between which limits it lies, and when it says
nothing. All of it follows from public facts, the promise and what was released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.core.amounts import BETA
from dpengine.core.json_types import Ends, Json
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Ref, base
from dpengine.declared.schema import ItemSet
from dpengine.mechanisms.card import ALL, FIGURES, ON_COLUMN, AnswerKind, Card
from dpengine.mechanisms.promises import Goal, Promise
from dpengine.mechanisms.telling import APART, FEW, alike, fills


@dataclass(frozen=True, kw_only=True)
class Answered(ABC):
    card: ClassVar[Card]

    facts: Facts
    by: Ref | None = None  # a Category or a column told in groups: one answer for each of its values
    beta: Fraction = BETA

    @abstractmethod
    def promise(self) -> Promise: ...

    @property
    def answer_kind(self) -> AnswerKind:
        return self.card.answer

    @property
    def answer_column(self) -> str:
        """The column an answer lies on or is in the unit of; "" where there is none."""
        return str(base(getattr(self, "column", "")))

    @property
    def counts_rows(self) -> bool:
        """Are rows counted rather than people? Where a person may have several, unless the question says otherwise; of
        sets the people who hold an item are counted."""
        column = self.facts.schema.columns.get(self.answer_column)
        people = getattr(self, "people", False) or isinstance(column, ItemSet)
        return self.facts.unit.id_column is not None and not people

    @property
    def counted(self) -> str:
        """What is counted, "rows" or "people"."""
        return "rows" if self.counts_rows else "people"

    @property
    def unit(self) -> str:
        """What a figure of the answer is told in: "people", "rows", "percent" or "column"."""
        return "column" if self.answer_kind in ON_COLUMN else self.promise().told_in(self)

    @property
    def wanted_places(self) -> tuple[Fraction, ...]:
        """Which places of an ordering are asked for, as shares of people; none where it is about something else."""
        return ()

    @property
    def goal(self) -> Goal | None:
        """What a model is to predict; None where the answer is no model."""
        return None

    def limits(self, part: str = "") -> Ends | None:
        """Between which numbers an answer, or a part of it, lies by declaration; the declared number of people stands
        for one that is not public. None where it is no number."""
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
        """How many people or rows can be counted; about so many where that is not public."""
        return self.facts.about * self.facts.unit.at_most

    def sure(self, part: str = "") -> Ends:
        """Beyond which numbers the truth cannot be, whatever the table holds; None where nothing is sure."""
        least, most = self.limits(part) or (None, None)
        return least, None if self.answer_kind == "count" and self.facts.people is None else most

    def mute(self, interval: Json, part: str = "") -> bool:
        """Does a figure with this range say nothing?"""
        limits = self.limits(part)
        return limits is not None and interval is not None and fills(interval[0], interval[1], *limits)

    def off(self) -> Fraction:
        """How far every figure that is shown may be off, all at once."""
        return self.promise().amount

    def verdict(self, interval: Json) -> str:
        """What an answer with this range says of the declaration, where that was asked: a word of `data.fit`."""
        return ""

    def finding(self, value: Json, interval: Json) -> str:
        """What an answer says in a few words, where the question can tell it better than its kind of answer."""
        return ""

    def holds_none(self, interval: Json) -> bool:
        """Is none at all possible, of something that is better not there?"""
        return False

    def unseen(self) -> Fraction | None:
        """What the answer leaves out is held by fewer than so many; None where it leaves nothing out."""
        return None

    @property
    def compared(self) -> bool:
        """Are the parts of an answer of one kind, so that one of them may be the largest?"""
        return self.by is not None

    @property
    def comparable(self) -> bool:
        """Are there figures in the answer that may be set beside those of other answers? Not where it names its parts
        itself: what is missing there is no 0."""
        return self.answer_kind in FIGURES and self.unseen() is None

    def state(self, value: Json, interval: Json) -> str:
        """In which of its card's states an answer says nothing; "" where it tells."""
        if not isinstance(interval, dict):
            return FEW if self.mute(interval) else ""
        telling = [one for part, one in interval.items() if not self.mute(one, part)]
        if interval and not telling:
            return FEW
        return APART if self.compared and len(telling) > 1 and alike(telling) else ""
