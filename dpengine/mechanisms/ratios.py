"""The bases of questions answered by a ratio of noisy numbers: averages, spreads, shares, for everyone or by group.

`OfRatio` holds what all ratios share, `OfMeans` is a mean whose loss and range are proved once, and `MeanOfWeights`, at
the end, any function of a mean of integer weights: a new question of that kind needs to read only that class.

Statistic   the numbers of each group (`noised`): usually N, the rows that have a value, and one or more sums over them.
            Where the number of people is public, nobody can lack a value and nobody is filtered out, N is known and not
            drawn.
Draw        every number + noise (`Noised`), Laplace or Gaussian.
Loss        for k numbers: k parts of ε/k under add/remove, ε under replace-one. By group under replace-one a row may
            leave one group and enter another: 2k parts of ε/(2k). A question states why that covers a change inside one
            group.
Answer      of each group: a ratio and its range, all groups at once.
Accuracy    before the draw: the range of a table of the declared size, in groups of one size; with several rows a
            person, for about as many as `Unit.usual_rows` says. Where the error depends on the values, for values
            spread evenly over the declared range; the promise says so. The range of the answer itself supposes nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import ClassVar, Self, TypeVar

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Figures, Floats, Json
from dpengine.mechanisms import sampling
from dpengine.mechanisms.noise import ADDED, Added, SharedNoise
from dpengine.mechanisms.noised import MOST_ROWS, MOST_SUM, Noised, OfNumbers
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released, Sensitivity, Statistic
from dpengine.mechanisms.quotients import (
    CELLS,
    Exact,
    mean_reaches,
    mean_reaches_of_three,
    ratio,
    ratio_range,
    tested_ranges,
)
from dpengine.statistics.counts import Distribution, GroupDistributions
from dpengine.statistics.need import Spread

Point = Fraction | float  # an answer, or an end of its range
Drawn = TypeVar("Drawn", int, Fraction)
Estimate = tuple[Point, tuple[Point, Point]]  # an answer and its range
ENOUGH = 100  # squares are drawn if people times ε is at least this; with less they say nothing
MOST_GROUPS = 12  # squares are drawn for at most this many groups; each takes up to a second
_NEAR, _BETWEEN = 500, 1_000  # points of the grid at each end, and in between, for the mean of an even spread


@dataclass(frozen=True, kw_only=True)
class OfRatio(Noised[Statistic]):
    """A question states `known`, `estimate` and `supposed`, and what `Noised` asks for: `noised`, `weights` and
    `sensitivity`. From `Noised` come `noise_kind`, `added` (the noise of each number of a group) and `of_rows`; from
    `Query` `groups`, `conditional`, `released` and `facts`, whose `about` is the declared number of people.
    """

    @property
    @abstractmethod
    def known(self) -> int | None:
        """The number of rows if it is public, so that we may divide by it; else None."""

    @abstractmethod
    def estimate(self, numbers: Figures, draws: int = 1) -> Estimate:
        """One group's answer and range. `numbers` are means of `draws` draws, or supposed; a known N comes first."""

    def estimates(self, groups: Sequence[Figures], draws: int) -> list[Estimate]:
        """The answers and ranges of all groups."""
        return [self.estimate(numbers, draws) for numbers in groups]

    @abstractmethod
    def supposed(self, people: Fraction) -> Point:
        """How far the answer may be off in a group of this many people. If `placed`, for values spread evenly."""

    @property
    def placed(self) -> bool:
        """Does the error depend on the values?"""
        return True

    @property
    def shareable(self) -> bool:
        """Would `SharedNoise` make the noise smaller?"""
        return self.known is None and (self.by is not None or self.facts.relation == "add_remove")

    @property
    def shared(self) -> bool:
        return self.noise == SharedNoise.name and self.shareable

    def with_noise(self, noise: str) -> Self:
        return super().with_noise("" if noise == SharedNoise.name and not self.shareable else noise)

    @property
    def loss_parts(self) -> int:
        return self._parts_of(1 if self.shared else len(self.weights))

    def _parts_of(self, numbers: int) -> int:
        """The parts of the loss (“Loss”) for this many numbers of a group, those that share one weight counted once."""
        if self.facts.relation == "add_remove":
            return numbers
        return 1 if self.by is None else 2 * numbers

    @property
    def parts_apart(self) -> bool:
        """False by group under replace-one: a change inside one group may cost one draw as much as two parts."""
        return self.by is None or self.facts.relation == "add_remove"

    def _known_first(self, numbers: Figures) -> Figures:
        """One group's drawn numbers, as `estimate` takes them."""
        return numbers if self.known is None else (self.known, *numbers)

    def least(self) -> Fraction:
        """A lower bound on the error of any method; 0 if none is known."""
        return Fraction(0)

    @property
    def promise_unit(self) -> str:
        return self.answer_column

    def promise(self) -> Within:
        off = self.supposed(Fraction(self.planned_size, self.groups))
        alpha = Fraction(off)
        if not isinstance(off, Fraction) and off > 1 / 1000:  # shorter; tiny values would be rounded to 0
            alpha = alpha.limit_denominator(10**6)
        return Within(
            alpha,
            self.groups,
            self.beta,
            self.least(),
            self.promise_unit,
            nominal=self.known is None,  # it holds for a table of about the declared size
            spread=self.placed,
        )

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """Averages the drawn numbers of several draws and divides once; ratios are not averaged."""
        many = len(self.weights)
        groups = [self._known_first(raw[at : at + many]) for at in range(0, len(raw), many)]
        answers = self.estimates(groups, draws)
        return self.released([(float(value), (float(low), float(high))) for value, (low, high) in answers])


@dataclass(frozen=True, kw_only=True)
class OfMeans(OfNumbers[Statistic], OfRatio[Statistic]):
    """A mean of y over the rows that have a value, |y| ≤ W.

    What the paragraphs below prove, for one row of a person:

        numbers of a group                  weights     copies  |  with R, weights
        S        N is known                 1           1       |  S, R          2W, 1
        N, S                                W, 1        k, 1    |  N, S, R       2W², 2W, 1
        A, B     they share a row's weight  1, 1        1, 1    |  C₀, C₁, C₂    1, 1, 1

        relation                loss parts of S   of N, S   of A, B    change in L1   in squared L2
        add/remove              (never known)     2         1          2W             2W²
        replace-one, everyone   1                 1         (never)    2W             4W²
        replace-one, by group   (never known)     4         2          4W             4W²

    k = 3 for Gaussian noise under replace-one for everyone, else 1. R has one copy and adds no part of the loss. The
    change is then 2W times as large in L1, and 4W² times in squared L2.

    Statistic   N and S = Σy. One row added or removed: |ΔS| ≤ W, |ΔN| = 1. One replaced: |ΔS| ≤ 2W with ΔN = 0, or it
                loses or gains its value: |ΔS| ≤ W, |ΔN| = 1. In all cases |ΔS| + W·|ΔN| ≤ 2W (twice that by group under
                replace-one: one group left, one entered). At most m rows a person: m times.
    Gaussian    k copies of W·N: (k(W·ΔN)² + ΔS²). One row added or removed: with k = 1 at most 2W². One replaced: 4W²
                where it keeps a value, (k + 1)W² where it loses or gains one, so k = 3 costs nothing; by group with k =
                1 at most 4W², since two groups change by 2W² each. m rows: m² times.
    Shared      A = Σ(W − y) and B = Σ(W + y) instead, so that N = (A + B)/2W and S = (B − A)/2 (Kulesza,
                Suresh and Wang 2023). A row adds 2W in all, shared out between A and B, and nothing without a
                value: 2W in L1 where it is added or removed, twice that where it is replaced. So under add/remove, and
                by group, both have the noise that S alone has, and the error of S/N falls to half of its square. Under
                replace-one for everyone it would double; N and S stay.
    Loss        by group under replace-one four parts of ε/4, which also covers a change of ε/2 inside one group: the
                pure Rényi curve grows at most quadratically, r(2x) ≤ 4r(x). Shared: one part of ε under add/remove. By
                group under replace-one the loss of a number is at most ε/2 and ε in all: two parts of ε/2, since r(ax)
                ≤ a·r(x) for a ≤ 1.
    Range       every mean μ that a test at β does not reject (`tested_range`): S − μN has no error but its noise, and
                the law of that is known.
    Squares     of a random sample R = Σ(W² − y²) is drawn too, for the range of the larger group, and N and S have the
                same noise as without it: of (2W²N, 2WS, R) a row that comes or goes changes 2W² + 2W|y| + W² − y² ≤
                4W², most at |y| = W, and one whose value changes by d at most 2Wd + d(2W − d) ≤ 4W², most at d = 2W:
                2W times what (WN, S) changes. As squares 16W⁴ at most, 4W² times as much: d²(4W² + (2W − d)²) and
                4kW⁴ + 4W²y² + (W² − y²)² are largest at the same places. Loss: S and R together lose what S alone
                may, since |y|/W + (1 − y²/W²)/2 ≤ 1 and r(ax) ≤ a·r(x). Shared: C₀ = Σ(W − y)², C₁ = 2R, C₂ = Σ(W +
                y)² (as in `sums/variance`), 4W² a row; the mean's noise is the same at the middle of the range, and
                at its ends an eighth wider. R is drawn if ε times the declared number of people of a group is 100 or
                more (with less it would say nothing), for at most 12 groups.
    """

    accepts: ClassVar[tuple[type[Added], ...]] = (*ADDED, SharedNoise)
    holds_squares: ClassVar[bool] = False  # does the statistic hold Σy²?

    @cached_property
    def draws_squares(self) -> bool:
        """Is R drawn too (“Squares”)?"""
        facts, people = self.facts, Fraction(self.facts.about, self.groups)
        wanted = self.holds_squares and facts.sample and facts.unit.at_most == 1 and self.groups <= MOST_GROUPS
        return wanted and self.epsilon * people >= ENOUGH and squares_fit(self.width)

    @property
    def mean_rounding(self) -> Fraction:
        """How far rounding may move the mean of y."""
        return Fraction(0)

    @property
    @abstractmethod
    def width(self) -> int:
        """W: no row has a larger |y|."""

    @abstractmethod
    def figure(self, mean: Fraction) -> Point:
        """The answer if the mean of y is `mean`. It is monotone in the mean."""

    def figure_of(self, total: Exact, number: Exact) -> Point:
        """`figure` of the mean total/number."""
        return self.figure(Fraction(total, number))

    @property
    def weights(self) -> tuple[int, ...]:
        w = self.width
        if self.known is not None:  # S, and R
            return (2 * w, 1) if self.draws_squares else (1,)
        if self.shared:  # A and B, or C₀, C₁ and C₂ (“Shared”, “Squares”)
            return (1, 1, 1) if self.draws_squares else (1, 1)
        return (2 * w * w, 2 * w, 1) if self.draws_squares else (w, 1)  # N and S (“Statistic”), and R (“Squares”)

    @property
    def copies(self) -> tuple[int, ...]:
        own = (1,) * (1 + self.draws_squares)
        if self.known is not None:
            return own
        free = self.noise_kind.norm == "l2sq" and self.facts.relation == "replace" and self.by is None
        return (3 if free else 1), *own  # “Gaussian”

    @property
    def loss_parts(self) -> int:
        """The number of equal parts of the loss (“Loss”); R adds none (“Squares”)."""
        return self._parts_of(1 if self.shared or self.known is not None else 2)

    def sensitivity(self) -> Sensitivity:
        replaced = self.facts.relation == "replace"
        first = 4 * self.width if replaced and self.by is not None else 2 * self.width  # “Statistic”, “Shared”
        second = (4 if replaced else 2) * self.width**2  # “Gaussian”
        times = 2 * self.width if self.draws_squares else 1  # “Squares”
        return self.of_rows(first * times, second * times**2)

    def in_group(self, number: Drawn, total: Drawn, squares: Drawn | None = None) -> tuple[Drawn, ...]:
        """The numbers of a group that get noise, computed from N, S and, if R is drawn, Σy²."""
        w = self.width
        if not self.draws_squares:
            if self.known is not None:
                return (total,)
            return (w * number - total, w * number + total) if self.shared else (number, total)  # “Shared”
        if squares is None:
            raise ValueError("R is drawn: it needs the sum of squares")
        rest = w * w * number - squares  # R
        if self.known is not None:
            return total, rest
        if not self.shared:
            return number, total, rest
        ends = w * w * number + squares
        return ends - 2 * w * total, 2 * rest, ends + 2 * w * total  # C₀, C₁ and C₂ (“Squares”)

    def _moments(self, numbers: Figures) -> tuple[Exact, Exact, Exact]:
        """N, S and Σy² from a group's numbers, which begin with N if that is known. Σy² is 0 if R is not drawn. It is
        linear in the numbers, as `_mean_of_group` needs."""
        w = self.width
        if self.shared:
            if not self.draws_squares:
                return Fraction(numbers[0] + numbers[1], 2 * w), Fraction(numbers[1] - numbers[0], 2), 0
            first, middle, last = numbers
            whole = Fraction(first + middle + last, 4 * w * w)
            return whole, Fraction(last - first, 4 * w), Fraction(first + last - middle, 4)
        return numbers[0], numbers[1], w * w * numbers[0] - numbers[2] if self.draws_squares else 0

    def estimate(self, numbers: Figures, draws: int = 1) -> Estimate:
        return self.estimates([numbers], draws)[0]

    def estimates(self, groups: Sequence[Figures], draws: int) -> list[Estimate]:
        beta, edge = self.beta / self.groups, Fraction(self.width)
        if self.known is None:  # “Range”
            one, sums = self._scaled(groups)
            tops, bottoms = [float(s / one) for _, s in sums], [float(n * self.width / one) for n, _ in sums]
            return self._between(sums, one, tested_ranges(tops, bottoms, self._tests(draws, beta)))
        reach = self.added[0].reach(beta, draws)
        answers = list[Estimate]()
        for numbers in groups:
            n, s = numbers[:2]
            ends = ratio_range(s, reach, n, 0, -edge, edge)
            answers.append((self.figure(ratio(s, n, -edge, edge)), self._answers(*ends)))
        return answers

    def _scaled(self, groups: Sequence[Figures]) -> tuple[int, list[tuple[Exact, Exact]]]:
        """N and S of each group, both times the first number, which makes integers of those of a single draw."""
        if not self.shared:
            return 1, [(numbers[0], numbers[1]) for numbers in groups]
        return self._row_weight, [(sum(numbers), self.width * (numbers[-1] - numbers[0])) for numbers in groups]

    def _between(
        self, sums: Sequence[tuple[Exact, Exact]], one: int, ranges: Sequence[tuple[float, float]]
    ) -> list[Estimate]:
        """The answer and its range of each group, where the mean S/N of y is cut to its range times W; N and S are
        multiplied by `one`. It is exact, but makes no fractions: with many groups they would be most of the work."""
        width, rounds, figure_of = self.width, bool(self.mean_rounding), self.figure_of
        answers = list[Estimate]()
        for (number, total), (low, high) in zip(sums, ranges, strict=True):
            (least, parts), (most, others) = low.as_integer_ratio(), high.as_integer_ratio()
            least, most, number = least * width, most * width, max(number, one)
            if total * parts < least * number:
                figure = figure_of(least, parts)
            elif total * others > most * number:
                figure = figure_of(most, others)
            else:
                figure = figure_of(total, number)
            if rounds:
                answers.append((figure, self._answers(Fraction(least, parts), Fraction(most, others))))
            else:
                ends = figure_of(least, parts), figure_of(most, others)
                answers.append((figure, (min(ends), max(ends))))
        return answers

    def _answers(self, low: Fraction, high: Fraction) -> tuple[Point, Point]:
        """The range of the answer for means of y in [low, high], widened by what rounding may add."""
        off = self.mean_rounding
        ends = self.figure(low - off if off else low), self.figure(high + off if off else high)
        return min(ends), max(ends)

    def _tests(self, draws: int, beta: Fraction) -> Floats:
        """For each cell of u, from −1 to 1: how far noise moves S − uWN from 0 where the mean of y is uW."""
        if self.shared and self.draws_squares:
            return mean_reaches_of_three(self.added, self.width, draws, beta)
        (first, last), width = self.added[:2], 1 if self.shared else self.width
        return mean_reaches(first, last, width, self.shared, draws, beta)

    def seeming(self, people: Fraction) -> Fraction:
        """A lower bound on the noisy N of a group of this many people (at least 1), except with a tenth of β."""
        beta, noises = self.beta / self.groups / 10, self.added
        if self.shared:
            whole = self.noise_kind.line_reaches(noises, np.ones((1, len(noises))), 1, beta)[0] / self._row_weight
        else:
            whole = noises[0].reach(beta)
        return max(people - Fraction(float(whole)), Fraction(1))

    @property
    def _row_weight(self) -> int:
        """How much one row adds to the sum of the numbers that share its weight."""
        return 4 * self.width**2 if self.draws_squares else 2 * self.width

    def off_middle(self, people: Fraction) -> Fraction:
        """How far the mean of y may be off in a group of this many people, if it is truly 0."""
        reach = self._tests(1, self.beta / self.groups * 9 / 10)[CELLS]  # of the first cell of u above 0
        return Fraction(float(reach)) / self.seeming(people)

    def coarse(self) -> Fraction:
        """An answer that may be off by more than an eighth of the range says little."""
        return self.declared.diameter / 8

    @property
    def speaks_of_all(self) -> bool:
        """Only rows of different people are a random sample."""
        return self.facts.unit.at_most == 1

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """The larger group's answer, from the mean of x = (y + W)/2W, which lies in [0, 1] (`sampling.mean_of_all`).
        After earlier answers (`moved` bounds what they did) only for all people of the table together."""
        everybody = not self.conditional and self.by is None and self.declared.complete
        if not self.speaks_of_all or (moved and not everybody):
            return None
        many, ranges = len(self.weights), []
        for at in range(0, len(raw), many):
            low, high = self._mean_of_group(raw[at : at + many], beta / self.groups, moved)
            least, most = self._answers(*(Fraction(2 * end - 1) * self.width for end in (low, high)))
            ranges.append((float(least), float(most)))
        return sampling.as_answer([] if self.by is None else self.labels(), ranges)

    def supposed_draw(self) -> tuple[int, ...] | None:
        """Values spread evenly from −W to W: S = 0, and Σy² = NW²/3."""
        people = self.facts.about // self.groups
        return self.in_group(people, 0, people * self.width**2 // 3) * self.groups

    def _mean_of_group(self, numbers: Figures, beta: Fraction, moved: Fraction) -> tuple[float, float]:
        """The range of the mean of x in the larger group, from a group's drawn numbers."""
        drawn = self._known_first(numbers)
        # `_moments` is linear: what a drawn number adds to N, S and Σy² is their value where it is 1 and others are 0.
        units = np.eye(len(drawn), dtype=int)[len(drawn) - len(numbers) :].tolist()
        adds = tuple(_floats(self._moments(tuple(unit))) for unit in units)
        moments = sampling.SampledMoments(self.width, _floats(self._moments(drawn)), adds, self.added)
        off = moments.off(beta / 10)
        rest, people = beta if off == 0 else beta * 9 / 10, self.facts.about / self.groups
        if self.draws_squares and not moved:
            return sampling.mean_of_moments(moments, rest, people, off)
        total, noises = moments.total()
        return sampling.mean_of_all(total, moments.drawn[0], noises, rest, moved, off)


def _floats(moments: tuple[Exact, Exact, Exact]) -> tuple[float, float, float]:
    n, s, squares = moments
    return float(n), float(s), float(squares)


def squares_fit(width: int) -> bool:
    """Do sums of squares, with their noise, stay below MOST_SUM?"""
    return 4 * width**2 * MOST_ROWS <= MOST_SUM


@dataclass(frozen=True, kw_only=True)
class MeanOfWeights(OfMeans[Spread | tuple[Spread, ...]]):
    """A function of the mean of integer weights, one for each point of the grid.

    A question states `weight` and `value_at`. Both only rise, or only fall, along the grid. The weights of the two ends
    are the least and the largest, a and b: y = 2·weight − (a + b), W = |b − a|.
    """

    rounding: ClassVar[Fraction] = Fraction(0)  # how far `weight` rounds at most

    @abstractmethod
    def weight(self, code: int) -> int:
        """What a row at this place of the grid adds to the sum."""

    @abstractmethod
    def value_at(self, mean: Fraction) -> float:
        """The answer if the mean weight is this, between the least and the largest."""

    def __post_init__(self) -> None:
        if self.width * MOST_ROWS > MOST_SUM:
            raise AllowanceError("sum.overflow", column=self.column)

    @property
    def mean_rounding(self) -> Fraction:
        return 2 * self.rounding

    @cached_property
    def _ends(self) -> tuple[int, int]:
        return self.weight(0), self.weight(self.declared.size - 1)

    @property
    def width(self) -> int:
        return max(abs(self._ends[1] - self._ends[0]), 1)

    def centred(self, code: int) -> int:
        """y of a row, cut at ±W: if a weight lay beyond both ends by mistake, it would cost accuracy but no privacy."""
        return max(min(2 * self.weight(code) - sum(self._ends), self.width), -self.width)

    def figure(self, mean: Fraction) -> float:
        """The answer, clamped to the declared range; an end of that range for means beyond all weights."""
        (first, last), (low, high) = self._ends, self.declared.ends
        weight = (mean + first + last) / 2
        if not min(first, last) <= weight <= max(first, last):
            return float(low if (weight < first) == (first < last) else high)
        return min(max(self.value_at(weight), float(low)), float(high))

    def supposed(self, people: Fraction) -> Point:
        people = people if self.known is not None else self.seeming(people)
        total = people * _even_mean(self.at(Fraction(1)))
        value, (low, high) = self.estimate((people, total) if self.known is not None else self.in_group(people, total))
        return max(high - value, value - low)

    def need(self) -> Distribution | GroupDistributions:
        size = self.declared.size
        if self.by is None:
            return Distribution(self.column, size, self.where)
        return GroupDistributions(self.column, size, self.by, self.groups, self.where)

    def noised(self, value: Spread | tuple[Spread, ...]) -> tuple[int, ...]:
        numbers: list[int] = []
        for spread in value if isinstance(value, tuple) else (value,):
            rows = list(zip(spread.codes.tolist(), spread.counts.tolist(), strict=True))
            numbers += self.in_group(
                sum(count for _, count in rows), sum(self.centred(code) * count for code, count in rows)
            )
        return tuple(numbers)


@lru_cache(maxsize=256)
def _even_mean(query: MeanOfWeights) -> Fraction:
    """The mean of y for values spread evenly over the declared range; on a long grid by trapezoids between some of its
    points, which are dense at both ends, where weights may be steep."""
    size = query.declared.size
    ends = {*range(min(_NEAR, size)), *range(max(size - _NEAR, 0), size)}
    codes = sorted(ends | {place * (size - 1) // _BETWEEN for place in range(_BETWEEN)})
    weights = [query.centred(code) for code in codes]
    total = Fraction(weights[0])
    for (code, weight), (after, later) in pairwise(zip(codes, weights, strict=True)):
        total += Fraction((after - code) * (weight + later) + later - weight, 2)
    return total / size
