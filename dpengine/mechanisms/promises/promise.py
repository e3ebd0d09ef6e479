"""How accurate an answer will be, stated before it is drawn. A promise knows its unit and its sentences.

A person can choose the error, `amount`, in the promise's own unit: `written` turns an amount into the text of a field,
`amount_of` turns typed text back, and `at` is the same promise for a chosen amount.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
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

_PARTS = (3, 10)  # a promise under a condition also says what holds if a third or a tenth of the people meet it


class Asked(Protocol):
    """The parts of a question that a promise uses for plainer sentences."""

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
    def measure(self) -> str: ...
    @property
    def wanted_places(self) -> tuple[Fraction, ...]: ...
    @property
    def names_ordered(self) -> bool: ...
    @property
    def chooses(self) -> bool: ...
    @property
    def goal(self) -> Goal | None: ...
    @property
    def conditional(self) -> bool: ...
    @property
    def counts_rows(self) -> bool: ...
    def has_range(self) -> bool: ...
    def coarse(self) -> Fraction: ...
    def promise(self) -> Promise: ...
    def promise_of(self, people: int) -> Promise: ...


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
        """How accurate the answer will be, before anything is paid; in plainer words if the question is given."""

    @abstractmethod
    def short(self, asked: Asked | None = None) -> str:
        """For a card or a table cell."""

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        """How accurate a drawn answer is; `several`: it names more than one item."""
        return self.words(asked)

    def each(self, asked: Asked, of: int) -> str:
        """How far each of `of` figures may be off."""
        return say("answer.ranges_one" if of == 1 else "answer.ranges", of=of, chance=chance(asked.beta))

    def size(self) -> str:
        """The amount by itself, in its own unit."""
        return percent_up(self.amount)

    @property
    def unit(self) -> str:
        """The unit of the amount; amounts of the same kind and unit can be compared."""
        return self.kind

    def unit_for(self, asked: Asked | None = None) -> str:
        """The unit as it occurs in message codes."""
        return self.kind

    def typed_in(self, asked: Asked | None = None) -> str:
        """The unit in which an accepted error is typed, as it occurs in message codes."""
        return self.unit_for()

    @property
    def whole(self) -> bool:
        """Is it shown exactly, in whole people or rows, rather than rounded to a few digits?"""
        return False

    @property
    def grouped(self) -> bool:
        """Is it for several groups, assuming that all have the same size?"""
        return False

    @property
    def code(self) -> str:
        """The last part of the message code of a sentence that ends with this promise."""
        return self.kind

    @property
    def figure(self) -> Fraction:
        """The amount in the unit in which it is shown."""
        return self.amount * 100 if self.in_percent else self.amount

    def figure_for(self, asked: Asked) -> Fraction:
        """`figure` for a question: a model's promise is in the unit of the predicted column."""
        return self.figure

    def size_for(self, asked: Asked) -> str:
        """`size` for a question."""
        return self.size()

    def ends(self, asked: Asked) -> tuple[str, str] | None:
        """The labels at the ends of a figure's error bar; None if the promise is no range around a figure."""
        return None

    def narrows(self, half: Fraction) -> bool:
        """Would it give a narrower range than a received one of this half-width (the widest of several)? A promise
        that is no range may."""
        return True

    def amount_of(self, typed: Fraction, asked: Asked | None = None) -> Fraction:
        """The amount that a typed figure stands for."""
        return typed / 100 if self.in_percent else typed

    def written(self, amount: Fraction, asked: Asked | None = None) -> str:
        """An amount as it would be typed."""
        return local(text_of(Fraction(f"{float(amount) * 100:.3g}") if self.in_percent else amount))

    def field(self, asked: Asked) -> tuple[str, str]:
        """The label of the field for the accepted error, and the error promised now."""
        return say(f"spend.wish.{self.kind}"), self.written(self.amount, asked)

    def floor_words(self, people: int) -> str:
        """A sentence with the smallest error that any method could promise, if known."""
        return ""

    def of_people(self, people: int) -> Fraction:
        """The amount as a number of people."""
        return self.amount * people if self.in_percent else self.amount

    def supposes(self, asked: Asked | None = None) -> bool:
        """Does it suppose that the declared number of people count? How many meet a condition is not public, nor is
        their total if membership is secret."""
        return bool(getattr(self, "nominal", False))

    def equal_groups(self, asked: Asked | None = None) -> bool:
        """Does it suppose that all groups are of one size?"""
        return asked is not None and asked.by is not None

    def guess(self, asked: Asked | None = None) -> str:
        """What it supposes, as the end of a sentence. Under a condition also the promise if fewer people meet it, from
        public facts, so that nobody takes the promise for everyone as one for a group."""
        if not self.supposes(asked):
            return ""
        groups = "_groups" if self.equal_groups(asked) else ""
        if asked is None or not asked.conditional:
            if groups or asked is None or asked.facts.people is None:
                return say("promise.nominal_groups" if groups else "promise.nominal_declared")
            return say("promise.nominal", unit=say(f"chart.{asked.counted}"))
        everyone = _everyone(asked)
        if asked.promise().amount != self.amount:  # a wish, for another spend
            return say("promise.if_met_less", who=everyone)
        third, tenth = (self._if_met(asked, part) for part in _PARTS)
        return say(f"promise.if_met{groups}", who=everyone, third=third, tenth=tenth)

    def _if_met(self, asked: Asked, part: int) -> str:
        """The promised size if one in `part` of the declared people meets the condition."""
        then = asked.promise_of(max(asked.facts.about // part, 1))
        return say("promise.if_met.nothing") if then.amount >= 4 * asked.coarse() else then.size_for(asked)

    def at_best(self, short: str, asked: Asked | None = None) -> str:
        """A short promise with what it supposes, for a card or a table cell."""
        if asked is None or not self.supposes(asked):
            return short
        groups = self.equal_groups(asked)
        if asked.conditional:
            code = "promise.short.if_met_groups" if groups else "promise.short.if_met"
            return say(code, promise=short, who=_everyone(asked))
        return say("promise.short.groups", promise=short) if groups else short

    def wished(self, asked: Asked) -> tuple[str, str]:
        """`field`, with what a wish supposes."""
        label, now = self.field(asked)
        if self.supposes(asked) and asked.conditional:
            label = say("spend.wish.if_met", label=label, who=_everyone(asked))
        return label, now

    def unnamed(self, column: str) -> Promise:
        """The promise without its column's name, for a made-up table of a stated number of people."""
        return self


class OfShare(Promise):
    """A promise with a share as its amount. Subclasses place the field `share` among their own."""

    share: Fraction
    in_percent: ClassVar[bool] = True

    @property
    def amount(self) -> Fraction:
        return self.share

    def at(self, wish: Fraction) -> Self:
        return replace(self, **{"share": wish})


def _everyone(asked: Asked) -> str:
    return say("promise.all_rows" if asked.counts_rows else "who.everyone")


@dataclass(frozen=True)
class Goal:
    """What a model predicts. We show an excess loss in its unit: a bound on the excess of the typical error, since
    √(a + b) ≤ √a + √b; for yes and no, in percent of the loss of a coin toss."""

    target: str
    width: Fraction | None  # of a range of numbers; None for yes and no
    blank: Fraction  # an upper bound on the loss of the model with all weights 0
    toss: float = log(2)  # of yes and no: the loss of a coin toss

    @property
    def code(self) -> str:
        return "list" if self.width is None else "number"

    def error(self, risk: float) -> float:
        return 100 * risk / self.toss if self.width is None else sqrt(2 * risk) * float(self.width) / 2

    def risk(self, error: Fraction) -> Fraction:
        if self.width is None:
            return error / 100 * Fraction(self.toss).limit_denominator(10**9)
        return (2 * error / self.width) ** 2 / 2

    def axis(self) -> str:
        return say(f"train_page.axis.excess_{self.code}", target=self.target)
