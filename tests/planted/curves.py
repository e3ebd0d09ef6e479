"""Wrong twins of the synthetic column and of the tree: a band too wide, a last layer cut short, too little noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, prod
from typing import Any
from unittest.mock import patch

import numpy as np
from battery import FALSE_ALARM, _tail, check_law_against_loss, check_sensitivity

from dpengine.core.exact import exp_decimal
from dpengine.mechanisms.curves import bands, count_tree
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.query import Released
from dpengine.noise import layered_choice
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.need import Spread
from tests.planted.checks import check_samples_follow_the_law
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made

HowMany = Callable[[bands.Reached, int, int, int], int]
Layers = Callable[..., int]


def spread(counts: tuple[int, ...]) -> Spread:
    codes = [code for code, count in enumerate(counts) if count]
    return Spread(np.array(codes, dtype=np.int64), np.array([counts[code] for code in codes], dtype=np.int64))


def multisets(grid: int, points: int) -> tuple[list[tuple[int, ...]], list[int], np.ndarray[Any, Any]]:
    """All of them, how many sequences hold each, and how many of its points are at or below each grid point."""
    listed = list(combinations_with_replacement(range(grid), points))
    ways = [factorial(points) // prod(factorial(one.count(code)) for code in set(one)) for one in listed]
    return listed, ways, np.array([[sum(x <= j for x in one) for j in range(grid)] for one in listed])


def gaps(counts: tuple[int, ...], points: int, below: np.ndarray[Any, Any]) -> list[int]:
    """By the formula itself, written apart from the engine."""
    n, reached = sum(counts), np.cumsum(counts)
    return [-(-int(worst) // points) for worst in np.abs(points * reached - n * below).max(axis=1)]


def check_bands_hold_what_they_should(how_many: HowMany, grid: int = 4, most: int = 3, rows: int = 4) -> None:
    """W(t) is the number of sequences with gap at most t, for every table of up to `rows` rows, up to `most` points."""
    for size in range(2, grid + 1):
        for points in range(1, most + 1):
            _, ways, below = multisets(size, points)
            for counts in product(range(rows + 1), repeat=size):
                if sum(counts) > rows:
                    continue
                held, found = bands.Reached.of(spread(counts)), gaps(counts, points, below)
                for band in range(sum(counts) + 1):
                    true = sum(one for one, gap in zip(ways, found, strict=True) if gap <= band)
                    assert how_many(held, size, points, band) == true, "a band holds another number of sequences"


def one_too_wide(held: bands.Reached, grid: int, points: int, band: int) -> int:
    """Both ends one point out."""
    right = bands.runs

    def wider(*given: Any) -> list[bands.BandRun]:
        *inner, last = right(*given)
        return [bands.BandRun(r.first, r.cells, max(r.low - 1, 0), min(r.high + 1, points)) for r in inner] + [last]

    with patch.object(bands, "runs", wider):
        return bands.how_many(held, grid, points, band)


def runs_in_one_step(held: bands.Reached, grid: int, points: int, band: int) -> int:
    """A run's first cell need not reach the band's lower end."""
    with patch.object(bands, "strides", bands.runs):
        return bands.how_many(held, grid, points, band)


WAYS = (1, 4, 5, 12, 13, 20)  # so flat that segments hold several layers
RATE = Fraction(1, 10)


def nearly(layer: int) -> tuple[int, int]:
    """Bounds that leave something open."""
    return WAYS[layer] - 1, WAYS[layer] + 2


def law_of_layers() -> list[Decimal]:
    last = len(WAYS) - 1
    weights = [
        count * (exp_decimal(-RATE * t) - (exp_decimal(-RATE * (t + 1)) if t < last else 0))
        for t, count in enumerate(WAYS)
    ]
    return [weight / sum(weights) for weight in weights]


def check_layers_follow_their_law(draw: Layers, draws: int = 1_500) -> None:
    """Frequencies against the law, layer by layer; a right one fails with probability at most FALSE_ALARM."""
    coins = SystemCoins()
    drawn = [draw(nearly, WAYS.__getitem__, 0, len(WAYS) - 1, WAYS[-1], RATE, coins) for _ in range(draws)]
    for layer, chance in enumerate(law_of_layers()):
        likely = _tail(drawn.count(layer), draws, float(chance)) * len(WAYS) > FALSE_ALARM
        assert likely, "layers do not follow their law"


def last_one_cut(*given: Any) -> int:
    """The last segment is drawn modulo its length like the others: its last layer does not reach to infinity."""
    with patch.object(layered_choice, "_within", lambda part, away, most: part.first + away % (part.end - part.first)):
        return layered_choice.draw_layer(*given)


def always_kept(*given: Any) -> int:
    """Layers are not thinned out by how many candidates they hold."""
    between, _, known, most, _, rate, coins = given
    parts = layered_choice._split(between, known, most, rate)
    return layered_choice._within(
        parts[layered_choice._pick(parts, most, rate, coins)], coins.geometric(1 / rate), most
    )


class DoubleRate(Cdf):
    @property
    def rate(self) -> Fraction:
        return 2 * super().rate


class LayerBeyond(Cdf):
    """Its law is right; the column is drawn from the band one layer wider."""

    def draw(self, value: Spread, coins: Any) -> tuple[int, ...]:
        with patch.object(bands, "forward", lambda *given: RIGHT_FORWARD(*given[:3], given[3] + 1)):
            return super().draw(value, coins)


RIGHT_FORWARD = bands.forward


class OneSide(CdfTree):
    """As if a replaced person only entered."""

    @property
    def moves(self) -> tuple[int, int]:
        return 1, super().moves[1]


class SeesTheRoot(CdfTree):
    """Least squares is told how many rows there are, where nobody may know it."""

    def draw(self, value: int | tuple[int, ...], coins: Any) -> tuple[int, ...]:
        return *super().draw(value, coins), sum(value if isinstance(value, tuple) else (value,))

    def from_mean(self, raw: Any, draws: int) -> Released:
        below = count_tree.fitted_tree(tuple(raw[:-1]), self.leaves, int(raw[-1]))
        return self.by_label([(round(one), (round(one), round(one))) for one in below])


def check_a_curve_tells_no_more_than_its_nodes(query: CdfTree, draws: int = 200) -> None:
    """Five people or six: the chance that five in all are told may differ by e^ε only. Each of two chances is bounded
    from so many answers at FALSE_ALARM/2."""
    hits = [
        sum(list(query.release(table, SystemCoins()).value.values())[-1] == 5 for _ in range(draws))
        for table in ((2, 1, 1, 1), (2, 1, 1, 2))
    ]
    low, high = _least_chance(hits[0], draws), 1 - _least_chance(draws - hits[1], draws)
    assert low <= math.exp(query.epsilon) * high, "the curve tells how many there are"


def _least_chance(hits: int, draws: int) -> float:
    """A lower bound on the chance behind so many hits."""
    below = [p for p in np.linspace(0, hits / draws, 1_000) if _tail(hits, draws, float(p)) <= FALSE_ALARM / 2]
    return float(max(below, default=0.0))


COLUMN: dict[str, Any] = {"column": "x", "points": 2}
CLOSE = COLUMN | {"epsilon": "6"}
RIGHT = made(Cdf, COLUMN)
PLANTED = [
    Planted(
        "a band one too wide",
        "Sequences outside the band are counted as inside it.",
        check_bands_hold_what_they_should,
        "another number",
        bands.how_many,
        one_too_wide,
    ),
    Planted(
        "a run of cells in one step",
        "The first cell of a run need not end inside the band.",
        check_bands_hold_what_they_should,
        "another number",
        bands.how_many,
        runs_in_one_step,
    ),
    Planted(
        "a last layer that ends",
        "The last layer is drawn modulo its segment, not to infinity.",
        check_layers_follow_their_law,
        "do not follow",
        layered_choice.draw_layer,
        last_one_cut,
        long=True,
    ),
    Planted(
        "layers never thinned",
        "A layer is kept however few columns it holds.",
        check_layers_follow_their_law,
        "do not follow",
        layered_choice.draw_layer,
        always_kept,
        long=True,
    ),
    Planted(
        "a synthetic column twice as close",
        "The column follows the table twice as closely as it paid for.",
        check_law_against_loss,
        "exceeds",
        RIGHT,
        made(DoubleRate, COLUMN),
    ),
    Planted(
        "a column from the next band",
        "Law and price are right, and the column is drawn one layer farther out.",
        check_samples_follow_the_law,
        "law",
        made(Cdf, CLOSE),
        made(LayerBeyond, CLOSE),
        long=True,
    ),
    Planted(
        "one side of a tree",
        "A tree has noise for entering where a person leaves one path and enters another.",
        check_sensitivity,
        "moves it by",
        made(CdfTree, {"column": "x"}),
        made(OneSide, {"column": "x"}),
        also=((check_law_against_loss, "exceeds"),),
    ),
    Planted(
        "least squares that sees the root",
        "A tree is fitted to the true number of rows, which is not public.",
        check_a_curve_tells_no_more_than_its_nodes,
        "how many there are",
        made(CdfTree, {"column": "x"}, "add_remove"),
        made(SeesTheRoot, {"column": "x"}, "add_remove"),
    ),
]
