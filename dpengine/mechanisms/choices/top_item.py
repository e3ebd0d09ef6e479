"""Which value of a list is the most common, or the several most common in order.

Guarantee   ε-DP, and with the usual noise ε-bounded range.
Theorem     exponential mechanism: McSherry and Talwar 2007, Thm 6; utility Thm 7. Or permute-and-flip: McKenna and
            Sheldon 2020, Thm 2; never farther from the best, but its Rényi loss is that of any ε-DP mechanism.
Statistic   q(r) = number of rows with value r; Δq = m under both relations. Under add/remove all scores move one
            way (monotone), so the factor 2 is not needed: rate ε/m; under replace-one ε/(2m). For a column of sets q(r)
            = number of people who hold r, in one of their rows that meet the condition: every person moves each
            score by one at most, whatever the size of the sets and the number of rows, so Δq = 1.
Draw        r with probability ∝ exp(rate·q(r)), exactly, over the public list; rows without an answer do not compete.
            Permute-and-flip: in a random order the first whose coin, with chance exp(−rate·(best − q(r))), comes up.
Accuracy    q(chosen) ≥ best − g with probability ≥ 1−β, g = ⌈ln((|R|−1)(1−β)/β)/rate⌉ − 1, and on the worst table no
            less; for permute-and-flip as exactly (noise/tails.py).
Several     k items in order by peeling: each draw costs ε/k and the chosen one no longer competes. Without an order,
            all may be drawn at once (“joint_set”, below), or are peeled and sorted by name.
Cost        one scan and k draws over |R| candidates.

The k most common values as a set, in one draw (“joint_set”)

Guarantee   ε-DP, and ε-bounded range.
Theorem     exponential mechanism (McSherry and Talwar 2007, Thm 6) over all sets of k candidates. (A joint draw over
            sequences, Gillenwater, Joseph, Muñoz Medina, Ribero 2022, promises that the i-th named is near the i-th
            largest. A value that it leaves out may still be ahead of a named one by k times as much: if counts fall by
            g from one to the next, and all but the largest are named, every rank is off by g.)
Statistic   the score of a set is its least count less the largest count outside it: its lead over what it leaves out.
            Under add/remove all counts move one way, by at most m, and so do both ends: Δ = m. Under replace-one the
            least in it may fall by m while the largest outside rises by m: Δ = 2m.
Draw        a set with chance ∝ exp(ε·score/(2Δ)), exactly.
Blocks      let c_1 ≥ … ≥ c_d be the counts in order. A set other than the first k leaves out a first place u ≤ k and
            has a last place l > k: it holds all places before u, none after l, and k−u of the l−u−1 between them, so
            there are C(l−u−1, k−u) such sets, all of score c_l − c_u. Their number is public, whatever the counts.
Accuracy    the best set has a score of at least 0, so with probability ≥ 1−β no value left out is ahead of a named one
            by more than g = ⌈(2Δ/ε)·ln((N−1)(1−β)/β)⌉ − 1, N = C(d, k) the number of sets.
Cost        k·(d−k) + 1 blocks; allowed if N is below 2^62.

The k most common values in order, in one draw (“joint_order”)

Guarantee   ε-DP, and ε-bounded range.
Theorem     exponential mechanism (McSherry and Talwar 2007, Thm 6) over all sequences of k candidates, as Gillenwater,
            Joseph, Muñoz Medina, Ribero 2022 score them.
Statistic   the cost of a sequence s is the largest of c_(i) − c(s_i), i = 1 … k, with c_(i) the i-th largest count: how
            far the i-th named is behind the i-th most common. It is 0 at least, for i = 1. Under add/remove all counts
            move one way, by at most m, and so does every c_(i): Δ = m. Under replace-one a c_(i) may rise by m while
            c(s_i) falls by m: Δ = 2m.
Draw        a sequence with chance ∝ exp(−ε·cost/(2Δ)), exactly.
Blocks      n_i(t) values have a count of at least c_(i) − t, and n_1 ≤ n_2 ≤ …, each set in the next. So there are
            N(t) = Π (n_i(t) − i + 1) sequences of cost at most t, and as cost is one of the k·d differences
            c_(i) − c(r), blocks of equal cost follow. If i is the first rank that is off by exactly t, the ranks before
            it are off by less and hold other values than those at c_(i) − t, the ranks after it by at most t.
Accuracy    with probability ≥ 1−β every rank is off by at most g = ⌈(2Δ/ε)·ln((N−1)(1−β)/β)⌉ − 1, N = d!/(d−k)!. That
            says less of values left out than peeling does (above), but draws come nearer: which of the two is taken is
            decided by the mean of this cost on a made-up table, from public facts (`rehearsed`).
Cost        k·d blocks, each with k factors; allowed if N is below 2^62.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from math import comb, perm, prod
from typing import ClassVar, Self

import numpy as np

from dpengine.accountant.loss import Exponential, Loss, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_whole
from dpengine.core.types import Figures, Floats, Integers, Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref
from dpengine.declared.read_group import read_ref
from dpengine.declared.schema import Category, ItemSet
from dpengine.mechanisms import sampling
from dpengine.mechanisms.answer_state import APART, LIKELY, REST, state_of_first
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.noise import Choice, ExponentialChoice, NoiseKind, PermuteAndFlip, chosen
from dpengine.mechanisms.promises import NearBest
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, weighted
from dpengine.noise.tails import choice_behind, least_choice_gap
from dpengine.statistics.counts import BinCounts, CellCounts, ItemCounts

MOST_SETS = 2**61
MOST_BLOCKS = 10**6


def countable(candidates: int, named: int) -> bool:
    return named * (candidates - named) < MOST_BLOCKS and comb(candidates, named) < MOST_SETS


@lru_cache(maxsize=16)
def joint_blocks(candidates: int, named: int) -> tuple[Integers, Integers, Integers]:
    """For each block: the first place left out, the last place named (from 0), the number of sets; block 0 is the first
    k."""
    pairs = [(named, named - 1, 1)]
    pairs += [(u, last, comb(last - u - 1, named - u - 1)) for u in range(named) for last in range(named, candidates)]
    firsts, lasts, sizes = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return firsts, lasts, sizes


def unranked(of: int, many: int, place: int) -> list[int]:
    """The subset of {0, …, of − 1} with `many` items at index `place`, in the order of `itertools.combinations`."""
    subset: list[int] = []
    for item in range(of):
        if len(subset) == many:
            break
        starting = comb(of - item - 1, many - len(subset) - 1)
        if place < starting:
            subset.append(item)
        else:
            place -= starting
    return subset


def joint_scores(counts: tuple[int, ...], named: int) -> dict[tuple[int, ...], int]:
    """The score of every set, by definition; only for short lists."""
    places = range(len(counts))
    return {
        chosen: min(counts[item] for item in chosen) - max(counts[item] for item in places if item not in chosen)
        for chosen in combinations(places, named)
    }


def order_blocks(held: Integers, named: int) -> tuple[Integers, Integers]:
    """The possible costs of a sequence, rising, and the number of sequences with each; `held` are the counts, falling.
    If a cost occurs twice, its first entry has all sequences. The number of entries is the same on every table."""
    costs = np.sort(np.maximum(held[:named, None] - held[None, :], 0), axis=None)
    up_to = np.ones_like(costs)
    for rank in range(named):
        up_to *= _reached(held, rank, costs) - rank
    return costs, np.diff(up_to, prepend=0)


def _reached(held: Integers, rank: int, costs: Integers) -> Integers:
    """For each cost, how many values have a count of at least that of rank `rank` less the cost."""
    reached: Integers = np.searchsorted(-held, costs - held[rank], side="right")
    return reached


def sequence_at(held: Integers, named: int, cost: int, place: int) -> list[int]:
    """The sequence at index `place` among those of exactly this cost."""
    wide = [int(_reached(held, rank, np.array([cost]))[0]) for rank in range(named)]
    near = [int(_reached(held, rank, np.array([cost - 1]))[0]) for rank in range(named)]
    for first in range(named):  # the first rank that is off by the whole cost
        ways = [near[rank] - rank if rank < first else wide[rank] - rank for rank in range(named)]
        ways[first] = wide[first] - near[first]
        if place < prod(ways):
            break
        place -= prod(ways)
    sequence: list[int] = []
    for rank, many in enumerate(ways):
        place, at = divmod(place, many)
        if rank == first:
            sequence.append(near[rank] + at)
            continue
        for earlier in sorted(sequence):  # the at-th of those that are not taken yet
            at += earlier <= at
        sequence.append(at)
    return sequence


def order_costs(counts: tuple[int, ...], named: int) -> dict[tuple[int, ...], int]:
    """The cost of every sequence, by definition; only for short lists."""
    best = sorted(counts, reverse=True)
    return {
        chosen: max(best[rank] - counts[item] for rank, item in enumerate(chosen))
        for chosen in permutations(range(len(counts)), named)
    }


@lru_cache(maxsize=256)
def rehearsed(way: Peeled | JointOrder, rate: Fraction, candidates: int, people: int) -> float:
    """How far the worst rank is off on average on a made-up table: the r-th most common value has rows ∝ 1/r. Planning
    only, in floats."""
    shares = 1 / np.arange(1, candidates + 1)
    held = np.floor(people * shares / shares.sum()).astype(np.int64)
    if isinstance(way, JointOrder):
        costs, sizes = order_blocks(held, way.named)
        weights = sizes * np.exp(-float(rate) * costs)
        return float((weights * costs).sum() / weights.sum())
    draws = min(REHEARSALS, MOST_REHEARSED // (candidates * way.named) + 10)
    # Peeling takes the largest of scores with Gumbel noise, permute-and-flip with exponential noise.
    noise = -np.log(_scattered((way.named, draws, candidates)))
    left, every, off = np.tile(held * float(rate), (draws, 1)), np.arange(draws), np.zeros(draws)
    for rank, added in enumerate(noise if way.kind is PermuteAndFlip else -np.log(noise)):
        named = np.argmax(left + added, axis=1)
        left[every, named] = -np.inf
        off = np.maximum(off, held[rank] - held[named])
    return float(off.mean())


def _scattered(shape: tuple[int, ...]) -> Floats:
    """Numbers between 0 and 1 that look random, always the same ones: the mixing of SplitMix64 on 1, 2, 3, …"""
    words = np.arange(1, prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    numbers: Floats = ((words ^ (words >> np.uint64(31))) >> np.uint64(11)).astype(np.float64)
    return ((numbers + 0.5) / 2.0**53).reshape(shape)


REHEARSALS, MOST_REHEARSED = 300, 10**6  # draws of peeling, and about how many of its noises there may be
SAFER = 50  # one part in this of the promise decides between ways that come equally near
MOST_ITEMS = 20
MOST_LISTED = 50_000
MOST_FLIPPED = 60  # candidates: the law of permute-and-flip takes their cube
Places = tuple[int, ...]


@dataclass(frozen=True)
class Peeled:
    """Draws one item after the other with the same kind of choice; a drawn item no longer competes."""

    kind: type[Choice]
    named: int
    ordered: bool

    def scores(self, counts: Places) -> tuple[int, ...]:
        return counts

    def sensitivity(self, each: int, moves: int) -> Sensitivity:
        return Sensitivity("linf", each)

    def rate(self, epsilon: Fraction, moves: int, bound: int) -> Fraction:
        return epsilon / self.named / (moves * bound)

    def loss(self, epsilon: Fraction) -> Loss:
        part = self.kind.loss(epsilon / self.named)
        return Together((part,) * self.named) if self.named > 1 else part

    def behind(self, rate: Fraction, candidates: int, beta: Fraction) -> int:
        return self.kind(rate).behind(candidates, beta / self.named)

    def draw(self, counts: Integers, rate: Fraction, coins: Coins, most: int | None) -> Places:
        places, chosen_places = np.arange(len(counts)), list[int]()
        for _ in range(self.named):
            gaps = counts.max() - counts
            place, _ = self.kind(rate).draw(gaps, np.ones_like(gaps), coins, most)
            chosen_places.append(int(places[place]))
            places, counts = np.delete(places, place), np.delete(counts, place)
        return tuple(chosen_places if self.ordered else sorted(chosen_places))

    def law(self, counts: Places, rate: Fraction) -> Finite | None:
        """The law of the answer; None if there are too many outcomes to list."""
        size = len(counts)
        if size**self.named > MOST_LISTED or (self.kind is PermuteAndFlip and size > MOST_FLIPPED):
            return None
        chances: dict[Places, Decimal] = {(): Decimal(1)}
        for _ in range(self.named):
            longer: dict[Places, Decimal] = {}
            for before, chance in chances.items():
                left = {place: count for place, count in enumerate(counts) if place not in before}
                best = max(left.values())
                step = self.kind(rate).law({place: best - count for place, count in left.items()})
                longer |= {(*before, place): chance * part for place, part in step.chances.items()}
            chances = longer
        if self.ordered:
            return Finite(chances)
        summed: dict[Places, Decimal] = {}
        for before, chance in chances.items():
            named = tuple(sorted(before))
            summed[named] = summed.get(named, Decimal(0)) + chance
        return Finite(summed)


@dataclass(frozen=True)
class AtOnce(NoiseKind, ABC):
    """All items in one draw of the exponential mechanism."""

    named: int

    @abstractmethod
    def costs(self, counts: Places) -> dict[Places, int]:
        """The cost of every possible answer, straight from its definition; only for short lists."""

    def scores(self, counts: Places) -> tuple[int, ...]:
        return tuple(-cost for cost in self.costs(counts).values())

    @abstractmethod
    def outcomes(self, candidates: int) -> int:
        """The number of possible answers."""

    def sensitivity(self, each: int, moves: int) -> Sensitivity:
        """Small tables surely attain this bound only if one row of a person at most can hold a value (`each` is 1)."""
        return Sensitivity("linf", each * moves, attained=each == 1)

    def rate(self, epsilon: Fraction, moves: int, bound: int) -> Fraction:
        return epsilon / (2 * bound)

    def loss(self, epsilon: Fraction) -> Loss:
        return Exponential(epsilon)

    def behind(self, rate: Fraction, candidates: int, beta: Fraction) -> int:
        return choice_behind(rate, self.outcomes(candidates), beta)

    @abstractmethod
    def draw(self, counts: Integers, rate: Fraction, coins: Coins, most: int | None) -> Places:
        """The places of the drawn candidates. `most` is a public bound on the counts."""

    def law(self, counts: Places, rate: Fraction) -> Finite | None:
        """The law of the answer; None if there are too many outcomes to list."""
        return weighted(self.costs(counts), rate) if self.outcomes(len(counts)) <= MOST_LISTED else None


@dataclass(frozen=True)
class JointSet(AtOnce):
    """The items as a set, in one draw."""

    name: ClassVar[str] = "joint_set"

    def costs(self, counts: Places) -> dict[Places, int]:
        return {chosen: -score for chosen, score in joint_scores(counts, self.named).items()}

    def outcomes(self, candidates: int) -> int:
        return comb(candidates, self.named)

    def draw(self, counts: Integers, rate: Fraction, coins: Coins, most: int | None) -> Places:
        """The places of the drawn candidates, rising."""
        order, k = np.argsort(-counts, kind="stable"), self.named
        held = counts[order]
        firsts, lasts, sizes = joint_blocks(len(counts), k)
        gaps = (held[k - 1] - held[k]) - (held[lasts] - held[firsts])
        block, place = coins.choose(gaps, sizes, rate, None if most is None else 2 * most)
        u, last = int(firsts[block]), int(lasts[block])
        if block == 0:
            chosen = list(range(k))
        else:
            chosen = [*range(u), *(u + 1 + item for item in unranked(last - u - 1, k - u - 1, place)), last]
        return tuple(sorted(int(order[item]) for item in chosen))


@dataclass(frozen=True)
class JointOrder(AtOnce):
    """The items in order of their ranks, in one draw."""

    name: ClassVar[str] = "joint_order"

    def costs(self, counts: Places) -> dict[Places, int]:
        return order_costs(counts, self.named)

    def outcomes(self, candidates: int) -> int:
        return perm(candidates, self.named)

    def draw(self, counts: Integers, rate: Fraction, coins: Coins, most: int | None) -> Places:
        """The places of the drawn candidates, in the order of their ranks."""
        order = np.argsort(-counts, kind="stable")
        held = counts[order]
        costs, sizes = order_blocks(held, self.named)
        block, place = coins.choose(costs, sizes, rate, most)
        return tuple(int(order[item]) for item in sequence_at(held, self.named, int(costs[block]), place))


@dataclass(frozen=True, kw_only=True)
class TopItem(Query[tuple[int, ...], tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="top_item",
        order=60,
        answer="label",
        states=(APART, LIKELY, REST),
        caveats=("ties",),
        own=(
            Parameter("column", "column.listed", required=True),
            Parameter("how_many", "number", default=1),
            Parameter("ordered", "switch", default=True, if_several="how_many"),
            WHERE,
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of a list": {"column": "c"},
            "of some": {"column": "c", "where": [["x", ">=", 1]]},
            "the first two": {"column": "t", "how_many": 2},
            "of sets": {"column": "s"},
            "of numbers in steps": {"column": {"column": "x", "step": 2}},
            "permute-and-flip": {"column": "t", "noise": "permute_and_flip"},
            "the first two, permute-and-flip": {"column": "t", "how_many": 2, "noise": "permute_and_flip"},
            "of sets, permute-and-flip": {"column": "s", "noise": "permute_and_flip", "where": [["x", ">=", 1]]},
            "two in no order": {"column": "t", "how_many": 2, "ordered": False, "noise": "joint_set"},
            "two of sets in no order": {"column": "s", "how_many": 2, "ordered": False, "noise": "joint_set"},
            "two in order, at once": {"column": "t", "how_many": 2, "noise": "joint_order"},
            "two of sets in order, at once": {"column": "s", "how_many": 2, "noise": "joint_order"},
            "two peeled, in no order": {"column": "t", "how_many": 2, "ordered": False},
            "the first two of sets": {"column": "s", "how_many": 2, "where": [["x", ">=", 1]]},
        },
        example=Example({"column": "town"}, others="even"),
        broken_variants=("quarter",),
        covered="test_a_choice_keeps_its_promise",
        with_noise={"flip": Example({"column": "town", "noise": "permute_and_flip"}, others="even")},
    )

    accepts: ClassVar[tuple[type[NoiseKind], ...]] = (ExponentialChoice, PermuteAndFlip, JointSet, JointOrder)

    column: Ref
    how_many: int = 1
    ordered: bool = True  # does an answer of several items give their order?
    of_known_people = True

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = read_ref(given["column"], facts.schema)
        facts.schema.listed(name)
        wanted = read_whole(given.get("how_many", 1), say("param.how_many.label"), MOST_ITEMS, "top.how_many")
        ordered = given.get("ordered", True)
        if not isinstance(ordered, bool):
            raise AllowanceError("query.switch", name=say("param.ordered.label"))
        return {"column": name, "how_many": wanted, "ordered": ordered or wanted == 1}

    def __post_init__(self) -> None:
        if self.how_many >= len(self.candidates):
            raise AllowanceError("top.how_many", most=min(len(self.candidates) - 1, MOST_ITEMS))
        if self.noise in (JointSet.name, JointOrder.name) and self.noise not in self._together:
            raise AllowanceError("query.noise", noises=[PermuteAndFlip.name])

    @cached_property
    def way(self) -> Peeled | JointSet | JointOrder:
        kind = chosen(self.accepts, self.noise)
        if issubclass(kind, Choice):
            return Peeled(kind, self.how_many, self.ordered)
        return JointSet(self.how_many) if kind is JointSet else JointOrder(self.how_many)

    @property
    def _together(self) -> tuple[str, ...]:
        """The names of the noises that draw all names at once and suit this question."""
        many, named = len(self.candidates), self.how_many
        if self.ordered:
            drawable = named > 1 and named**2 * many < MOST_BLOCKS and perm(many, named) < MOST_SETS
            return (JointOrder.name,) if drawable else ()
        return (JointSet.name,) if countable(many, named) else ()

    def with_noise(self, noise: str) -> Self:
        apart = noise in (JointSet.name, JointOrder.name) and noise not in self._together
        return super().with_noise("" if apart else noise)

    @property
    def names_ranks(self) -> bool:
        return isinstance(self.way, JointOrder)

    def expected(self) -> Fraction | float:
        """For several names in order: how far a rank is off on average on a made-up table, plus a small part of the
        promise. The promise alone would rank the noises wrongly."""
        if self.how_many == 1 or not self.ordered or isinstance(self.way, JointSet):
            return super().expected()
        off = rehearsed(self.way, self.rate, len(self.candidates), self.facts.about * self.each)
        return off + self.promise().gap / SAFER

    @property
    def names_ordered(self) -> bool:
        return self.ordered

    def sentence(self) -> str:
        several = "sentence.top_items" if self.ordered else "sentence.top_set"
        code = "sentence.top_item" if self.how_many == 1 else several
        return say(code, many=self.how_many, column=self.column, who=self.whom())

    @cached_property
    def candidates(self) -> Integers:
        """The codes that compete: all but a label for “no answer”."""
        column = self.facts.schema.listed(self.column)
        codes: Integers = np.arange(column.size, dtype=np.int64)
        if isinstance(column, Category) and column.missing not in column.values:
            codes = np.delete(codes, column.code(column.missing))
        return codes

    @property
    def each(self) -> int:
        """How many rows of one person may hold the same value."""
        return 1 if isinstance(self.facts.schema.listed(self.column), ItemSet) else self.facts.unit.at_most

    def need(self) -> BinCounts | CellCounts | ItemCounts:
        size = self.facts.schema.listed(self.column).size
        if isinstance(self.column, Grouped):
            return CellCounts((self.column,), (size,), self.where)
        if isinstance(self.facts.schema[self.column], ItemSet):
            return ItemCounts(self.column, size, self.where, self.facts.unit.id_column is not None)
        return BinCounts(self.column, tuple(range(size)), size, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return self.way.scores(self._counts(value))

    def _counts(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(np.array(value, dtype=np.int64)[self.candidates].tolist())

    def sensitivity(self) -> Sensitivity:
        return self.way.sensitivity(self.each, self.facts.sides)

    @property
    def rate(self) -> Fraction:
        return self.way.rate(self.epsilon, self.facts.sides, self.sensitivity().bound)

    def loss(self) -> Loss:
        return self.way.loss(self.epsilon)

    def promise(self) -> NearBest:
        size = len(self.candidates)
        floor = least_choice_gap(self.epsilon, size, self.beta)
        return NearBest(self.way.behind(self.rate, size, self.beta), self.beta, floor)

    @property
    def speaks_of_all(self) -> bool:
        return self.facts.people is not None and self.facts.unit.at_most == 1 and len(self.candidates) > 1

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """The promise for the larger group: (0, g), in percentage points. A value left out is at most g more common
        than a named one, a later one than an earlier one, or the i-th most common than the i-th named. Half of β is for
        the draw, the rest for the sample (`sampling.pairs_off`), which covers all values at once and so the drawn ones.
        None if the number of people is not public."""
        people, size = self.facts.people, len(self.candidates)
        if people is None or not self.speaks_of_all:
            return None
        drawn = Fraction(self.way.behind(self.rate, size, beta / 2), people)
        return [0.0, min(100.0, 100 * float(drawn + 2 * moved) + 100 * sampling.pairs_off(people, size, beta / 2))]

    def state(self, value: Json, interval: Json) -> str:
        state = state_of_first(self.promise().gap, self.facts.about, len(self.candidates), self.where.everyone)
        first = next(iter(value)) if isinstance(value, dict) else value
        return state or (REST if self.ordered and self.unlisted(str(first)) else "")

    def named_by(self) -> object:
        return self.facts.schema.listed(self.column)

    def coarse(self) -> Fraction:
        """The count of each value if all were equal: with a larger gap nearly any of them could win."""
        return Fraction(self.planned_size, len(self.candidates))

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        most = None if self.facts.people is None else self.facts.people * self.each
        counts = np.array(value, dtype=np.int64)[self.candidates]
        return self._codes(self.way.draw(counts, self.rate, coins, most))

    def law(self, value: tuple[int, ...]) -> Finite | None:
        """The law over the chosen items; None if there are too many to list."""
        law = self.way.law(self._counts(value), self.rate)
        return law and Finite({self._codes(places): chance for places, chance in law.chances.items()})

    def _codes(self, places: Places) -> tuple[int, ...]:
        return tuple(self.candidates[list(places)].tolist())

    def labels(self) -> list[str]:
        return []

    def shown(self) -> dict[str, str]:
        return self.named(self.column)

    def finish(self, raw: tuple[int, ...]) -> Released:
        column = self.facts.schema.listed(self.column)
        if self.how_many == 1:
            return Released(column.value(raw[0]))
        return Released({column.value(code): place if self.ordered else 1 for place, code in enumerate(raw, start=1)})
