"""What goes together: each column against the columns of interest, as far as the ranges tell."""

from __future__ import annotations

import math
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.numbers import local
from dpengine.released import look_groups
from dpengine.released.look import Figure, Look
from dpengine.released.look_groups import Apart
from ui.shell import nav

_NARROW = 2  # percentage points
_ORDER = (look_groups.CLEAR, look_groups.PERHAPS, look_groups.UNKNOWN, look_groups.ESTIMATED)


def show(table: dp.Table, found: dp.Answer, look: Look) -> None:
    against = look.query.against
    if not against or len(look.cells) < 2:
        return
    names = [name for name in look.cells if list(against) != [name]]
    told = _all(found.receipt["charge"]["hash"], look)
    names.sort(key=lambda name: min(_ORDER.index(one.state) for one in told[name].values()))
    shown = [name for name in names if any(one.most is not None for one in told[name].values())]
    head = "".join(f"<th>{escape(say('board_page.with', column=name))}</th>" for name in against)
    rows = "".join(_row(table, found, look, name, told[name]) for name in shown)
    matrix = (
        f'<div class="scroll" tabindex="0"><table class="plain pairs"><tr><th>{escape(say("board_page.column"))}</th>'
        f"{head}</tr>{rows}</table></div>"
    )
    rest = [name for name in names if name not in shown]
    hidden = say("board_page.rest_unknown", columns=rest, against=list(against)) if rest else ""
    st.html(
        f"<h2>{escape(say('board_page.together'))}</h2><p class='muted'>{escape(say('board_page.together_lead'))}</p>"
        + (matrix if shown else "")
        + (f"<p>{_pill(look_groups.UNKNOWN)} {escape(hidden)}</p>" if rest else "")
    )


@st.cache_resource(max_entries=50, show_spinner=False)
def _all(charge: str, _look: Look) -> dict[str, dict[str, Apart]]:
    """Worked out once for all visitors: it is what was paid for, and nothing changes it."""
    against = _look.query.against
    return {
        name: {other: look_groups.together(_look, name, other) for other in against if other != name}
        for name in _look.cells
        if list(against) != [name]
    }


def _pill(state: str) -> str:
    return f'<span class="state {state}">{escape(say(f"board_page.state.{state}"))}</span>'


def _row(table: dp.Table, found: dp.Answer, look: Look, name: str, with_each: dict[str, Apart]) -> str:
    cells = ""
    for other in look.query.against:
        if other == name:
            cells += "<td></td>"
            continue
        told = with_each[other]
        cells += f"<td>{_pill(told.state)} {shows(table, found, look, name, other, told)}</td>"
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


def shows(table: dp.Table, found: dp.Answer, look: Look, name: str, other: str, told: Apart) -> str:
    """Where it shows most; a link to the board of that group."""
    if told.most is None or told.least is None:
        return ""
    groups = dict(zip(look.query.cell_labels[look.place(name)], look.query.cell_names(look.place(name)), strict=True))
    values = dict(zip(look.query.cell_labels[look.place(other)], look.query.cell_names(look.place(other)), strict=True))
    most, least = (
        say("board_page.share_of", share=_figure(one), group=groups[one.label]) for one in (told.most, told.least)
    )
    where = {"look": found.request_id, "by": name, "group": told.most.label}
    link = f'<a href="{nav.address("board", table.name, **where)}" target="_self">{escape(say("board_page.look"))}</a>'
    return f"{escape(say('board_page.shows', value=values[told.value], most=most, least=least))} {link}"


def _figure(one: Figure) -> str:
    """In whole percents, or in tenths where they are known; the range is rounded outwards."""
    low, high = 100 * (one.low or 0.0), 100 * (1.0 if one.high is None else one.high)
    grain = 1 if high - low >= _NARROW else 10
    ends = math.floor(low * grain) / grain, math.ceil(high * grain) / grain
    first, middle, last = (local(f"{end:.{grain // 10}f}") for end in (ends[0], 100 * one.value, ends[1]))
    return f"{middle} % ({first}–{last})"
