"""The three stages of the shuffle model, apart from each other: a randomiser for each person, a shuffler, an analyser.

The randomiser sees one person's bit and that person's coins. The shuffler sees messages and no sender, and puts them in
a uniformly random order. The analyser sees the permuted messages and public numbers, and nothing else: it cannot be
given more, because this is all its function takes. Everybody may see what the analyser sees; privacy is promised for
that. Honest participants are assumed: each one's coin is part of everybody's noise.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpengine.core.arrays import Bits
from dpengine.noise.coins import Coins


def randomise(truth: Bits, chance: Fraction, coins: Coins, inverted: bool = False) -> Bits:
    """Every person's two messages: the bit, or its opposite, and a coin. One row for each person."""
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
    """Bits of so many people, `count` of them one. Their order is of no matter to anybody: all of them are shuffled or
    counted."""
    return np.arange(people) < count
