"""The three stages of the shuffle model, one by one: a randomiser for each person, a shuffler, an analyser.

The randomiser sees one person's bit and that person's coins. The shuffler sees messages without senders, and puts them
in a uniformly random order. The analyser sees the shuffled messages and public numbers, and nothing else: its function
takes nothing else. The privacy guarantee is for the analyser's view, so anybody may see it. We assume honest
participants, because each one's coin is part of the noise that protects the others (`planning/trust_models.py` says
what is left if only some of them are honest).

**A curator can play the shuffler** (lecture 8, Observation 1): whoever holds all data can run every randomiser and the
shuffle alone, and release the pile. So the central model can compute whatever the shuffle model can, with the same
privacy and the same error. That is what this computer does.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import numpy as np

from dpengine.core.types import Bits, Integers
from dpengine.noise.coins import Coins


def randomise(truth: Bits, chance: Fraction, coins: Coins, inverted: bool = False) -> Bits:
    """Every person's two messages, one row per person: the bit (or, if `inverted`, its opposite) and a random coin."""
    return np.stack([~truth if inverted else truth, coins.many_flips(chance, len(truth))], axis=1)


Messages = TypeVar("Messages", Bits, Integers)  # of one protocol, or tagged


def shuffled(messages: Messages, coins: Coins) -> Messages:
    """All messages of all people, and of all protocols, in one uniformly random order."""
    loose = messages.reshape(-1)
    return loose[coins.order(len(loose))]


def count_ones(messages: Bits) -> int:
    """The analyser's statistic: how many of the shuffled messages are 1."""
    return int(np.count_nonzero(messages))


def holders(count: int, people: int) -> Bits:
    """The bits of `people` people, of whom `count` have a 1. The order does not matter: the bits are shuffled or
    counted."""
    return np.arange(people) < count
