"""What to ask first of a table that was just added, or just checked: a click each.

A click buys the check of the question's columns with it, as everywhere (`dpengine/asking/checking.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance
from dpengine.messages import plain, say
from dpengine.planning.suggestions import first_asked
from ui.data import declare_fit as fit
from ui.data import presets
from ui.data.declare import DOT
from ui.parts import first_look, job, preview
from ui.shell import nav
from ui.shell.state import may
from ui.words import prices
from ui.words.markup import unmarked

AT_ONCE = 3  # kinds of questions
MOST_ALIKE = 3  # further columns of each
YEAR = "year"  # whose average nobody asks first


@dataclass(frozen=True)
class Offer:
    """A question that one click asks, with what it takes: the check that goes before it included."""

    query: dp.Query
    seen: dp.Preview


def show(table: dp.Table) -> None:
    """A question, or pictures of all columns at once, a click each; only the check; or a question about a column that
    is put together."""
    asking = may("ask", table.name)
    look: Any = first_look.usual(table)
    price = None if look is None else table.preview(look, checked=True)
    with st.container(key="card-first"):
        check = fit.first(table) if asking else None
        asked = _at_once(table) if asking else []
        brings = next((one.seen for alike in asked for one in alike if one.seen.check is not None), None)
        if brings is not None and brings.check is not None:
            st.html(f"<p>{escape(_told_before(table, brings))}</p>")
        elif check is not None:
            _only_check(table, check, alone=True)
        for place, (usual, *others) in enumerate(asked):
            with st.container(key=f"done-ask-{place}"):
                _question(table, usual, place)
                _alike(table, others, place)
        if look is not None and price is not None and price.useful and price.admissible:
            each = table.facts.unit.at_most
            told = say(
                "data.done.look_means" if each == 1 else "data.done.look_rows",
                columns=len(look.parameters()["columns"]),
                reach=plain(price.promise.amount),
                people=table.facts.about,
                each=each,
                chance=chance(look.beta),
            )
            label, again = say("board_page.button", share=prices.takes(table, price.share)), bool(table.recall(look))
            kind = job.SECONDARY if asked or check is not None else job.PRIMARY
            with st.container(horizontal=True, vertical_alignment="center", key="done-all"):
                st.html(f"<p>{escape(told)}</p>")
                job.ask_button(label, table, look, "done-look", kind=kind, place="look", again=again)
        else:
            with st.container(key="declare-done-first"):  # the other stands below, where a check was just read
                st.page_link(nav.page("ask"), label=say("data.done.ask"), query_params={"table": table.name})
        if check is not None and brings is not None:
            _only_check(table, check, alone=False)
        offered = {one.query.answer_column for alike in asked for one in alike}
        ways = [found for name in table.schema.columns if name not in offered and (found := way(table, name, name))]
        if ways:
            st.html(f'<p class="columns-on"><span>{escape(say("data.done.or_ask"))}</span> {" ".join(ways)}</p>')


def _told_before(table: dp.Table, seen: dp.Preview) -> str:
    assert seen.check is not None
    given = seen.check.parameters()
    share, checked = prices.takes(table, seen.check_share), {*given["columns"], *given.get("ids", [])}
    names = [name for name in table.schema.columns if name in checked]
    if len(names) == len(table.schema.columns):
        return say("data.first.check", share=share)
    return say("data.first.check_some", columns=fit.some(names), share=share)


def _only_check(table: dp.Table, check: dp.Query, alone: bool) -> None:
    """The check by itself: the first thing to do where no question brings it along."""
    takes = prices.takes(table, table.preview(check).share)
    label = say("data.fit.all_button", columns=len(check.parameters()["columns"]), share=takes)
    with st.container(horizontal=True, vertical_alignment="center", key="done-check"):
        told = f"<b>{escape(say('data.fit.first'))}</b>" if alone else escape(say("data.first.only_check"))
        st.html(f"<p>{told}</p>")
        job.ask_button(label, table, check, "done-fit", kind=job.PRIMARY if alone else job.SECONDARY)


def _at_once(table: dp.Table) -> list[list[Offer]]:
    """Questions that one click asks, at the price that Ask opens them with: of each kind some columns'. None of which a
    check is known to doubt a column."""
    found: dict[type[dp.Query], list[Offer]] = {}
    for name in sorted(table.schema.columns, key=lambda one: presets.suggest(one).preset == YEAR):
        query = _asked_first(table, name)
        if query is None or (len(found) == AT_ONCE and type(query) not in found) or table.doubts(query) is not None:
            continue
        if len(alike := found.get(type(query), [])) > MOST_ALIKE:
            continue
        opens = table.opening(query)
        if opens is None or opens.dear:
            continue
        seen = table.preview(opens.asked, checked=True)
        if seen.useful and seen.admissible:
            found[type(query)] = [*alike, Offer(opens.asked, seen)]
    return list(found.values())


def _alike(table: dp.Table, others: Sequence[Offer], place: int) -> None:
    """The same question of other columns: each with its error and its price."""
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-alike-{place}"):
        st.html(f'<p class="muted">{escape(say("data.done.alike"))}</p>', width="content")
        for at, one in enumerate(others):
            asked: Any = one.query
            takes = prices.takes(table, one.seen.share)
            label = say("data.done.alike_one", column=asked.column, within=_within(one), share=takes)
            _asks(table, one, unmarked(label), f"done-alike-{place}-{at}")


def _within(one: Offer) -> str:
    """As briefly as beside a question that says what it means."""
    ends = one.seen.promise.ends(one.query)
    return one.seen.promise.short(one.query) if ends is None else f"±{ends[1].removeprefix('+')}"


def _question(table: dp.Table, one: Offer, place: int | str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-first-{place}"):
        told = f"{escape(one.query.sentence())}<span>{DOT}{escape(one.seen.promise.short(one.query))}</span>"
        st.html(f'<p class="at-once">{told}</p>')
        label = say("ask.button", share=prices.takes(table, one.seen.share))
        _asks(table, one, label, f"done-question-{place}")


def _asks(table: dp.Table, one: Offer, label: str, key: str) -> None:
    again = bool(table.recall(one.query))
    job.ask_button(label, table, one.query, key, kind=job.SECONDARY, place="asked", again=again)


def way(table: dp.Table, name: str, told: str = "") -> str:
    """To the question that a column is asked about first, filled in."""
    query = _asked_first(table, name)
    if query is None:
        return ""
    told = told or say("data.done.way", question=query.card.noun)
    return f' <a class="way" href="{nav.address("ask", **link(table, query))}" target="_self">{escape(told)}</a>'


def link(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """To the form with this question in it, which chooses the price."""
    return {name: one for name, one in preview.link(table, query).items() if name != "epsilon"}


def _asked_first(table: dp.Table, name: str) -> dp.Query | None:
    found = (table.suggested(key, **given) for key, given in first_asked(name, table.schema))
    return next((one for one in found if one is not None), None)
