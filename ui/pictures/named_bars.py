"""Horizontal bars with names, each with its value at the end of the line and its interval as a whisker. Bars may go to
both sides of zero. A bar may be a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ui.pictures import charts
from ui.pictures.sketch import Sketch
from ui.shell.style import palette
from ui.words.markup import shortened

_LINE, _THIN = 24, 16
_MANY = 14  # more bars than this are thin
_LONGEST = 18


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
    link: str = ""  # where a click on it leads


def sketch(bars: Sequence[NamedBar], ends: tuple[float, float], estimated: bool = False) -> Sketch:
    """The bars on a scale between `ends`. Bars that are `estimated` have a broken edge."""
    colours, places = palette(), list(range(len(bars)))
    line, size = (_THIN, 11) if len(bars) > _MANY else (_LINE, 13)
    figure = Sketch(line * len(bars), xaxis={"visible": False, "range": [end * 1.02 for end in ends]})
    marker = {
        "color": [getattr(colours, bar.colour) for bar in bars],
        "opacity": [0.4 if bar.faint or estimated else 0.9 for bar in bars],
        "estimated": estimated,
    }
    tips = [
        f"{bar.name}: {bar.label}{f' ({bar.band})' if bar.band else ''}"
        + (f"\n{bar.behind_words}" if bar.behind_words else "")
        for bar in bars
    ]
    trace = {"type": "bar", "y": places, "x": [bar.value for bar in bars], "orientation": "h", "marker": marker}
    links = [bar.link for bar in bars] if any(bar.link for bar in bars) else None
    figure.add_trace(trace | {"tips": tips, "links": links} | _whiskers(bars, colours.ink))
    inks = [colours.muted if bar.faint else colours.ink for bar in bars]
    boxes = {str(place): bar.behind for place, bar in enumerate(bars) if bar.behind is not None}
    values = {str(place): bar.value for place, bar in enumerate(bars)}
    figure.update_layout(
        shapes=charts.behind_boxes(values, boxes, 0.24),
        beside=[(place, bar.label, ink) for place, bar, ink in zip(places, bars, inks, strict=True)],
    )
    if ends[0] < 0:
        edge = {"color": colours.muted, "width": 1}
        figure.add_shape(type="line", x0=0, x1=0, y0=0, y1=1, yref="paper", line=edge)
    names = [escape(shortened(bar.name, _LONGEST), quote=False) for bar in bars]
    span = {"range": [len(bars) - 0.5, -0.5], "tickvals": places, "ticktext": names}
    figure.update_yaxes(**span, tickfont={"size": size})
    return figure


def _whiskers(bars: Sequence[NamedBar], ink: str) -> dict[str, Any]:
    if all(bar.low is None for bar in bars):
        return {}
    above = [0 if bar.high is None else bar.high - bar.value for bar in bars]
    below = [0 if bar.low is None else bar.value - bar.low for bar in bars]
    ends = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
    return {"error_x": ends | {"color": ink, "thickness": 1.4, "width": 3}}
