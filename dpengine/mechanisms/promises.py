"""What an answer will be worth, before it is drawn, each in its own kind; `amount` is what can be wished for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.mechanisms.telling import NEARLY


@dataclass(frozen=True)
class Within:
    """Every number of the answer (all of them at once) is within ±alpha of the truth, except with chance beta."""

    alpha: Fraction
    of: int  # how many numbers at once
    beta: Fraction
    floor: Fraction  # nobody can promise less; 0 where no bound is known
    unit: str = "people"  # or the column whose unit it is, or "percent"
    nominal: bool = False  # True: for a table of about the declared size; the interval of the answer itself is exact
    kind: ClassVar[str] = "within"

    @property
    def amount(self) -> Fraction:
        return self.alpha

    @property
    def empty(self) -> bool:
        """Of shares in percent: nearly any share is within it."""
        return self.unit == "percent" and 2 * self.alpha >= 100 * NEARLY


@dataclass(frozen=True)
class Rank:
    """The answer's place in the ordering is within `rows` people, a `share` of them, of the wanted place."""

    rows: Fraction
    share: Fraction
    beta: Fraction
    floor: Fraction  # in rows
    nominal: bool = False  # True: `rows` holds, but of how many people is not public, so `share` is a guess
    kind: ClassVar[str] = "rank"

    @property
    def amount(self) -> Fraction:
        return self.share


@dataclass(frozen=True)
class NearBest:
    """The chosen item's count is at most `gap` below the best one's."""

    gap: int
    beta: Fraction
    floor: Fraction
    kind: ClassVar[str] = "near_best"

    @property
    def amount(self) -> Fraction:
        return Fraction(self.gap)


@dataclass(frozen=True)
class Blurred:
    """Every published cell is off by so much on average; what is computed from all of them is far better."""

    columns: tuple[str, ...]
    errors: tuple[Fraction, ...]  # of one cell: in the column's unit, or the chance that it is not the true value
    floors: tuple[Fraction, ...]  # no mechanism that keeps ε and δ for the whole row errs less in its worst case
    untrue: Fraction  # the chance that not all listed values of a row are true; 0 where no column is a list
    untrue_floor: Fraction  # of that too
    share: Fraction  # of the range: how far the average of all rows can be off, for the worst column, but for chance β
    beta: Fraction
    kind: ClassVar[str] = "blurred"

    @property
    def amount(self) -> Fraction:
        return self.share

    @property
    def empty(self) -> bool:
        return 2 * self.share >= NEARLY


@dataclass(frozen=True)
class Band:
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

    @property
    def amount(self) -> Fraction:
        """As a part of the height of an even spread: what can be compared."""
        return self.alpha / self.even


@dataclass(frozen=True)
class Excess:
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


@dataclass(frozen=True)
class NoPromise:
    """Nothing can be promised beforehand, and why."""

    why: str
    kind: ClassVar[str] = "none"

    @property
    def amount(self) -> Fraction:
        return Fraction(0)


Promise = Within | Rank | NearBest | Blurred | Band | Excess | NoPromise
