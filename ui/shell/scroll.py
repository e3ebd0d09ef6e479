"""The scripts a page may run, word for word, and the hashes by which a browser recognises them."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

import streamlit as st

BRING = """(() => {
    const arrived = document.querySelector(".arrived");
    if (!arrived) return;
    arrived.scrollIntoView({block: "start"});
    arrived.focus({preventScroll: true});
})()"""

TOP = """(() => {
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
    document.querySelector("h1.ask-heading")?.focus({preventScroll: true});
})()"""

PRINT = """(() => {
    window.print();
})()"""


def hash_of(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


OURS = (BRING, TOP, PRINT)
ADMITTED = " ".join(map(hash_of, OURS))


# Scripts that a page runs in the browser: one scrolls to the answer that was asked for, one to the heading of a step,
# one prints the page.
#
# Each is a fixed script, allowed by its hash (`CONTENT_POLICY` in ui/shell/web.py): nothing else can run.

_COMING, _TURN, _STEP = "steer-coming", "steer-turn", "steer-step"
_CAME, _PLACE = "steer-came", "steer-place"


def expect(request: str) -> None:
    """Remember that somebody asked, so that the page scrolls to the answer, or to why there is none."""
    st.session_state[_COMING] = request


def arrived(request: str | None) -> None:
    """The expected answer is on the page now, marked `class="arrived"`: scroll to it and focus it, once."""
    if request is not None and st.session_state.get(_COMING) == request:
        del st.session_state[_COMING]
        _run(BRING, "arrived")


def step(name: str, scroll: bool = True) -> None:
    """Another step of a form begins: at its heading, wherever the page before was scrolled to; not where something on
    it was just scrolled to."""
    before, st.session_state[_STEP] = st.session_state.get(_STEP), name
    if scroll and before not in (None, name):
        _run(TOP, "step")


def top() -> None:
    """Another question begins: at its head, wherever the page was scrolled to."""
    _run(TOP, "step")


def bring(what: str) -> None:
    """Somebody came for this part of the page, marked `class="arrived"`: scroll to it, once."""
    if came_for(what):
        _run(BRING, "arrived")


def at_address(page: str) -> None:
    """Called at the top of every page: whoever comes to another address comes for something again."""
    now = [page, sorted(st.query_params.items())]
    if st.session_state.get(_PLACE) != now:
        st.session_state[_PLACE], st.session_state[_CAME] = now, []


def came_for(what: str) -> bool:
    """Did somebody just come for this? Once, as long as the address stays."""
    came = st.session_state.setdefault(_CAME, [])
    if what in came:
        return False
    came.append(what)
    return True


def show() -> None:
    """What was just said, marked `class="arrived"`, may be out of sight: scroll to it."""
    _run(BRING, "arrived")


def print_page() -> None:
    _run(PRINT, "print")


def _run(script: str, name: str) -> None:
    """The browser runs a script only when it changes, so the turn is part of it."""
    turn = st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    with st.container(key=f"steer-{name}"):  # takes no room: see style.css
        st.html(f'<i data-turn="{turn}"></i><script>{script}</script>', unsafe_allow_javascript=True)
