"""Looks chosen by the answers: somebody goes on until the combined range excludes the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from battery import allowed_failures

import dpengine as dp
from dpengine.asking import paid_answers
from dpengine.asking.answers import Answer
from dpengine.asking.paid_answers import Reading, read_together
from dpengine.core.amounts import BETA
from dpengine.declared.facts import Facts
from dpengine.mechanisms.query import Query
from dpengine.noise.coins import SystemCoins

SCHEMA = dp.Schema({"salary": dp.Number(0, 100), "state": dp.Category(["TX", "CA", "NY"])})
FACTS = Facts("people", SCHEMA, dp.Unit.rows(), "replace", 1000)
RUNS = 2000


def answer(query: Query, raw: tuple[int, ...]) -> Answer:
    told = query.finish(raw)
    return Answer(told.value, told.interval, query.promise(), {}, query, "r", "", raw)


def count_at(epsilon: str) -> Query:
    return dp.catalogue["count"].build(FACTS, {"where": [["state", "in", ["TX"]]], "epsilon": epsilon})


def failed(reading: Reading) -> bool:
    """Had some range on the way excluded the truth, 0? Each reading is within those before, so the last one tells."""
    return not reading.agree or not reading.interval[0] <= 0 <= reading.interval[1]


def noises(epsilon: str, width: int) -> list[list[int]]:
    query = count_at(epsilon)
    drawn = SystemCoins().laplace([0] * (RUNS * width), query.scale)  # type: ignore[attr-defined]
    return [drawn[start : start + width] for start in range(0, RUNS * width, width)]


def most_failures(beta: Fraction) -> int:
    """A right rule exceeds this with chance at most 10^-6."""
    return allowed_failures(RUNS, float(beta))


def failures(width: int) -> int:
    """Somebody who knows the truth and goes on looking until the range excludes it."""
    like = answer(count_at("0.1"), (0,))
    return sum(failed(read_together([replace(like, raw=(z,)) for z in row], BETA)) for row in noises("0.1", width))


def check_a_range_holds_however_often_one_looks(share_of: Callable[[Fraction, int, int], Fraction]) -> None:
    """Five looks. A right rule fails more often with chance at most 10^-6; naively 95 in 100 becomes about 87."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paid_answers, "share_of", share_of)
        assert failures(5) <= most_failures(BETA), "the range fails too often for somebody who goes on looking"
