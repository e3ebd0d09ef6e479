"""A table's people, for its owner: shares of the allowance, requests, and the price above which a question waits."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent, percent_left, power_of_ten
from dpengine.ledger.people_rules import ALL_QUESTIONS, CHANGED, NO, YES, ShareRequest
from dpengine.messages import say
from dpengine.people.face import HeldGrant
from ui.parts import fields, history, requests
from ui.parts.requests import share_of
from ui.people import names
from ui.shell import frame, person
from ui.shell.frame import paragraph, section_head
from ui.shell.language import day_format
from ui.shell.state import face, may

_PRIOR = 10  # in percent


def show(table: dp.Table) -> None:
    if not person.served() or table.practice or not may("grant", table.name):
        return
    called = names.labels_of(face().people()) | {name: name[2:] for name in face().groups()}
    waiting = [wish for wish in face().pending() if wish.table == table.name]
    with st.container(key="card-people"):
        badge = f' <span class="badge">{len(waiting)}</span>' if waiting else ""
        lead = f'<p class="muted">{escape(say("grants.lead"))}</p>'
        st.html(f'<h2 id="people">{escape(say("grants.title"))}{badge}</h2>{lead}')
        requests.show_feedback(f"grants-{table.name}")
        for wish in waiting:
            wished(table, wish, called)
        for held in face().grants(table.name):
            if held.grant.share or held.used:
                _held(table, held, called)
        if not table.closed:
            _give(table, called)
            _limit(table)


def wished(table: dp.Table | None, wish: ShareRequest, called: dict[str, str]) -> None:
    """Draw one wish: who asks, why, for how much, what is known of a person after the table's answers (without a
    `table`, only its name), and the buttons that decide."""
    who = called.get(wish.actor, wish.actor[:10])
    if wish.share is not None:
        sentence = say("grants.wish.share", person=who, share=percent(wish.share))
    else:
        sentence = say("grants.wish.question", person=who, takes=percent(wish.takes or Fraction(0)))
    asked = str((wish.claim or {}).get("sentence", ""))
    promise = _promise(table) if table is not None else say("grants.wish.table", table=wish.table)
    with st.container(key=f"wish-{wish.id}", border=True):
        lines = [f"<b>{escape(sentence)}</b>", escape(asked), escape(say("grants.wish.reason", reason=wish.reason))]
        lines += [f'<span class="muted">{escape(line)}</span>' for line in (promise, history.when(wish.at))]
        st.html("".join(f"<p>{line}</p>" for line in lines if line))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            given, key = (wish.table, wish.id, YES), f"yes-{wish.id}"
            st.button(say("grants.approve"), key=key, type="primary", on_click=_decide, args=given)
            st.button(say("grants.decline"), key=f"no-{wish.id}", on_click=_decide, args=(wish.table, wish.id, NO))
            if wish.share is not None:
                st.text_input(say("grants.other"), key=f"other-{wish.id}", width=160)
                given, key = (wish.table, wish.id, CHANGED), f"changed-{wish.id}"
                st.button(say("grants.change"), key=key, on_click=_decide, args=given)


def _promise(table: dp.Table) -> str:
    """A sentence on how far a suspicion about a person can rise: by what was asked so far, and by the whole allowance.
    Granting shares does not change the latter."""
    meter = table.meter()
    now, whole = (fields.odds_after(_PRIOR, epsilon) for epsilon in (meter.spent_epsilon, meter.epsilon))
    sentence = say(f"grants.odds.{table.facts.relation}", prior=_PRIOR, now=now, whole=whole)
    return f"{sentence} {say('odds.delta', delta=power_of_ten(meter.delta)) if meter.delta else say('odds.no_delta')}"


def _held(table: dp.Table, held: HeldGrant, called: dict[str, str]) -> None:
    grant = held.grant
    who = called.get(grant.to, grant.to[:10])
    used = min(held.used / grant.share, Fraction(1)) if grant.share else Fraction(1)
    facts = [say("grants.share", share=percent(grant.share), left=percent_left(1 - used))]
    facts += [say("grants.until", day=grant.until)] if grant.until else []
    facts += [_questions(grant.questions)] if grant.questions != ALL_QUESTIONS else []
    with st.container(key=f"held-{grant.to}", horizontal=True, vertical_alignment="center"):
        st.html(names.person_html(who, " · ".join(facts), below=frame.small_bar(used)))
        if grant.share and grant.to != person.person():
            key = f"back-{grant.to}-{grant.seq}"
            st.button(say("grants.back"), key=key, on_click=_back, args=(table.name, grant.to))


def _questions(patterns: tuple[str, ...]) -> str:
    kept = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    titles = [dp.catalogue[key].card.title if key in dp.catalogue else key for key in kept]
    return say("grants.except", questions=", ".join(titles)) if kept else ", ".join(patterns)


def _give(table: dp.Table, called: dict[str, str]) -> None:
    others = [person_id for person_id in called if person_id != person.person()]
    if not others:
        paragraph(say("grants.nobody"))
        return
    at = table.name
    section_head(say("grants.give"), level="h3")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # No default, so that nobody gets a grant by mistake.
        label, none, key = say("grants.who"), say("grants.choose"), f"give-who-{at}"
        st.selectbox(label, others, None, called.__getitem__, key, placeholder=none, width=280)
        st.text_input(say("grants.how_much"), key=f"give-share-{at}", width=160, placeholder="20 %")
        st.date_input(say("grants.until_when"), value=None, key=f"give-until-{at}", format=day_format(), width=180)
    titles = {key: question.card.title for key, question in dp.catalogue.items()}
    label, none = say("grants.not_these"), say("grants.all_questions")
    st.multiselect(label, list(titles), format_func=titles.__getitem__, key=f"give-not-{at}", placeholder=none)
    st.button(say("grants.give_do"), key=f"give-do-{at}", type="primary", on_click=_granted, args=(at, called))


def _limit(table: dp.Table) -> None:
    at, now = table.name, face().limit(table.name)
    section_head(say("grants.limit"), say("grants.limit_lead"), level="h3")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = "" if now is None else percent(now)
        st.text_input(say("grants.limit_share"), value=shown, key=f"limit-{at}-{shown}", width=200, placeholder="5 %")
        st.button(say("grants.limit_do"), key=f"limit-do-{at}", on_click=_limited, args=(at, f"limit-{at}-{shown}"))


def _decide(table: str, wish: str, answer: str) -> None:
    typed = str(st.session_state.get(f"other-{wish}") or "")

    def decide() -> None:
        face().decide(wish, answer, share_of(typed) if answer == CHANGED else None)

    requests.act(f"grants-{table}", f"grants.decided.{answer}", decide)


def _granted(table: str, called: dict[str, str]) -> None:
    who = str(st.session_state.get(f"give-who-{table}") or "")
    until: date | None = st.session_state.get(f"give-until-{table}")
    kept = [f"!{key}" for key in st.session_state.get(f"give-not-{table}") or ()]
    typed = str(st.session_state.get(f"give-share-{table}") or "")

    def give() -> None:
        last = "" if until is None else until.isoformat()
        face().grant(table, who, share_of(typed), (*ALL_QUESTIONS, *kept), last)

    if requests.act(f"grants-{table}", "grants.given", give, person=called.get(who, "")):
        st.session_state[f"give-share-{table}"] = ""


def _back(table: str, to: str) -> None:
    requests.act(f"grants-{table}", "grants.taken", lambda: face().grant(table, to, 0))


def _limited(table: str, field: str) -> None:
    typed = str(st.session_state.get(field) or "").strip()
    work = (lambda: face().set_limit(table, share_of(typed))) if typed else (lambda: face().set_limit(table, None))
    requests.act(f"grants-{table}", "grants.limit_done" if typed else "grants.limit_none", work)
