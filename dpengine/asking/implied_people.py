"""Does the declared number of people agree with paid answers? Free post-processing.

Where membership is secret nobody counts people when a table is declared: the owner states their number, and every
promised error assumes it. Some answers imply it (`Query.people_bounds`): a count of everybody, bars of a whole table, a
first look, a check of the columns. A count under a condition implies a lower bound. A range far from the declared
number gets a note.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpengine.asking.answers import Answer, round_up_two
from dpengine.core.printed import chance
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.answer_state import FAR
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say


@dataclass(frozen=True)
class ImpliedPeople:
    """An answer implies between `low` and `high` people, or at least `low`, except with probability β."""

    declared: int
    low: int
    high: int | None
    beta: Fraction

    @property
    def far(self) -> bool:
        return self.low > (1 + FAR) * self.declared or (self.high is not None and self.high < (1 - FAR) * self.declared)

    @property
    def about(self) -> int:
        """A number to declare instead: the middle of the range, or its lower end, rounded up to two figures."""
        return round_up_two(Fraction(self.low if self.high is None else (self.low + self.high) // 2))

    def words(self) -> str:
        """The note on the answer that shows it."""
        return self._note("people.far")

    def planned(self) -> str:
        """The note beside a promise, which assumes the declared number."""
        return self._note("people.planned")

    def on_card(self) -> str:
        """The note on the table's card, one tap away from the field."""
        return self._note("people.card")

    def _note(self, code: str) -> str:
        facts = {"declared": self.declared, "low": self.low, "high": self.high, "chance": chance(self.beta)}
        return say(f"{code}_least" if self.high is None else code, **facts)


def implied_by(answer: Answer) -> ImpliedPeople | None:
    """What an answer implies; None where it implies nothing or the number is public."""
    query = answer.query
    if query.facts.people is not None or answer.raw is None:
        return None
    bounds = query.people_bounds(answer.raw)
    return None if bounds is None else ImpliedPeople(query.facts.about, *bounds, query.beta)


def kinds() -> list[str]:
    """Questions with answers that may imply it."""
    return [key for key, kind in catalogue.items() if kind.row_bounds is not AnyQuery.row_bounds]


def far_off(answers: Iterable[Answer], declared: int) -> ImpliedPeople | None:
    """The newest of these answers that was asked with the declared number and shows it to be far off. One with both
    ends comes before those with a lower end only."""
    implied = (implied_by(answer) for answer in answers if answer.query.facts.about == declared)
    far = [people for people in implied if people is not None and people.far]
    return next((people for people in far if people.high is not None), far[0] if far else None)
