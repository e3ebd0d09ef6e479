"""Two questions about people: can one be in several rows, and is being in the table itself a secret?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.budget import usual_delta
from dpengine.core.errors import AllowanceError
from dpengine.declared.id_names import numbering_people
from dpengine.declared.unit import MOST_ROWS_EACH
from dpengine.messages import plain, say
from ui.data import declare_draft as drafts
from ui.data import declare_price as price
from ui.data import declare_protect as protect
from ui.data import preset_whose
from ui.data.declare import complain, heading, kept, onwards, reconsider
from ui.data.declare_draft import CARE, Draft
from ui.shell.state import open_table, workspace
from ui.words.markup import unmarked

MOST_PEOPLE = 10**10
USUAL_EACH = [1, 3, 5, 10]  # rows of one person, each one click away


def rows(draft: Draft) -> None:
    heading("data.unit")
    _as_before(draft)
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
        if draft.many == "one" and (numbers := numbering_people(draft.names)):
            asked = unmarked(say("data.unit.one_each", column=numbers[0]))
            draft.each_own = st.checkbox(asked, key=kept("declare-each-own", draft.each_own))
        elif draft.many == "one" and (likely := preset_whose.whose(draft.names) or preset_whose.coming(draft.names)):
            code = "data.unit.one_sure" if preset_whose.whose(draft.names) else "data.unit.one_coming"
            st.html(f'<p class="warn" role="status">{escape(say(code, column=likely[0]))}</p>')
        if draft.many == "more":
            _likely(draft)
            draft.who = st.selectbox(
                say("data.unit.who_other" if _offers(draft) else "data.unit.who"),
                draft.names,
                index=None,
                key=kept("declare-who", draft.who),
                placeholder=say("data.unit.who_none"),
                help=f"{say('data.unit.who_help')} {say('data.unit.who_same')}",
                on_change=_follows,
                args=("declare-who-likely", "declare-who", preset_whose.whose(draft.names)),
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
            if draft.each is not None:
                st.html(f'<p class="warn" role="status">{escape(say("data.unit.each_cut", each=draft.each))}</p>')
    secret(draft)
    reconsider(draft, lambda: _said(draft), "unit.", "data.relation.", "facts.")
    offered = protect.offered(draft)
    if offered:
        protect.offer(draft, offered)
    else:
        complain(draft)
    if onwards(draft, lambda: _said(draft), first=not offered):
        draft.forth()
        st.rerun()


def _as_before(draft: Draft) -> None:
    """A table with the same columns is here, by their public names, and what was said of it: the same rows keep its
    terms, and are refused at the very end under others. Whether they are the same nobody is told before: a file would
    be a guess at the rows of a table, and the page would say whether it is right."""
    with suppress(AllowanceError):  # taken away meanwhile
        alike = (one for one in workspace().tables() if not one.practice and one.header == draft.names)
        if (found := next(alike, None)) is None:
            return
        unit = open_table(found.name).facts.unit
        rows = say("data.so_far.one") if unit.id_column is None else say("data.so_far.more", each=unit.at_most)
        told = say("data.unit.before", table=found.name, rows=rows)
        st.html(f'<p class="muted">{escape(told)}</p>')


def _likely(draft: Draft) -> None:
    """Columns whose names say whose a row is, each one click away; the only one stands there already, as a guess."""
    found = preset_whose.whose(draft.names)
    if draft.who is None and "declare-who" not in st.session_state:
        draft.who = preset_whose.surely_whose(draft.names)
    if found and _offers(draft):
        _one_click("who", "likely", found, draft.who, unmarked)


def _offers(draft: Draft) -> bool:
    """Are there columns to choose from by their names? Not where one is meant beyond doubt: the field has it."""
    return bool(preset_whose.whose(draft.names)) and preset_whose.surely_whose(draft.names) is None


def _usual_each(draft: Draft) -> None:
    """Some numbers of rows, each one click away and with what it buys and what it loses; none is chosen before."""
    key = kept("declare-each-usual", draft.each if draft.each in USUAL_EACH else None)
    st.radio(
        say("data.unit.each"),
        USUAL_EACH,
        index=None,
        key=key,
        format_func=plain,
        captions=[" ".join(_worth(draft, each)) for each in USUAL_EACH],
        on_change=_takes,
        args=(key, "declare-each"),
        help=say("data.unit.each_help"),
    )


def _worth(draft: Draft, each: int) -> list[str]:
    """How rough answers are if so many rows of a person count, how many good ones there are, and what is not counted.
    How many there are needs a number of people, and what the columns' names suggest."""
    told = say("data.unit.each_rough" if each > 1 else "data.unit.each_best", each=each)
    dropped = say("data.unit.each_drops" if each > 1 else "data.unit.each_drops_one", each=each)
    relation = st.session_state.get("declare-relation", draft.relation)  # both fields stand below
    people = st.session_state.get("declare-about", draft.about)
    if relation == "add_remove" and people and (columns := drafts.likely(draft)):
        unit = dp.Unit.column(draft.who or draft.names[0], each)
        asked = price.typical(columns, "add_remove", people, unit)
        many = price.good_questions(dp.Budget(CARE["usual"], usual_delta(people)), asked)
        told = say("data.unit.each_many", many=min(many, price.MOST_TOLD))
    return [told, dropped]


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
