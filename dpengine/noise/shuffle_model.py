"""The three stages of the shuffle model, apart from each other: a randomiser for each person, a shuffler, an analyser.

The randomiser sees one person's bit and that person's coins. The shuffler sees messages without senders, and puts them
in a uniformly random order. The analyser sees the shuffled messages and public numbers, and nothing else: its function
takes nothing else. The privacy guarantee is for what the analyser sees, so anybody may see it. Participants are assumed
to be honest, because each one's coin is part of the noise that protects the others.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpengine.core.arrays import Bits
from dpengine.noise.coins import Coins


def randomise(truth: Bits, chance: Fraction, coins: Coins, inverted: bool = False) -> Bits:
    """Every person's two messages, one row per person: the bit (or, if `inverted`, its opposite) and a random coin."""
    return np.stack([~truth if inverted else truth, coins.many_flips(chance, len(truth))], axis=1)


def shuffled(messages: Bits, coins: Coins) -> Bits:
    """All messages of all people in a uniformly random order."""
    loose = messages.reshape(-1)
    return loose[coins.order(len(loose))]


def count_ones(messages: Bits) -> int:
    """What the analyser needs of the permuted messages."""
    return int(np.count_nonzero(messages))


def answer_locally(truth: Bits, chance: Fraction, coins: Coins) -> Bits:
    """The local model: one message each, the bit or, with this chance, its opposite. Nobody needs to shuffle."""
    return coins.toggle(truth, chance)


def holders(count: int, people: int) -> Bits:
    """The bits of `people` people, `count` of them 1. Their order does not matter: all are shuffled or counted."""
    return np.arange(people) < count
