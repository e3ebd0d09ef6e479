"""What the instructor has on the wall: the code, the question, the truth, a new round; and how others are invited.

Every act is checked again by the room, so a page that shows too much would still change nothing.
"""

from __future__ import annotations

import os
from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent
from dpengine.messages import say
from dpengine.messages.numbers import local
from ui.parts import job
from ui.shell import state
from ui.shell.room import ADDRESS, here
from ui.workshop.wall_facts import EPSILONS, EVERY, QUESTIONS, clean, query_of, read, thousand, true_value, words_of

_TYPED, _WRONG = "workshop-typed", "workshop-wrong"


def address() -> str:
    """Where the others go: what `make workshop` found, since the instructor's own browser may say localhost."""
    parts = urlsplit(str(st.context.url or ""))
    return os.environ.get(ADDRESS) or (f"{parts.scheme}://{parts.netloc}" if parts.netloc else "")


def invitation(instructs: bool) -> None:
    with st.expander(say("workshop.invite"), expanded=instructs):
        where = f"{address()}/wall"
        st.html(
            f'<div class="invite"><img alt="{escape(say("workshop.qr", address=where))}" src="{_qr(where)}">'
            f"<div><p>{escape(say('workshop.invite_how'))}</p><code>{escape(where)}</code></div></div>"
        )


@lru_cache(maxsize=8)
def _qr(text: str) -> str:
    return str(segno.make(text, micro=False).svg_data_uri(scale=8, border=2, dark="#1C2733", light="#FFFFFF"))


def panel(instructs: bool) -> None:
    with st.expander(say("workshop.for_instructor"), expanded=instructs):
        if instructs:
            _controls()
        else:
            _code()


def _code() -> None:
    with st.form("workshop-unlock", clear_on_submit=True, border=False):
        st.text_input(say("workshop.code"), type="password", key=_TYPED, width=260, autocomplete="off")
        st.form_submit_button(say("workshop.unlock"), on_click=_unlock)
    st.html(f'<p class="muted">{escape(say("workshop.code_where"))}</p>')
    if st.session_state.pop(_WRONG, False):
        job.refused(say("workshop.wrong"))


def _unlock() -> None:
    st.session_state[_WRONG] = not here().unlock(state.browser(), str(st.session_state.get(_TYPED, "")))


def _controls() -> None:
    _counts()
    posed = here().posed
    wanted = st.query_params.get("q"), st.query_params.get("epsilon")
    question, epsilon = clean(*wanted) if posed is None or any(wanted) else (posed.question, posed.epsilon)
    names = list(QUESTIONS)
    question = str(
        st.selectbox(say("workshop.question"), names, names.index(question), format_func=words_of, key="wall-question")
    )
    epsilon = str(st.select_slider(say("workshop.epsilon"), EPSILONS, epsilon, format_func=local, key="wall-epsilon"))
    table, query = query_of(question, epsilon)
    fresh = query.epsilon / table.budget.rule.epsilon
    told = say("workshop.takes", share=percent(fresh), promise=_sentence(query.promise().words(query)))
    st.html(f'<p class="muted">{escape(told)}</p>')
    with st.container(horizontal=True):
        _button("workshop.pose", "wall-pose", _pose, question, epsilon, kind="primary")
        with st.popover(say("workshop.slide")):
            st.code(f"{address()}/wall?{urlencode({'q': question, 'epsilon': epsilon})}", language=None)
        with st.popover(say("workshop.reset")):
            st.html(f"<p>{escape(say('workshop.reset_means'))}</p>")
            _button("workshop.reset_do", "wall-reset", lambda: here().reset(state.browser()))
    if posed is not None:
        for what, now in (("truth", posed.truth), ("simulated", posed.simulated)):
            if what == "truth" or posed.truth:
                key = f"wall-{what}-{posed.turn}"
                st.toggle(say(f"workshop.show_{what}"), now, key=key, on_change=_reveal, args=(posed.turn,))


@st.fragment(run_every=EVERY)
def _counts() -> None:
    seen = here().snapshot(read)
    told = say("workshop.counts", round=seen.round, people=seen.people, answers=len(seen.dots))
    st.html(f'<p role="status"><b>{escape(told)}</b></p>')


def _button(code: str, key: str, act: Any, *given: Any, kind: Any = "secondary") -> None:
    st.button(say(code), key=key, type=kind, on_click=_do, args=(act, *given))


def _do(act: Any, *given: Any) -> None:
    try:
        act(*given)
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


def _pose(question: str, epsilon: str) -> None:
    here().pose(state.browser(), question, epsilon)
    true_value(question)  # now, and not when thirty people look


def _reveal(turn: int) -> None:
    posed = here().posed
    if posed is None or posed.turn != turn:
        return
    truth, simulated = (bool(st.session_state.get(f"wall-{what}-{turn}")) for what in ("truth", "simulated"))
    if truth and simulated:
        thousand(posed.question, posed.epsilon)
    _do(here().reveal, state.browser(), truth, simulated)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
