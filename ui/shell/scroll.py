"""Scripts that a page runs in the browser: scroll to the answer, scroll to a step's heading, print the page.

Each script is fixed and allowed by its hash (`CONTENT_POLICY` in ui/shell/web.py). Nothing else can run.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from html import escape

import streamlit as st

# What a click has just changed comes before an answer above it.
BRING = """(() => {
    const arrived = document.querySelector(".stepped") ?? document.querySelector(".arrived");
    if (!arrived) return;
    arrived.scrollIntoView({block: "start"});
    arrived.focus({preventScroll: true});
})()"""

TOP = """(() => {
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
    document.querySelector("h1.ask-heading")?.focus({preventScroll: true});
})()"""

# The field may be drawn after the script has run, so the document listens for it. (A script with "<" before a letter or
# "!" is taken out of the page without a word.)
COMPLETE = """(() => {
    if (document.getElementById("box-list")) return;
    const list = document.createElement("datalist");
    list.id = "box-list";
    document.body.append(list);
    const bare = (text) => text.normalize("NFKD").replace(/[\\u0300-\\u036f]/g, "").toLowerCase();
    document.addEventListener("input", (event) => {
        const field = event.target;
        if (!field.matches(".st-key-box-field input")) return;
        const known = document.querySelector(".st-key-scroll-complete [data-phrases]");
        const phrases = JSON.parse(known?.dataset.phrases ?? "[]"), text = field.value;
        const starts = [...text.matchAll(/\\S+/g)].map((match) => match.index).slice(-3);
        let found = [];
        for (const start of /\\s$/.test(text) ? [] : starts) {
            const begun = bare(text.slice(start));
            const first = phrases.filter((phrase) => bare(phrase).startsWith(begun) && bare(phrase) !== begun);
            const inside = phrases.filter((phrase) => bare(phrase).includes(" " + begun));
            found = [...new Set([...first, ...inside])].map((phrase) => text.slice(0, start) + phrase);
            if (found.length) break;
        }
        field.setAttribute("list", "box-list");
        field.setAttribute("autocomplete", "off");
        list.replaceChildren(...found.slice(0, 6).map((text) => new Option(text, text)));
    });
})()"""

PRINT = """(() => {
    window.print();
})()"""

# A file that was just written is saved without a second click.
PRESS = """(() => {
    let left = 60;
    const press = () => {
        const button = document.querySelector(".st-key-press button");
        if (button) button.click();
        else if (left--) setTimeout(press, 50);
    };
    press();
})()"""


OURS = (BRING, TOP, PRINT, PRESS, COMPLETE)
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
    """Scroll to the heading of a form's new step; not if `scroll` is false, because something else was just scrolled
    to."""
    before, st.session_state[_STEP] = st.session_state.get(_STEP), name
    if scroll and before not in (None, name):
        _run(TOP, "step")


def top() -> None:
    """Scroll to the top, for a new question."""
    _run(TOP, "step")


def bring(what: str) -> None:
    """Scroll once to the part of the page marked `class="arrived"`, if a link asked for this part."""
    if came_for(what):
        _run(BRING, "arrived")


def at_address(page: str) -> None:
    """Let a new address scroll again. Every page calls this at its top."""
    now = [page, sorted(st.query_params.items())]
    if st.session_state.get(_PLACE) != now:
        st.session_state[_PLACE], st.session_state[_CAME] = now, []


def came_for(what: str) -> bool:
    """Has the visitor just come for `what`? True once per address."""
    came = st.session_state.setdefault(_CAME, [])
    if what in came:
        return False
    came.append(what)
    return True


def show() -> None:
    """Scroll to a new message, which is marked `class="arrived"`."""
    _run(BRING, "arrived")


def print_page() -> None:
    _run(PRINT, "print")


def press() -> None:
    """Click the button in the container `press`."""
    _run(PRESS, "press")


def complete(phrases: tuple[str, ...]) -> None:
    """Offer completions in the question box while a person types, from public phrases."""
    with st.container(key="scroll-complete"):
        st.html(_completing(phrases), unsafe_allow_javascript=True)


@lru_cache(maxsize=64)
def _completing(phrases: tuple[str, ...]) -> str:
    listed = escape(json.dumps(phrases, ensure_ascii=False), quote=True)
    return f'<i data-phrases="{listed}"></i><script>{COMPLETE}</script>'


def _run(script: str, name: str) -> None:
    """Have the browser run a fixed script. A browser runs a script again only if its HTML changes, so the HTML carries
    a turn number."""
    turn = st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    with st.container(key=f"scroll-{name}"):  # takes no room: see style.css
        st.html(f'<i data-turn="{turn}"></i><script>{script}</script>', unsafe_allow_javascript=True)
