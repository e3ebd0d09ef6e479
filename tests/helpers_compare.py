"""Somebody who asks many equal counts and then shows the two that seem to differ most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from battery import allowed_failures

import dpengine as dp
from dpengine.core.amounts import BETA
from dpengine.declared.facts import Facts
from dpengine.mechanisms.counts.count import Count
from dpengine.noise.coins import SystemCoins
from dpengine.released import compare

SCHEMA = dp.Schema({"salary": dp.Number(0, 100), "state": dp.Category(["TX", "CA", "NY"])})
FACTS = Facts("people", SCHEMA, dp.Unit.rows(), "replace", 100_000)
ACCOUNTS, ANSWERS, TRUTH = 2_000, 20, 50_000


def count_at(epsilon: str = "0.1") -> Count:
    query = dp.catalogue["count"].build(FACTS, {"where": [["state", "in", ["TX"]]], "epsilon": epsilon})
    assert isinstance(query, Count)
    return query


def stated(query: Count) -> list[compare.Comparable]:
    """The figures of so many answers that all drew the truth itself."""
    told, found = query.finish((TRUTH,)), []
    for place in range(1, ANSWERS + 1):
        found += compare.figures(query, told.value, told.interval, (TRUTH,), place, str(place), "people")
    return found


def moved(one: compare.Comparable, raw: int) -> compare.Comparable:
    """The same answer, had it drawn something else: the range of a count moves with the count."""
    away, here = raw - TRUTH, one.stated
    return replace(one, stated=compare.Stated(here.value + away, here.low + away, here.high + away))


def failed(drawn: list[int], like: list[compare.Comparable]) -> bool:
    """The two answers that lie furthest apart are compared. Is the truth, no difference, outside their range?"""
    found = [moved(one, raw) for one, raw in zip(like, drawn, strict=True)]
    most, least = (pick(found, key=lambda one: one.stated.value) for pick in (max, min))
    return compare.compare([most, least]).pairs[0].different


def check_a_comparison_holds_whatever_was_picked(share_of: Callable[[Fraction, int], Fraction]) -> None:
    """A right rule fails more often than this with chance at most 10^-6."""
    query, before = count_at(), compare.share_of
    noisy = SystemCoins().laplace([TRUTH] * (ACCOUNTS * ANSWERS), query.scale)
    rows = [noisy[start : start + ANSWERS] for start in range(0, len(noisy), ANSWERS)]
    compare.share_of = share_of
    try:
        like = stated(query)
        failures = sum(failed(row, like) for row in rows)
    finally:
        compare.share_of = before
    allowed = allowed_failures(ACCOUNTS, float(BETA))
    assert failures <= allowed, f"the picked difference excludes the truth too often: {failures} of {ACCOUNTS}"
