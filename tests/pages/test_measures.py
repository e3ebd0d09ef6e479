"""What a number is counted in follows it into every answer: headline, range, axis, CSV, and the receipt's facts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.workspace import Workspace
from ui.parts import exports
from ui.words import wording


@pytest.fixture(name="table", scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Table]:
    space = Workspace(tmp_path_factory.mktemp("measures") / "var")
    frame = pd.DataFrame(
        {"pay": [1500, 2500, 900, 4000] * 500, "age": [30, 40, 50, 60] * 500, "way": ["a", "b"] * 1000}
    )
    schema = dp.Schema(
        {"pay": dp.Number(0, 10_000, 10, measure="€"), "age": dp.Number(0, 120), "way": dp.Category(["a", "b"])}
    )
    yield space.add_table("people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    space.close()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("mean", {}),
        ("median", {}),
        ("sum", {}),
        ("variance", {}),
        ("quantile", {"share": "0.9"}),
        ("mean", {"by": "way"}),
    ],
)
def test_every_figure_of_a_column_says_it(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    answer = table.ask(table.query(key, column="pay", epsilon="2", **given))
    assert answer.query.measure == "€" and "\u00a0€" in wording.headline(answer)
    assert given.get("by") or "€" in wording.range_words(answer)  # of several, each figure stands with its own range
    assert wording.axis(answer.query) == "pay (€)"
    rows = list(csv.DictReader(io.StringIO(exports.answer_csv(answer).removeprefix(exports.MARK))))
    assert {row["unit"] for row in rows} == {"€"}
    assert answer.receipt["claim"]["bounds"]["pay"]["measure"] == "€"


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("mean", {"column": "age"}),
        ("count", {"where": [["pay", ">", 9]]}),
        ("histogram", {"column": "pay"}),
        ("proportion", {"of": [["pay", ">", 9]]}),
    ],
)
def test_what_is_counted_otherwise_does_not(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    answer = table.ask(table.query(key, epsilon="1", **given))
    assert answer.query.measure == "" and "€" not in wording.headline(answer) + wording.axis(answer.query)


def test_a_price_says_it_too(table: dp.Table) -> None:
    query = table.query("mean", column="pay", epsilon="0.1")
    assert "\u00a0€" in query.promise().words(query) and "in pay" not in query.promise().words(query)


def test_an_answer_from_before_reads_as_it_did(tmp_path: Path) -> None:
    space = Workspace(tmp_path / "var")
    table = space.add_table(
        "people",
        pd.DataFrame({"pay": [10, 20] * 100}),
        schema=dp.Schema({"pay": dp.Number(0, 100)}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("9", "1e-6"),
    )
    table.ask(table.query("mean", column="pay", epsilon="2"))
    table.revise(dp.Schema({"pay": dp.Number(0, 100, measure="kg")}))
    (entry,) = space.table("people").history()
    told = wording.headline(space.table("people").answer_of(entry))
    space.close()
    assert "kg" not in told
