"""A whole distribution at once: a synthetic column of m values whose cumulative shares are close to the table's.

Guarantee   ε-DP under both relations, in one ε-bounded-range part.
Theorem     small databases for threshold queries: Blum, Ligett, Roth 2008, Thm 3.1, by the exponential mechanism
            (McSherry and Talwar 2007, Thm 6) over all sequences of m grid points, drawn exactly (`place_choice`).
Statistic   C_j rows at or below grid point j, F_j below it, n rows in all. A sequence o_1 … o_m has the integer score
            −max_i ⌈max(0, τ_i − C_(o_i), F_(o_i) − τ_i)⌉: how many rows o_i is away from place τ_i = (2i − 1)·n/(2m).
Sensitivity one row more adds (2i − 1)/(2m) to τ_i, between 0 and 1, and 0 or 1 to C and to F: so each difference moves
            by less than 1. Another value in a row's place moves C and F by −1, 0 or 1, and τ_i not at all. Either way
            the score moves by Δ = 1 at most: under both relations, also where n is not public (conditions, missing
            values, n = 0, where every score is 0). A person of at most k rows is at most k such changes: Δ = k.
Draw        a sequence with chance ∝ e^(ε·score/(2Δ)). Its points in rising order are the answer: a synthetic column.
            In order they are no farther from their places, because C and F rise along the grid.
Accuracy    a sequence of score 0 exists, so with probability ≥ 1−β the score is at least −g,
            g = ⌈(2Δ/ε)·ln(|D|^m/β)⌉ − 1. If i points in order are at or below j, C_j ≥ C_(o_i) ≥ τ_i − g and
            C_j ≤ F_(o_(i+1)) ≤ τ_(i+1) + g: every share of rows at or below a point is right within (⌈n/(2m)⌉ + g)/n,
            all points at once. Least for m about √(nε/(4Δ·ln|D|)), the usual number. More than twice as many are
            refused: they only add error, and work. Where n is not public neither is this, and the answer has no range.
            (The lecture scores a sequence by the largest gap of these shares. That score has the same bound, but the
            time of an exact draw then depends on the rows.)
Cost        one grouped scan; then the same array work on every table, as long as its different values have a public
            bound; it grows with m² and the logarithm of the grid.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import isqrt, log
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Exponential, Loss
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import exp_decimal, read_number
from dpengine.core.types import Ends, Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity, read_column
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite
from dpengine.noise.place_choice import Staircase, draw
from dpengine.noise.tails import choice_gap
from dpengine.statistics.counts import Distribution
from dpengine.statistics.need import Spread

MOST_POINTS = 400
FEW_POINTS = 20  # always allowed
MOST_LISTED = 20_000
ALL = Fraction(100)


@dataclass(frozen=True, kw_only=True)
class Cdf(Query[Spread, tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="cdf",
        order=150,
        answer="column",
        states=(FEW,),
        caveats=("made_up", "rival"),
        own=(Parameter("column", "column.ordered", required=True), Parameter("points", "points"), WHERE),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two values": {"column": "x", "points": 2},
            "of three values of some": {"column": "z", "points": 3, "where": IN_A},
        },
        example=Example({"column": "visits", "points": 2}),
        broken_variants=("quarter",),
        covered="test_the_error_keeps_the_bound_of_the_exponential_mechanism",
    )

    column: str
    given_points: int | None = None  # m; None: the usual number for this many people

    def __post_init__(self) -> None:
        if self.given_points is not None and not 1 <= self.given_points <= self.most_points:
            raise AllowanceError("curve.points", most=self.most_points)

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return {"column": read_column(given, facts.schema.ordered), "given_points": _read_points(given.get("points"))}

    def own_json(self) -> JsonObject:
        return {"column": self.column} | ({} if self.given_points is None else {"points": self.given_points})

    def sentence(self) -> str:
        return say("sentence.cdf", column=self.column, who=self.whom())

    @property
    def size(self) -> int:
        return self.facts.schema[self.column].size

    @property
    def usual_points(self) -> int:
        best = self.facts.about * self.epsilon / (4 * self.facts.unit.at_most)
        return min(max(isqrt(int(float(best) / log(self.size))), 2), MOST_POINTS)

    @property
    def most_points(self) -> int:
        return min(max(2 * self.usual_points, FEW_POINTS), MOST_POINTS)

    @property
    def points(self) -> int:
        return self.usual_points if self.given_points is None else self.given_points

    def need(self) -> Distribution:
        return Distribution(self.column, self.size, self.where)

    def measured(self, value: Spread) -> tuple[int, ...]:
        """The scores of all sequences in order; only for small worlds."""
        return tuple(-gap for gap in self._listed(value).values())

    def _listed(self, value: Spread) -> dict[tuple[int, ...], int]:
        """Every sequence with its gap."""
        n, m, reached = int(value.counts.sum()), self.points, np.zeros(self.size, dtype=np.int64)
        reached[value.codes] = value.counts
        upper = np.cumsum(reached)
        places = (2 * np.arange(m)[:, None] + 1) * n
        away = np.maximum(places - 2 * m * upper, 2 * m * (upper - reached) - places)
        gaps = (-(np.minimum(-away, 0) // (2 * m))).tolist()
        return {
            chosen: max(gaps[place][code] for place, code in enumerate(chosen))
            for chosen in product(range(self.size), repeat=m)
        }

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.facts.unit.at_most)

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.facts.unit.at_most)

    def loss(self) -> Loss:
        return Exponential(self.epsilon)

    def off_of(self, rows: int) -> int:
        """How many of `rows` rows the synthetic column can be off by, at all points, except with probability β."""
        return -(-rows // (2 * self.points)) + choice_gap(self.rate, self.size**self.points, self.beta)

    @property
    def planned_size(self) -> int:
        """The curve is drawn for one row a person."""
        return self.facts.about

    @property
    def people_off(self) -> Fraction:
        """`off_of` for a table of the declared size."""
        return Fraction(min(self.off_of(self.facts.about), self.facts.about))

    def promise(self) -> Within:
        return self.promise_of(self.facts.about)

    def promise_of(self, people: int) -> Within:
        nominal = self.facts.countable(self.where, self.column) is None
        share = ALL * Fraction(min(self.off_of(people), people), people)  # with as many points as now
        return Within(share, self.size, self.beta, Fraction(0), "percent", nominal)

    def limits(self, part: str = "") -> Ends | None:
        return Fraction(0), ALL

    def state(self, value: Json, interval: Json) -> str:
        return FEW if self.promise().empty else ""

    def coarse(self) -> Fraction:
        return ALL / 8

    def draw(self, value: Spread, coins: Coins) -> tuple[int, ...]:
        values = self.facts.values_at_most(self.column)
        return tuple(draw(Staircase.of(value.codes, value.counts, self.size, values), self.points, self.rate, coins))

    def law(self, value: Spread) -> Finite | None:
        """The law over all synthetic columns; None if there are too many sequences to list."""
        if self.size**self.points > MOST_LISTED:
            return None
        weights: dict[tuple[int, ...], Decimal] = defaultdict(Decimal)
        for chosen, gap in self._listed(value).items():
            weights[tuple(sorted(chosen))] += exp_decimal(-self.rate * gap)
        total = sum(weights.values(), Decimal(0))
        return Finite({column: weight / total for column, weight in weights.items()})

    def finish(self, raw: tuple[int, ...]) -> Released:
        """Every synthetic value with the share at or below it, in percent; with ranges if n is public."""
        column, rows = self.facts.schema.ordered(self.column), self.facts.countable(self.where, self.column)
        many = len(raw)
        places = {column.text(code): place for place, code in enumerate(raw, start=1)}
        value = {name: 100 * place / many for name, place in places.items()}
        if rows is None:
            return Released(value)
        off, whole = self.off_of(rows) * many, rows * many
        ends = {name: (max(place * rows - off, 0), min(place * rows + off, whole)) for name, place in places.items()}
        return Released(value, {name: (100 * low / whole, 100 * high / whole) for name, (low, high) in ends.items()})

    def made_up(self, value: dict[str, float]) -> list[str]:
        """The synthetic column behind an answer, in rising order."""
        column: list[str] = []
        for name in self.listed(value):
            column += [name] * (round(Fraction(value[name]) * self.points / ALL) - len(column))
        return column


def _read_points(value: Json) -> int | None:
    if value in (None, ""):
        return None
    points = read_number(value, say("param.points.label"))
    if points.denominator != 1:
        raise AllowanceError("curve.points", most=MOST_POINTS)
    return int(points)
