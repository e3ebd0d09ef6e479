"""Charts in one palette: possible answers, an answer with its interval, bars with whiskers, curves, the burn-down.

They get released or simulated numbers and public labels only. Each has a text alternative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from html import escape
from math import ceil, floor, log10
from typing import Any

import streamlit as st

from dpengine.core.printed import percent, power_of_ten
from dpengine.messages import say
from dpengine.messages.numbers import day, local
from ui.pictures import many, zoom
from ui.pictures.sketch import Sketch
from ui.shell.frame import paragraph
from ui.shell.style import palette
from ui.words.figures import rounded

# A picture above one axis.
FLAT: dict[str, Any] = {"yaxis": {"visible": False, "range": [0, 1]}}


def show(figure: Sketch, alt: str, key: str, words: str = "") -> None:
    if not zoom.shown(figure, alt, key):
        st.html(figure.html(alt, key))
    if words:
        paragraph(words)


def text(words: str) -> str:
    """Text escaped for Plotly, which reads labels and titles as HTML."""
    return escape(words, quote=False)


def _figures(span: Sequence[float]) -> str:
    """The number format of an axis. One that could hold years has no commas: 1950, but 12,000."""
    return "" if span[0] >= 1_500 and span[1] < 2_200 else ","


def _across(figure: Sketch, title: str, **look: Any) -> None:
    """Style the horizontal axis: a line, and the title."""
    figure.update_xaxes(showline=True, title={"text": text(title)}, **look)


def dots(values: list[float], title: str, alt: str, key: str, span: tuple[float, float] | None = None) -> None:
    """Draw each simulated answer as a dot; equal answers are stacked."""
    low, high = min(values), max(values)
    width = max(high - low, 1e-9)
    cell = width / 24 if span is None else (span[1] - span[0]) / 60
    stacked: Counter[int] = Counter()
    xs, ys = [], []
    for value in sorted(values):
        place = round((value - low) / cell)
        stacked[place] += 1
        xs.append(low + place * cell)
        ys.append(stacked[place])
    tall = max(stacked.values())
    marker = {"size": min(10, 160 / tall), "color": palette().muted, "opacity": 0.75}
    figure = Sketch(210, yaxis={"visible": False, "range": [0.2, max(tall, 8) + 0.8]})
    figure.add_scatter(x=xs, y=ys, mode="markers", marker=marker)
    span = span or (low - width * 0.6, high + width * 0.6)
    _across(figure, title, range=span, tickformat=_figures(span))
    show(figure, alt, key)


def point(
    value: float,
    interval: tuple[float, float] | None,
    title: str,
    alt: str,
    key: str,
    limits: tuple[float, float] | None = None,
    ends: tuple[str, str] | None = None,
    behind: tuple[float, float] | None = None,
) -> None:
    """Draw one answer on its axis, its interval as a soft band with its `ends` as labels, and a lighter band
    (`behind`). The axis shows all of both bands, so that nobody takes them for certainty, and little beyond what is
    possible."""
    colours = palette()
    low, high = interval or (value, value)
    inner, wide = (low, high), high - low
    if behind:
        low, high = min(low, behind[0]), max(high, behind[1])
        wide = high - low
    pad = wide or max(abs(value) * 0.1, 1e-9)
    least, most = limits or (low - pad, high + pad)
    room = wide * 0.2
    span = [min(low - room, max(low - pad, least)), max(high + room, min(high + pad, most))]
    figure = Sketch(160, **FLAT)
    edge = {"color": colours.left, "width": 1}
    if behind:
        light, dots = _see_through(colours.left_soft, 0.45), edge | {"dash": "dot"}
        x0, x1 = behind
        figure.add_shape(type="rect", x0=x0, x1=x1, y0=0.27, y1=0.5, fillcolor=light, line=dots)
    if interval:
        x0, x1 = inner
        figure.add_shape(type="rect", x0=x0, x1=x1, y0=0.15, y1=0.62, fillcolor=colours.left_soft, line=edge)
    figure.add_shape(type="line", x0=value, x1=value, y0=0.05, y1=0.72, line={"color": colours.left, "width": 3})
    if wide and ends:
        look = {"y": 0.74, "yanchor": "bottom", "font": {"color": colours.ink}}
        labels = zip(inner, ends, strict=True)
        figure.update_layout(annotations=[look | {"x": at, "text": text(words)} for at, words in labels])
    _across(figure, title, range=span, tickformat=_figures(span))
    show(figure, alt, key)


def bars(
    values: dict[str, float],
    intervals: dict[str, tuple[float, float]] | None,
    title: str,
    alt: str,
    key: str,
    faint: Collection[str] = (),
    behind: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Draw horizontal bars with whiskers, in the declared order; if there are very many, the largest. A bar without a
    value says that it says nothing. Bars in `faint` may be zero and are grey. `behind` has longer, lighter ranges."""
    colours, of = palette(), len(values)
    values, intervals = _few(values, intervals, True)
    labels = _labels(values)
    numbers = list(values.values())
    grey = [name in faint for name in values]
    whiskers = {}
    if intervals:
        ends = [(0, 0) if value is None else intervals[name] for name, value in values.items()]
        pairs = [(value or 0, *end) for value, end in zip(numbers, ends, strict=True)]
        above, below = [high - value for value, _, high in pairs], [value - low for value, low, _ in pairs]
        look = {"color": colours.ink, "thickness": 1.5, "width": 4}
        whiskers = {"error_x": look | {"type": "data", "symmetric": False, "array": above, "arrayminus": below}}
    figure = Sketch(max(120, 60 + 30 * len(labels)))
    marker = {
        "color": [colours.muted if is_faint else colours.left for is_faint in grey],
        "opacity": [0.4 if is_faint else 0.85 for is_faint in grey],
    }
    figure.add_bar(y=labels, x=numbers, orientation="h", marker=marker, tips=_tips(values, intervals), **whiskers)
    figure.update_layout(annotations=[_silent(0, at, "left") for at, value in enumerate(numbers) if value is None])
    figure.update_layout(shapes=behind_boxes(values, behind, 0.16))
    figure.update_yaxes(autorange="reversed", type="category")  # labels may look like numbers
    _across(figure, title, zeroline=True, zerolinecolor=colours.line)
    seen = any(is_faint and value for is_faint, value in zip(grey, numbers, strict=True))  # a bar of 0 has no colour
    words = (many.words(len(values), of, True), say("many.grey") if seen else "")
    show(figure, alt, key, " ".join(filter(None, words)))


def ranges(
    values: dict[str, float | None],
    intervals: dict[str, tuple[float, float]] | None,
    title: str,
    alt: str,
    key: str,
    behind: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Draw one answer per line: a tick on its interval, as a soft band, for values that do not start at zero. An
    interval without a value says that it says nothing. Of very many, the first are drawn."""
    colours, of = palette(), len(values)
    values, intervals = _few(values, intervals, False)
    labels, names = _labels(values), list(values)
    figure = Sketch(max(120, 60 + 32 * len(labels)))
    span = informative_span(values, {**(intervals or {}), **(behind or {})})
    tick, band = colours.left, colours.left_soft
    look = {"type": "rect", "fillcolor": band, "line": {"width": 0}, "layer": "below"}
    shapes, notes = [], []
    for place, (label, (low, high)) in enumerate(zip(labels, (intervals or {}).values(), strict=False)):
        ends = {"x0": low, "x1": high, "y0": place - 0.28, "y1": place + 0.28, "name": label}
        shapes.append(look | ends | {"opacity": 0.4 if values[names[place]] is None else 1})
        if values[names[place]] is None:
            notes.append(_silent(0.5, place, "center"))
    shapes = behind_boxes(values, behind, 0.14) + shapes
    figure.update_layout(shapes=shapes, annotations=notes)  # all at once, because each addition copies the ones before
    marker = {"symbol": "line-ns", "size": 20, "line": {"width": 3, "color": tick}}
    tips = _tips(values, intervals)
    figure.add_scatter(x=[*values.values()], y=labels, mode="markers", marker=marker, tips=tips)
    figure.update_yaxes(autorange="reversed", type="category")
    _across(figure, title, range=span)
    show(figure, alt, key, many.words(len(values), of, False))


def behind_boxes(
    values: Mapping[str, Any], behind: Mapping[str, tuple[float, float]] | None, half: float
) -> list[dict[str, Any]]:
    """Boxes for the lighter ranges, for bars that have a value. `half` is half of a box's height."""
    colours = palette()
    look: dict[str, Any] = {"type": "rect", "fillcolor": _see_through(colours.left_soft, 0.6), "layer": "above"}
    look |= {"line": {"color": colours.left, "width": 1, "dash": "dot"}, "opacity": 0.8}
    places = [(place, name) for place, name in enumerate(values) if values[name] is not None and name in (behind or {})]
    return [
        look | {"x0": behind[name][0], "x1": behind[name][1], "y0": place - half, "y1": place + half}
        for place, name in places
        if behind is not None
    ]


def _few(values: dict[str, Any], intervals: dict[str, Any] | None, largest: bool) -> tuple[dict[str, Any], Any]:
    labels = many.drawn(values, largest)
    return {label: values[label] for label in labels}, intervals and {label: intervals[label] for label in labels}


def informative_span(values: Mapping[str, Any], intervals: Mapping[str, Any] | None) -> list[float] | None:
    """The ends of an axis over the values that say something; None if all do. A group that says nothing does not
    stretch this axis."""
    telling = {name: value for name, value in values.items() if value is not None}
    ends = [end for name, value in telling.items() for end in (value, *(intervals or {}).get(name, ()))]
    if len(ends) == 0 or None not in values.values() or any(isinstance(end, str) for end in ends):
        return None
    pad = max((max(ends) - min(ends)) * 0.06, abs(max(ends)) * 1e-6, 1e-9)
    return [float(min(ends)) - pad, float(max(ends)) + pad]


def _tips(values: Mapping[str, Any], intervals: Mapping[str, Any] | None) -> list[str]:
    """Each name with its value, printed as values are printed everywhere."""
    words = []
    for name, value in values.items():
        if value is None or isinstance(value, str):
            figure = say("answer.nothing") if value is None else day(value)
        else:
            figure = rounded(value, *(intervals or {}).get(name, (value, value)))
        words.append(f"{name}: {figure}")
    return words


def _silent(at: float, place: int, anchor: str) -> dict[str, Any]:
    """The note in place of a value that says nothing, within the axis of the others."""
    words = {"text": text(say("answer.nothing")), "font": {"color": palette().muted}}
    return words | {"x": at, "xref": "x domain", "xanchor": anchor, "y": place}


def _labels(values: Iterable[str]) -> list[str]:
    """The names as labels: long ones are cut, and zero-width spaces keep cut names that are equal apart."""
    short = [text(label if len(label) <= 28 else label[:27] + "…") for label in values]
    alike: Counter[str] = Counter()
    for place, label in enumerate(short):
        short[place] += chr(0x200B) * alike[label]
        alike[label] += 1
    return short


@dataclass(frozen=True)
class Line:
    """One curve of `curves`; its `mark` is a dot at the present setting."""

    name: str
    points: list[tuple[float, float]]
    mark: tuple[float, float] | None = None
    colour: str = "left"  # a name in the palette
    dash: str = "solid"
    margin: float = 0  # a soft band to both sides
    band: tuple[tuple[float, float], ...] = ()  # a band with its own two ends at every point


def curves(
    lines: list[Line],
    x_title: str,
    y_title: str,
    alt: str,
    key: str,
    height: int = 300,
    shares: tuple[float, float] | None = None,
    even: bool = False,
) -> None:
    """Draw curves on log axes, named if there are several; a dot marks the present setting. `shares` are the ends of a
    vertical axis in percent instead of a log axis; `even` makes both axes linear."""
    figure = Sketch(height)
    for line in lines:  # bands lie below all curves
        ends = line.band or [(y - line.margin, y + line.margin) for _, y in line.points if line.margin]
        if ends:
            xs = [x for x, _ in line.points]
            edge = [low for low, _ in ends] + [high for _, high in reversed(ends)]
            look = {"mode": "lines", "line": {"width": 0}, "showlegend": False}
            look |= {"fill": "toself", "opacity": 0.45, "fillcolor": getattr(palette(), f"{line.colour}_soft")}
            figure.add_scatter(x=xs + xs[::-1], y=edge, **look)
    for line in lines:
        colour = getattr(palette(), line.colour)
        drawn = [(x, y) for x, y in line.points if even or (x > 0 and y > 0)]
        xs, ys = [x for x, _ in drawn], [y for _, y in drawn]
        stroke = {"color": colour, "width": 2.5, "dash": line.dash}
        figure.add_scatter(x=xs, y=ys, mode="lines", line=stroke, name=text(line.name))
        if line.mark and line.mark[1] > 0:
            dot = {"size": 13, "color": colour, "line": {"width": 2, "color": palette().card}}
            look = {"mode": "markers", "marker": dot, "showlegend": False}
            figure.add_scatter(x=[line.mark[0]], y=[line.mark[1]], name=text(line.name), **look)
    grid = {"type": "log", "showgrid": True, "gridcolor": palette().line}
    for update, title, at in ((figure.update_xaxes, x_title, 0), (figure.update_yaxes, y_title, 1)):
        ticks = _decades([point[at] for line in lines for point in line.points if point[at] > 0])
        update(title={"text": text(title)}, tickvals=ticks, ticktext=[_tick(tick) for tick in ticks], **grid)
    if even:
        xs = [x for line in lines for x, _ in line.points]
        few = max(xs) <= 10 and all(x == int(x) for x in xs)  # whole steps, with nothing between them
        figure.update_xaxes(type="linear", tickvals=None, ticktext=None, dtick=1 if few else None)
        figure.update_yaxes(type="linear", tickvals=None, ticktext=None)
    if shares:
        ticks = [tick / 10 for tick in range(ceil(shares[0] * 10), floor(shares[1] * 10) + 1)]
        figure.update_yaxes(type="linear", range=list(shares), tickvals=ticks, ticktext=[*map(percent, ticks)])
        figure.update_layout(tell=(None, percent))
    figure.update_layout(showlegend=len(lines) > 1)
    show(figure, alt, key)


def _decades(values: list[float]) -> list[float]:
    """Powers of ten along an axis, with 2 and 5 times each if there are few."""
    if not values:
        return []
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    between = (1, 2, 5) if high - low <= 2 else (1,)
    return [float(f"{digit}e{power}") for power in range(low, high + 1) for digit in between]


def _tick(tick: float) -> str:
    """A tick as text, such as 1,000 or 0.01; below a hundred-thousandth as a power of ten."""
    if tick < 1e-5:
        return power_of_ten(Fraction(f"{tick:.0e}"))
    return local(f"{tick:,.0f}" if tick >= 1 else f"{tick:.10f}".rstrip("0"))


# --- a curve with its bands, over a column's own values: numbers or days. The inner band lies on the outer one; both
# lie below the curve.

Edges = tuple[Sequence[float], Sequence[float]]  # lowest and highest, one of each for every x
DAY_LABELS = 3  # labels that fit a phone


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
    """Draw the curve `middle` over `xs` (rising; days as ISO text) between its bands; `titles` name the two axes.

    `other` is a second, thin curve. `stairs`: each height holds until the next x. `limits` are the ends of the vertical
    axis."""
    colours = palette()
    stroke, soft = colours.left, colours.left_soft
    shape = "hv" if stairs else "linear"
    figure = Sketch(height)
    for edges, strength in ((outer, 0.55 if inner else 0.9), (inner, 1.0)):
        if edges:
            edge: dict[str, Any] = {"x": xs, "mode": "lines", "line": {"width": 0, "shape": shape}}
            figure.add_scatter(y=edges[0], **edge)
            figure.add_scatter(y=edges[1], fill="tonexty", fillcolor=_see_through(soft, strength), **edge)
    days = bool(len(xs)) and isinstance(xs[0], str)
    line = {"color": stroke, "width": 2.5, "shape": shape}
    figure.add_scatter(x=xs, y=middle, mode="lines", line=line)
    if other is not None:
        thin = {"color": colours.take, "width": 2, "shape": shape, "dash": "dot"}
        figure.add_scatter(x=xs, y=other, mode="lines", line=thin)
    if days:
        low, high = date.fromisoformat(str(xs[0])).toordinal(), date.fromisoformat(str(xs[-1])).toordinal()
        places = {low + (high - low) * (2 * place + 1) // (2 * DAY_LABELS) for place in range(DAY_LABELS)}
        ticks = [date.fromordinal(place).isoformat() for place in sorted(places)]
        figure.update_xaxes(type="date", tickvals=ticks, ticktext=[day(tick) for tick in ticks])
    else:
        span = (float(xs[0]), float(xs[-1])) if len(xs) else (0.0, 1.0)
        figure.update_xaxes(tickformat=_figures(span), nticks=8)
    _across(figure, titles[0])
    grid = {"showgrid": True, "gridcolor": colours.line, "zeroline": True, "zerolinecolor": colours.line}
    ends = None if limits is None else list(limits)
    figure.update_yaxes(title={"text": text(titles[1])}, nticks=6, range=ends, **grid)
    show(figure, alt, key)


def _see_through(colour: str, strength: float) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength})"
