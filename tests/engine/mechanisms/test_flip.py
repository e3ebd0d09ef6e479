"""Permute-and-flip: its draws against its law, its law against its promise, and the flips that floats cannot decide."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

from dpengine.noise import coins as door
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import Finite, flipped, max_divergence, weighted
from dpengine.noise.tails import choice_gap, flip_gap
from tests.planted.checks import Recorded

FALSE_ALARM = 1e-6
RATE = Fraction(2, 5)
GAPS = {0: 4, 1: 1, 2: 0, 3: 2, 4: 7, 5: 0, 6: 10**9}


def rejected(draws: list[int], law: Finite) -> bool:
    """Some outcome came too often or too seldom; a right sampler is rejected with probability ≤ FALSE_ALARM."""
    seen, n, level = Counter(draws), len(draws), FALSE_ALARM / (2 * len(law.chances))
    return any(
        bdtr(seen[one], n, float(p)) < level or bdtrc(seen[one] - 1, n, float(p)) < level
        for one, p in law.chances.items()
        if p > 0 and (p > 1e-300 or seen[one])
    )


def draws(n: int = 3_000, rate: Fraction = RATE) -> list[int]:
    coins, gaps = SystemCoins(), np.array(list(GAPS.values()), dtype=np.int64)
    return [coins.flip(gaps, rate) for _ in range(n)]


def test_draws_follow_the_law_and_wrong_ones_do_not() -> None:
    law = flipped(GAPS, RATE)
    assert abs(sum(law.chances.values()) - 1) < 1e-25
    assert not rejected(draws(), law)
    assert rejected(draws(rate=2 * RATE), law)
    gaps = np.array([0, 2], dtype=np.int64)
    two = [SystemCoins().flip(gaps, RATE) for _ in range(3_000)]
    assert not rejected(two, flipped({0: 0, 1: 2}, RATE))
    assert rejected(two, weighted({0: 0, 1: 2}, RATE)), "the exponential mechanism is another law"


@pytest.mark.parametrize("margin", [0.05, 0.4])
def test_flips_that_floats_leave_open_are_settled_exactly(margin: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a wide margin many flips go the slow way; the law is the same."""
    monkeypatch.setattr(door, "_MARGIN", margin)
    assert not rejected(draws(1_500), flipped(GAPS, RATE))


def test_the_bits_asked_for_do_not_depend_on_the_scores() -> None:
    asked = set()
    for gaps in ([0, 1, 2, 5], [1, 0, 2, 900], [0, 0, 0, 0], [10**9, 10**9 + 1, 10**9, 10**9]):
        coins = Recorded()
        coins.flip(np.array(gaps, dtype=np.int64), RATE)
        asked.add(tuple(coins.asked))
    assert asked == {(4 * 64, 3 + 64)}  # otherwise with probability below 2^-43


@pytest.mark.parametrize("others", [1, 5, 40])
@pytest.mark.parametrize("beta", [Fraction(1, 20), Fraction(1, 2)])
def test_the_promise_holds_on_its_worst_table(others: int, beta: Fraction) -> None:
    """One best, all others just beyond the promised gap: computed, not sampled."""
    gap = flip_gap(RATE, others + 1, beta)
    law = flipped({0: 0} | dict.fromkeys(range(1, others + 1), gap + 1), RATE)
    assert 1 - law.chances[0] <= beta
    assert gap <= choice_gap(RATE, others + 1, beta)


def test_never_farther_from_the_best_than_the_exponential_mechanism() -> None:
    """McKenna and Sheldon's Theorem: at every gap, at least the chance of being within it."""
    flip, exponential = flipped(GAPS, RATE), weighted(GAPS, RATE)
    for gap in sorted(set(GAPS.values())):
        near = [one for one, other in GAPS.items() if other <= gap]
        assert sum(flip.chances[one] for one in near) > sum(exponential.chances[one] for one in near) - Decimal("1e-25")


def test_a_rate_twice_too_large_is_noticed() -> None:
    """The planted error: the monotone rate where scores may move both ways."""
    here, there = {0: 5, 1: 0}, {0: 4, 1: 1}  # scores moved by one, in both directions
    assert max_divergence(flipped(there, Fraction(1, 2)), flipped(here, Fraction(1, 2))) <= 1 + Decimal("1e-25")
    assert max_divergence(flipped(there, Fraction(1)), flipped(here, Fraction(1))) > 1.9
