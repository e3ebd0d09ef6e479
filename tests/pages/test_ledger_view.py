"""The Ledger page without a browser: an empty, a shared, a long, an interrupted and a damaged ledger."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from helpers_gloss import unmarked
from helpers_page import html_of, open_page, pictures
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.asking.answers import claim_of
from dpengine.asking.exports import ANSWER_COLUMNS, ROW_COLUMNS
from dpengine.core.printed import percent_left
from dpengine.workspace import Workspace
from ui.ask import answer as answers
from ui.ask import spend
from ui.ledger import report
from ui.ledger.ledger_view import PER_PAGE
from ui.parts.exports import answer_csv
from ui.pictures import svg
from ui.words.wording import headline, in_short

ROOT = Path(__file__).resolve().parents[2]
AWKWARD = "R&D #1 <b>100%</b>"


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
    page.query_params["table"], page.query_params["view"] = table, "ledger"
    for name, value in parameters.items():
        page.query_params[name] = value
    page.switch_page("../pages/answers.py").run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return unmarked("\n".join(element.proto.body for element in page.get("html")))


def text(page: AppTest) -> str:
    return unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html(page), flags=re.S))


def test_an_empty_ledger_is_kind(home: Workspace) -> None:
    page = opened("town")
    assert "Nothing has been asked of “town” yet" in text(page)
    assert not pictures(page) and not page.button  # no rows at all: nothing to verify


def test_rows_are_told_word_for_word_and_escaped(people: dp.Table) -> None:
    answer = people.ask(question(people))
    page = opened(AWKWARD)
    assert "The number of people where x is at least 3" in text(page)
    assert answer.receipt["charge"]["hash"][:8] in html(page)
    assert "<b>100%" not in html(page)
    link = re.search(r'href="(ask\?[^"]+answer=[^"]+)"', html(page))
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

    reading = home.engine.duck.read
    home.engine.duck.read = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(dp.AllowanceError):
        people.ask(question(people))
    home.engine.duck.read = reading  # type: ignore[method-assign]
    query = question(people, 2)
    home.ledger.reserve(
        budget=people.budget.id,
        table=people.name,
        actor="owner",
        request="lost",
        claim=claim_of(query),
        loss=query.loss(),
        worker="a program that stopped",
    )
    told = text(opened(AWKWARD))
    assert "its answer could not be drawn. The charge stays." in told
    assert "its answer was lost when the program stopped. The charge stays." in told
    assert "4711" not in told


@pytest.mark.long
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
    assert left[0] == 1 and left[-1] == 1 - people.meter().used and left == sorted(left, reverse=True)


def test_what_it_adds_up_to(people: dp.Table) -> None:
    people.ask(question(people))
    told = text(opened(AWKWARD))
    assert "add up to ε = 0.5 at δ = 9 · 10⁻⁷, 5 % of the allowance" in told
    assert "had all been fixed in advance" in told
    assert all(name in told for name in ("simple addition", "the lecture’s bound", "zCDP"))
    fit = people.more_like_last()
    assert fit is not None and f"About {fit.more} more questions like the last fit." in told


def test_verifying_tells_the_head_and_finds_one_that_was_kept(home: Workspace, people: dp.Table) -> None:
    people.ask(question(people))
    kept = home.ledger.head()[1]
    people.ask(question(people, 2))
    row, head = home.ledger.head()
    page = opened(AWKWARD)
    assert f'<code class="copied">{head}</code>' in html_of(page)
    page.button(key="ledger-verify").click().run()
    assert f"The ledger is intact: {row} rows checked, the last is {head[:8]}…" in text(page)
    page.text_input(key="ledger-kept").input(kept.upper()).run()
    assert "Your note is row 3" in text(page)
    page.text_input(key="ledger-kept").input("deadbeef" * 8).run()
    assert "No row has the hash you noted" in text(page)
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
    assert "Restore a sound copy of the ledger." in text(page)
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


# Receipts brought to the page, what an owner did, the report ----------------------------------------------------------


def brought(page: AppTest, content: str) -> str:
    page.file_uploader(key="receipt-file").set_value(("receipt.json", content.encode(), "application/json")).run()
    assert not page.exception
    return text(page)


def test_receipts_are_checked_on_the_page(people: dp.Table) -> None:
    asked = people.ask(question(people))
    receipt = asked.receipt
    people.ask(question(people, 2))
    page = opened(AWKWARD)
    genuine = f"Genuine. {asked.sentence}, in “{AWKWARD}”: {in_short(asked)}"
    assert genuine in brought(page, json.dumps(receipt))
    short = receipt["charge"]["hash"][:8]
    assert f"Receipt {short} is verified: charge in row 2, answer in row 3" in brought(page, json.dumps(receipt))
    forged = json.dumps(receipt | {"price": "0.1", "table": "<b>other</b>"})
    told = brought(page, forged)
    assert f"Receipt {short} is not verified" in told and "price: the receipt says 0.1, the ledger 0.5." in told
    assert "<b>other" not in html(page) and "<b>other</b>" in told
    lines = list(people.answer_lines())
    assert "All 2 receipts in this file are verified." in brought(page, "".join(lines))
    told = brought(page, lines[0] + forged + "\n")
    assert "1 of 2 receipts in this file are not verified." in told
    assert "it is not JSON" in brought(page, "Dear all,")
    assert "ledger belongs to another workspace" in brought(page, json.dumps(receipt | {"ledger": "0" * 64}))


def test_what_an_owner_did_stands_among_the_rows(home: Workspace, people: dp.Table) -> None:
    for number in range(PER_PAGE + 5):
        people.ask(question(people, number % 9, "0.01"))
        if number == 2:
            home.raise_cap(AWKWARD, "20")
    home.seal(AWKWARD)
    first, last = opened(AWKWARD), opened(AWKWARD, page="2")
    raised, sealed = "The owner raised the allowance from ε = 10 to ε = 20.", f"The owner sealed “{AWKWARD}”"
    assert sealed in text(first) and raised not in text(first)
    assert raised in text(last) and sealed not in text(last)
    assert "<b>100%" not in html(first)
    assert "A step up is where the owner raised the allowance." in text(first)
    owned = open_page("data", table=AWKWARD)
    assert not [button for button in owned.button if button.key in ("owner-raise", "owner-seal")]


def test_acts_need_their_confirmation(home: Workspace, people: dp.Table) -> None:
    people.ask(question(people))
    page = open_page("data", table=AWKWARD)
    for act in ("raise", "seal", "forget"):
        page.button(key=f"owner-{act}").click().run()
        assert "Not done." in text(page) and not people.acts(), act
    page.text_input(key=f"owner-cap-{AWKWARD}").input("5")
    page.checkbox(key=f"owner-raise-tick-{AWKWARD}").check()
    page.button(key="owner-raise").click().run()
    assert "type an ε above 10" in text(page) and not people.acts()
    page.text_input(key=f"owner-cap-{AWKWARD}").input("20,5")
    page.checkbox(key=f"owner-raise-tick-{AWKWARD}").check()
    page.button(key="owner-raise").click().run()
    assert "The allowance is now ε = 20.5." in text(page) and people.meter().epsilon == Fraction(41, 2)
    page.text_input(key=f"owner-name-{AWKWARD}").input(AWKWARD)
    page.button(key="owner-forget").click().run()
    assert not page.exception and people.closed == "forget" and "rows are deleted" in text(page)
    asking = page.switch_page("../pages/ask.py").run()
    assert not asking.exception and "This table is forgotten" in text(asking)


def test_practice_tables_have_no_owner(home: Workspace) -> None:
    town = home.table("town")
    town.ask(town.query("median", column="monthly_income", epsilon="0.1"))
    page = open_page("data", table="town")
    assert not [button for button in page.button if str(button.key).startswith("owner-")]


class Parsed(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes


def test_the_report_stands_alone_and_says_everything(home: Workspace) -> None:
    label = '<script>alert(1)</script> & "co"'
    days = ["2020-01-01", "2020-06-01"]
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 500, "g": [label, "C"] * 1000, "day": days * 1000})
    year = dp.Date("2020-01-01", "2020-12-31")
    columns = {"x": dp.Number(0, 10, step=1), "g": dp.Category([label, "C"]), "day": year}
    budget = dp.Budget("20", "1e-6")
    table = home.add_table(AWKWARD, frame, schema=dp.Schema(columns), unit=dp.Unit.rows(), budget=budget)
    asked = [
        ("count", {"where": [["g", "in", [label]]]}),
        ("histogram", {"column": "g"}),
        ("top_item", {"column": "g"}),
        ("median", {"column": "day"}),
        ("median", {"column": "day", "by": "g"}),
        ("mean", {"column": "x", "by": "g"}),
        ("find_declarations", {"numbers": ["x"]}),
        ("sum", {"column": "x"}),
        ("variance", {"column": "x"}),
        ("iqr", {"column": "x"}),
        ("find_declarations", {"lists": ["g"], "delta": "1e-8"}),
        ("fit_check", {}),
        ("cdf_tree", {"column": "day"}),
        ("cdf", {"column": "x"}),
    ]
    answers = [table.ask(table.query(key, **given, epsilon="1")) for key, given in asked]
    home.raise_cap(AWKWARD, "30")
    written = report.html(table, home.ledger.head(), "2026-01-02T03:04:05+00:00")
    parsed, told = Parsed(written), unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", written, flags=re.S))
    assert not {"script", "img", "link", "iframe", "object", "form", "a"} & set(parsed.tags)
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in written and "@import" not in written and "default-src 'none'" in written
    assert parsed.tags.count("section") == len(asked) + 3 and parsed.tags.count("svg") == len(asked) - 3
    for answer in answers:
        assert answer.sentence in told and answer.receipt["charge"]["hash"] in told and headline(answer) in told
    assert home.ledger.head()[1] in told and "python -m dpengine verify" in told
    assert "It protects each person’s data" in told and "One person is one row." in told
    raised = "The owner raised the allowance from ε = 20 to ε = 30."
    assert raised.replace(" = ", "\u00a0=\u00a0") in told, "a symbol and its value stay on one line"
    assert f"{percent_left(1 - table.meter().used)} of the privacy allowance is left" in told


def test_the_theorem_named_is_that_of_the_noise_drawn(people: dp.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gaussian noise is not ε-DP: to name the Laplace mechanism beside it would be a false claim."""
    usual = people.query("histogram", column="x", bins=2, epsilon="1")
    answer = people.ask(usual.with_noise("gaussian"))
    shown: list[str] = []
    monkeypatch.setattr("ui.ask.answer.st.html", shown.append)
    monkeypatch.setattr("ui.ask.answer.nav.check_link", lambda **_: None)  # no page is open here to link from
    answers.receipt(answer, "here")
    for told in ("".join(shown), report.html(people, (1, "0"), "2026-01-02T03:04:05+00:00")):
        assert escape(answer.query.theorem) in told and escape(usual.theorem) not in told


def test_what_a_setting_takes_is_told_without_an_epsilon(people: dp.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = people.query("histogram", column="x", bins=2, epsilon="1")
    shown: list[str] = []
    monkeypatch.setattr("ui.ask.spend.st.html", lambda told: shown.append(unmarked(told)))
    for query in (usual, usual.with_noise("gaussian")):
        spend.describe(people, query, people.preview(query))
    assert not any("ε" in one for one in shown)  # it stands under details
    assert any("That takes 16.3 %" in one for one in shown)
    told = [next(csv.DictReader(io.StringIO(answer_csv(people.ask(query))))) for query in (usual, query)]
    assert [one["epsilon"] for one in told] == ["1.0", ""]


def test_a_report_of_a_forgotten_table_still_opens(home: Workspace, people: dp.Table) -> None:
    answer = people.ask(question(people))
    home.forget(AWKWARD)
    assert answer.receipt["charge"]["hash"] in report.html(people, home.ledger.head(), "2026-01-02T03:04:05+00:00")


@pytest.mark.parametrize(
    ("value", "interval"),
    [(0, None), (0, (0, 0)), (-5, (-9, -1)), (1e12, (1e12 - 1, 1e12 + 1)), ("2020-02-29", ("2020-02-29",) * 2)],
)
def test_pictures_of_odd_figures_stay_on_the_paper(value: Any, interval: Any) -> None:
    drawn = [
        svg.point(value, interval, "<t>", "<a>"),
        svg.rows({"<b>": value, "c": value}, {"<b>": interval, "c": interval}, "t", "a", not isinstance(value, str)),
    ]
    for picture in drawn:
        assert "<t>" not in picture and "<b>" not in picture and "nan" not in picture and "inf" not in picture
        places = [float(place) for place in re.findall(r' x[12]?="(-?[\d.]+)"', picture)]
        assert places and min(places) >= 0 and max(places) <= svg.WIDTH
