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
from dpengine.messages import say
from dpengine.planning.alternatives import WayAtOnce, WaysAtOnce
from ui.parts import number_field
from ui.pictures import charts

_DRAWN = {  # colour and stroke of each way
    "ordinary": ("take", "solid"),
    "strong": ("take", "dot"),
    "l2_laplace": ("left", "dash"),
    "gaussian": ("left", "solid"),
}


def pickers(table: dp.Table, offered: list[str], given: dict[str, Any], turn: str) -> dict[str, Any]:
    """Which columns; under *more* how far from the middle a row may be. What cannot be read is left for the engine."""
    wanted, most = given.get("columns"), min(len(offered), MOST_COLUMNS)
    now = [name for name in wanted if name in offered] if isinstance(wanted, list) else offered[:3]
    picked = st.multiselect(
        say("form.numbers"),
        offered,
        list(dict.fromkeys(now))[:most],
        max_selections=most,
        help=say("form.numbers_help", most=MOST_COLUMNS),
        key=f"ask-several{turn}",
    )
    chosen: dict[str, Any] = {"columns": picked}
    before = _percent(given.get("norm"))
    with st.expander(say("form.numbers_more"), expanded=before != "100"):
        st.html(f'<p class="muted">{escape(say("param.norm.help"))}</p>')
        typed = number_field.field(say("param.norm.label"), before, f"ask-norm{turn}", unit="%", width=260)
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


def tell(table: dp.Table, usual: dp.Query, taken: dp.Query) -> None:
    """What each way of drawing them would be worth for this price, in words and against the number of columns. It is
    worked out when somebody looks: the cheapest is taken anyway."""
    if not usual.several_ways:
        return
    with st.expander(say("ways.title"), key="ask-ways", on_change="rerun") as looked:
        if looked.open and (found := table.ways(usual)) is not None:
            _compared(found, taken)


def _compared(found: WaysAtOnce, taken: dp.Query) -> None:
    here = found.here
    told = [(one, percent_up(one.errors[here]) if here in one.errors else say("ways.none")) for one in found.each]
    lines = "".join(
        f"<li>{escape(say(f'ways.{one.name}'))}: <b>{escape(('±' if here in one.errors else '') + error)}</b> "
        f'<span class="muted">{escape(say(f"ways.{one.name}.means"))}</span></li>'
        for one, error in told
    )
    notes = [say("ways.taken", way=say(f"ways.{taken.noise or 'strong'}"))]
    notes += [say("ways.same_length")] if found.cornered else []
    st.html(
        f"<p class='muted'>{escape(say('ways.lead', columns=here))}</p>"
        f"<ul class='ways'>{lines}</ul><p class='muted'>{escape(' '.join(notes))}</p>"
    )
    said = "; ".join(f"{say(f'ways.{one.name}')}: {error}" for one, error in told)
    charts.curves(
        [_line(one, here) for one in found.each if len(one.errors) > 1],
        say("ways.x"),
        say("ways.y"),
        say("ways.alt", told=said),
        "ways-chart",
        height=340,
    )


def _line(one: WayAtOnce, here: int) -> charts.Line:
    points = [(float(many), 100 * float(error)) for many, error in sorted(one.errors.items())]
    mark = (float(here), 100 * float(one.errors[here])) if here in one.errors else None
    colour, dash = _DRAWN[one.name]
    return charts.Line(say(f"ways.{one.name}"), points, mark, colour, dash)
