"""One column on one line: its name, what it holds, how good answers will be, and how far it is settled.

A guess from the name waits until the person recognises a cell. The cells to recognise stand in public lists; nothing
here has seen the file. What is clicked goes through a callback, and a card that changes at once gets fresh widgets.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Column, Number
from dpengine.declared.unit import read_relation
from dpengine.messages import plain, say
from ui.data import declare_draft as drafts
from ui.data import declare_kinds as kinds
from ui.data import declare_price as price
from ui.data import presets
from ui.data.declare import DOT, kept, problem
from ui.data.declare_column import KEPT, KINDS, OUT, UNKNOWN, Card, column_of
from ui.data.declare_draft import Draft
from ui.data.presets import Candidate
from ui.shell import steer
from ui.words.markup import unmarked


@cache
def rules() -> str:
    return (Path(__file__).parent / "lines.css").read_text(encoding="utf-8")


def at(draft: Draft, name: str) -> str:
    """What the keys of its widgets begin with."""
    return f"{draft.mark}-{draft.names.index(name)}"


_CAME = "declare-came"
SHOWN = 2  # cells on a line; the open card has all
_COMMA = str.maketrans(".", ",")


def cells(one: Candidate, dialect: Dialect) -> list[str]:
    """Cells that look like a reading's, as this file would write them."""
    decimal = one.kind == "number" and dialect.decimal == ","
    return [like.translate(_COMMA) if decimal else like for like in one.like]


# --- what a click does


def fresh(draft: Draft, name: str) -> None:
    """Its widgets show what the card says now."""
    start = f"{at(draft, name)}-"
    for key in [key for key in st.session_state if str(key).startswith(start)]:
        del st.session_state[key]


def open_card(draft: Draft, name: str | None) -> None:
    draft.opened, draft.pressed = name, False
    if name is not None:
        draft.remember(name)


def use(draft: Draft, name: str) -> None:
    """It is no longer left out. Until something else is said nobody knows what it holds, and that can be found. It
    opens among the others, which may be out of sight."""
    open_card(draft, name)
    st.session_state[_CAME] = name
    draft.card(name).kind = UNKNOWN
    fresh(draft, name)


def take(draft: Draft, name: str, one: Candidate) -> None:
    """The person recognised a cell; where that is not all there is to say, the card opens."""
    draft.remember(name)
    draft.card(name).take(one)
    fresh(draft, name)
    if draft.state(name) == "waits":
        open_card(draft, name)
    elif draft.opened == name:
        open_card(draft, None)


def agree(draft: Draft, names: list[str]) -> None:
    for name in names:
        draft.remember(name)
        draft.card(name).take(draft.card(name).candidates[0])
        fresh(draft, name)


def leave(draft: Draft, names: list[str]) -> None:
    """These can wait: what was guessed of them stands ready for later."""
    for name in names:
        draft.remember(name)
        draft.card(name).kind = OUT
        draft.card(name).agree()
        fresh(draft, name)


def undo(draft: Draft, name: str) -> None:
    draft.undo(name)
    fresh(draft, name)


def _settle(draft: Draft, name: str) -> None:
    """What stands on the open card is right; the next one that waits opens."""
    draft.card(name).agree()
    draft.pressed = True
    if draft.state(name) not in ("waits", "guess"):
        draft.choose()
        open_card(draft, next((one for one in draft.waiting if not draft.card(one).candidates), None))


# --- the line


def line(draft: Draft, name: str, yes: bool = True) -> None:
    """Without `yes` a guess with one reading has no button of its own: one for all of them stands below."""
    card, state, key = draft.card(name), draft.state(name), at(draft, name)
    with st.container(key=f"line-{draft.names.index(name)}", horizontal=True, vertical_alignment="center", gap="small"):
        asks = state == "guess" and bool(card.candidates)
        st.html(_told(draft, name, state, asks))
        if asks:
            several = len(card.candidates) > 1
            for place, one in enumerate(card.candidates if several or yes else ()):
                label = unmarked(cells(one, draft.dialect)[0]) if several else say("data.line.yes")
                st.button(label, key=f"{key}-like-{place}", on_click=take, args=(draft, name, one))
        if draft.can_undo(name) and not asks:
            st.button(say("data.line.undo"), key=f"{key}-undo", type="tertiary", on_click=undo, args=(draft, name))
        label = say(f"data.line.open_{'guess' if asks else state}")
        opens = use if state == OUT else open_card
        st.button(label, key=f"{key}-open", type="tertiary", on_click=opens, args=(draft, name))


def untouched(draft: Draft, name: str) -> bool:
    """Is it left out, and was from the beginning? Then there is nothing to say of it but its name."""
    return draft.step == "cards" and draft.state(name) == OUT and not draft.can_undo(name)


def left_out(draft: Draft, names: list[str]) -> None:
    """All of them on one line, each used in one click."""
    with st.container(key="lines-out", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<p class="muted">{escape(say("data.cards.left_out"))}</p>', width="content")
        for name in names:
            key = f"{at(draft, name)}-open"
            st.button(unmarked(name), key=key, type="tertiary", on_click=use, args=(draft, name))


def _told(draft: Draft, name: str, state: str, asks: bool) -> str:
    card = draft.card(name)
    words, off = say(f"data.line.{state}_means"), ""
    if state == "settled" or asks:
        try:
            column = column_of(card, draft.dialect)
            words = price.short_words(column)
            if not asks:
                off = _off(draft, name, column)
        except AllowanceError:
            pass
    shown = escape(words)
    if asks and len(card.candidates) == 1:
        column = column_of(card, draft.dialect)
        spelled = price.also(column)  # so that whoever finds another spelling in the file need not open the column
        like = f"{plain(spelled)} …" if spelled else plain(cells(card.candidates[0], draft.dialect)[:SHOWN])
        off = _off(draft, name, column) if isinstance(column, Number) else ""  # a range decides it, a list hardly
        brief = price.briefly(column)
        whole = not spelled and price.told_whole(column)  # then its cells stand there already
        said = [
            f"<b>{escape(brief if whole else like)}</b>",
            "" if whole else escape(brief),
            f'<span class="off">{off}</span>' if off else "",
        ]
        shown = DOT.join(filter(None, said))
    elif asks and card.kind == "date":
        shown = escape(say("data.line.which_day", days=price.short_words(column_of(_dated(card), draft.dialect))))
    elif asks:
        shown = escape(say("data.line.which"))
    if asks:  # what is asked is all there is to read
        return f'<div class="line {state} asks"><b>{escape(name)}</b><span class="says">{shown}</span></div>'
    kind = say(f"data.kind.{card.kind}") if state in ("settled", "guess", "waits") else ""
    parts = f'<b>{escape(name)}</b><span class="what">{escape(kind)}</span><span class="says">{shown}</span>'
    tag = escape(say(f"data.state.{state}"))
    return f'<div class="line {state}">{parts}<span class="off">{off}</span><span class="tag">{tag}</span></div>'


def _off(draft: Draft, name: str, column: Column) -> str:
    """How far off the first answer will be; with a warning where that is more than a usual value, unless the range was
    checked as it stands here."""
    facts = drafts.unit(draft), read_relation(draft.relation), draft.sizes, drafts.allowance(draft)
    usual = presets.RANGES.get(draft.card(name).usual or "")
    checked = draft.checked.get(name) == column
    wide = "" if usual is None or checked else price.too_wide(column, usual.like, *facts)
    warned = f' <span class="wide" role="status">{escape(wide)}</span>' if wide else ""
    return escape(price.short(column, *facts)) + warned


def _dated(card: Card) -> Card:
    """As if its writing were known: which days it may hold does not depend on it."""
    return replace(card, order=card.candidates[0].order)


# --- the open one


def card_of(draft: Draft, name: str) -> None:
    card, key = draft.card(name), at(draft, name)
    with st.container(key=f"open-{draft.names.index(name)}"):
        came = st.session_state.pop(_CAME, None) == name
        st.html(f'<h2 class="arrived" tabindex="-1">{escape(name)}</h2>' if came else f"<h2>{escape(name)}</h2>")
        if came:
            steer.show()
        if card.candidates:
            _recognise(draft, name)
        card.kind = st.segmented_control(
            say("data.card.kind"),
            [*KINDS, *([KEPT] if card.kept else []), UNKNOWN, OUT],
            key=kept(f"{key}-kind", card.kind),
            format_func=lambda one: say(f"data.kind.{one}"),
            required=True,
        )
        if card.kind in (UNKNOWN, OUT):
            below = card.kind == UNKNOWN and draft.step == "change"
            told = say("data.card.unknown_below" if below else f"data.card.{card.kind}")
            st.html(f'<p class="price">{escape(told)}</p>')
        else:
            if card.kind in ("number", "date"):
                st.html(f'<p class="muted">{escape(say("data.card.limits"))}</p>')
            if card.kind in kinds.ASK:
                kinds.ASK[card.kind](card, key)
            _worth(draft, name)
        with st.container(horizontal=True, gap="small"):
            done = say("data.card.right" if card.kind not in (UNKNOWN, OUT) else "data.card.close")
            st.button(done, key=f"{key}-right", type="primary", on_click=_settle, args=(draft, name))
            if draft.can_undo(name):
                st.button(say("data.line.undo"), key=f"{key}-undo", on_click=undo, args=(draft, name))


def _recognise(draft: Draft, name: str) -> None:
    """Every reading of the name by its cells; what was said otherwise stays below."""
    st.html(f'<p class="muted">{escape(say("data.card.which"))}</p>')
    with st.container(horizontal=True, gap="small"):
        for place, one in enumerate(draft.card(name).candidates):
            label = unmarked(plain(cells(one, draft.dialect)))
            st.button(label, key=f"{at(draft, name)}-like-{place}", on_click=take, args=(draft, name, one))


def _worth(draft: Draft, name: str) -> None:
    card = draft.card(name)
    try:
        column = column_of(card, draft.dialect)
    except AllowanceError as complaint:
        if not card.blank or draft.pressed:
            problem(str(complaint))
        return
    facts = drafts.unit(draft), read_relation(draft.relation), draft.sizes, drafts.allowance(draft)
    told = price.of_column(column, *facts)
    st.html(f'<p class="price">{escape(told)}</p>')
