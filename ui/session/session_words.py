"""What a session's answers imply about the population that the people were drawn from, with the bounds used."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.history import Past
from dpengine.asking.answers import round_up_two
from dpengine.asking.sessions import Taken
from dpengine.core.printed import chance, points
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import Share
from dpengine.messages import say
from dpengine.population import people_needed
from dpengine.population.session_validity import ROUNDED, USELESS, claimable, claimed, outward
from dpengine.population.validity import Width
from dpengine.released.look_answers import KnownAlready
from ui.words.figures import anything, printed, printed_range, rounded_range
from ui.words.markup import html_table
from ui.words.wording import headline, range_words

WISHED = Fraction(1, 10)


def best_bound(query: AdaptiveSession, past: Past, reserve: Fraction, question: int | None = None) -> Width | None:
    """The claimed bound, if nothing else is released in between; None if it is useless."""
    return claimed(query, past, reserve, question or query.questions)


def outward_words(query: AdaptiveSession, past: Past, reserve: Fraction, others: bool = False) -> str:
    """`past`: releases about these people before the session. `others`: something else was released since."""
    if not claimable(query):
        return say("session.outward.unfit")
    bound = best_bound(query, past, reserve)
    first = best_bound(query, past, reserve, 1)
    if bound is None:
        if first is not None:
            words = say("session.outward.early", width=points(first.width), chance=chance(query.beta))
        elif past == Past.NOTHING:
            none = say("session.outward.none", questions=query.questions, people=query.people)
            words = f"{none} {_enough(query)}".strip()
        else:
            words = say("session.outward.too_much")
        return words
    words = say("session.outward.within", width=points(bound.width), chance=chance(query.beta))
    if past != Past.NOTHING:
        words = f"{words} {say('session.outward.counted_in')}"
    if others:
        return f"{words} {say('session.outward.spoiled')}"
    if bound.theorem not in ROUNDED or first is None:
        return words
    return f"{words} {say('session.outward.rounded', values=query.rounded, first=points(first.width))}"


def splitting(query: AdaptiveSession, past: Past) -> str:
    """With few questions, splitting the people gives narrower bounds. After other releases the comparison is invalid: a
    question about a part may depend on what was released about it."""
    if past != Past.NOTHING or not claimable(query):
        return ""
    first, *_, parts = outward(query)
    if parts.width >= first.width:
        return say("session.outward.split_loses", width=points(parts.width))
    if query.rounded is not None:
        return say("session.outward.split_narrower", width=points(parts.width))
    crossing = people_needed.crossing(query.people, query.beta)
    return say("session.outward.split_wins", width=points(parts.width), crossing=crossing)


def explain(query: AdaptiveSession, past: Past, reserve: Fraction) -> None:
    """All bounds side by side, and how many people would be enough."""
    if not claimable(query):
        return
    with st.expander(say("session.outward.more")):
        notes = []
        if past == Past.NOTHING:
            notes += [people_needed.comparison(query.people, query.questions, query.beta)] if not query.rounded else []
            notes.append(_enough(query))
        notes += [say("session.outward.assumed"), say("session.outward.choice")]
        heads = [say(f"session.outward.column.{name}") for name in ("bound", "width")]
        shown = [bound for bound in outward(query, past, reserve) if past == Past.NOTHING or bound.claimed]
        below = "".join(f'<p class="muted">{escape(note)}</p>' for note in notes if note)
        st.html(html_table(heads, map(_row, shown), words=2) + below)


def _enough(query: AdaptiveSession) -> str:
    """How many people would be enough, if these are too few."""
    least = people_needed.least_people(query.questions, WISHED, query.beta)
    if least is None or least <= query.people:
        return ""
    many = round_up_two(Fraction(least))
    return say("session.outward.people", people=many, width=points(WISHED), questions=query.questions)


def _row(bound: Width) -> tuple[str, str]:
    name = say(f"session.outward.{bound.theorem}") + ("" if bound.claimed else " " + say("session.outward.unclaimed"))
    return name, say("session.outward.empty") if bound.width >= USELESS else f"±{points(bound.width)}"


def outward_range(taken: Taken) -> str:
    """An answer's range for the population, in its unit; empty if none is claimed."""
    if taken.population is None:
        return ""
    low, high = (with_unit(taken.query, end) for end in rounded_range(*taken.population))
    return say("session.outward.between", low=low, high=high)


def with_unit(query: AdaptiveSession, figure: str) -> str:
    return f"{figure} %" if isinstance(query.ask, Share) else figure


# --- one answer in words, on the page and in the report


def value(query: AdaptiveSession, released: Any, interval: Any) -> str:
    return headline(_answer(query, released, interval))


def ranges(query: AdaptiveSession, released: Any, interval: Any) -> str:
    """Its range in this table, with its unit. The page says once that it holds for all answers."""
    if interval is None:
        return range_words(_answer(query, released, interval))
    silent = query.mute(interval)
    ends = anything(query, interval) if silent else printed_range(query, *interval)
    low, high = (with_unit(query, end) for end in ends)
    if silent:
        return say("answer.nothing_means", low=low, high=high)
    code = "session.between_nominal" if query.nominal else "session.between"
    return say(code, low=low, high=high, people=query.people)


def known(query: AdaptiveSession, found: KnownAlready) -> str:
    """What an earlier first look says about the next question, and whether asking would be more exact."""
    promised = float(query.promise().amount)
    if found.low is None or found.high is None:
        value = printed(query, found.value, (found.value - promised, found.value + promised))
        return say("session.known_estimated", value=with_unit(query, value))
    low, high = (with_unit(query, end) for end in printed_range(query, found.low, found.high))
    enough = found.high - found.low <= 2 * promised
    return say("session.known" if enough else "session.known_wider", low=low, high=high)


def _answer(query: AdaptiveSession, released: Any, interval: Any) -> dp.Answer:
    return dp.Answer(released, interval, query.promise(), {}, query, "", "")
