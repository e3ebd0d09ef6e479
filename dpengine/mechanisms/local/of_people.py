"""The base of questions without a trusted curator: they reveal how many people take part, and one row is one person."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import comb

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of
from dpengine.core.types import JsonObject
from dpengine.mechanisms.query import AnyQuery, Query, Sensitivity
from dpengine.noise import binomial
from dpengine.statistics.counts import RowCount

MOST_PEOPLE = 10_000_000  # messages are held in memory
MOST_LISTED = 400  # people, for a law with listed outcomes


@dataclass(frozen=True, kw_only=True)
class OfBits(Query[int, int]):
    """How many people meet a condition, from one message of each person, who changes one bit."""

    def need(self) -> RowCount:
        return RowCount(self.where)

    def measured(self, value: int) -> tuple[int, ...]:
        return (value,)

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("l1", 1)

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 4)


def check_people(query: AnyQuery) -> None:
    if query.facts.about > MOST_PEOPLE:
        raise AllowanceError("shuffle.large", most=MOST_PEOPLE)
    if query.where.everyone and not query.labels():
        raise AllowanceError("count.public", people=query.facts.about)


def lecture_coin(people: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The lecture's p, the chance that a person's coin is 1; refused if the coins then do not give (ε, δ)."""
    if not binomial.lecture_holds(people, epsilon, delta):
        raise AllowanceError("shuffle.lecture", people=people)
    return binomial.lecture_chance(people, epsilon, delta)


def least_coin(people: int, epsilon: Fraction, delta: Fraction, sums: int = 1) -> Fraction:
    """The least p that gives (ε, δ). If even ½ does not, the refusal says how many people are enough."""
    chance = binomial.least_chance(people, epsilon, delta, sums)
    if chance is not None:
        return chance
    least = binomial.least_people(epsilon, delta, sums, MOST_PEOPLE)
    raise AllowanceError("shuffle.few", least=least) if least else AllowanceError("shuffle.never", most=MOST_PEOPLE)


def read_calibration(given: JsonObject, known: tuple[str, ...]) -> str:
    """The calibration that is given, or the first known one if none is."""
    calibration = str(given.get("calibration") or known[0])
    if calibration not in known:
        raise AllowanceError("shuffle.calibration", calibrations=list(known))
    return calibration


def sums_of_coins(people: int, chance: Fraction) -> list[Decimal] | None:
    """The law of Bin(people, chance), or None if it has too many outcomes."""
    if people > MOST_LISTED:
        return None
    p, q = decimal_of(chance), decimal_of(1 - chance)
    return [comb(people, ones) * p**ones * q ** (people - ones) for ones in range(people + 1)]
