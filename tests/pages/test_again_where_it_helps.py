"""Another, paid look is offered where it makes what is known narrower, and nowhere else."""

from __future__ import annotations

import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.asking.paid_answers import Reading
from ui.ask import shown_answer

pytestmark = pytest.mark.usefixtures("home")


def offered(answer: dp.Answer) -> str:
    return shown_answer._narrower(answer, Reading("apart", (answer,), count=1))


@pytest.mark.long
def test_averaging_is_offered_where_it_narrows(home: dp.Workspace) -> None:
    table = home.table("town", visitor="local")
    count = table.ask(table.query("count", where=[["has_car", "in", ["yes"]]], epsilon="0.1"))
    assert offered(count).startswith("The range would shrink from about ±")
    median = table.ask(table.query("median", column="age", epsilon="0.1"))
    top = table.ask(table.query("top_item", column="way_to_work", epsilon="0.1"))
    assert not offered(median) and not offered(top)
    again = "Ask again and combine"
    for answer, there in ((count, True), (median, False), (top, False)):
        app = open_page("ask", table="town", answer=answer.request_id)
        labels = [str(getattr(one.proto, "popover", one.proto).label) for one in app.get("popover")]
        assert any(again in label for label in labels) == there, labels
        assert "would not get narrower" not in plain(html_of(app))


def test_a_range_that_would_be_wider_is_not_offered(home: dp.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    table = home.table("town", visitor="local")
    mean = table.ask(table.query("mean", column="age", epsilon="0.1"))
    low, high = mean.interval
    for wider, told in ((1, False), (-1, True)):
        then = (low - wider * (high - low) / 4, high + wider * (high - low) / 4)
        monkeypatch.setattr(shown_answer, "foreseen", lambda *given, then=then: then)
        assert bool(offered(mean)) == told
