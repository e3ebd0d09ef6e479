"""Pictures are put together once: what a page with many cards works on is counted, not timed."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import plotly.graph_objects as go
import pytest
from helpers_page import open_page
from plotly.basedatatypes import BaseFigure

import dpengine as dp
from ui.parts import answer_notes
from ui.pictures.sketch import Sketch


def test_what_is_changed_counts_and_the_rest_stays() -> None:
    sketch = Sketch(200, yaxis={"visible": False})
    sketch.update_xaxes(title={"text": "people"}, range=[0, 1])
    sketch.update_xaxes(range=None)
    sketch.add_shape(type="line", x0=0, x1=1, y0=0, y1=1)
    sketch.update_layout(margin={"t": 24})
    figure = go.Figure(sketch.figure().to_dict())
    assert figure.layout.xaxis.title.text == "people" and figure.layout.xaxis.title.font.size == 14
    assert figure.layout.xaxis.range is None and figure.layout.yaxis.visible is False
    assert figure.layout.margin.t == 24 and figure.layout.margin.l == 8 and len(figure.layout.shapes) == 1
    assert "visible" not in sketch.layout["xaxis"]  # the axes share nothing


@pytest.mark.long
def test_a_page_of_cards_makes_each_picture_once(home: dp.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.DataFrame({"age": [30, 40, 50, 60] * 250, "town": ["A", "B", "A", "A"] * 250})
    schema = dp.Schema({"age": dp.Number(0, 100), "town": dp.Category(["A", "B"])})
    table = home.add_table("many", rows, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("60", "1e-6"))
    for _ in range(3):
        table.ask(table.query("mean", column="age", epsilon="1"))
        table.ask(table.query("histogram", column="town", epsilon="1"))
    done: Counter[str] = Counter()

    def counting(name: str, real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            done[name] += 1
            return real(*given, **named)

        return call

    monkeypatch.setattr(BaseFigure, "plotly_update", counting("changed", BaseFigure.plotly_update))
    monkeypatch.setattr(BaseFigure, "update_layout", counting("changed", BaseFigure.update_layout))
    monkeypatch.setattr(go, "Figure", counting("checked", go.Figure))
    monkeypatch.setattr(Sketch, "figure", counting("made", Sketch.figure))
    monkeypatch.setattr(dp.Table, "fits", counting("fits", dp.Table.fits))
    answer_notes._known.cache_clear()
    open_page("answers", table="many")
    assert done == {"made": 6, "fits": 1}


@pytest.mark.every(9)
@pytest.mark.parametrize("address", ["whatif", "audit", "lessons?lesson=overfitting"])
def test_plotly_accepts_what_pages_hand_over_unchecked(home: dp.Workspace, address: str) -> None:
    name, _, asked = address.partition("?")
    drawn = open_page(name, table="town", **dict(parse_qsl(asked))).get("plotly_chart")
    for one in drawn:
        go.Figure(json.loads(one.proto.spec))
    assert drawn
