"""The two bells: what k noisy answers tell about one person, all together.

One table gives 19, its neighbour 20; every answer is that number plus discrete Laplace noise of scale 1/ε, so it is
ε-DP. An answer of 19 or less speaks for the first table by exactly ε, one of 20 or more for the second by ε: the loss
of one answer is ±ε, with the right sign with chance p = e^ε/(1+e^ε), only a little above ½. The losses of k answers
add: ε·(2B − k) with B ~ Binomial(k, p) under the first table and Binomial(k, 1−p) under the second. At worst that is
k·ε; but some answers mislead, so the two bells lie k·ε·tanh(ε/2) to either side of 0 and are about ε·√k wide.

Every ε-DP answer is at most as telling as this pair (Kairouz, Oh and Viswanath 2015), so the figures hold for any k of
them whose ε was fixed beforehand. Strong composition (Dwork, Rothblum and Vadhan 2010, with the lecture's constants):
ε̂ = 2kε² + ε·√(2k·ln(1/δ)).

Its proof rests on two lemmas of lecture 6. **Lemma 3**: if Pr[loss > ε̂] ≤ δ, with outcomes drawn under one table, then
(ε̂, δ) holds for that pair. (Let W be the outcomes of larger loss: Pr[B] ≤ Pr[W] + Pr[B∖W] ≤ δ + e^ε̂·Pr′[B].) It gives
away something: the exact δ counts 1 − e^(ε̂−loss) of each such outcome, not all of it. **Lemma 4**: the expected loss of
an ε-DP answer is at most 2ε², far less than ε. Exactly:

    a lying coin, and discrete Laplace noise of scale 1/ε   loss ±ε, the right sign with e^ε/(1+e^ε): E = ε·tanh(ε/2)
    Laplace noise of scale 1/ε, between 19 and 20           E = ε − 1 + e^−ε

Both are at most ε²/2, and the first is the most that any ε-DP answer has (it is the most telling pair, and the expected
loss never grows by post-processing), so the lemma's 2 could be ½. Azuma's inequality does the rest: k losses of at most
ε, with expectation at most 2ε² each, stay below 2kε² + ε√(2k ln(1/δ)) but for δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpengine.core.exact import decimal_of, exp_decimal
from dpengine.core.types import Floats

FIRST, SECOND = 19, 20
QUESTIONS = (1, 2, 3, 5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
EPSILONS = tuple(map(Fraction, ("0.01", "0.05", "0.1", "0.2", "0.5", "1")))
DELTA = 1e-6


@dataclass(frozen=True)
class Settings:
    questions: int = 100
    epsilon: Fraction = Fraction(1, 20)


@dataclass(frozen=True)
class Figures:
    losses: Floats  # possible losses of k answers, from −kε to kε
    first: Floats  # their distribution under the first table
    second: Floats  # and under its neighbour
    simple: float  # kε
    exact: float  # the smallest ε̂ that holds except with δ
    lecture: float  # 2kε² + ε√(2k ln 1/δ)
    middle: float  # of a bell
    width: float  # its standard deviation
    guessed: float  # the chance that the best guess names the right table
    misled: float  # the share of answers that point to the wrong table


def figures(settings: Settings) -> Figures:
    k, epsilon = settings.questions, float(settings.epsilon)
    losses, first = total(k, epsilon)
    p = 1 / (1 + math.exp(-epsilon))
    guessed = float(first[losses > 0].sum() + first[losses == 0].sum() / 2)
    return Figures(
        losses,
        first,
        first[::-1],
        k * epsilon,
        composed(k, epsilon),
        lecture(k, epsilon),
        k * epsilon * math.tanh(epsilon / 2),
        2 * epsilon * math.sqrt(k * p * (1 - p)),
        min(guessed, 1.0),
        1 - p,
    )


def total(k: int, epsilon: float) -> tuple[Floats, Floats]:
    """The losses ε·(2b−k) and their chances under the first table, Binomial(k, e^ε/(1+e^ε))."""
    hits = np.arange(k + 1)
    logs = np.array([math.lgamma(k + 1) - math.lgamma(b + 1) - math.lgamma(k - b + 1) for b in hits.tolist()])
    chances: Floats = np.exp(logs + hits * epsilon - k * math.log1p(math.exp(epsilon)))
    losses = np.asarray((2 * hits - k) * epsilon, dtype=np.float64)
    return losses, chances


def slack(k: int, epsilon: float, at: float) -> float:
    """The smallest δ for which k answers are (at, δ)-DP: the sum of chance·(1 − e^(at−loss)) over all losses above
    `at`."""
    losses, chances = total(k, epsilon)
    above = losses > at
    return float(np.sum(chances[above] * -np.expm1(at - losses[above])))


def composed(k: int, epsilon: float, delta: float = DELTA) -> float:
    """The smallest ε̂ for which k answers are (ε̂, δ)-DP, by bisection: a larger ε̂ needs a smaller δ, and kε needs
    none."""
    low, high = 0.0, k * epsilon
    if slack(k, epsilon, low) <= delta:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slack(k, epsilon, middle) > delta else (low, middle)
    return high


def lecture(k: int, epsilon: float, delta: float = DELTA) -> float:
    return 2 * k * epsilon**2 + epsilon * math.sqrt(2 * k * math.log(1 / delta))


@dataclass(frozen=True)
class Lemmas:
    """What the two lemmas say about k answers, beside the exact values."""

    coin: Decimal  # E[loss] of one answer: randomized response, or discrete Laplace noise
    laplace: Decimal  # the same with continuous Laplace noise
    bound: Fraction  # 2ε²
    above: float  # Pr[loss of all > the lecture's ε̂]: Lemma 3 needs at most δ
    delta: float  # the true δ of k answers at that ε̂


def lemmas(settings: Settings) -> Lemmas:
    k, epsilon = settings.questions, settings.epsilon
    at = lecture(k, float(epsilon))
    losses, chances = total(k, float(epsilon))
    return Lemmas(
        expected_coin(epsilon),
        expected_laplace(epsilon),
        2 * epsilon**2,
        float(chances[losses > at].sum()),
        slack(k, float(epsilon), at),
    )


def expected_coin(epsilon: Fraction) -> Decimal:
    """The expected loss of a lying coin, ε·tanh(ε/2): ε with chance e^ε/(1+e^ε), −ε with chance 1/(1+e^ε)."""
    odds = exp_decimal(epsilon)
    return decimal_of(epsilon) * (odds - 1) / (odds + 1)


def expected_laplace(epsilon: Fraction) -> Decimal:
    """The expected loss of Laplace noise, ε − 1 + e^−ε: ε where the answer is at most 19 (half), −ε where it is at
    least 20, and linear in between."""
    return decimal_of(epsilon) - 1 + exp_decimal(-epsilon)


def answers(epsilon: float, reach: int = 25) -> tuple[list[int], list[float], list[float]]:
    """The values of one answer, and their chances under the first and under the second table: the two tents of the
    lecture."""
    values = list(range(FIRST - reach, SECOND + reach + 1))
    norm = math.tanh(epsilon / 2)
    first, second = ([norm * math.exp(-epsilon * abs(y - centre)) for y in values] for centre in (FIRST, SECOND))
    return values, first, second
