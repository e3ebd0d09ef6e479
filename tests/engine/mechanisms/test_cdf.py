"""The synthetic column and the tree beside it: counted against enumeration, drawn against their laws, kept promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import pytest
from battery import allowed_failures, check_samples_against_law
from helpers_cdf import column
from planted.curves import (
    RATE,
    WAYS,
    check_bands_hold_what_they_should,
    gaps,
    law_of_layers,
    multisets,
    nearly,
    spread,
)

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import exp_decimal
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms.curves import bands
from dpengine.mechanisms.curves.cdf import MOST_POINTS, Cdf
from dpengine.noise import layered_choice
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.laws import Finite
from dpengine.statistics.counts import Distribution
from dpengine.statistics.need import Spread

# Counting


@pytest.mark.parametrize("rows", [3, pytest.param(5, marks=pytest.mark.long)])
def test_bands_equal_enumeration_on_every_small_case(rows: int) -> None:
    """Every table of so many rows or fewer (none at all among them), grids of 2 to 6, one to four points, every t."""
    check_bands_hold_what_they_should(bands.how_many, 6, 4, rows)


def test_runs_say_what_the_formula_says() -> None:
    """The ends of the band, cell by cell, also for large tables; and few runs whatever the grid."""
    rng = np.random.default_rng()
    for grid, points, n in ((6, 4, 3), (50, 7, 40), (1_000, 9, 10**6)):
        codes, counts = np.unique(rng.integers(0, grid, min(n, 30)), return_counts=True)
        value = Spread(codes, counts * (n // int(counts.sum())))
        total, reached = int(value.counts.sum()), np.zeros(grid, dtype=int)
        reached[value.codes] = value.counts
        levels = np.cumsum(reached).tolist()
        for band in (0, n // 20, n // 3, total):
            found = bands.runs(bands.Reached.of(value), grid, points, band)
            assert len(found) <= 2 * points + 2 and sum(run.cells for run in found) == grid
            ends = [(run.low, run.high) for run in found for _ in range(run.cells)]
            for place, (low, high) in enumerate(ends[:-1]):
                held = [M for M in range(points + 1) if abs(points * levels[place] - total * M) <= band * points]
                assert held == list(range(low, high + 1))
            assert ends[-1] == (points, points)


def test_floats_hold_the_number_between_them() -> None:
    """Wide bands of all kinds against exact counting, empty ones too; and the bounds are near each other."""
    rng = np.random.default_rng()
    for grid, points, n in ((5, 30, 7), (40, 40, 0), (300, 60, 25), (10**6, 50, 90), (1_000, 80, 400)):
        codes, counts = np.unique(rng.integers(0, grid, n) ** 2 // grid, return_counts=True)
        held, wide = bands.Reached.of(Spread(codes, counts)), 0
        for band in sorted({0, n // 40, n // 8, n // 4, n // 2, n}):
            low, high = bands.band_between(held, grid, points, band)
            exact = bands.how_many(held, grid, points, band)
            assert low <= exact <= high and (high - low) * 2**28 <= exact + 2**28
            wide += low < exact < high
        assert wide, "nothing was counted in floats"


class Told(Coins):
    """Coins that follow a list of draws and remember what was asked beyond it."""

    def __init__(self, script: list[int]) -> None:
        self.script, self.bounds = script, [1] * 0

    def bits(self, count: int) -> int:
        raise NotImplementedError

    laplace = gaussian = bits  # type: ignore[assignment]

    def below(self, bound: int) -> int:
        place = len(self.bounds)
        self.bounds.append(bound)
        if place == len(self.script):
            self.script.append(0)
        return self.script[place]


def every(draw: Callable[[Coins], Any]) -> Iterator[tuple[Any, Fraction]]:
    """All that can be drawn, by running through every coin, each with its exact chance."""
    script: list[int] = []
    while True:
        coins = Told(script)
        out = draw(coins)
        yield out, Fraction(1, int(np.prod([*map(int, coins.bounds)], dtype=object))) if coins.bounds else Fraction(1)
        script, bounds = coins.script[: len(coins.bounds)], coins.bounds
        while script and script[-1] + 1 == bounds[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


@pytest.mark.parametrize("counts", [(0, 0, 0), (2, 0, 1), (0, 1, 1), (3, 0, 0)])
def test_a_sequence_in_the_band_is_drawn_uniformly(counts: tuple[int, ...]) -> None:
    """By running through every coin: each multiset in the band has exactly its share of the sequences."""
    grid, points, value = 3, 2, spread(counts)
    listed, ways, below = multisets(grid, points)
    for band in range(sum(counts) + 1):
        steps = bands.forward(bands.Reached.of(value), grid, points, band)
        inside = {one: w for one, w, gap in zip(listed, ways, gaps(counts, points, below), strict=True) if gap <= band}
        if steps is None:
            assert not inside
            continue
        found: dict[tuple[int, ...], Fraction] = {}
        for out, chance in every(lambda coins, steps=steps: tuple(bands.draw(steps, points, coins))):
            found[out] = found.get(out, Fraction(0)) + chance
        assert found == {one: Fraction(w, sum(inside.values())) for one, w in inside.items()}


# Layers


def test_the_exact_law_of_a_layer() -> None:
    """What one round keeps, from the segments themselves and the geometric law summed far out, is the law stated."""
    rate, last = RATE, len(WAYS) - 1
    parts = layered_choice._split(nearly, 0, last, rate)
    assert max(part.end - part.first for part in parts) > 1 and parts[-1].end - parts[-1].first > 1
    assert [part.first for part in parts] == [0, *(part.end for part in parts[:-1])] and parts[-1].end == last + 1
    kept = [Decimal(0)] * len(WAYS)
    ratio = exp_decimal(-rate)
    for part in parts:
        assert part.most >= WAYS[part.end - 1] and part.least <= WAYS[part.first]
        weight = exp_decimal(-rate * part.first) - (exp_decimal(-rate * part.end) if part.end <= last else 0)
        for away in range(700):
            layer = layered_choice._within(part, away, last)
            kept[layer] += weight * (1 - ratio) * ratio**away * WAYS[layer]
    told = [one / sum(kept) for one in kept]
    assert max(abs(a - b) for a, b in zip(told, law_of_layers(), strict=True)) < Decimal("1e-25")


class Bits(Told):
    """The point is given; more of it when asked."""

    def __init__(self, point: Fraction) -> None:
        super().__init__([])
        self.point, self.width = point, 0

    def bits(self, count: int) -> int:
        self.width += count
        return int(self.point * 2**self.width) % 2**count


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(25), Fraction(1, 20_000), Fraction(1, 3)])
def test_segments_are_told_apart_at_their_very_edges(rate: Fraction) -> None:
    """Points a part in 10^60 to either side of an edge, where the first 128 bits are the same, fall to either side."""
    ends, most = [(0, 3, 5), (3, 4, 7), (4, 40, 10**30), (40, 10_001, 10**600)], 10_000
    parts = [layered_choice.Segment(first, end, 0, count) for first, end, count in ends]
    digits = 700
    weights = [sum(layered_choice._weighed(part, part.most, part.most, most, rate, digits)) for part in parts]
    sums = [Fraction(0)]
    for weight in weights:
        sums.append(sums[-1] + Fraction(weight))
    hair = Fraction(1, 10**60)
    for place in range(1, len(parts)):
        edge = sums[place] / sums[-1]
        if edge > hair:
            assert layered_choice._pick(parts, most, rate, Bits(edge - hair)) == place - 1
        if edge + hair < 1:
            assert layered_choice._pick(parts, most, rate, Bits(edge + hair)) == next(
                at for at in range(place, len(parts)) if sums[at + 1] / sums[-1] > edge + hair
            )


def test_bounds_of_a_segment_hold_the_truth_at_any_precision() -> None:
    for rate, first, end in ((Fraction(1, 3), 7, 9), (Fraction(1, 20_000), 3, 4), (Fraction(25), 0, 10**6)):
        part = layered_choice.Segment(first, end, 0, 1)
        low, high = layered_choice._weighed(part, 1, 1, 10**7, rate, 200)
        for digits in (5, 20, 50):
            below, above = layered_choice._weighed(part, 1, 1, 10**7, rate, digits)
            assert below <= low <= high <= above


# The whole


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("counts", "points", "relation"),
    [((1, 0, 2, 0, 0, 1), 3, "replace"), ((0, 5, 0, 0), 4, "add_remove")]
    + [pytest.param((0, 2, 3, 0, 0, 4), 4, relation, marks=pytest.mark.long) for relation in RELATIONS],
)
def test_columns_follow_their_law(counts: tuple[int, ...], points: int, relation: str) -> None:
    query = column(len(counts), max(sum(counts), 1), relation, points=points)
    value = spread(counts)
    law = query.law(value)
    assert isinstance(law, Finite)
    _, ways, below = multisets(len(counts), points)
    rate = Fraction(1, 2)
    weights = [w * exp_decimal(-rate * gap) for w, gap in zip(ways, gaps(counts, points, below), strict=True)]
    for told, weight in zip(law.chances.values(), weights, strict=True):
        assert abs(told - weight / sum(weights)) < Decimal("1e-30")
    check_samples_against_law(query, value, draws=300)


def test_an_empty_table_gives_any_column() -> None:
    query = column(3, 1, "add_remove", points=2, where=[["x", ">", 1]])
    check_samples_against_law(query, spread((0, 0, 0)), draws=400)
    assert query.release(spread((0, 0, 0)), SystemCoins()).interval is None


@pytest.mark.parametrize("relation", ["replace", pytest.param("add_remove", marks=pytest.mark.long)])
def test_the_error_keeps_the_bound_of_the_exponential_mechanism(relation: str) -> None:
    """β = 0.2, 40 columns: a right one has more failures than allowed with probability at most 1e-6. Then one that
    follows the table forty times less closely, which has more of them but for chance."""
    n, grid, draws = 400, 40, 40
    rng = np.random.default_rng()
    codes, counts = np.unique(np.minimum(rng.geometric(0.2, n) - 1, grid - 1), return_counts=True)
    value, coins = Spread(codes, counts), SystemCoins()
    query = column(grid, n, relation, beta="0.2", points=6)
    truth = np.searchsorted(np.repeat(codes, counts), np.arange(grid), side="right") * 100 / n

    def far(drawn: Cdf) -> int:
        missed = 0
        for _ in range(draws):
            raw = drawn.draw(value, coins)
            missed += bands.gap_of(value, np.array(raw)) > query.off_of(n)
            if relation == "replace":
                told = query.finish(raw)
                assert query.made_up(told.value) == [str(code) for code in raw]
                outside = any(not low <= truth[int(name)] <= high for name, (low, high) in told.interval.items())
                missed += outside and bands.gap_of(value, np.array(raw)) <= query.off_of(n)
        return missed

    assert far(query) <= allowed_failures(draws, 0.2)
    assert far(replace(query, epsilon=query.epsilon / 40)) > allowed_failures(draws, 0.2)


def test_a_range_is_told_only_where_the_number_of_rows_is_public() -> None:
    for relation, where in product(RELATIONS, ([], [["x", ">", 2]])):
        query = column(20, 500, relation, where=where)
        known = relation == "replace" and not where
        told = query.release(Distribution("x", 20).imagine(500, "bell"), SystemCoins())
        assert (told.interval is not None) == known and query.promise().nominal == (not known)
        assert list(told.value.values())[-1] == 100 and len(query.made_up(told.value)) == query.points


@pytest.mark.parametrize("points", ["0", -1, "1.5", "many", MOST_POINTS + 1, 10**30, True, [3]])
def test_bad_numbers_of_values_are_one_clear_sentence(points: Any) -> None:
    with pytest.raises(AllowanceError) as refused:
        column(100, 10**9, points=points)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_more_values_than_help_are_refused_and_the_usual_number_is_about_the_best() -> None:
    query = column(1_000, 10**4)
    assert query.points == isqrt(int(10**4 / (4 * np.log(1_000)))) and query.most_points == 2 * query.points
    best = min(range(2, query.most_points + 1), key=lambda m: replace(query, given_points=m).people_off)
    assert replace(query, given_points=best).people_off >= Fraction(9, 10) * query.people_off
    with pytest.raises(AllowanceError) as refused:
        column(1_000, 10**4, points=query.most_points + 1)
    assert refused.value.code == "curve.points"


def test_a_grid_of_one_point_is_no_column() -> None:
    for wrong in (lambda: dp.Number(3, 3), lambda: dp.Date("2020-01-01", "2020-01-01")):
        with pytest.raises(AllowanceError):
            wrong()
