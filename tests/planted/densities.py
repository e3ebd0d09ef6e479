"""Wrong twins of the density: a coefficient without noise, a curve that starts without it, too small a sensitivity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from battery import check_law_against_loss, check_sensitivity, facts

from dpengine.mechanisms.curves.density import Density
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.statistics.need import Spread
from tests.planted.checks import check_samples_follow_the_law
from tests.planted.registry import Planted

DRAWS = 60


def made(kind: type[Density], **more: Any) -> Density:
    return kind.build(facts("replace"), {"columns": ["x"], "resolution": 2, "bandwidth": 2, "epsilon": "1"} | more)


def check_every_point_is_noised(query: Density) -> None:
    """Draws of one table: each grid point's spread against the noise that the kernel's own height asks for.

    Σ of squares over 60 draws, in units of the variance, is between a quarter and thrice its mean but for chances below
    10^-7 at each point (Chernoff: χ² of 60 below 15 has e^-19, above 180 e^-27; discrete noise is no wider)."""
    coins, value = SystemCoins(), Spread(np.array([1]), np.array([3]))
    drawn = np.array([list(query.release(value, coins).value.values()) for _ in range(DRAWS)])
    truth = np.array(list(query.finish(query.measured(value)).value.values()))
    told = ((drawn - truth) ** 2).mean(axis=0)
    steps = 2.0 ** sum(axis.bits for axis in query.axes) * query.scale * (query.people or 1)
    meant = float(query.variance) * (query.height / steps) ** 2
    assert (told > meant / 4).all(), "a point of the curve has too little noise"
    assert (told < 3 * meant).all(), "a point of the curve has too much noise"


class Clipped(Density):
    """The smallest coefficient is taken for nothing, and told as it is."""

    def draw(self, value: Spread, coins: Coins) -> tuple[int, ...]:
        return (self.measured(value)[0], *super().draw(value, coins)[1:])


class Starting(Density):
    """A path of noise that starts at 0, as some samplers of such processes draw it."""

    def draw(self, value: Spread, coins: Coins) -> tuple[int, ...]:
        first = self.tables[0].back[0]
        noise = np.array(coins.gaussian([0] * len(first), self.variance), dtype=np.float64)
        path = noise - first * (first @ noise) / (first @ first)
        return tuple(int(one) + round(two) for one, two in zip(self.measured(value), path, strict=True))


class TooNear(Density):
    """Without the root of two: as if a person who moves only left."""

    def sensitivity(self) -> Any:
        right = super().sensitivity()
        return replace(right, bound=right.bound // 2)


PLANTED = [
    Planted(
        "an eigenvalue taken for 0",
        "Its coefficient is released without noise.",
        check_samples_follow_the_law,
        "do not follow the law",
        made(Density),
        made(Clipped),
        long=True,
    ),
    Planted(
        "a path of noise that starts at 0",
        "The first point of the curve is told exactly.",
        check_every_point_is_noised,
        "too little noise",
        made(Density),
        made(Starting),
    ),
    Planted(
        "a curve's sensitivity without √2",
        "A person who moves leaves one place and enters another.",
        check_sensitivity,
        "a neighbour moves it by",
        made(Density),
        made(TooNear),
        also=((check_law_against_loss, "exceeds the Rényi loss"),),
    ),
]
