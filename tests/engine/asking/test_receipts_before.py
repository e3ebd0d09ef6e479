"""Receipts that earlier versions of the program wrote still hold, in full: the loss is recomputed too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import exp, inf
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking import answers
from dpengine.asking import sessions as sessions_of
from dpengine.asking.receipts import check
from dpengine.asking.statement import ANSWER_COLUMNS
from dpengine.mechanisms.curves.cdf_tree import CdfTree
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
        *_, old = query.promised_before()
        return answers.promised_as_json(promise.kind, old)

    with mock.patch("dpengine.asking.answers.promise_as_json", before):
        old = table.ask(query)
    floors = [float(Fraction(one)) for one in old.receipt["claim"]["promise"]["floors"]]
    assert floors == pytest.approx([10 / (2 * (1 + exp(0.5))), 3 / (3 + exp(0.5))])
    assert "untrue" not in old.receipt["claim"]["promise"]
    now = table.ask(query.at(Fraction(2)))
    assert codes(home, old, now) == ["verify.fine"] * 2

    def wrong(promise: Any) -> dict[str, Any]:
        return before(promise) | {"floors": ["0", "0"]}

    with mock.patch("dpengine.asking.answers.promise_as_json", wrong):
        other = table.ask(query.at(Fraction(3)))
    assert codes(home, other) == ["verify.claim"]


def test_what_was_told_of_the_lists_of_a_row_alone(home: Workspace, table: dp.Table) -> None:
    """Before numbers were counted among what must be true in a row."""
    query = table.query("publish_table", columns=["pay", "town"], epsilon="1")

    def before(promise: Any) -> dict[str, Any]:
        return answers.promised_as_json(promise.kind, query.promised_before()[0])

    with mock.patch("dpengine.asking.answers.promise_as_json", before):
        old = table.ask(query)
    now = table.ask(query.at(Fraction(2)))
    told = [float(Fraction(one.receipt["claim"]["promise"]["untrue"])) for one in (old, now)]
    assert told[0] == pytest.approx(3 / (3 + exp(0.5))) and told[1] > 0.9
    assert codes(home, old, now) == ["verify.fine"] * 2


def test_a_shuffled_histogram_promised_for_every_listed_value(home: Workspace) -> None:
    """Before it was promised for the values alone that somebody can hold: 100 people, 300 values."""
    frame = pd.DataFrame({"v": [f"v{at}" for at in range(100)]})
    labels = [f"v{at}" for at in range(300)]
    schema = dp.Schema({"v": dp.Category(labels, unknown="v0", missing="v0")})
    table = home.add_table("wide", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("10", "0.1"))
    query = table.query("shuffle_histogram", column="v", solution="second", delta="0.001", epsilon="2")

    def before(promise: Any) -> dict[str, Any]:
        return answers.promised_as_json(promise.kind, query.promised_before()[0])

    with mock.patch("dpengine.asking.answers.promise_as_json", before):
        old = table.ask(query)
    now = table.ask(query.at(Fraction(3)))
    told = Fraction(old.receipt["claim"]["promise"]["alpha"])
    assert told > query.promise().alpha, "it was wider"
    assert codes(home, old, now) == ["verify.fine"] * 2
    assert not table.query("shuffle_histogram", column="v", delta="0.001", epsilon="2").promised_before()


def test_rows_that_say_nothing_of_what_is_cut(home: Workspace, table: dp.Table) -> None:
    """Of a question and of an answer of a session; what a row does say of it must follow from its question."""
    queries = [table.query("sum", column="pay", epsilon="1"), table.query("histogram", column="town", epsilon="1")]
    sessions = [{"questions": 2, "epsilon": "1"}, {"questions": 3, "epsilon": "1"}]

    def without(told: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in told.items() if name != "cuts"}

    def asked(spoil: Callable[[dict[str, Any]], dict[str, Any]], place: int) -> list[dict[str, Any]]:
        claim_of, step_claim = answers.claim_of, sessions_of.step_claim
        with (
            mock.patch("dpengine.asking.release.claim_of", lambda query: spoil(claim_of(query))),
            mock.patch("dpengine.asking.sessions.step_claim", lambda query: spoil(step_claim(query))),
        ):
            one = table.ask(queries[place])
            opened = table.open_session(table.query("adaptive_session", **sessions[place]))
            return [one.receipt, opened.ask({"average": "pay"}, f"step-{place}").receipt]

    old = asked(without, 0)
    assert "cuts" not in old[0]["claim"] and "cuts" not in old[1]["claim"] and "cuts" not in old[1]["step"]["claim"]
    assert [one.code for one in check(old, home.ledger.export_rows())] == ["verify.fine", "verify.fine_step"]
    figures = dict(zip(ANSWER_COLUMNS, next(iter(table.answer_rows())), strict=True))
    assert figures["counted"] == "Counted as declared: pay above 10 counts as 10, below 0 as 0.", "told all the same"
    wrong = asked(lambda told: told | {"cuts": [{"code": "cut.rows", "column": "who", "most": 9, "words": "x"}]}, 1)
    assert [one.code for one in check(wrong, home.ledger.export_rows())] == ["verify.claim"] * 2


def test_a_curve_that_was_told_by_sums_of_nodes_is_told_better_now(home: Workspace) -> None:
    """The same release, read anew: narrower, and its receipt keeps what was told."""
    frame, schema = pd.DataFrame({"pay": list(range(100))}), dp.Schema({"pay": dp.Number(0, 99, missing=0)})
    table = home.add_table("paid", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("10", "1e-6"))
    query = table.query("cdf_tree", column="pay", epsilon="1")
    with mock.patch.object(CdfTree, "_fitted_reaches", lambda query, looks: (inf,) * query.leaves):
        before = table.ask(query)
    (now,) = table.recall(query)
    assert now.told_anew and now.raw == before.raw and now.receipt == before.receipt
    assert now.receipt["answer"]["value"] == before.value and now.value == query.finish(before.raw or ()).value
    widths = [sum(high - low for low, high in one.interval.values()) for one in (now, before)]
    assert widths[0] < widths[1] and now.promise.amount < Fraction(before.receipt["claim"]["promise"]["alpha"])
    assert codes(home, before, now) == ["verify.fine"] * 2
    fresh = table.ask(query.at(Fraction(2)))
    assert not fresh.told_anew and codes(home, fresh) == ["verify.fine"]
