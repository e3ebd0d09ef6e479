"""Does the declared number of people agree with what was released? Free post-processing: of answers that were paid for.

Where membership is secret nobody counts people when a table is declared: their number is the owner's word, and every
promised error is planned with it. Some answers tell it (`Query.people_told`): a count of everybody, bars of a whole
table, a first look, a check of the columns; one under a condition tells how many there are at least. Where such a range
lies far from the declared number, that is said.
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
class PeopleTold:
    """An answer says that there are between `low` and `high` people, or at least `low`, except with chance β."""

    declared: int
    low: int
    high: int | None
    beta: Fraction

    @property
    def far(self) -> bool:
        """Is the declared number surely far off?"""
        return self.low > (1 + FAR) * self.declared or (self.high is not None and self.high < (1 - FAR) * self.declared)

    @property
    def about(self) -> int:
        """A round number to plan with instead."""
        return round_up_two(Fraction(self.low if self.high is None else (self.low + self.high) // 2))

    def words(self) -> str:
        """What an answer that shows it says."""
        return self._told("people.far")

    def planned(self) -> str:
        """The same beside a promise, which is planned with the declared number."""
        return self._told("people.planned")

    def on_card(self) -> str:
        """The same on the card of the table, from where one tap leads to the field."""
        return self._told("people.card")

    def _told(self, code: str) -> str:
        facts = {"declared": self.declared, "low": self.low, "high": self.high, "chance": chance(self.beta)}
        return say(f"{code}_least" if self.high is None else code, **facts)


def told_by(answer: Answer) -> PeopleTold | None:
    """What one answer tells; None where it tells nothing of it, or where the number is public."""
    query = answer.query
    if query.facts.people is not None or answer.raw is None:
        return None
    told = query.people_told(answer.raw)
    return None if told is None else PeopleTold(query.facts.about, *told, query.beta)


def kinds() -> list[str]:
    """Questions whose answers may tell it."""
    return [key for key, kind in catalogue.items() if kind.rows_told is not AnyQuery.rows_told]


def far_off(answers: Iterable[Answer], declared: int) -> PeopleTold | None:
    """What the newest of these answers says that was asked with the declared number and shows that it is far off; one
    that knows both ends goes before those that only know how many there are at least."""
    found = (told_by(answer) for answer in answers if answer.query.facts.about == declared)
    far = [told for told in found if told is not None and told.far]
    return next((told for told in far if told.high is not None), far[0] if far else None)
