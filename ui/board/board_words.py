"""Words that the form and the board share."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.parts import counted

_SHORT = 300  # signs
_NAMED = 8


def some(names: list[str]) -> str:
    """The first of them."""
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def counted_as(query: dp.Query) -> None:
    """What is counted as something else; of very many columns behind a line of its own."""
    told = counted.words(query)
    if len(told) <= _SHORT:
        st.html(counted.html(query))
        return
    with st.expander(say("board_page.counted")):
        st.html(f'<p class="muted">{escape(told)}</p>')
