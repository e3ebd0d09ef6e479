"""Do the columns fit: one draw for all of them, cheap enough to be the first thing that is bought."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.counts.fit_checks import FITS, MOSTLY_NOT, SOME_NOT, UNSURE, FitChecks
from dpengine.messages import say
from dpengine.statistics.counts import MisfitCounts
from dpengine.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def fifteen(people: int, **more: Any) -> FitChecks:
    schema = dp.Schema({f"c{place}": dp.Number(0, 100) for place in range(15)})
    facts = Facts("census", schema, dp.Unit.rows(), "replace", people, tuple(schema.columns))
    query = FitChecks.build(facts, {"epsilon": "0.05"} | more)
    assert isinstance(query, FitChecks)
    return query


def test_a_check_of_fifteen_columns_takes_at_most_two_percent(workspace: Workspace) -> None:
    """10,000 people, allowance (1, 1e-6): every count within a tenth of the people, in 95 of 100 cases."""
    frame = pd.DataFrame({f"c{place}": ["5"] * 10 for place in range(15)})
    schema = dp.Schema({name: dp.Number(0, 100) for name in frame})
    table = workspace.add_table(
        "census",
        frame,
        schema=schema,
        unit=dp.Unit.rows(),
        relation="add_remove",
        about_rows=10_000,
        budget=dp.Budget("1", "1e-6"),
    )
    usual = table.query("fit_checks", epsilon="0.05")
    tenth = Fraction(10_000, 10)
    least = table.least_priced(usual, tenth)
    assert least is not None and least.noise == "gaussian"
    price = table.preview(least)
    assert price.useful and price.admissible and price.share <= Fraction(2, 100)
    assert price.share <= Fraction(4, 1000)  # about 0.3 % in truth
    laplace = usual.at(table.least_epsilon(usual, tenth) or Fraction(0))
    assert laplace.promise().amount <= tenth and table.preview(laplace).share > 3 * price.share


def test_without_a_delta_the_check_takes_the_noise_that_fits(workspace: Workspace) -> None:
    table = workspace.add_table(
        "few",
        pd.DataFrame({"pay": ["5"] * 10}),
        schema=dp.Schema({"pay": dp.Number(0, 100)}),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("1", 0),
    )
    usual = table.query("fit_checks", epsilon="0.05")
    assert table.least_priced(usual, usual.coarse()) is None  # ten people: nothing that fits promises as much
    least = table.least_priced(usual, Fraction(5))
    assert least is not None and least.noise == "" and table.preview(least).admissible


def test_verdicts_follow_from_ranges_and_public_sizes() -> None:
    query = fifteen(1_000)
    assert query.columns == tuple(f"c{place}" for place in range(15))
    ranges = ((-90, 110), (100, 200), (-200, 300), (500, 700), (880, 1_080), (100, 300), (0, 600))
    told = [query.verdict_of(ends) for ends in ranges]
    assert told == [FITS, SOME_NOT, FITS, MOSTLY_NOT, MOSTLY_NOT, SOME_NOT, UNSURE]
    assert query.verdict_of((40, 190)) == FITS  # fewer than one in twenty, for certain
    several = Facts("v", query.facts.schema, dp.Unit.column("who", at_most=3), "replace", 1_000, ())
    rows = FitChecks.build(several, {"epsilon": "1", "columns": ["c0"]})
    assert isinstance(rows, FitChecks)
    assert rows.verdict_of((700, 900)) == SOME_NOT  # of 1,000 to 3,000 rows
    assert rows.verdict_of((140, 900)) == UNSURE
    assert rows.verdict_of((1_600, 1_800)) == MOSTLY_NOT and rows.verdict_of((0, 200)) == FITS


def test_counts_from_a_file(workspace: Workspace) -> None:
    frame = pd.DataFrame({"pay": ["5"] * 300 + ["500"] * 100, "town": ["mill"] * 8 + ["Muehle"] * 392})
    schema = dp.Schema({"pay": dp.Number(0, 100), "town": dp.Category(["Mill", "Hill"])})
    table = workspace.add_table(
        "people", frame, schema=schema, unit=dp.Unit.rows(), relation="replace", budget=dp.Budget("99", "1e-6")
    )
    for noise in ("", "gaussian"):
        answer = table.ask(table.query("fit_checks", epsilon="10", noise=noise))
        assert abs(answer.value["pay"] - 100) < 12 and abs(answer.value["town"] - 392) < 12
        assert answer.query.verdict_of(answer.interval["town"]) == MOSTLY_NOT
        assert set(answer.receipt["claim"]["bounds"]) == {"pay", "town"}
    with pytest.raises(dp.AllowanceError, match="nobody"):
        table.query("fit_checks", columns=["nobody"], epsilon="1")
    with pytest.raises(dp.AllowanceError) as twice:
        table.query("fit_checks", columns=["pay", "pay"], epsilon="1")
    assert twice.value.code == "fit_checks.columns"


@pytest.mark.parametrize("declared", [400, 1_000, 4_000])
def test_a_share_is_of_the_rows_there_are_where_the_declared_number_is_far_off(
    workspace: Workspace, declared: int
) -> None:
    """Three in ten do not fit, of 1,000: neither three quarters of 400 nor one in thirteen of 4,000."""
    frame = pd.DataFrame({"pay": ["5"] * 700 + ["500"] * 300, "age": ["5"] * 1_000})
    table = workspace.add_table(
        "people",
        frame,
        schema=dp.Schema({"pay": dp.Number(0, 100), "age": dp.Number(0, 100)}),
        unit=dp.Unit.rows(),
        relation="add_remove",
        about_rows=declared,
        budget=dp.Budget("99", "1e-6"),
    )
    answer = table.ask(table.query("fit_checks", epsilon="20"))
    found = table.fits().of("pay", table.schema["pay"])
    assert found.state == SOME_NOT and found.share is not None and abs(found.share - Fraction(3, 10)) < Fraction(1, 20)
    told = answer.query.finding_of(answer.value, answer.interval, answer.raw)
    assert told == say("fit.headline.some_not", names=["pay"])


def test_the_need_means_what_it_says() -> None:
    rows = [{"fault a": 1, "fault b": 0}, {"fault a": 1, "fault b": 1}, {"fault a": 0, "fault b": 0}]
    assert MisfitCounts(("a", "b")).of(rows) == (2, 1)


def test_a_column_that_surely_misfits_in_part_is_named() -> None:
    query = fifteen(10_000)
    names = query.labels()
    low = query.facts.about // 10
    value = dict.fromkeys(names, 0) | {names[0]: 3 * low}
    interval = dict.fromkeys(names, (0, low)) | {names[0]: (2 * low, 4 * low)}
    assert query.finding(value, interval) == say("fit.headline.some_not", names=[names[0]])
