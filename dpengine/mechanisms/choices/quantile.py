"""Quantiles (the median is one) of a number column, on its public grid: one, several at once, or one by group.

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
Several     k shares of one column cost ε/k each. By group each may spend all of ε under add/remove and half of it under
            replace-one, where a person can leave one group and enter another. All promises then hold at once.
Accuracy    rank error ≤ λ = ⌈(2Δ/ε)·ln(|R|/β)⌉ − 1 with probability ≥ 1−β.
Cost        one grouped scan; draws linear in a public bound on the distinct values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Exponential, Loss, Together
from dpengine.core.arrays import Integers
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, read_number, text_of
from dpengine.core.json_types import Ends, Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Rank
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.telling import APART, FEW, fills
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import plain, say
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, weighted
from dpengine.noise.tails import choice_gap, least_rank_error
from dpengine.statistics.distributions import Distribution, GroupDistributions
from dpengine.statistics.need import Spread

FINEST_SHARE = 1_000
MOST_SHARES = 20
MOST_PADDED = 10**6


@dataclass(frozen=True)
class Blocks:
    """Candidates in runs of equal score: first grid point (−1 and `size` are the sentinels), length, gap to score 0."""

    firsts: Integers
    sizes: Integers
    gaps: Integers


@dataclass(frozen=True, kw_only=True)
class Quantile(Query[Spread | tuple[Spread, ...], tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="quantile",
        asked_on=("ask", "whatif"),
        order=80,
        version=1,
        answer="place",
        states=(FEW, APART),
        caveats=("rank",),
        parameters=(
            Parameter("column", "column.ordered", required=True),
            Parameter("share", "share", default="0.9", required=True),
            Parameter("with_range", "switch", default=True),
            Parameter("by", "by"),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "with a range": {"column": "x", "share": "0.9"},
            "a quarter": {"column": "x", "share": "0.25", "with_range": False},
            "two at once": {"column": "x", "share": ["0.25", "0.75"], "with_range": False},
            "a third of some": {"column": "x", "share": "0.333", "with_range": False, "where": [["x", "<=", 1]]},
            "of days": {"column": "b", "share": "0.9", "where": [["b", "between", ["1989-12-31", "1990-01-02"]]]},
        },
        example=Example({"column": "visits", "share": "0.75", "with_range": False}, others="alike"),
        twins=("quarter",),
        covered="test_quantile_keeps_rank_promise_and_range_covers",
    )

    column: str
    shares: tuple[Fraction, ...]
    with_range: bool = True

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = str(given["column"])
        facts.schema.ordered(name)
        with_range = given.get("with_range", True)
        if not isinstance(with_range, bool):
            raise AllowanceError("query.switch", name=say("param.with_range.label"))
        return {"column": name, "shares": read_shares(given.get("share", "0.5")), "with_range": with_range}

    def __post_init__(self) -> None:
        if self.by is not None and len(self.shares) > 1:
            raise AllowanceError("share.one_by_group")

    @property
    def wanted_places(self) -> tuple[Fraction, ...]:
        return self.shares

    def tells_range(self) -> bool:
        return self.with_range

    def own_json(self) -> JsonObject:
        texts = [text_of(share) for share in self.shares]
        return {"column": self.column, "share": texts[0] if len(texts) == 1 else texts, "with_range": self.with_range}

    def sentence(self) -> str:
        code = "sentence.quantile" if len(self.shares) == 1 else "sentence.quantiles"
        percents = [plain(share * 100) for share in self.shares]
        return say(code, shares=percents, share=percents[0], column=self.column, who=self.whom())

    def labels(self) -> list[str]:
        if self.by is not None or len(self.shares) == 1:
            return super().labels()
        with stored():
            return self._percents()

    def shown(self) -> dict[str, str]:
        several = self.by is None and len(self.shares) > 1
        return dict(zip(self.labels(), self._percents(), strict=True)) if several else super().shown()

    def _percents(self) -> list[str]:
        return [f"{plain(share * 100)} %" for share in self.shares]

    def need(self) -> Distribution | GroupDistributions:
        size = self.facts.schema[self.column].size
        if self.by is None:
            return Distribution(self.column, size, self.where)
        return GroupDistributions(self.column, size, self.by, self.groups, self.where)

    # The score, in integer points; `points` of them make one rank.

    def points(self, share: Fraction) -> int:
        return 1 if self.facts.relation == "replace" else share.denominator

    def _moves(self, share: Fraction) -> int:
        """Δ: how far one person can move a score."""
        u, v = share.numerator, share.denominator
        return (1 if self.facts.relation == "replace" else max(u, v - u)) * self.facts.unit.at_most

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", max(self._moves(share) for share in self.shares))

    @property
    def sides(self) -> tuple[int, ...]:
        """The point, and the two ends of its range."""
        return (0, -1, 1) if self.with_range else (0,)

    @property
    def each(self) -> Fraction:
        """The ε of one draw."""
        return self.for_each(self.epsilon) / (len(self.shares) * len(self.sides))

    def rate(self, share: Fraction) -> Fraction:
        return self.each / (2 * self._moves(share))

    @property
    def at_once(self) -> Fraction:
        """The β of one answer when all of them are to hold at once."""
        return self.beta / (len(self.shares) * self.groups)

    def shift(self, share: Fraction) -> int:
        """λ of the range, in ranks: the two ends are drawn this far from the wanted rank."""
        size = self.facts.schema[self.column].size
        return ceiling(Fraction(choice_gap(self.rate(share), size + 1, self.at_once / 2), self.points(share)))

    def blocks(self, value: Spread, share: Fraction, side: int = 0) -> Blocks:
        """All candidates; side −1 or +1 aims `shift` ranks lower or higher and adds the sentinel there."""
        size = self.facts.schema[self.column].size
        codes, counts, points = value.codes, value.counts, self.points(share)
        k, n = len(codes), int(counts.sum())
        before = np.concatenate(([0], np.cumsum(counts)))  # rows below the j-th distinct value
        firsts = np.empty(2 * k + 1, dtype=np.int64)
        lengths, below, at = np.empty_like(firsts), np.empty_like(firsts), np.zeros_like(firsts)
        edges = np.concatenate(([-1], codes, [size]))
        firsts[0::2], lengths[0::2], below[0::2] = edges[:-1] + 1, np.diff(edges) - 1, before
        firsts[1::2], lengths[1::2], below[1::2], at[1::2] = codes, 1, before[:-1], counts
        shift = self.shift(share) if side else 0
        if side:
            extra = (-1, 1, -shift, shift) if side < 0 else (size, 1, n, shift)
            where = 0 if side < 0 else len(firsts)
            firsts, lengths, below, at = (
                np.insert(array, where, item) for array, item in zip((firsts, lengths, below, at), extra, strict=True)
            )
        if self.facts.relation == "replace":
            low = share.numerator * n // share.denominator
            high = -(-share.numerator * n // share.denominator)
        else:
            low = high = share.numerator * n
        aim = side * shift * points
        over, under = points * below - low - aim, high + aim - points * (below + at)
        return self._padded(Blocks(firsts, lengths, np.maximum(0, np.maximum(over, under))))

    def _padded(self, blocks: Blocks) -> Blocks:
        """Adds empty blocks up to a public number, so that the running time does not reveal how many values occur."""
        size = self.facts.schema[self.column].size
        most = size if self.facts.people is None else min(size, self.facts.people * self.facts.unit.at_most)
        room = 2 * min(most, MOST_PADDED) + 2 - len(blocks.firsts)
        if room <= 0:
            return blocks
        return Blocks(*(np.concatenate((array, np.zeros(room, dtype=np.int64))) for array in vars(blocks).values()))

    def _draws(self, value: Spread | tuple[Spread, ...]) -> Iterator[tuple[Spread, Fraction, int]]:
        """Every single draw: whose distribution, which share, which side."""
        for spread in value if isinstance(value, tuple) else (value,):
            for share in self.shares:
                for side in self.sides:
                    yield spread, share, side

    def measured(self, value: Spread | tuple[Spread, ...]) -> tuple[int, ...]:
        scores: list[int] = []
        for spread, share, side in self._draws(value):
            scores += [-gap for gap in self._gap_by_code(spread, share, side).values()]
        return tuple(scores)

    def _gap_by_code(self, value: Spread, share: Fraction, side: int) -> dict[int, int]:
        blocks = self.blocks(value, share, side)
        return {
            int(first) + place: int(gap)
            for first, length, gap in zip(blocks.firsts, blocks.sizes, blocks.gaps, strict=True)
            for place in range(int(length))
        }

    def loss(self) -> Loss:
        draws = len(self.shares) * len(self.sides)
        part: Loss = Exponential(self.each)
        return self.of_groups(Together((part,) * draws) if draws > 1 else part)

    def promise(self) -> Rank:
        size = self.facts.schema[self.column].size
        rows = max(
            Fraction(choice_gap(self.rate(share), size, self.at_once), self.points(share)) for share in self.shares
        )
        floor = least_rank_error(self.epsilon, size, self.beta)
        guess = self.by is not None or self.facts.countable(self.where, self.column) is None
        return Rank(rows, rows * self.groups / self.facts.about, self.beta, floor, nominal=guess)

    def mute(self, interval: Json, part: str = "") -> bool:
        """Does the range cover nearly the whole grid, or are both its ends drawn at ranks beyond all people? Without a
        range: may the rank be nearly anywhere?"""
        share = self.shares[self.labels().index(part)] if part and self.by is None else self.shares[0]
        if interval is None:
            away = self.promise().share
            return fills(share - away, share + away, 0, 1)
        most = None if self.facts.people is None else self.facts.people * self.facts.unit.at_most
        if most is not None and self.shift(share) >= max(share, 1 - share) * most:
            return True
        column = self.facts.schema.ordered(self.column)
        return fills(column.place(interval[0]), column.place(interval[1]), 0, column.size - 1)

    def state(self, value: Json, interval: Json) -> str:
        if interval is None and isinstance(value, dict):
            return FEW if all(self.mute(None, part) for part in value) else ""
        return super().state(value, interval)

    def coarse(self) -> Fraction:
        """A quarter of the largest possible rank error, as a share of the people."""
        return max(max(share, 1 - share) for share in self.shares) / 4

    def draw(self, value: Spread | tuple[Spread, ...], coins: Coins) -> tuple[int, ...]:
        chosen = []
        for spread, share, side in self._draws(value):
            blocks = self.blocks(spread, share, side)
            block, offset = coins.choose(blocks.gaps, blocks.sizes, self.rate(share), self._most(share))
            chosen.append(int(blocks.firsts[block]) + offset)
        return tuple(chosen)

    def _most(self, share: Fraction) -> int | None:
        """A public bound on the gaps, where the number of rows has one."""
        if self.facts.people is None:
            return None
        return self.facts.people * self.facts.unit.at_most + (self.shift(share) if self.with_range else 0)

    def law(self, value: Spread | tuple[Spread, ...]) -> Independent:
        return Independent(
            tuple(
                weighted(self._gap_by_code(spread, share, side), self.rate(share))
                for spread, share, side in self._draws(value)
            )
        )

    def finish(self, raw: tuple[int, ...]) -> Released:
        """A range is widened to contain all three draws, which keeps its promise; a sentinel becomes the declared
        bound."""
        column = self.facts.schema.ordered(self.column)
        width = len(self.sides)
        answers: list[Ends] = []
        for first in range(0, len(raw), width):
            held = [min(max(code, 0), column.size - 1) for code in raw[first : first + width]]
            ends = (column.value(min(held)), column.value(max(held))) if self.with_range else None
            answers.append((column.value(held[0]), ends))
        if len(answers) == 1:
            return Released(*answers[0])
        released = self.by_label(answers)
        return released if self.with_range else Released(released.value)


def read_shares(given: Json) -> tuple[Fraction, ...]:
    """One share or several, rising; each with at most three decimals."""
    listed = given if isinstance(given, (list, tuple)) else [given]
    shares = tuple(read_number(share, "share") for share in listed)
    if not 1 <= len(shares) <= MOST_SHARES or any(not 0 < share < 1 for share in shares):
        raise AllowanceError("share.range")
    if any((share * FINEST_SHARE).denominator != 1 for share in shares) or sorted(set(shares)) != list(shares):
        raise AllowanceError("share.range")
    return shares


@dataclass(frozen=True, kw_only=True)
class Median(Quantile):
    """The quantile at one half."""

    card: ClassVar[Card] = replace(
        Quantile.card,
        key="median",
        asked_on=("ask", "whatif"),
        order=10,
        parameters=tuple(parameter for parameter in Quantile.card.parameters if parameter.name != "share"),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "with a range": {"column": "x"},
            "of some": {"column": "x", "with_range": False, "where": IN_A},
            "by group": {"column": "x", "by": "c", "with_range": False},
            "by numbers in steps": {"column": "z", "by": {"column": "x", "step": 2}, "with_range": False},
            "by group with a range": {"column": "z", "by": "d"},
            "of days": {"column": "b", "with_range": False},
        },
        example=Example({"column": "visits", "with_range": False}),
        twins=("uncapped", "quarter"),
        covered="test_quantile_keeps_rank_promise_and_range_covers",
    )

    def own_json(self) -> JsonObject:
        return {"column": self.column, "with_range": self.with_range}

    def sentence(self) -> str:
        return say("sentence.median", column=self.column, who=self.whom())
