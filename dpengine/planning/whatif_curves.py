"""The curves of the What-if page: error against ε, people and questions, two medians on made-up people, and odds.

Formulas over public facts; only `two_medians` draws noise, on a made-up table.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpengine.accountant.filter import Rule
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.exact import exp_decimal, up
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.coins import SystemCoins
from dpengine.planning.whatif import GRAIN, MOST_PEOPLE, amount_for, depends_on_people, most_each, with_people
from dpengine.statistics.distributions import Distribution

STEPS = 12  # points for each power of ten on a log axis
MOST_IMAGINED = 10_000  # people in a simulation


def _around(middle: Fraction, least: Fraction, most: Fraction, decades: int, grain: int) -> list[Fraction]:
    """Even steps on a log axis around `middle`, which is one of them."""
    steps = range(-decades * STEPS // 2, decades * STEPS // 2 + 1)
    values = {Fraction(round(float(middle) * 10 ** (step / STEPS) * grain), grain) for step in steps} | {middle}
    return sorted(value for value in values if least <= value <= most)


def along_epsilon(query: AnyQuery) -> list[tuple[Fraction, Fraction]]:
    """(ε of one question, error)."""
    epsilons = _around(query.epsilon, LEAST_EPSILON, MOST_EPSILON, 3, GRAIN)
    return [(epsilon, _figure(query.asked_at(epsilon))) for epsilon in epsilons]


def _figure(query: AnyQuery) -> Fraction:
    return query.promise().figure_for(query)


def along_people(query: AnyQuery) -> list[tuple[Fraction, Fraction]]:
    """(people, error); where the error is the same for any number of people, it is taken relative to the possible
    range."""
    sizes = _around(Fraction(query.facts.about), Fraction(1), Fraction(MOST_PEOPLE), 4, 1)
    enough = [int(people) for people in sizes if amount_for(query, int(people)) is not None]
    return [(Fraction(people), at_people(with_people(query, people))) for people in enough]


def at_people(query: AnyQuery) -> Fraction:
    """The error of this setting as `along_people` draws it."""
    promise = query.promise()
    return _figure(query) if depends_on_people(query) else promise.amount / query.coarse() * 25


def along_questions(rule: Rule, query: AnyQuery, accounting: str, most: int = 1000) -> list[tuple[int, Fraction]]:
    """(k, error of each of k answers under one allowance); it ends where no ε is small enough."""
    counts = sorted({round(10 ** (step / 4)) for step in range(4 * len(str(most)) - 3)})
    epsilons = [(count, most_each(rule, query, count, accounting)) for count in counts if count <= most]
    return [(count, _figure(query.asked_at(epsilon))) for count, epsilon in epsilons if epsilon is not None]


def suspicion(prior: Fraction, epsilon: Fraction) -> Fraction:
    """The largest probability that a suspicion of `prior` can grow to after everything released: odds grow at most by a
    factor e^ε. Rounded up."""
    odds = Fraction(exp_decimal(epsilon)) * prior
    return min(up(odds / (1 - prior + odds), 10**9), Fraction(1))


def two_medians(query: Median, shape: str, times: int) -> tuple[float, list[float], list[float]]:
    """The true median of made-up people; answers by noise added to it, and by the exponential mechanism.

    One person can move a median from one end of the range to the other (its global sensitivity is the whole range), so
    noise added to it must be that large; choosing a grid point by rank does not need that. Same ε, one answer each.
    """
    people = min(query.facts.about, MOST_IMAGINED)
    point = replace(query, with_range=False, facts=replace(query.facts, about=people))
    column = query.facts.schema.number(query.column)
    spread = Distribution(query.column, column.size).imagine(people, shape)
    middle = int(spread.codes[np.searchsorted(np.cumsum(spread.counts), (people + 1) // 2)])
    coins = SystemCoins()
    scale = Fraction(column.size - 1) / query.epsilon
    noisy = coins.laplace([middle] * times, scale)
    chosen = [point.draw(spread, coins)[0] for _ in range(times)]
    ends = (0, column.size - 1)  # an answer outside the range becomes its end
    values = [[float(column.value(min(max(code, ends[0]), ends[1]))) for code in codes] for codes in (noisy, chosen)]
    return float(column.value(middle)), values[0], values[1]
