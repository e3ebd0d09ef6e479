"""What a workshop changes on every page: a banner, no own data, and the truth beside a private answer.

Each part first asks whether the app is a workshop (ui/shell/workshop_state.py). The truth comes from a bundled file
(demos/truth.py), never from a table of the workspace, so nothing else has one to show.
"""

from __future__ import annotations

import threading
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import plain, say
from ui.shell import nav, speed, state, workshop_state
from ui.shell.frame import page_head, paragraph


def warm() -> None:
    """Load the sample tables, and ask each a question, before thirty people do that at once; in a workshop only."""
    if workshop_state.on():
        threading.Thread(target=_bring, daemon=True, name="warm").start()


def _bring() -> None:
    from dpengine.storage.samples import SAMPLES

    for name in SAMPLES:
        table = state.workspace().table(name, visitor="nobody")
        for query in table.suggestions()[:1]:
            table.ask(query)
    speed.settle(again=True)


def banner() -> None:
    """Draw the banner of a workshop. It stands on every page, before everything else."""
    if workshop_state.on():
        html = f"<b>{escape(say('workshop.banner'))}</b> {escape(say('workshop.banner_means'))}"
        st.html(f'<div class="workshop" role="note">{html}</div>')


def instead_of_data() -> None:
    """Draw the link that adds a table, for people who may do that; in a workshop, the link to the wall."""
    if workshop_state.on():
        st.page_link(nav.page("wall"), label=say("workshop.wall_link"))
    elif state.may("add_table"):
        st.page_link(nav.page("data"), label=say("start.own"))


def refuse_data() -> None:
    """In a workshop, say that no tables are added, and stop the page; the workspace refuses new tables too. Existing
    tables can be opened."""
    if workshop_state.on() and not st.query_params.get("table"):
        page_head(say("page.data"), say("workshop.no_tables"))
        instead_of_data()
        st.stop()


def truth_beside(answer: dp.Answer) -> None:
    if not workshop_state.on():
        return
    from demos import truth

    if truth.tellable(answer.query):
        paragraph(say("workshop.truth", truth=plain(figure(truth.of(answer.query)))), "warn workshop-truth")


def figure(value: float) -> int | float:
    """A true value as it is printed beside private answers: whole numbers whole, others to a tenth."""
    return int(value) if value == int(value) else round(value, 1)


def nothing_left() -> str:
    return say("workshop.exhausted" if workshop_state.on() else "ask.nothing_left")
