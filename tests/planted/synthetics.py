"""Wrong twins of synthetic tables: weights, scores and losses that are not the theorem's."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from battery import check_law_against_loss, check_samples_against_law, check_sensitivity
from helpers_synthetic import facts, small_database_law

from dpengine.core.types import Integers
from dpengine.mechanisms.synthetic.small_database import SmallDatabase, all_multisets
from dpengine.noise.coins import Coins
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made

VALUE = (4, 0, 1, 2)


class EqualMultisets(SmallDatabase):
    """Every multiset once, as if it had one order of its rows."""

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        counts, ways = all_multisets(self.domain, self.rows)
        block, _ = coins.choose(self.gaps(value), np.ones_like(ways), self.rate)
        return tuple(counts[block].tolist())


class RoundedDown(SmallDatabase):
    """n·c_h(y) is divided by m, and rounded down, before it is compared."""

    def gaps(self, value: tuple[int, ...], told: Any = None) -> Integers:
        counts, _ = all_multisets(self.domain, self.rows)
        x = np.asarray(value)
        wanted = self.sums(x).astype(np.int64)
        scaled = np.stack([self.sums(y).astype(np.int64) * int(x.sum()) // self.rows for y in counts])
        return np.asarray(np.abs(wanted - scaled).max(axis=1), dtype=np.int64)


class Undivided(SmallDatabase):
    """The score in m-ths of a row, which a person moves by m."""

    def gaps(self, value: tuple[int, ...], told: Any = lambda done, total: None) -> Integers:
        return super().gaps(tuple(self.rows * one for one in value), told)


def check_the_law_is_that_of_every_sequence(query: SmallDatabase) -> None:
    law, wanted = query.law(VALUE), small_database_law(query, VALUE)
    assert law is not None
    off = max(abs(p - wanted[rows]) for rows, p in law.chances.items())
    assert off < Decimal("1e-20"), "the law is not the theorem's"


def check_draws_of_a_small_database(query: SmallDatabase) -> None:
    check_samples_against_law(query, VALUE, draws=3_000)


def small(kind: type[SmallDatabase]) -> SmallDatabase:
    """Twenty multisets of three rows, which can be ordered in one, three or six ways."""
    return kind.build(facts((2, 2), 7), {"columns": ["c0", "c1"], "size": 3, "epsilon": "0.5"})


PLANTED = [
    Planted(
        "weights that forget the multinomial factor",
        "Databases are chosen as if each had one order of its rows.",
        check_draws_of_a_small_database,
        "follow the law",
        small(SmallDatabase),
        small(EqualMultisets),
    ),
    Planted(
        "a score that is divided before it is rounded",
        "It is not the score that the promise speaks of.",
        check_the_law_is_that_of_every_sequence,
        "not the theorem's",
        small(SmallDatabase),
        small(RoundedDown),
    ),
    Planted(
        "a score in parts of a row",
        "One person moves it by as many parts, and the noise is for one.",
        check_sensitivity,
        "moves it by",
        made(SmallDatabase, {"columns": ["c"], "size": 2}),
        made(Undivided, {"columns": ["c"], "size": 2}),
        also=((check_law_against_loss, "exceeds"),),
    ),
]
