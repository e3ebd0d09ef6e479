"""Which noise an answer gets: chosen for the person where that costs nothing, offered where it has its own price."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.words.wording import percent, short_promise, unmarked

_CLOSE = "ask-closing"


def best(table: dp.Table, query: dp.Query) -> dp.Query:
    """The question with the noise that serves it best; with the offered one where the person has ticked it."""
    offer = table.closing(query) if st.session_state.get(_CLOSE) else None
    return offer or table.cheapest(query)


def tell(query: dp.Query, usual: dp.Query) -> None:
    """One line, where the noise is not the usual one."""
    if query.noise:
        now, before = short_promise(query.promise(), query), short_promise(usual.promise(), usual)
        told = say(f"noise.{query.noise}.chosen", now=now, usual=before)
        st.html(f'<p class="muted">{escape(told)}</p>')


def offer(table: dp.Table, usual: dp.Query) -> None:
    """A tick that closes the pure clause, with what that does to the meter."""
    other = table.closing(usual)
    if other is None:
        return
    price = table.preview(other)
    told = say(
        "noise.offer",
        now=short_promise(other.promise(), other),
        usual=short_promise(usual.promise(), usual),
        share=percent(price.fraction),
        more=price.more_like_this,
    )
    st.checkbox(unmarked(told), key=_CLOSE, help=say("noise.offer_help"))
