"""The question box on Ask: it fills the form, says what it left out, can be undone, and spends and stores nothing."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers_page import html_of, open_page

import dpengine as dp
from dpengine.core import places
from dpengine.messages import of_practice, say
from dpengine.messages.language import speaking

pytestmark = pytest.mark.usefixtures("shared")
FIELD = "box-field"


def typed(text: str, app: Any = None, **address: str) -> Any:
    app = app or open_page("ask", table="town", **address)
    app.text_input(key=FIELD).set_value(text).run()
    assert not app.exception
    return app


def asked(app: Any) -> dict[str, Any]:
    found = {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}
    return found | ({"where": json.loads(found["where"])} if "where" in found else {})


def test_a_typed_question_fills_the_form() -> None:
    app = typed("median income of car owners over 50 in Mill or Hill by way to work")
    found = asked(app)
    assert (found["q"], found["column"], found["by"]) == ("median", "monthly_income", "way_to_work")
    assert sorted(found["where"]) == [
        ["age", ">", 50],
        ["district", "in", ["Mill", "Hill"]],
        ["has_car", "in", ["yes"]],
    ]
    assert "Understood as: The median of monthly_income" in unescape(html_of(app))
    assert "100 %" in html_of(app)  # nothing is spent


def test_it_says_what_it_did_not_understand() -> None:
    app = typed("average income of gardeners by district")
    assert say("box.unread", words="“gardeners”") in unescape(html_of(app)) and asked(app)["q"] == "mean"
    app = typed("xyzzy plugh", app)
    assert say("read.nothing") in unescape(html_of(app)) and asked(app)["q"] == "mean"  # the form stays as it was


def test_what_was_understood_is_said_until_the_form_is_changed_by_hand() -> None:
    app = typed("average income of gardeners by district")
    app.run()
    assert "Understood as" in html_of(app)
    kind = next(one for one in app.selectbox if str(one.key).startswith("ask-kind"))
    kind.set_value("median").run()
    assert not app.exception and asked(app)["q"] == "median" and "nderstood" not in html_of(app)
    assert app.text_input(key=FIELD).value  # the text stays


def test_where_a_person_has_several_rows_a_typed_number_of_rows_counts_rows(home: dp.Workspace) -> None:
    rows = pd.DataFrame({"card": [at // 2 for at in range(400)], "ward": ["eye", "ear"] * 200})
    schema, budget = dp.Schema({"ward": dp.Category(["eye", "ear"])}), dp.Budget("5", "1e-6")
    home.add_table("eye and ear", rows, schema=schema, unit=dp.Unit.column("card", at_most=3), budget=budget)
    app = typed("number of rows by ward", open_page("ask", table="eye and ear"))
    switch = next(one for one in app.toggle if one.label == say("param.people.label"))
    assert not switch.value and asked(app)["people"] == "false" and "The number of rows" in unescape(html_of(app))
    who = next(one for one in app.selectbox if str(one.key).startswith("ask-who-"))
    assert who.options[0] == "all rows"
    switch.set_value(True).run()
    assert "row" not in next(one for one in app.selectbox if str(one.key).startswith("ask-who-")).options[0]


@pytest.mark.long
def test_no_other_column_stands_in_for_one_that_nobody_declared(home: dp.Workspace) -> None:
    rows = pd.DataFrame({"rent": [500, 700] * 40, "mins_to_work": [20, 999] * 40})
    schema, budget = dp.Schema({"rent": dp.Number(0, 1000)}), dp.Budget("1", "1e-6")
    home.add_table("panel", rows, schema=schema, unit=dp.Unit.rows(), budget=budget)
    app = typed("average mins_to_work", open_page("ask", table="panel"))
    assert say("box.undeclared_ask", columns="“mins_to_work”") in unescape(html_of(app))
    assert "Understood as" not in html_of(app)
    links = [one.proto.label for one in app.get("page_link")]
    assert say("box.declare_else") in links
    app = typed("average rent", app)
    assert "Understood as: The mean of rent" in unescape(html_of(app))


def test_a_column_that_nobody_declared_is_declared_by_a_tap_on_its_likely_contents(home: dp.Workspace) -> None:
    rows = pd.DataFrame({"rent": [500, 700] * 40, "commute_m": [20, 90] * 40})
    schema, budget = dp.Schema({"rent": dp.Number(0, 1000)}), dp.Budget("1", "1e-6")
    home.add_table("ways", rows, schema=schema, unit=dp.Unit.rows(), budget=budget)
    app = typed("mean commute", open_page("ask", table="ways"))  # a part of its name
    assert say("box.undeclared_ask", columns="“commute_m”") in unescape(html_of(app))
    kinds = {button.label: button for button in app.button if str(button.key).startswith("kinds-")}
    kinds["0–240 min"].click().run()
    column = home.table("ways").schema["commute_m"]
    assert not app.exception and isinstance(column, dp.Number) and (column.lower, column.upper) == (0, 240)
    assert (asked(app)["q"], asked(app)["column"]) == ("mean", "commute_m")
    assert "Understood as: The mean of commute_m" in unescape(html_of(app)) and not home.table("ways").meter().charges


def test_a_tap_on_likely_contents_undoes_nothing_that_was_declared_meanwhile(home: dp.Workspace) -> None:
    rows = pd.DataFrame({"rent": [500, 700] * 40, "commute_m": [20, 90] * 40})
    schema, budget = dp.Schema({"rent": dp.Number(0, 1000)}), dp.Budget("1", "1e-6")
    table = home.add_table("ways", rows, schema=schema, unit=dp.Unit.rows(), budget=budget)
    app = typed("mean commute", open_page("ask", table="ways"))
    kinds = {button.label: button for button in app.button if str(button.key).startswith("kinds-")}
    table.revise(dp.Schema({"rent": dp.Number(0, 2000)}))  # in another tab
    kinds["0–240 min"].click().run()
    [(name, column)] = home.table("ways").schema.columns.items()
    assert name == "rent" and isinstance(column, dp.Number) and column.upper == 2000
    assert say("table.revised") in unescape(html_of(app))


def test_contents_that_must_be_typed_open_the_column_s_card(home: dp.Workspace) -> None:
    rows = pd.DataFrame({"rent": [500, 700] * 40, "tenure": ["own", "let"] * 40, "commute_m": [20, 90] * 40})
    schema, budget = dp.Schema({"rent": dp.Number(0, 1000)}), dp.Budget("1", "1e-6")
    home.add_table("homes", rows, schema=schema, unit=dp.Unit.rows(), budget=budget)
    app = typed("average commute by tenure", open_page("ask", table="homes"))
    kinds = {button.label: button for button in app.button if str(button.key).startswith("kinds-")}
    kinds[say("data.line.list")].click().run()
    assert not app.exception and list(home.table("homes").schema.columns) == ["rent"]
    assert [one for one in app.text_area if one.label == say("data.card.values")], "its card, at a list"


@pytest.mark.long
def test_another_reading_is_one_click_away_and_undo_restores_the_form() -> None:
    app = typed("how many people over 90")
    before = asked(app)
    app = typed("income by district", app)
    assert asked(app)["q"] == "median"
    rather = [button for button in app.button if str(button.key).startswith("box-rather")]
    assert 1 <= len(rather) <= 2
    rather[0].click().run()
    assert asked(app)["q"] == "mean"
    app.button(key="box-undo").click().run()
    assert asked(app)["q"] == "median"
    app.button(key="box-undo").click().run()
    now = asked(app)
    assert (now["q"], now["where"]) == (before["q"], before["where"]) == ("count", [["age", ">", 90]])
    app.button(key="box-undo").click().run()
    assert not [button for button in app.button if button.key == "box-undo"]  # the form as it was opened


@pytest.mark.long
def test_it_reads_slovene() -> None:
    with speaking("sl"), of_practice("town"):
        app = typed("povprečni mesečni dohodek ljudi brez avta", lang="sl")
        assert (asked(app)["q"], asked(app)["column"]) == ("mean", "monthly_income")
        assert asked(app)["where"] == [["has_car", "in", ["no"]]]
        assert say("box.undo") in [button.label for button in app.button]


def test_what_was_typed_is_in_no_address_and_no_file() -> None:
    canary = "quetzalcoatlus"
    app = typed(f"average income of {canary} by district")
    assert canary in html_of(app) and canary not in json.dumps(asked(app))
    files = [path for path in Path(places.home()).rglob("*") if path.is_file()]
    assert files and not [path for path in files if canary.encode() in path.read_bytes()]
