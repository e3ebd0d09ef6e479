"""Small pictures of the board: a bar for each value with its error bar; clicking one picks that group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import streamlit as st

from ui.board.board_figures import Bar
from ui.pictures.sketch import Sketch
from ui.shell.style import palette

_LINE, _THIN, _TOP = 24, 15, 10
_MANY = 14  # bars, above which they are thin
_LONGEST = 18
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


def show(
    bars: Sequence[Bar],
    alt: str,
    key: str,
    pick: Callable[[str], None] | None = None,
    marked: str = "",
    full: float = 0,
) -> None:
    """`pick` is told the stored label of a bar that was clicked; `marked` is the group that is picked."""
    figure = sketch(bars, marked, full)

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points and pick is not None:
            pick(bars[int(points[0]["point_index"])].label)

    shared: dict[str, Any] = {"config": _CONFIG, "theme": None, "alt": alt, "key": key}
    if pick is None:
        st.plotly_chart(figure.figure(), **shared)
    else:
        st.plotly_chart(figure.figure(), on_select=clicked, selection_mode="points", **shared)


def sketch(bars: Sequence[Bar], marked: str = "", full: float = 0) -> Sketch:
    colours = palette()
    places = list(range(len(bars)))
    whiskers = {}
    if any(bar.low is not None for bar in bars):
        whiskers["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": [(bar.high or bar.value) - bar.value for bar in bars],
            "arrayminus": [bar.value - (bar.value if bar.low is None else bar.low) for bar in bars],
            "color": colours.ink,
            "thickness": 1.5,
            "width": 3,
        }
    fill = [
        colours.spent
        if bar.label == marked
        else colours.take
        if bar.extra
        else colours.muted
        if bar.faint
        else colours.left
        for bar in bars
    ]
    estimated = all(bar.low is None for bar in bars)
    small = len(bars) > _MANY
    line, size = (_THIN, 11) if small else (_LINE, 13)
    figure = Sketch(2 * _TOP + line * len(bars))
    figure.add_trace(
        dict(
            type="bar",
            y=places,
            x=[bar.value for bar in bars],
            orientation="h",
            marker={
                "color": fill,
                "opacity": [0.45 if bar.faint or estimated else 0.9 for bar in bars],
                "line": {"width": 0},
                "pattern": {"shape": "/" if estimated else "", "fillmode": "overlay", "size": 10, "solidity": 0.2},
            },
            unselected={"marker": {"opacity": 0.9}},
            hovertext=[
                f"{escape(bar.name, quote=False)}: {bar.told} {f'({bar.range})' if bar.range else ''}" for bar in bars
            ],
            hoverinfo="text",
            **whiskers,
        )
    )
    most = full or max([bar.value if bar.high is None else bar.high for bar in bars], default=1.0) or 1.0
    names = [
        escape(bar.name if len(bar.name) <= _LONGEST else bar.name[: _LONGEST - 1] + "…", quote=False) for bar in bars
    ]
    figure.update_layout(
        margin={"l": 4, "r": 58, "t": 2, "b": 2},
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
                "font": {"size": size, "color": colours.muted if bar.faint else colours.ink},
            }
            for place, bar in enumerate(bars)
        ],
    )
    figure.update_xaxes(visible=False, range=[0, most * 1.02])
    figure.update_yaxes(
        autorange="reversed",
        showline=False,
        ticks="outside",
        ticklen=5,
        tickcolor="rgba(0,0,0,0)",
        tickmode="array",
        tickvals=places,
        ticktext=names,
    )
    figure.update_layout(yaxis={"tickfont": {"size": size, "color": colours.ink}})
    return figure
