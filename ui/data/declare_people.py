"""Two questions about people: can one be in several rows, and is being in the table itself a secret?"""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.declared.unit import MOST_ROWS_EACH
from dpengine.messages import plain, say
from ui.data import declare_draft as drafts
from ui.data.declare import complain, heading, kept, onwards, reconsider
from ui.data.declare_draft import Draft
from ui.words import gloss

MOST_PEOPLE = 10**10


def rows(draft: Draft) -> None:
    heading("data.unit")
    options = ["one", "more"]
    with st.container(key="card-unit"):
        draft.many = st.radio(
            say("data.unit.title"),
            options,
            index=None,
            key=kept("declare-unit", draft.many),
            format_func=lambda one: say(f"data.unit.{one}_label"),
            captions=[say(f"data.unit.{one}_means") for one in options],
            label_visibility="collapsed",
        )
        if draft.many == "more":
            draft.who = st.selectbox(
                say("data.unit.who"),
                draft.names,
                index=None,
                key=kept("declare-who", draft.who),
                placeholder=say("data.unit.who_none"),
                help=say("data.unit.who_help"),
                width=420,
            )
            st.html(f'<p class="muted">{escape(say("data.unit.who_same"))}</p>')
            given = st.number_input(
                say("data.unit.each"),
                1,
                MOST_ROWS_EACH,
                None,
                1,
                key=kept("declare-each", draft.each),
                placeholder=say("data.unit.each_none"),
                help=say("data.unit.each_help"),
                width=420,
            )
            draft.each = None if given is None else int(given)
            st.html(f'<p class="muted">{escape(say("data.unit.each_means"))}</p>')
            if draft.each is not None:
                st.html(f'<p class="warn" role="status">{escape(say("data.unit.each_cut", each=draft.each))}</p>')
    secret(draft)
    reconsider(draft, lambda: _said(draft), "unit.", "data.relation.", "facts.")
    complain(draft)
    if onwards(draft, lambda: _said(draft)):
        draft.forth()
        st.rerun()


def _said(draft: Draft) -> None:
    drafts.unit(draft)
    drafts.relation(draft)


def secret(draft: Draft) -> None:
    title, lead = say("data.relation.title"), say("data.relation.lead")
    st.html(f'<h2 class="ask-second">{escape(title)}</h2><p class="lead">{gloss.text(lead)}</p>')
    options = ["replace", "add_remove"]
    with st.container(key="card-relation"):
        draft.relation = st.radio(
            say("data.relation.title"),
            options,
            index=None,
            key=kept("declare-relation", draft.relation),
            format_func=lambda one: say(f"data.relation.{one}_label"),
            captions=[say(f"data.relation.{one}_means") for one in options],
            label_visibility="collapsed",
        )
        if draft.relation is not None:
            given = st.number_input(
                say("data.relation.about"),
                1,
                MOST_PEOPLE,
                None,
                1,
                key=kept("declare-about", draft.about),
                help=say("data.relation.about_help"),
                width=320,
                placeholder=plain(drafts.USUAL_PEOPLE) if draft.relation == "replace" else None,
            )
            draft.about = None if given is None else int(given)
        if draft.relation == "replace":
            told = say("data.relation.counted_later", people=drafts.USUAL_PEOPLE)
            st.html(f'<p class="muted">{escape(told)}</p>')
        if draft.relation is not None:
            st.html(f'<p class="muted">{escape(say("data.relation.stays"))}</p>')
