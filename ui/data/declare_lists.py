"""A list of values on a card: a usual one, typed or pasted, or from a file that is said to be public.

A list from a file stays on the server: the browser is told how many values it has and the first few.
"""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.declared import spelling
from dpengine.declared.schema import MOST_LISTED
from dpengine.declared.spelling import MISSING, normal
from dpengine.messages import say
from ui.data.declare import kept, problem
from ui.data.declare_column import Card, listed
from ui.data.preset_lists import LISTS
from ui.shell.incoming import here
from ui.shell.state import held

LARGEST = 30 * 2**20
MOST_PICKED = 1_000  # values offered in a picker; of longer lists one is typed
SHOWN = 5


def read_list(data: bytes) -> tuple[str, ...]:
    """One value per line, in quotes or not; empty lines and what was there before (capitals aside) are left out."""
    if len(data) > LARGEST:
        raise AllowanceError("data.list.large", most=LARGEST // 2**20)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise AllowanceError("data.list.encoding") from None
    if "\0" in text:
        raise AllowanceError("data.list.encoding")
    found: dict[str, str] = {}
    for line in text.splitlines():
        bare = line.strip().rstrip(",;").strip()
        if len(bare) > 1 and bare[0] == bare[-1] == '"':
            bare = bare[1:-1].replace('""', '"').strip()
        if bare:
            found.setdefault(normal(bare), bare)
    if len(found) > MOST_LISTED:
        raise AllowanceError("data.list.many", most=MOST_LISTED)
    if len(found) < 2:
        raise AllowanceError("data.list.few")
    return tuple(found.values())


def choose(card: Card, at: str, beside: Any) -> None:
    """Left a usual list or a file, right the values themselves; `beside` draws what else stands on the left."""
    if card.brought:
        _brought(card, at)
        beside()
        return
    left, right = st.columns([1, 1], gap="medium")
    with right:
        card.listed = (
            st.text_area(
                say("data.card.values"),
                key=kept(f"{at}-listed", card.listed),
                height=170,
                help=say("data.card.values_help" if card.kind == "list" else "data.card.values_help_items"),
                placeholder=say("data.card.values_example"),
                on_change=_own,
                args=(card, at),
            )
            or ""
        )
        _spelled(card)
        _file(card, at)
    with left:
        st.selectbox(
            say("data.card.usual_list"),
            list(LISTS),
            index=None,
            key=kept(f"{at}-preset", _same(card.listed)),
            format_func=lambda one: say(f"data.list.{one}"),
            placeholder=say("data.card.own"),
            on_change=_take,
            args=(card, at),
        )
        beside()


def _spelled(card: Card) -> None:
    """How many spellings count, beside those in the list."""
    many = (
        0
        if card.kind == "items" or not card.spellings
        else len(spelling.spelling_places(card.spellings, card.values, ""))
    )
    if many > len(card.values):
        st.html(f'<p class="muted">{escape(say("data.card.spelled", many=many))}</p>')


def _file(card: Card, at: str) -> None:
    with st.expander(say("data.list.title")):
        given = here.picker(say("data.list.file"), key=f"{at}-file-{card.uploads}")
        if given is None:
            return
        try:
            values = read_list(here.content(given, LARGEST))
        except AllowanceError as complaint:
            problem(str(complaint))
            return
        here.release(given)
        card.uploads += 1  # a fresh uploader, so that the server lets go of its copy
        shown = "".join(sign for sign in str(given.name) if sign.isprintable())[-80:]
        card.brought, card.source, card.public = values, shown, False
        st.rerun()


def _brought(card: Card, at: str) -> None:
    told = say("data.list.brought", values=len(card.brought), source=card.source, first=card.brought[:SHOWN])
    st.html(f"<p>{escape(told)}</p>")
    card.public = st.checkbox(say("data.list.public"), key=kept(f"{at}-public-{card.uploads}", card.public))
    st.button(say("data.list.drop"), key=f"{at}-drop", on_click=_drop, args=(card,))


def _drop(card: Card) -> None:
    card.brought, card.source, card.public = (), "", False


def others(card: Card, at: str, values: list[str]) -> None:
    """Where cells go that are not in the list: to a value of their own, or, if it is complete, to a listed one."""
    picked = st.radio(
        say("data.card.others"),
        [False, True],
        key=kept(f"{at}-closed", card.closed),
        format_func=lambda one: say("data.card.closed" if one else "data.card.open"),
        on_change=_complete,
        args=(card,),
    )
    card.closed = bool(picked)
    if not card.closed or not values:
        return
    if len(values) > MOST_PICKED:
        typed = st.text_input(say("data.card.goes_to"), key=kept(f"{at}-goes-typed", card.goes_to))
        card.goes_to = (typed or "").strip()
        return
    key = f"{at}-goes-to"
    if st.session_state.get(key) not in values:  # new here, or the list changed under it
        st.session_state[key] = card.goes_to if card.goes_to in values else values[0]
    card.goes_to = st.selectbox(say("data.card.goes_to"), values, key=key, help=say("data.card.goes_to_help"))


def _complete(card: Card) -> None:
    """Whoever says it now says it of empty cells too."""
    card.complete = True


def _same(text: str) -> str | None:
    """Which usual list this is, or that it is none."""
    return next((key for key, usual in LISTS.items() if text.strip() == usual.text), None)


def _own(card: Card, at: str) -> None:
    """Of a list that became another one, the usual spellings are no longer those of its values."""
    if not held(f"{at}-listed"):
        return
    text = st.session_state[f"{at}-listed"] or ""
    st.session_state[f"{at}-preset"] = _same(text)
    values = listed(text)[0]
    if 2 * sum(bool(spelling.spellings(card.spellings or MISSING, one)) for one in values) < len(values):
        card.spellings = MISSING


def _take(card: Card, at: str) -> None:
    if not held(f"{at}-preset"):
        return
    card.take_list(st.session_state[f"{at}-preset"])
    card.agree()
    st.session_state[f"{at}-listed"] = card.listed
