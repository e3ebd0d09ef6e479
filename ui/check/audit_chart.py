"""Two pictures of a check: each answer's chance on two tables, and the promised, exact and proven loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import Any

from dpengine.core.printed import percent
from dpengine.messages import say
from ui.pictures.charts import show
from ui.pictures.sketch import Sketch
from ui.shell.style import palette

FEW = 12  # up to this many cells are bars; more are lines


@dataclass(frozen=True)
class Side:
    """One table: its name, the exact chances (None without a law), and the shares of the draws."""

    name: str
    exact: list[float] | None
    drawn: list[float]


def both(
    labels: list[str],
    one: Side,
    other: Side,
    times: float,
    delta: float,
    worst: tuple[int, ...],
    title: str,
    alt: str,
    key: str,
) -> None:
    """Each answer's chance on both tables. The soft band shows where the first may lie, given the second; a shade marks
    where the privacy is spent."""
    import plotly.graph_objects as go

    colours, few = palette(), len(labels) <= FEW
    figure = Sketch(330)
    places = list(range(len(labels)))
    for at in worst:
        shade = {"x0": at - 0.5, "x1": at + 0.5, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 0}}
        figure.add_shape(type="rect", fillcolor=colours.take_soft, opacity=0.55, layer="below", **shade)
    if other.exact is not None:
        low = [max(0.0, (q - delta) / times) for q in other.exact]
        high = [min(1.0, times * q + delta) for q in other.exact]
        _band(figure, places, low, high, few)
    for side, colour, away in ((one, colours.left, -0.2), (other, colours.spent, 0.2)):
        look: Any = {"x": [at + (away if few else 0) for at in places], "hovertemplate": "%{y:.2%}<extra></extra>"}
        name = escape(side.name)
        if few:  # without a law, the draws are all there is
            marker = {"color": colour, "opacity": 0.85}
            figure.add_trace(go.Bar(y=side.exact or side.drawn, width=0.36, marker=marker, name=name, **look))
        else:
            line = {"color": colour, "width": 2.5, "shape": "hvh"}
            figure.add_trace(go.Scatter(y=side.exact, mode="lines", line=line, name=name, **look))
        if side.exact is None:
            continue
        look |= {"name": escape(say("check.drawn")), "showlegend": side is one}
        dot = {"size": 9 if few else 6, "color": colours.card, "line": {"width": 2, "color": colour}}
        figure.add_trace(go.Scatter(y=side.drawn, mode="markers", marker=dot, **look))
    step = max(1, math.ceil(len(labels) / (FEW if few else 8)))
    shown = places[::step] if few else places[1:-1:step]
    ticks = {"tickvals": shown, "ticktext": [_wrapped(labels[at]) for at in shown]}
    figure.update_xaxes(**ticks, range=[-0.6, len(labels) - 0.4], showline=True, title={"text": escape(title)})
    top = max(one.drawn + other.drawn + (one.exact or []) + (other.exact or [])) * 1.12
    grain = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if top <= 6 * step or step == 0.2)
    heights = [grain * tick for tick in range(int(top / grain) + 1) if grain * tick < 1.01]
    ticks = {"tickvals": heights, "ticktext": [percent(height) for height in heights]}
    chance = {"text": escape(say("check.axis.chance"))}
    figure.update_yaxes(**ticks, range=[0, top], title=chance, showgrid=True, gridcolor=colours.line)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"color": colours.ink}}
    figure.update_layout(showlegend=True, legend=legend, barmode="overlay")
    show(figure, alt, key)


def _band(figure: Sketch, places: list[int], low: list[float], high: list[float], few: bool) -> None:
    """Boxes behind bars, a strip behind lines."""
    import plotly.graph_objects as go

    colours = palette()
    look: Any = {"hoverinfo": "skip", "name": escape(say("check.band"))}
    if few:
        heights = [b - a for a, b in zip(low, high, strict=True)]
        marker = {"color": colours.left_soft, "line": {"width": 1, "color": colours.left}}
        figure.add_trace(go.Bar(x=[at - 0.2 for at in places], y=heights, base=low, width=0.46, marker=marker, **look))
        return
    xs = [edge for at in places for edge in (at - 0.5, at + 0.5)]
    tops, bottoms = ([height for height in side for _ in range(2)] for side in (high, low))
    look |= {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": colours.left_soft}
    figure.add_trace(go.Scatter(x=xs + xs[::-1], y=tops + bottoms[::-1], **look))


def _wrapped(label: str) -> str:
    """A long label in two lines."""
    words = label.split(" ")
    if len(label) <= 12 or len(words) < 2:
        return escape(label)
    middle = (len(words) + 1) // 2
    return f"{escape(' '.join(words[:middle]))}<br>{escape(' '.join(words[middle:]))}"


def gauge(claim: float, exact: float | None, proven: float, alt: str) -> str:
    """A track of loss: the promise, a tick at the exact loss, a bar up to the proven loss."""
    shown = [claim * 1.35, proven * 1.12, *([] if exact is None or math.isinf(exact) else [exact * 1.08])]
    end = max(shown)

    def at(loss: float) -> str:
        return f"{min(loss / end, 1) * 100:.2f}%"

    kind = "over" if proven > claim else "fine"
    mark = "" if exact is None else f'<i class="exact" style="left:{at(exact)}"></i>'
    return (
        f'<div class="gauge" role="img" aria-label="{escape(alt)}">'
        f'<span class="promised" style="width:{at(claim)}"></span>'
        f'<span class="proven {kind}" style="width:{at(proven)}"></span>{mark}'
        f'<i class="limit" style="left:{at(claim)}"></i></div>'
    )
