"""Averages of several columns at once: their pickers, the ways to draw them before anything is spent, and each on the
declared range of its own column."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import Unread, read_number, text_of
from dpengine.core.printed import percent_up
from dpengine.mechanisms.sums.vector_mean import MOST_COLUMNS
from dpengine.messages import called, say
from dpengine.planning.alternatives import WayAtOnce, WaysAtOnce
from ui.parts import fields
from ui.pictures import charts
from ui.shell.frame import paragraph

_DRAWN = {  # colour and stroke of each way
    "ordinary": ("take", "solid"),
    "strong": ("take", "dot"),
    "l2_laplace": ("left", "dash"),
    "gaussian": ("left", "solid"),
}


def pickers(offered: list[str], given: dict[str, Any], turn: str) -> dict[str, Any]:
    """Draw a picker of columns and, under *more*, a field for the largest distance of a row from the middle. Returns
    the chosen parameters."""
    wanted, most = given.get("columns"), min(len(offered), MOST_COLUMNS)
    now = [name for name in wanted if name in offered] if isinstance(wanted, list) else offered[:3]
    label, note = say("form.numbers"), say("form.numbers_help", most=MOST_COLUMNS)
    now = list(dict.fromkeys(now))[:most]
    picked = st.multiselect(label, offered, now, called, max_selections=most, help=note, key=f"ask-several{turn}")
    chosen: dict[str, Any] = {"columns": picked}
    before = _percent(given.get("norm"))
    with st.expander(say("form.numbers_more"), expanded=before != "100"):
        paragraph(say("param.norm.help"))
        typed = fields.number_field(say("param.norm.label"), before, f"ask-norm{turn}", unit="%", width=260)
    if typed not in ("", "100"):
        chosen["norm"] = typed if isinstance(typed, Unread) else _share(typed)
    return chosen


def _percent(norm: Any) -> str:
    try:
        return "100" if norm in (None, "") else text_of(read_number(norm, "") * 100)
    except dp.AllowanceError:
        return str(norm)


def _share(typed: str) -> str:
    try:
        return text_of(read_number(typed, say("param.norm.label")) / 100)
    except dp.AllowanceError:
        return typed


def note(table: dp.Table, usual: dp.Query, taken: dp.Query) -> None:
    """Draw an expander with the accuracy of each way of adding noise at this price, in words and by the number of
    columns. This is computed only when the expander is opened: the cheapest way is used anyway."""
    if not usual.several_ways:
        return
    with st.expander(say("ways.title"), key="ask-ways", on_change="rerun") as looked:
        if looked.open and (found := table.ways(usual)) is not None:
            _compared(found, taken)


def _compared(found: WaysAtOnce, taken: dp.Query) -> None:
    here = found.here
    errors = [(way, percent_up(way.errors[here]) if here in way.errors else say("ways.none")) for way in found.each]
    lines = "".join(
        f"<li>{escape(say(f'ways.{way.name}'))}: <b>{escape(('±' if here in way.errors else '') + error)}</b> "
        f'<span class="muted">{escape(say(f"ways.{way.name}.means"))}</span></li>'
        for way, error in errors
    )
    notes = [say("ways.taken", way=say(f"ways.{taken.noise or 'strong'}"))]
    notes += [say("ways.same_length")] if found.cornered else []
    st.html(
        f"<p class='muted'>{escape(say('ways.lead', columns=here))}</p>"
        f"<ul class='ways'>{lines}</ul><p class='muted'>{escape(' '.join(notes))}</p>"
    )
    summary = "; ".join(f"{say(f'ways.{way.name}')}: {error}" for way, error in errors)
    curves, axes = [_line(way, here) for way in found.each if len(way.errors) > 1], (say("ways.x"), say("ways.y"))
    charts.curves(curves, *axes, say("ways.alt", summary=summary), "ways-chart", height=340)


def _line(way: WayAtOnce, here: int) -> charts.Line:
    points = [(float(many), 100 * float(error)) for many, error in sorted(way.errors.items())]
    mark = (float(here), 100 * float(way.errors[here])) if here in way.errors else None
    colour, dash = _DRAWN[way.name]
    return charts.Line(say(f"ways.{way.name}"), points, mark, colour, dash)
