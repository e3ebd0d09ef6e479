"""“For the owner”: raise the allowance, seal the table, forget it. Each behind a confirmation that says what happens.

An act is one call of the engine inside a callback, with no call of Streamlit in between, so that the next click cannot
abort it half way.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.exact import text_of
from dpengine.messages import say
from ui import nav
from ui.frame import broken, fine
from ui.state import workspace
from ui.wording import unmarked

_SAID = "owner-said"
_OPEN = "owner-open"


def show(table: dp.Table) -> None:
    """Quiet, at the bottom; not there for practice tables, which have no owner."""
    if table.practice:
        return
    said = st.session_state.pop(_SAID, None)
    closed = table.closed
    opened = st.session_state.get(_OPEN) == table.name  # stays so: it must not close under somebody's hands
    with st.expander(unmarked(say("owner.title", table=table.name)), expanded=opened):
        if said is not None:
            good, sentence = said
            fine(sentence) if good else broken(say("owner.not_done"), sentence)
        st.html(f'<p class="muted">{escape(say("owner.lead"))}</p>')
        if closed:
            st.html(f"<p>{escape(closed_words(closed))}</p>")
        if not closed:
            _raise(table)
            _seal(table)
        if closed != "forget":
            _forget(table)


def closed(table: dp.Table) -> None:
    """Where somebody wants to ask a table of which nothing more is asked."""
    st.html(f'<p class="lead">{escape(closed_words(table.closed or "seal"))}</p>')
    st.page_link(nav.page("ledger"), label=say("owner.earlier"), query_params={"table": table.name})


def closed_words(kind: str) -> str:
    return say({"seal": "owner.sealed", "forget": "owner.forgotten", "close": "owner.closed"}[kind])


def _head(act: str, **facts: str) -> None:
    title, lead = say(f"owner.{act}"), say(f"owner.{act}_lead", **facts)
    st.html(f'<h4>{escape(title)}</h4><p class="read">{escape(lead)}</p>')


def _raise(table: dp.Table) -> None:
    now = text_of(table.budget.rule.epsilon)
    _head("raise", now=now)
    st.text_input(say("owner.raise_new", now=now), key=f"owner-cap-{table.name}", width=320)
    st.checkbox(say("owner.raise_tick"), key=f"owner-raise-tick-{table.name}")
    st.button(say("owner.raise_do"), key="owner-raise", on_click=_do_raise, args=(table.name,))


def _seal(table: dp.Table) -> None:
    _head("seal")
    st.checkbox(say("owner.seal_tick"), key=f"owner-seal-tick-{table.name}")
    st.button(say("owner.seal_do"), key="owner-seal", on_click=_do_seal, args=(table.name,))


def _forget(table: dp.Table) -> None:
    _head("forget")
    st.text_input(say("owner.forget_type"), key=f"owner-name-{table.name}", width=320)
    st.button(say("owner.forget_do"), key="owner-forget", on_click=_do_forget, args=(table.name,))


def _do_raise(name: str) -> None:
    typed = str(st.session_state.get(f"owner-cap-{name}") or "").strip().replace(",", ".")
    if not st.session_state.get(f"owner-raise-tick-{name}"):
        _say(name, False, say("owner.confirm"))
        return

    def act() -> str:
        return say("owner.done.raise", after=workspace().raise_cap(name, typed).after)

    _done(name, act)
    st.session_state[f"owner-raise-tick-{name}"] = False
    if st.session_state[_SAID][0]:
        st.session_state[f"owner-cap-{name}"] = ""


def _do_seal(name: str) -> None:
    if not st.session_state.get(f"owner-seal-tick-{name}"):
        _say(name, False, say("owner.confirm"))
        return
    _done(name, lambda: say("owner.done.seal", table=workspace().seal(name).table))


def _do_forget(name: str) -> None:
    if str(st.session_state.get(f"owner-name-{name}") or "").strip() != name:
        _say(name, False, say("owner.confirm_name", table=name))
        return
    _done(name, lambda: say("owner.done.forget", table=workspace().forget(name).table))


def _done(name: str, act: Callable[[], str]) -> None:
    try:
        _say(name, True, act())
    except dp.AllowanceError as complaint:
        _say(name, False, str(complaint))


def _say(name: str, good: bool, sentence: str) -> None:
    st.session_state[_SAID] = (good, sentence)
    st.session_state[_OPEN] = name

