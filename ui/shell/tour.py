"""The guided tour, a small card on three pages, and *What is this?* in the head of every page.

The tour is offered on a first visit, and can be left and started again. Each step belongs to a page, so only the
visitor's choice must be remembered.
"""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from dpengine.messages import known, say
from ui.shell import nav, web
from ui.shell.state import FIRST_TABLE, is_untouched, open_table, workspace
from ui.shell.web import REMEMBERED
from ui.words import gloss

STEPS = ("start", "ask", "answers")
_WISH = "tour"


def settle() -> None:
    """Turn the tour on or off if a link says so when the page opens. From then on, what the person clicks counts."""
    if st.query_params.get(_WISH) in REMEMBERED[_WISH][1]:
        _wish(st.query_params[_WISH])
    st.query_params.pop(_WISH, None)


def wish() -> str | None:
    """What was chosen about the tour: "on", "off", or None if nothing was."""
    choice: str | None = st.session_state.get(_WISH) or web.read_cookie(_WISH)
    return choice


def _wish(choice: str) -> None:
    st.session_state[_WISH] = choice


def first_visit() -> bool:
    """Has this visitor neither chosen about the tour nor asked anything?"""
    if wish() is not None or is_untouched():
        return wish() is None
    return not (workspace().here(FIRST_TABLE) and open_table(FIRST_TABLE).meter().charges)


def offer() -> None:
    st.button(say("tour.offer"), key="tour-offer", type="tertiary", on_click=_wish, args=("on",))


def again(page: str) -> None:
    """Draw a link that starts the tour from its first page. On that page it is a button, as a link to the same page
    does nothing."""
    if page == STEPS[0]:
        st.button(say("tour.again"), key="tour-again", on_click=_wish, args=("on",))
    else:
        st.page_link(nav.page(STEPS[0]), label=say("tour.again"), query_params={_WISH: "on"})


def show(page: str, table: str) -> None:
    """Draw the card of the tour, if the tour is on and this page is one of its steps."""
    web.keep_cookie(_WISH, st.session_state.get(_WISH))
    if wish() != "on" or page not in STEPS:
        return
    here = STEPS.index(page)
    with st.container(key="card-tour"):
        steps = "".join(
            f"<li{' aria-current=step' if place == here else ''}>{escape(say(f'tour.{name}'))}</li>"
            for place, name in enumerate(STEPS)
        )
        answered = page == STEPS[1] and "answer" in st.query_params
        sentence = say(f"tour.{page}.done" if answered else f"tour.{page}.do")
        name = escape(say("tour.title"))
        st.html(f'<section class="tour" aria-label="{name}"><ol>{steps}</ol><p>{escape(sentence)}</p></section>')
        with st.container(horizontal=True, vertical_alignment="center"):
            if here + 1 < len(STEPS):
                following = STEPS[here + 1]
                where = {"table": table}
                label = say("tour.next", title=say(f"tour.{following}"))
                st.page_link(nav.page(following), label=label, query_params=where)
                st.button(say("tour.skip"), key="tour-skip", type="tertiary", on_click=_wish, args=("off",))
            else:
                st.button(say("tour.finish"), key="tour-finish", on_click=_wish, args=("off",))


WORDS = {  # by page: terms that a newcomer meets there
    "start": ("allowance", "range", "noise"),
    "tables": ("allowance", "declared", "seal"),
    "more": ("allowance", "noise"),
    "data": ("neighbours", "unit", "declared", "epsilon"),
    "ask": ("allowance", "epsilon", "range", "rehearsal"),
    "board": ("allowance", "range", "noise"),
    "synthetic": ("allowance", "epsilon", "range"),
    "train": ("noise", "range", "declared"),
    "several": ("allowance", "session", "composition"),
    "whatif": ("epsilon", "delta", "neighbours"),
    "answers": ("range", "ledger", "charge", "receipt"),
    "lessons": ("privacy", "epsilon", "noise"),
    "audit": ("neighbours", "noise", "epsilon"),
    "wall": ("noise", "epsilon"),
}


def show_about(page: str) -> None:
    """Draw the button *What is this?*, and its window once somebody opens it."""
    if not known(f"about.{page}"):
        return
    at_once = page == STEPS[0]  # its first visitor would wait for the engine
    more: Any = {"key": "about-open", "on_change": "ignore" if at_once else "rerun"}
    with (
        st.container(key="what", width="content"),
        st.popover(say("about.open"), icon=":material/help:", **more) as window,
    ):
        if not (at_once or window.open):
            return
        words = "".join(gloss.entry(name) for name in WORDS.get(page, ()))
        listed = f"<h2>{gloss.escaped('about.words')}</h2><dl>{words}</dl>" if words else ""
        st.html(f'<div class="about"><p>{gloss.escaped(f"about.{page}")}</p>{listed}</div>')
        _all_words()
        st.html(f'<p class="muted keys">{gloss.escaped("about.keys")}</p>')
        again(page)


@st.fragment
def _all_words() -> None:
    """Draw all definitions, folded, once somebody opens them."""
    with st.expander(say("about.all"), key="all-words", on_change="rerun") as words:
        if words.open:
            st.html(f'<div class="about"><dl>{"".join(map(gloss.entry, gloss.in_order()))}</dl></div>')
