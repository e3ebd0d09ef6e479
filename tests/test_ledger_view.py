"""The Ledger page without a browser: an empty, a shared, a long, an interrupted and a damaged ledger."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.answers import claim_of
from dpengine.statement import ANSWER_COLUMNS, ROW_COLUMNS
from dpengine.workspace import Workspace
from ui.ledger_view import PER_PAGE

ROOT = Path(__file__).resolve().parent.parent
AWKWARD = "R&D #1 <b>100%</b>"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("ALLOWANCE_HOME", str(tmp_path))
    monkeypatch.setattr("ui.state.visitor", lambda: "local")
    return dp.open_workspace(tmp_path)


@pytest.fixture
def people(home: Workspace) -> dp.Table:
    return add(home, AWKWARD)


def add(home: Workspace, name: str) -> dp.Table:
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 25})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1)})
    return home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("10", "1e-6"))


def question(table: dp.Table, at_least: int = 3, epsilon: str = "0.5") -> dp.Query:
    return table.query("count", where=[["x", ">=", at_least]], epsilon=epsilon)


def opened(table: str, **parameters: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    page.run()
    page.query_params["table"] = table
    for name, value in parameters.items():
        page.query_params[name] = value
    page.switch_page("../pages/ledger.py").run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return "\n".join(element.proto.body for element in page.get("html"))


def text(page: AppTest) -> str:
    return unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html(page), flags=re.S))


def test_an_empty_ledger_is_kind(home: Workspace) -> None:
    page = opened("town")
    assert "Nothing has been asked of town yet" in text(page)
    assert not page.get("plotly_chart") and not page.button  # no rows at all: nothing to verify


def test_rows_are_told_word_for_word_and_escaped(people: dp.Table) -> None:
    answer = people.ask(question(people))
    page = opened(AWKWARD)
    assert "The number of people where x is at least 3" in text(page)
    assert answer.receipt["charge"]["hash"][:8] in html(page)
    assert "<b>100%" not in html(page)
    link = re.search(r'href="(ask\?[^"]+)"', html(page))
    assert link is not None
    assert parse_qs(urlsplit(unescape(link[1])).query) == {"table": [AWKWARD], "answer": [answer.request_id]}


def test_tables_on_one_budget_are_named(home: Workspace, people: dp.Table) -> None:
    copy = add(home, "the same again")
    assert copy.joined and copy.sharing() == [AWKWARD, "the same again"]
    people.ask(question(people))
    copy.ask(question(copy, 2))
    page = opened("the same again")
    assert f"One allowance for {AWKWARD}, the same again" in text(page)
    assert "at least 3" in text(page) and "at least 2" in text(page)
    assert home.table("town").sharing() == ["town"]


def test_charges_without_an_answer_are_shown_as_such(home: Workspace, people: dp.Table) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("4711")

    reading = home.engine.read
    home.engine.read = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(dp.AllowanceError):
        people.ask(question(people))
    home.engine.read = reading  # type: ignore[method-assign]
    query = question(people, 2)
    home.ledger.reserve(
        budget=people.budget.id, table=people.name, actor="owner", request="lost", claim=claim_of(query),
        loss=query.loss(), worker="a program that stopped",
    )  # fmt: skip
    told = text(opened(AWKWARD))
    assert "its answer could not be drawn. The charge stays." in told
    assert "its answer was lost when the program stopped. The charge stays." in told
    assert "4711" not in told


def test_a_long_ledger_comes_in_pages(home: Workspace, people: dp.Table) -> None:
    total = 2 * PER_PAGE + 7
    for number in range(total):
        people.ask(question(people, number % 9, "0.01"))
    first, last = opened(AWKWARD), opened(AWKWARD, page="3")
    assert html(first).count("<tr>") == PER_PAGE + 1 + 4  # with the heads of both tables and three accountings
    assert f"Charges 1 to {PER_PAGE} of {total}" in text(first)
    assert f"Charges {2 * PER_PAGE + 1} to {total} of {total}" in text(last)
    for garbage in ("0", "-1", "99", "minus"):
        assert f"Charges 1 to {PER_PAGE} of {total}" in text(opened(AWKWARD, page=garbage))
    assert [step.charges for step in people.burn_down()] == list(range(total + 1))
    left = [step.left for step in people.burn_down()]
    few = [charge.history.count for charge in home.ledger.spread(people.budget.id, 10)]
    assert len(few) == 10 and few[0] == 1 and few[-1] == total and few == sorted(set(few))
    assert [entry.charge.history.count for entry in home.ledger.walk(people.budget.id)] == list(range(1, total + 1))
    assert left[0] == 1 and left[-1] == 1 - people.meter().fraction and left == sorted(left, reverse=True)


def test_what_it_adds_up_to(people: dp.Table) -> None:
    people.ask(question(people))
    told = text(opened(AWKWARD))
    assert "adds up to ε = 0.5 at δ = 9 · 10⁻⁷, which is 5 % of the allowance" in told
    assert "if all had been fixed in advance" in told
    assert all(name in told for name in ("simple addition", "the lecture’s bound", "zCDP"))
    fit = people.more_like_last()
    assert fit is not None and f"About {fit.more} more questions like the last one fit." in told


def test_verifying_tells_the_head_and_finds_one_that_was_kept(home: Workspace, people: dp.Table) -> None:
    people.ask(question(people))
    kept = home.ledger.head()[1]
    people.ask(question(people, 2))
    row, head = home.ledger.head()
    page = opened(AWKWARD)
    assert page.code[0].value == head
    page.button(key="ledger-verify").click().run()
    assert f"Chain verified, {row} rows, head {head[:8]}…" in text(page)
    page.text_input(key="ledger-kept").input(kept.upper()).run()
    assert "What you wrote down is row 3" in text(page)
    page.text_input(key="ledger-kept").input("deadbeef" * 8).run()
    assert "No row has the hash you wrote down" in text(page)
    page.text_input(key="ledger-kept").input("<i>").run()
    assert "Type at least 8" in text(page)
    assert not page.exception


@pytest.mark.parametrize("kind", ["budget", "charge", "answer"])
def test_a_damaged_ledger_is_said_in_red_and_where(home: Workspace, people: dp.Table, kind: str) -> None:
    people.ask(question(people))
    tamper(home.ledger.path, f"UPDATE entries SET at = '1999-01-01' WHERE kind = '{kind}'")
    row = {"budget": 1, "charge": 2, "answer": 3}[kind]
    page = opened(AWKWARD)
    if not re.search(r"Row \d was changed", text(page)):
        page.button(key="ledger-verify").click().run()
    assert not page.exception
    assert f"Row {row} was changed after it was written" in text(page)
    assert "Put back a sound copy of the ledger." in text(page)
    assert 'class="refused" role="alert"' in html(page)
    assert ("No row before it holds" if row == 1 else f"The last row that holds is row {row - 1}") in text(page)


def tamper(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute("DROP TRIGGER no_update")
        db.execute(statement)
    db.close()


def rows_of(table: dp.Table, what: Callable[[dp.Table], Any], columns: tuple[str, ...]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in what(table)]


def test_what_is_taken_away(people: dp.Table) -> None:
    answer = people.ask(question(people))
    bars = people.ask(people.query("histogram", column="x", epsilon="0.25"))
    rows = rows_of(people, dp.Table.ledger_rows, ROW_COLUMNS)
    assert [row["kind"] for row in rows] == ["budget", "charge", "answer", "charge", "answer"]
    assert [row["epsilon_spent"] for row in rows if row["kind"] == "charge"] == ["0.5", "0.25"]
    assert [row["running_total"] for row in rows if row["kind"] == "charge"] == ["0.5", "0.75"]
    assert rows[1]["sentence"] == answer.sentence and rows[1]["hash"] == answer.receipt["charge"]["hash"]
    figures = rows_of(people, dp.Table.answer_rows, ANSWER_COLUMNS)
    assert figures[0]["value"] == answer.value and (figures[0]["low"], figures[0]["high"]) == answer.interval
    assert {row["label"]: row["value"] for row in figures[1:]} == bars.value
    assert len(list(people.answer_lines())) == 2
