"""Which columns, and what can be in each: a card per column, prefilled from its name and from nothing else."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.errors import AllowanceError
from dpengine.messages import say
from dpengine.schema import Category, Number
from dpengine.unit import read_relation
from ui import declare_draft as drafts
from ui import declare_price as price
from ui.declare import complain, heading, kept, onwards, problem, reconsider
from ui.declare_draft import Card, Draft
from ui.declare_file import unmarked
from ui.preset_lists import LISTS, NO, YES
from ui.presets import RANGES

MOST_PILLS = 60
KINDS = ("number", "list", "yes_no")


def choose(draft: Draft) -> None:
    heading("data.columns")
    with st.container(key="card-columns"):
        before = [name for name in draft.names if name in draft.chosen]
        if len(draft.names) <= MOST_PILLS:
            picked = st.pills(
                say("data.columns.label"), draft.names, selection_mode="multi", format_func=unmarked,
                key=kept("declare-columns", before),
            )
        else:
            picked = st.multiselect(say("data.columns.label"), draft.names, key=kept("declare-columns", before))
        draft.chosen = [name for name in draft.names if name in picked]
        told = say("data.columns.left_out", chosen=len(draft.chosen), left_out=len(draft.names) - len(draft.chosen))
        st.html(f'<p class="muted">{escape(told)}</p>')
        if draft.chosen:
            draft.complaint = None
        complain(draft)

    def check() -> None:
        if not draft.chosen:
            raise AllowanceError("schema.empty")

    if onwards(draft, check):
        draft.forth()
        st.rerun()


def describe(draft: Draft) -> None:
    heading("data.cards")
    for name in draft.chosen:
        with st.container(key=f"card-column-{draft.names.index(name)}"):
            _card(draft, name)

    def check() -> None:
        try:
            drafts.schema(draft)
        except AllowanceError:  # told at its card
            raise AllowanceError("data.cards.mend") from None

    reconsider(draft, check, "data.cards.mend")
    complain(draft)
    if onwards(draft, check):
        draft.forth()
        st.rerun()


def _card(draft: Draft, name: str) -> None:
    card, at = draft.card(name), f"declare-{draft.names.index(name)}"
    note = say("data.card.suggested") if card.suggested else say("data.card.date") if card.date else ""
    st.html(f'<h3>{escape(name)}</h3><p class="muted">{escape(note)}</p>')
    card.kind = st.segmented_control(
        say("data.card.kind"), KINDS, key=kept(f"{at}-kind", card.kind),
        format_func=lambda one: say(f"data.kind.{one}"),
    )
    if card.kind == "number":
        _range(card, at)
    elif card.kind == "list":
        left, right = st.columns([1, 1], gap="medium")
        with right:
            _values(card, at)
        with left:
            _usual_list(card, at)
            _others(card, at, list(dict.fromkeys(drafts.listed(card.listed)[0])))
    elif card.kind == "yes_no":
        told = say("data.card.yes_no", yes=("yes", *YES[:9]), no=("no", *NO[:7]))
        st.html(f'<p class="muted">{escape(told)}</p>')
        _others(card, at, ["yes", "no"])
    try:
        column = drafts.column(card, draft.dialect)
    except AllowanceError as complaint:
        if not card.blank or draft.pressed:
            problem(str(complaint))
        return
    kind, people = read_relation(draft.relation), draft.people or 1
    if isinstance(column, Number):
        st.html(f'<p class="price">{escape(price.of_number(column, kind, people))}</p>')
    elif isinstance(column, Category):
        st.html(f'<p class="price">{escape(price.of_list(column, kind, people))}</p>')


def _range(card: Card, at: str) -> None:
    wide, *narrow = st.columns([2.2, 1, 1, 1], vertical_alignment="bottom")
    wide.selectbox(
        say("data.card.usual_range"), list(RANGES), index=None, key=kept(f"{at}-range", _same_range(card)),
        format_func=lambda one: say(f"data.range.{one}"), placeholder=say("data.card.own"),
        on_change=_take_range, args=(card, at),
    )
    for where, part in zip(narrow, ("lower", "upper", "step"), strict=True):
        key = kept(f"{at}-{part}", getattr(card, part))
        given = where.text_input(say(f"data.card.{part}"), key=key, on_change=_own_range, args=(at,))
        setattr(card, part, given or "")


def _own_range(at: str) -> None:
    """The picker says which usual range this is, or that it is none."""
    card = Card()
    for part in ("lower", "upper", "step"):
        setattr(card, part, st.session_state[f"{at}-{part}"] or "")
    st.session_state[f"{at}-range"] = _same_range(card)


def _same_range(card: Card) -> str | None:
    typed = (card.lower, card.upper, card.step)
    return next((key for key, usual in RANGES.items() if (usual.lower, usual.upper, usual.step) == typed), None)


def _take_range(card: Card, at: str) -> None:
    card.take_range(st.session_state[f"{at}-range"])
    for part in ("lower", "upper", "step"):
        st.session_state[f"{at}-{part}"] = getattr(card, part)


def _values(card: Card, at: str) -> None:
    given = st.text_area(
        say("data.card.values"), key=kept(f"{at}-listed", card.listed), height=170, help=say("data.card.values_help"),
        placeholder=say("data.card.values_example"), on_change=_own_list, args=(at,),
    )
    card.listed = given or ""


def _usual_list(card: Card, at: str) -> None:
    st.selectbox(
        say("data.card.usual_list"), list(LISTS), index=None, key=kept(f"{at}-preset", _same_list(card.listed)),
        format_func=lambda one: say(f"data.list.{one}"), placeholder=say("data.card.own"),
        on_change=_take_list, args=(card, at),
    )


def _same_list(text: str) -> str | None:
    return next((key for key, usual in LISTS.items() if usual == text.strip()), None)


def _own_list(at: str) -> None:
    st.session_state[f"{at}-preset"] = _same_list(st.session_state[f"{at}-listed"] or "")


def _take_list(card: Card, at: str) -> None:
    card.take_list(st.session_state[f"{at}-preset"])
    st.session_state[f"{at}-listed"] = card.listed


def _others(card: Card, at: str, values: list[str]) -> None:
    """Where cells go that are not in the list: to a value of their own, or to a listed one."""
    picked = st.radio(
        say("data.card.others"), [False, True], key=kept(f"{at}-closed", card.closed),
        format_func=lambda one: say("data.card.closed" if one else "data.card.open"),
    )
    card.closed = bool(picked)
    if card.closed and values:
        key = f"{at}-goes-to"
        if st.session_state.get(key) not in values:  # new here, or the list changed under it
            st.session_state[key] = card.goes_to if card.goes_to in values else None
        where = st.selectbox(say("data.card.goes_to"), values, index=None, key=key, placeholder=say("data.card.choose"))
        card.goes_to = where or ""
