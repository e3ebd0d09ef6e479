"""The answer before, while another question is put together: folded into one line, so that nobody reads it as the
answer to what the form says now."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.words.markup import unmarked
from ui.words.wording import headline

_WITH = "answered-with"  # the request on the page, and what the form said when its answer came


def place(slot: Any, answer: dp.Answer, key: str, given: dict[str, Any]) -> AbstractContextManager[Any]:
    """Where to draw it: in the slot itself as long as the form says what it said when the answer came, however exact it
    is to be; else behind a line there that names it."""
    asked = json.dumps([key, {name: one for name, one in given.items() if name != "epsilon"}], default=str)
    request, before = st.session_state.get(_WITH, ("", ""))
    if request != answer.request_id:
        st.session_state[_WITH] = (answer.request_id, asked)
    elif before != asked:
        told = say("ask.before", sentence=answer.sentence, finding=headline(answer))
        opened: AbstractContextManager[Any] = slot.expander(unmarked(told))
        return opened
    whole: AbstractContextManager[Any] = slot
    return whole
