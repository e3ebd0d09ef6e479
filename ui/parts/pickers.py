"""The pickers inside a sentence, and how a link replaces what they hold."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpengine.messages import say

_TURN = "form-round"
_ARRIVED = "form-arrived"


def forget_pickers() -> None:
    """A question that arrives by a link replaces what the pickers held: new ones take the place of the old, because a
    browser would go on showing what it has."""
    st.session_state[_TURN] = st.session_state.get(_TURN, -1) + 1
    st.session_state[_ARRIVED] = True
    for key in [key for key in st.session_state if str(key).startswith(("ask-", "where-"))]:
        if not str(key).startswith("ask-table"):
            del st.session_state[key]


def turn() -> str:
    """The end of a picker's key, which changes when a link arrives."""
    return f"-{st.session_state[_TURN]}" if st.session_state.get(_TURN) else ""


def arrived() -> bool:
    """Did a link bring this question just now? It is told once."""
    return bool(st.session_state.pop(_ARRIVED, False))


def pick(label: str, options: list[str], now: str, words: Any, key: str) -> str:
    """A selectbox as wide as the word in it."""
    key += turn()
    shown = st.session_state.get(key, now)
    longest = len(words(shown if shown in options else now))
    picked = st.selectbox(
        say(label),
        options,
        index=options.index(now),
        format_func=words,
        key=key,
        label_visibility="collapsed",
        width=min(max(100, 64 + 13 * longest), 420),
    )
    return str(picked)
