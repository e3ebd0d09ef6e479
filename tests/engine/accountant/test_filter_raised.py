"""A cap that is raised along the way, by a chooser who sees the answers: every strategy, by dynamic programming."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from dpengine.accountant.filter import Rule, Totals, admits
from tests.helpers_filter import DELTA, LOW, MIXED, ONE_SIZE, RAISED, Game, Sums, the_cap, the_meter, worth_raised

Reading = Callable[[Rule, Totals], float]


@pytest.mark.every(9)
@pytest.mark.parametrize("sizes", [MIXED, ONE_SIZE], ids=["mixed", "one size"])
@pytest.mark.parametrize("reading", [the_cap, the_meter])
def test_no_chooser_gets_past_a_cap_that_is_raised_along_the_way(sizes: tuple[Fraction, ...], reading: Reading) -> None:
    assert worth_raised(sizes, LOW, RAISED, reading) <= DELTA


def test_the_bound_is_nearly_met_so_a_slightly_lower_reading_would_be_false() -> None:
    assert worth_raised(ONE_SIZE, LOW, RAISED, the_meter) > 0.98 * DELTA
    assert worth_raised(ONE_SIZE, LOW, RAISED, lambda rule, now: the_meter(rule, now) - 0.01) > DELTA


def test_without_a_raise_the_game_is_the_one_it_extends() -> None:
    sums = Sums(LOW, MIXED)
    plain = Game(MIXED, lambda counts: admits(LOW, sums(counts))).worth(lambda counts: the_meter(LOW, sums(counts)))
    assert worth_raised(MIXED, LOW, replace(LOW), the_meter) == pytest.approx(plain, rel=1e-12)
