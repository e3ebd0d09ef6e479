"""Tables of one row decide about what is published row by row (thesis, Thm 4.7), and the auditor knows when not."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from battery import case_name

from dpengine.audit.exact import made_of_rows, pairs, worst
from dpengine.audit.world import CASES, POSSIBLE_ROWS, build, named, neighbours
from dpengine.declared.conditions import Row
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.publish.publish_category import PublishCategory
from dpengine.noise.laws import Independent
from dpengine.noise.row_noise import Swap

PUBLISHED = [case for case in CASES if catalogue[case[0]].row_wise]
LISTED_IN_FULL = ("publish_category: a list with δ", "publish_row: a number and a list", "publish_set: item by item")


def test_fifty_six_pairs_instead_of_two_thousand() -> None:
    every = neighbours("replace")
    assert len(every) == 2520
    assert len([pair for pair in every if len(pair[0]) == 1]) == 56 == len(POSSIBLE_ROWS) * (len(POSSIBLE_ROWS) - 1)
    key, given = named("publish_row: a number and a list")
    assert {len(value[0]) for pair in pairs(build(key, given, "replace")) for value in pair} == {1}
    assert {len(value[0]) for pair in pairs(build(key, given, "replace"), whole=True) for value in pair} == {1, 2, 3}


@pytest.mark.every(3)
@pytest.mark.parametrize("case", PUBLISHED, ids=case_name)
def test_what_is_published_row_by_row_is_made_of_rows(case: Any) -> None:
    assert made_of_rows(build(*case, "replace"))


@pytest.mark.every(9)
@pytest.mark.parametrize(
    "name",
    [
        name if name in LISTED_IN_FULL else pytest.param(name, marks=pytest.mark.long)
        for name in map(case_name, PUBLISHED)
    ],
)
def test_one_row_says_what_all_tables_say(name: str) -> None:
    """The theorem against the full list: the same loss in every quantity."""
    key, given = named(name)
    query = build(key, given, "replace")
    one, every = worst(query), worst(query, whole=True)
    assert abs(one.epsilon - every.epsilon) < 1e-20
    assert one.renyi == pytest.approx(every.renyi, abs=1e-12)
    assert one.delta == every.delta


class AboutTheLastRow(PublishCategory):
    """One row alone is published as it should be; beside others the last one is hardly changed."""

    def law(self, value: Any) -> Independent:
        right = super().law(value)
        if len(value[0]) < 2:
            return right
        bare = Swap(self.row("t").size, 20 * self.epsilon, self.delta)  # type: ignore[union-attr]
        return Independent((*right.parts[:-1], bare.law(int(value[0][-1]))))


def test_a_question_that_only_says_it_is_row_wise_is_listed_in_full() -> None:
    key, given = named("publish_category: a list with δ")
    query = build(key, given | {"delta": "0"}, "replace")
    planted = AboutTheLastRow(**{one.name: getattr(query, one.name) for one in fields(query)})
    assert not made_of_rows(planted)
    assert worst(planted).epsilon > 19 > worst(query).epsilon
    rows: tuple[Row, ...] = POSSIBLE_ROWS[:2]
    assert len(planted.law(planted.need().of(rows)).parts) == 2
