"""Quantiles (the median is one) of a number column, on its public grid: one, several at once, or one by group.

Guarantee   ε-DP, in ε-bounded-range parts.
Theorem     exponential mechanism (McSherry and Talwar 2007, Thm 6) with a score by rank.
Statistic   for a grid point with L rows below, E at, G above it, and α = u/v:
            replace-one  q = −max(L−⌊αn⌋, ⌈αn⌉−(L+E)),                        Δ = 1 (n = rows that are present);
            add/remove   q = −max((v−u)L−u(E+G), uG−(v−u)(L+E)),              Δ = max(u, v−u); a rank is v points.
            Each of the two terms moves by at most Δ, so their maximum does. Some grid point always scores 0 or more. A
            unit of at most m rows multiplies Δ by m.
Depth       lecture 3 caps the score at 0: all points whose rows hold the place are equally likely. Above 0 it says how
            deep in a point's rows the place lies. In an exponential mechanism that never hurts: on every table the
            correct points gain weight and the others keep theirs, so no wrong point becomes more likely. It helps where
            rows are many: a wrong neighbour is then behind by twice the depth. A score by the distance from the place
            to the middle of a point's rows (OpenDP's median) is as sensitive. It is q − E/2 in ranks, so it marks down
            points with many rows: better or worse by where the place happens to fall, and worse on average
            (`python -m bench.utility`).
Draw        a grid point with probability ∝ exp(ε·q/(2Δ)), exactly. Runs between data points have equal scores, so
            the work does not grow with a grid finer than the number of rows.
Range       drawn with the point, a third of ε each: quantiles at the ranks αn∓λ, where λ is what such a draw can
            miss by with probability β/2. λ public made-up rows outside the grid (“sentinels”) keep a zero-score
            candidate whatever n is, so the range holds a true quantile with probability ≥ 1−β on every table.
Sample      where the people are a random sample, the ends aim farther out, so that the range holds the larger group's
            quantile too: β/2 for the sample, β/4 for each end. Only such draws are offered then. If n is public, at the
            ranks k₋ and k₊ of `sampling.ranks_off` instead of αn: a lower end with at most ⌊αn⌋ − shift + λ rows below
            it has at most k₋ − 1, so it is at most the k₋-th smallest value; likewise above. If n is private, of some
            people or by group, at the shares α∓a, less or plus b ranks (`sampling.ranks_by_line`): the same score with
            another α, so with its own Δ, and right for every n.
Several     k shares of one column cost ε/k each. By group each group may spend all of ε under add/remove and half of it
            under replace-one, where a person can leave one group and enter another: groups are disjoint, so of m rows
            m₁ are in one and m₂ in another, and what they change adds up to m. All promises then hold at once.
            We sort several percentiles of a group, and their ends, which keeps all promises.
Other ways  “joint”: several shares, or one with its range, in one draw (`joint_cuts`). “tree”, “gaussian_root”: several
            with ranges from noisy counts (`tree_cuts`). “permute_and_flip”: one point alone (McKenna and Sheldon 2020,
            Thm 2), ε-DP and no more. Public facts and prices decide which promises most, or for several without
            ranges which comes nearer on average.
Accuracy    rank error ≤ λ = ⌈(2Δ/ε)·ln(|R|/β)⌉ − 1 with probability ≥ 1−β; permute-and-flip |R|/2 for |R|.
Cost        one grouped scan; draws linear in a public bound on the distinct values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpengine.accountant.loss import Loss, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, read_number, text_of
from dpengine.core.types import Ends, Figures, Integers, Json, JsonObject
from dpengine.declared.conditions import combined
from dpengine.declared.facts import Facts
from dpengine.mechanisms import sampling
from dpengine.mechanisms.answer_state import APART, FEW, fills
from dpengine.mechanisms.card import BY, WHERE, Card, Parameter
from dpengine.mechanisms.choices.joint_cuts import Codes, Cuts, JointCuts, affordable
from dpengine.mechanisms.choices.tree_cuts import MOST_CELLS, RootCuts, TreeCuts
from dpengine.mechanisms.noise import Choice, ExponentialChoice, NoiseKind, PermuteAndFlip, chosen
from dpengine.mechanisms.promises import Rank
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity, read_column
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import plain, say
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent
from dpengine.noise.tails import choice_gap, least_rank_error
from dpengine.statistics.counts import Distribution, GroupDistributions
from dpengine.statistics.need import Spread

FINEST_SHARE = 1_000
MOST_SHARES = 20
MOST_ANSWERS = 1_000  # percentiles of groups, in one question
_OF_SOME = 4  # to choose a width we guess that one person in this many meets a condition
MOST_FLIPPED = 10**5  # grid points: permute-and-flip tosses a coin for each
Drawn = tuple[Any, ...]  # codes, or whole draws of joint or tree noise


def read_shares(given: Json) -> tuple[Fraction, ...]:
    """Reads one share, or several rising ones; each has at most three decimals."""
    listed = given if isinstance(given, (list, tuple)) else [given]
    shares = tuple(read_number(share, "share") for share in listed)
    if not 1 <= len(shares) <= MOST_SHARES or any(not 0 < share < 1 for share in shares):
        raise AllowanceError("share.range")
    if any((share * FINEST_SHARE).denominator != 1 for share in shares) or sorted(set(shares)) != list(shares):
        raise AllowanceError("share.range")
    return shares


def in_order(answers: Sequence[tuple[int, ...]], several: int) -> Iterator[tuple[int, ...]]:
    """Sorts each group's points, lower ends and upper ends, each by themselves. All promises still hold: the j-th
    smallest is at most the largest of the first j and at least the smallest from the j-th on, and true percentiles
    rise, as do all values at a fixed distance of them."""
    for first in range(0, len(answers), several):
        yield from zip(*map(sorted, zip(*answers[first : first + several], strict=True)), strict=True)


def percents(shares: Sequence[Fraction]) -> list[str]:
    return [f"{plain(share * 100)} %" for share in shares]


def of_groups(groups: list[str], names: list[str]) -> list[str]:
    """The names of every percentile of every group as a page shows them, with no line break before the percent sign."""
    kept = [name.replace(" ", "\N{NO-BREAK SPACE}") for name in names]
    return [f"{group}, {name}" for group in groups for name in kept]


@dataclass(frozen=True)
class Blocks:
    """Candidates in runs of equal score: a run's first grid point (−1 or the grid's size is a sentinel), its length,
    and its gap to score 0 (negative inside a point's rows)."""

    firsts: Integers
    sizes: Integers
    gaps: Integers

    def padded(self, blocks: int) -> Blocks:
        """Pad with empty blocks to a public number, so that the running time does not reveal how many values occur."""
        room = blocks - len(self.firsts)
        if room <= 0:
            return self
        return Blocks(*(np.concatenate((array, np.zeros(room, dtype=np.int64))) for array in vars(self).values()))


@dataclass(frozen=True)
class Ranked:
    """Runs of grid points with as many rows below them: each run's first point, length, rows below, and rows at it."""

    firsts: Integers
    sizes: Integers
    below: Integers
    at: Integers

    @classmethod
    def of(cls, value: Spread, size: int) -> Ranked:
        codes, counts = value.codes, value.counts
        before = np.concatenate(([0], np.cumsum(counts)))  # rows below the j-th distinct value
        firsts = np.empty(2 * len(codes) + 1, dtype=np.int64)
        sizes, below, at = np.empty_like(firsts), np.empty_like(firsts), np.zeros_like(firsts)
        edges = np.concatenate(([-1], codes, [size]))
        firsts[0::2], sizes[0::2], below[0::2] = edges[:-1] + 1, np.diff(edges) - 1, before
        firsts[1::2], sizes[1::2], below[1::2], at[1::2] = codes, 1, before[:-1], counts
        return cls(firsts, sizes, below, at)

    def with_sentinel(self, side: int, size: int, rows: int, of_all: int) -> Ranked:
        """These runs with `rows` made-up rows below the grid (side −1) or above it (1); `of_all` rows are real."""
        extra = (-1, 1, -rows, rows) if side < 0 else (size, 1, of_all, rows)
        where = 0 if side < 0 else len(self.firsts)
        pairs = zip(vars(self).values(), extra, strict=True)
        return Ranked(*(np.insert(array, where, item) for array, item in pairs))


@dataclass(frozen=True, kw_only=True)
class Quantile(Query[Spread | tuple[Spread, ...], Drawn]):
    card: ClassVar[Card] = Card(
        key="quantile",
        order=80,
        answer="place",
        states=(FEW, APART),
        caveats=("rank",),
        own=(
            Parameter("column", "column.ordered", required=True),
            Parameter("share", "share", default="0.9", required=True),
            Parameter("with_range", "switch", default=True),
            BY,
            WHERE,
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "with a range": {"column": "x", "share": "0.9"},
            "a quarter": {"column": "x", "share": "0.25", "with_range": False},
            "two at once": {"column": "x", "share": ["0.25", "0.75"], "with_range": False},
            "a third of some": {"column": "x", "share": "0.333", "with_range": False, "where": [["x", "<=", 1]]},
            "of days": {"column": "b", "share": "0.9", "where": [["b", "between", ["1989-12-31", "1990-01-02"]]]},
            "two in one draw": {"column": "x", "share": ["0.25", "0.75"], "with_range": False, "noise": "joint"},
            "two with ranges, jointly": {"column": "x", "share": ["0.25", "0.75"], "noise": "joint", "where": IN_A},
            "two with ranges, from a tree": {"column": "x", "share": ["0.25", "0.75"], "noise": "tree"},
            "two with ranges, by a root": {"column": "x", "share": ["0.25", "0.75"], "noise": "gaussian_root"},
            "two by group, jointly": {"column": "z", "share": ["0.25", "0.75"], "by": "d", "noise": "joint"},
            "two by group, from a tree": {"column": "x", "share": ["0.25", "0.75"], "by": "c", "noise": "tree"},
            "two by group, by a root": {"column": "x", "share": ["0.25", "0.75"], "by": "c", "noise": "gaussian_root"},
            "a tenth, flipped": {"column": "x", "share": "0.1", "with_range": False, "noise": "permute_and_flip"},
        },
        example=Example({"column": "visits", "share": "0.75", "with_range": False}, others="alike"),
        broken_variants=("quarter",),
        covered="test_quantile_keeps_rank_promise_and_range_covers",
    )

    accepts: ClassVar[tuple[type[NoiseKind], ...]] = (ExponentialChoice, JointCuts, TreeCuts, RootCuts, PermuteAndFlip)

    column: str
    shares: tuple[Fraction, ...]
    with_range: bool = True

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = read_column(given, facts.schema.ordered)
        with_range = given.get("with_range", True)
        if not isinstance(with_range, bool):
            raise AllowanceError("query.switch", name=say("param.with_range.label"))
        return {"column": name, "shares": read_shares(given.get("share", "0.5")), "with_range": with_range}

    def __post_init__(self) -> None:
        if self.groups * len(self.shares) > MOST_ANSWERS and len(self.shares) > 1:
            raise AllowanceError("share.many_by_group", most=MOST_ANSWERS)
        if self.noise and self.noise not in self.ways:
            raise AllowanceError("query.noise", noises=list(self.ways))

    @property
    def ways(self) -> tuple[str, ...]:
        """The names of other noises that suit the question: joint or tree noise, or permute-and-flip for one point."""
        if self.speaks_of_all:
            return ()
        if len(self.shares) == 1 and not self.with_range:
            return (PermuteAndFlip.name,) if self.facts.schema[self.column].size <= MOST_FLIPPED else ()
        several = len(self.shares) > 1
        joint = (JointCuts.name,) if affordable(len(self.shares) if several else 3, self._values * self.groups) else ()
        small = self.facts.schema[self.column].size <= MOST_CELLS
        return joint + ((TreeCuts.name, RootCuts.name) if several and self.with_range and small else ())

    def with_noise(self, noise: str) -> Self:
        return super().with_noise(noise if noise in self.ways else "")

    @cached_property
    def way(self) -> JointCuts | TreeCuts | None:
        """The joint or tree noise that draws a group's points and ranges; None if each is drawn by itself."""
        kind = chosen(self.accepts, self.noise)
        if not issubclass(kind, JointCuts | TreeCuts):
            return None
        size, replaced = self.facts.schema[self.column].size, self.facts.relation == "replace"
        rows = self.facts.countable(self.where, self.column) if self.by is None else None
        rows_each, grouped = self.facts.unit.at_most, self.by is not None
        cuts = Cuts(size, self.shares, self.with_range, replaced, rows_each, self._values, grouped, rows)
        return kind(cuts, self.epsilon, self.beta / self.groups)

    @property
    def _choice(self) -> type[Choice]:
        """The mechanism of a draw of one point by itself."""
        kind = chosen(self.accepts, self.noise)
        return kind if issubclass(kind, Choice) else ExponentialChoice

    @property
    def _values(self) -> int:
        return self.facts.values_at_most(self.column)

    @property
    def wanted_places(self) -> tuple[Fraction, ...]:
        return self.shares

    def has_range(self) -> bool:
        return self.with_range

    def own_json(self) -> JsonObject:
        texts = [text_of(share) for share in self.shares]
        return {"column": self.column, "share": texts[0] if len(texts) == 1 else texts, "with_range": self.with_range}

    def sentence(self) -> str:
        code = "sentence.quantile" if len(self.shares) == 1 else "sentence.quantiles"
        percents = [plain(share * 100) for share in self.shares]
        return say(code, shares=percents, share=percents[0], column=self.column, who=self.whom())

    def labels(self) -> list[str]:
        return list(self._share_of) if len(self.shares) > 1 else super().labels()

    @cached_property
    def _share_of(self) -> dict[str, Fraction]:
        """The share of each part, by the part's stored name; group after group."""
        with stored():
            names = percents(self.shares)
        parts = names if self.by is None else combined([super().labels(), names])
        return dict(zip(parts, self.shares * self.groups, strict=True))

    def shown(self) -> dict[str, str]:
        if len(self.shares) == 1:
            return super().shown()
        names, known = percents(self.shares), super().shown()
        parts = names if self.by is None else of_groups([known.get(label, label) for label in super().labels()], names)
        return dict(zip(self.labels(), parts, strict=True))

    def headline_parts(self, parts: list[str]) -> list[str]:
        """By group, only the percentiles of the share nearest the median, so that a headline compares groups."""
        if self.by is None or len(self.shares) == 1 or not parts:
            return parts
        middle = min((self._share_of[part] for part in parts), key=lambda share: abs(share - Fraction(1, 2)))
        return [part for part in parts if self._share_of[part] == middle]

    def leftovers(self) -> list[str]:
        extra, several = set(super().leftovers()), len(self.shares)
        if several == 1 or not extra:
            return list(extra)
        places = [place for place, label in enumerate(super().labels()) if label in extra]
        return [self.labels()[place * several + rank] for place in places for rank in range(several)]

    @property
    def compared(self) -> bool:
        return self.by is not None and len(self.shares) == 1

    def need(self) -> Distribution | GroupDistributions:
        size = self.facts.schema[self.column].size
        if self.by is None:
            return Distribution(self.column, size, self.where)
        return GroupDistributions(self.column, size, self.by, self.groups, self.where)

    # The score, in integer points; a rank has `points` of them.

    def points(self, share: Fraction) -> int:
        return 1 if self.facts.relation == "replace" else share.denominator

    def _moves(self, share: Fraction) -> int:
        """Δ: how far one person can move a score."""
        u, v = share.numerator, share.denominator
        return (1 if self.facts.relation == "replace" else max(u, v - u)) * self.facts.unit.at_most

    def sensitivity(self) -> Sensitivity:
        if self.way:
            return self.way.sensitivity()
        aims = [self._aim(share, side)[0] for share in self.shares for side in self.sides]
        return Sensitivity("linf", max(map(self._moves, aims)))

    @property
    def sides(self) -> tuple[int, ...]:
        """What is drawn for a share: the point (0) and, with a range, its lower (−1) and upper (1) end."""
        return (0, -1, 1) if self.with_range else (0,)

    @property
    def each(self) -> Fraction:
        """The ε of one draw."""
        return self.for_each(self.epsilon) / (len(self.shares) * len(self.sides))

    def rate(self, share: Fraction) -> Fraction:
        return self.each / (2 * self._moves(share))

    @property
    def at_once(self) -> Fraction:
        """The β of one percentile of one group, so that all hold at once."""
        return self.beta / (len(self.shares) * self.groups)

    def shift(self, share: Fraction) -> int:
        """λ: how many ranks from the wanted one the ends of a range are drawn, in a table of the declared size. For a
        random sample, the sample's own error is included."""
        if self.way:
            return self.way.shift
        most = self.facts.about * self.facts.unit.at_most
        aims = [self._aim(share, side) for side in (-1, 1)]
        return max(ceiling(abs(aim - share) * most) + ranks for aim, ranks in aims)

    def _aim(self, share: Fraction, side: int) -> tuple[Fraction, int]:
        """The share that a draw aims at, and by how many ranks it aims farther out."""
        if not side:
            return share, 0
        aim, off, beta = share, 0, self.at_once / 2
        if self.speaks_of_all:
            beta /= 2
            if (people := self.facts.countable(self.where, self.column)) is not None and self.by is None:
                off = sampling.ranks_off(people, share, self.at_once / 2)
            else:
                some = self.facts.about // self.groups // (_OF_SOME if self.conditional else 1)
                far, off = sampling.ranks_by_line(max(some, 1), share if side < 0 else 1 - share, beta)
                aim += side * far
        size = self.facts.schema[self.column].size
        return aim, off + ceiling(Fraction(choice_gap(self.rate(aim), size + 1, beta), self.points(aim)))

    @cached_property
    def speaks_of_all(self) -> bool:
        """Is the range drawn wide enough to hold the percentile of the larger group too?"""
        return self.facts.sample and self.with_range and self.facts.unit.at_most == 1

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """The answer's own range: it was drawn for the larger group. The sample and the draws have half of β each."""
        return None if moved or not self.speaks_of_all or beta != self.beta else answer.as_json()["interval"]

    def blocks(self, value: Spread, share: Fraction, side: int = 0) -> Blocks:
        """All candidates of a draw. For an end (side −1 or 1) the rank moves outwards, and a sentinel is added."""
        size = self.facts.schema[self.column].size
        n, ranked = int(value.counts.sum()), Ranked.of(value, size)
        share, shift = (share, self.way.shift if side else 0) if self.way else self._aim(share, side)
        points = self.points(share)
        if side:
            ranked = ranked.with_sentinel(side, size, shift, n)
        if self.facts.relation == "replace":
            low = share.numerator * n // share.denominator
            high = -(-share.numerator * n // share.denominator)
        else:
            low = high = share.numerator * n
        aim = side * shift * points
        over, under = points * ranked.below - low - aim, high + aim - points * (ranked.below + ranked.at)
        return Blocks(ranked.firsts, ranked.sizes, np.maximum(over, under)).padded(2 * self._values + 2)

    def _draws(self, value: Spread | tuple[Spread, ...]) -> Iterator[tuple[Spread, Fraction, int]]:
        """For every single draw: the group's distribution, the share and the side."""
        for spread in self._spreads(value):
            for share in self.shares:
                for side in self.sides:
                    yield spread, share, side

    def _spreads(self, value: Spread | tuple[Spread, ...]) -> tuple[Spread, ...]:
        return value if isinstance(value, tuple) else (value,)

    def measured(self, value: Spread | tuple[Spread, ...]) -> tuple[int, ...]:
        if self.way:
            return tuple(number for spread in self._spreads(value) for number in self.way.measured(spread))
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
        if self.way:
            return self.way.loss()
        draws = len(self.shares) * len(self.sides)
        part = self._choice.loss(self.each)
        return self.of_groups(Together((part,) * draws) if draws > 1 else part)

    def promise(self) -> Rank:
        size = self.facts.schema[self.column].size
        gaps = [self._choice(self.rate(share)).gap(size, self.at_once) for share in self.shares]
        rows = max(Fraction(gap, self.points(share)) for gap, share in zip(gaps, self.shares, strict=True))
        rows = self.way.rows_off if self.way else rows
        floor = least_rank_error(self.epsilon, size, self.beta)
        guess = self.by is not None or self.facts.countable(self.where, self.column) is None
        return Rank(rows, rows * self.groups / self.planned_size, self.beta, floor, nominal=guess)

    def expected(self) -> Fraction | float:
        """For several points without ranges the mean rank error: a joint draw comes nearer than its promise says."""
        if self.with_range or len(self.shares) == 1:
            return super().expected()
        if isinstance(self.way, JointCuts):
            return self.way.expected_off
        return sum(1 / float(self.rate(share) * self.points(share)) for share in self.shares) / len(self.shares)

    def mute(self, interval: Json, part: str = "") -> bool:
        """Does the range cover nearly the whole grid, or do its ends lie at ranks beyond all people? Without a range:
        may the rank be nearly anywhere?"""
        share = self._share_of[part] if part and len(self.shares) > 1 else self.shares[0]
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

    def draw(self, value: Spread | tuple[Spread, ...], coins: Coins) -> Drawn:
        if self.way:
            return tuple(part for spread in self._spreads(value) for part in self.way.draw(spread, coins))
        codes = []
        for spread, share, side in self._draws(value):
            blocks = self.blocks(spread, share, side)
            rate = self.rate(self._aim(share, side)[0])
            block, offset = self._choice(rate).draw(blocks.gaps, blocks.sizes, coins, self._most(share))
            codes.append(int(blocks.firsts[block]) + offset)
        return tuple(codes)

    def _most(self, share: Fraction) -> int | None:
        """A public bound on how far gaps differ, if the number of rows has one: they reach as far below 0 as above."""
        if self.facts.people is None:
            return None
        return 2 * (self.facts.people * self.facts.unit.at_most + (self.shift(share) if self.with_range else 0))

    def law(self, value: Spread | tuple[Spread, ...]) -> Independent | None:
        if self.way:
            laws = [self.way.law(spread) for spread in self._spreads(value)]
            return None if None in laws else Independent(tuple(part for law in laws if law for part in law))
        return Independent(
            tuple(
                self._choice(self.rate(self._aim(share, side)[0])).law(self._gap_by_code(spread, share, side))
                for spread, share, side in self._draws(value)
            )
        )

    def _by_share(self, raw: Drawn) -> list[Codes]:
        """For every percentile (point,), or with ranges (point, lower end, upper end), as codes."""
        if self.way:
            width = self.way.width
            parts = (raw[first : first + width] for first in range(0, len(raw), width))
            return [codes for part in parts for codes in self.way.triples(part)]
        width = len(self.sides)
        return [raw[first : first + width] for first in range(0, len(raw), width)]

    def finish(self, raw: Drawn) -> Released:
        """Sorts the percentiles of a group. A range is widened to contain its three draws, which keeps its promise; a
        sentinel becomes the declared bound."""
        column = self.facts.schema.ordered(self.column)
        held = ([min(max(code, 0), column.size - 1) for code in codes] for codes in self._by_share(raw))
        triples = [(codes[0], min(codes), max(codes)) for codes in held]
        answers: list[Ends] = []
        for codes in in_order(triples, len(self.shares)):
            point, low, high = map(column.value, codes)
            answers.append((point, (low, high) if self.with_range else None))
        if len(answers) == 1:
            return Released(*answers[0])
        released = self.by_label(answers)
        return released if self.with_range else Released(released.value)
