"""Pairs of columns that were not bought: that they are estimated, how such estimates did where it is known, and what
buying them would take."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from operator import itemgetter

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.numbers import local
from dpengine.released import look_groups
from dpengine.released.look import Look
from dpengine.released.look_fit import HeldBack
from ui.board import board_state
from ui.board.board_figures import Picked
from ui.parts import preview, spend
from ui.shell import nav
from ui.words import prices
from ui.words.markup import unmarked


def held_back(tried: HeldBack) -> str:
    """How estimates did on what was left out."""
    return say("board_page.held_back", off=local(f"{100 * tried.off:.1f}"), inside=tried.inside, cells=tried.cells)


def two(tried: HeldBack | None) -> None:
    """Of two groups at once, where these three columns were not bought together."""
    told = say("board_page.two_estimated") + (f" {held_back(tried)}" if tried is not None else "")
    st.html(f'<p class="warn">{escape(told)}</p>')


def show(table: dp.Table, look: Look, by: str) -> None:
    """Pictures that are only estimated."""
    told = say("board_page.not_bought", column=by)
    if (tried := look.held_back) is not None:
        told += " " + held_back(tried)
    st.html(f'<p class="warn">{escape(told)}</p>')
    _pairs(table, look, by)


def some(table: dp.Table, look: Look, by: str, called: str, known: Sequence[str]) -> None:
    """Where the group is known in some columns only: the others have no picture."""
    st.html(
        f'<p role="status">{escape(say("board_page.some_bought", column=by, group=called, others=list(known)))}</p>'
    )
    _pairs(table, look, by)


def alone(table: dp.Table, look: Look, picked: Picked, called: str, others: Sequence[str]) -> None:
    """Where nothing is known of the group in the `others`: one message, then single questions, then all pairs."""
    told = say("board_page.nothing_bought", column=picked.by, group=called)
    st.html(f'<p role="status">{escape(told)}</p>')
    if table.closed:
        return
    asked = (look_groups.one_question(look, column, picked.by, picked.group) for column in others)
    found = [query for key, given in asked if (query := table.suggested(key, **given)) is not None]
    priced = [(table.preview(one).share, one) for one in found]
    for share, query in sorted(priced, key=itemgetter(0)):
        label = say("board_page.ask_one", question=query.sentence(), share=prices.takes(table, share))
        st.page_link(nav.page("ask"), label=unmarked(label), query_params=preview.opening(table, query))
    _pairs(table, look, picked.by)


def _pairs(table: dp.Table, look: Look, by: str) -> None:
    """What all pairs with a column would take."""
    if table.closed or by not in board_state.offered(table):
        return
    now = board_state.state_of(table, look.query) | {"against": [by], "three": ""}
    try:
        (share,) = table.prices([query := board_state.query_of(table, now)])
        if share is None and (less := table.opening(query)) is not None:
            now["epsilon"] = spend.opens_at(less)
            (share,) = table.prices([board_state.query_of(table, now)])
    except dp.AllowanceError:
        return
    if share is not None:
        label = say("board_page.buy_pairs", column=by, share=prices.takes(table, share))
        st.page_link(nav.page("board"), label=unmarked(label), query_params=board_state.link(table, now))
