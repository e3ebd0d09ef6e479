"""What a browser is asked to remember for a visitor: small choices, nothing private (`REMEMBERED` in
ui/shell/web.py)."""

from __future__ import annotations

import streamlit as st

from ui.shell.web import REMEMBERED


def kept(name: str) -> str | None:
    """As the browser said it when this session began."""
    said: dict[str, str | None] = st.session_state.setdefault("cookies-said", {})
    if name not in said:
        cookie, choices = REMEMBERED[name]
        told = st.context.cookies.get(cookie)
        said[name] = told if told in choices else None
    return said[name]


def keep(name: str, value: str | None) -> None:
    """A page asked for with `?name=value` sets the cookie; this one is asked for as a picture and never seen. The
    turn makes each change a request of its own, which no cache answers."""
    turns = st.session_state.setdefault("cookie-turns", {})
    before, turn = turns.get(name, (kept(name), 0))
    if value is None or (value == before and not turn):
        return
    if value != before:
        turn += 1
        turns[name] = (value, turn)
    st.html(f'<img class="sr" alt="" src="?{name}={value}&turn={turn}">')
