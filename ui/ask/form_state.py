"""The contents of the form of Ask: in the session, in the page's address, and as a draft between sessions.

The form holds the key of a question and its parameters by name (`given`), as the engine takes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import sentence_of
from dpengine.core.strict_json import read_strict
from dpengine.declared.schema import Category, Column, ItemSet, Number
from dpengine.mechanisms import asked_on
from dpengine.messages import say
from ui.ask import trusted
from ui.parts import conditions, fields, job
from ui.shell import nav, scroll
from ui.shell.frame import paragraph
from ui.shell.language import IN_ADDRESS, address
from ui.words.markup import link

STATE = "ask"
_DRAFT = "form-draft"  # the draft that this session stored last
# `fields.forget_pickers` deletes these two; `replace_question` puts the first back.
_BEGAN = "ask-began"  # the question that the form began with
SET_WITH = "where-set-with"  # of "where" and "by": the value, and the question in the form when the person set it
MOST_ASKED = 100
_BESIDE = ("table", "answer", IN_ADDRESS)  # in the address too, and no part of the question
ORDER = asked_on("ask")
_JSON = ("where", "of", "bins", "with_range", "people", "columns", "how_many", "ordered", "options", "bandwidth")
USUAL = {"epsilon": "0.1"}


# The form: what it may ask of a table, what it holds now, and how it gets another question.


def choices(table: dp.Table, key: str) -> list[str]:
    """The declared columns that suit a question. All columns if the question is about no column: its condition can be
    on any."""
    kinds: dict[str, tuple[type[Column], ...]] = {
        "column.number": (Number,),
        "column.ordered": (Number, dp.Date),
        "column.category": (Category,),
        "column.listed": (Category, ItemSet),
        "column.any": (Number, Category, ItemSet, dp.Date),
    }
    for parameter in dp.catalogue[key].card.parameters:
        if parameter.kind in kinds:
            return parameter.fitting(table.schema.of_kind(*kinds[parameter.kind]), table.schema)
        if parameter.kind in ("columns.curve", "columns.number"):
            return table.schema.of_kind(Number)
        if parameter.kind == "columns":
            return table.schema.of_kind(Category)
    return list(table.schema.columns)


def offered(table: dp.Table, key: str) -> list[str]:
    """The options of a question's column picker: its `choices`, and grouped columns where it accepts them. Empty if the
    question needs several columns and the table has only one."""
    kinds = {parameter.kind for parameter in dp.catalogue[key].card.parameters}
    columns = choices(table, key)
    if kinds & {"column.listed", "column.category", "columns"}:
        columns = columns + conditions.group_options(table.schema)
    elif "column.any" in kinds:  # a number has bars of its own
        columns = columns + conditions.group_options(table.schema, numbers=False)
    return columns if not kinds & {"columns", "columns.number"} or len(columns) > 1 else []


def state(table: dp.Table) -> dict[str, Any]:
    """The current form: from the URL on arrival, else as the person left it, else with its first question."""
    arriving = {name: st.query_params[name] for name in st.query_params if name not in _BESIDE}
    kept = st.session_state.get(STATE)
    if kept is None or kept["table"] != table.name or (arriving and arriving.get("q") and arriving != kept["url"]):
        fields.forget_pickers()
        given = _read(arriving)
        asked = arriving.get("q", "")
        kept = {"table": table.name, "url": arriving, "given": given, "q": trusted.arrive(asked, given)}
        kept |= {"came_for": asked}
        st.session_state[STATE] = kept
        st.session_state.pop(_BEGAN, None)
    elif not arriving:  # back to the form as it was left: its conditions and groups belong to an earlier question
        set_with = st.session_state.get(SET_WITH, {})
        st.session_state[SET_WITH] = {part: (value, "") for part, (value, _) in set_with.items()}
    if kept["q"] not in ORDER or not offered(table, kept["q"]):
        first = _first(table)
        if first is not None and STATE in first.card.asked_on:
            given = {name: value for name, value in whole(first).items() if name != "epsilon"}  # as any that is picked
            kept["q"], kept["given"] = first.card.key, given | kept["given"]
        else:
            kept["q"] = next(key for key in ORDER if offered(table, key))
    return dict(kept)


def show_not_here(table: dp.Table, kept: dict[str, Any], key: str) -> None:
    """Say that the question in the link belongs to another page, with a link there, until another one than the first is
    picked."""
    asked = dp.catalogue.get(kept.get("came_for", ""))
    if asked is None or opens(asked.card.key) or key != kept["q"] or "answer" in st.query_params:
        return
    page = asked.card.asked_on[0]
    there = nav.address(page, table.name, **({"check": "1"} if page == "data" else {}))
    paragraph(link(there, say("form.not_here", question=asked.card.title)), role="status")


def _first(table: dp.Table) -> dp.Query | None:
    """The question that the form begins with: a suggested one, if possible new, and about everyone; None without a
    suggestion."""
    asked = _sentences_asked(table)
    suggested = table.suggestions()
    return min(suggested, key=lambda query: (query.sentence() in asked, not query.where.everyone), default=None)


def _sentences_asked(table: dp.Table) -> set[str]:
    return {sentence_of(entry.charge) for entry in table.history(MOST_ASKED)}


def whole(query: dp.Query) -> dict[str, Any]:
    """A question as the form holds it. A switch that the question omits is off, not at the form's default."""
    given: dict[str, Any] = query.with_noise("").parameters()
    rows = query.facts.unit.id_column is not None
    switches = [parameter for parameter in query.card.parameters if parameter.default is True]
    off = [switch.name for switch in switches if rows or switch.kind != "people"]
    return dict.fromkeys(off, False) | given


def rows_counted(table: dp.Table, key: str, given: dict[str, Any]) -> dict[str, Any]:
    """A question that somebody typed, as the form holds it: rows count unless it says people."""
    kinds = {parameter.kind: parameter.name for parameter in dp.catalogue[key].card.parameters}
    rows = table.facts.unit.id_column is not None and "people" in kinds
    return ({kinds["people"]: False} if rows else {}) | given


def replace_question(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """Put another question into the form. Only callbacks may call this, because they run before the form is drawn."""
    began = st.session_state.get(_BEGAN)
    fields.forget_pickers()
    if began is not None:
        st.session_state[_BEGAN] = began  # the form no longer holds the first question
    arriving = {name: st.query_params[name] for name in st.query_params if name not in _BESIDE}
    st.session_state[STATE] = {"table": table.name, "url": arriving, "given": dict(given), "q": key}


def anew(table: dp.Table, also: Callable[[], None]) -> None:
    """Draw a button below an answer that empties the form and calls `also`."""
    st.button(say("ask.anew"), key="ask-anew", on_click=_cleared, args=(table, also))


def _cleared(table: dp.Table, also: Callable[[], None]) -> None:
    also()
    fields.forget_pickers()
    st.session_state.pop(STATE, None)
    for name in set(st.query_params) - {IN_ADDRESS}:
        del st.query_params[name]
    st.query_params["table"] = table.name


# The page's address.


def _read(arriving: dict[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, text in arriving.items():
        if name == "q":
            continue
        if name in _JSON:
            try:
                given[name] = read_strict(text)
            except ValueError:
                continue
        else:
            given[name] = conditions.read_groups(text) if name in ("by", "column") else text
    return given


def opens(key: str | None) -> bool:
    """Does a link to this question open this form? A link to a question that people answer themselves opens the form
    too."""
    question = dp.catalogue.get(key or "")
    return question is not None and STATE in question.card.asked_on


def of_link(table: dp.Table, link: dict[str, str]) -> dp.Query | None:
    """The question in a link to this form; None if such a question cannot be asked."""
    if not opens(link.get("q")):
        return None
    try:
        return table.query(link["q"], **USUAL | _read(link) | {"noise": ""})
    except dp.AllowanceError:
        return None


def remember(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """Writes the form to the URL, so that every view can be sent as a link."""
    url = {"q": key} | job.as_texts({name: value for name, value in given.items() if value not in (None, [])})
    url |= trusted.in_link(key)
    before = st.session_state.get(STATE, {})
    came_for = before.get("came_for", "") if before.get("q") == key else ""
    st.session_state[STATE] = {"table": table.name, "url": url, "given": given, "q": key, "came_for": came_for}
    wanted = {"table": table.name} | url
    answer = st.query_params.get("answer")
    if answer:
        wanted["answer"] = answer
    # A link to this very page leaves the browser's address as it was.
    arrived = bool(st.session_state.pop(fields.ARRIVED, False))
    if arrived and fields.key_end() and not answer:  # a page that is opened begins at its top
        scroll.top()  # it may have been tapped far below
    address(wanted, again=arrived)


# The draft: a question that the person began to change and has not paid.


def note_beginning(key: str, given: dict[str, Any]) -> bool:
    """Note the question that the form begins with. True while the form still has that question, at any price."""
    asked = json.dumps([key, {name: value for name, value in given.items() if name != "epsilon"}], default=str)
    return bool(st.session_state.setdefault(_BEGAN, asked) == asked)


def keep_draft(table: dp.Table, key: str, given: dict[str, Any], paid: bool) -> None:
    """Store the changed question as the person's draft, without its price. Delete the draft once its question is paid
    for."""
    if note_beginning(key, given):
        return
    plain = {name: value for name, value in given.items() if name != "epsilon" and value not in (None, [])}
    now = None if paid else json.dumps([key, plain], default=str, sort_keys=True)
    if st.session_state.get(_DRAFT) == (table.name, now):
        return
    st.session_state[_DRAFT] = (table.name, now)
    with suppress(dp.AllowanceError):  # a full disk stops no question
        table.keep_draft(None) if now is None else table.keep_draft(key, json.loads(now)[1])


def unfinished(table: dp.Table, now: dp.Query | None) -> None:
    """Offer the draft in a line above the form. Nothing if the draft is the form's present question (`now`), if it was
    answered since, or if it cannot be asked any more."""
    draft = table.draft()
    if draft is None or draft.get("key") not in ORDER or not isinstance(draft.get("given"), dict):
        return
    try:
        sentence = table.query(draft["key"], **USUAL | draft["given"] | {"noise": ""}).sentence()
    except dp.AllowanceError:  # declared anew since, or not complete
        return
    if (now is not None and sentence == now.sentence()) or sentence in _sentences_asked(table):
        return
    with st.container(key="form-draft", horizontal=True, vertical_alignment="center"):
        paragraph(say("draft.left", sentence=sentence), "", role="status", width="content")
        given = (table, draft["key"], draft["given"])
        st.button(say("draft.take"), key="form-draft-take", on_click=replace_question, args=given)
        st.button(say("draft.drop"), key="form-draft-drop", on_click=table.keep_draft, args=(None,))
