"""One shuffler for several protocols: twelve made-up people and how they come to work, one bit sum for each way.

For each of three ways, everybody sends one bit that says whether the way is theirs, and one random bit. Three channels
for the same messages:

    apart     each protocol has a shuffle of its own;
    tagged    one shuffle for all: every message carries the number of its protocol;
    bundles   one shuffle in which each person's messages stay together: what an anonymous form is.

The first two show the same. From a bundle a reader takes what is certain:
two ones mean yes, two zeros mean no, and a person has one way only. That reader is `read_off`, which gets the bundles
in random order and nothing else.

**One channel for many protocols.** Several bit sums can share one shuffler: every message carries the number of its
protocol, and all of them lie in one pile (`tagged`, `ones_of`). This view is equivalent to a shuffle
for each protocol: the number of messages of each tag is public (2n), so given the number of ones of each protocol both
are uniformly random orders, and each can be made from the other without the data. So both have the same law of ones and
the same (ε, δ), that of all sums together. A pile that keeps each person's messages together is different: it shows
rows without names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpengine.core.types import Bits, Integers
from dpengine.noise import shuffle_model
from dpengine.noise.coins import Coins, SystemCoins

WAYS = ("bus", "walk", "car")
HOLDS = (0, 1, 1, 2, 0, 2, 2, 1, 0, 2, 0, 1)  # how each of twelve people comes to work
CHANCE = Fraction(1, 4)
CHANNELS = ("apart", "tagged", "bundles")
Bundle = tuple[tuple[int, int], ...]  # for each protocol its two messages, in random order


@dataclass(frozen=True)
class Seen:
    """The output of the three channels for the same people and coins. A reader gets one of these."""

    apart: tuple[tuple[int, ...], ...]  # a pile for each protocol
    tagged: tuple[tuple[int, int], ...]  # one pile: protocol and bit
    bundles: tuple[Bundle, ...]  # a pile of people's envelopes


def play(coins: Coins | None = None) -> Seen:
    coins = coins or SystemCoins()
    sent = [shuffle_model.randomise(_bits(way), CHANCE, coins) for way in range(len(WAYS))]
    apart = tuple(tuple(int(bit) for bit in shuffle_model.shuffled(messages, coins)) for messages in sent)
    pile = shuffle_model.shuffled(tagged(sent), coins)
    return Seen(apart, tuple((int(bit) // 2, int(bit) % 2) for bit in pile), _bundled(sent, coins))


def _bundled(sent: Sequence[Bits], coins: Coins) -> tuple[Bundle, ...]:
    """Envelopes in random order. The two bits in each are sorted, so truth and coin cannot be distinguished."""
    order = coins.order(len(HOLDS))
    return tuple(tuple((int(min(of[at])), int(max(of[at]))) for of in sent) for at in order)


def _bits(way: int) -> Bits:
    return np.array([held == way for held in HOLDS], dtype=np.bool_)


def tagged(messages: Sequence[Bits]) -> Integers:
    """The messages of several protocols for one channel, one row per person. A message is its protocol's number,
    doubled, plus its bit."""
    return np.concatenate([2 * tag + bits.astype(np.int64) for tag, bits in enumerate(messages)], axis=1)


def ones_of(pile: Integers, protocols: int) -> tuple[int, ...]:
    """The number of ones of each protocol in a pile of tagged messages: the analyser's statistic."""
    return tuple(int(np.count_nonzero(pile == 2 * tag + 1)) for tag in range(protocols))


def counted_apart(piles: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The number of ones of each protocol, from the piles alone."""
    return tuple(sum(pile) for pile in piles)


def counted_tagged(pile: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The number of ones of each protocol, from the single pile of tagged messages, by the engine's own analyser."""
    return ones_of(np.array([2 * tag + bit for tag, bit in pile], dtype=np.int64), len(WAYS))


def estimates(totals: Sequence[int], people: int) -> tuple[float, ...]:
    return tuple(float(total - people * CHANCE) for total in totals)


def read_off(bundles: Sequence[Bundle]) -> int:
    """The number of envelopes whose bits are possible for one way to work only."""
    return sum(_certain(bundle) is not None for bundle in bundles)


def _certain(bundle: Bundle) -> int | None:
    """The person's way to work if the bits in the envelope allow only one way, else None."""
    sure = [way for way, (low, _) in enumerate(bundle) if low == 1]
    possible = [way for way, (_, high) in enumerate(bundle) if high == 1]
    if sure:
        return sure[0]
    return possible[0] if len(possible) == 1 else None
