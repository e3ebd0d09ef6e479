"""The question box: one line above the form of Ask, or on a page without it, which then has the question's button. A
typed question fills in the form; nothing is spent.

The typed text is held by the browser's session alone: the text is in no file, no log and no address. Completions come
from the declaration; the browser matches them while a person types, so no keystroke is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import dpengine as dp
from dpengine.messages import say
from dpengine.reading import reader
from dpengine.reading.reader import LONGEST, Meaning
from ui.ask import fit_warnings, form_state, preview, shown_answer, spend
from ui.parts import job, requests
from ui.shell import nav, scroll
from ui.shell.frame import hint, paragraph
from ui.shell.state import may
from ui.words import prices
from ui.words.markup import p, unmarked

_FIELD = "box-field"
_READ, _USED = "box-read", "box-used"  # the readings of the text, and the one in the form
_FORM = "box-form"  # what the form held when the text had filled it in: a change of it ends the note
_PAST = "box-past"  # what the form held before each change: the table, the question and its choices
_NOW = "box-now"  # what it holds
MOST_UNDONE = 20
_COMING = "box-coming"  # typed on another page
ASKED = "asked"  # in the address: the request that opens on Ask once it is over
MOST_OFFERED = 500  # phrases that the browser gets for completion

Then = Callable[[dp.Table | None], None]  # once a column is declared: reads the text again; with None, on a later page
Kinds = Callable[[dp.Table, str, Then], None]  # draws what an undeclared column may hold


def show(table: dp.Table, kinds: Kinds, own: bool = False) -> DeltaGenerator:
    """Draw the box, and what was understood of the typed text. Call this before the form is drawn, because the box
    fills in the form. `own`: on a page without the form. Returns where the note stands, for `follow`."""
    if coming := st.session_state.pop(_COMING, None):
        st.session_state[_FIELD] = coming
        _fill(table, coming)
    elif not st.session_state.get(_FIELD):  # the page was left meanwhile: the form may hold another question
        st.session_state.pop(_READ, None)
    with st.container(key="box"):
        example = say("box.own" if own else "box.example", text=reader.example(table.schema))
        given: Any = {"placeholder": example, "max_chars": LONGEST}
        st.text_input(say("box.label"), key=_FIELD, on_change=_typed, args=(table,), **given)
        scroll.complete(tuple(reader.vocabulary(table.schema)[:MOST_OFFERED]))
        found = st.session_state.get(_READ)
        note = st.empty()
        if found is not None and found[0][0] == table.name and _answer() in ("", found[0][1]):
            with note.container():
                readings = _understood(table, kinds, own, *found[1])
                with st.container(key="box-other", horizontal=True, vertical_alignment="center") if readings else note:
                    for place, reading in enumerate(readings):
                        label = say("box.rather", sentence=unmarked(reading.sentence))
                        st.button(label, key=f"box-rather-{place}", on_click=_use, args=(table, reading))
    return note


def typed(table: dp.Table) -> bool:
    """Has the typed text filled in the form?"""
    found = st.session_state.get(_READ)
    return found is not None and found[0][0] == table.name and bool(found[1][0])


def _answer() -> str:
    """The answer that the page shows: what was understood before it was asked is said no longer."""
    return str(st.query_params.get("answer") or "")


def follow(below: DeltaGenerator, note: DeltaGenerator, table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """Note a change of the form, and draw a button that undoes the change, as nothing was spent. The button stands in
    `below`, under the sentence, so that the sentence does not move away from the pointer. Once somebody has changed
    what the text filled in, the `note` of `show` goes."""
    now = (table.name, key, {name: value for name, value in given.items() if name != "epsilon"})
    before, past = st.session_state.get(_NOW), st.session_state.setdefault(_PAST, [])
    if before is not None and before[0] == table.name and before != now:
        past[:] = [*past, before][-MOST_UNDONE:]
    st.session_state[_NOW] = now
    if st.session_state.setdefault(_FORM, now) != now and st.session_state.pop(_READ, None) is not None:
        note.empty()
    if past and past[-1][0] == table.name:
        below.button(say("box.undo"), key="box-undo", on_click=_undo, args=(table,))


def elsewhere(name: str) -> None:
    """Draw the question box on a page that opens no table. A typed question opens Ask, which reads it."""
    with st.container(key="box"):
        label = say("box.label_of", table=unmarked(name))  # in the field itself: the first screen has few words
        typed = st.text_input(label, key=_FIELD, max_chars=LONGEST, placeholder=label, label_visibility="collapsed")
    if typed:
        st.session_state[_COMING] = typed
        st.switch_page(nav.page("ask"), query_params={"table": name})


def ask_here(table: dp.Table, kinds: Kinds) -> bool:
    """Draw the question box on a page without the form and, once a question is typed, what it was understood as, its
    error and warnings as on Ask, and its button, at its opening price; *change it* opens Ask with the form filled in.
    True if a question was typed and understood."""
    show(table, kinds, own=True)
    if not typed(table):
        return False
    kept = form_state.state(table)
    key, given = kept["q"], spend.opened(table, kept)
    if sentence := requests.not_covered(table, key, given):
        job.refused(sentence)
        return True
    try:
        usual = table.query(key, **given, noise="")
        query = table.cheapest(usual)
        price = table.preview(query, checked=True)
    except dp.AllowanceError as complaint:
        hint(str(complaint))
        return True
    spend.describe(table, query, price, steps=True, brief=True)
    preview.show_both(table, query)
    running = job.running(table, query)
    again = bool(running or table.recall(query))
    if running:
        job.elsewhere(running)
    if not fit_warnings.instead(table, query, url_name=ASKED):
        if useless := spend.useless(price):
            paragraph(useless, "warn")
            if not spend.offer_useful(table, query):
                with st.expander(say("spend.helps")):
                    spend.show_levers(table, query)
        with st.container(horizontal=True, vertical_alignment="center", key="own-bar"):
            label = say("ask.button_again" if again else "ask.button", share=prices.takes(table, price.share))
            kind, sure = shown_answer.kind(table, query, price), again or spend.sure(table, query, price)
            job.ask_button(label, table, query, "own-go", not price.admissible, kind, ASKED, again=sure)
            where = preview.preview_link(table, usual)
            st.page_link(nav.page("ask"), label=say("box.change"), query_params=where)
    if not price.admissible and not job.short(table, price):
        job.too_much(table)
    return True


def empty() -> None:
    """Clear the box, for a new question."""
    st.session_state[_FIELD] = ""
    st.session_state.pop(_READ, None)


def _typed(table: dp.Table | None) -> None:
    text = str(st.session_state.get(_FIELD) or "")
    if table is None:
        st.session_state[_COMING] = text
    else:
        _fill(table, text)


def _fill(table: dp.Table, text: str) -> None:
    """Read a text and put its likeliest question into the form. The form stays as it is if the text cannot be read."""
    st.session_state.pop(_READ, None)
    st.session_state.pop(_FORM, None)
    if not text.strip():
        return
    found: Any
    try:
        found = [table.readings(text), "", []]
        if not found[0]:
            table.read(text)
    except dp.AllowanceError as refused:
        found = [[], str(refused), []]
    unread = [word for reading in found[0][:1] for word in reading.unread]
    if (unread or not found[0]) and (missing := reader.undeclared(text, table.facts, unread)):
        found = [[], "", missing]  # no other column is read in its place
    st.session_state[_READ] = ((table.name, _answer()), found)
    if found[0]:
        _use(table, found[0][0])


def _use(table: dp.Table, reading: Meaning) -> None:
    form_state.replace_question(table, reading.key, form_state.rows_counted(table, reading.key, reading.given))
    st.session_state.pop(_FORM, None)
    st.session_state[_USED] = reading


def _undo(table: dp.Table) -> None:
    name, key, given = st.session_state[_NOW] = st.session_state[_PAST].pop()
    st.session_state.pop(_READ, None)
    if name == table.name:
        form_state.replace_question(table, key, given)


def _understood(
    table: dp.Table, kinds: Kinds, own: bool, readings: list[Meaning], refusal: str, missing: list[str]
) -> list[Meaning]:
    """Draw what was read and what was not understood. Returns the other readings; none after a refusal."""
    if missing:
        revises = not table.practice and may("revise", table.name)
        names = ", ".join(say("read.quoted", text=name) for name in missing)
        hint(say("box.undeclared_ask" if revises else "box.undeclared", columns=names))
        for name in missing if revises else []:
            kinds(table, name, _typed)
        return []
    if refusal:
        hint(refusal)
        return []
    used: Meaning = st.session_state[_USED]
    note = p(say("box.read_own" if own else "box.read", sentence=used.sentence), "" if own else "muted", "status")
    if used.unread:
        words = ", ".join(say("read.quoted", text=word) for word in used.unread)
        note = p(say("box.unread", words=words), "warn", "status") + note
    st.html(note)
    return [reading for reading in readings if reading != used]
