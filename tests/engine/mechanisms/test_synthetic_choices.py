"""What is chosen for a synthetic table takes as many turns as are charged, and what is fitted is not its noise."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpengine as dp
from dpengine.core.types import Integers
from dpengine.declared.facts import Facts
from dpengine.mechanisms.synthetic.plans import CHOSEN
from dpengine.mechanisms.synthetic.soft_fit import Target, raked, trusted
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.noise.coins import SystemCoins
from dpengine.released.synthetic_fit import fitted, judged, listed

RELATIONS = ("replace", "add_remove")


def _counts(codes: list[Integers], part: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    cells = np.zeros([sizes[place] for place in part])
    np.add.at(cells, tuple(codes[place] for place in part), 1)
    return cells


class InOrder(SystemCoins):
    """Chooses these, and notes which could have been."""

    def __init__(self, places: list[int]) -> None:
        self.places, self.able = places, list[set[int]]()

    def choose(self, gaps: Integers, sizes: Integers, rate: Any, most: int | None = None) -> tuple[int, int]:
        self.able.append(set(np.flatnonzero(sizes).tolist()))
        assert self.places[0] in self.able[-1]
        return self.places.pop(0), 0


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_triple_is_chosen_with_the_pair_that_it_lacks_and_both_are_charged(relation: str) -> None:
    sizes = (2, 3, 2, 4, 2)
    lists = {f"c{at}": dp.Category([f"v{one}" for one in range(size)], "v0", "v0") for at, size in enumerate(sizes)}
    facts = Facts("t", dp.Schema(lists), dp.Unit.rows(), relation, 900)  # type: ignore[arg-type]
    query = SyntheticTable.build(facts, {"columns": list(lists), "plan": CHOSEN, "epsilon": "2"})
    rng, place = np.random.default_rng(3), {part: at for at, part in enumerate(query._parts)}
    codes = [rng.integers(0, size, 900) for size in sizes]
    triple, other = place[(0, 1, 2)], place[(1, 2, 3)]
    rest = [place[part] for part in combinations(range(5), 2) if part not in ((0, 1), (0, 2), (1, 2))]
    twice, eight = len(place), 3 * len(place)  # as many turns in all
    coins = InOrder([place[(0, 1)], place[(0, 2)], triple, *rest[:5], twice + place[(0, 1)], *rest[5:]])
    assert query.turns == 12
    value = [_counts(codes, part, sizes).astype(np.int64).ravel().tolist() for part in query.largest]
    raw = query.draw(value, coins)
    told, noise = query.marginals(raw), query.noise_in(raw)
    assert triple not in coins.able[0] | coins.able[1] and triple in coins.able[2] and other not in coins.able[2]
    assert len(coins.able) == query.turns - 1, "two were measured in one turn"
    assert {(1, 2), (0, 1, 2)} <= told.keys() and len(told) == 5 + query.turns - 1, "one was measured again"
    assert noise[(0, 1)] == query.noise_of[(0, 1)] / 2 and noise[(0, 2)] == query.noise_of[(0, 2)]
    for part in ((0, 1), (1, 2), (0, 1, 2)):  # a cell is outside its range less than once in a million at this β
        assert np.abs(told[part] - _counts(codes, part, sizes)).max() <= 3 * query.reach(part, noise)
    assert place[(0, 1)] not in coins.able[1] and triple not in coins.able[3], "nothing is measured to as many turns"
    assert eight + place[(0, 1)] in coins.able[1] and eight + place[(0, 1)] not in coins.able[7], "too few are left"
    last = query.choosing.offers(dict.fromkeys(told.keys() - {(3, 4)}, 1), 1, query._always, query.noise_of)
    assert coins.able[-1] and all(one.turns == 1 for one in last), "with one turn left nothing takes two"


def test_a_pair_that_says_nothing_is_not_fitted_to_its_noise() -> None:
    """Two columns that have nothing to do with each other stay near independent; two that are one stay one. Noise of
    30 rows a cell: a pair of 64 cells that says nothing is held for one that says as much as is usual only where its
    squares add up to more than ten standard deviations too many. In 60 draws the last figure was 0.11 ± 0.02."""
    rng, rows = np.random.default_rng(), 6_400.0
    alone, one = np.full((8, 8), rows / 64), np.diag(np.full(8, rows / 8))
    singles = [Target((place,), np.full(8, rows / 8), 100.0) for place in range(3)]
    pairs = [Target(part, truth + rng.normal(0, 30, (8, 8)), 900.0) for part, truth in (((0, 1), alone), ((1, 2), one))]
    off = {}
    for alike in (False, True):
        points = fitted((8, 8, 8), [*singles, *pairs], rows, 1, alike=alike)
        off[alike] = [
            np.abs(points.marginal(part, (8, 8, 8)) - truth).sum() / rows
            for part, truth in (((0, 1), alone), ((1, 2), one))
        ]
    assert off[False][0] < off[True][0] / 1.5 and off[False][1] < 0.4


def test_all_combinations_begin_along_the_pairs_that_hang_together_most() -> None:
    """Of three measured pairs the two that say most are kept, and the third follows from them."""
    rows, first = 8_000.0, np.array([0.1, 0.2, 0.7])
    given, after = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), np.array([[0.05, 0.95], [0.8, 0.2]])
    joint = rows * first[:, None, None] * given[:, :, None] * after
    singles = [Target((at,), joint.sum(axis=tuple({0, 1, 2} - {at})), 1e-6) for at in range(3)]
    told = {
        (0, 1): joint.sum(axis=2),
        (1, 2): joint.sum(axis=0),
        (0, 2): np.outer(*(singles[at].cells for at in (0, 2))),
    }
    pairs = [Target(part, cells / (rows if part == (0, 2) else 1), 1e-6) for part, cells in told.items()]
    points = listed((3, 2, 2), [*singles, *pairs], rows)
    assert np.allclose(points.weights, joint.ravel(), rtol=1e-3)
    plain = rows * math.prod(np.expand_dims(one.cells / rows, tuple({0, 1, 2} - {*one.columns})) for one in singles)
    alone = listed((3, 2, 2), singles, rows)
    assert np.allclose(alone.weights, plain.ravel()) and not np.allclose(alone.weights, points.weights, rtol=0.1)


CHAIN = (8, 8, 8)


def _chain(rows: float) -> Any:
    """Three columns, each mostly as the one before: what the first and the last show follows from the others."""
    follows = np.full((8, 8), 0.02) + 0.84 * np.eye(8)
    return rows / 8 * follows[:, :, None] * follows[None]


def _noisy(joint: Any, columns: tuple[int, ...], variance: float) -> Target:
    told = joint.sum(axis=tuple({*range(joint.ndim)} - {*columns}))
    return Target(columns, told + np.random.default_rng().normal(0, math.sqrt(variance), told.shape), variance)


def test_a_pair_that_others_explain_is_not_fitted_to_its_noise() -> None:
    """Beside a fit from the same points that judges every pair by how far it is from independent. In 30 runs of this
    the quotient of the two errors was 0.71 ± 0.02, so that 1 lies fourteen standard deviations away."""
    rows, part = 6_400.0, (0, 2)
    joint = _chain(rows)
    truth, off = joint.sum(axis=1), np.zeros(2)
    for _ in range(10):
        singles = [_noisy(joint, (place,), 25.0) for place in range(3)]
        pairs = [_noisy(joint, (0, 1), 100.0), _noisy(joint, (0, 2), 900.0), _noisy(joint, (1, 2), 100.0)]
        alone = [trusted(one, np.full((8, 8), rows / 64), rows) for one in pairs]
        before = raked(listed(CHAIN, [*singles, *alone], rows), CHAIN, [*alone, *singles])
        now = fitted(CHAIN, [*singles, *pairs], rows, 1)
        off += [np.abs(one.marginal(part, CHAIN) - truth).sum() for one in (now, before)]
    assert off[0] < off[1]


@pytest.mark.every(3)
@pytest.mark.parametrize("alike", [False, True])
def test_columns_by_themselves_are_kept_where_no_cell_may_be_below_zero(alike: bool) -> None:
    """Most cells of a pair are smaller than its noise: that none of them is below 0 moves what they add up to. Beside a
    fit that follows all as closely, how far columns are from what was released of them alone. In 100 single draws the
    quotient was 0.66 ± 0.15 and 0.22 ± 0.05 (alike); the sums of 8 draws are more than five deviations below 1."""
    rows, away = 64_000.0, np.zeros(2)
    joint = _chain(rows)
    for _ in range(8):
        singles = [_noisy(joint, (place,), 2_500.0) for place in range(3)]
        told = [*singles, *(_noisy(joint, pair, 10_000.0) for pair in combinations(range(3), 2))]
        before = raked(listed(CHAIN, told, rows), CHAIN, told)
        now = fitted(CHAIN, told, rows, 1, alike=alike)
        for own in singles:
            released = own.cells * rows / own.cells.sum()
            away += [np.abs(one.marginal(own.columns, CHAIN) - released).sum() for one in (now, before)]
    assert away[0] < away[1]


@pytest.mark.long
def test_a_triple_that_another_explains_is_not_fitted_to_its_noise() -> None:
    """The third column is mostly the sum of the first two, which only the three together show, and the last mostly as
    the first: what it shows with the second and the third follows from that. Beside a fit that judges each triple by
    its pairs alone. In 30 runs of this the quotient of the two errors was 0.73 ± 0.02, so that 0.9 lies seven standard
    deviations away."""
    rows, sizes, off = 40_000.0, (4, 4, 4, 4), np.zeros(2)
    first, second, third, last = np.indices(sizes)
    joint = np.where((first + second) % 4 == third, 0.85, 0.05) * np.where(first == last, 0.7, 0.1) * rows / 16
    truth, parts = joint.sum(axis=0), [*combinations(range(4), 2), (0, 1, 2), (1, 2, 3)]
    for _ in range(10):
        singles = [_noisy(joint, (place,), 100.0) for place in range(4)]
        told = [*singles, *(_noisy(joint, part, 2_500.0) for part in parts)]
        start = listed(sizes, told, rows)
        before = raked(start, sizes, [*judged(sizes, told, rows, told, start), *singles])
        now = fitted(sizes, told, rows, 1)
        off += [np.abs(one.marginal((1, 2, 3), sizes) - truth).sum() for one in (now, before)]
    assert off[0] < 0.9 * off[1]


@pytest.mark.long
def test_a_triple_that_nothing_else_tells_is_followed_closely() -> None:
    """Where most cells of three columns are empty and their pairs say nothing of it: beside a fit that follows them as
    pairs are followed. In 30 runs of this the quotient of the two errors was 0.709 ± 0.004."""
    rows, part, off = 40_000.0, (0, 1, 2), np.zeros(2)
    first, second, third = np.indices(CHAIN)
    joint = np.where((first + second) % 8 == third, rows / 64, 0.0)
    for _ in range(10):
        told = [
            *(_noisy(joint, (at,), 100.0) for at in range(3)),
            *(_noisy(joint, at, 900.0) for at in combinations(range(3), 2)),
        ]
        triple = _noisy(joint, part, 900.0)
        start = listed(CHAIN, told, rows)
        before = raked(start, CHAIN, [*told, trusted(triple, start.marginal(part, CHAIN), rows)])
        now = fitted(CHAIN, [*told, triple], rows, 1)
        off += [np.abs(one.marginal(part, CHAIN) - joint).sum() for one in (now, before)]
    assert off[0] < 0.9 * off[1]
