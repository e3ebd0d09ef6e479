"""Wrong twins of the synthetic column and of the tree: an interval too wide, layers never thinned, too little noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from battery import FALSE_ALARM, _tail, check_law_against_loss, check_sensitivity

from dpengine.mechanisms.curves import count_tree
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.query import Released
from dpengine.noise import place_choice
from dpengine.noise.coins import SystemCoins
from dpengine.noise.place_choice import Staircase
from dpengine.statistics.need import Spread
from tests.planted.checks import check_samples_follow_the_law
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made

Within = Callable[[Staircase, int, Any], tuple[Any, Any]]
RIGHT_WITHIN, RIGHT_KEPT = Staircase.within, place_choice._first_kept


def spread(counts: tuple[int, ...]) -> Spread:
    codes = [code for code, count in enumerate(counts) if count]
    return Spread(np.array(codes, dtype=np.int64), np.array([counts[code] for code in codes], dtype=np.int64))


def staircase(counts: tuple[int, ...]) -> Staircase:
    value = spread(counts)
    return Staircase.of(value.codes, value.counts, len(counts), len(counts))


def away(counts: tuple[int, ...], points: int) -> list[list[int]]:
    """How far each grid point is from each place, by the formula itself, written apart from the engine."""
    rows = sum(counts)
    told = []
    for odd in range(1, 2 * points, 2):
        place = Fraction(odd * rows, 2 * points)
        told.append(
            [
                math.ceil(max(0, place - sum(counts[: code + 1]), sum(counts[:code]) - place))
                for code in range(len(counts))
            ]
        )
    return told


def check_intervals_hold_what_they_should(within: Within, grid: int = 4, most: int = 3, rows: int = 4) -> None:
    """Those within t of a place, for every table of up to `rows` rows, up to `most` places, every t."""
    for size in range(2, grid + 1):
        for counts in product(range(rows + 1), repeat=size):
            if sum(counts) > rows:
                continue
            for points in range(1, most + 1):
                first, end = within(staircase(counts), points, np.arange(rows + 2))
                for layer in range(rows + 2):
                    for place, gaps in enumerate(away(counts, points)):
                        held = [code for code, gap in enumerate(gaps) if gap <= layer]
                        told = list(range(first[layer, place], end[layer, place]))
                        assert held == told, "an interval holds another grid point"


def one_too_wide(rows: Staircase, many: int, layers: Any) -> tuple[Any, Any]:
    """Every interval one point out."""
    first, end = RIGHT_WITHIN(rows, many, layers)
    return np.maximum(first - 1, 0), end


def not_where_it_ends(rows: Staircase, many: int, layers: Any) -> tuple[Any, Any]:
    """A point just as far above its place as allowed is left out."""
    first, _ = RIGHT_WITHIN(rows, many, layers)
    return first, np.maximum(RIGHT_WITHIN(rows, many, layers - 1)[1], first + 1)


class DoubleRate(Cdf):
    @property
    def rate(self) -> Fraction:
        return 2 * super().rate


class NeverThinned(Cdf):
    """Its law is right; a layer is kept however few columns it holds."""

    def draw(self, value: Spread, coins: Any) -> tuple[int, ...]:
        with patch.object(place_choice, "_first_kept", lambda *given: RIGHT_KEPT(*given[:3], given[3] + 6, given[4])):
            return super().draw(value, coins)


class OneWider(Cdf):
    """Its law is right; the column is drawn from intervals that are one point wider on each side."""

    def draw(self, value: Spread, coins: Any) -> tuple[int, ...]:
        def wider(rows: Staircase, *given: Any) -> Any:
            kept = RIGHT_KEPT(rows, *given)
            return kept and [(max(low - 1, 0), min(high + 1, rows.grid)) for low, high in kept]

        with patch.object(place_choice, "_first_kept", wider):
            return super().draw(value, coins)


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
        below = count_tree.fitted_tree(tuple(raw[:-1]), self.shape, int(raw[-1]))
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
CLOSE, COARSE = COLUMN | {"epsilon": "6"}, COLUMN | {"epsilon": "0.9"}
RIGHT = made(Cdf, COLUMN)
PLANTED = [
    Planted(
        "an interval one too wide",
        "Grid points that are farther from a place count as near it.",
        check_intervals_hold_what_they_should,
        "another grid point",
        RIGHT_WITHIN,
        one_too_wide,
    ),
    Planted(
        "an interval without its end",
        "A point that is just as far from a place as allowed is left out.",
        check_intervals_hold_what_they_should,
        "another grid point",
        RIGHT_WITHIN,
        not_where_it_ends,
    ),
    Planted(
        "layers never thinned",
        "A layer is kept however few columns it holds.",
        check_samples_follow_the_law,
        "law",
        made(Cdf, COARSE),
        made(NeverThinned, COARSE),
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
        "a column from wider intervals",
        "Law and price are right, and each value is drawn from one point more on each side.",
        check_samples_follow_the_law,
        "law",
        made(Cdf, CLOSE),
        made(OneWider, CLOSE),
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
