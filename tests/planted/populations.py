"""Wrong twins of what answers say about the population: bounds that forget what the analyst saw before."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

import dpengine as dp
from dpengine.accountant.history import Past
from dpengine.core.amounts import BETA
from dpengine.declared.facts import Facts
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.noise.coins import SystemCoins
from dpengine.population.noise_for_k import LAPLACE, Calibration
from dpengine.population.session_validity import outward, rounded
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


# --- a session after other releases: 85 % of the allowance on bars, then one question chosen from them ---------------

VALUES, ASKED, ATTACKS = 8_000, 4_000, 200
_FACTS = Facts(
    "bars",
    dp.Schema({"x": dp.Category([f"v{place}" for place in range(VALUES)], unknown="v0", missing="v0")}),
    dp.Unit.rows(),
    "replace",
    ASKED,
)

Claim = Callable[[AdaptiveSession, Past], float]


@lru_cache(maxsize=1)
def bars() -> Histogram:
    return Histogram.build(_FACTS, {"column": "x", "epsilon": "0.85"})


def one_question(past: Past) -> AdaptiveSession:
    query = AdaptiveSession.build(_FACTS, {"questions": 1, "epsilon": "0.15"})
    return rounded(query, past)


@lru_cache(maxsize=1)
def chosen_from_bars() -> tuple[float, ...]:
    """People's values are even over VALUES. She buys the bars, and then asks which share of people has a value whose
    bar is above 0: how far each answer is from the population, in ATTACKS runs with the noise of both questions."""
    random, coins, bought = np.random.default_rng(secrets.randbits(64)), SystemCoins(), bars()
    query = one_question(Past.of([bought.loss()])).asking({"share": [["x", "in", ["v1"]]]})
    off = []
    for _ in range(ATTACKS):
        values = random.integers(0, VALUES, ASKED)
        counts = np.bincount(values, minlength=VALUES)
        high = coins.many_laplace(counts, bought.scale) > 0
        [total] = query.draw(int(high[values].sum()), coins)
        off.append(abs(query.finish((total,)).value / 100 - float(high.mean())))
    return tuple(off)


def counts_the_past(query: AdaptiveSession, past: Past) -> float:
    return float(outward(query, past)[0].width)


def looks_at_the_session_alone(query: AdaptiveSession, past: Past) -> float:
    return float(outward(query)[0].width)


def check_a_claim_counts_what_was_released(claim: Claim) -> None:
    """At most 5 in 100 of 200 claims may be false. A claim that counts the bars is false with a chance below 1 in 250
    (`test_history.py` computes it), so that more than 10 are has a chance below 1e-6; one that does not is always."""
    past = Past.of([bars().loss()])
    width = claim(one_question(past), past)
    false = sum(off > width for off in chosen_from_bars())
    assert false <= ATTACKS // 20, f"{false} of {ATTACKS} claims about the population are false after other releases"


PLANTED = [
    Planted(
        "a bound on the population that looks at this session alone",
        "What was released before, and may have led to the question, is not counted.",
        check_a_claim_counts_what_was_released,
        "false after other releases",
        counts_the_past,
        looks_at_the_session_alone,
    ),
    Planted(
        "a bound on the population that forgets earlier answers",
        "Each question is taken for one that was fixed before the table was drawn.",
        check_the_last_question_is_covered,
        "further from the population",
        width_of_the_last,
        forgets_earlier_answers,
    ),
]
