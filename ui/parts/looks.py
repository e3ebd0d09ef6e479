"""A question that was asked more than once: its answers combined, each one alone, and a button to ask again."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.repeated_answers import MOST_AVERAGED, Reading, foreseen
from dpengine.core.amounts import MOST_EPSILON
from dpengine.core.printed import chance, percent, two_figures
from dpengine.mechanisms.card import WHOLE
from dpengine.mechanisms.query import Averaged
from dpengine.messages import plain, say
from ui.parts import answer as answers
from ui.parts import counted, job
from ui.parts.history import answer_address, receipt_link, when
from ui.pictures import many
from ui.words.wording import as_one, headline, in_short, range_words


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
    one = as_one(reading)
    if reading.agree:
        lines.append(f'<p class="muted">{escape(say(f"looks.{reading.kind}", count=reading.count))}</p>')
    lines.append(f'<p class="together">{escape(headline(one))}</p>')
    told = range_words(one)
    if isinstance(one.interval, dict):
        told = say("answer.ranges", of=len(one.interval), chance=chance(reading.beta))
    lines.append(f'<p class="lead">{escape(told)}</p>{counted.html(one.query)}')
    if reading.agree:
        facts = {"count": reading.count, "chance": chance(beta), "together": chance(reading.beta)}
        lines.append(f'<p class="muted">{escape(say(f"looks.{reading.kind}.holds", **facts))}</p>')
    st.html("".join(lines))
    if isinstance(one.value, dict):
        answers.picture(one, "looks")


def _each(table: dp.Table, reading: Reading) -> str:
    names = ("when", "answer", "share", "receipt")
    head = "".join(f"<th>{escape(say(f'looks.column.{name}'))}</th>" for name in names)
    rows = []
    for look in reading.newest:
        link = answer_address(look.receipt["table"], look.request_id)
        receipt = receipt_link(link, look.receipt["charge"]["hash"])
        cells = (escape(when(look.at)), escape(in_short(look)), escape(percent(table.took_by(look))), receipt)
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{"".join(rows)}</table></div>'


def _once_more(table: dp.Table, answer: dp.Answer, reading: Reading) -> None:
    price = table.preview(answer.query)
    if not price.admissible:
        return
    kind = "averaged" if isinstance(answer.query, Averaged) else "shared" if answer.interval is not None else "apart"
    label = say("looks.again.apart" if kind == "apart" else "looks.again", share=percent(price.share))
    job.ask_button(label, table, answer.query, "look-again", kind="secondary", again=True)
    words = say(f"looks.why.{kind}")
    if kind == "averaged":
        words += " " + _foreseen(answer, reading)
    if 2 * answer.query.epsilon <= MOST_EPSILON:  # noise falls with the spend, but only with the root of the looks
        asked = answer.query.at(2 * answer.query.epsilon)
        twice = table.preview(asked)
        now = answer.interval
        half = Fraction(now[1] - now[0]) / 2 if isinstance(now, tuple) else None
        if twice.admissible and (half is None or twice.promise.narrows(half)):
            promise = twice.promise.short(asked)
            words += " " + say("looks.better", promise=promise, share=percent(twice.share))
    st.html(f'<p class="muted">{escape(words)}</p>')


def _foreseen(answer: dp.Answer, reading: Reading) -> str:
    """How narrow the range would be after one more look, beside how narrow it is now."""
    now = reading.interval if reading.count > 1 and reading.agree else answer.interval
    then = foreseen(reading.answers, answer.query, answer.query.beta) if isinstance(now, tuple) else None
    if not isinstance(then, tuple):
        return say("looks.then_all")
    half, other = (Fraction(high - low) / 2 for low, high in (now, then))
    told = {"now": two_figures(half), "then": two_figures(other)}
    code = "looks.then" if other < half and told["now"] != told["then"] else "looks.then_not"
    return say(code, count=reading.count + 1, **told)
