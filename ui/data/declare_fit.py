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
from dpengine.asking.checking import usual_check
from dpengine.asking.column_fit import ColumnFit, slip
from dpengine.core.printed import chance, percent
from dpengine.mechanisms.counts.fit_checks import MOST_COLUMNS, UNSURE
from dpengine.messages import plain, say
from ui.data import declare_change as change
from ui.parts import answer, fitting, job, spend
from ui.shell import steer
from ui.words import prices
from ui.words.wording import headline, range_words

NOTHING = Fraction(1, 200)  # of the allowance: for this a check is as exact as can be
CHEAP = Fraction(2, 100)  # for this nearly as exact, or as is usual
DEAR = Fraction(1, 10)  # more than that no check is worth
ROUGH, USUAL = 4, 10  # one person in so many
FINE = (50, 20)
STEPS = (ROUGH, USUAL, 20, 50)
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
    """Right after a table was added: the check of all columns together; nothing where few people make it dear, or where
    every column was checked."""
    fits = fitting.of_table(table.name).all_of(table.schema.columns.items())
    unchecked = [fit.column for fit in fits if not fit.checked]
    if not unchecked or table.practice:
        return None
    return usual_check(table, unchecked[:MOST_COLUMNS], CHEAP, ROUGH)


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
    above = st.container()
    with st.expander(say("data.fit.more")):
        first_ones = unchecked[:MOST_COLUMNS]
        key = f"fit-which-{len(unchecked)}"
        names = st.multiselect(say("data.fit.which"), unchecked, first_ones, key=key, max_selections=MOST_COLUMNS)
        asked = table.query("fit_checks", epsilon="1", columns=names or first_ones)
        options = {step: found for step in STEPS if (found := _at(table, asked, step)) is not None}
        usual = _usual(table, options)
        if options:
            step = st.select_slider(
                say("data.fit.exact"),
                list(options),
                usual or ROUGH,
                key=f"fit-exact-{len(names)}",
                format_func=lambda one: say("data.fit.exact_step", share=percent(Fraction(1, one))),
            )
    with above:
        if not options or (usual is None and step == ROUGH):
            job.hint(say("data.fit.few_people", people=table.facts.about, columns=len(names or unchecked)))
        if options:
            query = options[step]
            worth = say("data.fit.all_worth", alpha=query.promise().amount, chance=chance(query.beta))
            st.html(f"<p>{escape(worth)}</p>")
            takes = prices.takes(table, _share(table, query))
            label = say("data.fit.all_button", columns=len(names or unchecked), share=takes)
            job.ask_button(label, table, query, "buy-fit", kind="primary" if usual else "secondary")


def _at(table: dp.Table, asked: dp.Query, step: int) -> dp.Query | None:
    """The check that is right within one person in so many, with the noise that takes least; None where none fits."""
    return table.least_priced(asked, Fraction(asked.most, step))


def _usual(table: dp.Table, options: dict[int, dp.Query]) -> int | None:
    """As exact as takes next to nothing: noise alone then hardly ever casts doubt on a column. Else as exact as is
    cheap, else roughly; None where even that is dear."""
    for step, most in ((FINE[0], NOTHING), (FINE[1], CHEAP), (USUAL, CHEAP)):
        if step in options and _share(table, options[step]) <= most:
            return step
    return ROUGH if ROUGH in options and _share(table, options[ROUGH]) <= DEAR else None


def _share(table: dp.Table, query: dp.Query) -> Fraction:
    return table.preview(query).share


def some(names: list[str]) -> str:
    return ", ".join(names[:MOST_TOLD]) + (", …" if len(names) > MOST_TOLD else "")
