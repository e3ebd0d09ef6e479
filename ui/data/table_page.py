"""The page of one table: what is declared, whether it fits, what can be bought, and newer rows from its database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import measured, power_of_ten
from dpengine.declared.schema import Category, Column, ItemSet, Number
from dpengine.declared.summary import COUNT, tells_empty
from dpengine.mechanisms import catalogue
from dpengine.messages import called, say
from dpengine.storage.registry import Record
from ui.ask import answer, fit_warnings
from ui.data import change, offers, people, price, reuse
from ui.data.draft import Draft, code_words, numbers_like, numbers_of, table_name
from ui.data.wizard import add_style, adding, begin_adding, heading, problem, start_over
from ui.parts import answer_notes, fields, job, owner, requests, tables
from ui.people import grants
from ui.shell import frame, nav
from ui.shell.frame import hint, paragraph
from ui.shell.language import address
from ui.shell.state import current_table, may, names_in_view, open_table, workspace
from ui.words import gloss
from ui.words.markup import unmarked

_NAME, _NEW = "newer-name", "newer-new-people"


def show_newer_file(table: dp.Table) -> None:
    """Draw a form that brings newer rows: they become another table with the same declarations and the same allowance.
    Only for people who may add tables, and where the workspace keeps this table's connection."""
    if table.practice or not may("bring_newer", table.name) or not workspace().has_source(table.name):
        return
    runs, error = adding(place := f"newer-task-{table.name}")
    if runs:
        return
    with fields.details(say("data.newer.title"), f"{place}-open", error is not None) as drawn:
        if not drawn:
            return
        paragraph(say("data.newer.lead", table=table.name))
        usual = table_name(table.name, names_in_view())
        name = st.text_input(say("data.newer.name"), usual, key=f"{_NAME}-{usual}", max_chars=80)
        label = unmarked(say("data.source.new_people"))
        new_people = st.checkbox(label, key=_NEW, help=say("data.source.new_people_help"))
        if error is not None:
            problem(str(error))
        space = workspace()

        def bring(progress: Callable[[float], None]) -> dp.Table:
            return space.bring_newer(table.name, name, new_people=new_people, progress=progress)

        st.button(say("data.newer.do"), key="newer-do", on_click=begin_adding, args=(place, bring))


# --- one row a person, where people have several rows: what each row says, and the gain. The choices come from the
# declared columns; a person types the range of a total. No row is read before the click.

MOST_VALUES = 8  # of a list, each of which can be asked for
MOST_TOTAL = 10**9
GAIN = "0.1"  # ε of the compared counts; their ratio hardly depends on it


def show_per_person(table: dp.Table) -> None:
    if table.practice or table.closed or table.facts.unit.single or not may("one_row_a_person", table.name):
        return
    runs, error = adding(place := f"person-task-{table.name}")
    if runs:
        return
    with fields.details(say("data.person.title"), f"{place}-open", error is not None) as drawn:
        if not drawn:
            return
        paragraph(say("data.person.lead", table=table.name), "read")
        paragraph(_gain(table), "price")
        offered = _summaries(table.schema)
        more: dict[str, Any] = {"placeholder": say("data.person.none")}
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
        others = [name for name, summary in offered.items() if summary.kind == COUNT and summary.column]
        if others and (every := say("data.person.count")) in chosen and not {*others} & {*chosen}:
            hint(say("data.person.least_one", every=every, counted=others[0]))
        if summed := [found.column for found in chosen.values() if found.kind == "sum"]:
            paragraph(say("data.person.sum_none", column=summed[0]))
        usual = table_name(say("data.person.fresh", table=table.name), names_in_view())
        made = st.text_input(say("data.person.name"), usual, key=f"person-name-{usual}", max_chars=80)
        if error is not None:
            problem(str(error))
        space = workspace()

        def make(progress: Callable[[float], None]) -> dp.Table:
            return space.one_row_a_person(table.name, made, chosen, progress=progress)

        do = say("data.person.do")
        st.button(do, key="person-do", disabled=not complete, on_click=begin_adding, args=(place, make))


def _gain(table: dp.Table) -> str:
    """A sentence: the promised error of a count now, and if each person had one row, at the same ε. From public
    facts."""
    single = replace(table.facts, unit=dp.Unit.of_person(str(table.facts.unit.id_column)))
    try:
        counts = [catalogue["count"].build(facts, {"epsilon": GAIN}) for facts in (table.facts, single)]
    except dp.AllowanceError:
        return ""
    now, then = (count.promise().short(count) for count in counts)
    return say("data.person.gain", now=now, then=then)


def _summaries(schema: dp.Schema) -> dict[str, dp.Summary]:
    """Every summary that the declared columns allow, by its name. Ranges of totals are still to be typed."""
    found = {say("data.person.count"): dp.Summary(COUNT, lower=0, upper=1)}
    days = schema.of_kind(dp.Date)
    for name, column in schema.columns.items():
        kinds: dict[str, dict[str, Any]] = {}
        if tells_empty(column):
            found[say("data.person.counted", column=name)] = dp.Summary(COUNT, name, lower=0, upper=1)
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


# --- the page


def done(draft: Draft) -> None:
    """Draw the page right after the table was added."""
    assert draft.added is not None
    try:
        table = open_table(draft.added.name)
    except dp.AllowanceError:  # taken away meanwhile
        start_over()
        st.rerun()
    there = "closed" if table.closed else draft.added.there
    heading(f"data.{there}", lead=there != "done", table=table.name)
    if table.closed:
        owner.closed(table)
    if draft.added.joined:
        meter = table.meter()
        code = "data.done.joined" if draft.added.there == "done" else "data.source.joined"
        note = say(code, epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
        hint(note)
    typed = False
    if not table.closed:
        # Else their number is nobody's.
        each_one = table.facts.people is not None and table.facts.unit == dp.Unit.rows()
        frame.show_price(table, None, aside=False)  # the title names the table
        if each_one:  # how many rows of a person count, each question says
            paragraph(say("data.done.rows_people", rows=table.facts.people), "")
        typed = offers.show_first_questions(table, boxed=True)
        if not (draft.added.joined or typed) and (note := _enough(table)):
            paragraph(note)
    job.show_refusal()
    if typed:  # one thing at a time
        return
    # Links to everything else.
    with st.container(horizontal=True, key="done-rest"):
        st.page_link(nav.page("data"), label=say("data.done.declared"), query_params={"table": table.name})
        if not table.closed and (left := tables.missing_columns(table)):
            st.page_link(nav.page("data"), label=tables.missing_label(left), query_params=tables.missing_place(table))


def _enough(table: dp.Table) -> str:
    """A sentence: how many questions the allowance holds, now that the people are counted. Empty if it holds plenty, or
    if the owner stated the number of people: then the page said it before."""
    meter, facts = table.meter(), table.facts
    if facts.people is None:
        return ""
    asked = price.typical(facts.schema, facts.relation, facts.about, facts.unit)
    many = price.good_questions(dp.Budget(meter.epsilon, meter.delta), asked)
    return say("data.done.enough", many=many, people=facts.about) if 0 < many <= price.MOST_GOOD else ""


def show() -> None:
    """Draw the page of one table, with the answer in the URL if there is one."""
    if bought := st.query_params.get("look"):  # its board is read on a page of its own
        st.switch_page(nav.page("board"), query_params={"table": st.query_params["table"], "look": bought})
    add_style()
    table = current_table()
    wanted = st.query_params["table"]
    if table.name != wanted:
        problem(say("table.unknown", name=wanted[:80]))
        st.page_link(nav.page("tables"), label=say("room.tables"))
        return
    if (at_once := st.query_params.get("asked")) and not fit_warnings.read_on_ask(table, at_once):
        return
    request = st.query_params.get("answer")
    asked = job.look(request) if request else None
    if asked is not None and not asked.over:
        return
    if asked is not None and isinstance(asked.error, dp.ColumnDoubted):
        fit_warnings.show(table, asked.error, asked.error.query, request or "")
    asks, unfit, offered, doubted = not table.closed and may("ask", table.name), False, False, False
    if asked is not None and asked.answer is not None:
        frame.show_price(table, None)  # drawn again: the charge may have come after the frame
        checked = asked.answer.query.none_hoped and isinstance(asked.answer.value, dict) and not table.practice
        unfit = checked and offers.unfit(table)
        if checked:
            offers.check_result(table, asked.answer)
        else:
            answer.show(asked.answer)
        offers.then_bought(table, asked.answer)
        if asks and checked:
            doubted = offers.unfit(table, in_part=True)
            if doubted:
                offers.show_check(table, exact=False)
            offered = offers.stronger_check(table)
            offers.whole_check(asked.answer)
            if not unfit:
                offers.show_first_questions(table)
        elif checked:
            offers.whole_check(asked.answer)
        st.divider()
    heading("data.table", table=table.name)
    if table.closed:
        owner.closed(table)
    people.protection_result(table)
    tables.twin_note(table)
    if change.show_saved(table) and asks:
        offers.show_first_questions(table, boxed=True)  # a new declaration is checked before a question
    offers.check_people(table)
    with st.container(key="card-done"):
        facts(table, dp.Dialect() if table.practice else dp.Dialect.from_json(record(table).dialect))
    _ways(table)
    job.show_refusal()
    if table.practice:
        paragraph(say("table.practice"))
        return
    find = tables.wanted_columns(table) if asks else None
    if find:  # the visitor came for these
        offers.unknown_columns(table, find)
    grants.show(table)
    requests.show_requests(table)
    if asks:
        if not doubted:  # else it stands above, below the answer
            offers.show_check(table, exact=not offered)
        if not find:
            offers.unknown_columns(table)
    show_newer_file(table)
    people.show_sample(table)
    show_per_person(table)
    people.show_protection(table)
    if may("seal", table.name):
        owner.show(table)


def record(table: dp.Table) -> Record:
    return next(entry for entry in workspace().tables() if entry.name == table.name)


def _ways(table: dp.Table) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="declare-done"):
        if not table.closed and may("ask", table.name):
            tables.first_look_link(table)
            st.page_link(nav.page("ask"), label=say("data.table.ask"), query_params={"table": table.name})
        if not table.practice and not table.closed and may("revise", table.name):
            st.button(say("data.table.change"), key="declare-change", on_click=change.open_for, args=(table.name,))
        if may("add_table"):
            st.button(say("data.done.another"), key="declare-another", on_click=_another)
        if not table.practice:
            reuse.offer_download(table)


def _another() -> None:
    start_over()
    address({})


def facts(table: dp.Table, dialect: dp.Dialect) -> None:
    meter = table.meter()
    each = table.facts.unit.at_most
    rows = say("data.done.one_row") if table.facts.unit.id_column is None else say("data.done.some_rows", each=each)
    people = say(f"data.done.people.{table.facts.relation}", people=table.facts.about, rows=rows)
    entries = [(say("data.done.people"), people)]
    if table.facts.sample:
        entries.append((say("sample.fact"), say("sample.fact.yes")))
    entries += [(name, words(column)) for name, column in table.schema.columns.items()]
    asks = not table.closed and may("ask", table.name)
    ways = {name: offers.first_way(table, name) for name in table.schema.columns} if asks else {}
    if asks and not table.practice and table.facts.people is None:
        ways[say("data.done.people")] = f" {answer_notes.people_way(table.name)}"
    if table.schema.of_kind(dp.Number):
        example = numbers_like(numbers_of(dialect))
        entries.append((say("data.done.numbers"), say("data.done.numbers_like", example=example)))
    terms = say("meter.terms", epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
    entries.append((say("data.done.allowance"), terms))
    entries.append((say("data.done.protects"), frame.protects(table)))
    lines = [
        f"<dt>{escape(called(name))}</dt><dd>{gloss.text(text)}{ways.get(name, '')}</dd>" for name, text in entries
    ]
    st.html(f'<dl class="fact">{"".join(lines)}</dl>')


def words(column: Column) -> str:
    if isinstance(column, Category):
        return price.list_words(column)
    if isinstance(column, ItemSet):
        return say("data.done.several", labels=price.list_words(column))
    if isinstance(column, Number):
        text = measured(price.range_words(column), column.measure)
        text = code_words(text, column.codes, "data.done.codes")
        return text if column.missing is None else say("data.done.stand_in", range=text, value=column.missing)
    return price.day_words(column)
