"""One row a person, on the page of a table with several rows a person: what each row says, and the gain.

The choices come from the declared columns; a person types the range of a total. No row is read before the click.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.summary import COUNT
from dpengine.mechanisms import catalogue
from dpengine.messages import say
from ui.data.draft import table_name
from ui.data.wizard import PATIENCE, Task, problem, waiting
from ui.parts import fields
from ui.shell.frame import paragraph
from ui.shell.language import address
from ui.shell.state import choose_table, may, table_names, workspace
from ui.words.markup import unmarked

MOST_VALUES = 8  # of a list, each of which can be asked for
MOST_TOTAL = 10**9
GAIN = "0.1"  # ε of the compared counts; their ratio hardly depends on it


def show(table: dp.Table) -> None:
    """For people who may add tables, where people have several rows."""
    if table.practice or table.closed or table.facts.unit.single or not may("one_row_a_person", table.name):
        return
    place = f"person-task-{table.name}"
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
    with st.expander(say("data.person.title"), expanded=error is not None):
        paragraph(say("data.person.lead", table=table.name), "read")
        paragraph(_gain(table), "price")
        offered = _offered(table.schema)
        more: dict[str, Any] = {"placeholder": say("data.person.none"), "format_func": unmarked}
        names = st.multiselect(say("data.person.pick"), list(offered), key=f"person-pick-{table.name}", **more)
        chosen, complete = {}, bool(names)
        for name in names:
            summary = offered[name]
            if summary.kind in (COUNT, "sum"):
                label, note = unmarked(say("data.person.upper", name=name)), say("data.person.upper_help")
                key = f"person-upper-{table.name}-{name}"
                upper = fields.whole_number(label, MOST_TOTAL, key, width=420, help=note)
                complete = complete and upper is not None
                summary = replace(summary, upper=upper or summary.upper)
            chosen[name] = summary
        usual = table_name(say("data.person.fresh", table=table.name), table_names())
        made = st.text_input(say("data.person.name"), usual, key=f"person-name-{usual}", max_chars=80)
        if error is not None:
            problem(str(error))
        given = place, table.name, made, chosen
        st.button(say("data.person.do"), key="person-do", disabled=not complete, on_click=_begin, args=given)


def _begin(place: str, table: str, made: str, chosen: dict[str, dp.Summary]) -> None:
    space = workspace()
    task = Task("add", lambda tell: space.one_row_a_person(table, made, chosen, progress=tell))
    st.session_state[place] = task
    task.wait(PATIENCE)


def _gain(table: dp.Table) -> str:
    """The promised error of a count now and with one row each, at one ε: from public facts."""
    single = replace(table.facts, unit=dp.Unit.of_person(str(table.facts.unit.id_column)))
    try:
        counts = [catalogue["count"].build(facts, {"epsilon": GAIN}) for facts in (table.facts, single)]
    except AllowanceError:
        return ""
    now, then = (count.promise().short(count) for count in counts)
    return say("data.person.gain", now=now, then=then)


def _offered(schema: dp.Schema) -> dict[str, dp.Summary]:
    """Every summary that the declared columns allow, by its name. Ranges of totals are still to be typed."""
    found = {say("data.person.count"): dp.Summary(COUNT, lower=0, upper=1)}
    days = schema.of_kind(dp.Date)
    for name, column in schema.columns.items():
        kinds: dict[str, dict[str, Any]] = {}
        if isinstance(column, dp.Number):
            kinds |= {"mean": {}, "most": {}, "least": {}}
            step = {"lower": min(column.lower, 0), "upper": max(column.upper, 1), "step": 1}
            if column.step.denominator == 1 and column.lower.denominator == 1:
                kinds["sum"] = step
        elif isinstance(column, dp.Category):
            kinds |= {"frequent": {}}
        if days and not isinstance(column, dp.ItemSet | dp.Date):
            kinds |= {"first": {"by": days[0]}, "last": {"by": days[0]}}
        for kind, given in kinds.items():
            found[say(f"data.person.{kind}", column=name)] = dp.Summary(kind, name, **given)
        if isinstance(column, dp.Category) and len(column.values) <= MOST_VALUES:
            for value in column.values:
                label = say("data.person.any", column=name, value=value)
                found[label] = dp.Summary("any", name, value=str(value))
    return found
