"""The answer before, while another question is put together: folded into one line, so that nobody reads it as the
answer to what the form says now."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.parts import answer as answers
from ui.parts import looks, typical
from ui.words.markup import unmarked
from ui.words.wording import headline

Beside = Callable[[dp.Answer], None]  # what else stands between the answer and its repeats
_MET = "answered-beside"  # the same with how exact it was to be
_WITH = "answered-with"  # the request on the page, and what the form said when its answer came


def show(slot: Any, table: dp.Table, answer: dp.Answer, beside: Beside, form: Sequence[Any] = ()) -> None:
    """The answer on top of Ask: whole, as long as the form says what it said when the answer came, however exact it is
    to be; else behind a line that names it."""
    with slot:
        if _another(answer, form):
            told = say("ask.before", sentence=answer.sentence, finding=headline(answer))
            with st.expander(unmarked(told)):
                _whole(table, answer, beside)
        else:
            _whole(table, answer, beside)


def composing(answer: dp.Answer, form: Sequence[Any]) -> bool:
    """Was anything in the form changed since this answer came? Looking at an answer takes nothing, and the meter must
    not seem to say so."""
    return _changed(_MET, answer, form)


def _another(answer: dp.Answer, form: Sequence[Any]) -> bool:
    """Was another question picked since this answer came?"""
    if not form:
        return False
    key, given = form
    return _changed(_WITH, answer, [key, {name: one for name, one in given.items() if name != "epsilon"}])


def _changed(kept: str, answer: dp.Answer, form: Sequence[Any]) -> bool:
    """Does the form say something else than when this answer came? That is kept under its request."""
    asked = json.dumps(form, default=str)
    request, before = st.session_state.get(kept, ("", ""))
    if request != answer.request_id:
        st.session_state[kept] = (answer.request_id, asked)
        return False
    return bool(before != asked)


def _whole(table: dp.Table, answer: dp.Answer, beside: Beside) -> None:
    answers.show(answer)
    typical.tell(table, answer)
    beside(answer)
    looks.show(table, answer)
