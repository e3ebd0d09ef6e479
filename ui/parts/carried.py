"""Conditions that came along from the question before: said on top of the form, and dropped with one tap."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.declared.condition_words import who
from dpengine.declared.conditions import read_predicate
from dpengine.messages import say

_SET_WITH = "where-set-with"  # conditions, and the question in the form when they were set; a link forgets it


def came_back() -> None:
    """Somebody came to Ask by its name, and finds the form as it was left: whatever is asked now, they were set
    before."""
    if _SET_WITH in st.session_state:
        st.session_state[_SET_WITH] = (st.session_state[_SET_WITH][0], "")


def tell(table: dp.Table, where: list[Any], asked: Sequence[Any], rows: bool, drop: Callable[[], None]) -> None:
    """`asked` is the question in the form without its conditions."""
    told, question = json.dumps(where, default=str), json.dumps(asked, default=str)
    before, set_with = st.session_state.get(_SET_WITH, ("", ""))
    if told != before:
        st.session_state[_SET_WITH] = (told, question)
        return
    if set_with == question:
        return
    try:
        people = who(read_predicate(where, table.schema), rows=rows)
    except dp.AllowanceError:  # not complete yet, which the form says
        return
    with st.container(key="ask-still", horizontal=True, vertical_alignment="center"):
        st.html(f'<p role="status">{escape(say("form.still", who=people))}</p>', width="content")
        st.button(say("form.still_drop.rows" if rows else "form.still_drop"), key="ask-still-drop", on_click=drop)
