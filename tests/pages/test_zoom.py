"""A picture of an answer can be zoomed into on wish: Plotly takes each kind, with the same figures."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from helpers_page import open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import say
from ui.pictures import zoom
from ui.pictures.sketch import Sketch

ROWS = pd.DataFrame({"age": [30, 40, 50, 60] * 250, "pay": [1, 2, 3, 4] * 250, "town": ["A", "B", "A", "A"] * 250})
SCHEMA = dp.Schema({"age": dp.Number(0, 100), "pay": dp.Number(0, 10), "town": dp.Category(["A", "B"])})
ASKED: dict[str, dict[str, Any]] = {
    "histogram": {"column": "town"},
    "mean": {"column": "age", "by": "town"},
    "cdf_tree": {"column": "age"},
    "density": {"columns": ["age", "pay"]},
}


@pytest.fixture
def table(home: dp.Workspace) -> dp.Table:
    budget = dp.Budget("60", "1e-6")
    return home.add_table("many", ROWS, schema=SCHEMA, unit=dp.Unit.rows(), budget=budget)


def _ask(table: dp.Table, key: str) -> dp.Answer:
    return table.ask(table.query(key, epsilon="5", **ASKED[key]))


def _opened(table: dp.Table, key: str) -> AppTest:
    answer = _ask(table, key)
    return open_page("ask", table="many", answer=answer.request_id)


@pytest.mark.every(5)
@pytest.mark.parametrize("key", ASKED)
def test_the_picture_is_zoomed_into_on_wish(table: dp.Table, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Sketch] = []
    real = zoom.figure
    monkeypatch.setattr(zoom, "figure", lambda sketch: made.append(sketch) or real(sketch))
    page = _opened(table, key)
    assert not made and not page.get("plotly_chart")
    (switch,) = [one for one in page.toggle if one.label == say("answer.zoom")]
    switch.set_value(True).run()
    assert not page.exception and len(page.get("plotly_chart")) == len(made) == 1
    (sketch,), drawn = made, real(made[0])
    assert (
        len(drawn.data) == len(sketch.data) and drawn.layout.xaxis.title.text == sketch.layout["xaxis"]["title"]["text"]
    )
    for trace, own in zip(drawn.data, sketch.data, strict=True):
        assert list(trace.x) == list(own["x"]) and ("told" not in own or list(trace.customdata) == list(own["told"]))


def test_a_single_figure_has_nothing_to_zoom_into(table: dp.Table) -> None:
    answer = table.ask(table.query("mean", column="age", epsilon="5"))
    page = open_page("ask", table="many", answer=answer.request_id)
    assert not page.exception and say("answer.zoom") not in [one.label for one in page.toggle]
