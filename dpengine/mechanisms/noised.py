"""The bases of questions that add independent noise to integers: of all of them (draw, law, loss and tails), of counts,
and of sums of a number column.

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
from math import ceil, floor, prod
from typing import ClassVar

from dpengine.accountant.loss import Loss
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figures, Json, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped
from dpengine.declared.schema import MISSING, Category, Number, extra_labels
from dpengine.mechanisms import sampling
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import BY, WHERE, AnswerKind, Card, Parameter
from dpengine.mechanisms.noise import ADDED, Added, GaussianNoise, chosen
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Averaged, Bounds, Fields, Released, Sensitivity, Statistic, read_column
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
        """w: the factor by which each number of a group enters the measured vector."""
        return (1,)

    @property
    def copies(self) -> tuple[int, ...]:
        """c: how many times each number of a group enters the measured vector."""
        return (1,) * len(self.weights)

    @cached_property
    def added(self) -> tuple[Added, ...]:
        """The noise of each number of a group."""
        whole = self.noise_kind.fitted(self.sensitivity().bound, self.epsilon, self.loss_parts)
        return tuple(whole.thinner(weight, copies) for weight, copies in zip(self.weights, self.copies, strict=True))

    def of_rows(self, first: int, second: int) -> Sensitivity:
        """A person's sensitivity, if one row changes the vector by at most `first` in L1 and `second` in squared L2.
        With m rows a person, that is m times the L1 bound or m² times the squared L2 bound."""
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
        """How far the mean of `draws` draws of each number of a group can be off: for all groups at once, but for β."""
        noises = self.added
        return tuple(noise.reach(self.beta / (len(noises) * self.groups), draws) for noise in noises)


def too_many(code: str, columns: Sequence[Category | Grouped], most: int) -> AllowanceError:
    """The refusal of too many combinations, in other words if the listed values alone would not be too many."""
    cells = prod(column.size for column in columns)
    listed = prod(column.size - len(extra_labels(column)) for column in columns)
    if listed <= most:
        return AllowanceError(f"{code}_open", cells=cells, most=most, listed=listed)
    return AllowanceError(code, cells=cells, most=most)


@dataclass(frozen=True, kw_only=True)
class OfCounts(Noised[int | tuple[int, ...]]):
    """The base of questions answered by noisy counts: what a person changes, the promise and the answer.

    Statistic   a vector of counts. One person's change falls into a sides, each of L1 norm at most b: in all at most ab
                in L1 and ab² in squared L2. Under replace-one the two sides are the counts left and the counts entered.
    Laplace     every count + noise of scale ab/ε. The loss is a independent parts of ε/a, which costs less than one of
                ε. A side that is spread over several counts loses no more than one in a single count: mechanisms of x
                and of y together are (x+y)-DP, so the pure Rényi curve has r(x) + r(y) ≤ r(x+y).
    Gaussian    every count + noise of variance ab²/(2ρ), ρ = ε²/(2a).
    Accuracy    all k counts at once within t, by a union bound: each except with probability β/k.
    """

    @property
    @abstractmethod
    def moves(self) -> tuple[int, int]:
        """(a, b): the number of sides of one person's change, and the largest L1 norm of a side."""

    @property
    def numbers(self) -> int:
        """The number of counts."""
        return self.groups

    @property
    def loss_parts(self) -> int:
        return max(self.moves[0], 1)

    def noised(self, value: int | tuple[int, ...]) -> tuple[int, ...]:
        return self.measured(value)

    def measured(self, value: int | tuple[int, ...]) -> tuple[int, ...]:
        return value if isinstance(value, tuple) else (value,)

    def sensitivity(self) -> Sensitivity:
        a, b = self.moves
        return Sensitivity("l1", a * b)

    @property
    def scale(self) -> Fraction:
        return self.sensitivity().bound / self.epsilon

    @property
    def rho(self) -> Fraction:
        return GaussianNoise.rho(self.epsilon, self.loss_parts)

    @property
    def variance(self) -> Fraction:
        """σ² of Gaussian noise."""
        a, b = self.moves
        return a * b * b / (2 * self.rho)

    @property
    def added(self) -> tuple[Added, ...]:
        return (self.noise_kind.of(self.scale, self.variance),)

    def reach(self, draws: int = 1) -> int | Fraction:
        """How far the means of `draws` draws can be off, all counts at once, except with probability β."""
        return self.added[0].reach(self.beta / self.numbers, draws)

    def holds_rows(self) -> bool | None:
        """Is every row counted exactly once? False: at most once. None: perhaps more often."""
        return None

    def row_bounds(self, raw: Figures) -> Bounds | None:
        """The ranges of all counts hold at once, so they bound the sum. Under a condition there may be more rows."""
        every = self.holds_rows()
        if every is None:
            return None
        every = every and not self.conditional
        off, total = self.numbers * self.reach(), sum(raw)
        return max(ceil(total - off), 0), max(floor(total + off), 0) if every else None

    @property
    def most(self) -> int:
        """The largest possible count; approximate if the number of people is not public."""
        return self.facts.about * self.moves[1]

    def limits(self, part: str = "") -> Ends | None:
        return 0, self.most  # of a curve of counts too

    def sure(self, part: str = "") -> Ends:
        return 0, None if self.facts.people is None else self.most

    def promise(self) -> Within:
        least = self.noise_kind.least_error(self.epsilon, self.beta)
        return Within(Fraction(self.reach()), self.numbers, self.beta, least)

    def from_mean(self, raw: Figures, draws: int) -> Released:
        reach = self.reach(draws)
        return self.released([(count, (count - reach, count + reach)) for count in raw])

    @property
    def of_known_people(self) -> bool:
        return self.answer_kind == "count" and not self.none_hoped

    @property
    def speaks_of_all(self) -> bool:
        if self.answer_kind != "count" or self.none_hoped or self.facts.unit.at_most > 1:
            return False
        return self.facts.people is not None or (self.holds_rows() is not None and self.numbers > 1)

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """Each count as a share of everybody, if their number is public; else, if nobody is counted twice, of all
        people who are counted."""
        counts, noise = [int(count) for count in raw], self.added[0]
        each, everybody = beta / self.numbers, self.facts.people
        if not self.speaks_of_all:
            return None
        if everybody is not None:
            ranges = [sampling.share(count, everybody, noise, each, moved) for count in counts]
        elif moved and (self.conditional or not self.holds_rows()):
            return None
        else:
            rest = self.numbers - 1
            ranges = [sampling.part(c, sum(counts) - c, noise, noise, each, moved, rest) for c in counts]
        return sampling.as_answer(self.labels(), [sampling.percent(ends) for ends in ranges])

    def supposed_draw(self) -> tuple[int, ...] | None:
        return (self.facts.about // max(self.numbers, 2),) * self.numbers


@dataclass(frozen=True, kw_only=True)
class OfMisfits(OfCounts):
    """A check of how cells fit their declaration. It counts rows, and needs no check before it."""

    of_people: ClassVar[bool] = False
    counts_rows = True

    def about(self, part: str = "") -> set[str]:
        return set()

    def valued(self) -> set[str]:
        """Empty: a check looks at the kind of each cell in the file, not at declared values."""
        return set()

    def holds_none(self, interval: Json) -> bool:
        return bool(interval[0] <= 0 <= interval[1])


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
        return {"column": read_column(given, facts.schema.number)}

    @cached_property
    def declared(self) -> Number:
        return self.facts.schema.number(self.column)

    def sentence(self) -> str:
        return say(f"sentence.{self.card.key}", column=self.column, who=self.whom())

    def values(self, rows: Sequence[Row]) -> list[float]:
        """The column's values, for `truth`."""
        return [float(self.declared.value(row[self.column])) for row in rows if row[self.column] != MISSING]

    @cached_property
    def half(self) -> int:
        """h: how far a doubled code can be from the middle of the grid."""
        return self.declared.size - 1

    @cached_property
    def known(self) -> int | None:
        """The number of rows if it is public, so that we may divide by it; else None."""
        return self.facts.countable(self.where, self.column) if self.by is None else None
