"""*Set it exactly*: what is typed counts as it was meant, and what cannot be spent or promised takes nothing away."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from helpers_page import html_of, open_page, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import of_practice, say
from dpengine.messages.language import speaking

pytestmark = pytest.mark.usefixtures("home")

PAGES: dict[str, dict[str, str]] = {
    "ask": {"table": "town", "q": "sum", "column": "monthly_income", "epsilon": "0.1"},
    "publish": {"table": "town", "columns": '["district"]', "epsilon": "0.2"},
    "synthetic": {"table": "town", "columns": '["district", "has_car"]', "epsilon": "0.2"},
}


def field(app: AppTest, kind: str) -> Any:
    (found,) = [one for one in app.text_input if f"-{kind}-" in str(one.key)]
    return found


def go_button(app: AppTest) -> Any:
    (found,) = [one for one in app.button if "-go-" in str(one.key)]
    return found


@pytest.mark.long
@pytest.mark.parametrize(("page", "lang"), [("ask", "en"), *((page, "sl") for page in PAGES)])
def test_a_spend_that_cannot_be_leaves_everything_where_it_was(
    page: str, lang: str, caplog: pytest.LogCaptureFixture
) -> None:
    with speaking(lang), of_practice("town"):
        app = open_page(page, **PAGES[page], lang=lang)
        before, label = field(app, "typed").value, go_button(app).label
        for typed in ("1000", "−1", "0", "lots", "25.000,000"):
            field(app, "typed").set_value(typed).run()
            assert not app.exception
            assert field(app, "typed").value == before and go_button(app).label == label, typed
            assert say("spend.stays", why="", epsilon=before).strip() in plain(html_of(app))
        field(app, "typed").set_value("0,3").run()
        assert field(app, "typed").value == ("0,3" if lang == "sl" else "0.3") and go_button(app).label != label
    assert "Session State API" not in caplog.text


@pytest.mark.every(3)
@pytest.mark.parametrize("epsilon", ["1000", "-1", "lots"])
def test_a_link_with_such_a_spend_still_has_its_field_and_its_button(epsilon: str) -> None:
    app = open_page("ask", **PAGES["ask"] | {"epsilon": epsilon})
    assert field(app, "typed").value and go_button(app).label
    assert "It stays at ε =" in plain(html_of(app))


@pytest.mark.long
@pytest.mark.parametrize(
    ("lang", "typed", "means"),
    [("en", "250,000", 250_000), ("sl", "250.000", 250_000), ("en", "250000.5", 250_000), ("sl", "250 000", 250_000)],
)
def test_an_accepted_error_means_what_it_says(lang: str, typed: str, means: int) -> None:
    """The spend it takes is the one that promises so much, not a thousandth of it."""
    with speaking(lang), of_practice("town"):
        app = open_page("ask", **PAGES["ask"], lang=lang)
        field(app, "wish").set_value(typed).run()
        assert not app.exception and not [part for part in app.get("html") if 'class="refused"' in part.proto.body]
        shown = field(app, "wish").value
        told = int(shown.replace("." if lang == "sl" else ",", ""))
        assert 0.9 * means <= told <= means + 1


@pytest.mark.every(3)
@pytest.mark.parametrize(("lang", "typed"), [("en", "25.000"), ("sl", "25,000")])
def test_an_accepted_error_with_two_meanings_is_asked_back(lang: str, typed: str) -> None:
    with speaking(lang), of_practice("town"):
        app = open_page("ask", **PAGES["ask"], lang=lang)
        before = field(app, "wish").value
        field(app, "wish").set_value(typed).run()
        assert field(app, "wish").value == before
        name, one = say("spend.wish.name"), "25.000" if lang == "sl" else "25,000"
        assert say("number.ambiguous", name=name, one=one, other="25") in plain(html_of(app))


@pytest.mark.long
def test_a_wished_promise_in_a_plan_is_read_in_its_language() -> None:
    planned = '[["sum",{"column":"monthly_income","epsilon":"0.1"},"300000",false]]'
    for lang, typed in (("en", "250,000"), ("sl", "250.000")):
        with speaking(lang), of_practice("town"):
            app = open_page("several", table="town", plan=planned, lang=lang)
            (wish,) = [one for one in app.text_input if "plan-wish" in str(one.key)]
            wish.set_value(typed).run()
            assert '"250000"' in str(app.query_params["plan"])


@pytest.mark.long
def test_the_slider_offers_no_more_than_what_is_left(home: dp.Workspace) -> None:
    """After two thirds of it a step told “184 %”. What a link asks for stays in sight, and says that it is too much."""
    table = home.table("town", visitor="local")
    table.ask(table.query("count", where=[["age", ">=", 65]], epsilon="0.7"))
    left = table.meter().unused
    app = open_page("ask", **PAGES["ask"])
    options = app.select_slider[0].proto.options
    shares = [Fraction(told.split(" %")[0].replace("< ", "")) / 100 for told in options]
    assert len(options) >= 2 and max(shares) <= left + Fraction(1, 100)
    app = open_page("ask", **PAGES["ask"] | {"epsilon": "1"})
    *others, last = app.select_slider[0].proto.options
    assert last == say("spend.step_too_much") and list(others) == list(options)


@pytest.mark.long
def test_what_would_be_enough_is_told_as_a_share(home: dp.Workspace) -> None:
    told = plain(html_of(open_page("ask", table="residents", q="sum", column="salary", epsilon="0.001")))
    assert re.search(r"which takes about [\d.]+ %", told) and "times the spend" not in told
    assert "1,504–2,000" in told and "\\," not in told  # a practice table has no link there, and no marks of one


@pytest.mark.every(3)
@pytest.mark.parametrize(("page", "kind"), [("ask", "typed"), ("ask", "wish"), ("publish", "typed")])
def test_what_was_typed_into_a_form_that_a_link_replaced_changes_nothing(page: str, kind: str) -> None:
    """A link that arrives forgets what the fields held; the browser's change to one of them may come after that."""
    app = open_page(page, **PAGES[page])
    late, label = field(app, kind), go_button(app).label
    del app.session_state[late.key]
    late.set_value("0.7").run()
    assert not app.exception and go_button(app).label == label
