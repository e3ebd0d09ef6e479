"""Receipts that earlier versions of the program wrote still hold, in full: the loss is recomputed too."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest

import dpengine as dp
from dpengine import answers
from dpengine.receipts import check
from dpengine.workspace import Workspace


@pytest.fixture()
def home(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


@pytest.fixture()
def table(home: Workspace) -> dp.Table:
    frame = pd.DataFrame({"pay": ["1", "2"] * 50, "town": ["A", "B"] * 50})
    schema = dp.Schema({"pay": dp.Number(0, 10), "town": dp.Category(["A", "B"])})
    return home.add_table("people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("10", "1e-6"))


def codes(home: Workspace, *found: dp.Answer) -> list[str]:
    return [one.code for one in check([answer.receipt for answer in found], home.ledger.export_rows())]


def test_a_floor_that_was_told_for_a_share_of_the_spend(home: Workspace, table: dp.Table) -> None:
    """Such rows say what was said then, and are checked against the figures of then; a third figure is refused."""
    query = table.query("publish_table", columns=["pay", "town"], epsilon="1")

    def before(promise: Any) -> dict[str, Any]:
        [old] = query.promised_before()
        return answers.promised_as_json(promise.kind, old)

    with mock.patch("dpengine.answers.promise_as_json", before):
        old = table.ask(query)
    floors = [float(Fraction(one)) for one in old.receipt["claim"]["promise"]["floors"]]
    assert floors == pytest.approx([10 / (2 * (1 + exp(0.5))), 3 / (3 + exp(0.5))])
    assert "untrue" not in old.receipt["claim"]["promise"]
    now = table.ask(query.at(Fraction(2)))
    assert codes(home, old, now) == ["verify.fine"] * 2

    def wrong(promise: Any) -> dict[str, Any]:
        return before(promise) | {"floors": ["0", "0"]}

    with mock.patch("dpengine.answers.promise_as_json", wrong):
        other = table.ask(query.at(Fraction(3)))
    assert codes(home, other) == ["verify.claim"]
