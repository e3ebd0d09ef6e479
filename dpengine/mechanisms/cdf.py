"""A whole distribution at once: a made-up column of m values whose shares below every point are near the table's.

Guarantee   ε-DP under both relations.
Theorem     small databases for threshold queries: Blum, Ligett, Roth 2008, Thm 3.1, by the exponential mechanism
            (McSherry and Talwar 2007) over all sequences of m grid points, drawn exactly (`bands`, `layers`).
Statistic   C_j rows at or below grid point j, n rows in all; a sequence with M_j points at or below j has the integer
            score −⌈max_j |m·C_j − n·M_j|/m⌉. One row more changes m·C_j − n·M_j by m − M_j or −M_j, another value in
            its place by ±m or 0: Δ = 1 under both relations, also where n is not public; k for a person of at most k
            rows.
Draw        a sequence with chance ∝ e^(ε·score/(2Δ)). Its points in rising order are the answer: a synthetic column.
Accuracy    rounding m·C_j/n gives a sequence with score ≥ −⌈n/(2m)⌉, so with probability ≥ 1−β every share of people
            below a point is right within 1/(2m) + (1 + (2Δ/ε)·ln(|D|^m/β))/n. Best for m about √(nε/(4·ln|D|)).
Cost        one grouped scan; then a number of steps of whole numbers that grows with m and hardly with n or the grid.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, factorial, isqrt, log
from typing import Any, ClassVar

import numpy as np

from dpengine import bands, needs
from dpengine.bounds import choice_gap
from dpengine.coins import Coins
from dpengine.contract import Card, Facts, Parameter, Query, Released, Sensitivity, Within
from dpengine.errors import AllowanceError
from dpengine.exact import exp_decimal, read_number
from dpengine.laws import Finite
from dpengine.layers import draw_layer
from dpengine.loss import Exponential, Loss
from dpengine.messages import say
from dpengine.needs import Spread
from dpengine.wording import who

MOST_POINTS = 400
MOST_LISTED = 20_000


@dataclass(frozen=True, kw_only=True)
class Cdf(Query):
    card: ClassVar[Card] = Card(
        key="cdf",
        version=1,
        picture="curve",
        caveats=("rival",),
        parameters=(
            Parameter("column", "column.ordered", required=True),
            Parameter("points", "points"),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )

    column: str
    given_points: int | None = None  # m; None: the usual number for so many people

    def __post_init__(self) -> None:
        if self.by is not None:
            raise AllowanceError("curve.by")

    @classmethod
    def read(cls, facts: Facts, given: dict[str, Any]) -> dict[str, Any]:
        name = str(given["column"])
        facts.schema.ordered(name)
        return {"column": name, "given_points": read_points(given.get("points"))}

    def own_json(self) -> dict[str, Any]:
        return {"column": self.column} | ({} if self.given_points is None else {"points": self.given_points})

    def sentence(self) -> str:
        return say("sentence.cdf", column=self.column, who=who(self.where))

    @property
    def size(self) -> int:
        return self.facts.schema[self.column].size

    @property
    def points(self) -> int:
        if self.given_points is not None:
            return self.given_points
        best = self.facts.about * float(self.epsilon) / (4 * log(max(self.size, 2)))
        return min(max(isqrt(int(best)), 2), MOST_POINTS)

    def need(self) -> needs.Ranks:
        return needs.Ranks(self.column, self.size, self.where)

    def measured(self, value: Spread) -> tuple[int, ...]:
        """The scores of all sequences, as multisets in order; only for small worlds."""
        return tuple(-gap for gap, _ in self._listed(value).values())

    def _listed(self, value: Spread) -> dict[tuple[int, ...], tuple[int, int]]:
        """Every multiset of points with its gap and the number of sequences that hold it."""
        found = {}
        for chosen in combinations_with_replacement(range(self.size), self.points):
            ways = factorial(self.points)
            for times in Counter(chosen).values():
                ways //= factorial(times)
            found[chosen] = bands.gap_of(value, np.array(chosen, dtype=np.int64)), ways
        return found

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.facts.unit.at_most)

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.facts.unit.at_most)

    def loss(self) -> Loss:
        return Exponential(self.epsilon)

    @property
    def off(self) -> Fraction:
        """How far a share can be off, for a table of the declared number of rows: all points at once."""
        rows = self.facts.about * self.facts.unit.at_most if self.facts.people is None else self.facts.about
        gap = choice_gap(self.rate, self.size**self.points, self.beta)
        return min(Fraction(1, 2 * self.points) + Fraction(1 + gap, rows), Fraction(1))

    def promise(self) -> Within:
        nominal = self.facts.countable(self.where, self.column) is None
        return Within(100 * self.off, self.size, self.beta, Fraction(0), "percent", nominal)

    def coarse(self) -> Fraction:
        return Fraction(10)

    def draw(self, value: Spread, coins: Coins) -> tuple[int, ...]:
        m, grid, n = self.points, self.size, int(value.counts.sum())
        layer = draw_layer(
            lambda band: bands.how_many(value, grid, m, band), -(-n // (2 * m)), n, grid**m, self.rate, coins
        )
        steps = bands.forward(value, grid, m, layer)
        if steps is None:
            raise AssertionError("a layer that was drawn holds a sequence")
        return tuple(bands.draw(steps, m, coins).tolist())

    def law(self, value: Spread) -> Finite | None:
        """Every multiset; None where there are too many to list."""
        if comb(self.size + self.points - 1, self.points) > MOST_LISTED:
            return None
        listed = self._listed(value)
        weights = {chosen: ways * exp_decimal(-self.rate * gap) for chosen, (gap, ways) in listed.items()}
        total = sum(weights.values(), Decimal(0))
        return Finite({chosen: weight / total for chosen, weight in weights.items()})

    def finish(self, raw: tuple[int, ...]) -> Released:
        """The share of people at or below each point of the synthetic column, in percent, with its range."""
        column, m, off = self.facts.schema.ordered(self.column), self.points, 100 * self.off
        below: dict[str, float] = {}
        ranges: dict[str, tuple[float, float]] = {}
        for place, code in enumerate(raw, start=1):
            share = Fraction(100 * place, m)
            below[column.text(code)] = float(share)
            ranges[column.text(code)] = float(max(share - off, Fraction(0))), float(min(share + off, Fraction(100)))
        return Released(below, ranges)

    def listed(self, value: dict[str, Any]) -> list[str]:
        return sorted(value, key=value.__getitem__)


def read_points(value: Any) -> int | None:
    if value in (None, ""):
        return None
    points = read_number(value, say("param.points.label"))
    if points.denominator != 1 or not 1 <= points <= MOST_POINTS:
        raise AllowanceError("curve.points", most=MOST_POINTS)
    return int(points)
