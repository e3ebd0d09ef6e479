"""Run a plan: a click hands it to a background thread, and the page finds it by the id in the URL."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.plan import PlanRun, Priced
from dpengine.asking.release import new_request
from dpengine.messages import say
from ui.ask import fit_warnings, suggestions
from ui.ask.suggestions import Plan
from ui.parts import history, job
from ui.shell import frame
from ui.shell.language import address

_NEXT = "_next_run"
_ASKED = "plan-asked"  # by run: the questions submitted; some may not have been asked


def button(table: dp.Table, plan: Plan, priced: Priced, share: str) -> None:
    content = (plan.text(), plan.keep)
    run_button(say("plan.run", share=share), table, priced.queries, "plan-run", content, plan.share)


def run_button(
    label: str, table: dp.Table, queries: list[dp.Query], key: str, content: object, keep: Fraction = Fraction(0)
) -> None:
    """The run's id is chosen before the click and belongs to the `content`: many clicks are one charge."""
    waiting = st.session_state.setdefault(_NEXT, {})
    run = waiting.setdefault((table.name, content), new_request())
    with st.container(key=key, width="content"):
        given = (table, queries, run, keep, job.seen())
        st.button(label, key=f"{key}-{run}", type="primary", on_click=_submit, args=given)


def _submit(table: dp.Table, queries: list[dp.Query], run: str, keep: Fraction, known: int | None) -> None:
    try:
        table.submit_plan(queries, run, keep, known, checked=True)
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)
        return
    st.session_state.setdefault(_ASKED, {})[run] = queries
    address({"table": table.name, "run": run})


def show(table: dp.Table, run: str) -> bool:
    """The run in the URL; False where nothing was charged, and the plan is shown again."""
    found = table.run(run)
    if not found.over:
        progress(table, run)
        return True
    if renew(run) and found.rows:
        suggestions.clear_plan(table)  # it has run: nobody should pay twice by accident
    if not found.rows:
        job.refused(str(found.error) if found.error else say("plan.unknown"))
        return False
    _results(table, found)
    return True


def renew(run: str) -> bool:
    """Once a run has ended, the next click is a new, paid one; False if this was done before."""
    waiting = st.session_state.get(_NEXT, {})
    over = [key for key, used in waiting.items() if used == run]
    for key in over:
        del waiting[key]
    return bool(over)


@st.fragment(run_every=0.3)
def progress(table: dp.Table, run: str) -> None:
    found = table.run(run)
    if found.over:
        st.rerun()
    total = len(found.rows)
    words = say("plan.running", done=found.done, total=total) if total else say("plan.waiting")
    st.progress(found.done / total if total else 0.0, text=words)


def _results(table: dp.Table, found: PlanRun) -> None:
    frame.show_price(table, None)
    answered = sum(state == "done" for _, state in found.rows)
    asked = [(query, table.doubts(query)) for query in st.session_state.get(_ASKED, {}).get(found.id, [])]
    refused = [(query, against) for query, against in asked if against is not None]  # it took nothing
    total = len(found.rows) + len(refused)
    st.html(f"<h1>{escape(say('plan.done', done=answered, total=total))}</h1>")
    if refused:
        st.html(f'<p class="lead" role="status">{escape(say("plan.not_asked", count=len(refused)))}</p>')
    if answered < len(found.rows):
        st.html(f'<p class="warn" role="status">{escape(say("plan.lost"))}</p>')
    with st.container(key="card-plan-results"):
        rows = [*table.checks_of(found.id), *(entry for entry, _ in found.rows)]
        st.html(history.rows_html(table, rows, newest_first=False))
    for number, (query, against) in enumerate(refused):
        fit_warnings.show(table, against, query, place="asked", key=f"-{number}-")
    st.button(say("plan.another"), key="plan-another", on_click=suggestions.forget_plan, args=(table,))
