"""Pictures are drawn by the server: what stands where, in the words of the page; and each is put together once."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from html import unescape
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from helpers_page import open_page, plain

import dpengine as dp
from dpengine.messages.language import speaking
from ui.parts import answer_notes
from ui.pictures import charts, named_bars
from ui.pictures.named_bars import NamedBar
from ui.pictures.sketch import ACROSS, Sketch
from ui.shell import style


def image(drawn: str) -> ElementTree.Element:
    data = drawn.partition("data:image/svg+xml;base64,")[2].partition('"')[0]
    return ElementTree.fromstring(b64decode(data))


def parts(drawn: str, name: str) -> list[dict[str, str]]:
    return [one.attrib for one in image(drawn) if one.tag.endswith(name)]


def labels(drawn: str, kind: str) -> list[str]:
    (found,) = re.findall(rf'<div class="{kind}[^"]*"[^>]*>((?:<span.*?</span>)*)</div>', drawn)
    return [plain(one, "") for one in re.findall(r"<span.*?</span>", found)]


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "dark", lambda: False)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What `charts` draws, by name."""
    drawn: dict[str, str] = {}
    monkeypatch.setattr(charts.st, "html", lambda body: drawn.update({re.findall('data-name="(.*?)"', body)[0]: body}))
    return drawn


def test_what_is_changed_counts_and_the_rest_stays() -> None:
    sketch = Sketch(200, yaxis={"visible": False})
    sketch.update_xaxes(title={"text": "people"}, range=[0, 1])
    sketch.update_xaxes(range=[0, 4])
    sketch.add_shape(type="line", x0=1, x1=1, y0=0, y1=1, line={"color": "#000000", "width": 2})
    drawn = sketch.html("a line", "one")
    assert labels(drawn, "under") == ["0", "1", "2", "3", "4"] and ">people</div>" in drawn
    (line,) = parts(drawn, "path")
    assert line["d"].startswith(f"M{ACROSS / 4:.1f} ") and 'class="upright"' not in drawn
    assert "visible" not in sketch.layout["xaxis"], "the axes share nothing"


def test_an_axis_shows_every_range_to_its_ends(shown: dict[str, str]) -> None:
    charts.ranges({"a": 10.0, "b": 12.0}, {"a": (4.0, 16.0), "b": (-30.0, 90.0)}, "x", "all", "k")
    first, second = parts(shown["k"], "rect")
    assert float(second["width"]) == pytest.approx(10 * float(first["width"]), rel=0.01)
    assert float(second["x"]) >= 0 and float(second["x"]) + float(second["width"]) <= ACROSS


def test_a_bar_is_as_long_as_its_value_and_its_whisker_as_its_range(shown: dict[str, str]) -> None:
    charts.bars({"a": 10.0, "b": 40.0, "c<": 0.0}, {"a": (5.0, 15.0), "b": (38.0, 42.0), "c<": (0, 1)}, "x", "all", "k")
    first, second, third = parts(shown["k"], "rect")
    assert float(second["width"]) == pytest.approx(4 * float(first["width"]), abs=1) and float(third["width"]) == 0
    ends = [
        [float(one) for one in re.findall(r"[MH]([\d.]+)", line["d"])[:2]]
        for line in parts(shown["k"], "path")
        if line["d"].count("V") == 2
    ]
    unit = float(first["width"]) / 10
    assert ends[0] == pytest.approx([5 * unit, 15 * unit], abs=0.2) and ends[1][1] == pytest.approx(42 * unit, abs=0.2)
    assert labels(shown["k"], "beside") == ["a", "b", "c<"] and "c&lt;" in shown["k"]
    assert 'title="a: 10"' in shown["k"] and 'role="img" aria-label="all"' in shown["k"]


def test_figures_along_an_axis_are_the_reader_s_and_none_is_lost_beside_it(shown: dict[str, str]) -> None:
    with speaking("sl"):
        charts.point(1234.5, (1200.0, 1260.0), "plača", "vse", "sl", ends=("1.200", "1.260"))
        charts.point(1950.0, (1948.0, 1952.0), "leto", "vse", "year")
    assert "1.200" in labels(shown["sl"], "under") and "1,200" not in shown["sl"]
    assert "1950" in labels(shown["year"], "under"), "a year has no mark between thousands"
    places = [float(at) for at in re.findall(r'<span style="left:([\d.]+)%', shown["sl"])]
    assert places == sorted(places) and places[0] >= 0 and places[-1] <= 100


def test_curves_on_log_axes_are_straight_where_they_should_be(shown: dict[str, str]) -> None:
    line = charts.Line("one", [(10.0**at, 10.0**-at) for at in range(5)], (100.0, 0.01))
    charts.curves([line, charts.Line("two", [(1.0, 1.0), (10000.0, 1.0)], dash="dash")], "x", "y", "falls", "c")
    falling, level = (one for one in parts(shown["c"], "path") if one.get("fill") == "none")
    points = [tuple(map(float, pair.split())) for pair in falling["d"].removeprefix("M").split("L")]
    steps = {round(two[0] - one[0]) for one, two in pairwise(points)}
    assert len(points) == 5 and len(steps) == 1 and "stroke-dasharray" in level and "stroke-dasharray" not in falling
    assert "1,000" in labels(shown["c"], "under") and "0.01" in labels(shown["c"], "beside")
    assert plain(shown["c"].partition('class="keys"')[2].partition("</div>")[0], " ").split()[-2:] == ["one", "two"]
    told = unescape(" ".join(re.findall(r'<u [^>]*title="(.*?)"', shown["c"], re.S)))
    assert "one: 100 · 0.01" in told and "two: 10,000 · 1" in told
    assert re.search(r'<i style="left:50.00%', shown["c"]), "the setting is a dot in the middle"


def test_stairs_hold_each_height_until_the_next_day(shown: dict[str, str]) -> None:
    days = ["2026-01-01", "2026-01-11", "2026-01-31"]
    charts.band(days, [1.0, 2.0, 3.0], ([0.5, 1.5, 2.5], [1.5, 2.5, 3.5]), ("day", "n"), "rises", "d", stairs=True)
    (line,) = [one for one in parts(shown["d"], "path") if one.get("fill") == "none"]
    xs = [round(float(pair.split()[0])) for pair in line["d"].removeprefix("M").split("L")]
    assert xs == [0, 333, 333, 1000, 1000, 1000]
    assert labels(shown["d"], "under")[0].startswith("2026-01-0")


def test_named_bars_go_to_both_sides_and_may_lead_somewhere() -> None:
    look = {"label": "+1", "band": "0 to 2", "colour": "left"}
    bars = [NamedBar("up", 1.0, 0.5, 1.5, **look, link="board?a=1&b=2"), NamedBar("down", -2.0, None, None, **look)]
    drawn = named_bars.sketch([bars[0]], (-3.0, 3.0)).html("both", "n")
    assert 'href="board?a=1&amp;b=2"' in drawn and 'tabindex="-1"' in drawn and 'role="group"' in drawn
    drawn = named_bars.sketch([NamedBar("up", 1.0, None, None, **look), bars[1]], (-3.0, 3.0)).html("both", "n")
    right, left = parts(drawn, "rect")
    assert float(right["x"]) == pytest.approx(ACROSS / 2) and float(left["x"]) < ACROSS / 2 and 'role="img"' in drawn


def test_a_map_has_a_dot_for_each_cell_and_says_its_scale() -> None:
    sketch = Sketch(200)
    scale = [[0.0, "#FFFFFF"], [1.0, "#000000"]]
    heights = [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    look = {"type": "heatmap", "colorscale": scale, "zmax": 2.0}
    sketch.add_trace(look | {"x": [0.0, 1.0, 2.0], "y": [5.0, 6.0], "z": heights})
    drawn = sketch.html("a map", "m")
    assert drawn.count('<img class="map"') == 1 and "<span>0</span><span>2</span>" in drawn


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

    monkeypatch.setattr(Sketch, "html", counting("made", Sketch.html))
    monkeypatch.setattr(dp.Table, "fits", counting("fits", dp.Table.fits))
    answer_notes._known.cache_clear()
    open_page("answers", table="many")
    assert done == {"made": 6, "fits": 1}
