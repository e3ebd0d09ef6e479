"""The Session page during and after a session: the next question, the answers, the questions left."""

from __future__ import annotations

import json
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.release import new_request
from dpengine.asking.sessions import Session, Taken
from dpengine.core.printed import chance
from dpengine.core.strict_json import canonical
from dpengine.declared.schema import Number
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession, State
from dpengine.messages import say
from ui.ask import fit_warnings
from ui.parts import answer_notes, conditions, exports, fields, job, owner
from ui.session import session_words
from ui.shell import frame, nav
from ui.words import prices

NEWEST = 50  # answers shown
_NEXT = "_next_step"


def show(table: dp.Table, session: Session) -> None:
    frame.show_price(table, None)  # drawn again: the charge may have come after the frame
    step = st.query_params.get("step")
    waits = step and not session.job(step).over  # before the steps are read: a step that has ended is among them
    state, ended, steps = session.look(NEWEST)
    over = ended or not state.left
    title = "session.finished" if not state.left else "session.stopped" if ended else "session.now"
    st.html(f"<h1>{escape(say(title, next=state.asked + 1, asked=state.asked, questions=state.questions))}</h1>")
    withdrawn = session.withdrawn
    _meters(session, state, ended, withdrawn)
    if step and waits:
        _waiting(session, step)
        return
    if step:
        _renew(step)
        if (error := session.job(step).error) is not None:
            job.refused(str(error))
    job.show_refusal()
    if over:
        lead = "session.protected" if withdrawn else "session.stopped_lead" if ended else "session.finished_lead"
        st.html(f'<p class="lead">{escape(say(lead))}</p>')
    elif table.closed:
        owner.closed(table)
    else:
        _builder(table, session)
    _answers(steps, state, over)
    _ways_on(table, session, state, over, steps)


def _meters(session: Session, state: State, ended: bool, withdrawn: bool) -> None:
    used = Fraction(state.asked, state.questions)
    label = say("session.used", asked=state.asked, questions=state.questions)
    left = say("session.unused" if ended else "session.left", left=state.left)
    others = session.others_from is not None
    bound = session_words.outward_words(session.query, session.past, session.reserve, others)
    outward = say("session.outward.withdrawn") if withdrawn else bound
    bar = f'<span style="width:{float(used) * 100:.3f}%"></span>'
    st.html(
        f'{_STYLE}<div class="gauge"><div class="words"><span>{escape(label)}</span>'
        f'<span class="aside">{escape(left)}</span></div>'
        f'<div class="bar" role="img" aria-label="{escape(label)}">{bar}</div></div>'
        f'<p class="muted">{escape(say("session.sample", promise=session.query.promise().words()))}<br>'
        f"{escape(outward)}</p>"
    )


@st.fragment(run_every=0.3)
def _waiting(session: Session, step: str) -> None:
    if session.job(step).over:
        st.rerun()
    st.html(f'<p class="muted" role="status">{escape(say("job.waiting"))}</p>')


# The next question


def _builder(table: dp.Table, session: Session) -> None:
    with st.container(key="card-session-ask"):
        ask = _sentence(table)
        query = None
        try:
            query = session.query.asking(ask)
        except dp.AllowanceError as complaint:
            job.hint(str(complaint))
        if query is not None:
            words = f"{query.sentence()}. {query.promise().words()}"
            st.html(f'<p class="muted">{escape(words)}</p>{answer_notes.cut_note(query)}')
            _known(table, query)
            if fit_warnings.instead(table, query, quiet=False):
                return
        waiting = st.session_state.setdefault(_NEXT, {})
        step = waiting.setdefault((session.request, canonical(ask)), new_request())
        with st.container(key="session-ask", width="content"):
            more: Any = {"type": "primary", "disabled": query is None}
            st.button(say("session.ask"), key=f"session-ask-{step}", on_click=_ask, args=(session, ask, step), **more)


def _known(table: dp.Table, query: AdaptiveSession) -> None:
    """What a bought first look says about it, before a question is spent."""
    known = table.already_known(query)
    if known is not None:
        st.html(f'<p role="status">{escape(session_words.known(query, known))}</p>')
        where = {"table": table.name, "look": known.request}
        st.page_link(nav.page("board"), label=say("session.known_open"), query_params=where)


def _sentence(table: dp.Table) -> dict[str, Any]:
    """“The [share of people] where …”, “The [average] of [income]”, “The [largest group] of …”."""
    numbers = table.schema.of_kind(Number)
    kinds = ["share", *(["average"] if numbers else []), "largest"]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("form.the"), width="content")
        kind = fields.pick("session.kind", kinds, "share", lambda kind: say(f"session.kind.{kind}"), "session-kind")
        if kind == "average":
            st.markdown(say("session.of"), width="content")
            return {"average": fields.pick("form.column", numbers, numbers[0], str, "session-column")}
        st.markdown(say(f"session.where.{kind}"), width="content")
    if kind == "largest":
        return {"largest": conditions.compare(table, [])}
    return {"share": conditions.conditions(table, [], "session")}


def _ask(session: Session, ask: dict[str, Any], step: str) -> None:
    try:
        session.submit(ask, step, checked=True)  # first: at any st.* call the next click may abort this script
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)
        return
    st.query_params["step"] = step


def _renew(step: str) -> None:
    """Once a step is over, the next click is the next question."""
    waiting = st.session_state.get(_NEXT, {})
    for place in [place for place, used in waiting.items() if used == step]:
        del waiting[place]


# What was answered


def _answers(steps: list[Taken], state: State, over: bool) -> None:
    if not steps:
        return
    html = "".join(_answer(step) for step in reversed(steps))
    title = say("session.answers_all" if over else "session.answers")
    st.html(f"<h2>{escape(title)}</h2>{html}")
    if state.asked > len(steps):
        st.html(f'<p class="muted">{escape(say("session.newest", newest=len(steps)))}</p>')


def _answer(taken: Taken) -> str:
    head = f'<p class="question">{taken.index}. {escape(taken.sentence)}</p>'
    if taken.state != "done":
        words = say("history.on_its_way" if taken.state == "running" else "session.step_lost")
        return f'<div class="taken">{head}<p class="muted">{escape(words)}</p></div>'
    value = session_words.value(taken.query, taken.value, taken.interval)
    ranges = session_words.ranges(taken.query, taken.value, taken.interval)
    if taken.interval is not None:
        ranges = f"{ranges} {session_words.outward_range(taken)}"
    body = f'<p><b class="said">{escape(value)}</b></p><p class="muted">{escape(ranges.strip())}</p>'
    return f'<div class="taken">{head}{body}{answer_notes.cut_note(taken.query)}</div>'


def _ways_on(table: dp.Table, session: Session, state: State, over: bool, steps: list[Taken]) -> None:
    if steps:
        outward = any(step.population is not None for step in steps)
        code = "session.all_at_once" if outward else "session.all_at_once_table"
        all_at_once = say(code, questions=state.questions, chance=chance(session.query.beta))
        st.html(f'<p class="muted">{escape(all_at_once)}</p>')
        name = f"session-{session.entry.charge.hash[:8]}.jsonl"
        exports.offer(say("session.download"), lambda: _lines(session), name, "session-download")
    if not over and not table.closed:
        with st.expander(say("session.end_title")):
            taken = prices.took(table, session.entry)
            st.html(f'<p class="muted">{escape(say("session.end_lead", left=state.left, share=taken))}</p>')
            st.button(say("session.end"), key="session-end", on_click=session.end)
    if over:
        with st.container(horizontal=True):
            st.page_link(nav.page("ledger"), label=say("session.to_ledger"), query_params={"table": table.name})
            st.page_link(nav.page("session"), label=say("session.another"), query_params={"table": table.name})


def _lines(session: Session) -> str:
    """Every answer with its receipt, written on the click."""
    receipts = (step.receipt for step in session.look()[2] if step.state == "done")
    return "".join(json.dumps(receipt, ensure_ascii=False) + "\n" for receipt in receipts)


_STYLE = """<style>
.gauge { margin-bottom: 0.4rem; }
.gauge .words { display: flex; justify-content: space-between; }
.gauge .aside { color: var(--muted); }
.gauge .bar { height: 10px; border-radius: 5px; overflow: hidden; background: var(--left-soft); margin-top: 4px; }
.gauge .bar span { display: block; height: 100%; background: var(--spent); }
.taken { border-top: 1px solid var(--line); padding: 0.6rem 0 0.2rem 0; }
.taken .said { font-family: var(--serif); font-size: 1.5rem; }
</style>"""
