"""What to ask first of a table that was just added, or just checked: a click each.

Before the first question all columns are checked as they are declared, for next to nothing: the click pays for both,
and where the check doubts a column of the question, that is neither asked nor paid for. It is decided from the check's
released figures alone; nobody has to know that there are checks to be kept from a confident falsehood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
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
from ui.parts import doubted, first_look, job, preview, spend, wish
from ui.shell import nav
from ui.shell.state import may
from ui.words import prices
from ui.words.markup import unmarked

AT_ONCE = 3  # kinds of questions
MOST_ALIKE = 3  # further columns of each
YEAR = "year"  # whose average nobody asks first
LITTLE = Fraction(1, 10)  # of the allowance


@dataclass(frozen=True)
class Offer:
    """A question that one click asks, with what it takes: the check that goes before it included."""

    query: dp.Query
    seen: dp.Preview
    check: dp.Query | None
    share: Fraction
    of: str  # which cells of its column alone, in words


def show(table: dp.Table) -> None:
    """A question, or pictures of all columns at once, a click each; only the check; or a question about a column that
    is put together."""
    asking = may("ask", table.name)
    look: Any = first_look.usual(table)
    price = None if look is None else table.preview(look)
    with st.container(key="card-first"):
        check = fit.first(table) if asking else None
        asked = _at_once(table, check) if asking else []
        checked = check is not None and any(one.check is not None for alike in asked for one in alike)
        if check is not None and checked:
            st.html(f"<p>{escape(_told_before(table, check))}</p>")
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
        if check is not None and checked:
            _only_check(table, check, alone=False)
        offered = {one.query.answer_column for alike in asked for one in alike}
        ways = [found for name in table.schema.columns if name not in offered and (found := way(table, name, name))]
        if ways:
            st.html(f'<p class="columns-on"><span>{escape(say("data.done.or_ask"))}</span> {" ".join(ways)}</p>')


def _told_before(table: dp.Table, check: dp.Query) -> str:
    share = prices.takes(table, table.preview(check).share)
    names = [name for name in table.schema.columns if name in _columns(check)]
    if len(names) == len(table.schema.columns):
        return say("data.first.check", share=share)
    return say("data.first.check_some", columns=fit.some(names), share=share)


def _columns(check: dp.Query) -> set[str]:
    return set(check.parameters()["columns"])


def _only_check(table: dp.Table, check: dp.Query, alone: bool) -> None:
    """The check by itself: the first thing to do where no question brings it along."""
    takes = prices.takes(table, table.preview(check).share)
    label = say("data.fit.all_button", columns=len(_columns(check)), share=takes)
    with st.container(horizontal=True, vertical_alignment="center", key="done-check"):
        told = f"<b>{escape(say('data.fit.first'))}</b>" if alone else escape(say("data.first.only_check"))
        st.html(f"<p>{told}</p>")
        job.ask_button(label, table, check, "done-fit", kind=job.PRIMARY if alone else job.SECONDARY)


def _at_once(table: dp.Table, check: dp.Query | None) -> list[list[Offer]]:
    """Questions that one click asks, at the price that Ask starts them with: of each kind some columns' that take
    little."""
    found: dict[type[dp.Query], list[Offer]] = {}
    for name in sorted(table.schema.columns, key=lambda one: presets.suggest(one).preset == YEAR):
        query = _asked_first(table, name)
        of = ""
        if query is not None and (other := doubted.spared(table, query)) is not None:  # codes for “unknown” were found
            query, of = other, " ".join(doubted.below(table, query))
        if query is None or (len(found) == AT_ONCE and type(query) not in found):
            continue
        if len(alike := found.get(type(query), [])) > MOST_ALIKE:
            continue
        best = table.cheapest(spend.fresh(table, query))
        seen = table.preview(best)
        if seen.useful and seen.admissible and seen.share <= LITTLE:
            found[type(query)] = [*alike, _with_check(table, best, seen, check, of)]
    return list(found.values())


def instead(table: dp.Table, query: dp.Query) -> None:
    """Of a question that was not asked because of codes for “unknown”: the same without them."""
    other = doubted.spared(table, query)
    if other is not None:
        best = table.cheapest(spend.fresh(table, other))
        seen = table.preview(best)
        if seen.useful and seen.admissible:
            with st.container(key="card-instead"):
                st.html(f"<p>{escape(say('data.first.instead'))}</p>")
                _question(table, Offer(best, seen, None, seen.share, ""), "instead")


def _with_check(table: dp.Table, query: dp.Query, seen: dp.Preview, check: dp.Query | None, of: str) -> Offer:
    """The question after the check, where that is about its columns and cheap, and both can be asked here and now."""
    alone = Offer(query, seen, None, seen.share, of)
    if check is None or not query.about() & _columns(check) or wish.waits(table, check) or wish.waits(table, query):
        return alone
    both = table.planner().price_of([check, query])
    return Offer(query, seen, check, both.share, of) if both.admitted and both.lines[0].share <= fit.CHEAP else alone


def _alike(table: dp.Table, others: Sequence[Offer], place: int) -> None:
    """The same question of other columns: each with its error and its price."""
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-alike-{place}"):
        st.html(f'<p class="muted">{escape(say("data.done.alike"))}</p>', width="content")
        for at, one in enumerate(others):
            asked: Any = one.query
            takes = prices.takes(table, one.share)
            label = say("data.done.alike_one", column=one.of or asked.column, within=_within(one), share=takes)
            _asks(table, one, unmarked(label), f"done-alike-{place}-{at}")


def _within(one: Offer) -> str:
    """As briefly as beside a question that says what it means."""
    ends = None if one.of else one.seen.promise.ends(one.query)  # how good depends on how many there are
    return one.seen.promise.short(one.query) if ends is None else f"±{ends[1].removeprefix('+')}"


def _question(table: dp.Table, one: Offer, place: int | str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-first-{place}"):
        told = f"{escape(one.query.sentence())}<span>{DOT}{escape(one.seen.promise.short(one.query))}</span>"
        st.html(f'<p class="at-once">{told}</p>')
        label = say("ask.button", share=prices.takes(table, one.share))
        _asks(table, one, label, f"done-question-{place}")


def _asks(table: dp.Table, one: Offer, label: str, key: str) -> None:
    again = bool(table.recall(one.query))
    if one.check is None:
        job.ask_button(label, table, one.query, key, kind=job.SECONDARY, place="asked", again=again)
    else:
        job.ask_button(label, table, one.check, key, kind=job.SECONDARY, again=again, then=one.query)


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
