"""The base of questions answered by noisy counts: what a person changes, the promise and the answer.

Statistic   a vector of counts. One person's change falls into a sides, each of L1 norm at most b: in all at most ab in
            L1 and ab² in squared L2. Under replace-one the two sides are the counts left and the counts entered.
Laplace     every count + noise of scale ab/ε. The loss is a independent parts of ε/a, which costs less than one of ε. A
            side that is spread over several counts loses no more than one in a single count: mechanisms of x and of y
            together are (x+y)-DP, so the pure Rényi curve has r(x) + r(y) ≤ r(x+y).
Gaussian    every count + noise of variance ab²/(2ρ), ρ = ε²/(2a).
Accuracy    all k counts at once within t, by a union bound: each except with probability β/k.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, prod
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figures, Json
from dpengine.declared.grouped import Grouped
from dpengine.declared.schema import Category, extra_labels
from dpengine.mechanisms import sampling
from dpengine.mechanisms.noise import Added, GaussianNoise
from dpengine.mechanisms.noised import Noised
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Bounds, Released, Sensitivity


def too_many(code: str, columns: Sequence[Category | Grouped], most: int) -> AllowanceError:
    """The refusal of too many combinations; another sentence if only the labels beside the lists are too many."""
    cells = prod(column.size for column in columns)
    listed = prod(column.size - len(extra_labels(column)) for column in columns)
    if listed <= most:
        return AllowanceError(f"{code}_open", cells=cells, most=most, listed=listed)
    return AllowanceError(code, cells=cells, most=most)


@dataclass(frozen=True, kw_only=True)
class OfCounts(Noised[int | tuple[int, ...]]):
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
        """Every count as a share of everybody, where their number is public; else of those in one of the counts, where
        nobody is in two."""
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
    """A check of how cells fit their declaration: its counts are about rows, and no check comes before it."""

    of_people: ClassVar[bool] = False
    counts_rows = True

    def about(self, part: str = "") -> set[str]:
        return set()

    def valued(self) -> set[str]:
        """No column: the cell in the file shows its kind."""
        return set()

    def holds_none(self, interval: Json) -> bool:
        return bool(interval[0] <= 0 <= interval[1])
