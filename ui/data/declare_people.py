"""Two questions about people: can one be in several rows, and is being in the table itself a secret?"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

from dpengine.declared.unit import MOST_ROWS_EACH
from dpengine.messages import plain, say
from ui.data import declare_draft as drafts
from ui.data import presets
from ui.data.declare import complain, heading, kept, onwards, reconsider
from ui.data.declare_draft import Draft
from ui.words.markup import unmarked

MOST_PEOPLE = 10**10
USUAL_EACH = [1, 2, 3, 5, 10]  # rows of one person, each one click away


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
            captions=["", say("data.unit.more_means")],
            label_visibility="collapsed",
        )
        if draft.many == "more":
            _likely(draft)
            draft.who = st.selectbox(
                say("data.unit.who_other" if presets.whose(draft.names) else "data.unit.who"),
                draft.names,
                index=None,
                key=kept("declare-who", draft.who),
                placeholder=say("data.unit.who_none"),
                help=f"{say('data.unit.who_help')} {say('data.unit.who_same')}",
                on_change=_follows,
                args=("declare-who-likely", "declare-who", presets.whose(draft.names)),
                width=420,
            )
            _usual_each(draft)
            given = st.number_input(
                say("data.unit.each_typed"),
                1,
                MOST_ROWS_EACH,
                None,
                1,
                key=kept("declare-each", draft.each),
                placeholder=say("data.unit.each_none"),
                on_change=_follows,
                args=("declare-each-usual", "declare-each", USUAL_EACH),
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


def _likely(draft: Draft) -> None:
    """Columns whose names say whose a row is, each one click away; none is chosen before."""
    found = presets.whose(draft.names)
    if found:
        _one_click("who", "likely", found, draft.who, unmarked)


def _usual_each(draft: Draft) -> None:
    _one_click("each", "usual", USUAL_EACH, draft.each, plain)


def _one_click(field: str, which: str, options: list[Any], now: Any, words: Callable[[Any], str]) -> None:
    """Some options of a field, each one click away."""
    key = kept(f"declare-{field}-{which}", now if now in options else None)
    st.pills(
        say(f"data.unit.{field}"),
        options,
        key=key,
        format_func=words,
        on_change=_takes,
        args=(key, f"declare-{field}"),
        help=say(f"data.unit.{field}_help"),
    )


def _takes(one: str, other: str) -> None:
    """What was clicked stands in the field, too."""
    st.session_state[other] = st.session_state[one]


def _follows(one: str, other: str, options: list[Any]) -> None:
    """What was typed or picked in the field is marked among the usual ones, if it is one of them."""
    now = st.session_state[other]
    st.session_state[one] = now if now in options else None


def _said(draft: Draft) -> None:
    drafts.unit(draft)
    drafts.relation(draft)


def secret(draft: Draft) -> None:
    st.html(f'<h2 class="ask-second">{escape(say("data.relation.title"))}</h2>')
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
        if draft.relation == "add_remove":
            about(draft)


def about(draft: Draft) -> None:
    """How many people, by the owner's word. Where being in it is no secret it may stay empty: it tells prices until the
    table is added, and nothing else."""
    free = draft.relation == "replace"
    given = st.number_input(
        say("data.relation.about_replace" if free else "data.relation.about"),
        1,
        MOST_PEOPLE,
        None,
        1,
        key=kept("declare-about", draft.about),
        help=say("data.relation.about_replace_help" if free else "data.relation.about_help"),
        width=320,
        placeholder=say("data.relation.about_none") if free else None,
    )
    draft.about = None if given is None else int(given)
