"""Wrong twins of what answers say about the population: a bound that forgets what the analyst saw before."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpengine.core.amounts import BETA
from dpengine.population.noise_for_k import LAPLACE, Calibration
from dpengine.population.validity import description
from tests.planted.registry import Planted

PEOPLE, QUESTIONS, CELLS, RUNS = 2_000, 152, 100, 10

Width = Callable[[int, int, int], float]


def attacked(people: int, questions: int, cells: int, random: np.random.Generator) -> float:
    """An analyst asks for the share of “yes” to each of many coins, told without noise as one of so many values, and
    last how many people have more than half of the coins as she saw them lean. Half of the population has."""
    coins = random.random((people, questions - 1)) < 0.5
    told = (np.floor(coins.mean(axis=0) * cells).clip(0, cells - 1) + 0.5) / cells
    leaning = np.where(told > 0.5, 1, -1)
    sums = (2 * coins.astype(np.int64) - 1) @ leaning
    return float(np.mean(sums > 0)) - 0.5  # an odd number of coins: no ties


def width_of_the_last(people: int, questions: int, cells: int) -> float:
    return float(description(_quiet(people, questions), cells).width)


def forgets_earlier_answers(people: int, questions: int, cells: int) -> float:
    return math.sqrt(math.log(2 * questions / float(BETA)) / (2 * people)) + 1 / (2 * cells)


def check_the_last_question_is_covered(width: Width) -> None:
    """Her last question is about 0.09 ± 0.01 off. The bound is 0.42; one of 0.05 fails in all but one of 1,000 runs."""
    random = np.random.default_rng(secrets.randbits(64))
    off = [attacked(PEOPLE, QUESTIONS, CELLS, random) for _ in range(RUNS)]
    most = width(PEOPLE, QUESTIONS, CELLS)
    assert max(off) <= most, f"an answer is {max(off):.3f} further from the population than ±{most:.3f} says"


def _quiet(people: int, questions: int) -> Calibration:
    return Calibration(LAPLACE, people, questions, 1, Fraction(1, 1000))


PLANTED = [
    Planted(
        "a bound on the population that forgets earlier answers",
        "Each question is taken for one that was fixed before the table was drawn.",
        check_the_last_question_is_covered,
        "further from the population",
        width_of_the_last,
        forgets_earlier_answers,
    ),
]
