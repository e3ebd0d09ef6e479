"""What came along from the question before, conditions or groups: said below the sentence, and dropped with one tap."""

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

_SET_WITH = "where-set-with"  # by part: it, and the question in the form when it was set; a link forgets it


def came_back() -> None:
    """Somebody came to Ask by its name, and finds the form as it was left: whatever is asked now, it was set before."""
    st.session_state[_SET_WITH] = {part: (told, "") for part, (told, _) in st.session_state.get(_SET_WITH, {}).items()}


def tell_where(
    table: dp.Table, where: Sequence[Any], asked: Sequence[Any], rows: bool, drop: Callable[[], None]
) -> None:
    """`asked` is the question in the form without its conditions and its groups."""
    if not _came_along("where", where, asked):
        return
    try:
        people = who(read_predicate(where, table.schema), rows=rows)
    except dp.AllowanceError:  # not complete yet, which the form says
        return
    _say("ask-still", say("form.still", who=people), say("form.still_drop.rows" if rows else "form.still_drop"), drop)


def tell_by(group: str, by: Any, asked: Sequence[Any], drop: Callable[[], None]) -> None:
    if _came_along("by", by, asked):
        _say("ask-still-by", say("form.still_by", group=group), say("form.still_by_drop"), drop)


def _came_along(part: str, held: Any, asked: Sequence[Any]) -> bool:
    """Was it set for another question than is in the form now?"""
    set_with = dict(st.session_state.get(_SET_WITH, {}))
    told, question = json.dumps(held, default=str) if held else "", json.dumps(asked, default=str)
    before, with_question = set_with.get(part, ("", ""))
    if told != before:
        set_with[part] = (told, question)
        st.session_state[_SET_WITH] = set_with
        return False
    return bool(told) and with_question != question


def _say(key: str, told: str, button: str, drop: Callable[[], None]) -> None:
    with st.container(key=key, horizontal=True, vertical_alignment="center"):
        st.html(f'<p role="status">{escape(told)}</p>', width="content")
        st.button(button, key=f"{key}-drop", on_click=drop)
