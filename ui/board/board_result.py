"""The board: a card for each column, of everyone or of one group, what goes together, and everything to take away.

It is drawn from a paid answer alone; nothing on it reads the table, and nothing on it costs anything. What is picked
stands in the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, percent
from dpengine.messages import say
from dpengine.released.look import Look
from ui.board import board_figures, board_full, board_pairs, board_picture, board_price, board_take, board_words
from ui.board.board_figures import Card, Picked
from ui.parts import answer as answers
from ui.shell.state import workspace
from ui.words.markup import unmarked

PER_PAGE = 12
ACROSS = 3
_TURN = "board-turn"


def show(table: dp.Table, found: dp.Answer) -> None:
    look = board_figures.look_of(found)
    entry = workspace().ledger.find(found.request_id)
    took = percent(table.took(entry)) if entry is not None else ""
    st.html(
        f"{_STYLE}<h1 class='arrived' tabindex='-1'>{escape(say('board_page.board', table=table.name))}</h1>"
        f"<p class='lead'>{escape(say('board_page.free', share=took, chance=chance(found.query.beta)))}</p>"
    )
    picked = _controls(table, found, look)
    made = board_figures.cards(found, look, picked)
    _told(table, look, picked, made)
    pages = -(-len(made) // PER_PAGE)
    slot = st.container()
    page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    with slot:
        _grid(look, made[(page - 1) * PER_PAGE : page * PER_PAGE], picked)
    board_pairs.show(table, found, look)
    board_full.show(found, look, picked)
    board_words.counted_as(found.query)
    answers.receipt(found, "board")
    st.button(say("board_page.another"), key="board-another", on_click=_leave)


def _leave() -> None:
    for name in ("look", "by", "group", "as", "page", "of"):
        st.query_params.pop(name, None)
    st.query_params["new"] = "1"


def _controls(table: dp.Table, found: dp.Answer, look: Look) -> Picked:
    """Whom to show, and in what; the address keeps it."""
    by, group = st.query_params.get("by", ""), st.query_params.get("group", "")
    by = by if by in look.cells else ""
    labels = look.query.cell_labels[look.place(by)] if by else []
    group = group if group in labels else (labels[0] if labels else "")
    shares = st.query_params.get("as") != "people"
    turn = st.session_state.get(_TURN, 0)  # new widgets after a click: a browser keeps showing the old ones
    with st.container(horizontal=True, vertical_alignment="bottom", key="board-controls"):
        everyone = say("board_page.everyone")
        st.selectbox(
            say("board_page.by"),
            ["", *look.cells],
            look.cells.index(by) + 1 if by else 0,
            format_func=lambda name: name or everyone,
            key=f"board-by-{turn}",
            on_change=_chosen,
            args=("by", f"board-by-{turn}"),
            width=240,
        )
        if by:
            names = dict(zip(labels, look.query.cell_names(look.place(by)), strict=True))
            st.selectbox(
                unmarked(by),
                labels,
                labels.index(group),
                format_func=names.__getitem__,
                key=f"board-group-{turn}-{by}",
                on_change=_chosen,
                args=("group", f"board-group-{turn}-{by}"),
                width=240,
            )
        st.segmented_control(
            say("board_page.as"),
            ["shares", "people"],
            default="shares" if shares else "people",
            format_func=lambda one: say(
                "board_page.as.shares" if one == "shares" else f"board_page.as.{look.query.counted}"
            ),
            key=f"board-as-{turn}",
            on_change=_chosen,
            args=("as", f"board-as-{turn}"),
        )
        board_take.show(table, found, look)
    return Picked(by, group, shares)


def _chosen(name: str, key: str) -> None:
    now = st.session_state.get(key)
    if name == "by":
        st.query_params.pop("group", None)
    if now:
        st.query_params[name] = str(now)
    else:
        st.query_params.pop(name, None)


def _pick(column: str, now: Picked, label: str) -> None:
    """A bar was clicked: that group, or everyone where it was picked before."""
    st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    if (column, label) == (now.by, now.group):
        for name in ("by", "group"):
            st.query_params.pop(name, None)
        return
    st.query_params["by"], st.query_params["group"] = column, label


def _told(table: dp.Table, look: Look, picked: Picked, made: Sequence[Card]) -> None:
    """Whom the pictures show, and what of them is only estimated."""
    if not picked.by:
        told = say("board_page.showing_all", columns=len(made))
    else:
        names = dict(
            zip(
                look.query.cell_labels[look.place(picked.by)], look.query.cell_names(look.place(picked.by)), strict=True
            )
        )
        told = say("board_page.showing", column=picked.by, group=names[picked.group])
    st.html(f'<p class="muted" role="status">{escape(told)}</p>')
    if any(card.estimated for card in made):
        board_price.show(table, look, picked.by)


def _grid(look: Look, made: Sequence[Card], picked: Picked) -> None:
    for start in range(0, len(made), ACROSS):
        for column, card in zip(st.columns(ACROSS), made[start : start + ACROSS], strict=False):
            with column:
                _draw(look, card, picked)


def _draw(look: Look, card: Card, picked: Picked) -> None:
    place = look.columns.index(card.column)
    with st.container(key=f"card-board-{place}"):
        unknown = board_figures.untold(look, card.bars) or (card.sets and bool(picked.by))
        note = say("board_page.untold" if unknown else "board_page.estimated") if card.estimated else ""
        if card.sets:
            note = say("board_page.sets_group" if unknown else "board_page.sets")
        st.html(
            f'<h3 class="board">{escape(card.column)}</h3>'
            f'<p class="muted aside">{escape("" if unknown else card.aside)}</p>'
            + (f'<p class="aside {"muted" if card.sets else "estimated"}">{escape(note)}</p>' if note else "")
        )
        if unknown:
            return
        own = picked.group if picked.by == card.column else ""
        turn = st.session_state.get(_TURN, 0)
        key = f"board-bars-{place}-{turn}"
        pick: Any = None if card.sets else partial(_pick, card.column, picked)
        if card.shown:
            board_picture.show(card.shown, alt(card), key, pick, own)
        if card.below:
            st.html(f'<p class="muted aside">{escape(card.below)}</p>')


def alt(card: Card) -> str:
    told = "; ".join(f"{bar.name}: {bar.told}" + (f" ({bar.range})" if bar.range else "") for bar in card.shown)
    return f"{card.column}: {told}"


_STYLE = """<style>
h3.board { font-family: var(--serif); font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
p.aside { font-size: .85rem; margin: 0; min-height: 1.2em; }
p.aside.estimated { color: var(--take); }
[class*="st-key-card-board-"] [data-testid="stVerticalBlock"] { gap: .3rem; }
table.pairs td, table.pairs th { padding: .45rem .8rem .45rem 0; }
.state { border-radius: 1rem; padding: .1rem .6rem; white-space: nowrap; font-size: .85rem; }
.state.clear { background: var(--left-soft); color: var(--left); }
.state.perhaps { background: var(--line); }
.state.unknown { background: var(--take-soft); }
</style>"""
