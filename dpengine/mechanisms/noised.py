"""The base of questions that add independent noise to integers: draw, law, loss and tails.

Statistic   k numbers for each group, A₁ … A_k. A_i enters the measured vector w_i times as large, and c_i times. What
            one person changes in that vector is the sensitivity, in the norm of the noise.
Draw        A_i + noise for a change of Δ/w_i; with c_i copies, Gaussian noise of a c_i-th of that variance: Σ
            c_i(w_i·δ_i)² is what the loss is for.
Accuracy    all numbers of all groups at once, by a union bound.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import cycle
from typing import ClassVar

from dpengine.accountant.loss import Loss
from dpengine.core.types import JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Number
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import BY, WHERE, AnswerKind, Card, Parameter
from dpengine.mechanisms.noise import ADDED, Added, chosen
from dpengine.mechanisms.query import Averaged, Fields, Sensitivity, Statistic
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent


@dataclass(frozen=True, kw_only=True)
class Noised(Averaged[Statistic]):
    accepts: ClassVar[tuple[type[Added], ...]] = ADDED

    @property
    def noise_kind(self) -> type[Added]:
        return chosen(self.accepts, self.noise)

    @property
    def loss_parts(self) -> int:
        """The number of equal parts of the loss."""
        return 1

    @abstractmethod
    def noised(self, value: Statistic) -> tuple[int, ...]:
        """The numbers that get noise, group after group."""

    @property
    def weights(self) -> tuple[int, ...]:
        """w of each number of a group."""
        return (1,)

    @property
    def copies(self) -> tuple[int, ...]:
        """c of each number of a group."""
        return (1,) * len(self.weights)

    @cached_property
    def added(self) -> tuple[Added, ...]:
        """The noise of each number of a group."""
        whole = self.noise_kind.fitted(self.sensitivity().bound, self.epsilon, self.loss_parts)
        return tuple(whole.thinner(weight, copies) for weight, copies in zip(self.weights, self.copies, strict=True))

    def of_rows(self, first: int, second: int) -> Sensitivity:
        """The sensitivity, if one row changes at most `first` in L1 and `second` in squared L2. A person has m rows: m
        times, and m² times as lengths add."""
        rows = self.facts.unit.at_most
        return Sensitivity(norm := self.noise_kind.norm, {"l1": first * rows, "l2sq": second * rows**2}[norm])

    def measured(self, value: Statistic) -> tuple[int, ...]:
        weighed = zip(self.noised(value), cycle(self.weights), cycle(self.copies), strict=False)
        return tuple(weight * number for number, weight, copies in weighed for _ in range(copies))

    def loss(self) -> Loss:
        return self.noise_kind.loss(self.epsilon, self.loss_parts)

    def draw(self, value: Statistic, coins: Coins) -> tuple[int, ...]:
        drawn, noises = list(self.noised(value)), self.added
        for place, noise in enumerate(noises):
            drawn[place :: len(noises)] = noise.draw(drawn[place :: len(noises)], coins)
        return tuple(drawn)

    def law(self, value: Statistic) -> Independent:
        pairs = zip(self.noised(value), cycle(self.added), strict=False)
        return Independent(tuple(noise.law(number) for number, noise in pairs))

    def reaches(self, draws: int = 1) -> tuple[int | Fraction, ...]:
        """How far the mean of `draws` draws of each number of a group can be off, all groups at once."""
        noises = self.added
        return tuple(noise.reach(self.beta / (len(noises) * self.groups), draws) for noise in noises)


# The base of questions about sums of a number column: they read the column, and their sums fit 64 bits.

MOST_ROWS = 10**10
MOST_SUM = 2**62  # declared bounds times MOST_ROWS stay below it, so no table makes a sum overflow


def card_of_figure(key: str, answer: AnswerKind, order: int) -> Card:
    """The card of a question for one figure, for everyone or by group."""
    parameters = (Parameter("column", "column.number", required=True), BY, WHERE)
    on, states = ("ask", "whatif"), (FEW, APART)
    return Card(key, asked_on=on, order=order, own=parameters, answer=answer, states=states, caveats=("bounds",))


@dataclass(frozen=True, kw_only=True)
class OfNumbers(Noised[Statistic]):
    column: str

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = str(given["column"])
        facts.schema.number(name)
        return {"column": name}

    @property
    def declared(self) -> Number:
        return self.facts.schema.number(self.column)

    def sentence(self) -> str:
        return say(f"sentence.{self.card.key}", column=self.column, who=self.whom())

    def values(self, rows: Sequence[Row]) -> list[float]:
        """The column's values, for `truth`."""
        return [float(self.declared.value(row[self.column])) for row in rows if row[self.column] != MISSING]

    @property
    def half(self) -> int:
        """h: how far a doubled code can be from the middle of the grid."""
        return self.declared.size - 1

    @property
    def known(self) -> int | None:
        """The number of rows, where it is public and may be divided by."""
        return self.facts.countable(self.where, self.column) if self.by is None else None
