"""The guided start: one small card on three pages. A first visit is offered it; it can be left, and found again.

A step is the page one is on, so nothing but the wish to see it is remembered.
"""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.shell import cookies, nav
from ui.shell.state import FIRST_TABLE, open_table
from ui.shell.web import REMEMBERED

STEPS = ("start", "ask", "answers")
_WISH = "tour"


def settle() -> None:
    """An address may ask for it, once: what is pressed afterwards counts."""
    if st.query_params.get(_WISH) in REMEMBERED[_WISH][1]:
        _wish(st.query_params[_WISH])
    st.query_params.pop(_WISH, None)


def wish() -> str | None:
    """*on*, *off*, or None where nobody has said."""
    told: str | None = st.session_state.get(_WISH) or cookies.kept(_WISH)
    return told


def _wish(told: str) -> None:
    st.session_state[_WISH] = told


def first_visit() -> bool:
    """Nobody has said whether they want it, and nothing was asked yet."""
    return wish() is None and not open_table(FIRST_TABLE).meter().charges


def offer() -> None:
    st.button(say("tour.offer"), key="tour-offer", type="tertiary", on_click=_wish, args=("on",))


def again(page: str) -> None:
    """From anywhere: on, and to its first step; a button there, since a link to the same page changes no address."""
    if page == STEPS[0]:
        st.button(say("tour.again"), key="tour-again", on_click=_wish, args=("on",))
    else:
        st.page_link(nav.page(STEPS[0]), label=say("tour.again"), query_params={_WISH: "on"})


def show(page: str, table: dp.Table) -> None:
    """Where this page is one of the steps."""
    cookies.keep(_WISH, st.session_state.get(_WISH))
    if wish() != "on" or page not in STEPS:
        return
    here = STEPS.index(page)
    with st.container(key="card-tour"):
        steps = "".join(
            f"<li{' aria-current=step' if place == here else ''}>{escape(say(f'tour.{name}'))}</li>"
            for place, name in enumerate(STEPS)
        )
        answered = page == STEPS[1] and "answer" in st.query_params
        told = say(f"tour.{page}.done" if answered else f"tour.{page}.do")
        name = escape(say("tour.title"))
        st.html(f'<section class="tour" aria-label="{name}"><ol>{steps}</ol><p>{escape(told)}</p></section>')
        with st.container(horizontal=True, vertical_alignment="center"):
            if here + 1 < len(STEPS):
                following = STEPS[here + 1]
                where = {"table": table.name}
                label = say("tour.next", title=say(f"tour.{following}"))
                st.page_link(nav.page(following), label=label, query_params=where)
                st.button(say("tour.skip"), key="tour-skip", type="tertiary", on_click=_wish, args=("off",))
            else:
                st.button(say("tour.finish"), key="tour-finish", on_click=_wish, args=("off",))
