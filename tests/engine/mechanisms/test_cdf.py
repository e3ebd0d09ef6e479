"""The synthetic column and the tree beside it: counted against enumeration, drawn against their laws, kept promises."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import isqrt, prod
from typing import Any

import numpy as np
import pytest
from battery import allowed_failures, check_samples_against_law
from helpers_cdf import column
from planted.curves import away, check_intervals_hold_what_they_should, spread, staircase

import dpengine as dp
from bench.curves import gap_of
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import exp_decimal
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms.curves.cdf import MOST_POINTS, Cdf
from dpengine.noise import place_choice
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.laws import Finite
from dpengine.noise.place_choice import Staircase
from dpengine.statistics.counts import Distribution
from dpengine.statistics.need import Spread

# Counting


@pytest.mark.parametrize("rows", [3, pytest.param(5, marks=pytest.mark.long)])
def test_intervals_equal_enumeration_on_every_small_case(rows: int) -> None:
    """Every table of so many rows or fewer (none at all among them), grids of 2 to 5, one to four places, every t."""
    check_intervals_hold_what_they_should(Staircase.within, 5, 4, rows)


def test_the_gap_of_places_bounds_the_gap_of_shares() -> None:
    """The promise: |C_j − n·M_j/m| ≤ gap + n/(2m) at every grid point, for every column of every small table."""
    for counts in product(range(3), repeat=4):
        for points in (1, 2, 3):
            gaps, upper, rows = away(counts, points), np.cumsum(counts), sum(counts)
            for chosen in product(range(4), repeat=points):
                gap = max(gaps[place][code] for place, code in enumerate(chosen))
                below = np.searchsorted(sorted(chosen), np.arange(4), side="right")
                assert np.abs(points * upper - rows * below).max() <= points * gap + Fraction(rows, 2)


@pytest.mark.parametrize(
    ("counts", "points", "rate"),
    [
        ((0, 5, 0, 1), 3, "1/2"),
        ((900, 1, 0, 40_000, 7), 5, "1/300"),
        ((0,) * 40 + (3, 0, 8), 60, "3"),
        ((0, 0), 4, "1"),
    ],
)
def test_no_segment_weighs_more_than_its_integer(counts: tuple[int, ...], points: int, rate: str) -> None:
    """What makes the floats harmless: every layer of every segment, against exact powers; and what lies beyond."""
    rows = staircase(counts)
    segments = place_choice._segments(len(counts), points, Fraction(rate))
    steps, shift = place_choice._envelope(rows, segments)
    assert len(steps) == len(segments) + 1 and int(steps.sum()) < 2**61
    assert Fraction(rate) * segments.width >= Fraction(7, 10)
    step = Fraction(rate) * segments.width
    for number in range(len(segments)):
        first, end = rows.within(points, np.array([(number + 1) * segments.width - 1]))
        weight = prod((end - first)[0].tolist()) * Decimal(2) ** shift * exp_decimal(-step * number)
        assert weight <= int(steps[number]) <= weight * (1 + Decimal(2) ** -40) + 2
    assert len(counts) ** points * Decimal(2) ** (shift + 1) * exp_decimal(-step * len(segments)) <= int(steps[-1]) == 1


def test_products_of_many_numbers_are_near_the_truth() -> None:
    numbers = np.random.default_rng().integers(1, 10**7, (20, place_choice.MOST))
    for row, part, power in zip(numbers.tolist(), *place_choice._product(numbers.astype(float)), strict=True):
        exact = Fraction(float(part)) * Fraction(2) ** int(power) / prod(row)
        assert 0.5 <= part < 1 and abs(exact - 1) < Fraction(1, 2**43)


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
    gaps, weights = away(counts, points), defaultdict[tuple[int, ...], Decimal](Decimal)
    for chosen in product(range(len(counts)), repeat=points):
        gap = max(gaps[place][code] for place, code in enumerate(chosen))
        weights[tuple(sorted(chosen))] += exp_decimal(-Fraction(1, 2) * gap)
    assert law.chances.keys() == weights.keys()
    for column_, weight in weights.items():
        assert abs(law.chances[column_] - weight / sum(weights.values())) < Decimal("1e-30")
    check_samples_against_law(query, value, draws=300)


def test_columns_follow_their_law_where_little_is_settled_by_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coarse integers, so that most turns need an exact comparison, and a last segment that is often drawn."""
    monkeypatch.setattr(place_choice, "_ROOM", 6)
    monkeypatch.setattr(place_choice, "_FAR", 7)
    monkeypatch.setattr(place_choice, "_MARGIN", 0.3)
    place_choice._segments.cache_clear()
    seen = []
    exact = Coins.under
    monkeypatch.setattr(Coins, "under", lambda *given: seen.append(given[-1]) or exact(*given))
    check_samples_against_law(column(3, 9, epsilon="0.2", points=2), spread((9, 0, 0)), draws=600)
    place_choice._segments.cache_clear()
    assert len(seen) > 200


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
            missed += gap_of(value, np.array(raw)) > query.off_of(n)
            if relation == "replace":
                told = query.finish(raw)
                assert query.made_up(told.value) == [str(code) for code in raw]
                outside = any(not low <= truth[int(name)] <= high for name, (low, high) in told.interval.items())
                missed += outside and gap_of(value, np.array(raw)) <= query.off_of(n)
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
