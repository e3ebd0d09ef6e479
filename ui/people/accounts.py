"""Accounts, for an auditor: every account and every action, by person, to check and to download."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

from dpengine.asking.exports import AuditRow
from dpengine.core.printed import percent_left
from dpengine.messages import say
from ui.ledger import ledger_view
from ui.parts import exports, history
from ui.people import names
from ui.people.names import opened
from ui.shell import frame
from ui.shell.frame import section_head
from ui.shell.state import face

MOST = 100


def show() -> None:
    if not opened("accounts", "accounts", "accounts.not_you"):
        return
    called = names.labels_of(face().people())
    tiles = []
    for account in face().accounts():
        person_name = called.get(account.budget.id.rpartition(":")[2], "")
        title = ", ".join(account.tables) + (f" · {person_name}" if person_name else "")
        left = say("tables.left", left=percent_left(1 - account.meter.used))
        facts = say("accounts.facts", charges=account.meter.charges, epsilon=account.meter.epsilon)
        head = f'<h3>{escape(title)}</h3><p class="muted">{escape(facts)}</p>'
        bar = f'{frame.small_bar(min(account.meter.used, Fraction(1)))}<p class="left">{left}</p>'
        tiles.append(f'<article class="tile">{head}{bar}</article>')
    html = "".join(tiles) or f'<p class="muted">{escape(say("accounts.none"))}</p>'
    st.html(f'<section class="tables"><h2>{escape(say("accounts.all"))}</h2><div class="tiles">{html}</div></section>')
    _acts(called)
    ledger_view.check()
    whole = face()
    exports.offer(say("accounts.export"), lambda: "".join(whole.export()), "ledger.jsonl", "accounts-export")


def _acts(called: dict[str, str]) -> None:
    section_head(say("accounts.acts"))
    names = {"": say("accounts.everybody")} | called
    who = st.selectbox(say("accounts.by"), list(names), 0, names.__getitem__, "accounts-by", width=320)
    before = st.session_state.get("accounts-before")
    deeds = face().acts_of(who or None, MOST, before)
    rows = "".join(_row(deed, called) for deed in deeds)
    heads = "".join(f"<th>{escape(say(f'accounts.head.{name}'))}</th>" for name in ("row", "at", "who", "what"))
    st.html(f'<div class="wide"><table class="acts"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>')
    with st.container(horizontal=True):
        if before is not None:
            st.button(say("accounts.newest"), key="accounts-newest", on_click=_from, args=(None,))
        if len(deeds) == MOST:
            st.button(say("accounts.older"), key="accounts-older", on_click=_from, args=(deeds[-1].seq,))


def _row(deed: AuditRow, called: dict[str, str]) -> str:
    who = called.get(deed.actor, deed.actor[:12])
    words = deed.words
    for known, name in called.items():  # the ledger names people by the start of their ids
        words = words.replace(known[:12], name)
    shown = f"{deed.table}: {words}" if deed.table and deed.table not in words else words
    cells = (str(deed.seq), history.when(deed.at), who, shown)
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _from(seq: int | None) -> None:
    st.session_state["accounts-before"] = seq
