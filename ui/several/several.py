"""Several questions: decided now, priced together and run in one go; or reserved, and asked one after another."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.parts import fields
from ui.several import plan, session
from ui.shell import frame, nav
from ui.words import gloss

NOW, AFTER = "now", "after"
_OF_A_SESSION = ("session", *session.FIELDS)  # an address with one of these is a session's


def show(table: dp.Table) -> None:
    view = _view()
    page = {NOW: plan, AFTER: session}[view]
    if page.arrived(table):
        return
    st.html(f"<h1>{escape(say('several.title'))}</h1>")
    frame.pick_table(table, "several")
    fields.choose("several.view", (NOW, AFTER), view, f"several-view-{view}", on_change=_turn, args=(table, view))
    st.html(f'<p class="lead">{gloss.text(say("plan.lead" if view == NOW else "session.lead"))}</p>')
    page.show(table)


def _view() -> str:
    wanted = st.query_params.get(nav.VIEW)
    if wanted in (NOW, AFTER):
        return wanted
    return AFTER if any(name in st.query_params for name in _OF_A_SESSION) else NOW


def _turn(table: dp.Table, view: str) -> None:
    """To the other view: what the address says of this one goes."""
    nav.view(table.name, AFTER if view == NOW else "")
