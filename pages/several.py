"""Several questions: decided now, priced together and run in one go; or reserved, and asked one after another."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from ui.parts import fields
from ui.several import plan, session
from ui.shell import frame, nav
from ui.shell.state import current_table
from ui.words import gloss

NOW, AFTER = "now", "after"
table, view = current_table(), st.query_params.get(nav.VIEW)
if view not in (NOW, AFTER):  # an address with a part of a session is a session's
    view = AFTER if any(name in st.query_params for name in ("session", *session.FIELDS)) else NOW
way = {NOW: plan, AFTER: session}[view]
if not way.show_addressed(table):
    st.html(f"<h1>{escape(say('several.title'))}</h1>")
    frame.pick_table(table, "several")
    other = (table.name, AFTER if view == NOW else "")  # what the address says of this view goes
    fields.choose("several.view", (NOW, AFTER), view, f"several-view-{view}", on_change=nav.view, args=other)
    st.html(f'<p class="lead">{gloss.text(say("plan.lead" if view == NOW else "session.lead"))}</p>')
    way.show(table)
