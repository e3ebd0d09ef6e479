"""A quantile (the median is one) of a number column, on its public grid.

Guarantee   ε-DP, in ε-bounded-range parts.
Theorem     exponential mechanism (McSherry and Talwar 2007, Thm 6) with a capped rank score.
Statistic   for a grid point with L rows below, E at, G above it, and α = u/v:
            replace-one  q = −max(0, L−⌊αn⌋, ⌈αn⌉−(L+E)),                     Δ = 1 (n = rows that are present);
            add/remove   q = −max(0, (v−u)L−u(E+G), uG−(v−u)(L+E)),           Δ = max(u, v−u); a rank is v points.
            Some grid point always scores 0. A unit of at most m rows multiplies Δ by m.
Draw        a grid point with probability ∝ exp(ε·q/(2Δ)), exactly. Runs between data points have equal scores, so
            the work does not grow with a grid finer than the number of rows.
Range       bought with the point, a third of ε each: quantiles at the ranks αn∓λ, where λ is what such a draw can
            miss by with probability β/2. λ public made-up rows outside the grid (“sentinels”) keep a zero-score
            candidate whatever n is, so the range holds a true quantile with probability ≥ 1−β on every table.
Accuracy    rank error ≤ λ = ⌈(2Δ/ε)·ln(|R|/β)⌉ − 1 with probability ≥ 1−β.
Cost        one grouped scan; draws linear in a public bound on the distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpengine import needs
from dpengine.bounds import choice_gap, least_rank_error
from dpengine.coins import Coins
from dpengine.contract import Card, Facts, Parameter, Query, Rank, Released, Sensitivity
from dpengine.errors import AllowanceError
from dpengine.exact import ceiling, read_number, text_of
from dpengine.laws import Independent, weighted
from dpengine.loss import Exponential, Loss, Together
from dpengine.messages import say
from dpengine.needs import Integers, Spread
from dpengine.wording import who

FINEST_SHARE = 1_000
MOST_PADDED = 10**6


@dataclass(frozen=True)
class Blocks:
    """Candidates in runs of equal score: first grid point (−1 and `size` are the sentinels), length, gap to score 0."""

    firsts: Integers
    sizes: Integers
    gaps: Integers


@dataclass(frozen=True, kw_only=True)
class Quantile(Query):
    card: ClassVar[Card] = Card(
        key="quantile",
        version=1,
        picture="point",
        caveats=("rank",),
        parameters=(
            Parameter("column", "column.number", required=True),
            Parameter("share", "share", default="0.9", required=True),
            Parameter("with_range", "switch", default=True),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )

    column: str
    share: Fraction
    with_range: bool = True

    @classmethod
    def read(cls, facts: Facts, given: dict[str, Any]) -> dict[str, Any]:
        name = str(given["column"])
        facts.schema.number(name)
        share = read_number(given.get("share", "0.5"), "share")
        if not 0 < share < 1 or (share * FINEST_SHARE).denominator != 1:
            raise AllowanceError("share.range")
        with_range = given.get("with_range", True)
        if not isinstance(with_range, bool):
            raise AllowanceError("query.switch", name=say("param.with_range.label"))
        return {"column": name, "share": share, "with_range": with_range}

    def own_json(self) -> dict[str, Any]:
        return {"column": self.column, "share": text_of(self.share), "with_range": self.with_range}

    def sentence(self) -> str:
        return say("sentence.quantile", share=self.share * 100, column=self.column, who=who(self.where))

    def need(self) -> needs.Ranks:
        return needs.Ranks(self.column, self.facts.schema[self.column].size, self.where)

    # The score, in integer points; `points` of them make one rank.

    @property
    def points(self) -> int:
        return 1 if self.facts.relation == "replace" else self.share.denominator

    def sensitivity(self) -> Sensitivity:
        u, v = self.share.numerator, self.share.denominator
        one_row = 1 if self.facts.relation == "replace" else max(u, v - u)
        return Sensitivity("linf", one_row * self.facts.unit.at_most)

    @property
    def draws(self) -> int:
        return 3 if self.with_range else 1

    @property
    def rate(self) -> Fraction:
        return self.epsilon / self.draws / (2 * self.sensitivity().bound)

    @property
    def shift(self) -> int:
        """λ of the range, in ranks: the two ends are drawn this far from the wanted rank."""
        size = self.facts.schema[self.column].size
        return ceiling(Fraction(choice_gap(self.rate, size + 1, self.beta / 2), self.points))

    def blocks(self, value: Spread, side: int = 0) -> Blocks:
        """All candidates; side −1 or +1 aims `shift` ranks lower or higher and adds the sentinel there."""
        size = self.facts.schema[self.column].size
        codes, counts = value.codes, value.counts
        k, n = len(codes), int(counts.sum())
        before = np.concatenate(([0], np.cumsum(counts)))  # rows below the j-th distinct value
        firsts = np.empty(2 * k + 1, dtype=np.int64)
        lengths, below, at = np.empty_like(firsts), np.empty_like(firsts), np.zeros_like(firsts)
        edges = np.concatenate(([-1], codes, [size]))
        firsts[0::2], lengths[0::2], below[0::2] = edges[:-1] + 1, np.diff(edges) - 1, before
        firsts[1::2], lengths[1::2], below[1::2], at[1::2] = codes, 1, before[:-1], counts
        if side:
            extra = (-1, 1, -self.shift, self.shift) if side < 0 else (size, 1, n, self.shift)
            where = 0 if side < 0 else len(firsts)
            firsts, lengths, below, at = (
                np.insert(array, where, item) for array, item in zip((firsts, lengths, below, at), extra, strict=True)
            )
        if self.facts.relation == "replace":
            low = self.share.numerator * n // self.share.denominator
            high = -(-self.share.numerator * n // self.share.denominator)
        else:
            low = high = self.share.numerator * n
        aim = side * self.shift * self.points
        over, under = self.points * below - low - aim, high + aim - self.points * (below + at)
        return self._padded(Blocks(firsts, lengths, np.maximum(0, np.maximum(over, under))))

    def _padded(self, blocks: Blocks) -> Blocks:
        """With empty blocks up to a public number of them, so that the work does not tell how many values occur."""
        size = self.facts.schema[self.column].size
        most = size if self.facts.people is None else min(size, self.facts.people * self.facts.unit.at_most)
        room = 2 * min(most, MOST_PADDED) + 2 - len(blocks.firsts)
        if room <= 0:
            return blocks
        return Blocks(*(np.concatenate((array, np.zeros(room, dtype=np.int64))) for array in vars(blocks).values()))

    def sides(self) -> tuple[int, ...]:
        return (0, -1, 1) if self.with_range else (0,)

    def measured(self, value: Spread) -> tuple[int, ...]:
        scores: list[int] = []
        for side in self.sides():
            scores += [-gap for gap in self._gap_by_code(value, side).values()]
        return tuple(scores)

    def _gap_by_code(self, value: Spread, side: int) -> dict[int, int]:
        blocks = self.blocks(value, side)
        return {
            int(first) + place: int(gap)
            for first, length, gap in zip(blocks.firsts, blocks.sizes, blocks.gaps, strict=True)
            for place in range(int(length))
        }

    def loss(self) -> Loss:
        part = Exponential(self.epsilon / self.draws)
        return Together((part,) * self.draws) if self.draws > 1 else part

    def promise(self) -> Rank:
        size = self.facts.schema[self.column].size
        rows = Fraction(choice_gap(self.rate, size, self.beta), self.points)
        floor = least_rank_error(self.epsilon, size, self.beta)
        return Rank(rows, min(rows / self.facts.about, Fraction(1)), self.beta, floor)

    def coarse(self) -> Fraction:
        """A quarter of the farthest a rank can be off, as a share of the people."""
        return max(self.share, 1 - self.share) / 4

    def draw(self, value: Spread, coins: Coins) -> tuple[int, ...]:
        chosen = []
        for side in self.sides():
            blocks = self.blocks(value, side)
            block, offset = coins.choose(blocks.gaps, blocks.sizes, self.rate, self._most())
            chosen.append(int(blocks.firsts[block]) + offset)
        return tuple(chosen)

    def _most(self) -> int | None:
        """A public bound on the gaps, where the number of rows has one."""
        if self.facts.people is None:
            return None
        return self.facts.people * self.facts.unit.at_most + (self.shift if self.with_range else 0)

    def law(self, value: Spread) -> Independent:
        return Independent(tuple(weighted(self._gap_by_code(value, side), self.rate) for side in self.sides()))

    def finish(self, raw: tuple[int, ...]) -> Released:
        """The range is widened to hold all three draws, which keeps its promise; a sentinel is the declared bound."""
        column = self.facts.schema[self.column]
        held = [min(max(code, 0), column.size - 1) for code in raw]
        interval = (column.value(min(held)), column.value(max(held))) if self.with_range else None
        return Released(column.value(held[0]), interval)


@dataclass(frozen=True, kw_only=True)
class Median(Quantile):
    """The quantile at one half."""

    card: ClassVar[Card] = replace(
        Quantile.card,
        key="median",
        parameters=tuple(parameter for parameter in Quantile.card.parameters if parameter.name != "share"),
    )

    def own_json(self) -> dict[str, Any]:
        return {"column": self.column, "with_range": self.with_range}

    def sentence(self) -> str:
        return say("sentence.median", column=self.column, who=who(self.where))
