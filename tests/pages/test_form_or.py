"""“At least one of these” on Ask: drawn from a link, built from pickers, and in the question as it is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers_declare import ROOT

from dpengine.messages import say

EITHER = ["any", [["district", "in", ["Mill"]], ["age", ">=", 65]]]

pytestmark = pytest.mark.usefixtures("shared")


def ask(where: list[Any]) -> Any:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.switch_page("../pages/ask.py")
    told = {"table": "town", "q": "mean", "column": "monthly_income", "epsilon": "0.1", "where": json.dumps(where)}
    for name, value in told.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def where_of(app: Any) -> Any:
    """AppTest gives back a list for what the page wrote, and text for what came in."""
    given = app.query_params["where"]
    return json.loads(given if isinstance(given, str) else given[0])


def text(app: Any) -> str:
    return "\n".join(part.proto.body for part in app.get("html"))


@pytest.mark.long
@pytest.mark.parametrize("rows", [[EITHER], [["has_car", "in", ["yes"]], EITHER]], ids=["alone", "with another"])
def test_a_link_with_or_is_drawn_and_stays_as_it_is(rows: list[Any]) -> None:
    app = ask(rows)
    assert where_of(app) == rows and say("form.where_from_link") not in text(app)
    assert app.selectbox(key="where-column-where-or-0").value == "district"
    app.multiselect(key="where-values-district-where-or-0").set_value(["Mill", "Hill"])
    app.run()
    assert where_of(app)[-1][1][0] == ["district", "in", ["Mill", "Hill"]] and where_of(app)[:-1] == rows[:-1]


@pytest.mark.every(5)
@pytest.mark.parametrize("rows", [[EITHER, EITHER], [["any", [EITHER]]], [["any", "x"]], [["any", []]]])
def test_what_cannot_be_drawn_is_left_as_it_is(rows: list[Any]) -> None:
    assert say("form.where_from_link") in text(ask(rows)) or rows == [["any", []]]


def test_or_is_built_from_pickers() -> None:
    app = ask([["has_car", "in", ["yes"]]])
    assert where_of(app) == [["has_car", "in", ["yes"]]]
    next(button for button in app.button if button.label == say("form.either_start")).click()
    app.run()
    for place, district in enumerate(("Mill", "Hill")):
        app.multiselect(key=f"where-values-district-where-or-{place}").set_value([district])
        app.run()
    either = ["any", [["district", "in", ["Mill"]], ["district", "in", ["Hill"]]]]
    assert where_of(app) == [["has_car", "in", ["yes"]], either]
    app.button(key="ask-or-less-where").click()
    app.run()
    assert where_of(app) == [["has_car", "in", ["yes"]]] and not app.exception


@pytest.mark.long
def test_another_kind_of_question_starts_at_its_own_usual_spend() -> None:
    app = ask([])
    app.session_state["ask-epsilon"] = "0.7"
    app.run()
    assert app.query_params["epsilon"] in ("0.7", ["0.7"])
    kind = next(box for box in app.selectbox if str(box.key).startswith("ask-kind"))
    kind.set_value("median").run()
    assert not app.exception
    spent = app.query_params["epsilon"]
    assert spent not in ("0.7", ["0.7"]) and app.session_state["ask-epsilon"] in spent


def test_a_condition_on_numbers_beyond_what_a_browser_counts_has_its_fields() -> None:
    """Streamlit refuses whole numbers beyond 2^53 in a number field, and the page failed."""
    from unittest import mock

    import dpengine as dp
    from ui.parts import conditions

    column = dp.Number(0, 10**18, 10**15)
    where = mock.Mock()
    where.number_input.return_value = 5e17
    assert conditions._numbers(column, "<", None, "size", "0", where) is not None
    given = where.number_input.call_args.args[1:]
    assert all(isinstance(one, float) for one in given)


def test_averages_are_options_of_which_is_largest() -> None:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.switch_page("../pages/ask.py")
    told = {"table": "town", "q": "noisy_argmax", "epsilon": "0.05"}
    for name, value in told.items():
        app.query_params[name] = value
    app.run()
    app.segmented_control(key="ask-compare-town").set_value("averages").run()
    assert not app.exception and sorted(app.multiselect(key="ask-averages-town").value) == ["age", "monthly_income"]
    given = app.query_params["options"]
    found = json.loads(given if isinstance(given, str) else given[0])
    assert sorted(one["mean"] for one in found) == ["age", "monthly_income"]
    assert "Each average counts as a place in its column" in text(app) and "below the highest average" in text(app)
    again = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    again.switch_page("../pages/ask.py")
    for name, value in (told | {"options": json.dumps([{"mean": "age"}, {"mean": "monthly_income"}])}).items():
        again.query_params[name] = value
    again.run()
    assert again.multiselect(key="ask-averages-town").value == ["age", "monthly_income"], "a link brings it back"


def test_a_condition_in_which_nothing_is_picked_is_not_asked_as_if_it_were_none() -> None:
    """“Only people where …” with an empty line would be paid for as a question about everyone."""
    page = ask([["district", "in", []]])
    assert "Choose at least one value for “district”." in text(page)
    assert not [one for one in page.button if one.label.startswith("Ask — takes")]
    filled = ask([["district", "in", ["Mill"]]])
    assert [one for one in filled.button if one.label.startswith("Ask — takes")]
