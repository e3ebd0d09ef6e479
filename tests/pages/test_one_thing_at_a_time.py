"""What a person has in hand stands first: one's own table on Start, the question being put together on Ask, and the
check that a note leads to."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from helpers_page import html_of, open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import of_practice, say
from dpengine.messages.language import speaking

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.long
def test_an_answer_is_folded_while_another_question_is_put_together(home: dp.Workspace) -> None:
    table = home.table("town", visitor="local")
    found = table.ask(table.query("mean", column="age", epsilon="0.1"))
    link = {"table": "town", "q": "mean", "column": "age", "epsilon": "0.1", "answer": found.request_id}
    app = open_page("ask", **link)

    def folded() -> list[str]:
        return [one.label for one in app.expander if one.label.startswith("Previous answer")]

    assert 'class="headline"' in html_of(app) and not folded()
    assert not app.run().exception and not folded(), "as long as nothing else is asked it stays"
    column = next(one for one in app.selectbox if one.label == say("form.column"))
    column.set_value("monthly_income").run()
    assert len(folded()) == 1 and not app.exception
    column = next(one for one in app.selectbox if one.label == say("form.column"))
    column.set_value("age").run()
    assert not folded() and 'class="headline"' in html_of(app)


@pytest.mark.long
def test_a_new_question_keeps_nothing_of_the_one_before(home: dp.Workspace) -> None:
    table = home.table("town", visitor="local")
    district = table.facts.schema.category("district").values[0]
    where = [["district", "in", [district]]]
    found = table.ask(table.query("mean", column="age", where=where, epsilon="0.4"))
    link = {"table": "town", "q": "mean", "column": "age", "epsilon": "0.4", "answer": found.request_id}
    app = open_page("ask", **link, where=json.dumps(where))
    assert 'class="headline"' in html_of(app)
    app.button(key="ask-anew").click().run()
    assert not app.exception and 'class="headline"' not in html_of(app)
    assert not {"answer", "where"} & set(app.query_params) and app.query_params["table"] == "town"
    assert app.query_params["epsilon"] != "0.4"


@pytest.mark.long
def test_a_new_question_empties_the_box_too(home: dp.Workspace) -> None:
    table = home.table("town", visitor="local")
    found = table.ask(table.query("mean", column="age", epsilon="0.4"))
    app = open_page("ask", table="town", q="mean", column="age", epsilon="0.4", answer=found.request_id)
    app.text_input(key="box-field").set_value("median monthly_income").run()
    app.query_params["answer"] = found.request_id
    app.run()
    app.button(key="ask-anew").click().run()
    assert not app.exception and app.text_input(key="box-field").value == "" and "box-read" not in app.session_state


@pytest.mark.long
def test_start_offers_ones_own_table_and_a_note_leads_to_the_check(home: dp.Workspace) -> None:
    assert "Go on with" not in str([one.proto.label for one in open_page("start").get("page_link")])
    people = pd.DataFrame({"age": [33, 44, 55]})
    schema = dp.Schema({"age": dp.Number(0, 120)})
    table = home.add_table("ward", people, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    assert "Go on with “ward”" in [one.proto.label for one in open_page("start").get("page_link")]
    found = table.ask(table.query("mean", column="age", epsilon="0.1"))
    assert "data?table=ward&amp;check=1" in html_of(open_page("ask", table="ward", answer=found.request_id))
    title = f">{say('data.fit.all_title')}</h2>"
    assert f'<h2 class="arrived" tabindex="-1"{title}' in html_of(open_page("data", table="ward", check="1"))
    assert f"<h2{title}" in html_of(open_page("data", table="ward"))


@pytest.mark.long
def test_looking_at_an_old_answer_seems_to_take_nothing(home: dp.Workspace) -> None:
    table = home.table("town", visitor="local")
    found = table.ask(table.query("mean", column="age", epsilon="0.1"))
    app = open_page("ask", table="town", answer=found.request_id)
    assert "after this question" not in html_of(app), "whatever the form holds, nobody is asking it"
    kind = next(one for one in app.selectbox if one.label == say("form.kind"))
    kind.set_value("median" if kind.value != "median" else "mean").run()
    assert "after this question" in html_of(app) and not app.exception


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "told"), [("en", "Still only people where age is at least 61."), ("sl", "Še vedno samo osebe")]
)
def test_a_condition_that_came_along_is_said_and_dropped_with_one_tap(language: str, told: str) -> None:
    where = '[["age", ">=", 61]]'
    app = open_page("ask", table="town", q="mean", column="age", where=where, epsilon="0.1", lang=language)
    assert told not in html_of(app), "it was asked for just now"
    with speaking(language), of_practice("town"):  # a test names an option by its words
        kind = next(one for one in app.selectbox if str(one.key).startswith("ask-kind"))
        kind.set_value("median").run()
        assert told in html_of(app)
        next(one for one in app.button if one.key == "ask-still-drop").click().run()
        assert told not in html_of(app) and not app.exception
        assert "where" not in app.session_state["ask"]["given"] and app.session_state["ask"]["q"] == "median"


@pytest.mark.long
@pytest.mark.parametrize(("language", "told"), [("en", "Still by district."), ("sl", "Še vedno po skupinah: četrt.")])
def test_a_group_that_came_along_is_said_and_dropped_with_one_tap(language: str, told: str) -> None:
    app = open_page("ask", table="town", q="mean", column="age", by="district", epsilon="0.1", lang=language)
    assert told not in html_of(app), "it was asked for just now"
    with speaking(language), of_practice("town"):
        kind = next(one for one in app.selectbox if str(one.key).startswith("ask-kind"))
        kind.set_value("median").run()
        assert told in html_of(app)
        next(one for one in app.button if one.key == "ask-still-by-drop").click().run()
        assert told not in html_of(app) and not app.exception
        assert "by" not in app.session_state["ask"]["given"] and app.session_state["ask"]["q"] == "median"


@pytest.mark.long
def test_what_a_form_says_of_a_question_stands_below_its_pickers(home: dp.Workspace) -> None:
    """Else choosing another question moves the pickers away from the pointer."""
    table = home.table("town", visitor="local")
    table.ask(table.query("mean", column="age", epsilon="0.4"))
    came = [(say("ask.owned"), {}), ("Still only people where", {"where": '[["age", ">=", 61]]'})]
    for told, address in [*came, ("Still by", {"by": "district"})]:
        app = open_page("ask", table="town", q="median", column="age", epsilon="0.1", **address)
        kind = next(one for one in app.selectbox if str(one.key).startswith("ask-kind"))
        before = _above(app, "sentence")
        assert told not in html_of(app)
        kind.set_value("mean").run()
        assert told in html_of(app) and _above(app, "sentence") == before


def _above(app: AppTest, key: str) -> list[str]:
    """What kinds of elements the page draws before the block of this key, in order."""
    found: list[str] = []

    def walk(node: Any) -> bool:
        if key in str(getattr(node.proto, "id", "")) and getattr(node, "children", None):
            return True
        if not hasattr(node, "children"):
            found.append(str(node.type))
            return False
        return any(walk(child) for _, child in sorted(node.children.items()))

    assert walk(app.main)
    return found


@pytest.mark.long
def test_whoever_comes_back_sees_the_answer_they_own_before_anything_is_offered_for_it(home: dp.Workspace) -> None:
    table = home.table("town", visitor="local")
    table.ask(table.query("mean", column="age", epsilon="0.4"))
    left = table.meter().used
    app = open_page("ask", table="town", q="mean", column="age")  # at another ε: the question is the same
    told = html_of(app)
    assert say("ask.owned") in told and 'class="headline"' in told and "after this question" not in told
    assert told.index('class="headline"') < told.index(say("spend.title"))
    assert not any(one.label.startswith("Ask — takes") for one in app.button), "paying again takes two steps"
    column = next(one for one in app.selectbox if one.label == say("form.column"))
    column.set_value("monthly_income").run()
    assert say("ask.owned") not in html_of(app) and 'class="headline"' not in html_of(app)
    assert table.meter().used == left and not app.exception
