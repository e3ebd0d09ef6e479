"""An answer that is a curve: its picture, the same never falling, and what can be taken along for nothing."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.declared.schema import Ordered
from dpengine.messages import plain, say
from dpengine.messages.numbers import day
from dpengine.released.curves import rising
from ui.parts import exports
from ui.pictures import curve_charts, svg
from ui.words.figures import cut, rounded

TOLD = 5  # places of a curve that its alternative text names


def show(answer: dp.Answer, key: str) -> None:
    """The picture; a switch for a curve that may fall; the synthetic column as a file."""
    query: Any = answer.query
    made_up = query.answer_kind == "column"
    smooth = not made_up and st.toggle(say("curve.smooth"), help=say("curve.smooth_help"), key=f"smooth-{key}")
    draw(query, answer.value, answer.interval, f"chart-{key}", smooth=smooth)
    if made_up:
        short = answer.receipt["charge"]["hash"][:8]
        st.download_button(
            say("curve.csv"),
            exports.column_csv(query, answer.value),
            f"synthetic-{short}.csv",
            "text/csv",
            key=f"column-{key}",
            on_click="ignore",
        )
        st.html(f'<p class="muted">{escape(say("curve.free"))}</p>')


def draw(query: dp.Query, value: dict[str, Any], interval: Any, key: str, smooth: bool = False) -> None:
    xs, heights, lows, highs = traced(query, value, interval)
    if smooth:
        heights, lows, highs = rising(heights, lows, highs)
    column = query.answer_column
    limits = (0.0, 102.0) if query.answer_kind == "column" else None
    curve_charts.band(
        xs,
        heights,
        (lows, highs),
        (column, upright(query)),
        alt(query, xs, heights, lows, highs),
        key,
        stairs=True,
        limits=limits,
    )


def standing(answer: dp.Answer) -> str:
    """The same as a picture that stands alone."""
    query = answer.query
    xs, heights, lows, highs = traced(query, answer.value, answer.interval)
    titles = query.answer_column, upright(query)
    return svg.curve(xs, heights, lows, highs, titles, alt(query, xs, heights, lows, highs))


Traced = tuple[list[Any], list[float], list[float], list[float]]


def traced(query: dp.Query, value: dict[str, Any], interval: Any) -> Traced:
    """The places, the heights there, and the band. A synthetic column starts at nothing and ends at all, and where how
    many rows it is of is not public, its band is the one for the declared size."""
    column = query.facts.schema.ordered(query.answer_column)
    heights = [float(height) for height in value.values()]
    xs = [at(column, name) for name in value]
    if query.answer_kind != "column":
        told = [cut(query, height, interval[name], name) for name, height in value.items()]
        ends = [end for _, end in told]
        return xs, [float(y) for y, _ in told], [float(low) for low, _ in ends], [float(high) for _, high in ends]
    off, first, last = float(query.promise().amount), column.value(0), column.value(column.size - 1)
    if xs[0] != first:
        xs, heights = [first, *xs], [0.0, *heights]
    if xs[-1] != last:
        xs, heights = [*xs, last], [*heights, 100.0]
    return xs, heights, [max(y - off, 0.0) for y in heights], [min(y + off, 100.0) for y in heights]


def at(column: Ordered, name: str) -> float | str:
    """Where a stored name lies: a number, or a day as it is."""
    return name if isinstance(column, dp.Date) else float(Fraction(name))


def upright(query: dp.Query) -> str:
    if query.answer_kind == "column":
        return say("chart.share_below")
    return say(f"chart.{query.counted}_below")


def alt(query: dp.Query, xs: list[Any], heights: list[float], lows: list[float], highs: list[float]) -> str:
    places = sorted({(len(xs) - 1) * step // (TOLD - 1) for step in range(TOLD)})
    names = [day(xs[p]) if isinstance(xs[p], str) else plain(xs[p]) for p in places]
    figures = [rounded(heights[p], lows[p], highs[p]) for p in places]
    pairs = zip(names, figures, strict=True)
    told = "; ".join(say("curve.alt_at", value=name, figure=one) for name, one in pairs)
    return say("curve.alt", column=query.answer_column, figures=told, range=say("curve.alt_band"))
