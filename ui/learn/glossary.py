"""The glossary: every term with its definition. The address can name a term."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Any

import streamlit as st

from dpengine.messages import say
from ui.learn import lessons
from ui.shell import frame, nav
from ui.shell.language import address
from ui.words import gloss

IN_ADDRESS = "word"


def show() -> None:
    frame.replace_meter(say("gloss.lead"))
    st.html(f"<h1>{escape(say('gloss.title'))}</h1>")
    words = sorted(gloss.WORDS, key=_in_order)
    wanted = st.query_params.get(IN_ADDRESS)
    chosen = wanted if wanted in gloss.WORDS else None
    key = f"gloss-find-{chosen}"  # new for each address, because a browser keeps old widget values
    label, none, at = say("gloss.find"), say("gloss.any"), None if chosen is None else words.index(chosen)
    titles = {name: say(f"gloss.{name}") for name in words}
    picked: Any = st.selectbox(label, words, at, titles.__getitem__, key, width=420, placeholder=none)
    if picked != chosen:
        address({IN_ADDRESS: picked} if picked else {})
        st.rerun()
    if chosen is not None:
        with st.container(key="card-word"):
            st.html(f'<dl class="words">{gloss.entry(chosen)}</dl>')
            number = gloss.LESSON.get(chosen)
            if number is not None:
                label = say("gloss.lesson", number=lessons.position(number), title=lessons.lesson(number).title)
                st.page_link(nav.page("lessons"), label=label, query_params=lessons.lesson_query(number))
    st.html(f'<dl class="words">{"".join(gloss.entry(name) for name in words if name != chosen)}</dl>')


def _in_order(name: str) -> str:
    """Dictionary order: č after c, not after z."""
    return unicodedata.normalize("NFKD", say(f"gloss.{name}")).casefold()
