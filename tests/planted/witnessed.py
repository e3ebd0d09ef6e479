"""Wrong twins for the divergence tester: too little noise, told in the currency that the claim is made in."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from battery import FALSE_ALARM, facts

from dpengine.accountant.costs import cost
from dpengine.audit import report
from dpengine.audit.exact import ORDER
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.query import Query
from dpengine.noise.coins import Coins
from tests.planted.checks import Pooled
from tests.planted.registry import Planted

ONE, OTHER = {"c": 0}, {"c": 1}
PAIR = ([ONE, ONE, OTHER], [ONE, OTHER, OTHER])


def check_draws_keep_the_divergence(query: Query, draws: int = 4_000) -> None:
    """From what is drawn on two neighbours, a trained witness proves no more than is claimed: of the Rényi divergence,
    or of δ at the claimed ε. The bound fails with probability at most FALSE_ALARM."""
    claimed, coins = cost(query.loss(), ORDER), Pooled()
    one, other = ([query.draw(value, coins) for _ in range(draws)] for value in map(query.need().of, PAIR))
    if claimed.delta:
        found = report.hockey_stick(one, other, claimed.epsilon or Fraction(0), FALSE_ALARM)
        assert found.amount <= claimed.delta, f"the draws prove δ ≥ {found.amount:.3g}"
    else:
        found = report.renyi(one, other, ORDER, FALSE_ALARM)
        assert found.amount <= claimed.renyi, f"the draws prove a Rényi divergence ≥ {found.amount:.3g}"


class ThirdOfTheBell(Histogram):
    """Gaussian noise of a third of its σ; claim and law speak of the whole."""

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        return tuple(coins.gaussian(list(self.measured(value)), self.variance / 9))


class FewerCoins(ShuffleCount):
    """Every person's coin comes up far less often than the proof needs."""

    @property
    def chance(self) -> Fraction:
        return super().chance / 16


def made(kind: type[Query], given: dict[str, Any]) -> Query:
    return kind.build(facts("replace"), {"epsilon": "1"} | given)


BELL = {"column": "c", "noise": "gaussian"}
COINS = {"where": [["c", "in", ["a"]]], "delta": "0.5"}
PLANTED = [
    Planted(
        "a third of the Gaussian noise",
        "The noise drawn has a third of the σ that is claimed.",
        check_draws_keep_the_divergence,
        "prove a Rényi divergence",
        made(Histogram, BELL),
        made(ThirdOfTheBell, BELL),
        long=True,
    ),
    Planted(
        "a shuffler with too few coins",
        "People's coins come up a sixteenth as often as the proof needs.",
        check_draws_keep_the_divergence,
        "prove δ",
        made(ShuffleCount, COINS),
        made(FewerCoins, COINS),
    ),
]
