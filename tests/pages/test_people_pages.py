"""Pages as people with different rights see them: two meters, who may use what, and nothing that is not theirs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers_page import open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.numbers import day
from dpengine.workspace import Workspace
from ui.shell import person

ROOT = Path(__file__).resolve().parents[2]
TABLE = "surgery"


@pytest.fixture
def ids(home: Workspace) -> dict[str, str]:
    """An administrator, an owner with a table, an analyst with a tenth of it, an auditor, and somebody with nothing."""
    found = {name: home.person("id", name, name.title()) for name in ("root", "ana", "cene", "vid", "dana")}
    home.name_administrator(found["root"])
    root, ana = home.as_person(found["root"]), home.as_person(found["ana"])
    root.name_role(found["ana"], "owner")
    root.name_role(found["vid"], "auditor")
    rows = pd.DataFrame([{"age": n % 90} for n in range(500)])
    terms: dict[str, Any] = {"schema": dp.Schema({"age": dp.Number(0, 100)}), "unit": dp.Unit.rows()}
    ana.add_table(TABLE, rows, relation="replace", budget=dp.Budget("1", "1e-6"), **terms)
    ana.grant(TABLE, found["cene"], "0.1")
    return found


def opened(monkeypatch: pytest.MonkeyPatch, who: str | None, page: str) -> str:
    """All that a page says to somebody."""
    monkeypatch.setattr(person, "served", lambda: True)
    monkeypatch.setattr(person, "person", lambda: who)
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    app.query_params["table"] = TABLE
    app.switch_page(f"../pages/{page}.py").run()
    assert not app.exception
    labels = [str(getattr(one, "label", "")) for kind in ("button", "text_input", "selectbox") for one in app.get(kind)]
    return " ".join([*(str(block.proto.body) for block in app.get("html")), *labels])


def test_an_owner_and_an_analyst(ids: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = opened(monkeypatch, ids["ana"], "data")
    assert "Give somebody a share" in said and "10 % of the allowance" in said and "Sign out" in said
    said = opened(monkeypatch, ids["cene"], "data")
    assert "Your share of this table’s allowance" in said and "Ask for more" in said
    assert not any(word in said for word in ("Give somebody", "Change the declaration", "For the owner"))
    said = opened(monkeypatch, ids["cene"], "ask")
    assert "Yours" in said and "The table’s" in said and "10 % of the table’s allowance" in said


def test_an_auditor_reads_and_asks_nothing(ids: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = opened(monkeypatch, ids["vid"], "accounts")
    assert "Cene may use 10 % of the allowance" in said and "Check every row" in said
    said = opened(monkeypatch, ids["vid"], "data")
    assert "How “" in said and "Something is wrong" not in said and "Ask a question" not in said
    assert "You may not do this" in opened(monkeypatch, ids["vid"], "ask")


@pytest.mark.long
def test_start_offers_what_one_may_do(ids: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def ways(who: str) -> list[str]:
        return [one.proto.label for one in at(monkeypatch, ids[who], "start").get("page_link")]

    assert say("start.own") in ways("ana") and f"Go on with “{TABLE}”" in ways("cene")
    assert say("start.own") not in ways("cene") and say("page.accounts") not in ways("cene")
    assert "Go on with" not in " ".join(ways("vid")) and {say("page.accounts"), say("start.try")} <= {*ways("vid")}


@pytest.mark.long
def test_a_question_that_is_not_in_the_share_is_said_to_be_that(
    home: Workspace, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.as_person(ids["ana"]).grant(TABLE, ids["cene"], "0.1", ["*", "!median"], "2099-01-01")
    monkeypatch.setattr(person, "served", lambda: True)
    monkeypatch.setattr(person, "person", lambda: ids["cene"])
    said = told(open_page("ask", table=TABLE, q="median", column="age"))
    assert "does not cover such questions" in said and "Yours</b> <b>100 %" in said
    assert "is left; this takes" not in said and "not enough for this" not in said
    kept = f"Cene may use 10 % of the allowance of “surgery”. Not for: {dp.catalogue['median'].card.title}. Until"
    assert kept in opened(monkeypatch, ids["vid"], "accounts")


def test_a_refusal_counts_in_parts_of_ones_own_share_as_the_meter_does(
    home: Workspace, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "served", lambda: True)
    monkeypatch.setattr(person, "person", lambda: ids["cene"])
    said = told(open_page("ask", table=TABLE, q="count", where='[["age", ">=", 50]]', epsilon="0.5"))
    (takes,) = re.findall(r"100 % of your share is left; this takes (\d+) %", said)
    assert int(takes) >= 500, "the check is in the price"
    table = home.as_person(ids["cene"]).table(TABLE)
    with pytest.raises(dp.BudgetExceeded, match="500 % of your share of the table’s allowance; 100 %"):
        table.ask(table.query("count", epsilon="0.5", noise="", where=[["age", ">=", 50]]))


def test_no_owner_reads_where_the_server_keeps_its_files(
    home: Workspace, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "served", lambda: True)
    monkeypatch.setattr(person, "person", lambda: ids["ana"])
    app = open_page("data")
    app.session_state["declare-large-open"] = True
    said = told(app.run())
    assert str(home.folder) not in said and f"people/{ids['ana']}/files" in said


def test_whoever_has_no_right_sees_no_table(ids: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for page in ("tables", "people", "accounts"):
        assert TABLE not in opened(monkeypatch, ids["dana"], page), page
    assert f"“{TABLE}”" in opened(monkeypatch, ids["dana"], "data")  # as for a name that nobody ever gave
    assert "Rok" not in opened(monkeypatch, ids["dana"], "people")


def test_nobody_signed_in_gets_nothing(ids: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that the porter did not name, however it came about."""
    person.serve()
    try:
        app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
        app.switch_page("../pages/tables.py").run()
        said = " ".join(str(block.proto.body) for block in app.get("html"))
    finally:
        person._serving.clear()
    assert "Nobody is signed in any more" in said and TABLE not in said and "town" not in said


def at(monkeypatch: pytest.MonkeyPatch, who: str, page: str) -> AppTest:
    monkeypatch.setattr(person, "served", lambda: True)
    monkeypatch.setattr(person, "person", lambda: who)
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    app.query_params["table"] = TABLE
    app.switch_page(f"../pages/{page}.py").run()
    assert not app.exception
    return app


def told(app: AppTest) -> str:
    assert not app.exception
    return " ".join(str(block.proto.body) for block in app.get("html"))


def test_a_program_gets_a_token_that_is_shown_once(
    home: Workspace, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = at(monkeypatch, ids["cene"], "programs")
    assert "You have no token" in told(app) and not app.code
    app.text_input("programs-name").input("<b>notebook</b>")
    app.multiselect("programs-tables").set_value([TABLE])
    app.button("programs-make").click().run()
    (kept,) = home.as_person(ids["cene"]).tokens()
    assert f"last day {day(kept.until)}" in told(app) and kept.until
    assert kept.tables == (TABLE,) and "&lt;b&gt;notebook" in told(app) and "never used" in told(app)
    (shown,) = [box.value for box in app.code]
    assert home.token_book.opened(shown) is not None
    app.run()
    assert not app.code and "programs-shown" not in app.session_state
    assert "last used" in told(app)
    app.button(f"token-back-{kept.id}").click().run()
    assert home.token_book.opened(shown) is None and "You have no token" in told(app)
    home.as_person(ids["cene"]).new_token("laptop of Cene")
    assert "laptop" not in opened(monkeypatch, ids["ana"], "programs")


@pytest.mark.long
def test_whoever_wished_sees_what_became_of_it(
    home: Workspace, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, cene = home.as_person(ids["ana"]), home.as_person(ids["cene"])
    ana.grant(TABLE, ids["dana"], "0.1")
    home.as_person(ids["dana"]).wish(TABLE, "not for others", share="0.9")
    wanted = cene.wish(TABLE, "the <i>yearly</i> report", share="0.3")
    said = opened(monkeypatch, ids["cene"], "data")
    assert "waits for a decision" in said and "the &lt;i&gt;yearly" in said and "not for others" not in said
    ana.decide(wanted.id, "changed", "0.2")
    assert "approved with 20 %" in opened(monkeypatch, ids["cene"], "data")
    assert "approved with" not in opened(monkeypatch, ids["cene"], "tables")
    ana.grant(TABLE, ids["cene"], 0)
    said = opened(monkeypatch, ids["cene"], "tables")
    assert "approved with 20 %" in said and "not for others" not in said


def test_an_administrator_sets_groups_and_reads_matches(
    home: Workspace, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = at(monkeypatch, ids["root"], "people")
    assert "Tables with the same content" not in told(app)
    app.text_input("group-name").input("the  ward")
    app.multiselect("group-people").set_value([ids["cene"]])
    app.button("group-make").click().run()
    root = home.as_person(ids["root"])
    assert root.groups() == {"g-the ward": (ids["cene"],)} and "<b>the ward</b>" in told(app)
    app.text_input("group-name").input("the ward")
    app.button("group-make").click().run()
    assert root.groups() == {"g-the ward": (ids["cene"],)} and "of that name exists" in told(
        app
    )  # nobody is put out by a slip
    (change,) = [one for one in app.multiselect if str(one.key).startswith("group-people-")]
    change.set_value([ids["cene"], ids["dana"]])
    app.button(f"set-{change.key}").click().run()
    assert set(root.groups()["g-the ward"]) == {ids["cene"], ids["dana"]}
    root.name_role(ids["dana"], "owner")
    rows = pd.DataFrame([{"age": n % 90} for n in range(500)])
    terms: dict[str, Any] = {"schema": dp.Schema({"age": dp.Number(0, 100)}), "unit": dp.Unit.rows()}
    dana = home.as_person(ids["dana"])
    dana.add_table("copy", rows, relation="replace", budget=dp.Budget("1", "1e-6"), **terms)
    said = told(app.run())
    assert "Tables with the same content" in said and "<td>copy</td>" in said and f"<td>{TABLE}</td>" in said
    for who in ("ana", "dana", "vid"):
        assert "<td>copy</td>" not in opened(monkeypatch, ids[who], "people")
