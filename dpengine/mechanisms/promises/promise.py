"""What an answer will be worth, before it is drawn. A promise knows its unit and says itself; the words stand by code.

`amount` is what can be wished for. A person reads and types it in the promise's own unit: `written` turns an amount
into what stands in a field, `amount_of` turns what was typed back, and `at` is the same promise for a wished amount.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import ClassVar, Protocol, Self

from dpengine.core.exact import text_of
from dpengine.core.printed import chance, percent_up
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Ref
from dpengine.mechanisms.card import AnswerKind
from dpengine.messages import say
from dpengine.messages.numbers import local


class Asked(Protocol):
    """What a promise asks its question in order to say itself more plainly."""

    @property
    def facts(self) -> Facts: ...
    @property
    def by(self) -> Ref | None: ...
    @property
    def beta(self) -> Fraction: ...
    @property
    def answer_kind(self) -> AnswerKind: ...
    @property
    def counted(self) -> str: ...
    @property
    def wanted_places(self) -> tuple[Fraction, ...]: ...
    @property
    def goal(self) -> Goal | None: ...
    def off(self) -> Fraction: ...
    def unseen(self) -> Fraction | None: ...


@dataclass(frozen=True)
class Promise(ABC):
    kind: ClassVar[str]
    in_percent: ClassVar[bool] = False  # is the amount a share, which people read and type in percent?

    @property
    @abstractmethod
    def amount(self) -> Fraction: ...

    @abstractmethod
    def at(self, wish: Fraction) -> Self:
        """The same promise with this amount."""

    @abstractmethod
    def words(self, asked: Asked | None = None) -> str:
        """What the answer will be worth, before it is bought; more plainly where the question is given too."""

    @abstractmethod
    def short(self, asked: Asked | None = None) -> str:
        """For a card or a table cell."""

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        """The same of an answer that was drawn; `several`: it names more than one."""
        return self.words()

    def each(self, asked: Asked, of: int) -> str:
        """How far each of so many figures may be off."""
        return say("answer.ranges", of=of, chance=chance(asked.beta))

    def size(self) -> str:
        """The amount by itself, in its own unit."""
        return percent_up(self.amount)

    @property
    def unit(self) -> str:
        """What the amount is in; amounts of one kind and unit can be compared."""
        return self.kind

    def told_in(self, asked: Asked | None = None) -> str:
        """The unit as the codes of sentences name it."""
        return self.kind

    @property
    def whole(self) -> bool:
        """Is it told as it is, in whole people or rows, rather than rounded to a few figures?"""
        return False

    @property
    def grouped(self) -> bool:
        """Is it for several groups, as if all were of one size?"""
        return False

    @property
    def code(self) -> str:
        """How a sentence goes on that ends with this promise."""
        return self.kind

    @property
    def figure(self) -> Fraction:
        """The amount in the unit that it is told in."""
        return self.amount * 100 if self.in_percent else self.amount

    def amount_of(self, typed: Fraction, asked: Asked | None = None) -> Fraction:
        """The amount that a typed figure stands for."""
        return typed / 100 if self.in_percent else typed

    def written(self, amount: Fraction, asked: Asked | None = None) -> str:
        """An amount as it would be typed."""
        return local(f"{float(amount) * 100:.3g}" if self.in_percent else text_of(amount))

    def field(self, asked: Asked) -> tuple[str, str]:
        """The label of a field for the accepted error, and what is promised now."""
        return say(f"spend.wish.{self.kind}"), self.written(self.amount, asked)

    def floor_words(self, people: int) -> str:
        """The line nobody can cross, where one is known."""
        return ""

    def of_people(self, people: int) -> Fraction:
        """The amount as a number of people."""
        return self.amount * people if self.in_percent else self.amount

    def guess(self, asked: Asked | None = None) -> str:
        """A promise that rests on the declared size says so: how many people a condition leaves is not public."""
        return ""

    def unnamed(self, column: str) -> Promise:
        """Of a made-up table: nobody named its column, and the number of people stands beside it."""
        return self


@dataclass(frozen=True)
class Goal:
    """What a model is to predict. An excess loss is told in its unit: how much larger the typical error is at most, as
    √(a + b) ≤ √a + √b; of yes and no, in percent of what the toss of a coin loses, ln 2."""

    target: str
    width: Fraction | None  # of a range of numbers; None for yes and no
    blank: Fraction  # what the model that knows nothing loses at most

    @property
    def code(self) -> str:
        return "list" if self.width is None else "number"

    def error(self, risk: float) -> float:
        return 100 * risk / log(2) if self.width is None else sqrt(2 * risk) * float(self.width) / 2

    def risk(self, error: Fraction) -> Fraction:
        if self.width is None:
            return error / 100 * Fraction(log(2)).limit_denominator(10**9)
        return (2 * error / self.width) ** 2 / 2

    def axis(self) -> str:
        return say(f"train_page.axis.excess_{self.code}", target=self.target)
