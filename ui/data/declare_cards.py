"""What can be in the columns: a line for each, prefilled from its name and from nothing else; one is open at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html import escape
from typing import Literal

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.messages import say
from ui.data import declare_care as care
from ui.data import declare_codebook as codebook
from ui.data import declare_draft as drafts
from ui.data import declare_lines as lines
from ui.data.declare import complain, heading, onwards, reconsider, tried
from ui.data.declare_draft import Draft, numbers_like, numbers_of
from ui.data.declare_file import is_typed

MOST_LINES = 40  # on one screen
MOST_NAMED = 8  # columns in a sentence


def describe(draft: Draft) -> None:
    with suppress(AllowanceError):  # nothing is known of any column yet
        care.suggest(draft)  # the errors on the lines are for what it is worth
    guessed = any(card.candidates or card.guess for card in map(draft.card, draft.offered))
    sizes = "" if draft.about else say("data.cards.sizes", people=draft.sizes[-1])
    heading("data.cards", told="lead" if guessed else "lead_none", sizes=sizes)
    _written(draft)
    shown = cards(draft)
    waits, single, closed = draft.waiting, alike(draft, shown), draft.opened is None
    one_yes = bool(single) and len(single) == len(waits)
    _unnamed(draft, [] if one_yes else waits)
    check = partial(_agree_on, draft, single) if one_yes else partial(settled, draft)
    if not draft.chosen and draft.complaint is None:
        st.html(f'<p class="muted">{escape(say("data.cards.choose"))}</p>')
    if closed and draft.chosen and (one_yes or not waits) and (adds := care.at_once(draft)):
        _last(draft, check, adds, one_yes)
        return
    if one_yes:  # for all, and on
        gone = onwards(draft, check, "data.lines.agree_on", first=closed)
    else:
        code = "data.cards.next" if waits else "data.next"
        many = len(single) > 1
        before = partial(_agree, draft, single) if many else None
        first = not waits and closed
        gone = onwards(draft, check, code, first, before, waits=len(waits))
    if gone:
        _on(draft)


def _written(draft: Draft) -> None:
    """How numbers are read, where a comma may be a decimal sign: nobody may have seen the screen that asks it."""
    if draft.path is None or is_typed(draft.path) or draft.dialect.separator == ",":
        return
    with st.container(horizontal=True, vertical_alignment="center", key="lines-written"):
        told = say("data.cards.written", example=numbers_like(numbers_of(draft.dialect)))
        st.html(f'<p class="muted">{escape(told)}</p>', width="content")
        if st.button(say("data.cards.otherwise"), key=f"{draft.mark}-otherwise", type="tertiary"):
            draft.go("names")
            st.rerun()


def _last(draft: Draft, check: Callable[[], None], adds: str, one_yes: bool) -> None:
    """Nothing more must be decided: the table is added from here, with what is usual; who wants something else goes
    on."""
    with st.container(key="declare-adds"):
        st.html(f'<p class="price">{escape(adds)}</p>')
        other = st.button(say("data.cards.care"), key="declare-next-cards", type="tertiary")
    if onwards(draft, check, "data.cards.agree_add" if one_yes else "data.add", key="declare-add-now"):
        draft.opened = None
        care.add(draft)
    if other and tried(draft, check):
        _on(draft)


def _on(draft: Draft) -> None:
    draft.opened = None
    draft.forth()
    st.rerun()


def _agree_on(draft: Draft, names: list[str]) -> None:
    lines.agree(draft, names)
    settled(draft)


def _unnamed(draft: Draft, waits: list[str]) -> None:
    """Columns that are to be found, and those that still wait and that no one yes settles: each kind is dealt with in
    one click."""
    if draft.unknown:
        st.html(f'<p class="muted">{escape(say("data.cards.to_find", many=len(draft.unknown)))}</p>')
    if waits and len(waits) < len(draft.chosen):
        with st.container(key="lines-wait", horizontal=True, vertical_alignment="center"):
            st.html(f'<p class="muted">{escape(say("data.cards.waiting", many=len(waits), columns=some(waits)))}</p>')
            label = say("data.cards.leave", many=len(waits))
            st.button(label, key=f"{draft.mark}-leave", on_click=lines.leave, args=(draft, waits))


def some(names: list[str]) -> str:
    """The first of them."""
    return ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")


def settled(draft: Draft) -> None:
    """Every column that is not left out can be used."""
    draft.choose()
    if not draft.chosen:
        raise AllowanceError("data.cards.none")
    try:
        drafts.schema(draft)
    except AllowanceError as complaint:  # told at its card
        if complaint.code == "schema.empty":
            raise AllowanceError("data.cards.all_unknown") if draft.unknown else complaint from None
        if complaint.code == "data.cards.pending":
            raise
        waits = draft.waiting
        if waits and draft.opened not in waits:
            draft.opened = waits[0]
        raise AllowanceError("data.cards.mend") from None


def cards(draft: Draft) -> list[str]:
    """The columns on this screen."""
    st.html(f"<style>{lines.rules()}</style>")
    draft.choose()
    shown = _shown(draft)
    single = alike(draft, shown)
    asked_below = draft.step == "cards" and (len(single) > 1 or len(single) == len(draft.waiting))
    _mended(draft)
    first = _told_at(draft)
    with st.container(key="card-lines"):
        out = [name for name in shown if name != draft.opened and lines.untouched(draft, name)]
        for name in (name for name in shown if name not in out):
            if name == first:
                complain(draft)
            if name == draft.opened:
                lines.card_of(draft, name)
            else:
                lines.line(draft, name, yes=not (asked_below and name in single))
        if out:
            lines.left_out(draft, out)
    draft.choose()
    codebook.offer(draft)
    _mended(draft)
    if first not in shown:
        complain(draft)
    return shown


def _mended(draft: Draft) -> None:
    reconsider(draft, lambda: settled(draft), "data.cards.", "schema.empty")


def _told_at(draft: Draft) -> str | None:
    """The column above which a complaint stands that some of them wait: the first of those."""
    pending = isinstance(draft.complaint, AllowanceError) and draft.complaint.code == "data.cards.pending"
    return next(iter(draft.waiting), None) if pending else None


def _shown(draft: Draft) -> list[str]:
    """All columns, or of very many those of one screen."""
    names = draft.offered
    if len(names) <= MOST_LINES:
        return names
    screens = range(0, len(names), MOST_LINES)
    picked = st.selectbox(
        say("data.lines.screen"),
        list(screens),
        key=f"{draft.mark}-screen",
        format_func=lambda start: say(
            "data.lines.some", first=start + 1, last=min(start + MOST_LINES, len(names)), of=len(names)
        ),
        width=320,
    )
    return names[picked : picked + MOST_LINES]


def alike(draft: Draft, shown: list[str]) -> list[str]:
    """Guesses that have one reading only: one yes is enough for all of them, as their cells stand on their lines."""
    return [name for name in shown if draft.state(name) == "guess" and len(draft.card(name).candidates) == 1]


def _agree(draft: Draft, single: list[str]) -> None:
    label = say("data.lines.agree", many=len(single))
    kind: Literal["primary", "secondary"] = "primary" if draft.opened is None else "secondary"
    st.button(label, key=f"{draft.mark}-agree", type=kind, on_click=lines.agree, args=(draft, single))
