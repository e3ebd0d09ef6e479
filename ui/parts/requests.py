"""Feedback beside the button of an act, and wishes for a larger share of the allowance. An act is one call of the
engine in a callback."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.release import new_request
from dpengine.core.exact import as_typed, read_number, text_of
from dpengine.core.printed import percent, percent_left
from dpengine.ledger.people_rules import CHANGED
from dpengine.messages import say
from dpengine.people.face import AskedFor
from ui.parts import history
from ui.shell import person
from ui.shell.frame import paragraph, section_head, show_error, show_success
from ui.shell.state import face, may

_SAID = "people-said"


def act(place: str, done: str, work: Callable[[], object], **facts: object) -> bool:
    """Do one call of the engine (`work`), and store a message for `show_feedback`. `work` may return facts for the
    sentence. True unless the engine refused."""
    try:
        found = work()
    except dp.AllowanceError as complaint:
        st.session_state[_SAID] = (place, False, str(complaint))
        return False
    st.session_state[_SAID] = (place, True, say(done, **facts | (found if isinstance(found, dict) else {})))
    return True


def forget_feedback() -> None:
    """Drop the message of the last act."""
    st.session_state.pop(_SAID, None)


def show_feedback(place: str) -> None:
    """Draw the message of the last act at this place: good news once, a refusal until the next act."""
    where, good, sentence = st.session_state.get(_SAID) or ("", False, "")
    if where != place:
        return
    if good:
        forget_feedback()
        show_success(sentence)
    else:
        show_error(say("owner.not_done"), sentence)


# Asking for more: a larger share of a table's allowance, or one question above the owner's limit, with a reason.
#
# A wish is a row of the ledger; who owns the table, or an administrator, decides about it, never who wished. What is
# asked and its price are shown to them, never an answer: none was drawn.

LONGEST = 500
LATEST = 10  # wishes of one's own that are listed


def waits(table: dp.Table, query: dp.Query) -> bool:
    """Does this question need the owner's approval?"""
    if not person.served() or table.practice or face().limit(table.name) is None:
        return False
    return table.preview(query).waits


def approval(table: dp.Table, query: dp.Query, key: str) -> None:
    """Draw, in place of the ask button, why approval is needed, and a button that asks the owner for it."""
    most, field = face().limit(table.name), f"wish-{key}-reason"
    request = st.session_state.setdefault("wish-next", {}).setdefault((key, query.digest()), f"w-{new_request()}")
    given = (table.name, query, field, request)
    with st.container(key=f"waits-{key}"):
        paragraph(say("wish.waits", limit=percent(most or Fraction(0))), "warn")
        st.text_input(say("wish.reason"), key=field, max_chars=LONGEST)
        st.button(say("wish.approve_do"), key=f"wish-{key}-{request}", on_click=_ask, args=given)
        show_feedback(f"wish-{table.name}")


def own_short(price: dp.Preview) -> str | None:
    """A sentence on why a question does not fit into the person's own share, in parts of that share; None if it
    fits."""
    if not price.covered:
        return say("people.question_not_granted")
    if price.admissible or price.own_share is None or price.own_left is None:
        return None
    if price.own_share <= price.own_left:
        return None if price.own_delta else say("wish.short_delta")
    if not price.own_whole:
        return say("people.no_grant")
    left, takes = percent_left(price.own_left / price.own_whole), percent(price.own_share / price.own_whole)
    return say("wish.short", left=left, takes=takes)


def not_covered(table: dp.Table, key: str, given: dict[str, Any]) -> str | None:
    """A sentence on why the person's share does not allow this question, before any price is shown; None if the share
    does."""
    if table.practice or not person.served():
        return None
    try:
        price = table.preview(table.query(key, **given | {"epsilon": "1", "noise": ""}))
    except dp.AllowanceError:  # there is no question yet
        return None
    return None if price.covered else say("people.question_not_granted")


def show_requests(table: dp.Table) -> None:
    """Draw on a table's page the person's share, and a form that asks the owner for more."""
    if not person.served() or table.practice or table.closed or not may("wish", table.name):
        return
    own = [held for held in face().grants(table.name) if held.grant.share]
    mine, _ = face().meter(table.name)
    wishes = [wish for wish in _own() if wish.wanted.table == table.name]
    if mine.share == 1:  # there is no more to ask for
        _became(wishes)
        return
    with st.container(key="card-wish"):
        section_head(say("wish.title"))
        ends = [held.grant.until for held in own if held.grant.until]
        lead = say("wish.have", share=percent(mine.share), left=percent_left(1 - mine.used)) if mine.share else ""
        until = say("wish.until", day=min(ends)) if ends and mine.share else ""
        st.html(f'<p class="read">{escape(lead or say("wish.have_none"))} {escape(until)}</p>')
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(say("wish.share"), key=f"wish-share-{table.name}", width=200, placeholder="20 %")
            st.text_input(say("wish.reason"), key=f"wish-reason-{table.name}", width=420, max_chars=LONGEST)
            st.button(say("wish.do"), key=f"wish-do-{table.name}", on_click=_more, args=(table.name,))
        show_feedback(f"wish-{table.name}")
        _became(wishes)


def elsewhere(tables: Collection[str]) -> None:
    """Draw the person's wishes about other tables, and the decisions: a table that is no longer granted has no page."""
    wishes = [wish for wish in _own() if wish.wanted.table not in tables] if person.served() and may("wishes") else []
    if wishes:
        with st.container(key="card-wishes"):
            _became(wishes, named=True)


def _own() -> list[AskedFor]:
    """The person's own wishes, newest first."""
    return [wish for wish in reversed(face().wishes()) if wish.wanted.actor == person.person()]


def _became(wishes: list[AskedFor], named: bool = False) -> None:
    if not wishes:
        return
    rows = []
    for request in wishes[:LATEST]:
        wanted, decision = request.wanted, request.decision
        if wanted.share is not None:
            wish = say("wish.own.share", share=percent(wanted.share))
        else:
            wish = say("wish.own.question", takes=percent(wanted.takes or Fraction(0)))
        state = "waits" if decision is None else decision.answer
        given = percent(decision.share) if decision is not None and decision.share is not None else ""
        became = say(f"wish.own.{state}", share=given) if state == CHANGED else say(f"wish.own.{state}")
        asked = f"{wanted.table}: {wish}" if named else wish
        beside = f"{say('grants.wish.reason', reason=wanted.reason)} · {history.when((decision or wanted).at)}"
        line = (
            f'{escape(asked)} <span class="tag">{escape(became)}</span><br><span class="muted">{escape(beside)}</span>'
        )
        rows.append(f"<li>{line}</li>")
    st.html(f"<h3>{escape(say('wish.own.title'))}</h3><ul>{''.join(rows)}</ul>")


def share_of(typed: str) -> str:
    """A share typed in percent, as text that the engine reads."""
    return text_of(read_number(as_typed(typed.replace("%", "").strip()), "share") / 100)


def _ask(table: str, query: dp.Query, field: str, request: str) -> None:
    reason = str(st.session_state.get(field) or "")
    if act(f"wish-{table}", "wish.sent", lambda: face().wish(table, reason, query=query, wish_id=request)):
        st.session_state[field] = ""


def _more(table: str) -> None:
    typed, reason = (str(st.session_state.get(f"wish-{name}-{table}") or "") for name in ("share", "reason"))
    if act(f"wish-{table}", "wish.sent", lambda: face().wish(table, reason, share=share_of(typed))):
        st.session_state[f"wish-share-{table}"] = st.session_state[f"wish-reason-{table}"] = ""
