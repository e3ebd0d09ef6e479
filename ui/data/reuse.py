"""Declare a table like an earlier one: from a table that is here, or from a declaration in a file.

Only names decide what is offered and what differs; no row is read. The answers fill the draft, and each can be changed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import streamlit as st

import dpengine as dp
from dpengine.declared.declaration import Differences
from dpengine.declared.spelling import normal
from dpengine.messages import say
from ui.data import draft as drafts
from ui.data.draft import OUT, Card, Draft
from ui.data.wizard import problem
from ui.parts import exports
from ui.parts.fields import details
from ui.shell.frame import paragraph
from ui.shell.incoming import here
from ui.shell.state import open_table, workspace
from ui.words.markup import bullets, p, unmarked

MOST_OFFERED = 5
MOST_NAMED = 8
MOST_FILE = 20_000_000
_FIELDS = ("unit", "who", "who-likely", "each", "each-usual", "relation", "about", "each-own", "numbers")


def offer(draft: Draft, above: bool) -> None:
    """Draw buttons for the tables with at least half of their declared columns in this file, the closest first; and a
    field for a file. With such a table this stands `above` the form, else below."""
    alike = _alike(draft)
    if above != bool(alike):  # without such a table it stands below what must be answered
        return
    with st.container(key="card-like"):
        if alike:
            first = alike[0]
            paragraph(say("data.like.lead", table=first.title))
            with st.container(horizontal=True):
                for place, declared in enumerate(alike[:MOST_OFFERED]):
                    label = unmarked(say("data.like.do", table=declared.title))
                    st.button(label, key=f"declare-like-{place}", on_click=_take, args=(draft, declared))
        with details(say("data.like.file_title"), "declare-like-open") as opened:
            if not opened:
                return
            given = here.picker(say("data.like.file"), key=f"declare-like-file-{draft.uploads}")
            if given is not None:
                _read(draft, given)
            if (refused := st.session_state.pop("declare-like-refused", "")) != "":
                problem(str(refused))


def _alike(draft: Draft) -> list[dp.Declaration]:
    names = {normal(name) for name in draft.names}
    found: list[tuple[int, int, dp.Declaration]] = []
    for name, _ in workspace().names():
        with suppress(dp.AllowanceError):  # removed meanwhile, or not this person's
            declared = open_table(name).declaration()
            same = sum(normal(column) in names for column in declared.schema.columns)
            if 2 * same >= len(declared.schema.columns):
                found.append((same, len(found), declared))
    return [declared for _, _, declared in sorted(found, key=lambda one: one[:2], reverse=True)]


def _read(draft: Draft, given: object) -> None:
    draft.uploads += 1
    try:
        declared = dp.Declaration.read(here.content(given, MOST_FILE))
        here.release(given)
        _take(draft, declared)
    except dp.AllowanceError as refusal:
        st.session_state["declare-like-refused"] = str(refusal)
    st.rerun()


def _take(draft: Draft, declared: dp.Declaration) -> None:
    """Fill the draft from an earlier declaration. Go on to the columns if nothing about the people is left to say."""
    try:
        fitted, draft.differs = declared.fitted(draft.names)
    except dp.AllowanceError as refusal:
        draft.complaint = refusal
        return
    draft.like, draft.complaint = declared.title, None
    unit = fitted.unit
    draft.many = "one" if unit.id_column is None else "more"
    draft.who = unit.id_column if unit.id_column in draft.names else None
    draft.each = unit.at_most if unit.id_column is not None else None
    draft.relation = fitted.relation
    draft.whose = fitted.whose or None
    if draft.path is not None:  # how numbers are written; what else a file says about itself counts
        own = fitted.dialect
        draft.dialect = replace(draft.dialect, decimal=own.decimal, thousands=own.thousands)
    earlier = {normal(name) for name in declared.header}
    for name in draft.names:
        if name in fitted.schema.columns:
            draft.cards[name] = Card.of(fitted.schema[name], draft.dialect, name)
        elif normal(name) in earlier:  # it was left out then
            draft.cards[name] = Card(kind=OUT)
    for part in _FIELDS:
        st.session_state.pop(f"declare-{part}", None)
    with suppress(dp.AllowanceError):
        drafts.unit(draft)
        drafts.relation(draft)
        draft.go("cards")


def show_differences(draft: Draft) -> None:
    """Draw what differs between the earlier table and this one, by names."""
    if not draft.like:
        return
    differs: Differences = draft.differs or Differences()
    lines = []
    if differs.absent:
        lines.append(say("data.like.absent", columns=list(differs.absent[:MOST_NAMED]), many=len(differs.absent)))
    if differs.fresh:
        lines.append(say("data.like.fresh", columns=list(differs.fresh[:MOST_NAMED]), many=len(differs.fresh)))
    if differs.renamed:
        pairs = [say("data.like.pair", was=was, now=now) for was, now in differs.renamed[:MOST_NAMED]]
        lines.append(say("data.like.renamed", pairs=pairs))
    lead = say("data.like.differs" if lines else "data.like.same", table=draft.like)
    st.html(p(lead, "read", "status") + (bullets(lines) if lines else ""))


def offer_download(table: dp.Table) -> None:
    """Draw a button that downloads the declaration as one file, for next year's table."""
    name = "".join(sign if sign.isalnum() or sign in " -_." else "-" for sign in table.name).strip() or "table"
    label, note = say("data.like.download"), say("data.like.download_help")
    exports.offer(label, table.declaration().text(), f"{name}.declaration.json", "declare-take", help=note)
