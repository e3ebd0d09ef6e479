"""Wrong twins of what is said beside an answer: a question that forgets what its declaration cuts of the file."""

from __future__ import annotations

from helpers_cuts import check_cuts_are_told, check_rows_without_a_value

from dpengine.audit.world import SEVERAL
from dpengine.declared.conditions import Predicate
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.counts.fit_check import FitCheck
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.cuts import Cut
from dpengine.mechanisms.marginals.overview import Overview
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


class LeavesOutMisfits(FitCheck):
    def left_out(self) -> list[str]:
        return ["x"]


class CountsTheEmpty(Overview):
    keeps_empty = False


AMOUNTS, AT_THE_END, LISTED = {"column": "x"}, {"where": [["x", "<=", 3]]}, {"column": "c"}
IN_STEPS = {"columns": [{"column": "x", "step": 2}, "c"]}
check = (check_cuts_are_told, "is not told")
without = (check_rows_without_a_value, "is said not to")

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
    Planted(
        "misfits said to be left out",
        "A check counts cells that do not fit, and says that rows without a value do not count.",
        *without,
        made(FitCheck, AMOUNTS),
        made(LeavesOutMisfits, AMOUNTS),
    ),
    Planted(
        "a bar of empty cells said to be left out",
        "A first look has a bar for empty cells, and says that rows without a value do not count.",
        *without,
        made(Overview, IN_STEPS),
        made(CountsTheEmpty, IN_STEPS),
    ),
]
