"""Start: what this is in one sentence, why it is needed in three numbers, and two ways in."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from ui.learn import why
from ui.shell import frame, gate, nav, person, tour, workshop_state
from ui.shell.state import FIRST_TABLE, home, may, newest_table, on_own_computer
from ui.words.markup import unmarked
from ui.workshop import workshop

# As ui/ask/preview.py writes it, which would have to load the table first.
FIRST_QUESTION = {
    "table": FIRST_TABLE,
    "q": "median",
    "with_range": "true",
    "epsilon": "0.1",
    "column": "monthly_income",
}

if "answer" in st.query_params:  # an address of a time when Start showed the first answer
    st.switch_page(nav.page("ask"), query_params={"table": FIRST_TABLE, "answer": st.query_params["answer"]})

frame.hide_meter()
title = f"{escape(say('start.title'))}<br>{escape(say('start.title_two'))}"
elsewhere = workshop_state.on() or gate.configured()  # not this computer
lead = escape(say("start.lead_class" if elsewhere else "start.lead"))
st.html(f'<h1 class="first">{title}</h1><p class="lead">{lead}</p>')
why.show()
own = None if workshop_state.on() else newest_table("ask")
with st.container(key="ways-in", horizontal=True, vertical_alignment="center"):
    with st.container(key="start-first", width="content"):  # the one to click first
        if own is not None:
            st.page_link(nav.page("ask"), label=say("start.go_on", table=unmarked(own)), query_params={"table": own})
        trial = st.container(key="start-try", width="content") if own is None else None
    with trial or st.container(key="start-try", width="content"):
        st.page_link(nav.page("ask"), label=say("start.try"), query_params=FIRST_QUESTION)
    if may("accounts") and person.served():
        st.page_link(nav.page("accounts"), label=say("page.accounts"))
    workshop.instead_of_data()
    if tour.first_visit():
        tour.offer()
if own is not None:
    from ui.ask import box  # only here: the first screen of a newcomer needs no form

    box.elsewhere(own)
if on_own_computer():
    st.html(f"<small>{escape(say('start.home', place=str(home().resolve())))}</small>")
