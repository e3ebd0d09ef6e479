"""Several cuts of one ordered column in one draw of the exponential mechanism, with the best division of tied rows.

Cuts        k grid points o_1 ≤ … ≤ o_k. Below a point lie F rows, at it E; a cut there may stand anywhere in its rows,
            at any place x of [F, F+E]. Wished are the places τ_1 ≤ … ≤ τ_k of 0 … T.
Cost        the least Σ_j |(x_j − x_(j−1)) − (τ_j − τ_(j−1))| over the places, j = 1 … k+1, with x_0 = τ_0 = 0 and
            x_(k+1) = τ_(k+1) = T: the number of rows that the k+1 gaps are off by, for the best division of every
            value's rows. With e_j = x_j − τ_j it is the length of the way from e_0 = 0 past all e_j back to 0. The
            shortest way stays where it is while the point allows it, else goes to its nearer end: x_j is
            x_(j−1) + τ_j − τ_(j−1), moved into [F, F+E]. (The cost still to pay falls by at most d if e_j moves by d,
            so moving sooner never helps.) A place is off by at most half of the cost: the way goes there and back. Some
            cuts cost 0.
Depth       where every wished place is strictly inside a point's rows only one sequence costs 0, the right one. It then
            costs −2d, d the least distance of a place from the ends of its point's rows.
Draw        cuts with chance ∝ e^(−rate·cost). Points without rows come in runs of equal cost: c cuts in a run of s
            points are C(s+c−1, c) sequences.
Sums        what can still follow depends on the state of the way: at an end of the last point's rows, or still on the
            level of an earlier end (or of 0), with nothing paid since. So lnZ, the logarithm of all weights that can
            follow, is one number for every end, cut and last paying cut: in all, linear in the points with rows.
            Weights of whole stretches of points are sums over dyadic stretches.
Exactness   lnZ is computed in floats, and only proposes: we draw the cuts one after the other with integer weights near
            the true ones, so that the chance P of a proposal is an exact fraction. We keep it with chance
            e^(−rate·cost)/(P·M), decided exactly, M at least every such quotient: then kept proposals have the law
            above, whatever the floats. Each float logarithm is off by at most the `error` of `_room`, because a
            logarithm of a sum is off no more than its parts and one rounding; M leaves room for all of them. A second
            proposal is rare. With a depth all weights are divided by e^(2·rate·d), and the right cuts are proposed in
            two ways: as above, and by themselves for what they weigh more, 1 − e^(−2·rate·d). A fraction near its part
            of the sum of all weights decides how often, and each way is kept with chance weight/(chance of proposal·M).
Work        the same array work on every table with the same number of blocks, whatever is proposed, and one exact
            comparison. A second proposal has a chance of about 4·`_room`, which depends on the number of rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpengine.core.types import Floats, Integers
from dpengine.noise.coins import Coins

_ROOM = 2.0**60  # the integer weights of one cut add up to about this
_BITS = 64
_LARGEST_MOST = 1100  # bits of M, a float
_ALONE = 1 << 60  # `_Plan.alone` counts parts of this
_MARGIN = 2.0**-40  # far above the relative error of an exponential in floats
_ROUNDING = 2.0**-51  # above the relative error of a few float operations


@dataclass(frozen=True)
class Ordered:
    """Points of a grid in order: runs of points without rows, and between them single points with rows (`held`, one
    fewer than runs). A size of 0 leaves a run or a point out. Rows may be in any unit."""

    runs: Integers
    held: Integers  # 1 or 0
    rows: Integers

    @property
    def sizes(self) -> Integers:
        sizes = np.empty(2 * len(self.held) + 1, dtype=np.int64)
        sizes[0::2], sizes[1::2] = self.runs, self.held
        return sizes

    @property
    def ends(self) -> Integers:
        """F, the number of rows up to a place: before the first point with rows, between them, and after the last."""
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.rows)))


def cost_of(places: Sequence[tuple[int, int]], wished: Sequence[int]) -> int:
    """The cost of cuts; each cut's point is given as (F, F+E)."""
    off = paid = 0
    for (low, high), wish in zip(places, wished, strict=True):
        moved = min(max(off + wish, low), high) - wish
        paid, off = paid + abs(moved - off), moved
    return paid + abs(off)


def depth_of(places: Sequence[tuple[int, int]], wished: Sequence[int]) -> int:
    """2d, by which these cuts cost less than 0, or 0 if they do not; each cut's point is given as (F, F+E)."""
    least = min(min(wish - low, high - wish) for (low, high), wish in zip(places, wished, strict=True))
    return 2 * max(least, 0)


def draw(points: Ordered, wished: Sequence[int], rate: Fraction, coins: Coins) -> list[tuple[int, int]]:
    """Draw the cuts, each as (block, place in the block). The blocks are run, point, run, …, run."""
    layout = _Layout(points, wished, rate)
    right, depth = layout.right()
    plan = _Plan.of(layout.most, rate * depth)
    width = _BITS * (len(wished) + 2) + _LARGEST_MOST
    while True:
        alone = coins.below(_ALONE, _BITS) < plan.alone
        proposed = layout.propose(coins)
        cost, ways = layout.weigh(proposed.blocks)
        most = plan.most * Fraction(plan.alone if alone else _ALONE - plan.alone, _ALONE)
        whole = most.numerator if alone else proposed.weight * most.numerator
        height = coins.below(whole, width)
        if alone and _above(height, most.denominator, rate * depth, coins):
            return _spread_out(right, points.sizes, coins)
        if not alone and coins.under(height, ways * proposed.of * most.denominator, rate * (cost + depth)):
            return _spread_out(proposed.blocks, points.sizes, coins)


def _above(height: int, size: int, exponent: Fraction, coins: Coins) -> bool:
    """Is height + U < size·(1 − e^(−exponent)), for U uniform in [0, 1)? Equally: is size − height − U above
    size·e^(−exponent)?"""
    return height < size and not coins.under(size - 1 - height, size, exponent)


@dataclass(frozen=True)
class _Plan:
    """`alone`: how often the right cuts are proposed by themselves, in parts of _ALONE. `most`: M."""

    alone: int
    most: Fraction

    @classmethod
    def of(cls, most: Fraction, deeper: Fraction) -> _Plan:
        """`most` is the M of proposals without depth; `deeper` is rate times depth. If it is 0, the right cuts are
        hardly ever proposed by themselves, and never kept then."""
        part = math.exp(-float(deeper))
        others, more = most * Fraction(max(part * (1 + _MARGIN), 2.0**-900)), Fraction(-math.expm1(-float(deeper)))
        more *= Fraction(1 + _MARGIN)
        alone = min(max(int(_ALONE * more / (others + more)), 1), _ALONE - 1)
        least = max(others * Fraction(_ALONE, _ALONE - alone), more * Fraction(_ALONE, alone))
        return cls(alone, Fraction(float(least) * (1 + _MARGIN)))


def _spread_out(blocks: list[int], sizes: Integers, coins: Coins) -> list[tuple[int, int]]:
    """The drawn cuts as (block, place in the block), rising. In a run of s points with c cuts, c points with
    repetition: c different ones of s+c−1 (Floyd's method), less how many cuts of the run come before each."""
    chosen: set[tuple[int, int]] = set()
    for block, before in _counted(blocks):
        most = int(sizes[block]) + before - 1
        place = coins.below(most + 1, 2 * _BITS)
        chosen.add((block, most if (block, place) in chosen else place))
    points = sorted(chosen)
    return [(block, place - before) for (_, before), (block, place) in zip(_counted(blocks), points, strict=True)]


def _counted(blocks: list[int]) -> list[tuple[int, int]]:
    """Each block, with the number of equal blocks before it."""
    return [(block, place - blocks.index(block)) for place, block in enumerate(blocks)]


@dataclass(frozen=True)
class _Proposed:
    """A block for every cut, proposed with chance weight/of."""

    blocks: list[int]
    weight: int
    of: int


class _Stretches:
    """Logarithms of sums over stretches [first, end) of an array of logarithms, without subtraction."""

    def __init__(self, logarithms: Floats) -> None:
        self.levels = [logarithms]
        while len(self.levels[-1]) > 1:
            last = self.levels[-1]
            last = np.append(last, -np.inf) if len(last) % 2 else last
            self.levels.append(np.logaddexp(last[0::2], last[1::2]))

    def sums(self, first: Integers, end: Integers) -> Floats:
        first, end = np.minimum(first, end), end.copy()
        sums = np.full(len(first), -np.inf)
        for level in self.levels:
            for odd, side in ((first % 2 == 1, first), (end % 2 == 1, end - 1)):
                parts = np.where(odd & (first < end), level.take(side, mode="clip"), -np.inf)
                sums = np.logaddexp(sums, parts)
            first, end = (first + 1) // 2, end // 2
        return sums


class _Layout:
    """lnZ for all states of a way, and proposals from it.

    `low[i]` and `high[i]` are lnZ after cut i at the lower or upper end of each block's rows; `stayed[i][j]` after cut
    i on the level of each of `ends` at cut j < i (j = −1: on the level 0); `again[i][c]` after the c-th cut in the same
    run.
    """

    def __init__(self, points: Ordered, wished: Sequence[int], rate: Fraction) -> None:
        self.wished, self.rate = [int(wish) for wish in wished], float(rate)
        self.sizes, ends = points.sizes, points.ends
        self.ends = ends
        blocks = np.arange(len(self.sizes))
        self.run = blocks % 2 == 0
        self.lows, self.highs = ends[blocks // 2], ends[(blocks + 1) // 2]
        with np.errstate(divide="ignore"):
            self.ln_sizes = np.log(self.sizes.astype(np.float64))
        self._sum_up()
        total = int(ends[-1])
        self.most = Fraction(math.exp(self.start)) * (1 + Fraction(4 * self._room(total)))

    def _room(self, total: int) -> float:
        """A bound on the relative error of Z and of the product of all proposed chances together. Each chance counts
        the error of a logarithm twice, Z once; rounding to integer weights is added."""
        cuts, deep = len(self.wished), len(self.sizes).bit_length()
        largest = self.rate * 4 * (cuts + 2) * (total + 1) + cuts * 64.0
        error = cuts * (2 * deep + 16) * _ROUNDING * largest
        return (2 * cuts + 1) * error + cuts * len(self.sizes) ** 2 / (_ROOM / 4)

    def _sum_up(self) -> None:
        cuts = len(self.wished)
        origins = [np.zeros(1, dtype=np.int64)] + [self.ends] * cuts  # of level 0, and of each cut
        levels = [origins[0]] + [self.ends - wish for wish in self.wished]
        self.low: list[Floats] = [np.empty(0)] * cuts
        self.high: list[Floats] = [np.empty(0)] * cuts
        self.again: list[dict[int, Floats]] = [{} for _ in range(cuts)]
        self.stayed: list[dict[int, Floats]] = [{} for _ in range(cuts)]
        last, wish = cuts - 1, self.wished[-1]
        self.low[last] = -self.rate * np.abs(self.lows - wish)
        self.high[last] = -self.rate * np.abs(self.highs - wish)
        self.again[last] = dict.fromkeys(range(1, cuts + 1), self.low[last])
        self.stayed[last] = {since: -self.rate * np.abs(levels[since + 1]) for since in range(-1, last)}
        blocks = np.arange(len(self.sizes))
        later = np.where(self.run, blocks + 1, blocks)  # the first block that may come next; the run itself: `again`
        for cut in range(last - 1, -1, -1):
            step = self.wished[cut + 1] - self.wished[cut]
            follow = _Follow(self, cut + 1)
            at = (blocks // 2, (blocks + 1) // 2)
            child = self.stayed[cut + 1][cut]
            self.low[cut] = follow.sums(self.lows + step, later, child[at[0]])
            rest = follow.sums(self.highs + step, later, child[at[1]])
            for many in range(1, cut + 2):
                with np.errstate(divide="ignore"):
                    more = np.log(((self.sizes + many) / (many + 1)) * (self.sizes > 0))
                once_more = more - self.rate * step + self.again[cut + 1][many + 1]
                self.again[cut][many] = np.where(self.run, np.logaddexp(rest, once_more), rest)
            self.high[cut] = self.again[cut][1]
            self.low[cut] = np.where(self.run, self.high[cut], self.low[cut])
            for since in range(-1, cut):
                level, going_on = levels[since + 1], self.stayed[cut + 1][since]
                where = level + self.wished[cut]
                inside = np.searchsorted(self.highs, where, side="right")  # the block that holds it, or nothing does
                self.stayed[cut][since] = follow.sums(where + step, inside, going_on)
        first = np.array([self.wished[0]])
        self.start = float(_Follow(self, 0).sums(first, np.zeros(1, dtype=np.int64), self.stayed[0][-1])[0])

    def options(self, cut: int, place: int, first: int, stay: float) -> Floats:
        """The logarithm of each block's weight as the next cut, if the way goes on from `place`."""
        left, right = self.split(np.array([place]))
        down = self.high[cut] - self.rate * (place - self.highs)
        up = self.low[cut] - self.rate * (self.lows - place)
        numbers = np.arange(len(self.sizes))
        weights = np.where(numbers < left, down, np.where(numbers < right, stay, up))
        return np.where(numbers < first, -np.inf, weights + self.ln_sizes)

    def split(self, places: Integers) -> tuple[Integers, Integers]:
        """For each place two numbers of blocks: blocks before the first number lie at or below the place, blocks from
        the second on lie above it. At most one block, between the two, holds the place inside its rows."""
        left = np.searchsorted(self.highs, places, side="right")
        return left, np.maximum(left, np.searchsorted(self.lows, places, side="left"))

    def right(self) -> tuple[list[int], int]:
        """The blocks of the only cuts that cost less than 0, and by how much; an empty list and 0 if there are no such
        cuts."""
        blocks = [int(np.searchsorted(self.highs, wish, side="right")) for wish in self.wished]
        last = len(self.sizes) - 1
        places = [(int(self.lows[min(block, last)]), int(self.highs[min(block, last)])) for block in blocks]
        depth = depth_of(places, self.wished)
        return (blocks if depth else []), depth

    def propose(self, coins: Coins) -> _Proposed:
        blocks: list[int] = []
        weight = of = 1
        off, since, origin, many = 0, -1, 0, 0
        for cut, wish in enumerate(self.wished):
            first = blocks[-1] if blocks else 0
            place = off + wish
            weights = self.options(cut, place, first, float(self.stayed[cut][since][origin]))
            step = place - int(self.highs[first])
            ways = math.log((int(self.sizes[first]) + many) / (many + 1) or 1)
            more = ways - self.rate * step + float(self.again[cut][many + 1][first])
            if many:  # the last cut is in a run: one more in it has fewer ways
                weights[first] = more
            block, chosen, total = _pick(weights, coins)
            weight, of = weight * chosen, of * total
            many = 0 if block % 2 else (many if blocks and block == first else 0) + 1
            low, high = int(self.lows[block]), int(self.highs[block])
            if not low < place < high:
                since, origin = cut, (block + 1) // 2 if high <= place else block // 2
                off = (high if high <= place else low) - wish
            blocks.append(block)
        return _Proposed(blocks, weight, of)

    def weigh(self, blocks: list[int]) -> tuple[int, int]:
        """The cost of these cuts, and the number of ways to place them in their blocks."""
        counted = _counted(blocks)
        ways = math.prod(int(self.sizes[block]) + before for block, before in counted)
        ways //= math.prod(before + 1 for _, before in counted)
        return cost_of([(int(self.lows[block]), int(self.highs[block])) for block in blocks], self.wished), ways


class _Follow:
    """The summed weights, as logarithms, of all blocks that may hold the cut with the number `cut`."""

    def __init__(self, layout: _Layout, cut: int) -> None:
        self.layout = layout
        below = layout.ln_sizes + layout.high[cut] + layout.rate * layout.highs
        above = layout.ln_sizes + layout.low[cut] - layout.rate * layout.lows
        self.below, self.above = _Stretches(below), _Stretches(above)

    def sums(self, places: Integers, first: Integers, stay: Floats) -> Floats:
        """For ways that go on from each of `places`: the sum over all blocks from `first` on. `stay` is lnZ where the
        block holds the place, so that the way need not move."""
        layout = self.layout
        left, right = layout.split(places)
        down = self.below.sums(first, left) - layout.rate * places
        up = self.above.sums(right, np.full(len(right), len(layout.sizes))) + layout.rate * places
        inside = np.where(right > left, stay + layout.ln_sizes[np.minimum(left, len(layout.sizes) - 1)], -np.inf)
        return np.logaddexp(np.logaddexp(down, up), inside)


def _pick(weights: Floats, coins: Coins) -> tuple[int, int, int]:
    """A place, drawn with chance ∝ integer weights, each at least its share of _ROOM. Returns the place, its weight and
    the sum of all weights."""
    there = weights > -np.inf
    steps = (np.exp(weights - weights.max()) * (_ROOM / len(weights))).astype(np.int64) + there
    edges = np.cumsum(steps)
    total = int(edges[-1])
    place = int(np.searchsorted(edges, np.int64(coins.below(total, 2 * _BITS)), side="right"))
    return place, int(steps[place]), total


def listed(places: Sequence[tuple[int, int]], wished: Sequence[int]) -> dict[tuple[int, ...], int]:
    """The cost of every rising sequence of points, by the points' numbers; below 0 for a sequence with depth. Only for
    small grids."""
    choices: dict[tuple[int, ...], int] = {(): 0}
    for _ in wished:
        choices = {(*cuts, point): 0 for cuts in choices for point in range(cuts[-1] if cuts else 0, len(places))}
    held = {cuts: [places[point] for point in cuts] for cuts in choices}
    return {cuts: cost_of(own, wished) - depth_of(own, wished) for cuts, own in held.items()}
