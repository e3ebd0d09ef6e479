"""Programs: tokens by which a notebook or another program asks in the signed-in person's name.

A token is shown once, on the run after it was created. No session keeps it.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import streamlit as st

from dpengine.messages import say
from dpengine.messages.numbers import day
from dpengine.storage.tokens import LONGEST_NAME, MOST_DAYS, USUAL_DAYS, Token
from ui.parts import history, requests
from ui.people.names import opened, person_html
from ui.shell.frame import paragraph, section_head
from ui.shell.language import day_format
from ui.shell.state import face, may

_SHOWN = "programs-shown"


def show() -> None:
    if not opened("programs", "new_token", "people.no_right"):
        return
    requests.show_feedback("programs")
    if shown := st.session_state.pop(_SHOWN, None):
        with st.container(key="card-token"):
            paragraph(say("programs.once"), "warn")
            st.code(shown, language=None, wrap_lines=True)
    _make()
    _list([token for token in face().tokens() if not token.revoked])


def _make() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label, example = say("programs.name"), say("programs.example")
        st.text_input(label, key="programs-name", max_chars=LONGEST_NAME, width=280, placeholder=example)
        tables, every = [table.name for table in face().tables()], say("programs.every_table")
        st.multiselect(say("programs.tables"), tables, key="programs-tables", width=420, placeholder=every)
        today = datetime.now(UTC).date()
        days = today + timedelta(days=USUAL_DAYS), today, today + timedelta(days=MOST_DAYS)
        st.date_input(say("programs.until"), *days, "programs-until", format=day_format(), width=180)
        st.button(say("programs.make"), key="programs-make", type="primary", on_click=_create)
    if may("name_role"):
        st.toggle(say("programs.metrics"), key="programs-metrics", help=say("programs.metrics_means"))


def _list(tokens: list[Token]) -> None:
    section_head(say("programs.all"))
    if not tokens:
        paragraph(say("programs.none"))
    for token in tokens:
        tables = ", ".join(token.tables) or say("programs.every_table")
        tables = say("programs.for_metrics") if token.metrics else tables
        at = say("programs.made_at", at=history.when(token.at))
        used = say("programs.used", day=day(token.used)) if token.used else say("programs.unused")
        ends = say(f"programs.{'ended' if token.ended else 'ends'}", day=day(token.until)) if token.until else ""
        facts = " · ".join((tables, at, used, ends or say("programs.endless")))
        with st.container(key=f"card-token-{token.id}", horizontal=True, vertical_alignment="center"):
            st.html(person_html(token.name, facts))
            st.button(say("programs.back"), key=f"token-back-{token.id}", on_click=_back, args=(token.id,))


def _create() -> None:
    name = str(st.session_state.get("programs-name") or "")
    tables = list(st.session_state.get("programs-tables") or ())
    metrics = bool(st.session_state.get("programs-metrics"))
    last: date | None = st.session_state.get("programs-until")

    def make() -> None:
        st.session_state[_SHOWN], _ = face().new_token(name, tables, metrics, "" if last is None else last.isoformat())

    if requests.act("programs", "programs.made", make):
        st.session_state["programs-name"], st.session_state["programs-tables"] = "", []


def _back(token: str) -> None:
    requests.act("programs", "programs.taken", lambda: face().revoke_token(token))
