"""What the trust models still give if only h of n people keep to the protocol. That h do is an assumption: it is chosen
by whoever plans, and nothing here can check it.

The other d = n − h may leave out their coins, send what they like, and tell everybody what they sent; they do not see
the messages of others beforehand, and the shuffler takes as many messages from each as the protocol says.

**Privacy of an honest person.**
    central   as promised: the curator's noise depends on nobody (but the curator must be honest).
    local     as promised: the person's own coin protects, whatever others do.
    shuffle   whoever knows the messages of the d takes them out of the pile. What is left is a permutation of the
              honest people's messages: their number of ones plus Z ~ Bin(h, p), with the person's own coin in it. So
              one sum keeps exactly the δ(ε) between Bin(h, p) and 1 + Bin(h, p), and two sums that of
              (1+Z_a, Z_b) and (Z_a, 1+Z_b), as in `noise.binomial` with h for n. Whoever knows less sees a function of
              this and of what does not depend on the person, so nobody learns more. The least p that keeps (ε, δ) with
              h honest people is `least_chance(h, …)`; ½ is the most that a coin can hide.

**Error**, all n people counted. A person of the d has some true bit, which nobody makes him send.
    central   his row moves the count by at most 1: the promise plus d.
    local     his message m is counted as (m − p)/(1 − 2p), his truth is x: (m − p)/(1 − 2p) − x lies between
              −(1−p)/(1−2p) and (1−p)/(1−2p), which is e^ε/(e^ε − 1) where p = 1/(1+e^ε): d times that, and the honest
              people's own error, for which the bound for n people holds all the more.
    shuffle   two messages in {0, 1} where x and a coin are expected: the sum is that of the honest people's bits, of Z
              and of M between 0 and 2d, so sum − np − truth = Z − np + (M − x's), between Z − np − d and Z − np + 2d.
              By the second solution (opposite bits, 0 where the sum reaches n): where a number is told, the same
              reflected; where 0 is told, at most Z + 2d people hold the value. What nobody holds need not be told as 0
              any more, so all |D| values can err.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.exact import ceiling
from dpengine.mechanisms.local.local_count import LocalCount
from dpengine.mechanisms.local.of_people import MOST_PEOPLE
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import ShuffleHistogram
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise import binomial
from dpengine.planning.trust_models import Way

SHARES = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 98, 99, 100)  # of 100 people
Shuffled = ShuffleCount | ShuffleHistogram


@dataclass(frozen=True)
class Kept:
    """One way of asking, if so many are honest. `delta` is what an honest person really has at the claimed ε."""

    model: str
    delta: Fraction
    claimed: Fraction
    chance: Fraction | None  # of a coin; None where there is none
    error: Fraction  # in people, if all are honest
    worst: Fraction | None  # if the others send what they like; None where that is not told

    @property
    def holds(self) -> bool:
        return self.delta <= self.claimed


def honest_people(people: int, share: int) -> int:
    """At least one: somebody is to be protected."""
    return max(1, people * share // 100)


def sums_of(query: Shuffled) -> int:
    """How many sums one person changes."""
    return 1 if isinstance(query, ShuffleCount) else 2


def delta_of(query: Shuffled, honest: int, chance: Fraction | None = None) -> Fraction:
    """δ at the question's ε, with so many honest people; rounded up."""
    p = query.chance if chance is None else chance
    left = (binomial.excess if sums_of(query) == 1 else binomial.excess_of_two)(honest, p, query.epsilon)
    return min(Fraction(left), Fraction(1))


def needed(query: Shuffled, honest: int) -> Fraction | None:
    """The least coin that keeps the question's (ε, δ) with so many honest people; None where ½ does not."""
    return binomial.least_chance(honest, query.epsilon, query.delta, sums_of(query))


def fewest(query: Shuffled) -> int | None:
    """So many honest people there must be, for any coin at all."""
    return binomial.least_people(query.epsilon, query.delta, sums_of(query), MOST_PEOPLE)


def off(query: Shuffled, honest: int, chance: Fraction) -> Fraction:
    """How far any number of the answer can be off, but for β, if the people who are not honest send what they like."""
    people, others = query.facts.about, query.facts.about - honest
    values, second = 1, False
    if isinstance(query, ShuffleHistogram):
        values, second = query.size if others else query.erring, query.solution == "second"
    low, high = binomial.reach(honest, chance, query.beta / values)
    expected = people * chance
    above = Fraction(high) if second else high - expected
    return Fraction(ceiling(max(expected - low + others, above + 2 * others)))


def kept(found: Sequence[Way], honest: int) -> tuple[Kept, ...]:
    """Each way that can be asked, as it is; the shuffled one of the least coin once more, with the coin it needs."""
    rows: list[Kept] = []
    for way in found:
        if way.query is None or way.error is None:
            continue
        query, others = way.query, way.query.facts.about - honest
        if isinstance(query, (ShuffleCount, ShuffleHistogram)):
            rows.append(_shuffled(way.model, query, honest, query.chance))
            coin = needed(query, honest)
            if way.model == "tight" and coin is not None and coin != query.chance:
                rows.append(_shuffled("needed", query, honest, coin))
        else:
            rows.append(Kept(way.model, Fraction(0), Fraction(0), None, way.error, _lied(query, way.error, others)))
    return tuple(rows)


def _shuffled(model: str, query: Shuffled, honest: int, chance: Fraction) -> Kept:
    alone, worst = off(query, query.facts.about, chance), off(query, honest, chance)
    return Kept(model, delta_of(query, honest, chance), query.delta, chance, alone, worst)


def _lied(query: AnyQuery, error: Fraction, others: int) -> Fraction | None:
    if isinstance(query, LocalCount):
        p = query.row.chance
        return Fraction(ceiling(error + others * (1 - p) / (1 - 2 * p)))
    return error + others if query.answer_kind != "file" else None


def along(query: Shuffled, people: int) -> tuple[tuple[int, float], ...]:
    """δ by the number of honest people, for a picture."""
    counts = sorted({honest_people(people, share) for share in SHARES})
    return tuple((honest, float(delta_of(query, honest))) for honest in counts)


def shuffled_of(found: Sequence[Way]) -> Shuffled | None:
    """The question with the least coin; None where these people are too few for it."""
    queries = (way.query for way in found if way.model == "tight")
    return next((query for query in queries if isinstance(query, (ShuffleCount, ShuffleHistogram))), None)
