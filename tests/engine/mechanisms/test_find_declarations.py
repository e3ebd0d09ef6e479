"""Finding ranges and lists together: its loss by exact enumeration, its threshold, its promises, and what it tells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from battery import HEADER, SCHEMA, allowed_failures, build

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.loss import Approximate, Gaussian, simple_events
from dpengine.audit import exact
from dpengine.audit.world import neighbouring_statistics
from dpengine.declared.facts import Facts
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import Normal, chance
from dpengine.statistics.raw_cells import BANDS, EDGES
from dpengine.statistics.raw_needs import Several, Values, Years
from dpengine.workspace import Workspace
from tests.helpers_found import check_found_lists

every_relation = pytest.mark.parametrize("relation", RELATIONS)


def query_of(relation: str = "replace", rows: int = 1, about: int = 100, **given: Any) -> FindDeclarations:
    unit = Unit.rows() if rows == 1 else Unit.column("who", at_most=rows)
    facts = Facts("small", SCHEMA, unit, relation, about, HEADER)  # type: ignore[arg-type]
    asked = {"lists": ["raw text"], "delta": "0.01", "epsilon": "1"} | given
    query = FindDeclarations.build(facts, {name: one for name, one in asked.items() if one is not None})
    assert isinstance(query, FindDeclarations)
    return query


@pytest.mark.every(9)
@every_relation
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.001"), ("0.2", "0.01")])
def test_lists_keep_their_claim_on_small_tables(relation: str, rows: int, epsilon: str, delta: str) -> None:
    query = query_of(relation, rows, epsilon=epsilon, delta=delta)
    worst = check_found_lists(query)
    if query.of_values.size > 20:  # where one row more or less says little
        assert worst >= float(query.delta) * 0.15, "the threshold wastes what was paid"


@pytest.mark.long
@pytest.mark.parametrize(
    ("relation", "rows"),
    [("add_remove", 1), *(pytest.param(*one, marks=pytest.mark.long) for one in (("replace", 1), ("replace", 2)))],
)
def test_ends_keep_their_claim_on_small_tables(relation: str, rows: int) -> None:
    """Every neighbour of the small world, alone and beside as many others as the rank that is looked for."""
    unit = Unit.rows() if rows == 1 else Unit.column("who", at_most=rows)
    query = build("find_declarations", {"numbers": ["raw number"]}, relation, unit=unit)
    found = exact.worst(query)
    claimed = cost(query.loss(), exact.ORDER)
    assert claimed.epsilon is None and not claimed.delta and found.renyi <= float(claimed.renyi) * (1 + 1e-9)
    assert found.renyi >= float(claimed.renyi) * 0.2


def test_the_loss_is_what_was_asked_and_all_lists_share_one_delta() -> None:
    query = query_of(numbers=["x", "z"], lists=["raw text", "c", "d"], delta="1e-6", epsilon="0.1")
    parts = simple_events(query.loss())
    assert sum(part.delta * times for part, times in parts if isinstance(part, Approximate)) == Fraction(1, 10**6)
    rho = sum(part.rho * times for part, times in parts if isinstance(part, Gaussian))
    rho += sum(part.epsilon**2 / 8 * times for part, times in parts if not isinstance(part, (Gaussian, Approximate)))
    assert Fraction(999_999, 10**6) * Fraction(1, 200) <= rho <= Fraction(1, 200)
    alone = query_of(delta="1e-6", epsilon="0.1")
    assert alone.threshold < query.threshold


@pytest.mark.every(3)
@every_relation
@pytest.mark.parametrize("unit", [None, Unit.column("who", at_most=2)])
def test_one_person_moves_the_gaps_by_what_is_claimed(relation: str, unit: Unit | None) -> None:
    query = build("find_declarations", {"numbers": ["raw number"]}, relation, unit=unit)
    assert isinstance(query, FindDeclarations)
    rows, rank = query.rows, query.slack("number") + 1
    for many in (0, rank, 3 * rank):
        for (before,), (after,) in neighbouring_statistics(query.need().of, relation, unit):
            lifted = [np.array(counts) + (np.arange(BANDS) == 60) * many for counts in (before, after)]
            for a, b in zip(*(query.gaps(tuple(counts.tolist()), "number") for counts in lifted), strict=True):
                assert np.abs(a - b).max() <= rows


def test_the_promises_of_ranges_and_lists_hold() -> None:
    """β = 0.2, 100 draws of a list and a range: what enough hold is found, counts and what is left are right, and no
    more than was said lie outside."""
    query = query_of(about=3_000, numbers=["raw number"], epsilon="1", delta="1e-6", beta="0.2")
    held = query.least_held
    counts = [held, held, held + 40, query.threshold, query.threshold - 5, 3, 2, 1, 1]
    counts.append(3_000 - sum(counts))
    value = tuple((f"v{place}", count) for place, count in enumerate(counts))
    bands = [0] * BANDS
    bands[40], bands[60], bands[61], bands[70], bands[71] = 30, 1_200, 1_500, 200, 20
    coins, draws, broken = SystemCoins(), 100, 0
    truth = dict(value)
    for _ in range(draws):
        told = query.release((tuple(bands), value), coins)
        found = {name.removeprefix("raw text: "): ends for name, ends in told.interval.items() if "text: v" in name}
        missed = any(count >= held and name not in found for name, count in value)
        off = any(not low <= truth[name] <= high for name, (low, high) in found.items())
        rest = 3_000 - sum(truth[name] for name in found)
        low, high = told.interval["raw text: Else"]
        first, last = told.value["raw number: From"], told.value["raw number: To"]
        below = sum(count for count, edge in zip(bands, EDGES, strict=False) if edge < first)
        above = sum(count for count, edge in zip(bands, EDGES, strict=False) if edge >= last)
        outside = max(below, above) > query.outside("number")
        broken += missed or off or not low <= rest <= high or outside
    assert broken <= allowed_failures(draws, 0.2)


def test_draws_follow_the_law() -> None:
    """400 draws; false alarm below 1e-6 by exact binomial tails."""
    query = query_of(numbers=["raw number"], epsilon="3", delta="1e-3")
    bands = tuple(5 if place in (50, 60) else 0 for place in range(BANDS))
    value = (bands, (("ann", query.threshold), ("bo", 1)))
    coins = SystemCoins()
    draws = 400
    seen = [query.draw(value, coins) for _ in range(draws)]
    low, _, hold = query.ends_law(bands, "number")
    assert isinstance(hold, Normal)
    best = max(low.chances, key=low.chances.__getitem__)
    likely = float(low.chances[best])
    many = sum(one[0][0] == best for one in seen)
    assert many <= allowed_failures(draws, likely) and draws - many <= allowed_failures(draws, 1 - likely)
    holds = float(chance(hold, 10))
    assert sum(one[0][2] == 10 for one in seen) <= allowed_failures(draws, holds)
    shown = sum(any(name == "ann" for name, _ in one[1]) for one in seen)
    at_threshold = 0.5 + float(chance(Normal(0, query.of_values.size), 0)) / 2
    assert shown <= allowed_failures(draws, at_threshold)
    assert draws - shown <= allowed_failures(draws, 1 - at_threshold)
    assert sum(any(name == "bo" for name, _ in one[1]) for one in seen) <= allowed_failures(draws, 1e-3)


def test_a_column_without_numbers_has_no_range_and_nothing_is_told_of_rare_values() -> None:
    query = query_of(about=3_000, numbers=["raw number"], epsilon="1", delta="1e-9", beta="1e-8")
    told = query.release(((0,) * BANDS, (("secret", 1),)), SystemCoins())
    number, words = query.drafts(told.value, told.interval)
    assert number.ends is None and words.values == () and query.finding(told.value, told.interval) == ""
    assert set(told.value) == {"raw number: Hold", "raw text: Else"}


def test_years_of_days_in_any_order() -> None:
    cells = ["1999-12-31", "31.12.1999", "12/31/1999", "1700-01-01", "soon", None, "2500-01-01"]
    found = Years("b").of([{"b": cell} for cell in cells])
    assert sum(found) == 5 and found[149] == 3 and found[0] == 1 and found[-1] == 1
    assert Several((Years("b"), Values("b"))).of([{"b": "1999-12-31"}])[1] == (("1999-12-31", 1),)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def test_ranges_and_lists_from_a_file(workspace: Workspace) -> None:
    size = 6_000
    frame = pd.DataFrame(
        {
            "pay": [str(100 + place % 900) for place in range(size)],
            "job": ["Cook", " cook ", "Nurse"] * (size // 3),
            "born": [f"{1 + place % 28}.3.{1950 + place % 50}" for place in range(size)],
            "known": ["5"] * size,
        }
    )
    table = workspace.add_table(
        "people",
        frame,
        schema=dp.Schema({"known": dp.Number(0, 10)}),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("99", "1e-6"),
    )
    reserve = table.meter().delta_reserve
    query = table.query(
        "find_declarations",
        numbers=["pay"],
        dates=["born"],
        lists=["job"],
        delta=reserve / 10,
        epsilon="2",
        beta="1e-6",
    )
    assert table.preview(query).admissible and query.sentence()
    answer = table.ask(query, request_id="found")
    pay, born, job = answer.query.drafts(answer.value, answer.interval)
    assert pay.ends == (64, 1024) and [value for value, _ in job.values] == ["cook", "nurse"]
    assert born.ends is not None and "1950-01-01" <= born.ends[0] < "1956" and "1994" < born.ends[1] <= "1999-12-31"
    assert job.other is not None and job.other[1][0] <= 0 <= job.other[1][1]
    assert table.meter().spent_delta == reserve / 10
    again = workspace.job("found").answer
    assert again is not None and again.value == answer.value and again.interval == answer.interval
    assert list(answer.value)[:2] == ["pay: From", "pay: To"]


@pytest.mark.parametrize(
    "given",
    [
        {"lists": []},
        {"lists": ["c", "c"]},
        {"numbers": ["c"], "lists": ["c"]},
        {"lists": "c"},
        {"lists": ["nobody"]},
        {"delta": None},
        {"delta": "2"},
    ],
)
def test_what_cannot_be_found_is_one_clear_sentence(given: Any) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        query_of(**given)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_promises_are_told_before() -> None:
    query = query_of(about=30_000, numbers=["raw number"], epsilon="0.07", delta="1e-8")
    assert query.promise().amount == max(query.least_held, query.outside("number"))
    assert math.isclose(float(query.of_values.size), 2 / (2 * float(query.rho_of("list"))), rel_tol=1e-9)
