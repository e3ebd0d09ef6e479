"""What the values of a column add, as bars to both sides of nothing, each with its band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from ui.pictures.sketch import Sketch
from ui.shell.style import palette

_LINE, _THIN, _TOP = 24, 17, 8
_MANY = 14  # bars, above which they are thin
_LONGEST = 18
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


@dataclass(frozen=True)
class Bar:
    name: str
    value: float
    low: float | None
    high: float | None
    told: str
    band: str
    clear: bool


def show(bars: Sequence[Bar], widest: float, alt: str, key: str) -> None:
    """`widest`: all columns of a model stand on one scale."""
    st.plotly_chart(sketch(bars, widest).figure(), config=_CONFIG, theme=None, alt=alt, key=key)


def sketch(bars: Sequence[Bar], widest: float) -> Sketch:
    colours, places = palette(), list(range(len(bars)))
    line, size = (_THIN, 11) if len(bars) > _MANY else (_LINE, 13)
    figure = Sketch(2 * _TOP + line * len(bars))
    banded = any(bar.low is not None for bar in bars)
    whiskers = {
        "type": "data",
        "symmetric": False,
        "array": [0 if bar.high is None else bar.high - bar.value for bar in bars],
        "arrayminus": [0 if bar.low is None else bar.value - bar.low for bar in bars],
        "color": colours.ink,
        "thickness": 1.2,
        "width": 3,
    }
    figure.add_trace(
        {
            "type": "bar",
            "y": places,
            "x": [bar.value for bar in bars],
            "orientation": "h",
            "marker": {
                "color": [colours.left if bar.value >= 0 else colours.take for bar in bars],
                "opacity": [0.9 if bar.clear or not banded else 0.35 for bar in bars],
                "line": {"width": 0},
            },
            "hovertext": [
                f"{escape(bar.name, quote=False)}: {bar.told}{f' ({bar.band})' if bar.band else ''}" for bar in bars
            ],
            "hoverinfo": "text",
        }
        | ({"error_x": whiskers} if banded else {})
    )
    names = [
        escape(bar.name if len(bar.name) <= _LONGEST else bar.name[: _LONGEST - 1] + "…", quote=False) for bar in bars
    ]
    figure.update_layout(
        margin={"l": 4, "r": 52, "t": 2, "b": 2},
        hovermode="closest",
        autotypenumbers="strict",
        annotations=[
            {
                "x": 1,
                "xref": "paper",
                "xanchor": "left",
                "xshift": 4,
                "y": place,
                "text": bar.told,
                "showarrow": False,
                "font": {"size": size, "color": colours.ink if bar.clear or not banded else colours.muted},
            }
            for place, bar in enumerate(bars)
        ],
    )
    figure.update_xaxes(visible=False, range=[-widest * 1.02, widest * 1.02])
    figure.add_shape(type="line", x0=0, x1=0, y0=0, y1=1, yref="paper", line={"color": colours.muted, "width": 1})
    figure.update_yaxes(
        autorange="reversed",
        showline=False,
        ticks="outside",
        ticklen=5,
        tickcolor="rgba(0,0,0,0)",
        tickvals=places,
        ticktext=names,
        tickfont={"size": size, "color": colours.ink},
    )
    return figure
