"""A found range is not stretched by one noisy empty band far out; finds share the δ that they take."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant.budget import Budget
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.choices.find_declarations import LONE, FindRange
from dpengine.noise.coins import SystemCoins
from dpengine.noise.tails import laplace_reach
from dpengine.statistics.raw_cells import BANDS, EDGES, band
from dpengine.workspace import Workspace

PEOPLE = 30_000
FACTS = Facts("t", Schema({"-": Number(0, 1)}), Unit.rows(), "replace", PEOPLE, ("gain", "work", "home", "town"))


def _query(epsilon: str = "0.1", **given: object) -> FindRange:
    found = catalogue["find_range"].build(FACTS, {"column": "gain", "epsilon": epsilon, **given})
    assert isinstance(found, FindRange)
    return found


def _counts() -> list[int]:
    """Nothing for 92 in 100, a few thousand for most of the others."""
    counts = [0] * BANDS
    for number, many in ((0, 27_600), (3_000, 1_200), (7_000, 900), (15_000, 300)):
        counts[band(str(number)) or 0] += many
    return counts


def test_no_lone_band_stretches_the_range() -> None:
    """3,000 draws; numbers below 16,384. An empty band beyond ±2²⁰ ends the range with chance 10⁻⁵: four times among
    3,000 with chance (0.03)⁴/24 < 10⁻⁷. Were every band above t covered, it would be 1 % of draws, so fewer than four
    have chance 10⁻⁹."""
    query, draws = _query(), 3_000
    noisy = SystemCoins().many_laplace(np.array(_counts() * draws), query.scale).reshape(draws, BANDS).tolist()

    def beyond(far: int) -> int:
        with mock.patch.object(FindRange, "far", far):
            told = [query.finish(tuple(row)).value for row in noisy]
        return sum(max(abs(ends["lower"]), abs(ends["upper"])) > 2**20 for ends in told)

    assert beyond(query.far) < 4 <= beyond(query.reach)


def test_what_is_covered_by_hand() -> None:
    query = _query()
    reach, far = query.reach, query.far
    assert far == laplace_reach(query.scale, LONE / BANDS) > reach
    assert query.promise().amount == reach + far

    def ends(**counts: int) -> tuple[int, int]:
        raw = [0] * BANDS
        for name, count in counts.items():
            raw[int(name[1:])] = count
        told = query.finish(tuple(raw)).value
        edges = [float(edge) for edge in EDGES]
        return edges.index(float(told["lower"])), edges.index(float(told["upper"])) - 1

    assert ends(b60=10 * far) == (60, 60)
    assert ends(b60=10 * far, b64=reach + 1, b68=reach + 1, b56=reach + 1) == (56, 68)  # near, and near that one
    assert ends(b60=10 * far, b65=reach + 1, b55=far) == (60, 60)  # too far for what may be noise
    assert ends(b60=10 * far, b90=far + 1, b5=far + 1) == (5, 90)  # surely somebody
    assert query.finish((reach,) * BANDS).value == {"lower": None, "upper": None}


@pytest.mark.parametrize("lists", [1, 2, 3])
def test_lists_promise_every_value_that_one_in_a_hundred_hold(lists: int) -> None:
    reserve = Budget("1", "1e-6").rule().delta_reserve
    given = {"lists": ["work", "home", "town"][:lists], "numbers": ["gain"], "epsilon": "0.1", "delta": reserve / 10}
    query = catalogue["find_declarations"].build(FACTS, given)
    assert query.least_held <= PEOPLE // 100  # type: ignore[attr-defined]


def test_ten_finds_fit_without_a_word_about_delta(tmp_path: Path) -> None:
    home = Workspace(tmp_path / "var")
    table = home.add_table(
        "people",
        pd.DataFrame({"job": ["cook"] * 500, "pay": "5"}),
        schema=Schema({"pay": Number(0, 10)}),
        unit=Unit.rows(),
        relation="replace",
        budget=Budget("5", "1e-6"),
    )
    reserve = table.meter().delta_reserve
    for _ in range(3):
        assert table.ask(table.query("find_values", column="job", epsilon="0.5")).value.keys() <= {"cook"}
    assert table.meter().spent_delta == 3 * reserve / 10
    with pytest.raises(dp.AllowanceError):
        table.ask(table.query("find_values", column="job", epsilon="0.5", delta=reserve))
    assert table.query("find_declarations", lists=["job"], epsilon="0.1").loss() is not None
    assert table.query("find_values", column="job", epsilon="0.5", delta=Fraction(1, 10**9)).parameters()["delta"]
    home.close()
