"""Ranges of percentiles from a tree: by least squares where that promises more; and in order, whatever was drawn."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpengine.core.amounts import BETA
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.choices.quantile import Quantile
from dpengine.mechanisms.choices.tree_cuts import TreeCuts
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.need import Spread

RNG = random.Random()
FIVE = ["0.1", "0.25", "0.5", "0.75", "0.9"]
LABELS = [f"town {place}" for place in range(12)]


def ask(relation: str, grid: int = 121, **given: Any) -> Quantile:
    towns = Category(LABELS, unknown=LABELS[0], missing=LABELS[0])
    schema = Schema({"x": Number(0, grid - 1, missing=0), "c": towns})
    facts = Facts("t", schema, Unit.rows(), relation, 1_000)  # type: ignore[arg-type]
    made = catalogue["quantile"].build(facts, {"column": "x", "share": FIVE, "epsilon": "0.5"} | given)
    assert isinstance(made, Quantile)
    return made


def spread(grid: int, rows: int) -> Spread:
    held = np.random.default_rng().integers(0, grid, rows) // 3 * 3
    return Spread(*(one.astype(np.int64) for one in np.unique(held, return_counts=True)))


@pytest.mark.every(9)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", [{}, {"by": "c"}])
@pytest.mark.parametrize("grid", [60, 121, 1_000])
def test_least_squares_promises_narrower_ranges_than_sums_of_nodes(
    relation: str, given: dict[str, Any], grid: int
) -> None:
    way = ask(relation, grid, noise="tree", **given).way
    assert isinstance(way, TreeCuts)
    everywhere, by_sums = (way._reach(max(way._lengths), way.beta / many) for many in (way.asked.size, len(FIVE)))
    assert way.rows_off < everywhere * Fraction(9, 10) and way.shift < by_sums * Fraction(95, 100)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", [{}, {"by": "c"}])
def test_without_noise_the_tree_tells_the_truth(relation: str, given: dict[str, Any]) -> None:
    """What lies at or below every cell, less α times all rows, by whichever way each cell takes."""
    query = ask(relation, noise="tree", **given)
    way, value = query.way, spread(121, 1_000)
    assert isinstance(way, TreeCuts)
    upto = np.cumsum(np.array(way._cells(value)))
    for share in query.shares:
        for beta in (way.beta, way.beta / 121):
            told = way.over(way.measured(value), share, beta)
            assert np.abs(told - (upto - float(share) * 1_000)).max() < 1e-6


def test_of_groups_all_ranges_hold_at_once_so_each_has_its_part_of_beta() -> None:
    for noise in ("tree", "gaussian_root"):
        query = ask("replace", by="c", noise=noise)
        assert query.way and query.way.beta == BETA / query.groups


def crossing(query: Quantile) -> list[tuple[int, ...]]:
    """Points and ends for every share, each range around its point, in no order."""
    grid = query.facts.schema["x"].size
    drawn = []
    for _ in query.shares:
        low, point, high = sorted(RNG.randrange(grid) for _ in range(3))
        drawn.append((point, low, high))
    return drawn


@pytest.mark.parametrize("ranged", [True, False])
def test_percentiles_of_a_group_never_cross(ranged: bool) -> None:
    """However draws cross, what is told rises, and every range is around its point."""
    for given in ({}, {"by": "c"}):
        query = ask("replace", with_range=ranged, **given)
        for _ in range(30):
            codes = [one[: len(query.sides)] for _ in range(query.groups) for one in crossing(query)]
            told = query.finish(tuple(code for one in codes for code in one))
            points = list(told.value.values())
            for first in range(0, len(points), len(FIVE)):
                assert points[first : first + len(FIVE)] == sorted(points[first : first + len(FIVE)])
            if ranged:
                assert all(
                    low <= point <= high for point, (low, high) in zip(points, told.interval.values(), strict=True)
                )
    alone = ask("replace", share="0.5", with_range=False)
    assert alone.finish((7,)).value == 7


def test_in_order_all_that_held_still_holds() -> None:
    """True percentiles rise. Ranges that each hold theirs, and points that are each within a distance of theirs, still
    do when points, lower and upper ends are put in order: 2,000 made-up cases."""
    query = ask("replace", with_range=True)
    for _ in range(2_000):
        true = sorted(RNG.randrange(121) for _ in FIVE)
        off = RNG.randrange(1, 40)
        drawn: list[int] = []
        for code in true:
            point = min(max(code + RNG.randint(-off, off), 0), 120)
            low, high = RNG.randint(0, min(code, point)), RNG.randint(max(code, point), 120)
            drawn += [point, low, high]
        told = query.finish(tuple(drawn))
        for code, point, (low, high) in zip(true, told.value.values(), told.interval.values(), strict=True):
            assert low <= code <= high and abs(point - code) <= off


def test_a_release_from_a_tree_is_in_order_where_how_many_there_are_is_noise() -> None:
    query = ask("add_remove", noise="tree", epsilon="0.01", where=[["c", "in", [LABELS[1]]]])
    for _ in range(20):
        told = query.release(spread(121, 5), SystemCoins())
        assert list(told.value.values()) == sorted(told.value.values())
