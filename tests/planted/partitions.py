"""A wrong twin of asking for disjoint conditions as one: conditions that share a value are taken for disjoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from unittest.mock import patch

from dpengine.declared.schema import MISSING
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.query import AnyQuery
from dpengine.planning import partition
from dpengine.planning.partition import TakenCodes
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made

Disjoint = Callable[[Sequence[tuple[int, TakenCodes]]], tuple[int, ...]]
ENDS = [(low, high) for low, high in product(range(4), repeat=2) if low <= high]
QUESTIONS: list[AnyQuery] = [made(Count, {"where": [["x", "between", list(ends)]]}) for ends in ENDS]


def check_nobody_is_in_two_parts(disjoint: Disjoint) -> None:
    """Every three runs of a small grid, in every order: over all values, the missing one too, nobody meets two of those
    that are put together, and one is left out only if somebody does."""
    runs = [partition.taken_of(query, "x") for query in QUESTIONS]
    for chosen in product(range(len(ENDS)), repeat=3):
        kept = disjoint([(place, codes) for place in chosen if (codes := runs[place]) is not None])
        for code in (MISSING, *range(4)):
            met = [place for place in kept if QUESTIONS[place].where.holds({"x": code})]
            assert len(met) <= 1, "a person is in two of the parts"
        for place in set(chosen) - set(kept):
            both = [ENDS[place], *(ENDS[other] for other in kept)]
            shared = any(low <= both[0][1] and both[0][0] <= high for low, high in both[1:])
            assert shared, "a part is left out without a reason"


def ends_may_touch(rows: Sequence[tuple[int, TakenCodes]]) -> tuple[int, ...]:
    """“At most 30” and “30 or more” as if nobody were 30."""
    with patch.object(TakenCodes, "apart", lambda one, other: one.high <= other.low or other.high <= one.low):
        return partition.disjoint(rows)


PLANTED = [
    Planted(
        "parts that share a value",
        "Conditions that both hold for one value are asked as one, at the price of disjoint ones.",
        check_nobody_is_in_two_parts,
        "in two of the parts",
        partition.disjoint,
        ends_may_touch,
    ),
]
