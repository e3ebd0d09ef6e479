"""The Session page and what other pages say of sessions, without a browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path
from threading import Event
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.asking.sessions import Session
from dpengine.messages import say
from dpengine.workspace import Workspace
from tests.helpers_ledger import PATIENCE
from ui.ledger import report

ROOT = Path(__file__).resolve().parents[2]
AWKWARD = "R&D #1 <b>100%</b>"


@pytest.fixture
def people(home: Workspace) -> dp.Table:
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 50, "town": ["<i>A</i>", "B"] * 100})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["<i>A</i>", "B"])})
    return home.add_table(AWKWARD, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("3", "1e-6"))


def opened(page_name: str, **parameters: str) -> tuple[AppTest, str]:
    page = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    page.run()
    for name, value in ({"table": AWKWARD} | parameters).items():
        page.query_params[name] = value
    page.switch_page(f"../pages/{page_name}.py").run()
    assert not page.exception
    body = "\n".join(element.proto.body for element in page.get("html"))
    assert "<i>A" not in body and "<b>100%" not in body
    return page, unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", body, flags=re.S))


def address(page: AppTest, name: str) -> str:
    """A part of the page's address."""
    value = page.query_params[name]
    return value if isinstance(value, str) else value[0]


@pytest.mark.long
def test_every_page_tells_of_a_session(people: dp.Table) -> None:
    session = people.open_session(people.query("adaptive_session", questions=3, epsilon="1.5"), "s")
    session.ask({"share": [["town", "in", ["<i>A</i>"]]]}, "a")
    _, text = opened("several", session="s")
    assert "Question 2 of 3" in text and "1 of 3 questions used" in text and "In this table between" in text
    _, newest = opened("several", session="s", step="a")
    assert newest.index("In this table between") < newest.index("The share of people where town is") + 200
    assert newest.count("In this table between") == 1, (
        "the newest answer stands above the next question, and only there"
    )
    session.ask({"largest": [[["x", ">", 2]], [["town", "in", ["B"]]]]}, "b")
    session.end()
    page, text = opened("several", session="s", step="b")
    assert "Session ended after 2 of 3 questions" in text and "1 unused" in text and "stays charged" in text
    assert not [button for button in page.button if button.label.startswith("Ask")]
    _, text = opened("answers", view="ledger")
    assert "ended after 2 of 3" in text
    opened("ask", answer="s")
    told = report.html(people, people._workspace.ledger.head(), "now")
    assert "The share of people where town is &lt;i&gt;A" in told and "<i>A" not in told


@pytest.mark.long
def test_the_start_prices_every_noise_by_the_same_meter(home: Workspace, people: dp.Table) -> None:
    page, text = opened("several", k="4", share="50", how="gaussian")
    assert "fee" not in text and "closes" not in text
    assert "after the session is reserved" in text
    assert page.number_input(key="session-k").value == 4 and not people.history()
    for words in ("Only the early questions say", "people are enough for 4 questions", "would give a narrower range"):
        assert words in text
    _, text = opened("several", k="40", share="50", how="gaussian")
    assert "too few for 40 questions" in text
    people.ask(people.query("mean", column="x", epsilon="0.01"))  # then what is seen is more than the session
    _, text = opened("several", k="4", share="50", how="gaussian")
    assert "answers are rounded to" not in text and "would give a narrower range" not in text
    assert say("session.outward.too_much") in text
    home.seal(AWKWARD)
    page, text = opened("several", view="after")
    assert not [button for button in page.button if button.label.startswith("Reserve")]


@pytest.mark.long
def test_the_page_says_what_is_claimed_of_the_population_and_what_counts(home: Workspace) -> None:
    """First with nothing before; then after a question, which is counted in; then after one in between."""
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 1000})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1)})
    table = home.add_table(AWKWARD, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("3", "1e-6"))
    _, text = opened("several", k="3", share="10")
    assert "answers are rounded to" in text and "as long as nothing else is released" in text
    assert say("session.outward.counted_in") not in text
    table.ask(table.query("mean", column="x", epsilon="0.05"))
    _, text = opened("several", k="3", share="10")
    assert "answers are rounded to" in text and say("session.outward.counted_in") in text
    session = table.open_session(table.session_for(3, table.meter().unused / 10), "s")
    assert session.ask({"share": [["x", ">", 2]]}, "a").population is not None
    _, text = opened("several", session="s")
    assert "In the population between" in text and say("session.outward.spoiled") not in text
    table.ask(table.query("histogram", column="x", epsilon="1"))
    assert session.ask({"share": [["x", ">", 2]]}, "b").population is None
    _, text = opened("several", session="s")
    assert text.count("In the population between") == 1 and say("session.outward.spoiled") in text


def test_a_sealed_table_keeps_its_sessions_answers_and_takes_no_more(home: Workspace, people: dp.Table) -> None:
    people.open_session(people.query("adaptive_session", questions=3, epsilon="1.5"), "s").ask({"average": "x"}, "a")
    home.seal(AWKWARD)
    page, text = opened("several", session="s")
    assert "1. The average of x" in text
    assert not [button for button in page.button if button.label.startswith(("Ask", "End"))]


@pytest.mark.long
def test_where_membership_is_secret_the_page_says_what_was_divided_by(home: Workspace) -> None:
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 50})
    table = home.add_table(
        AWKWARD,
        frame,
        schema=dp.Schema({"x": dp.Number(0, 10, step=1)}),
        unit=dp.Unit.rows(),
        relation="add_remove",
        about_rows=50_000,
        budget=dp.Budget("3", "1e-6"),
    )
    _, text = opened("several", k="100", how="lecture", share="50")
    assert "declared size, about 50,000" in text and say("session.outward.unfit") in text
    table.open_session(table.query("adaptive_session", questions=2, epsilon="1"), "s").ask({"average": "x"}, "a")
    _, text = opened("several", session="s")
    assert "for the declared size of about 50,000 people" in text


def test_a_step_that_ends_while_the_page_is_drawn_is_waited_for(
    people: dp.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page never stays at “on its way” for a step that is over."""
    session = people.open_session(people.query("adaptive_session", questions=3, epsilon="1.5"), "s")
    look, draw, go_on = Session.look, Session._draw, Event()

    def late(self: Session, *given: Any) -> None:
        go_on.wait(60)
        draw(self, *given)

    def then_over(self: Session, newest: int | None = None) -> Any:
        found = look(self, newest)
        go_on.set()
        assert until(lambda: session.job("a").over)
        return found

    monkeypatch.setattr(Session, "_draw", late)
    session.submit({"average": "x"}, "a")
    assert until(lambda: look(session)[2])  # it is counted, and not yet drawn
    monkeypatch.setattr(Session, "look", then_over)
    _, text = opened("several", session="s", step="a")
    assert say("history.on_its_way") not in text
    assert "Question 2 of 3" in text and "In this table between" in text


def until(true: Callable[[], Any]) -> Any:
    """What it tells as soon as it is true, else what it told last."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def test_a_first_look_answers_before_a_question_is_used(people: dp.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its range where it was measured, and as an estimate in a range where columns were not bought together."""
    asked: list[list[object]] = [["town", "in", ["B"]]]
    monkeypatch.setattr("ui.several.session.conditions.conditions", lambda *_: asked)
    session = people.open_session(people.query("adaptive_session", questions=3, epsilon="0.2"), "s")
    _, text = opened("several", session="s")
    assert "first look" not in text
    people.ask(people.query("overview", epsilon="0.5"), "look")
    page, text = opened("several", session="s")
    assert "No need to ask: your first look already answers this for free. In this table between" in text
    links = [link.proto for link in page.get("page_link")]
    assert any(link.label == "Open the first look" and "look=look" in link.query_string for link in links)
    assert "answers are rounded" not in text, "a look voids what rounding promised"
    asked.append(["x", ">", 2])
    exact = people.open_session(people.query("adaptive_session", questions=3, epsilon="0.6"), "exact")
    for one in (session, exact):
        _, text = opened("several", session=one.request)
        query = one.query.asking({"share": asked})
        known = people.already_known(query)
        assert known is not None and known.estimated
        enough = known.enough(query.promise().amount)  # of the drawn range
        said = "No need to ask" if enough else "Your first look suggests about"
        assert said in text and "for free. In this table between" in text
        assert one.look()[0].asked == 0


def test_a_session_over_listed_columns_is_bought_in_one_click(home: Workspace) -> None:
    """The look and the questions stand with one price; after the click its session is open, and the look answers."""
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 500, "town": ["<i>A</i>", "B"] * 1000})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["<i>A</i>", "B"])})
    table = home.add_table(AWKWARD, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("3", "1e-6"))
    table.ask(table.query("fit_checks", columns=["x", "town"], epsilon="0.5"))
    page, _ = opened("several", k="5", share="50")
    page.multiselect(key="session-columns").set_value(["x"]).run()
    assert any(say("session.columns") in element.proto.body for element in page.get("html"))
    page.multiselect(key="session-columns").set_value(["x", "town"]).run()
    assert not page.exception
    [buy] = [button for button in page.button if button.label.startswith("Buy the look and 5 questions")]
    spent = table.meter().used
    buy.click().run()
    assert until(lambda: table.run(address(page, "run")).over if "run" in page.query_params else True)
    page.run()
    assert not page.exception and "session" in page.query_params
    assert table.meter().used > spent and len(table.first_looks()) == 1
    session = table.session(address(page, "session"))
    assert session.past.rho > 0 and session.others_from is None and session.query.questions == 5


@pytest.mark.long
def test_the_narrowest_noise_is_what_a_session_starts_with(people: dp.Table) -> None:
    page, _ = opened("several", k="100", share="50")
    assert not [button for button in page.button if button.label.startswith("Reserve")], "it would answer nothing"
    assert "Check the columns first" in [link.proto.label for link in page.get("page_link")]
    people.ask(people.query("fit_checks", columns=["x", "town"], epsilon="0.5"))
    page, _ = opened("several", k="100", share="50")
    picked = page.radio(key="session-how")
    assert picked.value == "best" and "Gaussian noise is the narrower" in str(picked.proto)
    reserve = next(button for button in page.button if button.label.startswith("Reserve"))
    assert not reserve.disabled and "how=laplace" not in str(page.query_params)
    assert people.session_for(100, people.meter().unused / 2).calibration == "gaussian"
