"""Do the cells fit what was declared: offered for all columns together as the first purchase, and what it found.

The offer is drawn from public facts and from the ledger; a click hands it to the worker, as on Ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.checking import CHEAP, ROUGH, check_for, usual_check
from dpengine.asking.column_fit import ColumnFit, slip
from dpengine.core.printed import chance, percent
from dpengine.mechanisms.counts.fit_checks import MOST_COLUMNS, UNSURE
from dpengine.messages import plain, say
from ui.data import declare_change as change
from ui.parts import answer, fitting, job, spend
from ui.shell import steer
from ui.words import prices
from ui.words.wording import headline, range_words

STEPS = (ROUGH, 10, 20, 50)  # a check is right within one person in this many
MOST_TOLD = 12  # columns in a line


def show(table: dp.Table, buy: bool = True, exact: bool = True) -> None:
    """What is known of every column; with `buy`, an offer to check what was not checked as it is declared now, and with
    `exact` what was checked roughly."""
    fits = fitting.of_table(table.name).all_of(table.schema.columns.items())
    unchecked = [fit.column for fit in fits if not fit.checked]
    with st.container(key="card-fit"):
        lead = f'<p class="muted">{escape(say("data.fit.all_lead"))}</p>' if unchecked else ""
        came = bool(st.query_params.get("check")) and not st.query_params.get("answer")
        mark = ' class="arrived" tabindex="-1"' if came else ""
        st.html(f"<h2{mark}>{escape(say('data.fit.all_title'))}</h2>{lead}")
        if came:
            steer.bring(f"check-{table.name}")
        told(table, fits)
        if buy and exact:
            stronger(table)
        if unchecked and len(unchecked) < len(fits):
            st.html(f"<p>{escape(say('data.fit.unchecked', columns=some(unchecked)))}</p>")
        if unchecked and buy:
            _offer(table, unchecked)


def unfit(table: dp.Table) -> bool:
    """Does a paid check doubt some column?"""
    fits = fitting.of_table(table.name).all_of(table.schema.columns.items())
    return any(one.doubted or one.state == UNSURE for one in fits)


def partly(table: dp.Table) -> bool:
    """Does a paid check say of some column that it fits but for a part?"""
    return any(one.in_part for one in fitting.of_table(table.name).all_of(table.schema.columns.items()))


def sure(table: dp.Table) -> bool:
    """Does a paid check say of every column that it fits, and say it closely?"""
    fits = fitting.of_table(table.name).all_of(table.schema.columns.items())
    return all(one.checked and one.fits and not one.rough for one in fits)


def result(table: dp.Table, checked: dp.Answer) -> None:
    """What a check found, in a sentence or two: what helps, or what is to be done now, comes next."""
    told = list[str]()
    if sure(table):
        most = max(0, *(high for _, high in checked.interval.values()))
        passed = say("data.fit.passed", most=most, chance=chance(checked.query.beta))
        told.append(f'<p class="lead">{escape(passed)}</p>')
    if (far := fitting.far_off(table)) is not None:
        told.append(f'<p class="warn">{escape(far.on_card())} {fitting.people_way(table.name)}</p>')
    st.html(f'<p class="headline long arrived" tabindex="-1">{escape(headline(checked))}</p>{"".join(told)}')
    steer.arrived(checked.request_id)


def whole(checked: dp.Answer) -> None:
    """Everything that is known of it, a click away."""
    with st.expander(say("data.fit.passed_more")):
        st.html(f"<p>{escape(range_words(checked))}</p>{fitting.html(checked, linked=True)}{_bars(checked)}")
        answer.picture(checked, "answer")
        answer.receipt(checked, "answer")


def _bars(checked: dp.Answer) -> str:
    """Every count of the check, as it was drawn."""
    query: Any = checked.query
    cells = zip(query.number_names(), checked.raw or (), strict=False)
    rows = "".join(
        f'<tr><td>{escape(column)}</td><td>{escape(kind)}</td><td class="number">{plain(count)}</td></tr>'
        for (column, kind), count in cells
    )
    return f'<div class="scroll" tabindex="0"><table class="plain figures">{rows}</table></div>'


def first(table: dp.Table) -> dp.Query | None:
    """The check of all unchecked columns that a question would buy with it; None where few people make it dear."""
    fits = fitting.of_table(table.name).all_of(table.schema.columns.items())
    return _usual(table, [fit.column for fit in fits if not fit.checked])


def _usual(table: dp.Table, columns: Sequence[str], some: bool = False) -> dp.Query | None:
    """The same of these columns; of `some` of the unchecked ones, as exact as is cheap."""
    if not columns or table.practice:
        return None
    return usual_check(table, columns, CHEAP, ROUGH) if some else check_for(table, columns)


def people(table: dp.Table) -> None:
    """The field in which a declared number of people is corrected: where a paid answer shows that it is far off, with
    what that says; and where somebody came for it. A number that was counted has none."""
    told, came = fitting.far_off(table), bool(st.query_params.get("people"))
    if table.practice or table.closed or table.facts.people is not None or (told is None and not came):
        return
    with st.container(key="card-people"):
        mark = ' class="arrived" tabindex="-1"' if came else ""
        doubt = f'<p class="warn" role="status"><b>{escape(told.on_card())}</b></p>' if told is not None else ""
        st.html(
            f"<h2{mark}>{escape(say('data.people.title'))}</h2>{doubt}"
            f'<p class="muted">{escape(say("data.people.means"))}</p>'
        )
        if came:
            steer.bring(f"people-{table.name}")
        now = table.facts.about if told is None else told.about
        key = f"people-{table.name}-{table.facts.about}"
        st.number_input(say("data.people.field"), min_value=1, value=now, key=key, width=220)
        st.button(say("data.people.button"), key="people-correct", on_click=_correct, args=(table, key))


def _correct(table: dp.Table, key: str) -> None:
    try:
        table.correct_people(int(st.session_state[key]))
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


def told(table: dp.Table, fits: Sequence[ColumnFit]) -> None:
    """Columns that do not fit, each with the likely mistake and a way to correct it; then those that do, in one
    line."""
    for fit in fits:
        if fit.doubted or fit.in_part or fit.state == UNSURE:
            guess = "" if fit.state == UNSURE else slip(table.schema[fit.column])
            st.html(f'<p class="warn" role="status"><b>{escape(fit.words())}</b> {escape(guess)}</p>')
            st.button(
                say("data.fit.again", column=fit.column),
                key=f"fit-again-{fit.column}",
                help=say("data.fit.again_help") if isinstance(table.schema[fit.column], dp.Number) else None,
                on_click=change.again,
                args=(table, fit.column),
            )
    for code, rough in (("data.fit.good", False), ("data.fit.good_rough", True)):
        if good := [fit.column for fit in fits if fit.checked and fit.fits and fit.rough == rough]:
            st.html(f"<p>{escape(say(code, columns=some(good)))}</p>")


def stronger(table: dp.Table) -> bool:
    """Where a paid check could tell some columns only roughly, or not at all: a more exact one of those, for one click
    and with its price. Was it offered?"""
    fits = fitting.of_table(table.name).all_of(table.schema.columns.items())
    names = [fit.column for fit in fits if fit.rough or fit.state == UNSURE]
    found = table.finer_check(names[:MOST_COLUMNS]) if names and not table.practice else None
    if found is None:
        return False
    price = table.preview(found)
    label = say("data.fit.all_button", columns=len(names), share=prices.takes(table, price.share))
    with st.container(horizontal=True, vertical_alignment="center", key="fit-stronger"):
        told = say("data.fit.stronger", alpha=found.promise().amount, columns=some(names))
        st.html(f"<p>{escape(told)}</p>")
        job.ask_button(
            label,
            table,
            found,
            "fit-again-exact",
            kind=job.SECONDARY,
            again=spend.dear(price) or bool(table.recall(found)),
        )
    return True


def _offer(table: dp.Table, unchecked: list[str]) -> None:
    """The check that a question would buy, for the same price; another one is chosen under *more*."""
    above = st.container()
    with st.expander(say("data.fit.more")):
        all_of_them = unchecked[:MOST_COLUMNS]
        key = f"fit-which-{len(unchecked)}"
        names = st.multiselect(say("data.fit.which"), unchecked, all_of_them, key=key, max_selections=MOST_COLUMNS)
        names = names or all_of_them
        usual = _usual(table, names, some={*names} != {*all_of_them})
        asked = table.query("fit_checks", epsilon="1", columns=names)
        found = [table.least_priced(asked, Fraction(asked.most, step)) for step in STEPS]
        options = {_within(one): one for one in [*found, usual] if one is not None}  # of two alike, the usual one
        options = dict(sorted(options.items(), key=lambda one: one[1].promise().amount, reverse=True))
        query = usual or next(iter(options.values()), None)
        if query is not None and len(options) > 1:
            label, start = say("data.fit.exact"), _within(query)
            query = options[st.select_slider(label, list(options), start, key=f"fit-exact-{len(names)}-{start}")]
    with above:
        if query is None or (usual is None and query == next(iter(options.values()))):
            job.hint(say("data.fit.few_people", people=table.facts.about, columns=len(names)))
        if query is not None:
            worth = say("data.fit.all_worth", alpha=query.promise().amount, chance=chance(query.beta))
            st.html(f"<p>{escape(worth)}</p>")
            takes = prices.takes(table, table.preview(query).share)
            label = say("data.fit.all_button", columns=len(names), share=takes)
            job.ask_button(label, table, query, "buy-fit", kind="primary" if usual else "secondary")


def _within(query: Any) -> str:
    return say("data.fit.exact_step", share=percent(query.promise().amount / query.most))


def some(names: list[str]) -> str:
    return ", ".join(names[:MOST_TOLD]) + (", …" if len(names) > MOST_TOLD else "")
