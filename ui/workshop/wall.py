"""The class wall: the instructor picks a question, everyone asks it once, and thirty answers land around the truth.

What moves is one fragment that reads a snapshot made for all (ui/shell/room.py); asking goes through the worker like
any other question, on the participant's own practice budget. Outside a workshop this page has one sentence.
"""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

import dpengine as dp
from dpengine.messages import language, say
from ui.parts import counted, job
from ui.shell import frame, state
from ui.shell.room import Posed, Snapshot, here, on
from ui.words import prices
from ui.words.figures import rounded
from ui.words.wording import headline, range_words
from ui.workshop import wall_instructor, wall_picture
from ui.workshop.wall_facts import EVERY, query_of, read, thousand, told_of, true_value, words_of

PATIENCE = 1.5  # seconds a click waits for its answer; what takes longer is found by the live part


def show() -> None:
    if not on():
        frame.instead(say("workshop.meter"))
        st.html(f'<h1>{escape(say("workshop.title"))}</h1><p class="lead">{escape(say("workshop.none"))}</p>')
        return
    room = here()
    st.html(f"<style>{_rules()}</style>")
    name = state.visitor()
    posed, instructs = room.posed, room.instructs(state.browser())
    if posed is None:
        frame.instead(say("workshop.meter"))
        st.html(f'<h1>{escape(say("workshop.title"))}</h1><p class="lead">{escape(say("workshop.empty"))}</p>')
        _wait_for_question()
    else:
        st.html(f'<h1>{escape(words_of(posed.question))}</h1><p class="lead">{escape(say("workshop.lead"))}</p>')
        answered = _own(posed, name)
        with st.container(key="card-wall"):
            _live(posed.turn, room.round, name, answered)
    wall_instructor.invitation(instructs)
    wall_instructor.panel(instructs)


@cache
def _rules() -> str:
    return (Path(__file__).parent / "wall.css").read_text(encoding="utf-8")


# --- one's own answer -------------------------------------------------------------------------------------------------


def _own(posed: Posed, name: str) -> bool:
    """Whether one's own answer is on the page, or will not be."""
    table, query = query_of(posed.question, posed.epsilon)
    request = here().asked(name)
    if request is None:
        price = table.preview(query)
        frame.show_price(table, price)
        if complaint := st.session_state.pop("refusal", None):
            job.refused(complaint)
        if not price.admissible:
            job.refused(say("workshop.too_much"))
            return True
        st.button(
            say("workshop.ask", share=prices.takes(table, price.share)),
            key=f"wall-ask-{posed.turn}",
            type="primary",
            on_click=_ask,
            args=(table, query, name, posed.turn),
        )
        return False
    found = state.workspace().job(request)
    frame.show_price(table, None)  # again: it was charged after the frame was drawn
    if not found.over:  # the live part below finds it: thirty waiting people must not poll one by one
        st.html(f'<p class="muted" role="status">{escape(say("job.waiting"))}</p>')
    elif found.answer is None:
        job.refused(str(found.error or say("job.unknown")))
    else:
        st.html(
            f'<p class="muted">{escape(say("workshop.your_answer"))}</p>'
            f'<p class="together">{escape(headline(found.answer))}</p>'
            f"<p>{escape(range_words(found.answer))} {escape(say('workshop.others'))}</p>"
            f"{counted.html(found.answer.query)}"
        )
    return found.over


def _ask(table: dp.Table, query: dp.Query, name: str, turn: int) -> None:
    """The click hands it over, once: the id is the participant's for this turn, whatever is clicked again."""
    try:
        request = here().asks(name, turn)
        table.submit(query, request_id=request)
        state.workspace().jobs.wait(request, PATIENCE)
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


# --- everybody's ------------------------------------------------------------------------------------------------------


@st.fragment(run_every=EVERY)
def _wait_for_question() -> None:
    here().name(state.browser())
    if here().posed is not None:
        st.rerun()
    st.html(f'<p class="muted" role="status">{escape(say("workshop.none_yet"))}</p>')


@st.fragment(run_every=EVERY)
def _live(turn: int, number: int, name: str, answered: bool) -> None:
    seen = here().snapshot(read)
    posed = seen.posed
    if posed is None or (posed.turn, seen.round) != (turn, number) or (name in seen.names and not answered):
        st.rerun()
    st.html(everybody(seen, name))


def everybody(seen: Snapshot, name: str) -> str:
    """The picture and what it says, for one viewer."""
    posed = seen.posed
    assert posed is not None
    lang = language.get()
    waiting = f'<p class="muted">{escape(say("workshop.waiting", n=seen.waiting))}</p>' if seen.waiting else ""
    if not seen.dots:
        return f'<div role="status"><p class="wall-say">{escape(say("workshop.none_yet"))}</p>{waiting}</div>'
    true = true_value(posed.question) if posed.truth else None
    mine = wall_picture.yours(seen.names.index(name)) if name in seen.names else ""
    title, promised = told_of(posed.question, posed.epsilon, lang)
    drawn = mine + wall_picture.wall(seen.dots, true, title, lang)
    drawn += f'<div role="status">{_said(seen, true, promised)}{waiting}</div>'
    if posed.simulated and true is not None:
        values, held, half = thousand(posed.question, posed.epsilon)
        drawn += wall_picture.simulated(values, held, true, half, title, lang)
    return drawn


def _said(seen: Snapshot, true: float | None, promised: str) -> str:
    dots, half = seen.dots, wall_picture.width(seen.dots)
    middle = sum(dot.value for dot in dots) / len(dots)
    mean = rounded(middle, middle - half, middle + half)
    if true is None:
        lines = [say("workshop.answers", n=len(dots), mean=mean)]
    else:
        held = sum(dot.holds(true) for dot in dots)
        lines = [
            say("workshop.answers_truth", n=len(dots), mean=mean, truth=true),
            say("workshop.held", held=held, n=len(dots), chance=promised),
        ]
    return "".join(f'<p class="wall-say">{escape(line)}</p>' for line in lines)
