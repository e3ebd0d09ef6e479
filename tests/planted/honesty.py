"""Wrong twins of what is said about people who do not keep to the protocol, and of one pile for many protocols."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np

from demos.lessons.channel import tagged
from dpengine.core.exact import decimal_of, exp_decimal
from dpengine.core.types import Integers
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.local.of_people import sums_of_coins
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import ShuffleHistogram
from dpengine.noise import shuffle_model
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.planning import trust_models
from dpengine.planning.trust_models import Shuffled
from tests.planted.registry import Planted

SCHEMA = Schema({"c": Category(["a", "b"], unknown="b", missing="b")})
SLACK = Decimal("1e-20")  # these sums have 28 digits


def chances_of(people: int, p: Fraction) -> list[Decimal]:
    law = sums_of_coins(people, p)
    assert law is not None
    return law


def seen(truth: tuple[int, ...], p: Fraction) -> dict[int, Decimal]:
    """What is left of the pile without the colluders' messages, listed coin by coin: its number of ones."""
    found: dict[int, Decimal] = {}
    for coins in product((0, 1), repeat=len(truth)):
        ones = sum(truth) + sum(coins)
        chance = decimal_of(p) ** sum(coins) * decimal_of(1 - p) ** (len(coins) - sum(coins))
        found[ones] = found.get(ones, Decimal(0)) + chance
    return found


def divergence(one: dict[object, Decimal], other: dict[object, Decimal], epsilon: Fraction) -> Decimal:
    factor = exp_decimal(epsilon)
    return sum((max(p - factor * other.get(at, Decimal(0)), Decimal(0)) for at, p in one.items()), Decimal(0))


def check_what_colluders_see(told: Callable[[Shuffled, int], Fraction]) -> None:
    """Eight people, some of them honest: δ of an honest person against observers who know the others' messages."""
    facts = Facts("t", SCHEMA, Unit.rows(), "replace", 8)
    count = ShuffleCount.build(facts, {"epsilon": "1", "delta": "0.5", "where": [["c", "in", ["a"]]]})
    bars = ShuffleHistogram.build(facts, {"epsilon": "1", "delta": "0.7", "column": "c"})
    for honest in (1, 3, 6):
        rest = (1,) * (honest // 2) + (0,) * (honest - 1 - honest // 2)
        for query, views in ((count, 1), (bars, 2)):
            laws = [seen((bit, *rest), query.chance) for bit in (0, 1)]
            if views == 1:
                pairs: list[tuple[dict[object, Decimal], dict[object, Decimal]]] = [(dict(laws[0]), dict(laws[1]))]
            else:  # the person is in the first bar or in the second
                pairs = [(_both(laws[1], laws[0]), _both(laws[0], laws[1]))]
            left = max(max(divergence(a, b, query.epsilon), divergence(b, a, query.epsilon)) for a, b in pairs)
            said = decimal_of(told(query, honest))
            assert said >= left - SLACK, f"{honest} honest people lose {float(left):.3f}, not {float(said):.3f}"
            assert said <= left + SLACK, f"told {float(said):.3f} where it is {float(left):.3f}"


def _both(one: dict[int, Decimal], other: dict[int, Decimal]) -> dict[object, Decimal]:
    return {(a, b): p * q for a, p in one.items() for b, q in other.items()}


def everybody_counted(query: Shuffled, honest: int) -> Fraction:
    """As if the coins of those who are not honest hid anybody."""
    return trust_models.delta_of(query, query.facts.about)


# --- one pile for many protocols

Channel = Callable[[Integers, Coins], Integers]
DRAWS = 600


def check_one_pile_keeps_nobody_together(channel: Channel) -> None:
    """Three people, two protocols, no coins: one of them alone has a one in both. In a random order of twelve messages
    two given ones stand within three places with chance 30/66; six deviations are 2·10⁻⁹."""
    coins, beside = SystemCoins(), 0
    has = np.array([True, False, False])
    sent = tagged([shuffle_model.randomise(has, Fraction(0), coins) for _ in range(2)])
    for _ in range(DRAWS):
        pile = channel(sent, coins)
        assert sorted(pile.tolist()) == sorted(sent.reshape(-1).tolist()), "messages are lost or made up"
        beside += abs(int(np.flatnonzero(pile == 1)[0]) - int(np.flatnonzero(pile == 3)[0])) <= 3
    expected = sum(12 - apart for apart in (1, 2, 3)) / 66
    spread = 6 * sqrt(DRAWS * expected * (1 - expected))
    assert abs(beside - DRAWS * expected) < spread, "messages of one person stay together in the pile"


def people_shuffled(messages: Integers, coins: Coins) -> Integers:
    """The order of people is random; each one's messages stay together."""
    return messages[coins.order(len(messages))].reshape(-1)


PLANTED = [
    Planted(
        "one pile in which people's messages stay together",
        "The order of people is random, but each one's messages are a row without a name.",
        check_one_pile_keeps_nobody_together,
        "stay together",
        shuffle_model.shuffled,
        people_shuffled,
    ),
    Planted(
        "coins of dishonest people counted as protection",
        "Whoever knows them takes them out of the pile.",
        check_what_colluders_see,
        "honest people lose",
        trust_models.delta_of,
        everybody_counted,
    ),
]
