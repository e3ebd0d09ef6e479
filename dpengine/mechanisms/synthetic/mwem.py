"""MWEM: a made-up table that answers a class of counting queries, learnt in T rounds (Hardt, Ligett, McSherry 2012).

Guarantee   ε-DP, under replace-one and under add/remove.
Theorem     adaptive composition of exponential mechanisms (McSherry and Talwar 2007, Thm 6) and discrete Laplace
            mechanisms (Dwork et al. 2006, Prop. 1); all else is computed from what they released.
Total       N, the rows there are: n itself where it is public, else n + Laplace noise, bought with ε/8 and cut to
            [1, 2k·declared people]. No step below sees n otherwise.
Round t     W_t is a distribution on the D cells, public; W_1 is even. Score of a query h: |c_h(x) − r_h|, with r_h the
            whole number nearest to N·W_t(h): it moves by k, a person's rows at most, as c_h does. One query is chosen
            with chance ∝ exp(rate·score), rate = ε'/(2k); a = its count + Laplace noise of scale k/ε', cut to [0, N].
            Then W_{t+1}(i) ∝ W_t(i)·exp(4·(a/N − W_t(h))) in the cells of h, and as it was elsewhere.
Loss        T bounded ranges of ε' and T pure parts of ε', 2Tε' = ε, or 7ε/8 and a pure part of ε/8.
Answer      the weights after the same measurements were gone through `PASSES` times more: free, and far nearer on most
            tables. What is proved is proved of the average of W_1 … W_T, so they stay near it: of the way from the
            average to them as much is gone as moves no query of the class by more than a quarter of the bound below,
            and that quarter is added to the promise. Version 1 answered with the average.
Accuracy    let p = x/n, g_t = |p(h_t) − W_t(h_t)|, e_t = |a_t/N − p(h_t)|, d = a_t/N − W_t(h_t). ln Σ W_t·e^(4d·h) is
            at most 4d·W_t(h) + 2d² (Hoeffding's lemma), so KL(p‖W) falls by at least 4d·(p(h) − W_t(h)) − 2d² =
            2(g_t² − e_t²) in round t. It begins at ln D at most and is never negative: Σ g_t² ≤ ln(D)/2 + Σ e_t².
            Whatever h has the largest error, n times it exceeds n·g_t by at most G + 1 + 2z: G is the gap of the
            choice, 1 the two roundings, z = |N − n|. So, averaging, every query is within
                √(ln(D)/(2T) + e²) + (G + 1 + 2z)/n + rounding to rows,    e = (noise + z)/N,
            except with chance β, split evenly among T choices, T noises and the total. Loose: it holds on any table.
            Where n is not public the bound is stated for the declared number. Without a number of rounds, T is the one
            with the least bound of those tried.
Cost        one scan, and T passes over D cells times the columns and pairs, or conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dpengine.accountant.loss import Exponential, Loss, Pure, Repeated, Together
from dpengine.core.arrays import Floats, Integers
from dpengine.core.exact import ln_above
from dpengine.core.json_types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Promise
from dpengine.mechanisms.query import Fields, Progress, Released, Sensitivity
from dpengine.mechanisms.synthetic.of_class import OfClass, in_rows, root_above, whole
from dpengine.mechanisms.telling import NOISE
from dpengine.mechanisms.trial import NORTH, WEST, Example, Trial
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Laplace, above, chance, weighted
from dpengine.noise.tails import choice_gap, laplace_reach

MOST_ROUNDS = 150  # a weight falls by e^4 in a round at most, so none underflows
MOST_ROWS = 1_000_000
MOST_LISTED = 5_000  # outcomes of a law
FOR_TOTAL = Fraction(1, 8)
PASSES = 60
AWAY = Fraction(1, 4)  # of the bound: so far from the average may a query be in the answer
FLOATS = Fraction(1, 10**9)  # far above what rounding to floats moves a weight by


@dataclass(frozen=True, kw_only=True)
class Mwem(OfClass):
    card: ClassVar[Card] = Card(
        key="mwem",
        asked_on=("whatif",),
        order=610,
        version=2,
        answer="table",
        states=(NOISE,),
        caveats=("loose", "class"),
        parameters=(
            Parameter("columns", "columns", required=True),
            Parameter("queries", "queries"),
            Parameter("rounds", "number"),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={"of one round": {"columns": ["c"], "rounds": 1}},
        example=Example({"columns": ["town"], "queries": [WEST, NORTH], "rounds": 1}),
        twins=("quarter",),
        covered="test_the_promise_is_kept",
        large={"columns": ["c", "d"]},
    )

    reads: ClassVar[tuple[int, ...]] = (1,)  # answered with the average of all rounds

    rounds: int | None = None  # T; None: the best for this ε

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return super().read(facts, given) | {"rounds": whole(given, "rounds", MOST_ROUNDS)}

    def own_json(self) -> JsonObject:
        return super().own_json() | ({} if self.rounds is None else {"rounds": self.rounds})

    @property
    def turns(self) -> int:
        """T."""
        if self.rounds is not None:
            return self.rounds
        people, bought = self.facts.about, self.known is None
        return best_rounds(self.domain, self.many, people, bought, self.epsilon, self.moved, self.beta)

    def promise_of(self, people: int) -> Promise:
        return replace(self, rounds=self.turns).of_size(people).promise()  # the rounds are those of the declared size

    @property
    def rows(self) -> int:
        """The number of rows of the synthetic table: as many as declared, but enough for every combination."""
        return min(max(self.facts.about, 10 * self.domain), MOST_ROWS)

    @property
    def moved(self) -> int:
        return self.facts.unit.at_most

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """ε of the total (0 where it is public), and ε' of each choice and of each measurement."""
        total = self.epsilon * FOR_TOTAL if self.known is None else Fraction(0)
        return total, (self.epsilon - total) / (2 * self.turns)

    @property
    def most_total(self) -> int:
        return 2 * self.facts.about * self.moved

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.sums(np.asarray(value)).astype(np.int64).tolist())

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.moved)

    def loss(self) -> Loss:
        total, epsilon = self.shares
        rounds: tuple[Loss, ...] = (Repeated(Pure(epsilon), self.turns), Repeated(Exponential(epsilon), self.turns))
        return Together((*rounds, Pure(total)) if total else rounds)

    def reach(self) -> Fraction:
        people, bought = self.facts.about, self.known is None
        near = bound(self.domain, self.many, people, bought, self.epsilon, self.moved, self.beta, self.turns)
        return near * (1 if self.older else 1 + AWAY) + self.widest / self.rows

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return self.drawn(value, coins, lambda done, total: None)

    def drawn(self, value: tuple[int, ...], coins: Coins, progress: Progress) -> tuple[int, ...]:
        """The total where it is bought, then the query and the measurement of every round."""
        counts = self.sums(np.asarray(value, dtype=np.int64)).astype(np.int64)
        paid, epsilon = self.shares
        raw: list[int] = []
        if paid:
            noisy = coins.laplace([int(np.sum(value))], self.moved / paid)[0]
            raw.append(min(max(noisy, 1), self.most_total))
        weights = Weights(self, raw[0] if raw else self.facts.about)
        for turn in range(self.turns):
            scores = weights.scores(counts)
            chosen, _ = coins.choose(scores.max() - scores, np.ones_like(scores), epsilon / (2 * self.moved))
            noisy = coins.laplace([int(counts[chosen])], self.moved / epsilon)[0]
            answer = min(max(noisy, 0), weights.total)
            weights.learn(chosen, answer)
            raw += [chosen, answer]
            progress(turn + 1, self.turns)
        return tuple(raw)

    def law(self, value: tuple[int, ...]) -> Finite | None:
        """The law of everything that is drawn in all rounds; None where it has too many outcomes to list."""
        totals = range(1, self.most_total + 1) if self.known is None else (self.facts.about,)
        if sum((self.many * (total + 1)) ** self.turns for total in totals) > MOST_LISTED:
            return None
        counts = self.sums(np.asarray(value, dtype=np.int64)).astype(np.int64)
        paid, epsilon = self.shares
        chances: dict[tuple[int, ...], Decimal] = {(): Decimal(1)}
        if paid:
            noisy = Laplace(int(np.sum(value)), self.moved / paid)
            chances = {(total,): cut(noisy, total, 1, self.most_total) for total in totals}
        for _ in range(self.turns):
            longer: dict[tuple[int, ...], Decimal] = {}
            for raw, before in chances.items():
                weights = self.learnt(raw)
                scores = weights.scores(counts)
                choice = weighted(dict(enumerate((scores.max() - scores).tolist())), epsilon / (2 * self.moved))
                for query, likely in choice.chances.items():
                    noisy = Laplace(int(counts[query]), self.moved / epsilon)
                    for answer in range(weights.total + 1):
                        part = cut(noisy, answer, 0, weights.total)
                        longer[(*raw, query, answer)] = before * likely * part
            chances = longer
        return Finite(chances)

    def learnt(self, raw: tuple[int, ...]) -> Weights:
        """The weights learnt from the released numbers, in order."""
        weights = Weights(self, raw[0] if self.known is None else self.facts.about)
        for query, answer in self._told(raw):
            weights.learn(query, answer)
        return weights

    def _told(self, raw: tuple[int, ...]) -> list[tuple[int, int]]:
        rest = raw[self.known is None :]
        return list(zip(rest[0::2], rest[1::2], strict=True))

    def finish(self, raw: tuple[int, ...]) -> Released:
        """Whole rows of each combination."""
        weights = self.learnt(raw)
        told = weights.average if self.older else self._again(weights, raw)
        return Released(self.told_rows(in_rows(told, self.rows).tolist()))

    def _again(self, weights: Weights, raw: tuple[int, ...]) -> Floats:
        """From the average towards the weights after all measurements once more and more, as far as is promised."""
        average, told = weights.average, self._told(raw)
        held = {query: self.cells_of(query) for query, _ in told}
        for _ in range(PASSES):
            for query, answer in told:
                weights.follow(held[query], answer)
        away = float(np.abs(self.sums(weights.now) - self.sums(average)).max())
        allowed = float(self.reach() - self.widest / self.rows) * float(AWAY / (1 + AWAY))
        return np.asarray(average + min(1.0, allowed / away if away else 1.0) * (weights.now - average))


class Weights:
    """W_t and the sum of those before it: floats, computed from public and released numbers only."""

    def __init__(self, query: Mwem, total: int) -> None:
        self.query, self.total = query, total
        self.now: Floats = np.full(query.domain, 1 / query.domain)
        self.past: Floats = np.zeros(query.domain, dtype=np.float64)

    @property
    def average(self) -> Floats:
        """Of W_1 … W_T, the ones that were measured against."""
        return np.asarray(self.past / self.past.sum())

    def scores(self, counts: Integers) -> Integers:
        near = np.floor(self.total * self.query.sums(self.now) + 0.5).astype(np.int64)
        return np.asarray(np.abs(counts - near))

    def learn(self, query: int, answer: int) -> None:
        self.past = self.past + self.now
        self.follow(self.query.cells_of(query), answer)

    def follow(self, held: npt.NDArray[np.bool_], answer: int) -> None:
        """One step towards a measured query, of which these are the cells."""
        step = 4 * (answer / self.total - float(self.now[held].sum()))
        moved = self.now * np.where(held, np.exp(step), 1.0)
        self.now = moved / moved.sum()


def cut(law: Laplace, outcome: int, least: int, most: int) -> Decimal:
    """The probability of an outcome that is clamped to [least, most]."""
    if least == most:
        return Decimal(1)
    if outcome == least:
        return 1 - above(law, least)
    return above(law, most - 1) if outcome == most else chance(law, outcome)


@lru_cache(maxsize=8192)
def bound(
    domain: int, many: int, people: int, bought: bool, epsilon: Fraction, moved: int, beta: Fraction, rounds: int
) -> Fraction:
    """The theorem's bound for n rows; N is at least n − z."""
    parts, each = (3 if bought else 2), epsilon / (2 * rounds)
    off = 0
    if bought:
        off = laplace_reach(moved / (epsilon * FOR_TOTAL), beta / parts)
        each = (epsilon - epsilon * FOR_TOTAL) / (2 * rounds)
    noise = laplace_reach(moved / each, beta / parts / rounds)
    gap = choice_gap(each / (2 * moved), many, beta / parts / rounds)
    missed = Fraction(noise + off, max(people - off, 1))
    learnt = root_above(ln_above(Fraction(domain)) / (2 * rounds) + missed * missed)
    return learnt + Fraction(gap + 1 + 2 * off, people) + FLOATS


@lru_cache(maxsize=4096)
def best_rounds(
    domain: int, many: int, people: int, bought: bool, epsilon: Fraction, moved: int, beta: Fraction
) -> int:
    """The T with the least bound of all up to 20 and every eighth beyond."""
    tried = sorted({*range(1, 21), *range(24, MOST_ROUNDS + 1, 8)})
    best: int = min(tried, key=lambda rounds: bound(domain, many, people, bought, epsilon, moved, beta, rounds))
    return best
