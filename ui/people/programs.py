"""Programs, for whoever is signed in: tokens by which a notebook or another program asks in their name.

A token is shown on the run after it was made and on no other: no session keeps it.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from dpengine.messages.numbers import day
from dpengine.storage.tokens import LONGEST_NAME, Token
from ui.parts import history, said
from ui.shell import frame, person
from ui.shell.state import face, may
from ui.words.markup import unmarked

_SHOWN = "programs-shown"


def show() -> None:
    frame.nothing()
    st.html(f"<h1>{escape(say('programs.title'))}</h1>")
    if not person.served() or not may("new_token"):
        code = "people.page.none" if not person.served() else "people.no_right"
        st.html(f'<p class="lead">{escape(say(code))}</p>')
        return
    st.html(f'<p class="lead">{escape(say("programs.lead"))}</p>')
    said.tell("programs")
    if shown := st.session_state.pop(_SHOWN, None):
        with st.container(key="card-token"):
            st.html(f'<p class="warn">{escape(say("programs.once"))}</p>')
            st.code(shown, language=None, wrap_lines=True)
    _make()
    _list([one for one in face().tokens() if one.live])


def _make() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            say("programs.name"),
            key="programs-name",
            max_chars=LONGEST_NAME,
            width=280,
            placeholder=say("programs.example"),
        )
        st.multiselect(
            say("programs.tables"),
            [one.name for one in face().tables()],
            format_func=unmarked,
            key="programs-tables",
            width=420,
            placeholder=say("programs.every_table"),
        )
        st.button(say("programs.make"), key="programs-make", type="primary", on_click=_made)
    if may("name_role"):
        st.toggle(say("programs.metrics"), key="programs-metrics", help=say("programs.metrics_means"))


def _list(tokens: list[Token]) -> None:
    st.html(f"<h2>{escape(say('programs.all'))}</h2>")
    if not tokens:
        st.html(f'<p class="muted">{escape(say("programs.none"))}</p>')
    for one in tokens:
        tables = say("programs.for_metrics") if one.metrics else ", ".join(one.tables) or say("programs.every_table")
        used = say("programs.used", day=day(one.used)) if one.used else say("programs.unused")
        facts = " · ".join((tables, say("programs.made_at", at=history.when(one.at)), used))
        with st.container(key=f"card-token-{one.id}", horizontal=True, vertical_alignment="center"):
            line = f'<b>{escape(one.name)}</b><br><span class="muted">{escape(facts)}</span>'
            st.html(f'<div class="person">{line}</div>')
            st.button(say("programs.back"), key=f"token-back-{one.id}", on_click=_back, args=(one.id,))


def _made() -> None:
    name = str(st.session_state.get("programs-name") or "")
    tables = list(st.session_state.get("programs-tables") or ())
    metrics = bool(st.session_state.get("programs-metrics"))

    def make() -> None:
        st.session_state[_SHOWN], _ = face().new_token(name, tables, metrics)

    if said.act("programs", "programs.made", make):
        st.session_state["programs-name"], st.session_state["programs-tables"] = "", []


def _back(token: str) -> None:
    said.act("programs", "programs.taken", lambda: face().revoke_token(token))
