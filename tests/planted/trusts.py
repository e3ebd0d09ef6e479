"""Wrong twins of the shuffle and local models: a coin that hides nothing, stages that are not apart, a wrong centre."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from dpengine.audit.exact import hockey_stick
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of
from dpengine.core.types import Bits
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.local.of_people import sums_of_coins
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import ShuffleHistogram
from dpengine.noise import binomial, shuffle_model
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.laws import Finite, Law
from tests.planted.registry import Planted

ONE, DELTA = Fraction(1), Fraction(1, 10**6)
SCHEMA = Schema({"c": Category(["a", "b"], unknown="b", missing="b")})
DRAWS = 400


def facts(people: int) -> Facts:
    return Facts("t", SCHEMA, Unit.rows(), "replace", people)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Which coin a question takes for so many people; None where it refuses."""

    coin: Callable[[int, Fraction, Fraction], Fraction | None]
    sums: int


def check_the_coin_keeps_its_delta(chosen: Calibration) -> None:
    """At the sizes where a coin below 1 may hide nothing, and at usual ones."""
    for people in (697, 711, 720, 5_000):
        p = chosen.coin(people, ONE, DELTA)
        if p is None:
            continue
        left = (binomial.excess if chosen.sums == 1 else binomial.excess_of_two)(people, p, ONE)
        assert left <= decimal_of(DELTA), f"the coin keeps δ = {float(left):.2g} only, with {people} people"


def lecture(people: int, epsilon: Fraction, delta: Fraction) -> Fraction | None:
    given = {"epsilon": str(epsilon), "delta": "1e-6", "where": [["c", "in", ["a"]]], "calibration": "lecture"}
    try:
        return ShuffleCount.build(facts(people), given).chance
    except AllowanceError:  # refused, as it should be
        return None


def below_one(people: int, epsilon: Fraction, delta: Fraction) -> Fraction | None:
    p = binomial.lecture_chance(people, epsilon, delta)
    return p if p < 1 else None


def joint(people: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    return ShuffleHistogram.build(facts(people), {"epsilon": str(epsilon), "delta": "1e-6", "column": "c"}).chance


def of_one_sum(people: int, epsilon: Fraction, delta: Fraction) -> Fraction | None:
    """Each sum by itself at the full ε and δ, as if a person changed one of them only."""
    return binomial.least_chance(people, epsilon, delta)


Shuffle = Callable[[Bits, Coins], Bits]


def check_the_analyser_gets_a_shuffled_pile(shuffler: Shuffle) -> None:
    """Where the one true bit of four people stands: anywhere alike, or a deviation of six (2·10⁻⁹ each)."""
    coins, truth, places = SystemCoins(), shuffle_model.holders(1, 4), np.zeros(8)
    for _ in range(DRAWS):
        places += shuffler(shuffle_model.randomise(truth, Fraction(0), coins), coins)
    spread = 6 * sqrt(DRAWS / 8 * 7 / 8)
    assert (abs(places - DRAWS / 8) < spread).all(), "a place in the pile tells who sent it"


def unshuffled(messages: Bits, coins: Coins) -> Bits:
    return messages.reshape(-1)


def check_the_centre(told: Callable[[int], tuple[float, Any]]) -> None:
    """The second solution at the middle of its noise, for 1,500 of 2,000 people."""
    query = second()
    value, interval = told(2_000 - 1_500 + int(2_000 * query.chance))
    assert abs(value - 1_500) < 1, f"{value:.0f} is told where 1,500 are"
    assert interval[0] <= 1_500 <= interval[1]


def second() -> ShuffleHistogram:
    given = {"epsilon": "1", "delta": "1e-6", "column": "c", "solution": "second"}
    return ShuffleHistogram.build(facts(2_000), given)


def reversed_sign(ones: int) -> tuple[float, Any]:
    query = second()
    value, interval = query._bar(ones)
    return value - 2 * float(2_000 * query.chance), interval


def check_the_pile_keeps_the_claim(law_of: Callable[[int], Law]) -> None:
    """The law of the pile's sum for 100 people at ε = 1 and δ = 10⁻⁶, for neighbours, by the auditor."""
    for one, other in ((40, 41), (41, 40), (0, 1), (1, 0)):
        span = hockey_stick(law_of(one), law_of(other), ONE)
        assert span.high <= decimal_of(DELTA), "the pile loses more than δ"


def as_built(count: int) -> Law:
    query = ShuffleCount.build(facts(100), {"epsilon": "1", "delta": "1e-6", "where": [["c", "in", ["a"]]]})
    law = query.law(count)
    assert law is not None
    return law


def shared_coin(count: int) -> Law:
    return Finite({count: decimal_of(Fraction(1, 2)), count + 100: decimal_of(Fraction(1, 2))})


def fewer_coins(count: int) -> Law:
    """Only half of the people toss one."""
    noise = sums_of_coins(50, Fraction(1, 2))
    assert noise is not None
    return Finite({count + ones: chance for ones, chance in enumerate(noise)})


# --- the second solution's ranges


def held_by(people: int, most: int) -> list[tuple[int, ...]]:
    """How many people hold each value that anybody holds: every way for up to so many people, largest first."""
    if people == 0 or most == 0:
        return [()]
    return [
        (),
        *(
            (first, *rest)
            for first in range(1, most + 1)
            for rest in held_by(people - first, min(first, people - first))
        ),
    ]


def chance_of_a_miss(query: ShuffleHistogram, held: tuple[int, ...]) -> Decimal:
    """How likely it is that any value's range, or the promised error, misses: by listing the noise of each value."""
    people, promised, fine = query.facts.about, query.promise().alpha, Decimal(1)
    law = sums_of_coins(people, query.chance)
    assert law is not None

    def right(count: int) -> Decimal:
        told = ((chance, *query._bar(people - count + coins)) for coins, chance in enumerate(law))
        held = (
            chance for chance, value, (low, high) in told if low <= count <= high and abs(value - count) <= promised
        )
        return sum(held, Decimal(0))

    for count, values in Counter((*held, *([0] * (query.size - len(held))))).items():
        fine *= right(count) ** values
    return 1 - fine


def check_the_second_solution_s_ranges(built: Callable[[int, int], ShuffleHistogram]) -> None:
    """For every way in which nine people can hold twelve values or three, and for many people in even groups."""
    cases = [(9, values, held) for values in (12, 3) for held in held_by(9, 9) if len(held) <= values]
    cases += [(240, values, (240 // groups,) * groups) for values in (300, 12) for groups in (1, 2, 3, 4, 6, 8, 12)]
    for people, values, held in cases:
        query = built(people, values)
        missed = chance_of_a_miss(query, held)
        assert missed <= decimal_of(query.beta), f"the ranges miss with chance {float(missed):.3f}"


@cache
def of_values(people: int, values: int) -> ShuffleHistogram:
    labels = [f"v{number}" for number in range(values)]
    about = replace(facts(people), schema=Schema({"c": Category(labels, unknown=labels[0], missing=labels[0])}))
    given = {"epsilon": "1", "delta": "0.3", "column": "c", "solution": "second"}
    return ShuffleHistogram.build(about, given)


@dataclass(frozen=True, kw_only=True)
class OneValueErrs(ShuffleHistogram):
    """Each value's range holds by itself; nobody adds up the values that can err."""

    @property
    def erring(self) -> int:
        return 1


def one_value_errs(people: int, values: int) -> ShuffleHistogram:
    query = of_values(people, values)
    return OneValueErrs(**{one.name: getattr(query, one.name) for one in fields(query)})


PLANTED = [
    Planted(
        "a union bound over one value",
        "Up to n values can be reported wrongly, and each was given the whole β.",
        check_the_second_solution_s_ranges,
        "the ranges miss",
        of_values,
        one_value_errs,
    ),
    Planted(
        "the lecture's coin accepted because p < 1",
        "Near 1 nearly every coin comes up and the noise vanishes.",
        check_the_coin_keeps_its_delta,
        "the coin keeps δ",
        Calibration(lecture, 1),
        Calibration(below_one, 1),
    ),
    Planted(
        "one sum's coin for two sums",
        "A person who moves changes two bars; each was given the full ε and δ.",
        check_the_coin_keeps_its_delta,
        "the coin keeps δ",
        Calibration(joint, 2),
        Calibration(of_one_sum, 2),
    ),
    Planted(
        "an analyser that gets unshuffled messages",
        "The place of a message tells who sent it.",
        check_the_analyser_gets_a_shuffled_pile,
        "who sent it",
        shuffle_model.shuffled,
        unshuffled,
    ),
    Planted(
        "the source's reversed sign",
        "The second solution takes the noise's mean away where it must add it.",
        check_the_centre,
        "is told where 1,500 are",
        second()._bar,
        reversed_sign,
    ),
    Planted(
        "one coin shared by all people",
        "The noise is 0 or n, and blurs nobody.",
        check_the_pile_keeps_the_claim,
        "loses more than δ",
        as_built,
        shared_coin,
    ),
    Planted(
        "half of the people toss no coin",
        "The coins of those who do are too few for the claim.",
        check_the_pile_keeps_the_claim,
        "loses more than δ",
        as_built,
        fewer_coins,
    ),
]
