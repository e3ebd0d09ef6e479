"""Horizontal bars with names, each with its value at the end of the line and its interval as a whisker. Bars may go to
both sides of zero. A click on a bar picks it, if `pick` is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from ui.pictures import charts
from ui.pictures.sketch import Sketch
from ui.shell.style import palette
from ui.words.markup import shortened

_LINE, _THIN, _TOP = 24, 16, 9
_MANY = 14  # more bars than this are thin
_LONGEST = 18
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


@dataclass(frozen=True)
class NamedBar:
    name: str
    value: float
    low: float | None
    high: float | None
    label: str
    band: str  # its interval, in words
    colour: str  # a name in the palette
    faint: bool = False  # it may be zero
    behind: tuple[float, float] | None = None  # a longer, lighter range
    behind_words: str = ""


def show(
    bars: Sequence[NamedBar],
    ends: tuple[float, float],
    alt: str,
    key: str,
    pick: Callable[[int], None] | None = None,
    estimated: bool = False,
) -> None:
    """`ends` of the scale; `pick` gets the place of a clicked bar; `estimated` bars are hatched."""
    figure = sketch(bars, ends, estimated)

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points and pick is not None:
            pick(int(points[0]["point_index"]))

    shared: dict[str, Any] = {"config": _CONFIG, "theme": None, "alt": alt, "key": key}
    if pick is None:
        st.plotly_chart(figure.figure(), **shared)
    else:
        st.plotly_chart(figure.figure(), on_select=clicked, selection_mode="points", **shared)


def sketch(bars: Sequence[NamedBar], ends: tuple[float, float], estimated: bool) -> Sketch:
    colours, places = palette(), list(range(len(bars)))
    line, size = (_THIN, 11) if len(bars) > _MANY else (_LINE, 13)
    figure = Sketch(2 * _TOP + line * len(bars))
    marker = {
        "color": [getattr(colours, bar.colour) for bar in bars],
        "opacity": [0.4 if bar.faint or estimated else 0.9 for bar in bars],
        "line": {"width": 0},
        "pattern": {"shape": "/" if estimated else "", "fillmode": "overlay", "size": 10, "solidity": 0.2},
    }
    hover = [
        f"{escape(bar.name, quote=False)}: {bar.label}{f' ({bar.band})' if bar.band else ''}"
        + (f"<br>{escape(bar.behind_words, quote=False)}" if bar.behind_words else "")
        for bar in bars
    ]
    trace = {"type": "bar", "y": places, "x": [bar.value for bar in bars], "orientation": "h", "marker": marker}
    trace |= {"unselected": {"marker": {"opacity": 0.9}}, "hovertext": hover, "hoverinfo": "text"}
    figure.add_trace(trace | _whiskers(bars, colours.ink))
    labels = []
    for place, bar in enumerate(bars):
        font = {"size": size, "color": colours.muted if bar.faint else colours.ink}
        beside = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 4, "y": place}
        labels.append(beside | {"text": bar.label, "showarrow": False, "font": font})
    margin = {"l": 4, "r": 58, "t": 2, "b": 2}
    figure.update_layout(margin=margin, hovermode="closest", autotypenumbers="strict", annotations=labels)
    low, high = ends
    figure.update_xaxes(visible=False, range=[low * 1.02, high * 1.02])
    boxes = {str(place): bar.behind for place, bar in enumerate(bars) if bar.behind is not None}
    values = {str(place): bar.value for place, bar in enumerate(bars)}
    figure.update_layout(shapes=charts.behind_boxes(values, boxes, 0.24))
    if low < 0:
        figure.add_shape(type="line", x0=0, x1=0, y0=0, y1=1, yref="paper", line={"color": colours.muted, "width": 1})
    names = [escape(shortened(bar.name, _LONGEST), quote=False) for bar in bars]
    ticks = {"ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)", "tickmode": "array", "tickvals": places}
    ticks |= {"ticktext": names, "tickfont": {"size": size, "color": colours.ink}}
    figure.update_yaxes(autorange="reversed", showline=False, **ticks)
    return figure


def _whiskers(bars: Sequence[NamedBar], ink: str) -> dict[str, Any]:
    if all(bar.low is None for bar in bars):
        return {}
    above = [0 if bar.high is None else bar.high - bar.value for bar in bars]
    below = [0 if bar.low is None else bar.value - bar.low for bar in bars]
    ends = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
    return {"error_x": ends | {"color": ink, "thickness": 1.4, "width": 3}}
