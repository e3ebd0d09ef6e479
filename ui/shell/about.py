"""*What is this?* in the head of every page: what the page is for, its words, and where to find more."""

from __future__ import annotations

import streamlit as st

from dpengine.messages import known, say
from ui.shell import nav, tour
from ui.words import gloss

WORDS = {  # of a page: those that somebody who opens it for the first time will meet
    "start": ("allowance", "range", "noise"),
    "tables": ("allowance", "declared", "seal"),
    "more": ("allowance", "noise"),
    "data": ("neighbours", "unit", "declared", "epsilon"),
    "ask": ("allowance", "epsilon", "range", "rehearsal"),
    "board": ("allowance", "range", "noise"),
    "synthetic": ("allowance", "epsilon", "range"),
    "session": ("session", "noise", "composition"),
    "train": ("noise", "range", "declared"),
    "plan": ("allowance", "epsilon", "range"),
    "whatif": ("epsilon", "delta", "neighbours"),
    "answers": ("range", "allowance", "receipt"),
    "ledger": ("charge", "receipt", "seal", "epsilon"),
    "lessons": ("privacy", "epsilon", "noise"),
    "audit": ("neighbours", "noise", "epsilon"),
    "wall": ("noise", "epsilon"),
}


def show(page: str) -> None:
    if not known(f"about.{page}"):
        return
    with st.container(key="what", width="content"), st.popover(say("about.open"), icon=":material/help:"):
        words = "".join(gloss.entry(name) for name in WORDS.get(page, ()))
        listed = f"<h2>{gloss.escaped('about.words')}</h2><dl>{words}</dl>" if words else ""
        st.html(f'<div class="about"><p>{gloss.escaped(f"about.{page}")}</p>{listed}</div>')
        with st.container(horizontal=True):
            if page != "glossary":
                st.page_link(nav.page("glossary"), label=say("about.all"))
            tour.again(page)
