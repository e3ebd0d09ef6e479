"""Lesson 1, the differencing attack: two counts that differ in one person, subtracted.

The attacker knows the blood pressure b of one patient of `clinic`, a made-up table, and that nobody else has it. He
asks for the number of patients with diabetes up to b − 1 and up to b: two prefix sums, whose difference is one
diagnosis.

*Exact answers* give the diagnosis. *Private answers* are counts with discrete Laplace noise of scale 1/ε; *again and
again* he asks both counts until the rule of a practice ledger refuses, and takes the mean of the differences.

**How often he is right.** With S the sum of the noise of k pairs (2k independent draws, signs aside) he says “has it”
where the mean difference is above ½, and tosses a coin at ½. Either way he is right with chance
Pr[S < k/2] + ½·Pr[S = k/2], read off the exact law of S.

**How often anybody can be.** Whoever is fifty-fifty beforehand and sees an (ε, δ)-DP release is right with chance at
most (e^ε + δ)/(1 + e^ε): the two kinds of error satisfy 1 − a ≤ e^ε·b + δ and 1 − b ≤ e^ε·a + δ; add them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from demos.lessons.clinic import ALLOWANCE, facts
from demos.lessons.patients import PERSON, with_diabetes
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, admits, spent, used
from dpengine.core.exact import exp_decimal
from dpengine.mechanisms.counts.count import Count
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.tails import sum_tail

PERSONS = (152, 163, 168)  # blood pressures that only one patient has
WAYS = ("exact", "noise", "ledger")
MOST_PAIRS = 12


@dataclass(frozen=True)
class Settings:
    way: str = "exact"
    person: int = PERSON
    epsilon: Fraction = Fraction(1, 10)
    pairs: int = 1


@dataclass(frozen=True)
class Attack:
    settings: Settings
    exact: tuple[int, int]  # up to the pressure below, and up to the person's own
    pairs: tuple[tuple[int, int], ...]  # the private answers that the rule admitted
    refused: bool
    spent: Fraction  # the practice ledger's ε if nothing more is asked
    used: Fraction  # the used part on its meter
    right: float  # how often a guess from the mean difference is right
    most: float  # the best possible share of right guesses
    worlds: tuple[tuple[float, float, float], ...]  # mean difference; its chance without and with the diagnosis

    @property
    def difference(self) -> int:
        return self.exact[1] - self.exact[0]

    @property
    def mean(self) -> float:
        """The mean difference that the attacker sees."""
        return sum(second - first for first, second in self.pairs) / len(self.pairs)


def run(settings: Settings, coins: Coins | None = None) -> Attack:
    exact = (with_diabetes(settings.person - 1), with_diabetes(settings.person))
    wanted = {"exact": 0, "noise": 1, "ledger": settings.pairs}[settings.way]
    rule = ALLOWANCE.rule()
    admitted, totals = _admitted(rule, settings, wanted)
    queries = [question(settings, edge) for edge in (settings.person - 1, settings.person)]
    coins = coins or SystemCoins()
    pairs = tuple((queries[0].draw(exact[0], coins)[0], queries[1].draw(exact[1], coins)[0]) for _ in range(admitted))
    gone = spent(rule, totals) if admitted else Fraction(0)
    if not admitted:
        return Attack(settings, exact, (), False, gone, gone, 1.0, 1.0, ())
    laws = worlds(queries[0].scale, admitted)
    likely = right(queries[0].scale, admitted)
    best = most(gone, ALLOWANCE.delta)
    return Attack(settings, exact, pairs, admitted < wanted, gone, used(rule, totals), likely, best, laws)


def question(settings: Settings, edge: int) -> Count:
    """A count as on Ask: how many patients have diabetes and a pressure of at most `edge`."""
    where = [["diabetes", "in", ["yes"]], ["blood_pressure", "<=", edge]]
    return Count.build(facts(), {"where": where, "epsilon": settings.epsilon})


def _admitted(rule: Rule, settings: Settings, wanted: int) -> tuple[int, Totals]:
    """How many pairs of counts, of those wanted, the ledger's rule admits, and what they cost. Half a pair is never
    asked."""
    price = cost(question(settings, settings.person).loss(), rule.alpha)
    totals = Totals.NOTHING
    for asked in range(wanted):
        after = totals.plus(price).plus(price)
        if not admits(rule, after):
            return asked, totals
        totals = after
    return wanted, totals


def right(scale: Fraction, pairs: int) -> float:
    """The chance that the attacker is right after this number of pairs: Pr[S < k/2] + ½·Pr[S = k/2], S the sum of 2k
    draws."""
    half = pairs // 2
    above = sum_tail(scale, 2 * pairs, half)
    tie = sum_tail(scale, 2 * pairs, half - 1) - above if pairs % 2 == 0 else Decimal(0)
    return float(1 - above - tie / 2)


def most(epsilon: Fraction, delta: Fraction) -> float:
    odds = exp_decimal(epsilon)
    return float((odds + Decimal(delta.numerator) / Decimal(delta.denominator)) / (1 + odds))


def worlds(scale: Fraction, pairs: int) -> tuple[tuple[float, float, float], ...]:
    """The distribution of the mean difference in the two worlds, in about thirty steps of equal width."""
    reach = math.ceil(float(scale) * 40) + 1
    ratio = math.exp(-1 / float(scale))
    single = np.exp(-np.abs(np.arange(-reach, reach + 1)) / float(scale)) * (1 - ratio) / (1 + ratio)
    spread = math.sqrt(2 * pairs * 2 * ratio) / (1 - ratio)  # the standard deviation of S
    window = math.ceil(4 * spread) + pairs
    law = _power(single, 2 * pairs, window)
    width = max(1, round(spread / 5))
    steps = math.ceil(3 * spread / width)
    points = []
    for step in range(-steps, steps + 1):
        low = step * width - width // 2
        without, with_it = (
            float(law[window + low - shift : window + low - shift + width].sum()) for shift in (0, pairs)
        )
        points.append((step * width / pairs, without, with_it))
    return tuple(points)


def _power(single: np.ndarray, times: int, window: int) -> np.ndarray:
    """The distribution of a sum of `times` draws, from −window to window; `single` is wide enough for that."""
    size = 1 << math.ceil(math.log2(len(single) * times + 1))
    law = np.fft.irfft(np.fft.rfft(single, size) ** times, size)
    middle = (len(single) // 2) * times
    return law[middle - window : middle + window + 1]
