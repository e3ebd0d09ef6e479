"""Checks of questions and of what computes their statistics, beyond those in battery.py; all run on the real ones too.

Those that draw fail a right part with probability at most FALSE_ALARM each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, islice, product
from typing import Any

import numpy as np
from battery import (
    FALSE_ALARM,
    POSSIBLE_ROWS,
    _tail,
    check_samples_against_law,
    coordinates,
    facts,
    neighbours,
)

from dpengine.accountant.costs import cost
from dpengine.audit.empirical import lower_bound
from dpengine.audit.exact import ORDER
from dpengine.declared.conditions import Row
from dpengine.declared.schema import MISSING, Number, Schema
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.sums.sum import Sum
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.laws import Finite, Laplace, Normal, chance
from dpengine.statistics.counts import Moments, RowCount
from dpengine.statistics.need import Need

SOME_ROWS = POSSIBLE_ROWS[1:4]


def check_samples_follow_the_law(query: Query) -> None:
    """`check_samples_against_law` on a small table."""
    check_samples_against_law(query, query.need().of(SOME_ROWS), draws=800)


def check_the_shape_is_public(query: Query) -> None:
    """Which bars, labels and statuses appear is the same on all neighbours."""
    coins = SystemCoins()
    shapes = set()
    for one, _ in neighbours(query.facts.relation)[::37]:
        value = query.release(query.need().of(one), coins).value
        shapes.add(tuple(value) if isinstance(value, dict) and query.labels() else type(value))
    assert len(shapes) == 1, "which bars appear depends on the data"


def check_supports_are_one_public_grid(query: Query) -> None:
    """What can come out is the same set on neighbouring tables, by the law; what does come out is on that grid."""
    coins, pairs = SystemCoins(), neighbours(query.facts.relation)
    for pair in pairs[5 :: len(pairs) // 7]:
        values = [query.need().of(rows) for rows in pair]
        laws = [query.law(value) for value in values]
        assert all(law is not None for law in laws)
        for one, other in zip(*(coordinates(law) for law in laws if law is not None), strict=True):
            assert type(one) is type(other), "what can come out differs between neighbours"
            if isinstance(one, Finite) and isinstance(other, Finite):
                grids = [{outcome for outcome, p in law.chances.items() if p} for law in (one, other)]
                assert grids[0] == grids[1], "what can come out differs between neighbours"
        drawn = [query.draw(value, coins) for value in values]
        assert all(type(part) is int for part in _flat(drawn)), "an answer lies off the public grid"


def _flat(raw: Any) -> list[Any]:
    return [part for one in raw for part in _flat(one)] if isinstance(raw, (tuple, list)) else [raw]


class SameDraw(SystemCoins):
    """Coins whose noisy number is the same whatever the true one was."""

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return [7] * len(values)

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return [7] * len(values)


def check_all_that_is_told_comes_from_the_draw(query: Query) -> None:
    """Where two tables gave the same noisy numbers, answer and range are the same, word for word."""
    told = {repr(query.release(query.need().of(one), SameDraw())) for one, _ in neighbours(query.facts.relation)[::37]}
    assert len(told) == 1, "something is told beyond the draw"


class Pooled(SystemCoins):
    """System coins that draw noise in bulk, which is far quicker: it does not depend on what it is added to."""

    def __init__(self) -> None:
        self._noise: dict[tuple[str, Fraction], list[int]] = {}

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return [value + self._next("laplace", scale) for value in values]

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return [value + self._next("gaussian", sigma_squared) for value in values]

    def _next(self, law: str, size: Fraction) -> int:
        held = self._noise.setdefault((law, size), [])
        if not held:
            held += getattr(super(), law)([0] * 2_000, size)
        return held.pop()


def check_noise_is_independent(query: Query, draws: int = 800) -> None:
    """The numbers of one answer are above their centres together as often as independent ones, pair by pair."""
    value, coins = query.need().of(SOME_ROWS), Pooled()
    law = query.law(value)
    assert law is not None
    laws = [one for one in coordinates(law) if isinstance(one, Laplace | Normal)]
    above = [float((1 - chance(one, one.center)) / 2) for one in laws]
    seen = np.array(
        [[z > one.center for z, one in zip(query.draw(value, coins), laws, strict=True)] for _ in range(draws)]
    )
    pairs = list(islice(combinations(range(len(laws)), 2), 10))
    for one, other in pairs:
        together = int((seen[:, one] & seen[:, other]).sum())
        likely = _tail(together, draws, above[one] * above[other]) * len(pairs) > FALSE_ALARM
        assert likely, "the noise of two numbers hangs together"


def check_noise_is_fresh(query: Query) -> None:
    """Thirty draws, and thirty more, are not the same ones: two agree with chance below 1/2, thirty below 1e-9."""
    value = query.need().of(SOME_ROWS)
    once, again = ([query.draw(value, SystemCoins()) for _ in range(30)] for _ in range(2))
    assert once != again, "the same noise came again"


def check_draws_keep_the_claim(query: Query, draws: int = 6_000) -> None:
    """The black box: from what is released on the two neighbours that differ most, ε is not proved to be above the
    claim. The bound fails with probability at most FALSE_ALARM."""
    claimed = cost(query.loss(), ORDER)
    assert claimed.epsilon is not None
    pair = max(neighbours(query.facts.relation, query.facts.unit), key=lambda tables: _apart(query, *tables))
    coins = Pooled()
    told = [[_outcome(query, value, coins) for _ in range(draws)] for value in map(query.need().of, pair)]
    found = lower_bound(told[0], told[1], claimed.delta, FALSE_ALARM)
    assert found.epsilon <= claimed.epsilon, f"what is released proves ε ≥ {found.epsilon:.3g}"


def _apart(query: Query, one: Sequence[Row], other: Sequence[Row]) -> tuple[int, int, int]:
    """How many numbers of the statistic differ, and by how much; of equals the smaller tables."""
    values = [query.need().of(rows) for rows in (one, other)]
    parts = zip(*(value if isinstance(value, tuple) else (value,) for value in values), strict=True)
    moves = [abs(a - b) for a, b in parts]
    return sum(map(bool, moves)), sum(moves), -len(one)


def _outcome(query: Query, value: Any, coins: Coins) -> Any:
    """All that leaves: the draw, which the ledger keeps, and whatever a twin tells beside it."""
    if type(query).release is Query.release:
        return query.draw(value, coins)
    told = query.release(value, coins)
    return told.value if told.interval is None else (told.value, *told.interval)


# Selection


class Recorded(SystemCoins):
    """Remembers how many bits each request wanted."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def bits(self, count: int) -> int:
        self.asked.append(count)
        return super().bits(count)


Pick = Callable[[Coins, Any, Fraction], Any]


def check_selection_takes_the_same_draws(pick: Pick) -> None:
    """On neighbouring scores, and whoever wins, the same bits are asked for, except with chance below 2^-39 a draw."""
    asked = set()
    for gaps in ([0, 1, 2, 5, 9], [1, 0, 2, 4, 900], [0, 0, 0, 0, 0], [9, 8, 7, 6, 0]) * 10:
        coins = Recorded()
        pick(coins, np.array(gaps, dtype=np.int64), Fraction(1, 3))
        asked.add(tuple(coins.asked))
    assert len(asked) == 1, "how much is drawn depends on the scores"


def check_noise_keeps_large_numbers(coins: Coins) -> None:
    """Noise of scale 3 moves nothing by 150, chance below 1e-20; numbers beyond 32 bits stay what they are."""
    values = [0, -(10**12), 2**62, 2**31]
    for drawn in (coins.laplace(values, Fraction(3)), coins.gaussian(values, Fraction(3))):
        for value, noisy in zip(values, drawn, strict=True):
            assert type(noisy) is int and abs(noisy - value) < 150, "a large number came out as another one"


def check_no_scale_is_below_what_was_asked(sampled: Callable[[Fraction], float]) -> None:
    """The float that is sampled with is at least the scale, exactly: less would lose more than was claimed."""
    for scale in (Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(10, 3), Fraction(10**20 + 1)):
        assert Fraction(sampled(scale)) >= scale, "the noise is sampled below its scale"


# Statistics: read(need, rows, schema), rows being codes

Read = Callable[[Need, list[Row], Schema], Any]
BIG = Schema({"big": Number(0, 9_999_999), "small": Number(0, 9)})
LARGE = BIG["big"].size - 1
BIG_ROWS: list[Row] = [
    {"big": code, "small": place % 10}
    for place, code in enumerate([0, MISSING, *(place * 7_654_321 % LARGE for place in range(60)), *[LARGE] * 250, 1])
]
SUMS: tuple[Need, ...] = (
    Moments("big", LARGE + 1, 1, None, 1),
    Moments("small", 10, 2, None, 1),
    RowCount(),
    Moments("big", LARGE + 1, 2, None, 1),
)


def check_statistics_are_exact(read: Read) -> None:
    """Word for word what the need means, on values so large that 32 bits or a float would not hold their sum."""
    for need in SUMS:
        assert read(need, BIG_ROWS, BIG) == need.of(BIG_ROWS), "the statistic is not what it means"


def check_the_order_of_rows_does_not_matter(read: Read) -> None:
    need = SUMS[0]
    orders = (BIG_ROWS, BIG_ROWS[::-1], sorted(BIG_ROWS, key=lambda row: row["big"]), BIG_ROWS[4:] + BIG_ROWS[:4])
    assert len({read(need, order, BIG) for order in orders}) == 1, "the order of the rows changes the statistic"


# Cells

CELLS = ["0", "100", "57", "101", "-1", "1e9", "-1e300", "1e300", "inf", "-inf", "nan", "", "x", "٣", "1e400"]
BOUNDED = Number(0, 100)
CodeCells = Callable[[Number], Callable[[list[str]], Any]]


def check_no_cell_moves_a_sum_too_far(coder: CodeCells) -> None:
    """Whatever one person's cell holds, the sum moves by no more than is claimed, under both relations."""
    schema = Schema({"n": BOUNDED})
    codes = [int(code) for code in coder(BOUNDED)(CELLS)]
    for relation, nobody in (("replace", []), ("add_remove", [None])):
        query = Sum.build(replace(facts(relation), schema=schema), {"column": "n", "epsilon": "1"})
        sums = {
            code: query.measured(query.need().of([] if code is None else [{"n": code}])) for code in [*codes, *nobody]
        }
        for one, other in product(sums, repeat=2):
            if relation == "add_remove" and None not in (one, other):
                continue
            moved = abs(sums[one][0] - sums[other][0])
            assert moved <= query.sensitivity().bound, f"one cell moves the sum by {moved}"
