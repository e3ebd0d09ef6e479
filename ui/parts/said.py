"""What became of an act, told beside the button that did it. An act is one call of the engine inside a callback."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.shell.frame import broken, fine

_SAID = "people-said"


def act(place: str, done: str, work: Callable[[], object], **facts: str) -> bool:
    try:
        work()
    except dp.AllowanceError as complaint:
        st.session_state[_SAID] = (place, False, str(complaint))
        return False
    st.session_state[_SAID] = (place, True, say(done, **facts))
    return True


def tell(place: str) -> None:
    """Good news once; a refusal until the next act."""
    where, good, sentence = st.session_state.get(_SAID) or ("", False, "")
    if where != place:
        return
    if good:
        st.session_state.pop(_SAID)
        fine(sentence)
    else:
        broken(say("owner.not_done"), sentence)
