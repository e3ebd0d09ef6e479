"""Several percentiles, or one with its range, as cuts of one column in one draw: the “joint” noise of `quantile`.

Guarantee   ε-DP, in ε-bounded-range parts.
Theorem     exponential mechanism (McSherry and Talwar 2007, Thm 6) over rising sequences of cuts, scored as in JointExp
            (Gillenwater, Joseph, Kulesza 2021), but with the best division of the rows of one value.
Statistic   for cuts o_1 ≤ … ≤ o_k wished at the ranks α_j·n the score is −C, C the number of rows that the k+1 gaps are
            off by in all (`noise.joint_choice`: the places of the cuts inside their own rows are those with the least
            C). In parts of a row, V to a row, V the least common denominator of the shares, C is an integer.
Sensitivity a place x_j inside the rows of its cut stays possible when it moves as the rows before it do. One row moved
            to another value takes the places from its old value to its new one by one row, and those in the rows of an
            end by a part of it that rises or falls with j: the way past all e_j gets longer by 2 at most, Δ = 2V. One
            row more adds 1 to one gap, or parts of 1 to several, and takes g_j = α_j − α_(j−1) from each: 2(1−g_j) at
            most, Δ = 2V(1 − min g_j), the two end gaps included. Rows that are missing or filtered out leave or enter
            as under add/remove. A unit of at most m rows: m times.
Depth       where every wished place is inside the rows of a point, d the least distance from their ends, the only cuts
            with C = 0 get C = −2d instead. That is as sensitive. If all places stay inside: a replaced row moves an end
            by one row and 2d by 2; a row more moves an end against its place by α_j or 1−α_j at most, which is at most
            1 − min g. If some place is outside before and after: C is as above. In between: let the row move bit by
            bit; where d reaches 0, C is 0 too, and both parts of the way are covered. It never hurts: the right cuts
            gain weight, the others keep theirs.
Draw        cuts with chance ∝ exp(−ε·C/(2Δ)), exactly.
Range       made-up rows outside the grid (“sentinels”), λ on each side, are rows like any other, the same in every
            table. Of one percentile: three cuts in one draw, at the ranks αn, αn+λ and αn+2λ of that longer table (two
            gaps of λ, with g = 0): the lower end, the point, the upper end. Of several: three draws at ε/3 each, of all
            points, of all lower ends (sentinels below) and of all upper ends (sentinels above).
Accuracy    some cuts cost 0 or less, so C ≤ c = ⌈(2Δ/ε)·ln(N/β)⌉ − 1 with probability ≥ 1−β, N = C(|R|+k−1, k) the
            number of sequences. Every rank is off by half of C at most: all are within c/(2V) rows at once. λ is that,
            rounded up, so that the ends lie on their sides of a true percentile; of several with β/2 for each of the
            two draws.
Cost        one grouped scan; a draw takes work that is linear in a public bound on the distinct values, times k².
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import comb, lcm, pi, sqrt
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Exponential, Loss, Together
from dpengine.core.exact import ceiling
from dpengine.core.types import Integers
from dpengine.mechanisms.noise import NoiseKind
from dpengine.mechanisms.query import Sensitivity
from dpengine.noise import joint_choice
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, weighted
from dpengine.noise.tails import choice_gap
from dpengine.statistics.need import Spread

MOST_LISTED = 50_000
MOST_WORK = 2 * 10**7  # sums of one draw: two for every distinct value and pair of cuts

Codes = tuple[int, ...]


@dataclass(frozen=True)
class Chain:
    """The cuts of one draw: for each the share of rows wanted below it, and how many ranks made-up rows move it up."""

    cuts: tuple[tuple[Fraction, int], ...]
    below: int = 0  # made-up rows under the grid
    above: int = 0


@dataclass(frozen=True)
class Cuts:
    """The public facts of a question about a column; `values` bounds the number of different values in a group."""

    size: int
    shares: tuple[Fraction, ...]
    ranged: bool
    replaced: bool
    rows_each: int
    values: int
    grouped: bool
    rows: int | None  # the number of rows, if it is public

    @property
    def alone(self) -> bool:
        return len(self.shares) == 1


def affordable(cuts: int, values: int) -> bool:
    return values * cuts * (cuts + 4) <= MOST_WORK


@dataclass(frozen=True)
class JointCuts(NoiseKind):
    """The joint noise of `quantile`. `epsilon` is for all groups together, `beta` for one group."""

    name: ClassVar[str] = "joint"

    asked: Cuts
    epsilon: Fraction
    beta: Fraction

    @property
    def parts(self) -> int:
        """V: the score counts parts of a row, V to a row."""
        return lcm(*(share.denominator for share in self.asked.shares))

    @property
    def moves(self) -> int:
        """Δ: how far one person can move a score."""
        ends = [Fraction(0), *self.asked.shares, Fraction(1)]
        least = min(after - before for before, after in pairwise(ends))
        if self.asked.replaced or (self.asked.ranged and self.asked.alone):
            least = Fraction(0)
        return int(2 * self.parts * (1 - least)) * self.asked.rows_each

    @property
    def width(self) -> int:
        """The number of draws: one, or three for several shares with ranges (all points, all lower, all upper ends)."""
        return 3 if self.asked.ranged and not self.asked.alone else 1

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.moves)

    def measured(self, value: Spread) -> tuple[int, ...]:
        """The scores of all cuts; only for small grids."""
        return tuple(-cost for chain in self.chains for cost in self.costs(value, chain).values())

    @property
    def rate(self) -> Fraction:
        return self.each / (2 * self.moves)

    @property
    def times(self) -> int:
        """How many draws one person may change: those of one group, or under replace-one of two groups."""
        return self.width * (2 if self.asked.grouped and self.asked.replaced else 1)

    @property
    def each(self) -> Fraction:
        """The ε of one draw."""
        return self.epsilon / self.times

    def off(self, sentinels: int, beta: Fraction) -> Fraction:
        """How far the ranks of all cuts of one draw can be off at once, except with chance β."""
        cuts = 3 if self.asked.ranged and self.asked.alone else len(self.asked.shares)
        sequences = comb(self.asked.size + sentinels + cuts - 1, cuts)
        return Fraction(choice_gap(self.rate, sequences, beta), 2 * self.parts)

    @property
    def rows_off(self) -> Fraction:
        """`off` for the points alone."""
        return self.off(2 if self.asked.ranged and self.asked.alone else 0, self.beta)

    @property
    def expected_off(self) -> float:
        """About how far a rank is off on average, on a column of many values; for planning only. It is the middle of
        two cases. Near the wished places a single cut is off, and each row on its way there and back weighs e^(−2r).
        Far from them the k+1 gaps have Laplace errors of scale 1/r that add up to 0."""
        ends, rate = len(self.asked.shares) + 1, float(self.rate * self.parts)
        spreads = [sqrt(2 * place * (ends - place) / ends) for place in range(1, ends)]
        return (0.5 + sqrt(2 / pi) * sum(spreads) / len(spreads)) / (2 * rate)

    @cached_property
    def shift(self) -> int:
        """λ: the number of made-up rows on each side."""
        if not self.asked.ranged:
            return 0
        return ceiling(self.off(2, self.beta) if self.asked.alone else self.off(1, self.beta / 2))

    @property
    def chains(self) -> tuple[Chain, ...]:
        points = tuple((share, 0) for share in self.asked.shares)
        if not self.asked.ranged:
            return (Chain(points),)
        away = self.shift
        if self.asked.alone:
            share = self.asked.shares[0]
            return (Chain(((share, 0), (share, away), (share, 2 * away)), away, away),)
        upper = tuple((share, away) for share in self.asked.shares)
        return Chain(points), Chain(points, below=away), Chain(upper, above=away)

    def loss(self) -> Loss:
        part: Loss = Exponential(self.each)
        return Together((part,) * self.times) if self.times > 1 else part

    def _wished(self, chain: Chain, rows: int) -> list[int]:
        return [int(share * self.parts) * rows + more * self.parts for share, more in chain.cuts]

    def _with_sentinels(self, value: Spread, chain: Chain) -> tuple[Integers, Integers]:
        """The values that rows hold, and their rows in parts (`parts`); −1 and `size` are the sentinels."""
        codes, rows = value.codes, value.counts * self.parts
        if chain.below:
            codes, rows = np.append(-1, codes), np.append(chain.below * self.parts, rows)
        if chain.above:
            codes, rows = np.append(codes, self.asked.size), np.append(rows, chain.above * self.parts)
        return codes.astype(np.int64), rows.astype(np.int64)

    def _edges(self, chain: Chain) -> tuple[int, int]:
        """The first candidate for a cut, and the end after the last one."""
        return (-1 if chain.below else 0), self.asked.size + (1 if chain.above else 0)

    def draw(self, value: Spread, coins: Coins) -> tuple[Codes, ...]:
        """The cuts of every chain, in order."""
        return tuple(self._drawn(value, chain, coins) for chain in self.chains)

    def _drawn(self, value: Spread, chain: Chain, coins: Coins) -> Codes:
        codes, rows = self._with_sentinels(value, chain)
        first, end = self._edges(chain)
        edges = np.concatenate(([first - 1], codes, [end]))
        # Empty values at the end, so that the running time does not reveal how many occur.
        room = np.zeros(max(self.asked.values + 2 - len(codes), 0), dtype=np.int64)
        held = np.ones(len(codes), dtype=np.int64)
        points = joint_choice.Ordered(*(np.append(column, room) for column in (np.diff(edges) - 1, held, rows)))
        starts = np.empty(2 * len(codes) + 1, dtype=np.int64)
        starts[0::2], starts[1::2] = edges[:-1] + 1, codes
        wished = self._wished(chain, int(value.counts.sum()))
        return tuple(int(starts[block]) + place for block, place in joint_choice.draw(points, wished, self.rate, coins))

    def costs(self, value: Spread, chain: Chain) -> dict[Codes, int]:
        """The cost of every rising sequence of cuts; only for small grids."""
        codes, rows = self._with_sentinels(value, chain)
        held = dict(zip(codes.tolist(), rows.tolist(), strict=True))
        first, end = self._edges(chain)
        places, below = [], 0
        for code in range(first, end):
            places.append((below, below + held.get(code, 0)))
            below += held.get(code, 0)
        listed = joint_choice.listed(places, self._wished(chain, int(value.counts.sum())))
        return {tuple(first + point for point in cuts): cost for cuts, cost in listed.items()}

    def law(self, value: Spread) -> tuple[Finite, ...] | None:
        """The law of every chain; None if there are too many sequences to list."""
        if any(comb(self.asked.size + 1 + len(chain.cuts), len(chain.cuts)) > MOST_LISTED for chain in self.chains):
            return None
        return tuple(weighted(self.costs(value, chain), self.rate) for chain in self.chains)

    def triples(self, drawn: tuple[Codes, ...]) -> list[Codes]:
        """For every share (point,), or with ranges (point, lower end, upper end)."""
        if not self.asked.ranged:
            return [(code,) for code in drawn[0]]
        if self.asked.alone:
            low, point, high = drawn[0]
            return [(point, low, high)]
        return list(zip(*drawn, strict=True))
