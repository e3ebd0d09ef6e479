"""A question or plan that a person left unfinished is offered again in a new session, to them alone."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from helpers_page import html_of, open_page

import dpengine as dp
from dpengine.messages import say
from dpengine.storage import registry

TAKE, DROP = "form-draft-take", "form-draft-drop"


def keys(app: Any) -> set[str]:
    return {str(button.key) for button in app.button}


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_a_begun_question_is_offered_in_a_new_session_and_taken_up() -> None:
    app = open_page("ask", table="residents")
    assert TAKE not in keys(app)
    app.text_input(key="box-field").set_value("average height by state").run()
    again = open_page("ask", table="residents")  # a new session: a reload without its address, or a new sign-in
    assert TAKE in keys(again) and "average" not in str(again.query_params.get("column", ""))
    assert "You left a question unfinished: The mean of height" in unescape(html_of(again))
    again.button(key=TAKE).click().run()
    found = [again.query_params[name] for name in ("q", "column", "by")]
    assert [value if isinstance(value, str) else value[0] for value in found] == ["mean", "height", "state"]
    third = open_page("ask", table="residents")
    third.button(key=DROP).click().run()
    assert TAKE not in keys(third) and TAKE not in keys(open_page("ask", table="residents"))


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_a_plan_is_there_again_in_a_new_session_and_its_changes_can_be_undone() -> None:
    app = open_page("several", table="residents")
    app.button(key="suggest-add-0").click().run()
    app.button(key="suggest-add-1").click().run()
    rows = [key for key in keys(app) if key.startswith("plan-out-")]
    assert len(rows) == 2 and not app.exception
    again = open_page("several", table="residents")  # without the plan in its address
    outs = sorted(key for key in keys(again) if key.startswith("plan-out-"))
    assert len(outs) == 2 and "plan-undo" not in keys(again)
    for _ in range(2):
        again.button(key=min(key for key in keys(again) if key.startswith("plan-out-"))).click().run()
    assert not [key for key in keys(again) if key.startswith("plan-out-")]
    assert not [key for key in keys(open_page("several", table="residents")) if key.startswith("plan-out-")]
    for left in (1, 2):
        again.button(key="plan-undo").click().run()
        assert len([key for key in keys(again) if key.startswith("plan-out-")]) == left
    assert "plan-undo" not in keys(again)


@pytest.mark.long
@pytest.mark.usefixtures("home")
def test_a_question_that_stands_there_or_was_answered_is_not_called_unfinished(table: dp.Table) -> None:
    first = open_page("ask", table="small").query_params
    key, column = (value if isinstance(value, str) else value[0] for value in (first["q"], first["column"]))
    table.keep_draft(key, {"column": column})
    assert TAKE not in keys(open_page("ask", table="small"))  # the form holds it
    table.keep_draft("mean", {"column": "x", "where": [["x", ">", "3"]]})
    assert TAKE in keys(open_page("ask", table="small"))
    table.ask(table.query("mean", column="x", where=[["x", ">", "3"]], epsilon="0.5"))
    assert TAKE not in keys(open_page("ask", table="small"))


@pytest.fixture(name="table")
def small_table(home: dp.Workspace) -> dp.Table:
    import pandas as pd

    terms = {"schema": dp.Schema({"x": dp.Number(0, 9)}), "unit": dp.Unit.rows(), "budget": dp.Budget("5", "1e-6")}
    return home.add_table("small", pd.DataFrame({"x": ["5"] * 50}), **terms)


def test_a_draft_is_kept_for_one_person_and_one_table_and_goes_with_the_table(
    table: dp.Table, home: dp.Workspace
) -> None:
    assert table.draft() is None
    table.keep_draft("mean", {"column": "x"})
    assert home.table("small").draft() == {"key": "mean", "given": {"column": "x"}}
    assert home.draft_of("small", "somebody else") is None and home.draft_of("other", table.actor) is None
    table.keep_draft("mean", {"column": "x" * registry.LONGEST_DRAFT})
    assert table.draft() is None  # too long to keep
    table.keep_draft("count")
    assert table.draft() == {"key": "count", "given": {}} and table.meter().used == 0
    table.keep_plan("[]", 10)
    assert table.plan_draft() == {"plan": "[]", "keep": 10} and table.draft() == {"key": "count", "given": {}}
    table.keep_draft(None)
    assert table.draft() is None and home.table("small").plan_draft() == {"plan": "[]", "keep": 10}
    home.forget("small")
    assert home.draft_of("small", table.actor) is None
    assert say("draft.take")
