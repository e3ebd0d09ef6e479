"""The last question, how careful to be, and the table as it was added."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.errors import AllowanceError
from dpengine.exact import text_of
from dpengine.messages import say
from dpengine.schema import Category, Column, Number
from dpengine.unit import read_relation
from ui import declare_draft as drafts
from ui import declare_price as price
from ui import declare_upload as uploads
from ui import nav
from ui.declare import begin, complain, heading, kept, onwards, problem, reconsider, start_over
from ui.declare_draft import CARE, Draft, numbers_of
from ui.state import open_table, table_names, workspace
from ui.wording import power_of_ten


def budget(draft: Draft) -> None:
    heading("data.care")
    kind, people = read_relation(draft.relation), draft.people or 1
    with st.container(key="card-care"):
        many = {care: price.good_questions(dp.Budget(epsilon, draft.usual_delta), kind, people)
                for care, epsilon in CARE.items()}
        draft.care = st.radio(
            say("data.care.title"), list(CARE), index=None, key=kept("declare-care", draft.care),
            format_func=lambda one: say(f"data.care.{one}_label"), label_visibility="collapsed",
            captions=[say(f"data.care.{care}_means", many=number) for care, number in many.items()],
        )
        st.html(f'<p class="price">{escape(price.of_good_question(kind, people))}</p>')
        with st.expander(say("data.care.more"), expanded=bool(draft.epsilon or draft.delta)):
            st.html(f'<p class="muted">{escape(say("data.care.more_lead"))}</p>')
            left, right = st.columns(2)
            usual = CARE.get(draft.care or "", "")
            draft.epsilon = left.text_input(
                say("data.care.epsilon"), key=kept("declare-epsilon", draft.epsilon), placeholder=usual or "1",
            ) or ""
            draft.delta = right.text_input(
                say("data.care.delta"), key=kept("declare-delta", draft.delta), placeholder=text_of(draft.usual_delta),
                help=say("data.care.delta_help", delta=power_of_ten(draft.usual_delta), people=people),
            ) or ""
        told = _typed(draft)
    with st.container(key="card-name"):
        draft.name = draft.name or drafts.table_name(draft.file, table_names())
        draft.name = st.text_input(say("data.name.label"), key=kept("declare-name", draft.name), max_chars=80,
                                   help=say("data.name.help")) or ""

        def check() -> None:
            drafts.budget(draft)
            if draft.name.strip() in table_names():
                raise AllowanceError("table.exists", name=draft.name.strip())

        reconsider(draft, check, "data.care.", "budget.", "number.", "table.exists")
        if not told:
            complain(draft)
    if onwards(draft, check, "data.add"):
        _add(draft)


def _typed(draft: Draft) -> bool:
    """What a typed ε and δ mean, or why they cannot be used; True when the latter was told."""
    if not (draft.epsilon.strip() or draft.delta.strip()):
        return False
    try:
        given = drafts.budget(draft)
    except AllowanceError as complaint:
        if not (draft.epsilon.strip() or draft.care):
            return False
        problem(str(complaint))
        return True
    many = price.good_questions(given, read_relation(draft.relation), draft.people or 1)
    terms = say("meter.terms", epsilon=given.epsilon, delta=power_of_ten(given.delta))
    st.html(f'<p class="price">{escape(say("data.care.typed", terms=terms, many=many))}</p>')
    return False


def _add(draft: Draft) -> None:
    """Everything is read off the draft now; the work runs on, whatever the page does meanwhile."""
    path, name = draft.path, draft.name
    space, declared, allowance = workspace(), drafts.schema(draft), drafts.budget(draft)
    whose, kind = drafts.unit(draft), drafts.relation(draft)
    about = draft.about if kind == "add_remove" else None
    dialect, bad_records = draft.dialect, draft.bad_records

    def work(tell: Callable[[float], None]) -> dp.Table:
        table = space.add_table(
            name, path, schema=declared, unit=whose, relation=kind, budget=allowance, about_rows=about,
            dialect=dialect, bad_records=bad_records, progress=tell,
        )
        uploads.drop(path)
        return table

    begin(draft, "add", work)


# --- the table as it was added


def done(draft: Draft) -> None:
    assert draft.added is not None
    try:
        table = open_table(draft.added.name)
    except AllowanceError:  # taken away meanwhile
        start_over()
        st.rerun()
    heading("data.done", table=table.name)
    if draft.added.joined:
        meter = table.meter()
        told = say("data.done.joined", epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
        st.html(f'<p class="warn" role="status">{escape(told)}</p>')
    with st.container(key="card-done"):
        st.html(f'<dl class="fact">{"".join(_facts(table, draft.dialect))}</dl>')
    with st.container(horizontal=True, key="declare-done"):
        st.page_link(nav.page("ask"), label=say("data.done.ask"), query_params={"table": table.name})
        st.button(say("data.done.another"), key="declare-another", on_click=start_over)


def _facts(table: dp.Table, dialect: dp.Dialect) -> list[str]:
    meter = table.meter()
    each = table.facts.unit.at_most
    rows = say("data.done.one_row") if table.facts.unit.id_column is None else say("data.done.some_rows", each=each)
    people = say(f"data.done.people.{table.facts.relation}", people=table.facts.about, rows=rows)
    told = [(say("data.done.people"), people)]
    told += [(name, words(column)) for name, column in table.schema.columns.items()]
    if table.schema.of_kind(dp.Number):
        told.append((say("data.done.numbers"), say("data.done.numbers_like", example=numbers_of(dialect))))
    terms = say("meter.terms", epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
    told.append((say("data.done.allowance"), terms))
    told.append((say("data.done.protects"), say(f"meter.relation.{table.facts.relation}")))
    return [f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in told]


def words(column: Column) -> str:
    if isinstance(column, Category):
        return price.list_words(column)
    if isinstance(column, Number):
        return price.range_words(column)
    return say("data.done.ends", first=column.value(0), last=column.value(column.size - 1))
