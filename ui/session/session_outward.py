"""What a session's answers say about the population the people were drawn from, and which bounds that rests on."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

from dpengine.asking.answers import round_up_two
from dpengine.core.printed import chance, points
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import Average, Share
from dpengine.messages import say
from dpengine.population import people_needed
from dpengine.population.session_validity import outward
from dpengine.population.validity import Width
from ui.words.figures import rounded_range

EMPTY = Fraction(1, 2)  # saying “half” is always within this
WISHED = Fraction(1, 10)


def best(
    query: AdaptiveSession, choice: bool = False, others: bool = False, question: int | None = None
) -> Width | None:
    """The narrowest bound that is claimed; None where it says nothing."""
    bound = outward(query, choice, others, question)[0]
    return bound if bound.claimed and bound.width < EMPTY else None


def words(query: AdaptiveSession, choice: bool = False, others: bool = False) -> str:
    """`others`: something else was released from these rows."""
    bound = best(query, choice, others)
    if bound is None:
        told = f"{say('session.outward.none', questions=query.questions, people=query.people)} {_enough(query)}".strip()
    else:
        code = "session.outward.within_nominal" if query.nominal else "session.outward.within"
        told = say(code, width=points(bound.width), chance=chance(query.beta), people=query.people)
    if query.rounded is None:
        return told
    if others:
        return f"{told} {say('session.outward.spoiled')}"
    first = best(query, choice, others, 1)
    if bound is None or first is None:
        return told
    return f"{told} {say('session.outward.rounded', values=query.rounded, first=points(first.width))}"


def splitting(query: AdaptiveSession) -> str:
    """The honest line: with few questions, giving each its own people is narrower."""
    first, *_, parts = outward(query)
    if parts.width >= first.width:
        return say("session.outward.split_loses", width=points(parts.width))
    if query.rounded is not None:
        return say("session.outward.split_narrower", width=points(parts.width))
    crossing = people_needed.crossing(query.people, query.beta)
    return say("session.outward.split_wins", width=points(parts.width), crossing=crossing)


def explain(query: AdaptiveSession) -> None:
    """Every bound side by side, what splitting would give, and how many people would do."""
    with st.expander(say("session.outward.more")):
        head = "".join(f"<th>{escape(say(f'session.outward.column.{name}'))}</th>" for name in ("bound", "width"))
        rows = "".join(_row(one) for one in outward(query))
        told = [people_needed.comparison(query.people, query.questions, query.beta)] if query.rounded is None else []
        told += [_enough(query), say("session.outward.assumed"), say("session.outward.choice")]
        if query.nominal:
            told.append(say("session.more.add_remove", people=query.people))
        st.html(
            f'<div class="scroll" tabindex="0"><table class="plain"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
            + "".join(f'<p class="muted">{escape(one)}</p>' for one in told if one)
        )


def _enough(query: AdaptiveSession) -> str:
    """How many people would do, where these are too few."""
    least = people_needed.least_people(query.questions, WISHED, query.beta)
    if least is None or least <= query.people:
        return ""
    many = round_up_two(Fraction(least))
    return say("session.outward.people", people=many, width=points(WISHED), questions=query.questions)


def _row(one: Width) -> str:
    name = say(f"session.outward.{one.theorem}") + ("" if one.claimed else " " + say("session.outward.unclaimed"))
    width = say("session.outward.empty") if one.width >= EMPTY else f"±{points(one.width)}"
    return f"<tr><td>{escape(name)}</td><td>{escape(width)}</td></tr>"


def range_words(query: AdaptiveSession, value: float, choice: bool, others: bool, question: int) -> str:
    """One answer's range for the population, in its own unit. `others`: something else was released before it."""
    found = best(query, choice, others, question)
    if found is None or not isinstance(query.ask, Share | Average):
        return ""
    low, wide = float(query.ask.low), float(query.ask.width)
    reach = float(found.width) * wide
    ends = rounded_range(max(value - reach, low), min(value + reach, low + wide))
    low_words, high_words = (with_unit(query, end) for end in ends)
    return say("session.outward.between", low=low_words, high=high_words)


def with_unit(query: AdaptiveSession, figure: str) -> str:
    return f"{figure} %" if isinstance(query.ask, Share) else figure
