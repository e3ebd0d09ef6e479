"""A table as it is declared: what was said about it, whether it fits, and what can be bought where it is not known."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.core.printed import chance, measured, power_of_ten
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Column, ItemSet, Number
from dpengine.messages import plain, say
from dpengine.planning.suggestions import first_asked
from dpengine.storage.registry import Record
from ui.data import declare_buy as buy
from ui.data import declare_change as change
from ui.data import declare_fit as fit
from ui.data import declare_newer as newer
from ui.data import declare_price as price
from ui.data import presets
from ui.data.declare import DOT, heading, look, problem, start_over
from ui.data.declare_draft import Draft, numbers_like, numbers_of
from ui.parts import answer, first_look, fitting, job, missing, owner, preview, spend, wish
from ui.people import grants
from ui.shell import frame, nav
from ui.shell.language import address
from ui.shell.state import current_table, may, open_table, workspace
from ui.words import gloss, prices
from ui.words.markup import unmarked

AT_ONCE = 3  # kinds of questions
MOST_ALIKE = 3  # further columns of each
YEAR = "year"  # whose average nobody asks first
LITTLE = Fraction(1, 10)  # of the allowance


def done(draft: Draft) -> None:
    """Right after it was added."""
    assert draft.added is not None
    try:
        table = open_table(draft.added.name)
    except AllowanceError:  # taken away meanwhile
        start_over()
        st.rerun()
    heading("data.closed" if table.closed else f"data.{draft.added.there}", table=table.name)
    if table.closed:
        owner.closed(table)
    if draft.added.joined:
        meter = table.meter()
        code = "data.done.joined" if draft.added.there == "done" else "data.source.joined"
        told = say(code, epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
        st.html(f'<p class="warn" role="status">{escape(told)}</p>')
    if not table.closed:
        _first(table)
        if not draft.added.joined and (told := _enough(table)):
            st.html(f'<p class="muted">{escape(told)}</p>')
    if refusal := st.session_state.pop("refusal", None):
        job.refused(refusal)
    _rest(table)


def _first(table: dp.Table) -> None:
    """What to do now, a click each: check what was said, ask a question, look at all columns at once; or put together a
    question about a column."""
    asking = may("ask", table.name)
    look: Any = first_look.usual(table)
    price = None if look is None else table.preview(look)
    with st.container(key="card-first"):
        kind = job.SECONDARY if asking and fit.first(table) else job.PRIMARY
        asked = _at_once(table) if asking else []
        for place, (usual, *others) in enumerate(asked):
            with st.container(key=f"done-ask-{place}"):
                _question(table, *usual, place)
                _alike(table, others, place)
        if look is not None and price is not None and price.useful and price.admissible:
            each = table.facts.unit.at_most
            told = say(
                "data.done.look_means" if each == 1 else "data.done.look_rows",
                columns=len(look.parameters()["columns"]),
                reach=plain(price.promise.amount),
                people=table.facts.about,
                each=each,
                chance=chance(look.beta),
            )
            label, again = say("board_page.button", share=prices.takes(table, price.share)), bool(table.recall(look))
            with st.container(horizontal=True, vertical_alignment="center", key="done-all"):
                st.html(f"<p>{escape(told)}</p>")
                job.ask_button(label, table, look, "done-look", kind=kind, place="look", again=again)
        else:
            with st.container(key="declare-done-first"):  # the other stands below, where a check was just read
                st.page_link(nav.page("ask"), label=say("data.done.ask"), query_params={"table": table.name})
        offered = {query.answer_column for alike in asked for query, _ in alike}
        ways = [way for name in table.schema.columns if name not in offered and (way := _way(table, name, name))]
        if ways:
            st.html(f'<p class="columns-on"><span>{escape(say("data.done.or_ask"))}</span> {" ".join(ways)}</p>')


def _at_once(table: dp.Table) -> list[list[tuple[dp.Query, dp.Preview]]]:
    """Questions that one click asks, at the price that Ask starts them with: of each kind some columns' that take
    little."""
    found: dict[type[dp.Query], list[tuple[dp.Query, dp.Preview]]] = {}
    for name in sorted(table.schema.columns, key=lambda one: presets.suggest(one).preset == YEAR):
        query = _asked_first(table, name)
        if query is None or (len(found) == AT_ONCE and type(query) not in found):
            continue
        if len(alike := found.get(type(query), [])) > MOST_ALIKE:
            continue
        best = table.cheapest(spend.fresh(table, query))
        seen = table.preview(best)
        if seen.useful and seen.admissible and seen.share <= LITTLE:
            found[type(query)] = [*alike, (best, seen)]
    return list(found.values())


def _alike(table: dp.Table, others: list[tuple[dp.Query, dp.Preview]], place: int) -> None:
    """The same question of other columns: each with its error and its price."""
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-alike-{place}"):
        st.html(f'<p class="muted">{escape(say("data.done.alike"))}</p>', width="content")
        for at, (query, seen) in enumerate(others):
            asked: Any = query
            within, takes = seen.promise.short(query), prices.takes(table, seen.share)
            label = say("data.done.alike_one", column=asked.column, within=within, share=takes)
            _asks(table, query, unmarked(label), f"done-alike-{place}-{at}")


def _question(table: dp.Table, query: dp.Query, seen: dp.Preview, place: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-first-{place}"):
        told = f"{escape(query.sentence())}<span>{DOT}{escape(seen.promise.short(query))}</span>"
        st.html(f'<p class="at-once">{told}</p>')
        label = say("ask.button", share=prices.takes(table, seen.share))
        _asks(table, query, label, f"done-question-{place}")


def _asks(table: dp.Table, query: dp.Query, label: str, key: str) -> None:
    again = bool(table.recall(query))
    job.ask_button(label, table, query, key, kind=job.SECONDARY, place="asked", again=again)


def _enough(table: dp.Table) -> str:
    """How much can be asked, now that the number of people is known; nothing where it is plenty, or was told before for
    a number that somebody said."""
    meter, facts = table.meter(), table.facts
    if facts.people is None:
        return ""
    asked = price.typical(facts.schema, facts.relation, facts.about, facts.unit)
    many = price.good_questions(dp.Budget(meter.epsilon, meter.delta), asked)
    return say("data.done.enough", many=many, people=facts.about) if 0 < many <= price.MOST_TOLD else ""


def _rest(table: dp.Table) -> None:
    """Everything else there is to do with it, a click away."""
    with st.container(horizontal=True, key="done-rest"):
        st.page_link(nav.page("data"), label=say("data.done.declared"), query_params={"table": table.name})
        if not table.closed and (left := missing.columns(table)):
            st.page_link(nav.page("data"), label=missing.label(left), query_params=missing.where(table))
        st.button(say("data.done.another"), key="declare-another", type="tertiary", on_click=_another)


def show() -> None:
    """The page of one table, with the answer in the URL if there is one."""
    if bought := st.query_params.get("look"):  # its board is read on a page of its own
        st.switch_page(nav.page("board"), query_params={"table": st.query_params["table"], "look": bought})
    look()
    table = current_table()
    wanted = st.query_params["table"]
    if table.name != wanted:
        problem(say("table.unknown", name=wanted[:80]))
        st.page_link(nav.page("tables"), label=say("room.tables"))
        return
    if (at_once := st.query_params.get("asked")) and not _read_on_ask(table, at_once):
        return
    request = job.current_request()
    asked = job.look(request) if request else None
    if asked is not None and not asked.over:
        return
    asks, unfit, offered, doubted = not table.closed and may("ask", table.name), False, False, False
    if asked is not None and asked.answer is not None:
        frame.show_price(table, None)  # drawn again: the charge may have come after the frame
        checked = not asked.answer.query.declares
        unfit = checked and not table.practice and fit.unfit(table)
        if checked and not unfit and fit.sure(table):
            fit.passed(asked.answer)
        else:
            answer.show(asked.answer)
        buy.then(table, asked.answer)
        if asks and not table.practice and checked:
            offered, doubted = not unfit and fit.stronger(table), unfit or fit.partly(table)
            if doubted:
                fit.show(table, exact=not offered)
            if not unfit:
                _first(table)
        st.divider()
    heading("data.table", table=table.name)
    if table.closed:
        owner.closed(table)
    change.told(table)
    fit.people(table)
    with st.container(key="card-done"):
        facts(table, Dialect() if table.practice else Dialect.from_json(record(table).dialect))
    _ways(table, "data.table.ask")
    if refusal := st.session_state.pop("refusal", None):
        job.refused(refusal)
    if table.practice:
        st.html(f'<p class="muted">{escape(say("table.practice"))}</p>')
        return
    find = missing.wanted(table) if asks else None
    if find:  # what somebody came for comes first
        buy.unknown(table, find)
    grants.show(table)
    wish.show(table)
    if asks:
        if not doubted:  # else it stands above, below the answer
            fit.show(table, exact=not offered)
        if not find:
            buy.unknown(table)
    newer.show(table)
    if may("seal", table.name):
        owner.show(table)


def _read_on_ask(table: dp.Table, request: str) -> bool:
    """A question asked by one click is read, and put again, where questions are; was there no answer?"""
    asked = job.look(request)
    if asked.over and asked.answer is not None:
        st.switch_page(nav.page("ask"), query_params=_link(table, asked.answer.query) | {"answer": request})
    return asked.over


def record(table: dp.Table) -> Record:
    return next(one for one in workspace().tables() if one.name == table.name)


def _ways(table: dp.Table, label: str) -> None:
    with st.container(horizontal=True, key="declare-done"):
        if not table.closed and may("ask", table.name):
            first_look.link(table)
            st.page_link(nav.page("ask"), label=say(label), query_params={"table": table.name})
        if not table.practice and not table.closed and may("revise", table.name):
            st.button(say("data.table.change"), key="declare-change", on_click=change.open_for, args=(table.name,))
        if may("add_table"):
            st.button(say("data.done.another"), key="declare-another", on_click=_another)


def _another() -> None:
    start_over()
    address({})


def facts(table: dp.Table, dialect: Dialect) -> None:
    meter = table.meter()
    each = table.facts.unit.at_most
    rows = say("data.done.one_row") if table.facts.unit.id_column is None else say("data.done.some_rows", each=each)
    people = say(f"data.done.people.{table.facts.relation}", people=table.facts.about, rows=rows)
    told = [(say("data.done.people"), people)]
    told += [(name, words(column)) for name, column in table.schema.columns.items()]
    asks = not table.closed and may("ask", table.name)
    ways = {name: _way(table, name) for name in table.schema.columns} if asks else {}
    if asks and not table.practice and table.facts.people is None:
        ways[say("data.done.people")] = f" {fitting.people_way(table.name)}"
    if table.schema.of_kind(dp.Number):
        example = numbers_like(numbers_of(dialect))
        told.append((say("data.done.numbers"), say("data.done.numbers_like", example=example)))
    terms = say("meter.terms", epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
    told.append((say("data.done.allowance"), terms))
    told.append((say("data.done.protects"), frame.protects(table)))
    lines = [f"<dt>{escape(name)}</dt><dd>{gloss.text(text)}{ways.get(name, '')}</dd>" for name, text in told]
    st.html(f'<dl class="fact">{"".join(lines)}</dl>')


def _way(table: dp.Table, name: str, told: str = "") -> str:
    """To the question that a column is asked about first, filled in."""
    query = _asked_first(table, name)
    if query is None:
        return ""
    link = _link(table, query)
    told = told or say("data.done.way", question=query.card.noun)
    return f' <a class="way" href="{nav.address("ask", **link)}" target="_self">{escape(told)}</a>'


def _link(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """To the form with this question in it, which chooses the price."""
    return {name: one for name, one in preview.link(table, query).items() if name != "epsilon"}


def _asked_first(table: dp.Table, name: str) -> dp.Query | None:
    found = (table.suggested(key, **given) for key, given in first_asked(name, table.schema))
    return next((one for one in found if one is not None), None)


def words(column: Column) -> str:
    if isinstance(column, Category):
        return price.list_words(column)
    if isinstance(column, ItemSet):
        return say("data.done.several", labels=price.list_words(column))
    if isinstance(column, Number):
        told = measured(price.range_words(column), column.measure)
        return told if column.missing is None else say("data.done.stand_in", range=told, value=column.missing)
    return price.day_words(column)
