"""Accounts, for an auditor: every account and every act, by person, to check and to take along."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

from dpengine.asking.exports import Deed
from dpengine.core.printed import percent_left
from dpengine.messages import say
from ui.ledger import ledger_view
from ui.parts import history
from ui.people import names
from ui.people.names import opened
from ui.shell import frame
from ui.shell.state import face

MOST = 100


def show() -> None:
    if not opened("accounts", "accounts", "accounts.not_you"):
        return
    called = names.called(face().people())
    _accounts(called)
    _acts(called)
    ledger_view.check()
    whole = face()
    st.download_button(
        say("accounts.export"),
        lambda: "".join(whole.export()),
        "ledger.jsonl",
        "application/jsonl",
        key="accounts-export",
        on_click="ignore",
    )


def _accounts(called: dict[str, str]) -> None:
    tiles = []
    for one in face().accounts():
        whose = called.get(one.budget.id.rpartition(":")[2], "")
        title = ", ".join(one.tables) + (f" · {whose}" if whose else "")
        left = say("tables.left", left=percent_left(1 - one.meter.used))
        facts = say("accounts.facts", charges=one.meter.charges, epsilon=one.meter.epsilon)
        head = f'<h3>{escape(title)}</h3><p class="muted">{escape(facts)}</p>'
        bar = f'{frame.small(min(one.meter.used, Fraction(1)))}<p class="left">{left}</p>'
        tiles.append(f'<article class="tile">{head}{bar}</article>')
    told = "".join(tiles) or f'<p class="muted">{escape(say("accounts.none"))}</p>'
    st.html(f'<section class="tables"><h2>{escape(say("accounts.all"))}</h2><div class="tiles">{told}</div></section>')


def _acts(called: dict[str, str]) -> None:
    st.html(f"<h2>{escape(say('accounts.acts'))}</h2>")
    everybody = ["", *called]
    who = st.selectbox(
        say("accounts.by"),
        everybody,
        format_func=lambda one: called[one] if one else say("accounts.everybody"),
        key="accounts-by",
        width=320,
    )
    before = st.session_state.get("accounts-before")
    deeds = face().acts_of(who or None, MOST, before)
    rows = "".join(_row(one, called) for one in deeds)
    heads = "".join(f"<th>{escape(say(f'accounts.head.{name}'))}</th>" for name in ("row", "at", "who", "what"))
    st.html(f'<div class="wide"><table class="acts"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>')
    with st.container(horizontal=True):
        if before is not None:
            st.button(say("accounts.newest"), key="accounts-newest", on_click=_from, args=(None,))
        if len(deeds) == MOST:
            st.button(say("accounts.older"), key="accounts-older", on_click=_from, args=(deeds[-1].seq,))


def _row(one: Deed, called: dict[str, str]) -> str:
    who = called.get(one.actor, one.actor[:12])
    words = one.words
    for known, name in called.items():  # the ledger tells people by the beginning of their ids
        words = words.replace(known[:12], name)
    told = f"{one.table}: {words}" if one.table and one.table not in words else words
    cells = (str(one.seq), history.when(one.at), who, told)
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _from(seq: int | None) -> None:
    st.session_state["accounts-before"] = seq
