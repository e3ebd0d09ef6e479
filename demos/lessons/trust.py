"""Whom do you trust? One count under three kinds of trust, and the messages of the shuffle model, stage by stage.

The errors are promises of the engine's own questions for so many people (`dpengine.planning.trust_models`). The
messages are those of twelve made-up people, drawn by the engine's own randomiser and shuffler with the system's coins;
twelve people hide nobody in earnest, which is why nothing is promised of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.types import Bits
from dpengine.noise import shuffle_model
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.planning import trust_models

NAMES = ("Ana", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gita", "Hugo", "Ines", "Jan", "Kim", "Lea")
HOLDS = (1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0)  # who has what is asked about
CHANCE = Fraction(1, 4)  # of a coin; a round number for a picture
PEOPLE = trust_models.SIZES
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
SHOWN = ("central", "tight", "local")


@dataclass(frozen=True)
class Stages:
    """What each of the three stages holds. The analyser is handed `pile` and nothing else."""

    sent: tuple[tuple[int, int], ...]  # of each person: the truth, and a coin
    pile: tuple[int, ...]  # all messages in a uniformly random order


def play(coins: Coins | None = None) -> Stages:
    coins = coins or SystemCoins()
    sent = shuffle_model.randomise(_bits(), CHANCE, coins)
    pile = shuffle_model.shuffled(sent, coins)
    return Stages(tuple((int(bit), int(coin)) for bit, coin in sent), tuple(int(one) for one in pile))


def analysed(pile: tuple[int, ...]) -> tuple[int, float]:
    """How many ones, and the estimate: from the permuted messages and public numbers alone."""
    ones = sum(pile)
    return ones, float(ones - len(pile) // 2 * CHANCE)


def _bits() -> Bits:
    import numpy as np

    return np.array(HOLDS, dtype=np.bool_)


@dataclass(frozen=True)
class Settings:
    people: int = 10_000


def errors(settings: Settings) -> dict[str, float]:
    """What each kind of trust promises, in people, 95 times in 100."""
    along = trust_models.along_people("count", 2, EPSILON, DELTA)
    return {model: dict(along[model])[settings.people] for model in SHOWN}
