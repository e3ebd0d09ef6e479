"""The tree of counts, and what stands beside both curves."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from battery import allowed_failures, check_law_against_loss
from helpers_cdf import column, facts, tree

import dpengine as dp
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms.curves import count_tree
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.noise.coins import SystemCoins
from dpengine.planning.alternatives import curve_alternative
from dpengine.released.curves import halfway, pooled, rising

# The tree


@pytest.mark.every(9)
@pytest.mark.parametrize("leaves", [2, 3, 5, 49, 50, 64, 1_000])
@pytest.mark.parametrize("relation", RELATIONS)
def test_sums_of_nodes_are_what_lies_at_or_below(leaves: int, relation: str) -> None:
    """Without noise every sum is the true number, no node is used twice, none is longer than what is promised for."""
    counts = np.random.default_rng().integers(0, 9, leaves)
    query = tree(leaves, int(counts.sum()), relation)
    public = relation == "replace"
    assert query.everyone == (int(counts.sum()) if public else None)
    nodes = query.measured(tuple(counts.tolist()))
    assert list(query.from_mean(nodes, 1).value.values()) == np.cumsum(counts).tolist()
    for (parts, _), long in zip(count_tree.sums(query.shape, public), query.lengths, strict=True):
        used = [node for part in parts for node in range(part.first, part.end)]
        assert len(set(used)) == len(used) == long


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows", [1, 2])
def test_what_a_person_changes_in_a_tree_of_several_levels(relation: str, rows: int) -> None:
    """L1 and squared L2 over all pairs of places, and that the claim is reached; the small world has one level only."""
    query = tree(60, 100, relation, rows)
    assert query.levels == 2 and query.starts == tuple(range(60))

    def one(code: int) -> Any:
        return np.array(query.measured(tuple(rows * (place == code) for place in range(60))))

    persons = [one(code) for code in range(60)]
    changes = persons if relation == "add_remove" else [a - b for a in persons for b in persons]
    assert max(int(np.abs(change).sum()) for change in changes) == query.sensitivity().bound
    worst = max(int((change**2).sum()) for change in changes)
    assert Fraction(worst) / (2 * query.with_noise("gaussian").variance) == query.rho


def test_less_is_promised_by_least_squares_than_by_sums_of_nodes() -> None:
    for relation, less in (("replace", Fraction(65, 100)), ("add_remove", Fraction(85, 100))):
        query = tree(1_000, 10**5, relation)
        assert query.promise().amount < less * max(query._plain_reaches(1))
        assert query.reach(3) < query.reach(1)
    for leaves in (2, 3, 7, 20):  # never more
        for relation in RELATIONS:
            small = tree(leaves, 100, relation)
            assert small.promise().amount <= max(small._plain_reaches(1))


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_band_of_a_deep_tree_holds_all_at_once(relation: str) -> None:
    """β = 0.2, 300 cells, 60 answers; false alarm ≤ 1e-6. And with a fifth of the band it would be seen to fail."""
    counts = tuple(np.random.default_rng().integers(0, 20, 300).tolist())
    query = tree(300, sum(counts), relation, beta="0.2")
    truth, coins, draws = np.cumsum(counts), SystemCoins(), 60
    off = []
    for _ in range(draws):
        told = query.release(counts, coins)
        ends = told.interval.values()
        parts = zip(truth.tolist(), ends, strict=True)
        off.append(max(abs(2 * true - low - high) / max(high - low, 1) for true, (low, high) in parts))
    assert sum(one > 1 for one in off) <= allowed_failures(draws, 0.2)
    assert sum(one > 0.2 for one in off) > allowed_failures(draws, 0.2)


LATER = [pytest.param(*one, marks=pytest.mark.long) for one in (("", 1), ("gaussian", 3))]


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("noise", "averaged"), [("", 3), ("gaussian", 1), ("gaussian_root", 1), ("gaussian_root", 3), *LATER]
)
def test_the_tree_keeps_its_band_also_when_averaged(noise: str, averaged: int) -> None:
    """β = 0.2, all cells at once, 100 answers; false alarm ≤ 1e-6."""
    counts = tuple(np.random.default_rng().integers(0, 20, 60).tolist())
    query = tree(60, sum(counts), noise=noise, beta="0.2")
    truth, coins, draws = np.cumsum(counts), SystemCoins(), 100
    missed = 0
    for _ in range(draws):
        raws = [query.draw(counts, coins) for _ in range(averaged)]
        told = query.from_mean(tuple(Fraction(sum(one), averaged) for one in zip(*raws, strict=True)), averaged)
        missed += any(not low <= true <= high for true, (low, high) in zip(truth, told.interval.values(), strict=True))
    assert missed <= allowed_failures(draws, 0.2)
    assert query.reach(3) < query.reach(1)
    assert json.loads(json.dumps(query.release(counts, coins).interval))  # whole numbers: the ledger keeps them as JSON


def test_a_deep_tree_keeps_its_loss() -> None:
    for noise in ("", "gaussian"):
        check_law_against_loss(tree(4, 3, noise=noise))
    assert count_tree.balanced(1_000).levels > 1


# The root


@pytest.mark.parametrize("cells", [1, 2, 3, 50])
def test_a_root_gives_all_sums_back_and_its_sensitivity_is_that_of_its_table(cells: int) -> None:
    """Over all columns of the whole-number matrix itself, for a row added and for a row moved."""
    counts = np.random.default_rng().integers(0, 9, cells)
    assert (
        np.abs(count_tree.prefix_sums(count_tree.rooted(counts.tolist())) - np.cumsum(counts)).max()
        < count_tree.ROUNDED
    )
    columns = [np.array(count_tree.rooted([int(place == one) for place in range(cells)])) for one in range(cells)]
    assert max(int((column**2).sum()) for column in columns) == count_tree.moved(cells, replaced=False)
    moves = [int(((one - other) ** 2).sum()) for one in columns for other in columns]
    assert max([*moves, count_tree.moved(cells, replaced=False)]) == count_tree.moved(cells, replaced=True)
    assert all(abs(a / 2**count_tree.BITS - math.comb(2 * j, j) / 4**j) < 2**-15 for j, a in enumerate(columns[0]))


def test_a_root_promises_less_than_two_thirds_of_what_a_tree_does_at_the_same_price() -> None:
    for relation in RELATIONS:
        bell, root = (tree(1_000, 10**5, relation, noise=noise) for noise in ("gaussian", "gaussian_root"))
        assert bell.loss() == root.loss()
        assert root.promise().amount < bell.promise().amount * Fraction(65, 100)


# Beside them


def test_a_curve_that_never_falls_is_the_nearest_and_stays_in_its_band() -> None:
    rng = np.random.default_rng()
    truth = np.cumsum(rng.integers(0, 5, 40))
    heights = truth + rng.integers(-9, 10, 40)
    lows, highs = (heights - 9).tolist(), (heights + 9).tolist()
    fit, low, high = rising(heights.tolist(), lows, highs)
    for one in (fit, low, high, pooled(heights.tolist())):
        assert all(b >= a - 1e-9 for a, b in pairwise(one))
    assert all(a <= t <= b and a <= y <= b for a, t, y, b in zip(low, truth, fit, high, strict=True))
    assert all(a >= c and b <= d for a, b, c, d in zip(low, high, lows, highs, strict=True))
    nearest = float(((np.array(pooled(heights.tolist())) - heights) ** 2).sum())
    for _ in range(50):
        other = np.sort(heights + rng.normal(0, 3, 40))
        assert nearest <= float(((other - heights) ** 2).sum()) + 1e-9
    assert rising([3, 1], [3, 0], [4, 1]) == ([2, 2], [3, 0], [4, 1])  # no rising curve lies in that band


@pytest.mark.parametrize("off", [0, 1, 4, 30])
def test_halfway_lies_where_the_band_says(off: int) -> None:
    """Whatever a curve inside the band does, the truth is between the two points; a band too wide says nothing."""
    rng = np.random.default_rng()
    for _ in range(200):
        truth = np.cumsum(rng.integers(0, 9, 12)) + 1
        heights = truth + rng.integers(-off, off + 1, 12)
        found = halfway(heights.tolist(), (heights - off).tolist(), (heights + off).tolist())
        half = int(np.argmax(truth >= truth[-1] / 2))
        assert found is None or (found[1] <= min(half, found[0]) and max(half, found[0]) <= found[2])
        assert found is not None or heights[-1] < 3 * off + 1
        assert off or found == (half, half, half)


@pytest.mark.parametrize(("people", "better"), [(200, "cdf"), (10**6, "cdf_tree")])
def test_the_nearer_of_two_is_told_by_their_promises(people: int, better: str) -> None:
    """Few people: the column; many: the tree, whose error does not grow with them."""
    for query in (column(1_000, people, points=4), tree(1_000, people, noise="gaussian")):
        found = curve_alternative(query)
        assert found is not None and found.query.epsilon == query.epsilon and found.query.where == query.where
        assert (found.own < found.its) == (query.card.key == better)
        other = curve_alternative(found.query)
        assert other is not None and other.its <= people
    count = dp.catalogue["count"].build(facts(5, 9), {"epsilon": "1", "where": [["x", ">", 1]]})
    assert curve_alternative(count) is None


def test_asked_of_a_table_of_people_with_several_rows_and_days(tmp_path: Path) -> None:
    """Through the ledger and back: averaged when asked again, a column of days, no range where n is secret."""
    frame = pd.DataFrame({"who": [str(place // 2) for place in range(400)], "day": ["2020-01-05", "2020-03-01"] * 200})
    table = dp.open_workspace(tmp_path).add_table(
        "seen",
        frame,
        schema=dp.Schema({"day": dp.Date("2020-01-01", "2020-03-31")}),
        unit=dp.Unit.column("who", at_most=2),
        relation="add_remove",
        budget=dp.Budget("100", "1e-6"),
        about_rows=200,
    )
    asked = table.query("cdf_tree", column="day", epsilon="8")
    for _ in range(2):
        table.ask(asked)
    reading = table.looks(asked)
    assert reading.kind == "averaged" and reading.agree and abs(reading.value["2020-02-15"] - 200) < 50
    made = table.query("cdf", column="day", epsilon="20", where=[["day", ">=", "2020-02-01"]])
    assert isinstance(made, Cdf) and made.sensitivity().bound == 2
    told = table.ask(made)
    assert told.interval is None and len(made.made_up(told.value)) == made.points
    assert list(told.value) == sorted(told.value) and told.value[max(told.value)] == 100
