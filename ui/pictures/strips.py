"""Figures of several columns, each as a mark with its range on a strip that stands for its column's declared range. It
is given figures as they are to be read. Plain boxes: Streamlit takes drawings out of its HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dpengine.messages import say


@dataclass(frozen=True)
class Strip:
    name: str
    figure: str
    low: str
    high: str
    lower: str  # the ends of the declared range
    upper: str
    places: tuple[float, float, float]  # of low, figure and high, as shares of that range
    mute: bool  # the range says nothing, and neither does the figure
    note: str = ""  # on how the cells behind it fit


def html_of(strips: Sequence[Strip]) -> str:
    head = (
        f'<tr><th scope="col">{escape(say("strips.head.column"))}</th>'
        f'<th scope="col" class="number">{escape(say("answer.column.value"))}</th>'
        f'<th scope="col" class="number">{escape(say("answer.column.range"))}</th></tr>'
    )
    return f'<div class="scroll"><table class="plain strips">{head}{"".join(map(_row, strips))}</table></div>{_STYLE}'


def _row(one: Strip) -> str:
    words = {"column": one.name, "figure": one.figure, "low": one.low, "high": one.high}
    alt = say("strips.alt", lower=one.lower, upper=one.upper, **words)
    note = f'<p class="warn fit">{escape(one.note)}</p>' if one.note else ""
    return (
        f'<tr><th scope="row">{escape(one.name)}</th><td class="number"><b>{escape(one.figure)}</b></td>'
        f'<td class="number">{escape(one.low)} – {escape(one.high)}</td></tr>'
        f'<tr><td class="strip" colspan="3"><div role="img" aria-label="{escape(alt)}">{_drawn(one)}</div>'
        f"<small><span>{escape(one.lower)}</span><span>{escape(one.upper)}</span></small>{note}</td></tr>"
    )


def _drawn(one: Strip) -> str:
    low, at, high = (min(max(100 * place, 0.0), 100.0) for place in one.places)
    bar = f"<i class='reach' style='left:{min(low, 99):.2f}%;width:{max(high - low, 0.6):.2f}%'></i>"
    mark = "" if one.mute else f"<i class='mark' style='left:{at:.2f}%'></i>"
    return f"<div class='line'>{bar}{mark}</div>"


_STYLE = """<style>table.strips th[scope=row]{text-align:left;font-weight:400}
table.strips tr:has(+ tr td.strip) > *{border-bottom:0;padding-bottom:0}
table.strips .line{position:relative;height:14px;background:var(--line);border-radius:3px}
table.strips .reach{position:absolute;top:0;height:14px;min-width:9px;background:var(--left-soft);border-radius:3px;
border:1px solid var(--left);box-sizing:border-box}
table.strips .mark{position:absolute;top:-3px;width:3px;margin-left:-1px;height:20px;background:var(--left)}
table.strips small{display:flex;justify-content:space-between;color:var(--muted)}</style>"""
