"""“For the owner”: raise the allowance, seal the table, forget it. Each behind a confirmation that says what happens.

An act is one call of the engine inside a callback, with no call of Streamlit in between, so that the next click cannot
abort it half way.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import as_typed, text_of
from dpengine.messages import say
from ui.parts import fields, requests
from ui.shell import nav
from ui.shell.frame import paragraph
from ui.shell.state import workspace
from ui.words import gloss
from ui.words.markup import unmarked

_OPEN = "owner-open"
# Acts without a button, by how the table was closed.
GONE = {"seal": ("seal",), "forget": ("seal", "forget"), "close": ("raise", "seal"), "joined": ("raise", "seal")}


def show(table: dp.Table) -> None:
    """Draw what an owner may do, at the bottom of a table's page. Practice tables have no owner."""
    if table.practice:
        return
    closed, name = table.closed, table.name
    again: Any = {"on_change": requests.forget_feedback}
    opened = st.session_state.get(_OPEN) == name  # stays so: it must not close under somebody's hands
    with fields.details(unmarked(say("owner.title", table=name)), f"owner-{name}", opened) as drawn:
        if not drawn:
            return
        for act in GONE.get(closed or "", ()):
            requests.show_feedback(f"owner-{act}-{name}")
        st.html(f'<p class="muted">{gloss.text(say("owner.lead"))}</p>')
        if closed:
            st.html(f"<p>{gloss.text(closed_words(closed))}</p>")
        else:
            now = text_of(table.budget.rule.epsilon)
            _head("raise", now=now)
            st.text_input(say("owner.raise_new", now=now), key=f"owner-cap-{name}", width=320, **again)
            st.checkbox(say("owner.raise_tick"), key=f"owner-raise-tick-{name}", **again)
            _button("raise", name, _raise)
            _head("seal")
            st.checkbox(say("owner.seal_tick"), key=f"owner-seal-tick-{name}", **again)
            _button("seal", name, _seal)
        if closed != "forget":
            _head("forget")
            st.text_input(say("owner.forget_type"), key=f"owner-name-{name}", width=320, **again)
            _button("forget", name, _forget)


def closed(table: dp.Table) -> None:
    """Say, on a page that asks questions, that its table is closed."""
    paragraph(closed_words(table.closed or "seal"), "lead")
    st.page_link(nav.page("answers"), label=say("owner.earlier"), query_params=nav.to_ledger(table.name))


def closed_words(kind: str) -> str:
    codes = {"seal": "owner.sealed", "forget": "owner.forgotten", "close": "owner.closed", "joined": "owner.joined"}
    return say(codes[kind])


def _head(act: str, **facts: str) -> None:
    title, lead = say(f"owner.{act}"), say(f"owner.{act}_lead", **facts)
    st.html(f'<h3>{escape(title)}</h3><p class="read">{escape(lead)}</p>')


def _button(act: str, name: str, do: Callable[[str], None]) -> None:
    """Draw the button of an owner's act, and the result of the last click."""
    st.button(say(f"owner.{act}_do"), key=f"owner-{act}", on_click=do, args=(name,))
    requests.show_feedback(f"owner-{act}-{name}")


def _do(act: str, name: str, work: Callable[[], object]) -> bool:
    st.session_state[_OPEN] = name
    return requests.act(f"owner-{act}-{name}", f"owner.done.{act}", work, table=name)


def _ticked(act: str, name: str) -> None:
    if not st.session_state.get(f"owner-{act}-tick-{name}"):
        raise dp.AllowanceError("owner.confirm")


def _raise(name: str) -> None:
    typed = as_typed(str(st.session_state.get(f"owner-cap-{name}") or ""))

    def work() -> dict[str, object]:
        _ticked("raise", name)
        return {"after": workspace().raise_cap(name, typed).after}

    good = _do("raise", name, work)
    st.session_state[f"owner-raise-tick-{name}"] = False
    if good:
        st.session_state[f"owner-cap-{name}"] = ""


def _seal(name: str) -> None:
    def work() -> None:
        _ticked("seal", name)
        workspace().seal(name)

    _do("seal", name, work)


def _forget(name: str) -> None:
    typed = str(st.session_state.get(f"owner-name-{name}") or "").strip()

    def work() -> None:
        if typed != name:
            raise dp.AllowanceError("owner.confirm_name" if typed else "owner.confirm_typed", table=name)
        workspace().forget(name)

    _do("forget", name, work)
