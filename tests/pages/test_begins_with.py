"""What a form begins with: nothing that nobody chose comes along, and nothing that was asked already."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
from helpers_page import open_page

import dpengine as dp


@pytest.fixture
def staff(home: dp.Workspace) -> Iterator[dp.Table]:
    frame = pd.DataFrame({"sex": ["f", "m"] * 5_000, "age": [str(20 + place % 60) for place in range(10_000)]})
    yield home.add_table(
        "staff",
        frame,
        schema=dp.Schema({"sex": dp.Category(["f", "m"]), "age": dp.Number(0, 120)}),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("2", "1e-6"),
    )


def picked(app, key: str):  # type: ignore[no-untyped-def]
    return next(box for box in app.selectbox if str(box.key).startswith(key))


@pytest.mark.long
def test_a_condition_that_the_form_made_up_stays_behind(staff: dp.Table) -> None:
    """How many there are is public, so a number begins with some of them; an average after it is of everyone."""
    app = open_page("ask", table=staff.name, q="count")
    assert app.session_state["ask"]["given"]["where"]
    picked(app, "ask-kind").set_value("mean").run()
    assert not app.exception and not app.session_state["ask"]["given"].get("where")


@pytest.mark.long
def test_a_condition_that_the_person_chose_comes_along(staff: dp.Table) -> None:
    app = open_page("ask", table=staff.name, q="count", where='[["sex", "in", ["m"]]]')
    picked(app, "ask-kind").set_value("mean").run()
    assert app.session_state["ask"]["given"]["where"] == [["sex", "in", ["m"]]]


@pytest.mark.long
def test_a_new_question_is_one_that_was_not_asked(staff: dp.Table) -> None:
    app = open_page("ask", table=staff.name)
    first = app.session_state["ask"]["q"], app.session_state["ask"]["given"].get("column")
    query = next(one for one in staff.suggestions() if one.card.key == first[0])
    assert not query.conditional
    staff.ask(query)
    again = open_page("ask", table=staff.name)
    assert (again.session_state["ask"]["q"], again.session_state["ask"]["given"].get("column")) != first
