"""Beside a curve: the other question that gives it, which of the two is expected to be more accurate, and a link."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.mechanisms.promises import Within
from dpengine.messages import say
from dpengine.planning.alternatives import curve_alternative
from ui.parts import preview
from ui.shell import nav


def tell(table: dp.Table, query: dp.Query) -> None:
    found = curve_alternative(query)
    if found is None:
        return
    own, its = (Within(off, 1, query.beta, off).alpha_words(query) for off in (found.own, found.its))
    code = "equal" if found.own == found.its else "better" if found.own < found.its else "worse"
    told = say(f"rival.{code}", own=own, its=its, title=found.query.card.title)
    if code == "worse" and found.loses_values:
        told += " " + say("rival.column")
    st.html(f'<p class="muted" role="note">{escape(told)}</p>')
    link = preview.link(table, found.query)
    st.page_link(nav.page("ask"), label=say("rival.link"), query_params=link)
