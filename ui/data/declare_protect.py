"""“Rows belong to people”: correcting a table that was added with one row each, or with too few rows a person.

What it will leave of the allowance is said before, from the ledger alone; then it is one button. Never less protection.
"""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.core.printed import percent_left
from dpengine.declared.unit import MOST_ROWS_EACH
from dpengine.messages import say
from ui.data import declare_draft as drafts
from ui.data import preset_whose
from ui.data.declare import PATIENCE, problem, start_over, waiting
from ui.data.declare_draft import Draft
from ui.data.declare_task import Task
from ui.shell import frame, steer
from ui.shell.language import address
from ui.shell.state import choose_table, may, open_table
from ui.words import gloss

WHO = "protect"  # in the address: which column says whose rows they are
OFFERED = "protect.offered"  # why a file that is here already was refused: this mends it
_KEY, _DONE = "protections", "protect-done"
MOST_PEOPLE = 10**10


def show(table: dp.Table) -> None:
    """On the table's own page, quiet, for who may do it."""
    if table.practice or table.closed or not may("protect", table.name):
        return
    if _under_way(table.name):
        return
    unit, name = table.facts.unit, table.name
    refused = _task(name)
    title = say("data.protect.title" if unit.id_column is None else "data.protect.title_more", each=unit.at_most)
    came = _came_for(table)
    with st.expander(title, expanded=refused is not None or bool(came)):
        lead = "data.protect.lead" if unit.id_column is None else "data.protect.lead_more"
        mark = ' arrived" tabindex="-1' if came else ""
        st.html(f'<p class="read{mark}">{gloss.text(say(lead, each=unit.at_most, column=unit.id_column or ""))}</p>')
        if came:
            steer.bring(f"protect-{name}-{came}")
        column = unit.id_column
        if column is None:
            header = list(table.facts.header)
            likely = came or preset_whose.surely_whose(header)
            place = header.index(likely) if likely in header else None
            column = st.selectbox(
                say("data.unit.who"),
                header,
                index=place,
                key=f"protect-who-{name}",
                placeholder=say("data.unit.who_none"),
                help=say("data.unit.who_help"),
                width=420,
            )
        least = unit.at_most + 1
        each = st.number_input(
            say("data.protect.each"),
            least,
            MOST_ROWS_EACH,
            None,
            1,
            key=f"protect-each-{name}",
            placeholder=say("data.unit.each_none"),
            help=say("data.protect.each_help"),
            width=420,
        )
        people = _people(table)
        if column is not None and each is not None:
            _price(table, dp.Unit.column(column, int(each)), people, name)
        elif refused is not None and refused.error is not None:
            problem(str(refused.error))


def _came_for(table: dp.Table) -> str:
    """The column that somebody was sent here about, because its ids repeat; empty where they came by themselves."""
    wanted = st.query_params.get(WHO, "")
    header = table.facts.header if table.facts.unit.id_column is None else (table.facts.unit.id_column,)
    return wanted if wanted in header else ""


def _people(table: dp.Table) -> int | None:
    """About how many people there are, where nobody counts them."""
    if table.facts.people is not None or table.facts.unit.id_column is not None:
        return None
    key, label = f"protect-people-{table.name}", say("data.relation.about")
    given = st.number_input(label, 1, MOST_PEOPLE, None, 1, key=key, help=say("data.relation.about_help"), width=420)
    return None if given is None else int(given)


def offered(draft: Draft) -> str:
    """The table that a refused file is here as, with less protection; empty where it was not refused for that, or where
    they took it back: one row each, as the table is declared."""
    complaint = draft.complaint
    if not isinstance(complaint, AllowanceError) or complaint.code != OFFERED:
        return ""
    if draft.many == "one":
        draft.complaint = None
        return ""
    return str(complaint.facts["table"])


def offer(draft: Draft, name: str) -> None:
    """The table that a refused file is can be corrected instead."""
    try:
        table, unit = open_table(name), drafts.unit(draft)
    except AllowanceError as refusal:
        problem(str(refusal))
        return
    if _under_way(name):
        return
    with st.container(key="card-protect"):
        was = table.facts.unit
        rows = say("data.so_far.one") if was.id_column is None else say("data.so_far.more", each=was.at_most)
        title = say("data.protect.offer", table=name, rows=rows)
        st.html(f'<h2 class="ask-second" tabindex="-1">{escape(title)}</h2>')
        st.html(f'<p class="read">{escape(say("data.protect.offer_lead", table=name))}</p>')
        _price(table, unit, draft.about, name)


def _price(table: dp.Table, unit: dp.Unit, people: int | None, name: str) -> None:
    """What will be left, what the person vouches for, and the one button; or why it cannot be."""
    try:
        seen = table.protection_preview(unit)
    except AllowanceError as refusal:
        problem(str(refusal))
        return
    if not seen.fits:
        cap = table.meter().epsilon
        never = seen.needs is None
        problem(say("protect.never") if never else say("protect.exceeded", needs=seen.needs, cap=cap))
        return
    now, then = percent_left(seen.left_now), percent_left(seen.left_then)
    st.html(f'<p role="status"><b>{escape(say("data.protect.left", now=now, then=then))}</b></p>')
    what = say("data.protect.what", each=unit.at_most)
    st.html(f'<p class="muted">{gloss.text(what)}</p>')
    task = _task(name)
    if task is not None and task.error is not None:
        problem(str(task.error))
    st.button(
        say("data.protect.do", each=unit.at_most),
        key=f"protect-do-{name}",
        type="primary",
        on_click=_begin,
        args=(name, unit, people),
    )


def _tasks() -> dict[str, Task]:
    """What is being done, by table."""
    held: dict[str, Task] = st.session_state.setdefault(_KEY, {})
    return held


def _task(name: str) -> Task | None:
    return _tasks().get(name)


def _begin(name: str, unit: dp.Unit, people: int | None) -> None:
    table = open_table(name)
    task = Task("protect", lambda tell: table.protect(unit, people), stoppable=False)
    _tasks()[name] = task
    task.wait(PATIENCE)


def _under_way(name: str) -> bool:
    """Is it being done? Once it is, the table's own page says so."""
    task = _task(name)
    if task is None:
        return False
    if not task.over:
        waiting(task)
        return True
    if task.error is not None:
        return False
    del _tasks()[name]
    st.session_state[_DONE] = name
    if st.query_params.get("table") != name:  # from the middle of adding the same file again
        start_over()
    choose_table(name)
    address({"table": name})
    st.rerun()


def told(table: dp.Table) -> None:
    """Once after it was corrected."""
    if st.session_state.get(_DONE) == table.name:
        del st.session_state[_DONE]
        left = percent_left(table.meter().unused)
        frame.fine(say("data.protect.done", each=table.facts.unit.at_most, left=left), bring=True)
