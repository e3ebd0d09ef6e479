"""Wrong twins of what is said beside an answer: a question that forgets what its declaration cuts of the file."""

from __future__ import annotations

from helpers_cuts import check_cuts_are_told

from dpengine.audit.world import SEVERAL
from dpengine.declared.conditions import Predicate
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.cuts import Cut
from dpengine.mechanisms.sums.sum import Sum
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made


class ForgetsRows(Sum):
    def cuts(self) -> tuple[Cut, ...]:
        return tuple(one for one in super().cuts() if one.code != "cut.rows")


class ForgetsTheRange(Sum):
    def valued(self) -> set[str]:
        return super().valued() - {self.column}


class ForgetsTheCondition(Count):
    def conditions(self) -> tuple[Predicate, ...]:
        return ()


class ForgetsTheList(Histogram):
    def valued(self) -> set[str]:
        return set()


AMOUNTS, AT_THE_END, LISTED = {"column": "x"}, {"where": [["x", "<=", 3]]}, {"column": "c"}
check = (check_cuts_are_told, "is not told")

PLANTED = [
    Planted(
        "rows that do not count, untold",
        "A sum over at most m rows a person speaks of the truth.",
        *check,
        made(Sum, AMOUNTS, unit=SEVERAL),
        made(ForgetsRows, AMOUNTS, unit=SEVERAL),
    ),
    Planted(
        "a cut range, untold",
        "A sum of clamped amounts speaks of the truth.",
        *check,
        made(Sum, AMOUNTS),
        made(ForgetsTheRange, AMOUNTS),
    ),
    Planted(
        "a condition at the end of a range, untold",
        "“At most 3” counts what lies above 3, and does not say so.",
        *check,
        made(Count, AT_THE_END),
        made(ForgetsTheCondition, AT_THE_END),
    ),
    Planted(
        "cells outside a list, untold",
        "Bars hold cells that are not on their list, and do not say so.",
        *check,
        made(Histogram, LISTED),
        made(ForgetsTheList, LISTED),
    ),
]
