"""Asking: the click only hands the question to the worker; the page waits for it in a fragment and finds it by its id.

The id is in the URL from the click on, so a reload, a second tab or a restart find the same answer and pay nothing.
"""

from __future__ import annotations

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.table import new_request
from ui.state import workspace
from ui.wording import html_lines

_NEXT = "_next_request"


def ask_button(label: str, table: dp.Table, query: dp.Query, key: str, disabled: bool = False) -> None:
    """A button that asks once however often it is clicked: the id it will use is chosen before the click."""
    waiting = st.session_state.setdefault(_NEXT, {})
    request = waiting.setdefault(key, new_request())
    st.button(label, key=key, type="primary", disabled=disabled, on_click=_ask, args=(table, query, request, key))


def _ask(table: dp.Table, query: dp.Query, request: str, key: str) -> None:
    st.query_params["table"] = table.name
    st.query_params["answer"] = request
    try:
        table.submit(query, request_id=request)
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


def current_request() -> str | None:
    return st.query_params.get("answer")


def renew(key: str) -> None:
    """After an answer is shown, the next click is a new, paid draw."""
    st.session_state.get(_NEXT, {}).pop(key, None)


def look(request: str) -> dp.Job:
    """Where the question in the URL stands. Until it is over the page shows that it waits, and nothing else."""
    job = workspace().job(request)
    if not job.over:
        _waiting(request)
    elif job.answer is None:
        refused(say("job.unknown") if job.state == "unknown" else str(job.error))
    return job


@st.fragment(run_every=0.3)
def _waiting(request: str) -> None:
    if workspace().job(request).over:
        st.rerun()
    st.html(f'<p class="muted" role="status">{html_lines(say("job.waiting"))}</p>')


def refused(sentence: str) -> None:
    st.html(f'<div class="refused" role="alert"><b>{html_lines(say("job.refused"))}</b> {html_lines(sentence)}</div>')


def revisit(table: dp.Table, answer: dp.Answer) -> None:
    """Show an answer that was already paid for."""
    st.query_params["table"] = table.name
    st.query_params["answer"] = answer.request_id
