"""The board: a card for each column, of everyone or of one group, what goes together, and everything to take away.

It is drawn from a paid answer alone; nothing on it reads the table, and nothing on it costs anything. What is picked
stands in the address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance
from dpengine.messages import say
from dpengine.released.look import Look
from dpengine.released.shapes import predictable
from ui.board import (
    board_figures,
    board_full,
    board_matrix,
    board_pairs,
    board_price,
    board_take,
    board_words,
)
from ui.board.board_figures import Bar, Card, Picked
from ui.parts import answer as answers
from ui.parts import fitting
from ui.pictures import named_bars
from ui.shell import nav, steer
from ui.shell.state import workspace
from ui.words import prices
from ui.words.markup import unmarked

PER_PAGE = 12
ACROSS = 3
OFFERED = 3  # single questions about a group of which nothing was bought
_TURN, _TOP = "board-turn", "board-top"
_GROUPS = ("by", "group", "also", "second")


def show(table: dp.Table, found: dp.Answer) -> None:
    look = board_figures.look_of(found)
    entry = workspace().ledger.find(found.request_id)
    took = prices.took(table, entry)
    st.html(
        f"{_STYLE}<h1 class='arrived' tabindex='-1'>{escape(say('board_page.board', table=table.name))}</h1>"
        f"<p class='lead'>{escape(say('board_page.free', share=took, chance=chance(found.query.beta)))}</p>"
    )
    if not table.practice:  # what a first look also tells: do the columns fit what was declared?
        st.html(f"{fitting.between(found, linked=True)}{fitting.html(found, linked=True)}")
    picked = _controls(table, found, look)
    if st.session_state.pop(_TOP, False):  # the bar may have been far below, and the cards have another order now
        steer.top()
    made = board_figures.cards(found, look, picked)
    _told(table, found, look, picked, made)
    made = tuple(card for card in made if card.note != "untold")  # said once, with what would tell it
    made, scarce = _apart(made, picked)
    pages = -(-len(made) // PER_PAGE)
    slot = st.container()
    page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    with slot:
        _grid(look, made[(page - 1) * PER_PAGE : page * PER_PAGE], picked)
    if scarce:
        names = board_words.some([card.column for card in scarce])
        with st.expander(say("board_page.scarce", columns=len(scarce), names=unmarked(names))):
            st.html(f'<p class="muted">{escape(say("board_page.scarce_means"))}</p>')
            _grid(look, scarce, picked)
    board_pairs.show(table, found, look)
    board_matrix.show(table, found, look)
    board_full.show(found, look, picked)
    if predictable(look):
        where = {"table": table.name, "shapes": found.request_id}
        st.page_link(nav.page("train"), label=say("shapes_page.from_board"), query_params=where)
    board_words.counted_as(found.query)
    answers.receipt(found, "board")
    st.button(say("board_page.another"), key="board-another", on_click=_leave)


def _apart(made: tuple[Card, ...], picked: Picked) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """The pictures, and those of everyone that show little: they stand behind one line, unless all do."""
    telling = tuple(card for card in made if picked.by or not card.scarce)
    return (telling, tuple(card for card in made if card not in telling)) if telling else (made, ())


def _leave() -> None:
    for name in ("look", *_GROUPS, "as", "page", "of"):
        st.query_params.pop(name, None)
    st.query_params["new"] = "1"


def _controls(table: dp.Table, found: dp.Answer, look: Look) -> Picked:
    """Whom to show, and in what; the address keeps it."""
    by, group = _group(look, "by", "group", look.cells)
    others = [name for name in look.cells if name != by]
    also, second = _group(look, "also", "second", others) if by and look.paired else ("", "")
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
            _pick_group(look, "group", by, group, turn)
        if by and others and look.paired:
            st.selectbox(
                say("board_page.also"),
                ["", *others],
                others.index(also) + 1 if also else 0,
                format_func=lambda name: name or say("board_page.none"),
                key=f"board-also-{turn}-{by}",
                on_change=_chosen,
                args=("also", f"board-also-{turn}-{by}"),
                width=200,
            )
        if also:
            _pick_group(look, "second", also, second, turn)
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
    return Picked(by, group, shares, also, second)


def _group(look: Look, by: str, group: str, columns: list[str]) -> tuple[str, str]:
    """A column and one of its groups, as the address says; the first group where it says none that there is."""
    name, label = st.query_params.get(by, ""), st.query_params.get(group, "")
    if name not in columns:
        return "", ""
    labels = look.query.cell_labels[look.place(name)]
    return name, label if label in labels else labels[0]


def _pick_group(look: Look, name: str, column: str, group: str, turn: int) -> None:
    labels, key = look.query.cell_labels[look.place(column)], f"board-{name}-{turn}-{column}"
    names = dict(zip(labels, look.query.cell_names(look.place(column)), strict=True))
    st.selectbox(
        unmarked(column),
        labels,
        labels.index(group),
        format_func=names.__getitem__,
        key=key,
        on_change=_chosen,
        args=(name, key),
        width=240,
    )


def _chosen(name: str, key: str) -> None:
    now = st.session_state.get(key)
    if name in ("by", "also"):
        for other in _GROUPS[1 if name == "by" else 3 :]:
            st.query_params.pop(other, None)
    if now:
        st.query_params[name] = str(now)
    else:
        st.query_params.pop(name, None)


def _pick(column: str, now: Picked, label: str) -> None:
    """A bar was clicked: that group, or everyone where it was picked before."""
    st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    st.session_state[_TOP] = True
    if (column, label) == (now.by, now.group):
        for name in _GROUPS:
            st.query_params.pop(name, None)
        return
    for name in ("also", "second"):
        st.query_params.pop(name, None)
    st.query_params["by"], st.query_params["group"] = column, label


def _told(table: dp.Table, found: dp.Answer, look: Look, picked: Picked, made: Sequence[Card]) -> None:
    """Whom the pictures show, and what of them is only estimated or not known."""
    notes = {card.note for card in made}
    known = [card.column for card in made if card.note == "" and card.column != picked.by]
    if "untold" in notes and known:
        board_price.some(table, look, picked.by, _called(look, picked.by, picked.group), known)
        return
    if "untold" in notes:
        everyone = board_figures.cards(found, look, Picked())  # what shows most first
        others = [card.column for card in everyone if card.column != picked.by][:OFFERED]
        board_price.alone(table, look, picked, _called(look, picked.by, picked.group), others)
        return
    if not picked.by:
        told = say("board_page.showing_all" if look.paired else "board_page.showing_alone", columns=len(made))
    else:
        told = say("board_page.showing", column=picked.by, group=_called(look, picked.by, picked.group))
        if picked.also:
            groups = {"column": picked.by, "group": _called(look, picked.by, picked.group), "also": picked.also}
            told = say("board_page.showing_two", **groups, second=_called(look, picked.also, picked.second))
    st.html(f'<p class="muted" role="status">{escape(told)}</p>')
    if picked.also and "estimated" in notes:
        board_price.two(board_figures.tried(found, look, picked))
    elif "estimated" in notes:
        board_price.show(table, look, picked.by)


def _called(look: Look, column: str, group: str) -> str:
    place = look.place(column)
    return look.query.cell_names(place)[look.query.cell_labels[place].index(group)]


def _grid(look: Look, made: Sequence[Card], picked: Picked) -> None:
    for start in range(0, len(made), ACROSS):
        for column, card in zip(st.columns(ACROSS), made[start : start + ACROSS], strict=False):
            with column:
                _draw(look, card, picked)


def _draw(look: Look, card: Card, picked: Picked) -> None:
    place = look.columns.index(card.column)
    with st.container(key=f"card-board-{place}"):
        note = say(f"board_page.{card.note}") if card.note else ""
        kind = "estimated" if card.note in ("estimated", "large") else "muted"
        st.html(
            f'<h3 class="board">{escape(card.column)}</h3>'
            f'<p class="muted aside">{escape(card.aside if card.drawn else "")}</p>'
            + (f'<p class="aside {kind}">{escape(note)}</p>' if note else "")
        )
        if not card.drawn:
            return
        own = picked.group if picked.by == card.column else ""
        turn = st.session_state.get(_TURN, 0)
        key = f"board-bars-{place}-{turn}"
        pick: Any = None if card.note == "sets" else partial(_pick, card.column, picked)
        if card.shown:
            _bars(card, key, pick, own)
        if card.below:
            st.html(f'<p class="muted aside">{escape(card.below)}</p>')


def _bars(card: Card, key: str, pick: Callable[[str], None] | None, marked: str) -> None:
    """A click picks the group of a bar; `marked` is the one that is picked."""
    shown = card.shown
    ends = [bar.value if bar.high is None else bar.high for bar in shown]
    drawn = [
        named_bars.NamedBar(
            bar.name, bar.value, bar.low, bar.high, bar.told, bar.range, _colour(bar, marked), bar.faint
        )
        for bar in shown
    ]
    estimated = all(bar.low is None for bar in shown)

    def clicked(place: int) -> None:
        if pick is not None:
            pick(shown[place].label)

    named_bars.show(drawn, (0.0, max(ends) or 1.0), alt(card), key, pick and clicked, estimated)


def _colour(bar: Bar, marked: str) -> str:
    if bar.label == marked:
        return "spent"
    return "take" if bar.extra else "muted" if bar.faint else "left"


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
table.matrix td { text-align: center; min-width: 2rem; padding: .1rem; }
table.matrix td .state { display: inline-block; min-width: 1.6rem; padding: 0 .3rem; text-decoration: none; }
table.matrix th { font-weight: 400; }
</style>"""
