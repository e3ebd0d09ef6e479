"""A question that was asked more than once: its answers combined, each one alone, and a button to ask again."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.paid_answers import MOST_AVERAGED, Reading, foreseen
from dpengine.core.amounts import MOST_EPSILON
from dpengine.core.printed import chance, two_figures
from dpengine.mechanisms.card import WHOLE
from dpengine.mechanisms.query import Averaged
from dpengine.messages import plain, say
from ui.ask import answer as answers
from ui.parts import answer_notes, job
from ui.parts.history import address_of, receipt_link, when
from ui.pictures import many
from ui.shell.state import workspace
from ui.words import prices
from ui.words.wording import as_one, in_short, range_words

NARROWER = Fraction(19, 20)  # of all widths together: less is no gain that anybody sees
CLEARLY = Fraction(4, 5)  # of a width: what a dearer answer must be below to be worth its price


def show(table: dp.Table, answer: dp.Answer) -> None:
    if answer.query.answer_kind in WHOLE:  # another draw is another one, from its own page
        return
    if isinstance(answer.value, dict) and len(answer.value) > many.MOST_REHEARSED:
        return  # so many means are not worked out while somebody waits; Ask and the CSV have each answer
    reading = table.looks(answer.query)
    if reading.count > 1:
        with st.container(key="card-looks"):
            _together(reading, answer.query.beta)
            with st.expander(say("looks.each")):
                st.html(_each(table, reading))
    same = [(look.query.epsilon, look.query.noise) for look in reading.answers]
    few = same.count((answer.query.epsilon, answer.query.noise)) < MOST_AVERAGED
    declared = answer.query.facts == table.facts  # a table declared anew since then asks another question
    if few and declared and not table.closed:
        _once_more(table, answer, reading)


def _together(reading: Reading, beta: Fraction) -> None:
    lines = [f"<h2>{escape(say('looks.title', count=reading.count))}</h2>"]
    if reading.kind == "apart":
        st.html(lines[0] + f"<p>{escape(say('looks.apart'))}</p>")
        return
    if not reading.agree:
        odds = {"chance": plain(float(beta * 100))} if reading.kind == "averaged" else {}
        code = "looks.disagree" if odds else "looks.disagree.shared"
        lines.append(f'<p class="warn" role="status">{escape(say(code, **odds))}</p>')
    elif reading.interval is None:
        facts = {"count": reading.count, "chance": chance(beta)}
        st.html(lines[0] + f'<p class="muted">{escape(say("looks.shared.nothing", **facts))}</p>')
        return
    combined = as_one(reading)
    if reading.agree:
        lines.append(f'<p class="muted">{escape(say(f"looks.{reading.kind}", count=reading.count))}</p>')
    words = range_words(combined)
    if isinstance(combined.interval, dict):
        words = say("answer.ranges", of=len(combined.interval), chance=chance(reading.beta))
    lead = f'<p class="lead">{escape(words)}</p>{answer_notes.fit_notes(combined)}'
    lines.append(answer_notes.finding(combined, lead, kind="together"))
    if reading.agree:
        facts = {"count": reading.count, "chance": chance(beta), "together": chance(reading.beta)}
        lines.append(f'<p class="muted">{escape(say(f"looks.{reading.kind}.holds", **facts))}</p>')
    st.html("".join(lines))
    if isinstance(combined.value, dict):
        answers.picture(combined, "looks")


def _each(table: dp.Table, reading: Reading) -> str:
    names = ("when", "answer", "share", "receipt")
    head = "".join(f"<th>{escape(say(f'looks.column.{name}'))}</th>" for name in names)
    rows = []
    for look in reading.newest:
        link = address_of(look.receipt["table"], look.request_id)
        receipt = receipt_link(link, look.receipt["charge"]["hash"])
        took = prices.took(table, workspace().ledger.find(look.request_id))
        cells = (escape(when(look.at)), escape(in_short(look)), escape(took), receipt)
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{"".join(rows)}</table></div>'


def _once_more(table: dp.Table, answer: dp.Answer, reading: Reading) -> None:
    """Another look is offered where it narrows what is known, and a more exact answer where there is one."""
    notes = []
    price, narrower = table.preview(answer.query, checked=True), _narrower(answer, reading)
    if price.admissible and narrower:
        label = say("looks.again", share=prices.takes(table, price.share))
        job.ask_button(label, table, answer.query, "look-again", kind="secondary", again=True)
        notes += [say("looks.why.averaged"), narrower]
    notes += [_better(table, answer, bool(notes))]
    if words := " ".join(filter(None, notes)):
        st.html(f'<p class="muted">{escape(words)}</p>')


def _better(table: dp.Table, answer: dp.Answer, beside: bool) -> str:
    """A single answer for twice the ε: noise falls with the spend, but only with the root of the looks. Only where it
    is clearly narrower, for at most half of what is left."""
    if 2 * answer.query.epsilon > MOST_EPSILON:
        return ""
    asked = answer.query.at(2 * answer.query.epsilon)
    twice, now = table.preview(asked, checked=True), answer.interval
    half = _half(now)
    if not twice.admissible or twice.share > table.meter().unused / 2:
        return ""
    if half is not None and not twice.promise.narrows(CLEARLY * half):
        return ""
    facts = {"promise": twice.promise.short(asked), "share": prices.takes(table, twice.share)}
    return say("looks.better" if beside else "looks.better_alone", **facts)


def _half(now: Any) -> Fraction | None:
    """Half the width of a range that was received; of several the widest, which a better answer has to beat."""
    ranges = list(now.values()) if isinstance(now, dict) else [now]
    if not ranges or not all(isinstance(ends, tuple) and not isinstance(ends[0], str) for ends in ranges):
        return None
    return max((Fraction(high) - Fraction(low)) / 2 for low, high in ranges)


def _narrower(answer: dp.Answer, reading: Reading) -> str:
    """How narrow the range would be after one more look, beside how narrow it is now; "" where it would not be
    narrower. What bought ranges have in common holds less often than they do, and names are not averaged: another look
    at those makes nothing narrower."""
    if not isinstance(answer.query, Averaged):
        return ""
    now = reading.interval if reading.count > 1 and reading.agree else answer.interval
    then = foreseen(reading.answers, answer.query, answer.query.beta)
    if isinstance(now, tuple) and isinstance(then, tuple):
        half, other = (two_figures(Fraction(high - low) / 2) for low, high in (now, then))
        return say("looks.then", now=half, then=other) if _width(then) < _width(now) and half != other else ""
    if isinstance(now, dict) and isinstance(then, dict) and now.keys() == then.keys():
        return say("looks.then_all") if _width(then) < NARROWER * _width(now) else ""
    return ""


def _width(interval: Any) -> Fraction:
    ends = interval.values() if isinstance(interval, dict) else [interval]
    return sum((Fraction(high) - Fraction(low) for low, high in ends), Fraction(0))
