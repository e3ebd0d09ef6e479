"""People who keep apart, for an administrator. An owner has no such form: a refusal would tell them that somebody else
has the same content, which is why it can be refused."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from ui.parts import said
from ui.shell.state import face


def show(called: dict[str, str]) -> None:
    tables = [name for name, _ in face().names()]
    if not tables:
        return
    st.html(f'<h2>{escape(say("apart.title"))}</h2><p class="muted">{escape(say("apart.lead"))}</p>')
    said.tell("apart")
    for table, people in face().agreements().items():
        members = ", ".join(called.get(one, one[:10]) for one in people)
        line = f'<b>{escape(table)}</b><br><span class="muted">{escape(members)}</span>'
        st.html(f'<div class="person">{line}</div>')
    with st.container(key="apart-new", horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            say("people.hand.table"), tables, None, key="apart-table", width=260, placeholder=say("grants.choose")
        )
        st.multiselect(
            say("apart.people"),
            list(called),
            format_func=called.__getitem__,
            key="apart-people",
            width=420,
            placeholder=say("grants.choose"),
        )
        st.button(say("apart.do"), key="apart-do", on_click=_agreed)


def _agreed() -> None:
    table, people = str(st.session_state.get("apart-table") or ""), list(st.session_state.get("apart-people") or ())
    if said.act("apart", "apart.done", lambda: face().keep_apart(table, people), table=table):
        st.session_state["apart-people"] = []
