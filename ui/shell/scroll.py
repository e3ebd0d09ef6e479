"""Scripts that a page runs in the browser: scroll to the answer, scroll to a step's heading, print the page.

Each is fixed and allowed by its hash (`CONTENT_POLICY` in ui/shell/web.py). Nothing else can run.
"""

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


OURS = (BRING, TOP, PRINT)
_COMING, _TURN, _STEP = "scroll-coming", "scroll-turn", "scroll-step"
_CAME, _PLACE = "scroll-came", "scroll-place"


def hash_of(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


ADMITTED = " ".join(map(hash_of, OURS))


def expect(request: str) -> None:
    """Remember the request, so that the page scrolls to its answer or its refusal."""
    st.session_state[_COMING] = request


def arrived(request: str | None) -> None:
    """Scroll to the expected answer, marked `class="arrived"`, and focus it, once."""
    if request is not None and st.session_state.get(_COMING) == request:
        del st.session_state[_COMING]
        _run(BRING, "arrived")


def step(name: str, scroll: bool = True) -> None:
    """Scroll to the heading of a form's new step, unless `scroll` says that something else was just scrolled to."""
    before, st.session_state[_STEP] = st.session_state.get(_STEP), name
    if scroll and before not in (None, name):
        _run(TOP, "step")


def top() -> None:
    """Scroll to the top, for a new question."""
    _run(TOP, "step")


def bring(what: str) -> None:
    """Scroll once to the part of the page that a link asked for, marked `class="arrived"`."""
    if came_for(what):
        _run(BRING, "arrived")


def at_address(page: str) -> None:
    """Called at the top of every page: a new address may scroll again."""
    now = [page, sorted(st.query_params.items())]
    if st.session_state.get(_PLACE) != now:
        st.session_state[_PLACE], st.session_state[_CAME] = now, []


def came_for(what: str) -> bool:
    """Has the visitor just come for this? True once per address."""
    came = st.session_state.setdefault(_CAME, [])
    if what in came:
        return False
    came.append(what)
    return True


def show() -> None:
    """Scroll to a new message, marked `class="arrived"`."""
    _run(BRING, "arrived")


def print_page() -> None:
    _run(PRINT, "print")


def _run(script: str, name: str) -> None:
    """The browser runs a script only when it changes, so the HTML carries a turn number."""
    turn = st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    with st.container(key=f"scroll-{name}"):  # takes no room: see style.css
        st.html(f'<i data-turn="{turn}"></i><script>{script}</script>', unsafe_allow_javascript=True)
