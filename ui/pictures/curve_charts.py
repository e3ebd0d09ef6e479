"""A curve with its bands, over a column's own values: numbers or days. Released or simulated numbers only.

The outer band is the wider one; an inner band lies on it. Both are drawn below the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from dpengine.messages.numbers import day
from ui.pictures.charts import _figures, _text, show
from ui.pictures.sketch import Sketch
from ui.shell.style import palette

Edges = tuple[Sequence[float], Sequence[float]]  # lowest, highest, one each for every x
DAYS_TOLD = 3  # so many fit a phone


def band(
    xs: Sequence[float | str],
    middle: Sequence[float],
    outer: Edges | None,
    titles: tuple[str, str],
    alt: str,
    key: str,
    *,
    inner: Edges | None = None,
    other: Sequence[float] | None = None,
    stairs: bool = False,
    limits: tuple[float, float] | None = None,
    height: int = 340,
) -> None:
    """`middle` over `xs` (rising; days as ISO text) between its bands; `titles` are those of the two axes.

    `other` is a second curve on the same places, thin. `stairs`: each height holds until the next x. `limits` are the
    ends of the upright axis.
    """
    import plotly.graph_objects as go

    colours = palette()
    stroke, soft = colours.left, colours.left_soft
    shape = "hv" if stairs else "linear"
    figure = Sketch(height)
    for edges, strength in ((outer, 0.55 if inner else 0.9), (inner, 1.0)):
        if edges:
            edge: dict[str, Any] = {"x": xs, "mode": "lines", "line": {"width": 0, "shape": shape}, "hoverinfo": "skip"}
            figure.add_trace(go.Scatter(y=edges[0], **edge))
            figure.add_trace(go.Scatter(y=edges[1], fill="tonexty", fillcolor=_see_through(soft, strength), **edge))
    days = bool(len(xs)) and isinstance(xs[0], str)
    told = [day(str(x)) for x in xs] if days else None
    hover = ("%{text}" if days else "%{x:,}") + " · %{y:,.4~g}<extra></extra>"
    line = {"color": stroke, "width": 2.5, "shape": shape}
    figure.add_trace(go.Scatter(x=xs, y=middle, mode="lines", line=line, text=told, hovertemplate=hover))
    if other is not None:
        thin = {"color": colours.take, "width": 2, "shape": shape, "dash": "dot"}
        figure.add_trace(go.Scatter(x=xs, y=other, mode="lines", line=thin, text=told, hovertemplate=hover))
    if days:
        ticks = _some_days(str(xs[0]), str(xs[-1]))
        figure.update_xaxes(type="date", tickvals=ticks, ticktext=[day(tick) for tick in ticks], tickangle=0)
    else:
        span = (float(xs[0]), float(xs[-1])) if len(xs) else (0.0, 1.0)
        figure.update_xaxes(tickformat=_figures(span), nticks=8)
    figure.update_xaxes(showline=True, ticks="outside", title={"text": _text(titles[0])})
    figure.update_yaxes(
        title={"text": _text(titles[1])},
        tickformat=",",
        showgrid=True,
        gridcolor=colours.line,
        nticks=6,
        zeroline=True,
        zerolinecolor=colours.line,
        range=None if limits is None else list(limits),
    )
    show(figure, alt, key)


def _see_through(colour: str, strength: float) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength})"


def _some_days(first: str, last: str) -> list[str]:
    low, high = date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal()
    places = {low + (high - low) * (2 * place + 1) // (2 * DAYS_TOLD) for place in range(DAYS_TOLD)}
    return [date.fromordinal(place).isoformat() for place in sorted(places)]
