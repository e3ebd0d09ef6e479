"""Newer rows of a table that lives in a database: another table, declared the same, on the same allowance."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.data.declare import PATIENCE, problem, waiting
from ui.data.declare_draft import table_name
from ui.data.declare_task import Task
from ui.shell.language import address
from ui.shell.state import choose_table, may, table_names, workspace
from ui.words.markup import unmarked

_NAME, _NEW = "newer-name", "newer-new-people"


def show(table: dp.Table) -> None:
    """Quiet, for whoever may bring tables, where this one's connection is kept."""
    if table.practice or not may("bring_newer", table.name) or not workspace().has_source(table.name):
        return
    place = f"newer-task-{table.name}"
    task: Task | None = st.session_state.get(place)
    if task is not None and not task.over:
        waiting(task)
        return
    error = task.error if task is not None else None
    if task is not None and error is None:
        del st.session_state[place]
        choose_table(task.result.name)
        address({"table": task.result.name})
        st.rerun()
    with st.expander(say("data.newer.title"), expanded=error is not None):
        st.html(f'<p class="muted">{escape(say("data.newer.lead", table=table.name))}</p>')
        usual = table_name(table.name, table_names())
        name = st.text_input(say("data.newer.name"), usual, key=f"{_NAME}-{usual}", max_chars=80)
        label = unmarked(say("data.source.new_people"))
        new_people = st.checkbox(label, key=_NEW, help=say("data.source.new_people_help"))
        if error is not None:
            problem(str(error))
        st.button(say("data.newer.do"), key="newer-do", on_click=_begin, args=(place, table.name, name, new_people))


def _begin(place: str, table: str, newer: str, new_people: bool) -> None:
    space = workspace()
    task = Task("add", lambda tell: space.bring_newer(table, newer, new_people=new_people, progress=tell))
    st.session_state[place] = task
    task.wait(PATIENCE)
