"""What goes together where all pairs were bought, or some that a question chose: every two columns in a matrix, and the
clearest pairs in words."""

from __future__ import annotations

from html import escape
from itertools import combinations

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.released import look_groups
from dpengine.released.look import Look
from dpengine.released.look_groups import Apart
from ui.board import board_pairs
from ui.shell import nav

_CLEAREST = 8  # pairs told in words
_SIGNS = {look_groups.CLEAR: "●", look_groups.PERHAPS: "◐", look_groups.UNKNOWN: "·"}


def show(table: dp.Table, found: dp.Answer, look: Look) -> None:
    if look.query.against or not look.paired:
        return
    told = _all(found.receipt["charge"]["hash"], look)
    legend = " ".join(f"{sign} {say(f'board_page.state.{state}')}" for state, sign in _SIGNS.items())
    told_pairs = sum(len(part) == 2 for part in look.marginals)
    some = say("board_page.together_some", pairs=told_pairs, all=len(told)) if told_pairs < len(told) else ""
    names = look.cells
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names[1:])
    rows = ""
    for at, name in enumerate(names[:-1]):
        cells = "".join(_cell(table, found, name, other, told[name, other]) for other in names[at + 1 :])
        rows += f'<tr><th scope="row">{escape(name)}</th>{"<td></td>" * at}{cells}</tr>'
    clear = sorted((pair for pair in told if told[pair].state == look_groups.CLEAR), key=lambda pair: -_gap(told[pair]))
    words = ""
    for one, other in clear[:_CLEAREST]:
        shown = board_pairs.shows(table, found, look, one, other, told[one, other])
        words += f"<li><b>{escape(one)} · {escape(other)}</b> {shown}</li>"
    st.html(
        f"<h2>{escape(say('board_page.together'))}</h2><p class='muted'>{escape(say('board_page.together_lead'))}</p>"
        + (f'<p class="muted">{escape(some)}</p>' if some else "")
        + f'<p class="muted">{escape(legend)}</p>'
        f'<div class="scroll" tabindex="0"><table class="plain matrix"><tr><th></th>{head}</tr>{rows}</table></div>'
        + (f"<ul>{words}</ul>" if words else "")
    )


@st.cache_resource(max_entries=20, show_spinner=False)
def _all(charge: str, _look: Look) -> dict[tuple[str, str], Apart]:
    """Worked out once for all visitors: it is what was paid for, and nothing changes it."""
    return {pair: look_groups.together(_look, *pair) for pair in combinations(_look.cells, 2)}


def _gap(told: Apart) -> float:
    """How far apart two groups are for certain."""
    return (told.most.low or 0.0) - (told.least.high or 0.0) if told.most and told.least else 0.0


def _cell(table: dp.Table, found: dp.Answer, name: str, other: str, told: Apart) -> str:
    if told.state == look_groups.ESTIMATED:
        return "<td></td>"
    words = f"{name}, {other}: {say(f'board_page.state.{told.state}')}"
    sign = f'<span class="state {told.state}" title="{escape(words)}">{_SIGNS.get(told.state, "")}</span>'
    if told.most is None:
        return f"<td>{sign}</td>"
    where = {"look": found.request_id, "by": name, "group": told.most.label}
    link = nav.address("board", table.name, **where)
    return f'<td><a href="{link}" target="_self" aria-label="{escape(words)}">{sign}</a></td>'
