"""A cap that is raised along the way, by a chooser who sees the answers: every strategy, by dynamic programming.

The game of test_filter_adaptive.py with one more move: at any moment, once, the chooser may raise the cap. Stopping is
worth E[(1 − e^(reading − loss))₊] with the reading of the side on which one stops. Nothing here is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, admits, spent
from dpengine.audit.game import Counts, Floats, Game, shifted
from dpengine.loss import Pure
from tests.engine.test_filter_adaptive import DELTA, MIXED, ONE_SIZE

LOW = Rule.make(Fraction(1, 2), Fraction(1, 10**6), slack_share=Fraction(1))
RAISED = replace(LOW, epsilon=Fraction(1))
REFROZEN = Rule.make(Fraction(1), Fraction(1, 10**6), slack_share=Fraction(1))  # planted: α and c chosen anew

Reading = Callable[[Rule, Totals], float]




def the_cap(rule: Rule, now: Totals) -> float:
    return float(rule.epsilon)


def the_meter(rule: Rule, now: Totals) -> float:
    return float(spent(rule, now))


def worth(sizes: tuple[Fraction, ...], before: Rule, after: Rule, reading: Reading) -> float:
    """The largest δ any strategy reaches: it asks, raises the cap once or never, and stops whenever it likes."""
    sums = {rule: _Sums(rule, sizes) for rule in (before, after)}
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


class _Sums:
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


@pytest.mark.parametrize("sizes", [MIXED, ONE_SIZE], ids=["mixed", "one size"])
@pytest.mark.parametrize("reading", [the_cap, the_meter])
def test_no_chooser_gets_past_a_cap_that_is_raised_along_the_way(sizes: tuple[Fraction, ...], reading: Reading) -> None:
    assert worth(sizes, LOW, RAISED, reading) <= DELTA


def test_the_bound_is_nearly_met_so_a_slightly_lower_reading_would_be_false() -> None:
    assert worth(ONE_SIZE, LOW, RAISED, the_meter) > 0.98 * DELTA
    assert worth(ONE_SIZE, LOW, RAISED, lambda rule, now: the_meter(rule, now) - 0.01) > DELTA


def test_choosing_order_and_toll_anew_at_the_raise_is_caught() -> None:
    """Planted fault: the larger cap's own α and c would hold more, and the reading would no longer be true."""
    assert REFROZEN.alpha != LOW.alpha
    assert worth(ONE_SIZE, LOW, REFROZEN, the_meter) > 1.1 * DELTA


def test_without_a_raise_the_game_is_the_one_it_extends() -> None:
    sums = _Sums(LOW, MIXED)
    plain = Game(MIXED, lambda counts: admits(LOW, sums(counts))).worth(lambda counts: the_meter(LOW, sums(counts)))
    assert worth(MIXED, LOW, replace(LOW), the_meter) == pytest.approx(plain, rel=1e-12)
