"""The divergence tester, tested: its bound against known laws, its false alarms counted, its power shown."""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction

import numpy as np
import pytest
from battery import allowed_failures

from dpengine.audit import report
from dpengine.audit.report import variational
from dpengine.noise.laws import Laplace, Normal, chance, renyi

ORDER = Fraction(11, 2)
PLACES = range(-50, 51)


def weights(law: Laplace | Normal) -> list[float]:
    return [float(chance(law, place)) for place in PLACES]


def test_the_formula_is_exact_at_the_true_ratio_and_below_it_elsewhere() -> None:
    """α/(α−1)·ln E_P[e^((α−1)g)] − ln E_Q[e^(αg)], by sums: equal at g = ln(P/Q), and no greater at any other g."""
    for one, other in (
        (Laplace(0, Fraction(2)), Laplace(2, Fraction(2))),
        (Normal(0, Fraction(9)), Normal(1, Fraction(9))),
    ):
        p, q, a = weights(one), weights(other), float(ORDER)
        truth = renyi(one, other, a)

        def value(g: list[float], p: list[float] = p, q: list[float] = q, a: float = a) -> float:
            up = math.fsum(x * math.exp((a - 1) * y) for x, y in zip(p, g, strict=True))
            down = math.fsum(x * math.exp(a * y) for x, y in zip(q, g, strict=True))
            return a / (a - 1) * math.log(up) - math.log(down)

        ratio = [math.log(x / y) for x, y in zip(p, q, strict=True)]
        assert value(ratio) == pytest.approx(truth, rel=1e-6)
        for _ in range(200):
            other_g = [max(-2.0, min(2.0, x * random.random() * 2 + random.gauss(0, 0.3))) for x in ratio]
            assert value(other_g) <= truth + 1e-9


def test_the_ends_of_a_mean_hold_by_the_binomial_sum() -> None:
    """Of coins the bound of Chernoff and Hoeffding can be summed: the chance to fail is at most what is allowed."""
    draws, failure = 60, 1e-3
    for p in (0.05, 0.3, 0.8):
        tail = [math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(draws + 1)]
        below = math.fsum(w for k, w in enumerate(tail) if report._end(k / draws, draws, failure, up=True) < p)
        above = math.fsum(w for k, w in enumerate(tail) if report._end(k / draws, draws, failure, up=False) > p)
        assert below <= failure and above <= failure
    assert report._end(0.0, 100, 1e-6, up=False) == 0.0
    assert report._end(1.0, 100, 1e-6, up=True) == 1.0


def drawn(rng: random.Random, law: Laplace | Normal, many: int) -> list[int]:
    return rng.choices(list(PLACES), weights(law), k=many)


@pytest.mark.long
def test_a_bound_is_above_the_truth_no_more_often_than_it_says() -> None:
    """At a failure probability that can be seen; false alarms of this test itself: at most 1e-6 for each of the two."""
    one, other, rng = Laplace(0, Fraction(2)), Laplace(2, Fraction(2)), random.Random(secrets.randbits(64))
    truth, failure, runs = renyi(one, other, float(ORDER)), 0.2, 30
    least = sum(max(0.0, x - math.e**0.5 * y) for x, y in zip(weights(one), weights(other), strict=True))
    above = [0, 0]
    for _ in range(runs):
        pair = drawn(rng, one, 400), drawn(rng, other, 400)
        above[0] += report.renyi(*pair, ORDER, failure).amount > truth
        above[1] += report.hockey_stick(*pair, Fraction(1, 2), failure).amount > least
    assert max(above) <= allowed_failures(runs, failure)


def test_what_is_far_apart_is_told_apart() -> None:
    """Power: draws that hardly meet; and the same law on both sides shows nothing."""
    rng = random.Random(secrets.randbits(64))
    near, far = Normal(0, Fraction(4)), Normal(9, Fraction(4))
    pair = drawn(rng, near, 2_000), drawn(rng, far, 2_000)
    assert report.renyi(*pair, ORDER).amount > 3  # the truth is 55.7; four is where the witness is cut off
    assert report.hockey_stick(*pair, Fraction(1)).amount > 0.8
    same = drawn(rng, near, 2_000), drawn(rng, near, 2_000)
    assert report.renyi(*same, ORDER).amount < 0.2 and report.hockey_stick(*same, Fraction(1)).amount == 0


def test_a_witness_that_was_fitted_to_what_it_is_measured_on_accuses_the_honest() -> None:
    """Why halves: with many coordinates of the same law, a ratio fitted to these very draws finds a divergence."""
    rng = np.random.default_rng(secrets.randbits(64))
    one, other = ([tuple(row) for row in rng.integers(0, 30, size=(300, 40)).tolist()] for _ in range(2))
    chosen = report.train_divergence(one, other, float(ORDER), 1e-6)
    assert chosen is not None
    reading = report.readings_of(one, other)["likelihood"][-1]
    witness = report.Witness(reading, 1.0, 4.0)
    unfair = variational(witness.of(one), witness.of(other), 4.0, float(ORDER), 1e-6)
    assert unfair > 0.2 and report.renyi(one, other, ORDER).amount < unfair
