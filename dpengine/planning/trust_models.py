"""Compares one question at one (ε, δ) under four trust models.

    central   a curator holds the table and adds noise once: error of the order 1/ε, whatever n;
    lecture   a shuffler is trusted, with the lecture's coin: the same order, with a large factor;
    tight     a shuffler is trusted, with the least coin that keeps (ε, δ) exactly;
    local     nobody is trusted: error of the order √n/ε, which is optimal (Beimel, Nissim, Omri 2008).

All of it is arithmetic on public facts: the queries are the real ones, so each promise is the one that Ask would make
and each price the ledger's. The local histogram is that of a published column (`publish_category`), and is asked there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from dpengine.accountant.filter import Rule
from dpengine.core.amounts import LEAST_DELTA
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.local.local_count import LocalCount
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import SOLUTIONS, ShuffleHistogram
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise import binomial

MODELS = ("central", "lecture", "tight", "local")
KINDS = ("count", "bars")
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
USUAL_EPSILON = ("0.1", "0.2", "0.3", "0.5", "1")
Points = tuple[tuple[int, float], ...]
OF_ALL = ("query.relation", "query.several")  # refusals that no setting on the page can cure


@dataclass(frozen=True)
class Noise:
    """The noise that hides a person: the probability of a coin, and the standard deviation of the sum of all coins."""

    chance: Fraction
    deviation: float


@dataclass(frozen=True)
class Way:
    """The question under one trust model, or why it cannot be asked under it."""

    model: str
    query: AnyQuery | None
    refused: AllowanceError | None = None

    @property
    def asked_here(self) -> bool:
        return self.query is not None and self.query.answer_kind != "file"

    @property
    def error(self) -> Fraction | None:
        """In people, for every number of the answer at once."""
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
    """The lecture's coin, and the δ that it really gives at ε; None where its probability would exceed 1."""

    chance: Fraction
    delta: Decimal | None
    epsilon: Fraction  # the ε it is calibrated for; for histograms, half of ε and δ
    wanted: Fraction


def ways(facts: Facts, kind: str, given: Mapping[str, Json]) -> tuple[Way, ...]:
    """`given`: epsilon, delta, and where (of a count) or column and solution (of bars)."""
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
    if model == "local":
        return (
            ("local_count", parameters)
            if kind == "count"
            else ("publish_category", {"epsilon": given["epsilon"], "columns": [given.get("column")]})
        )
    parameters |= {"delta": given["delta"]} | ({"calibration": "lecture"} if model == "lecture" else {})
    if kind == "count":
        return "shuffle_count", parameters
    solution = given.get("solution")
    return "shuffle_histogram", parameters | ({"solution": solution} if solution in SOLUTIONS[1:] else {})


def of_all(all_ways: tuple[Way, ...]) -> AllowanceError | None:
    """The refusal for a table for which only the central model is possible."""
    for way in all_ways:
        if way.refused is not None and way.refused.code in OF_ALL:
            return way.refused
    return None


def lecture(people: int, kind: str, epsilon: Fraction, delta: Fraction) -> Lecture:
    """As the mechanisms calibrate it: for histograms, each sum at half of ε and δ."""
    part = (epsilon, delta) if kind == "count" else (epsilon / 2, delta / 2)
    p = binomial.lecture_chance(people, *part)
    return Lecture(p, binomial.excess(people, p, part[0]) if p < 1 else None, *part)


def usual_delta(rule: Rule) -> Fraction:
    """The largest power of ten that fits into the δ reserve ten times."""
    delta = Fraction(1, 10)
    while delta > LEAST_DELTA and delta * 10 > rule.delta_reserve:
        delta /= 10
    return delta if rule.delta_reserve else Fraction(1, 10**8)


def usual_epsilon(facts: Facts, rule: Rule) -> str:
    """The smallest of a few ε at which this many people are enough for the shuffle model."""
    delta = usual_delta(rule)
    for text in USUAL_EPSILON:
        least = binomial.least_people(Fraction(text), delta, 2)
        if least is not None and least <= facts.about:
            return text
    return USUAL_EPSILON[-1]


@lru_cache(maxsize=64)
def along_people(kind: str, values: int, epsilon: Fraction, delta: Fraction) -> dict[str, Points]:
    """The promised error as a function of the number of people, for each trust model that allows it; on made-up
    facts."""
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
