"""Promises about published rows, smooth curves and models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from dpengine.core.exact import text_of
from dpengine.core.printed import chance, percent_up, two_figures
from dpengine.mechanisms.answer_state import NEARLY
from dpengine.mechanisms.promises.promise import Asked, OfShare, Promise
from dpengine.messages import known, say
from dpengine.messages.numbers import local


@dataclass(frozen=True)
class Blurred(OfShare):
    """How far a published cell is off on average; averages over all rows are far more accurate."""

    columns: tuple[str, ...]
    errors: tuple[Fraction, ...]  # of one cell: in the column's unit, or the chance that it is not the true value
    floors: tuple[Fraction, ...]  # lower bounds on the worst error of any mechanism that is (ε, δ)-DP for the row
    untrue: Fraction  # the chance that not all listed values of a row are true; 0 if no column is a list
    untrue_floor: Fraction  # the lower bound on it
    share: Fraction  # of the range: the error of the average of all rows in the worst column, except with chance β
    beta: Fraction
    kind: ClassVar[str] = "blurred"

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
        """How accurate an average of all rows is."""
        if self.empty:
            return say(f"{code}_nothing")
        return say(code, share=percent_up(self.share), chance=chance(self.beta))


@dataclass(frozen=True)
class Band(Promise):
    """The whole curve, at all its points at once, is within ±alpha of the true one, except with probability beta; at
    one point chosen in advance, within ±pointwise. Heights are per unit of the columns."""

    alpha: Fraction
    pointwise: Fraction
    of: int  # points
    even: Fraction  # the height of the curve if people were spread evenly over the declared range
    beta: Fraction
    floor: Fraction = Fraction(0)  # no lower bound is known
    nominal: bool = False  # True: for a table of about the declared size
    kind: ClassVar[str] = "band"
    in_percent: ClassVar[bool] = True

    @property
    def amount(self) -> Fraction:
        """Alpha relative to the height of an even spread, so that promises can be compared."""
        return self.alpha / self.even

    def at(self, wish: Fraction) -> Self:
        return replace(self, alpha=wish * self.even)

    def words(self, asked: Asked | None = None) -> str:
        return say("promise.band", share=percent_up(self.amount), chance=chance(self.beta)) + self.guess(asked)

    def short(self, asked: Asked | None = None) -> str:
        return self.at_best(say("promise.short.band", share=percent_up(self.amount)), asked)

    def supposes(self, asked: Asked | None = None) -> bool:
        """The fewer people meet a condition, the lower is an even spread of them."""
        return self.nominal or (asked is not None and asked.conditional)

    def size(self) -> str:
        return f"±{percent_up(self.amount)}"


@dataclass(frozen=True)
class Excess(Promise):
    """The model's expected average loss on the table is at most `risk` above that of the best model in its region."""

    risk: Fraction
    plain: Fraction  # the bound without noise
    limit: Fraction  # the lecture's bound without noise, RG/√T
    beta: Fraction
    floor: Fraction
    nominal: bool = False  # True: for a table of about the declared size
    named: bool = True  # may the predicted column be named?
    kind: ClassVar[str] = "excess"

    @property
    def amount(self) -> Fraction:
        return self.risk

    def at(self, wish: Fraction) -> Self:
        return replace(self, risk=wish)

    def words(self, asked: Asked | None = None) -> str:
        return self.said("promise.excess", asked)

    def short(self, asked: Asked | None = None) -> str:
        return self.at_best(self.said("promise.short.excess", asked), asked)

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        return self.said("answer.excess", asked)

    def said(self, code: str, asked: Asked | None) -> str:
        """The promise in the unit of the predicted column; without the question, in units of the loss."""
        goal = None if asked is None else asked.goal
        if goal is None:
            return say(f"{code}_loss", error=two_figures(self.risk))
        if known(f"{code}_nothing") and self.risk >= goal.blank:
            return say(f"{code}_nothing")
        error = two_figures(Fraction(goal.error(float(self.risk))).limit_denominator(10**9))
        if not self.named and known(f"{code}_unnamed") and goal.code == "number":
            return say(f"{code}_unnamed", error=error)
        return say(f"{code}_{goal.code}", error=error, target=goal.target)

    def typed_in(self, asked: Asked | None = None) -> str:
        return self.kind if asked is None or asked.goal is None else f"{self.kind}_{asked.goal.code}"

    def figure_for(self, asked: Asked) -> Fraction:
        return self.risk if asked.goal is None else Fraction(asked.goal.error(float(self.risk)))

    def size_for(self, asked: Asked) -> str:
        return self.said("train_page.short", asked)

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False, named=False)

    def amount_of(self, typed: Fraction, asked: Asked | None = None) -> Fraction:
        return typed if asked is None or asked.goal is None else asked.goal.risk(typed)

    def written(self, amount: Fraction, asked: Asked | None = None) -> str:
        goal = None if asked is None else asked.goal
        return local(text_of(Fraction(f"{float(amount) if goal is None else goal.error(float(amount)):.3g}")))

    def field(self, asked: Asked) -> tuple[str, str]:
        unit = "" if asked.goal is None else asked.goal.axis()
        return say("spend.wish.excess", unit=unit), self.written(self.risk, asked)
