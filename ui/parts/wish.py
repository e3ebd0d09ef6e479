"""Asking for more: a larger share of a table's allowance, or one question above the owner's limit, with a reason.

A wish is a row of the ledger; who owns the table, or an administrator, decides about it, never who wished. What is
asked and its price are shown to them, never an answer: none was drawn.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.release import new_request
from dpengine.core.exact import as_typed, read_number, text_of
from dpengine.core.printed import percent, percent_left
from dpengine.messages import say
from ui.parts import said
from ui.shell import nav, person
from ui.shell.state import face, may

LONGEST = 500


def waits(table: dp.Table, query: dp.Query) -> bool:
    """Does this take more of the allowance than the owner lets pass without a look?"""
    if not person.served() or table.practice or face().limit(table.name) is None:
        return False
    return table.preview(query).waits


def approval(table: dp.Table, query: dp.Query, key: str) -> None:
    """In place of the button that asks: why it is needed, and a button that sends it to the owner."""
    most, field = face().limit(table.name), f"wish-{key}-reason"
    request = st.session_state.setdefault("wish-next", {}).setdefault((key, query.digest()), f"w-{new_request()}")
    given = (table.name, query, field, request)
    with st.container(key=f"waits-{key}"):
        st.html(f'<p class="warn">{escape(say("wish.waits", limit=percent(most or Fraction(0))))}</p>')
        st.text_input(say("wish.reason"), key=field, max_chars=LONGEST)
        st.button(say("wish.approve_do"), key=f"wish-{key}-{request}", on_click=_ask, args=given)
        said.tell(f"wish-{table.name}")


def own_short(table: dp.Table, price: dp.Preview) -> str | None:
    """Where a question does not fit because of what is left of the person's own share: a sentence."""
    if price.admissible or price.own_share is None or price.own_left is None or price.own_share <= price.own_left:
        return None
    return say("wish.short", left=percent_left(price.own_left), takes=percent(price.own_share))


def link(table: dp.Table) -> None:
    st.page_link(nav.page("data"), label=say("wish.link"), query_params={"table": table.name})


def show(table: dp.Table) -> None:
    """On the page of a table: what the person has of it, and a form to ask for more."""
    if not person.served() or table.practice or table.closed or not may("wish", table.name):
        return
    own = [held for held in face().grants(table.name) if held.grant.share]
    mine, _ = face().meter(table.name)
    if mine.share == 1:  # there is no more to ask for
        return
    with st.container(key="card-wish"):
        st.html(f"<h2>{escape(say('wish.title'))}</h2>")
        ends = [held.grant.until for held in own if held.grant.until]
        lead = say("wish.have", share=percent(mine.share), left=percent_left(1 - mine.used)) if mine.share else ""
        until = say("wish.until", day=min(ends)) if ends and mine.share else ""
        st.html(f'<p class="read">{escape(lead or say("wish.have_none"))} {escape(until)}</p>')
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(say("wish.share"), key=f"wish-share-{table.name}", width=200, placeholder="20 %")
            st.text_input(say("wish.reason"), key=f"wish-reason-{table.name}", width=420, max_chars=LONGEST)
            st.button(say("wish.do"), key=f"wish-do-{table.name}", on_click=_more, args=(table.name,))
        said.tell(f"wish-{table.name}")


def share_of(typed: str) -> str:
    """A share as somebody typed it, in percent, as the engine reads it."""
    return text_of(read_number(as_typed(typed.replace("%", "").strip()), "share") / 100)


def _ask(table: str, query: dp.Query, field: str, request: str) -> None:
    reason = str(st.session_state.get(field) or "")
    if said.act(f"wish-{table}", "wish.sent", lambda: face().wish(table, reason, query=query, wish_id=request)):
        st.session_state[field] = ""


def _more(table: str) -> None:
    typed, reason = (str(st.session_state.get(f"wish-{name}-{table}") or "") for name in ("share", "reason"))
    if said.act(f"wish-{table}", "wish.sent", lambda: face().wish(table, reason, share=share_of(typed))):
        st.session_state[f"wish-share-{table}"] = st.session_state[f"wish-reason-{table}"] = ""
