"""The First look page before anything is spent: which columns, how exact, what would help, the price."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, percent_left
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import MOST_AGAINST
from dpengine.messages import plain as plain_number
from dpengine.messages import say
from ui.ask import fit_warnings, spend
from ui.board import board_merge, board_result, board_state
from ui.board.board_state import NAMES, PLACE
from ui.parts import history, job, owner
from ui.shell import frame
from ui.words import prices


def show(table: dp.Table) -> None:
    request = st.query_params.get("look") or _newest(table)
    if request and job.became(
        table, request, Overview, "board_page.unknown", job.wait, board_result.show, fit_warnings.at("look")
    ):
        _earlier(table, request)
        return
    st.html(
        f"<h1>{escape(say('board_page.title', table=table.name))}</h1>"
        f"<p class='lead'>{escape(say('board_page.lead'))}</p>"
    )
    frame.pick_table(table, PLACE)
    _earlier(table)
    if table.closed:
        owner.closed(table)
    elif not board_state.offered(table):
        job.hint(say("board_page.no_columns"))
    else:
        _form(table)


def _newest(table: dp.Table) -> str | None:
    """Without an address, show the newest bought look instead of the form."""
    if "new" in st.query_params or any(name in st.query_params for name in NAMES):
        return None
    return table.newest_look()


def _earlier(table: dp.Table, but: str = "") -> None:
    history.kept(say("board_page.earlier"), table.first_looks(but=but), history.board_address)


def _form(table: dp.Table) -> None:
    given, arrived = job.address_given(table, PLACE, NAMES, lambda arriving: board_state.filled(table, arriving))
    offered = board_state.offered(table)
    left, right = st.columns([5, 6], gap="medium")
    query = None
    with left, st.container(key="card-board-what"):
        now = _columns(table, offered, given)
        chosen = [name for name in offered if name not in now["without"]]
        crossed = [name for name in chosen if name not in table.schema.of_kind(dp.ItemSet)]
        now |= _together(crossed, given)
        now |= board_merge.show_merge(table, chosen, given)
        now |= _details(chosen, bool(now["every"]) or len(now["against"]) == MOST_AGAINST, given)
    with right, st.container(key="card-board"):
        try:
            plain = board_state.query_of(table, now | {"epsilon": "1"})
        except dp.AllowanceError as complaint:
            plain = None
            job.hint(str(complaint))
        found = None if plain is None else table.opening(plain)
        spend.start_from(table, given.get("epsilon") or spend.opens_at(found), PLACE)
        if plain is not None:
            usual = plain
            now["epsilon"] = spend.choose(table, lambda step: usual.at(Fraction(step)), PLACE)
            query = board_state.query_of(table, now)
        else:
            now["epsilon"] = st.session_state[f"{PLACE}-epsilon"]
        job.remember_address(table, PLACE, now, arrived)
        if query is not None:
            _buy(table, query)
        if refusal := st.session_state.pop("refusal", None):
            job.refused(refusal)
    if query is not None:
        with left:
            board_merge.gain(table, now, query)
        board_merge.show_gains(table, now, query)


def _columns(table: dp.Table, offered: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Columns to leave out, and columns with fewer groups."""
    st.html(f"<h2>{escape(say('board_page.what'))}</h2>")
    note = say("board_page.all", columns=len(offered))
    st.html(f'<p class="muted">{escape(note)}</p>')
    without = st.multiselect(
        say("board_page.without"),
        offered,
        given["without"],
        key=job.addressed_widget(PLACE, "without"),
        placeholder=say("board_page.none"),
    )
    found: dict[str, Any] = {"without": without}
    rough = [name for name in board_state.can_be_coarser(table) if name not in without]
    found["coarse"] = (
        st.multiselect(
            say("board_page.coarse"),
            rough,
            [name for name in given["coarse"] if name in rough],
            key=job.addressed_widget(PLACE, "coarse"),
            help=say("board_page.coarse_help"),
            placeholder=say("board_page.none"),
        )
        if rough
        else []
    )
    return found


def _together(crossed: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Pairs to count: each column with one or two others, or every pair."""
    every = st.toggle(
        say("board_page.every"),
        bool(given.get("every")),
        key=job.addressed_widget(PLACE, "every"),
        help=say("board_page.every_help"),
        disabled=len(crossed) < 2,
    )
    against = st.multiselect(
        say("board_page.against"),
        crossed,
        [name for name in given["against"] if name in crossed],
        max_selections=MOST_AGAINST,
        key=job.addressed_widget(PLACE, "against"),
        help=say("param.against.help"),
        placeholder=say("board_page.none"),
        disabled=every,
    )
    whole = every and len(crossed) > 1
    return {"against": [] if whole else against, "every": "1" if whole else ""}


def _details(chosen: list[str], threes: bool, given: dict[str, Any]) -> dict[str, Any]:
    """Columns that matter most, and triples."""
    with st.expander(say("board_page.details")):
        most = st.multiselect(
            say("param.weights.label"),
            chosen,
            [name for name in given["most"] if name in chosen],
            key=job.addressed_widget(PLACE, "most"),
            help=say("param.weights.help"),
            placeholder=say("board_page.none"),
        )
        three = st.toggle(
            say("param.three.label"),
            bool(given.get("three")),
            key=job.addressed_widget(PLACE, "three"),
            help=say("param.three.help"),
            disabled=not threes,
        )
    return {"most": most, "three": "1" if three and threes else ""}


def _buy(table: dp.Table, query: Overview) -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_board")
    st.html(f"<p><b>{escape(worth(table, query, price))}</b></p>")
    board_state.counted_as(query)
    if least := spend.least_html(table, table.opening(query)):
        st.html(least)
    if not price.useful:
        st.html(f'<p class="warn">{escape(spend.noise_words(table, query, price))}</p>')
    spend.exactly(table, query, PLACE)
    label = say("board_page.button", share=prices.takes(table, price.share))
    paid = bool(table.recall(query))
    if fit_warnings.instead_at("look", table, query):
        return
    with st.container(key="in-view"):
        job.ask_button(label, table, query, "board-go", disabled=not price.admissible, place="look", again=paid)
    if not price.admissible:
        left = table.meter().unused
        job.refused(say("board_page.too_much", left=percent_left(left)) if left else say("ask.nothing_left"))


def worth(table: dp.Table, query: Overview, price: dp.Preview) -> str:
    """The price and the promise in one sentence."""
    return say(
        f"board_page.worth.{query.counted}",
        share=prices.takes(table, price.share),
        columns=len(query.names),
        reach=plain_number(price.promise.amount),
        people=query.facts.about,
        each=query.facts.unit.at_most,
        chance=chance(query.beta),
        few=price.people_needed,
    )
