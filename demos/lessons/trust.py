"""Whom do you trust? One count under three trust models, and the messages of the shuffle model, stage by stage.

The errors are promises of the engine's own questions for that many people (`dpengine.planning.trust_models`). The
messages come from twelve made-up people, drawn by the engine's own randomiser and shuffler from the system's random
source. Twelve people hide nobody, so nothing is promised for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.types import Bits
from dpengine.noise import shuffle_model
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.planning import trust_models

NAMES = ("Ana", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gita", "Hugo", "Ines", "Jan", "Kim", "Lea")
HOLDS = (1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0)  # the truth of each person
CHANCE = Fraction(1, 4)  # of a coin; a round number for a picture
PEOPLE = trust_models.SIZES
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
SHOWN = ("central", "tight", "local")


@dataclass(frozen=True)
class Stages:
    """The contents of the three stages. The analyser gets `pile` and nothing else."""

    sent: tuple[tuple[int, int], ...]  # for each person: the truth, and a coin
    pile: tuple[int, ...]  # all messages in a uniformly random order


def play(coins: Coins | None = None) -> Stages:
    coins = coins or SystemCoins()
    sent = shuffle_model.randomise(_bits(), CHANCE, coins)
    pile = shuffle_model.shuffled(sent, coins)
    return Stages(tuple((int(bit), int(coin)) for bit, coin in sent), tuple(int(bit_sent) for bit_sent in pile))


def analysed(pile: tuple[int, ...]) -> tuple[int, float]:
    """The number of ones in the permuted messages, and the estimate from that number and public numbers."""
    total = sum(pile)
    return total, float(total - len(pile) // 2 * CHANCE)


def _bits() -> Bits:
    import numpy as np

    return np.array(HOLDS, dtype=np.bool_)


@dataclass(frozen=True)
class Settings:
    people: int = 10_000


def errors(settings: Settings) -> dict[str, float]:
    """By trust model, the error that holds 95 times in 100, in people."""
    along = trust_models.along_people("count", 2, EPSILON, DELTA)
    return {model: dict(along[model])[settings.people] for model in SHOWN}
