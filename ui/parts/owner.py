"""“For the owner”: raise the allowance, seal the table, forget it. Each behind a confirmation that says what happens.

An act is one call of the engine inside a callback, with no call of Streamlit in between, so that the next click cannot
abort it half way.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.exact import as_typed, text_of
from dpengine.messages import say
from ui.shell import nav
from ui.shell.frame import paragraph, show_error, show_success
from ui.shell.state import workspace
from ui.words import gloss
from ui.words.markup import unmarked

_SAID = "owner-said"
_OPEN = "owner-open"
GONE = {"seal": ("seal",), "forget": ("seal", "forget"), "close": ("raise", "seal")}  # acts without a button then


def show(table: dp.Table) -> None:
    """At the bottom of a table's page. Practice tables have no owner."""
    if table.practice:
        return
    closed = table.closed
    opened = st.session_state.get(_OPEN) == table.name  # stays so: it must not close under somebody's hands
    with st.expander(unmarked(say("owner.title", table=table.name)), expanded=opened):
        if closed:
            _tell(table.name, *GONE[closed])
        st.html(f'<p class="muted">{gloss.text(say("owner.lead"))}</p>')
        if closed:
            st.html(f"<p>{gloss.text(closed_words(closed))}</p>")
        if not closed:
            _raise(table)
            _seal(table)
        if closed != "forget":
            _forget(table)


def closed(table: dp.Table) -> None:
    """On a page that asks: this table is closed."""
    paragraph(closed_words(table.closed or "seal"), "lead")
    st.page_link(nav.page("answers"), label=say("owner.earlier"), query_params=nav.to_ledger(table.name))


def closed_words(kind: str) -> str:
    return say({"seal": "owner.sealed", "forget": "owner.forgotten", "close": "owner.closed"}[kind])


def _head(act: str, **facts: str) -> None:
    title, lead = say(f"owner.{act}"), say(f"owner.{act}_lead", **facts)
    st.html(f'<h3>{escape(title)}</h3><p class="read">{escape(lead)}</p>')


def _raise(table: dp.Table) -> None:
    now = text_of(table.budget.rule.epsilon)
    _head("raise", now=now)
    st.text_input(say("owner.raise_new", now=now), key=f"owner-cap-{table.name}", width=320, on_change=_unsay)
    st.checkbox(say("owner.raise_tick"), key=f"owner-raise-tick-{table.name}", on_change=_unsay)
    st.button(say("owner.raise_do"), key="owner-raise", on_click=_do_raise, args=(table.name,))
    _tell(table.name, "raise")


def _seal(table: dp.Table) -> None:
    _head("seal")
    st.checkbox(say("owner.seal_tick"), key=f"owner-seal-tick-{table.name}", on_change=_unsay)
    st.button(say("owner.seal_do"), key="owner-seal", on_click=_do_seal, args=(table.name,))
    _tell(table.name, "seal")


def _forget(table: dp.Table) -> None:
    _head("forget")
    st.text_input(say("owner.forget_type"), key=f"owner-name-{table.name}", width=320, on_change=_unsay)
    st.button(say("owner.forget_do"), key="owner-forget", on_click=_do_forget, args=(table.name,))
    _tell(table.name, "forget")


def _do_raise(name: str) -> None:
    typed = as_typed(str(st.session_state.get(f"owner-cap-{name}") or ""))
    if not st.session_state.get(f"owner-raise-tick-{name}"):
        _say(name, "raise", False, say("owner.confirm"))
        return

    def act() -> str:
        return say("owner.done.raise", after=workspace().raise_cap(name, typed).after)

    good = _done(name, "raise", act)
    st.session_state[f"owner-raise-tick-{name}"] = False
    if good:
        st.session_state[f"owner-cap-{name}"] = ""


def _do_seal(name: str) -> None:
    if not st.session_state.get(f"owner-seal-tick-{name}"):
        _say(name, "seal", False, say("owner.confirm"))
        return
    _done(name, "seal", lambda: say("owner.done.seal", table=workspace().seal(name).table))


def _do_forget(name: str) -> None:
    typed = str(st.session_state.get(f"owner-name-{name}") or "").strip()
    if typed != name:
        _say(name, "forget", False, say("owner.confirm_name" if typed else "owner.confirm_typed", table=name))
        return
    _done(name, "forget", lambda: say("owner.done.forget", table=workspace().forget(name).table))


def _done(name: str, act: str, work: Callable[[], str]) -> bool:
    try:
        _say(name, act, True, work())
        return True
    except dp.AllowanceError as complaint:
        _say(name, act, False, str(complaint))
        return False


def _say(name: str, act: str, good: bool, sentence: str) -> None:
    st.session_state[_SAID] = (name, act, good, sentence)
    st.session_state[_OPEN] = name


def _unsay() -> None:
    """Drop the feedback before the next try."""
    st.session_state.pop(_SAID, None)


def _tell(name: str, *acts: str) -> None:
    """The result of an act, beside its button. A refusal stays until the next try."""
    about, act, good, sentence = st.session_state.get(_SAID) or ("", "", False, "")
    if about != name or act not in acts:
        return
    if good:
        _unsay()
        show_success(sentence)
    else:
        show_error(say("owner.not_done"), sentence)
