"""Compares one question at one (ε, δ) under four trust models.

    central   a curator holds the table and adds noise once: error of the order 1/ε, for any n;
    lecture   a shuffler is trusted, with the lecture's coin: the same order, with a large factor;
    tight     a shuffler is trusted, with the least coin that keeps (ε, δ) exactly;
    local     nobody is trusted: error of the order √n/ε, which is optimal (Beimel, Nissim, Omri 2008).

All of it is arithmetic on public facts: the queries are the real ones, so each promise is the one that Ask would make
and each price the ledger's. The local histogram is that of a published column (`publish_category`), and is asked there.

**Dishonest people.** Suppose only h of n people follow the protocol. The planner chooses h; nothing here can check it.
The other d = n − h may leave out their coins, send anything, and publish what they sent; they do not see the messages
of others beforehand, and the shuffler takes as many messages from each as the protocol says.

*Privacy of an honest person.*
    central   as promised: the curator's noise depends on nobody (but the curator must be honest).
    local     as promised: the person's own coin protects, whatever others do.
    shuffle   an attacker who knows the messages of the d removes them from the pile. The rest is a permutation of the
              honest people's messages: their number of ones plus Z ~ Bin(h, p), with the person's own coin in it. So
              one sum keeps exactly the δ(ε) between Bin(h, p) and 1 + Bin(h, p), and two sums that of
              (1+Z_a, Z_b) and (Z_a, 1+Z_b), as in `noise.binomial` with h for n. An attacker who knows less sees a
              function of this and of what does not depend on the person, so nobody learns more. The least p that keeps
              (ε, δ) with h honest people is `least_chance(h, …)`; ½ is the most that a coin can hide.

*Error*, all n people counted. Each of the d has a true bit x and may send anything.
    central   such a row moves the count by at most 1: the promise plus d.
    local     such a message m is counted as (m − p)/(1 − 2p): (m − p)/(1 − 2p) − x lies between −(1−p)/(1−2p) and
              (1−p)/(1−2p), which is e^ε/(e^ε − 1) where p = 1/(1+e^ε): d times that, and the honest people's own error,
              for which the bound for n people holds all the more.
    shuffle   two messages in {0, 1} where x and a coin are expected: the sum is that of the honest people's bits, of Z
              and of M between 0 and 2d, so sum − np − truth = Z − np + (M − x's), between Z − np − d and Z − np + 2d.
              By the second solution (opposite bits, 0 where the sum reaches n): where it gives a number, the same
              reflected; where it gives 0, at most Z + 2d people hold the value. A value that nobody holds need not come
              out as 0 any more, so all |D| values can err.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from dpengine.accountant.filter import Rule
from dpengine.core.amounts import LEAST_DELTA
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, decade
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.local.local_count import LocalCount
from dpengine.mechanisms.local.of_people import MOST_PEOPLE
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import SOLUTIONS, ShuffleHistogram
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise import binomial

MODELS = ("central", "lecture", "tight", "local")
KINDS = ("count", "bars")
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
Points = tuple[tuple[int, float], ...]
OF_ALL = ("query.relation", "query.several")  # refusals that no setting on the page can cure
SHARES = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 98, 99, 100)  # of 100 people
Shuffled = ShuffleCount | ShuffleHistogram


@dataclass(frozen=True)
class Noise:
    """The noise that hides a person: the probability of a coin, and the standard deviation of the sum of all coins."""

    chance: Fraction
    deviation: float


@dataclass(frozen=True)
class Way:
    """The question under one trust model; without a question, why that model refuses it."""

    model: str
    query: AnyQuery | None
    refused: AllowanceError | None = None

    @property
    def error(self) -> Fraction | None:
        """The promised error in people, for every number of the answer at once; None if the model refuses the
        question."""
        if self.query is None:
            return None
        return self.query.promise().of_people(self.query.facts.about)

    @property
    def noise(self) -> Noise | None:
        query = self.query
        if isinstance(query, (ShuffleCount, ShuffleHistogram)):
            p = query.chance
            return Noise(p, sqrt(query.facts.about * p * (1 - p)))
        if isinstance(query, LocalCount):
            p = query.row.chance
            return Noise(p, sqrt(query.facts.about * p * (1 - p)) / float(1 - 2 * p))
        return None


@dataclass(frozen=True)
class Lecture:
    """The lecture's coin, and its real δ at ε; None where the coin's probability would exceed 1."""

    chance: Fraction
    delta: Decimal | None
    epsilon: Fraction  # the ε it is calibrated for; for histograms, half of ε and δ
    wanted: Fraction


def ways(facts: Facts, kind: str, given: Mapping[str, Json]) -> tuple[Way, ...]:
    """The question under each trust model. `given`: epsilon, delta, and a count's condition or bars' column and
    solution."""
    return tuple(_way(facts, model, kind, given) for model in MODELS)


def _way(facts: Facts, model: str, kind: str, given: Mapping[str, Json]) -> Way:
    key, parameters = _asked(model, kind, given)
    try:
        return Way(model, catalogue[key].build(facts, parameters))
    except AllowanceError as refusal:
        return Way(model, None, refusal)


def _asked(model: str, kind: str, given: Mapping[str, Json]) -> tuple[str, JsonObject]:
    parameters: JsonObject = {"epsilon": given["epsilon"]}
    parameters |= {"where": given.get("where") or []} if kind == "count" else {"column": given.get("column")}
    if model == "central":
        return ("count" if kind == "count" else "histogram"), parameters
    if model == "local" and kind == "count":
        return "local_count", parameters
    if model == "local":
        return "publish_category", {"epsilon": given["epsilon"], "columns": [given.get("column")]}
    parameters |= {"delta": given["delta"]} | ({"calibration": "lecture"} if model == "lecture" else {})
    if kind == "count":
        return "shuffle_count", parameters
    solution = given.get("solution")
    return "shuffle_histogram", parameters | ({"solution": solution} if solution in SOLUTIONS[1:] else {})


def of_all(all_ways: tuple[Way, ...]) -> AllowanceError | None:
    """The refusal that all ways share, for a table that allows only the central model; None if some way is possible."""
    refusals = (way.refused for way in all_ways if way.refused is not None)
    return next((refusal for refusal in refusals if refusal.code in OF_ALL), None)


def lecture(people: int, kind: str, epsilon: Fraction, delta: Fraction) -> Lecture:
    """The lecture's coin, calibrated as in the mechanisms: a histogram's sums have half of ε and δ each."""
    part = (epsilon, delta) if kind == "count" else (epsilon / 2, delta / 2)
    p = binomial.lecture_chance(people, *part)
    return Lecture(p, binomial.excess(people, p, part[0]) if p < 1 else None, *part)


def usual_delta(rule: Rule) -> Fraction:
    """The default δ of a question: the largest power of ten of which ten are in the δ reserve."""
    return max(decade(rule.delta_reserve / 10), LEAST_DELTA) if rule.delta_reserve else Fraction(1, 10**8)


@lru_cache(maxsize=64)
def along_people(kind: str, values: int, epsilon: Fraction, delta: Fraction) -> dict[str, Points]:
    """The promised error by the number of people, for each trust model that allows it; on made-up facts."""
    labels = [f"v{number}" for number in range(max(values, 2))]
    schema = Schema({"c": Category(labels, unknown=labels[0], missing=labels[0])})
    about = Facts("people", schema, Unit.rows(), "replace", 1)
    given = {"epsilon": epsilon, "delta": delta, "column": "c", "where": [["c", "in", labels[:1]]]}
    drawn: dict[str, list[tuple[int, float]]] = {model: [] for model in MODELS}
    for people in SIZES:
        for way in ways(replace(about, about=people), kind, given):
            if way.error is not None:
                drawn[way.model].append((people, float(way.error)))
    return {model: tuple(points) for model, points in drawn.items()}


@dataclass(frozen=True)
class Kept:
    """What a trust model guarantees with a given number of honest people. `claimed` is the δ that the question states,
    `delta` an honest person's real δ at the question's ε."""

    model: str
    delta: Fraction
    claimed: Fraction
    chance: Fraction | None  # of a coin; None where there is none
    error: Fraction  # in people, if all are honest
    worst: Fraction | None  # if the others send anything; None for a published column

    @property
    def holds(self) -> bool:
        return self.delta <= self.claimed


def honest_people(people: int, share: int) -> int:
    """This percentage of the people, but at least one: somebody is to be protected."""
    return max(1, people * share // 100)


def sums_of(query: Shuffled) -> int:
    return 1 if isinstance(query, ShuffleCount) else 2


def delta_of(query: Shuffled, honest: int, chance: Fraction | None = None) -> Fraction:
    """The question's real δ at its ε, with this many honest people; rounded up. `chance`: of another coin than the
    question's."""
    p = query.chance if chance is None else chance
    left = (binomial.excess if sums_of(query) == 1 else binomial.excess_of_two)(honest, p, query.epsilon)
    return min(Fraction(left), Fraction(1))


def needed(query: Shuffled, honest: int) -> Fraction | None:
    """The least coin that keeps the question's (ε, δ) with this many honest people; None if even ½ does not."""
    return binomial.least_chance(honest, query.epsilon, query.delta, sums_of(query))


def fewest(query: Shuffled) -> int | None:
    """The least number of honest people for whom some coin keeps the question's (ε, δ); None if there is none."""
    return binomial.least_people(query.epsilon, query.delta, sums_of(query), MOST_PEOPLE)


def error_with_dishonest(query: Shuffled, honest: int, chance: Fraction) -> Fraction:
    """The error bound of any number in the answer, except with probability β, if the dishonest people send anything."""
    people, others = query.facts.about, query.facts.about - honest
    values, second = 1, False
    if isinstance(query, ShuffleHistogram):
        values, second = query.size if others else query.erring, query.solution == "second"
    low, high = binomial.reach(honest, chance, query.beta / values)
    expected = people * chance
    above = Fraction(high) if second else high - expected
    return Fraction(ceiling(max(expected - low + others, above + 2 * others)))


def kept_by_honest(all_ways: Sequence[Way], honest: int) -> tuple[Kept, ...]:
    """What each possible trust model still guarantees with this many honest people. The shuffler with the least coin is
    listed once more, with the coin that this many honest people need."""
    rows: list[Kept] = []
    for way in all_ways:
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
    alone, worst = error_with_dishonest(query, query.facts.about, chance), error_with_dishonest(query, honest, chance)
    return Kept(model, delta_of(query, honest, chance), query.delta, chance, alone, worst)


def _lied(query: AnyQuery, error: Fraction, others: int) -> Fraction | None:
    if isinstance(query, LocalCount):
        p = query.row.chance
        return Fraction(ceiling(error + others * (1 - p) / (1 - 2 * p)))
    return error + others if query.answer_kind != "file" else None


def along(query: Shuffled, people: int) -> tuple[tuple[int, float], ...]:
    """Points for a picture: the number of honest people, and δ."""
    counts = sorted({honest_people(people, share) for share in SHARES})
    return tuple((honest, float(delta_of(query, honest))) for honest in counts)


def shuffled_of(all_ways: Sequence[Way]) -> Shuffled | None:
    """The question for a shuffler with the least coin; None if there are too few people for it."""
    queries = (way.query for way in all_ways if way.model == "tight")
    return next((query for query in queries if isinstance(query, (ShuffleCount, ShuffleHistogram))), None)
