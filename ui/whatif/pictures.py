"""The same made-up people under both settings: bars with error bars, a range, a curve in its band, or how often each
name is given. Both pictures have the same axes."""

from __future__ import annotations

from typing import Any

from dpengine.messages import called, say
from dpengine.messages.numbers import to_figures
from dpengine.planning.whatif_pictures import Picture
from ui.pictures import charts
from ui.pictures.sketch import Sketch
from ui.shell.style import palette

HEIGHT = 200
COLOURS = {"A": "left", "B": "take"}
Span = tuple[float, float]


def span(pictures: list[Picture]) -> Span:
    """Of a range, twice the widest; of anything else, from nothing to the highest."""
    low, high = min(min(picture.low) for picture in pictures), max(max(picture.high) for picture in pictures)
    if pictures[0].kind != "range":
        return min(low, 0.0), high * 1.06 or 1.0
    pad = (high - low) / 2 or abs(high) * 0.05 or 1.0
    least, most = pictures[0].limits or (low - pad, high + pad)
    return max(low - pad, min(least, low)), min(high + pad, max(most, high))


def show(side: str, picture: Picture, axis: Span, title: str) -> None:
    colours = palette()
    colour, soft = (getattr(colours, COLOURS[side] + end) for end in ("", "_soft"))
    figure = Sketch(HEIGHT)
    {"bars": _bars, "chance": _bars, "range": _range, "curve": _curve}[picture.kind](figure, picture, colour, soft)
    grid = {"showgrid": True, "gridcolor": colours.line, "nticks": 4, "tickformat": ","}
    words = {"title": {"text": charts.text(called(title))}}
    if picture.kind == "range":
        figure.update_yaxes(visible=False, range=[0, 1])
        figure.update_xaxes(range=list(axis), showline=True, ticks="outside", nticks=5, tickformat=",", **words)
    else:
        figure.update_yaxes(range=list(axis), **grid)
        labels = picture.kind != "curve"
        figure.update_xaxes(showline=True, type="category" if labels else "linear", tickformat=",", nticks=8, **words)
    charts.show(figure, said(picture), f"whatif-picture-{side}")


def said(picture: Picture) -> str:
    """The picture in one sentence."""
    place = max(range(len(picture.truth)), key=picture.truth.__getitem__)
    ends = [
        to_figures(value[place], 3 if picture.unit == "percent" else 4)
        for value in (picture.truth, picture.low, picture.high)
    ]
    unit = " %" if picture.unit == "percent" else ""
    facts = dict(zip(("truth", "low", "high"), (end + unit for end in ends), strict=True))
    return say(f"whatif.picture.{picture.kind}", **facts)


def _bars(figure: Sketch, picture: Picture, colour: str, soft: str) -> None:
    look: dict[str, Any] = {"type": "bar", "marker": {"color": colour, "opacity": 0.85}, "hoverinfo": "y"}
    if picture.kind == "bars":
        above = [high - y for y, high in zip(picture.truth, picture.high, strict=True)]
        below = [y - low for y, low in zip(picture.truth, picture.low, strict=True)]
        whiskers = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        look["error_y"] = whiskers | {"color": palette().ink, "thickness": 1.5, "width": 4}
    figure.add_trace(look | {"x": list(picture.at), "y": list(picture.truth)})


def _range(figure: Sketch, picture: Picture, colour: str, soft: str) -> None:
    (truth,), (low,), (high,) = picture.truth, picture.low, picture.high
    edge = {"color": colour, "width": 1}
    figure.add_shape(type="rect", x0=low, x1=high, y0=0.2, y1=0.8, fillcolor=soft, line=edge)
    figure.add_shape(type="line", x0=truth, x1=truth, y0=0.08, y1=0.92, line={"color": colour, "width": 3})
    marks = {"type": "scatter", "mode": "markers", "marker": {"opacity": 0}, "hoverinfo": "x"}
    figure.add_trace(marks | {"x": [low, truth, high], "y": [0.5] * 3})


def _curve(figure: Sketch, picture: Picture, colour: str, soft: str) -> None:
    xs = list(picture.at)
    band = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_trace(band | {"x": xs, "y": list(picture.low)})
    figure.add_trace(band | {"x": xs, "y": list(picture.high), "fill": "tonexty", "fillcolor": soft})
    line = {"type": "scatter", "mode": "lines", "line": {"color": colour, "width": 2.5}, "hoverinfo": "x+y"}
    figure.add_trace(line | {"x": xs, "y": list(picture.truth)})
