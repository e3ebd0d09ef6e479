"""Wrong twins of the shuffle and local models: a coin that hides nothing, stages that are not apart, a wrong centre."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from dpengine.audit.exact import hockey_stick
from dpengine.core.arrays import Bits
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of
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
    value, interval = query._told(ones)
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


PLANTED = [
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
        second()._told,
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
