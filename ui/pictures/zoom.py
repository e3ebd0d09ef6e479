"""A picture that a reader may zoom into and point at, drawn by Plotly in the browser.

Plotly's script has five megabytes. So a page draws its pictures itself (`sketch.py`), and hands one to Plotly only
where a reader asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import streamlit as st

from dpengine.messages.numbers import marks
from ui.pictures.sketch import Sketch
from ui.shell.style import palette

_wanted: ContextVar[bool] = ContextVar("zoom", default=False)
_OWN = {"tips", "links"}  # what only our own drawing reads of a trace
_CONFIG = {"displaylogo": False, "scrollZoom": True, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}


@contextmanager
def pictures(wanted: bool) -> Iterator[None]:
    """Within this context, charts can be zoomed into if a reader `wanted` it."""
    before = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(before)


def shown(sketch: Sketch, alt: str, key: str) -> bool:
    """Draw the picture by Plotly if the reader wanted to zoom into pictures. True if it was drawn."""
    if _wanted.get():
        st.plotly_chart(figure(sketch), theme=None, config=_CONFIG, alt=alt, key=f"zoom-{key}")
    return _wanted.get()


def figure(sketch: Sketch) -> Any:
    from plotly.graph_objects import Figure

    colours = palette()
    look = {"color": colours.muted, "size": 14}
    axis = {"showgrid": False, "zeroline": False, "linecolor": colours.line, "tickfont": look, "automargin": True}
    drawn = Figure(
        layout={
            "height": sketch.layout["height"] + 40,
            "margin": {"l": 8, "r": 16, "t": 40, "b": 8},
            "paper_bgcolor": colours.card,
            "plot_bgcolor": colours.card,
            "font": {"family": "Source Sans, sans-serif", "color": colours.ink, "size": 14},
            "bargap": 0.35,
            "separators": marks()[::-1],
            "hoverlabel": {"bgcolor": colours.card},
            "showlegend": bool(sketch.layout.get("showlegend")),
            "shapes": sketch.layout.get("shapes", ()),
            "annotations": [{"showarrow": False} | note for note in sketch.layout.get("annotations", ())],
            "xaxis": axis | {"tickformat": ","} | sketch.layout["xaxis"],
            "yaxis": axis | {"tickformat": ","} | sketch.layout["yaxis"],
        }
    )
    for trace in sketch.data:
        words = trace.get("tips")
        pointed = {"customdata": words, "hovertemplate": "%{customdata}<extra></extra>"} if words else {}
        kept = {name: part for name, part in trace.items() if name not in _OWN}
        if trace["type"] == "heatmap":
            kept |= {"showscale": False, "zmin": 0}
        drawn.add_trace(kept | pointed)
    return drawn
