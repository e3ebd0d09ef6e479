"""The two things a page does to the browser that shows it: what was asked for comes into view, and a page is printed
on wish.

Each is a fixed script, admitted by its hash (`CONTENT_POLICY` in ui/shell/web.py): nothing else can run.
"""

from __future__ import annotations

import streamlit as st

from ui.shell.scripts import BRING, PRINT

_COMING, _TURN = "steer-coming", "steer-turn"


def expect(request: str) -> None:
    """Somebody asked: the answer, or why there is none, is to be brought before them."""
    st.session_state[_COMING] = request


def arrived(request: str | None) -> None:
    """What was expected stands on the page now, marked `class="arrived"`: into view and into focus, once."""
    if request is not None and st.session_state.get(_COMING) == request:
        del st.session_state[_COMING]
        _run(BRING, "arrived")


def print_page() -> None:
    _run(PRINT, "print")


def _run(script: str, name: str) -> None:
    """A browser runs it once for every turn: what is the same as before it leaves alone."""
    turn = st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    with st.container(key=f"steer-{name}"):  # takes no room: see style.css
        st.html(f'<i data-turn="{turn}"></i><script>{script}</script>', unsafe_allow_javascript=True)
