"""A field that is left by clicking on Ask comes with that click: then nothing is asked, as nobody has seen the question
that stands there now."""

from __future__ import annotations

import time
from typing import Any

import pytest
from helpers_declare import ROOT

import dpengine as dp
from dpengine.messages import say
from tests.helpers_ledger import PATIENCE
from ui.shell import state

ASKED = {"table": "town", "q": "count", "where": '[["age","between",[20,60]]]', "epsilon": "0.1"}


def ask() -> Any:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.switch_page("../pages/ask.py")
    for name, value in ASKED.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def button(app: Any) -> Any:
    return next(one for one in app.button if str(one.key).startswith("ask-go-"))


def charges() -> list[dp.Entry]:
    return list(state.workspace().table("town", visitor="local").history(10))


def grown(before: int) -> list[dp.Entry]:
    """Charged in the background, so not at once."""
    until = time.monotonic() + PATIENCE
    while len(charges()) == before and time.monotonic() < until:
        time.sleep(0.05)
    return charges()


@pytest.mark.usefixtures("shared")
def test_a_question_that_was_changed_with_the_click_is_not_asked() -> None:
    app, before = ask(), len(charges())
    field = next(one for one in app.number_input if str(one.key).startswith("where-low"))
    field.set_value(40)
    button(app).click()  # one message to the server holds both
    app.run()
    assert say("ask.just_changed") in "".join(part.proto.body for part in app.get("html"))
    assert len(charges()) == before
    button(app).click()  # what is seen now is asked
    app.run()
    found = grown(before)
    assert len(found) == before + 1
    assert found[0].charge.claim["parameters"]["where"] == [["age", "between", [40, 60]]]


@pytest.mark.usefixtures("shared")
def test_whoever_types_a_question_and_clicks_at_once_sees_it_without_a_refusal() -> None:
    app, before = ask(), len(charges())
    app.text_input(key="box-field").set_value("how many people")
    button(app).click()
    app.run()
    drawn = "".join(part.proto.body for part in app.get("html"))
    assert say("ask.just_typed") in drawn and say("job.refused") not in drawn
    assert len(charges()) == before and app.query_params["q"] in ("count", ["count"])
    button(app).click()
    app.run()
    assert grown(before)[0].charge.claim["key"] == "count"


@pytest.mark.usefixtures("shared")
def test_a_question_that_is_seen_is_asked_by_one_click() -> None:
    app, before = ask(), len(charges())
    next(one for one in app.number_input if str(one.key).startswith("where-low")).set_value(45)
    app.run()
    button(app).click()
    app.run()
    assert len(grown(before)) == before + 1
