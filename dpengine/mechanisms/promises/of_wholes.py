"""What is promised of published rows, of a smooth curve and of a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from dpengine.core.printed import chance, percent_up, two_figures
from dpengine.mechanisms.promises.promise import Asked, Promise
from dpengine.mechanisms.telling import NEARLY
from dpengine.messages import known, say
from dpengine.messages.numbers import local


@dataclass(frozen=True)
class Blurred(Promise):
    """Every published cell is off by so much on average; what is computed from all of them is far better."""

    columns: tuple[str, ...]
    errors: tuple[Fraction, ...]  # of one cell: in the column's unit, or the chance that it is not the true value
    floors: tuple[Fraction, ...]  # no mechanism that keeps ε and δ for the whole row errs less in its worst case
    untrue: Fraction  # the chance that not all listed values of a row are true; 0 where no column is a list
    untrue_floor: Fraction  # of that too
    share: Fraction  # of the range: how far the average of all rows can be off, for the worst column, but for chance β
    beta: Fraction
    kind: ClassVar[str] = "blurred"
    in_percent: ClassVar[bool] = True

    @property
    def amount(self) -> Fraction:
        return self.share

    def at(self, wish: Fraction) -> Self:
        return replace(self, share=wish)

    @property
    def empty(self) -> bool:
        return 2 * self.share >= NEARLY

    def words(self, asked: Asked | None = None) -> str:
        return self._say("promise.blurred")

    def short(self, asked: Asked | None = None) -> str:
        return self._say("promise.short.blurred")

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        return self._say("answer.blurred")

    def _say(self, code: str) -> str:
        """What all rows tell together; nothing where that could be anything."""
        if self.empty:
            return say(f"{code}_nothing")
        return say(code, share=percent_up(self.share), chance=chance(self.beta))


@dataclass(frozen=True)
class Band(Promise):
    """The whole curve, at all its points at once, is within ±alpha of the true one, except with chance beta; at any one
    point that was chosen before looking, within ±pointwise. Heights are per unit of the columns."""

    alpha: Fraction
    pointwise: Fraction
    of: int  # points
    even: Fraction  # how high the curve of people who are spread evenly over the declared range would be
    beta: Fraction
    floor: Fraction = Fraction(0)  # no bound from below is known
    nominal: bool = False  # True: for a table of about the declared size
    kind: ClassVar[str] = "band"
    in_percent: ClassVar[bool] = True

    @property
    def amount(self) -> Fraction:
        """As a part of the height of an even spread: what can be compared."""
        return self.alpha / self.even

    def at(self, wish: Fraction) -> Self:
        return replace(self, alpha=wish * self.even)

    def words(self, asked: Asked | None = None) -> str:
        return say("promise.band", share=percent_up(self.amount), chance=chance(self.beta)) + self.guess()

    def short(self, asked: Asked | None = None) -> str:
        return say("promise.short.band", share=percent_up(self.amount))

    def guess(self, asked: Asked | None = None) -> str:
        return say("promise.nominal") if self.nominal else ""


@dataclass(frozen=True)
class Excess(Promise):
    """The model's average loss on the table is expected to be at most `risk` above that of the best model of its
    region."""

    risk: Fraction
    plain: Fraction  # what is left of it without noise
    limit: Fraction  # the lecture's bound without noise, RG/√T
    beta: Fraction
    floor: Fraction
    nominal: bool = False  # True: for a table of about the declared size
    kind: ClassVar[str] = "excess"

    @property
    def amount(self) -> Fraction:
        return self.risk

    def at(self, wish: Fraction) -> Self:
        return replace(self, risk=wish)

    def words(self, asked: Asked | None = None) -> str:
        return self.said("promise.excess", asked)

    def short(self, asked: Asked | None = None) -> str:
        return self.said("promise.short.excess", asked)

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        return self.said("answer.excess", asked)

    def said(self, code: str, asked: Asked | None) -> str:
        """In the unit of what is predicted; where nobody says what, in units of the loss."""
        goal = None if asked is None else asked.goal
        if goal is None:
            return say(f"{code}_loss", error=two_figures(self.risk))
        if known(f"{code}_nothing") and self.risk >= goal.blank:
            return say(f"{code}_nothing")
        error = two_figures(Fraction(goal.error(float(self.risk))).limit_denominator(10**9))
        return say(f"{code}_{goal.code}", error=error, target=goal.target)

    def amount_of(self, typed: Fraction, asked: Asked | None = None) -> Fraction:
        return typed if asked is None or asked.goal is None else asked.goal.risk(typed)

    def written(self, amount: Fraction, asked: Asked | None = None) -> str:
        goal = None if asked is None else asked.goal
        return local(f"{float(amount) if goal is None else goal.error(float(amount)):.3g}")

    def field(self, asked: Asked) -> tuple[str, str]:
        unit = "" if asked.goal is None else asked.goal.axis()
        return say("spend.wish.excess", unit=unit), self.written(self.risk, asked)
