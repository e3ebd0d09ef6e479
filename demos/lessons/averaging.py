"""Lesson 2, the averaging attack: ask the same thing again and again, and take the mean.

Each answer is the true count with discrete Laplace noise of scale 1/ε. The mean of k answers has noise with a √k times
smaller spread, so where nobody counts the questions the truth comes out. *Basic composition*: k answers of ε are
together kε-DP, so ⌊allowance/ε⌋ of them fit into an allowance. The ledger's *filter* admits at least as many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from demos.lessons.clinic import ALLOWANCE, facts
from demos.lessons.patients import patients
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, fits, used
from dpengine.core.exact import exp_decimal
from dpengine.mechanisms.counts.count import Count
from dpengine.noise.coins import Coins, SystemCoins

WAYS = ("open", "ledger")
TIMES = (1, 2, 5, 10, 20, 50, 100, 200, 500)


@dataclass(frozen=True)
class Settings:
    way: str = "open"
    times: int = 1
    epsilon: Fraction = Fraction(1, 20)


@dataclass(frozen=True)
class Averaged:
    settings: Settings
    truth: int
    answers: tuple[int, ...]  # as many as requested; only the first `given` reach the asker
    given: int
    most: int  # questions that the ledger's rule admits
    most_basic: int  # questions that basic composition admits
    added: Fraction  # Σ ε of the given answers
    spent: Fraction  # the meter's used ε; with the ledger, at most the allowance

    @cached_property
    def mean(self) -> float:
        return sum(self.answers[: self.given]) / self.given

    @property
    def error(self) -> float:
        """The standard deviation of the mean of the answers."""
        return spread(self.settings.epsilon) / math.sqrt(self.given)

    @property
    def refused(self) -> bool:
        return self.given < self.settings.times


def run(settings: Settings, coins: Coins | None = None) -> Averaged:
    truth, query, rule = count(), question(settings.epsilon), ALLOWANCE.rule()
    price = cost(query.loss(), rule.alpha)
    most = fits(rule, Totals.NOTHING, price)
    given = min(settings.times, most) if settings.way == "ledger" else settings.times
    coins = coins or SystemCoins()
    answers = query.draw((truth,) * settings.times, coins)  # each with its own noise
    totals = Totals(price.epsilon and given * price.epsilon, given * price.renyi, Fraction(0))
    return Averaged(
        settings,
        truth,
        answers,
        given,
        most,
        ALLOWANCE.epsilon // settings.epsilon,
        given * settings.epsilon,
        used(rule, totals) * ALLOWANCE.epsilon,
    )


def question(epsilon: Fraction) -> Count:
    """The question how many of the clinic's patients smoke, built as Ask builds a count."""
    return Count.build(facts(), {"where": [["smoker", "in", ["yes"]]], "epsilon": epsilon})


def spread(epsilon: Fraction) -> float:
    """The standard deviation of discrete Laplace noise of scale 1/ε: √(2r)/(1−r), r = e^−ε."""
    ratio = float(exp_decimal(-epsilon))
    return math.sqrt(2 * ratio) / (1 - ratio)


def count() -> int:
    return sum(patient.smoker for patient in patients())
