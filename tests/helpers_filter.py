"""The rule, its meter and its raise, each against every strategy: checks on `dpengine.audit.games`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, admits, spent
from dpengine.accountant.loss import Pure
from dpengine.audit.games import Counts, Game, shifted
from dpengine.core.types import Floats

CAP = 1.0
DELTA = 1e-6
RULE = Rule.make(Fraction(1), Fraction(1, 10**6), slack_share=Fraction(1))
MIXED = (Fraction("0.02"), Fraction("0.1"), Fraction("0.3"), Fraction("0.5"))
ONE_SIZE = (Fraction("0.01"),)


def constant_cap(counts: Counts) -> float:
    return CAP


# Admission tests ----------------------------------------------------------------------------------------------------


@cache
def totals(counts: Counts, sizes: tuple[Fraction, ...]) -> Totals:
    costs = [cost(Pure(size), RULE.alpha) for size in sizes]
    return Totals(
        sum((n * (c.epsilon or Fraction(0)) for n, c in zip(counts, costs, strict=True)), Fraction(0)),
        sum((n * c.renyi for n, c in zip(counts, costs, strict=True)), Fraction(0)),
        Fraction(0),
    )


def by_the_rule(counts: Counts) -> bool:
    return admits(RULE, totals(counts, MIXED))


# With a cap that is raised along the way: one more move, at any moment, once. Stopping is worth the same, with the
# reading of the side on which one stops.

LOW = Rule.make(Fraction(1, 2), Fraction(1, 10**6), slack_share=Fraction(1))
RAISED = replace(LOW, epsilon=Fraction(1))

Reading = Callable[[Rule, Totals], float]


def the_cap(rule: Rule, now: Totals) -> float:
    return float(rule.epsilon)


def the_meter(rule: Rule, now: Totals) -> float:
    return float(spent(rule, now))


def worth_raised(sizes: tuple[Fraction, ...], before: Rule, after: Rule, reading: Reading) -> float:
    """The largest δ any strategy reaches: it asks, raises the cap once or never, and stops whenever it likes."""
    sums = {rule: Sums(rule, sizes) for rule in (before, after)}
    game = Game(sizes, lambda counts: admits(after, sums[after](counts)))
    later: dict[tuple[Rule, Counts], Floats] = {}
    for layer in reversed(game.layers):
        now: dict[tuple[Rule, Counts], Floats] = {}
        for counts in layer:
            for rule in (after, before):
                if not admits(rule, sums[rule](counts)):
                    continue
                best = np.maximum(0.0, -np.expm1(reading(rule, sums[rule](counts)) - game.losses))
                for move, p, more in zip(game.moves, game.up, game.one_more(counts), strict=True):
                    if (rule, more) in later:
                        following = later[rule, more]
                        best = np.maximum(best, p * shifted(following, move) + (1 - p) * shifted(following, -move))
                if rule is before and (after, counts) in now:
                    best = np.maximum(best, now[after, counts])  # the raise
                now[rule, counts] = best
        later = now
    return float(later[before, (0,) * len(sizes)][game.reach])


class Sums:
    def __init__(self, rule: Rule, sizes: tuple[Fraction, ...]) -> None:
        self._costs = [cost(Pure(size), rule.alpha) for size in sizes]
        self._known: dict[Counts, Totals] = {}

    def __call__(self, counts: Counts) -> Totals:
        if counts not in self._known:
            found = Totals.NOTHING
            for n, each in zip(counts, self._costs, strict=True):
                pure = (found.epsilon or Fraction(0)) + n * (each.epsilon or Fraction(0))
                found = Totals(pure, found.renyi + n * each.renyi, Fraction(0))
            self._known[counts] = found
        return self._known[counts]


# The checks


def check_no_chooser_gets_past(admitted: Callable[[Counts], bool]) -> None:
    """Whatever is asked next by what was answered, the cap holds at δ."""
    reached = Game(MIXED, admitted).worth(constant_cap)
    assert reached <= DELTA, f"a chooser gets past the cap with δ = {reached:.3g}"


def check_the_meter_is_true_at_any_moment(reading: Callable[[Counts], float]) -> None:
    """490 questions of 0.01, read at whichever moment suits best."""
    reached = Game(ONE_SIZE, lambda counts: counts[0] <= 490).worth(reading)
    assert reached <= DELTA, f"the meter is not true at a chosen moment: δ = {reached:.3g}"


def check_a_raise_keeps_the_meter_true(after: Rule) -> None:
    """From a cap of one half to one, at whichever moment suits best."""
    reached = worth_raised(ONE_SIZE, LOW, after, the_meter)
    assert reached <= DELTA, f"the meter is not true after the raise: δ = {reached:.3g}"
