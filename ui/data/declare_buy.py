"""Facts about a table that nobody knows and that can be paid for from its allowance: a range, or a list of values.

Every offer is drawn from public facts; a click hands it to the worker, as on Ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import claim_of
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.printed import chance, percent_left
from dpengine.mechanisms import asked_on
from dpengine.messages import say
from dpengine.planning.opening import STEPS
from ui.data import declare_change as change
from ui.data import declare_found as found
from ui.data.declare_column import Card
from ui.data.preset_whose import surely_whose
from ui.parts import job, spend
from ui.shell import frame, steer
from ui.words import prices

FINDS = tuple(key for key in asked_on("data") if dp.catalogue[key].declares in ("range", "list"))


def unknown(table: dp.Table, first: Sequence[str] = ()) -> None:
    """The last resort, for columns whose ranges and lists nobody knows: all of them together; `first` are chosen
    already, but for a column that by its name numbers people: its values are nobody's list."""
    numbers = surely_whose(table.facts.header)
    with st.container(key="card-buy"):
        found.offer(table, [name for name in first if name != numbers])
        if first:
            steer.bring(f"find-{table.name}")
        with st.expander(say("data.found.alone")):
            _alone(table)


def _alone(table: dp.Table) -> None:
    """One column, with noise that has a finite ε: also where an allowance has no δ."""
    names = [name for name in table.facts.header if name != table.facts.unit.id_column]
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    column = left.selectbox(
        say("data.buy.column"),
        names,
        index=None,
        key=change.BUYING,
        placeholder=say("data.unit.who_none"),
    )
    with right:
        key = st.segmented_control(
            say("data.buy.what"),
            FINDS,
            key="buy-what",
            format_func=lambda one: say(f"data.buy.{one}"),
            required=True,
        )
    if column is None or key is None:
        return
    given: dict[str, Any] = {"column": column}
    if any(parameter.name == "delta" for parameter in dp.catalogue[key].card.parameters):
        given["delta"] = text_of(table.meter().delta_reserve / 10)
    st.html(f'<p class="muted">{escape(say(f"data.buy.{key}_means"))}</p>')
    paid = _again(table, key, given)
    _offer(table, key, given, on_meter=not paid)


def _again(table: dp.Table, key: str, given: dict[str, Any]) -> bool:
    """An answer that was paid for, whatever was spent on it: free to see again."""
    try:
        query = table.query(key, epsilon="1", **given)
    except AllowanceError:
        return False
    bounds, column = claim_of(query)["bounds"], given.get("column")
    for entry in table.history():
        claim = entry.charge.claim
        if entry.charge.table != table.name or entry.outcome is None or entry.outcome.kind != "answer":
            continue
        same = (claim["key"], claim["parameters"].get("column"), claim.get("bounds")) == (key, column, bounds)
        if same:
            st.html(f'<p class="muted">{escape(say("ask.paid"))}</p>')
            st.button(
                say("ask.again_free"),
                key=f"buy-again-{key}",
                on_click=job.revisit,
                args=(table, table.answer_of(entry)),
            )
            return True
    return False


def _offer(table: dp.Table, key: str, given: dict[str, Any], on_meter: bool) -> None:
    """What it will tell, what it takes, and the button; how sure it must be, under *more*."""
    above = st.container()
    try:
        usual, options = _spends(table, key, given)
        labels = spend.labels_of(table, lambda step: table.query(key, epsilon=step, **given), options)
        options = spend.steps_of(labels, options, usual)
        picked = usual
        if len(options) > 1:
            with st.expander(say("data.buy.more")):
                st.html(f'<p class="muted">{escape(say("spend.ends"))}</p>')
                picked = st.select_slider(
                    say("spend.slider"),
                    options,
                    usual,
                    key=f"buy-spend-{key}-{given.get('column')}",
                    label_visibility="collapsed",
                    format_func=lambda step: labels.get(step) or say("spend.step_too_much"),
                )
        query = table.query(key, epsilon=picked, **given)
    except AllowanceError as complaint:
        with above:
            job.hint(say("data.buy.no_delta") if complaint.code == "delta.range" else str(complaint))
        return
    price = table.preview(query)
    if on_meter:
        frame.show_price(table, price)
    with above:
        st.html(f"<p>{escape(_worth(query))}</p>")
        if not price.useful:
            told = _rough(table, query, price)
            st.html(f'<p class="warn">{escape(told)}</p>')
        label = say(f"data.buy.{key}_button", share=prices.takes(table, price.share))
        job.ask_button(label, table, query, f"buy-{key}", disabled=not price.admissible)
        if not price.admissible:
            rest = table.meter().unused
            job.refused(say("ask.too_much", left=percent_left(rest)) if rest else say("ask.nothing_left"))


def _spends(table: dp.Table, key: str, given: dict[str, Any]) -> tuple[str, list[str]]:
    """The spend that it opens with; and all of them."""
    meter = table.meter()
    options = [step for step in STEPS if Fraction(step) <= meter.epsilon] or [text_of(meter.epsilon)]
    usual = spend.opens_at(table.opening(table.query(key, epsilon="1", **given)))
    return usual, sorted({*options, usual}, key=Fraction)


def _worth(query: dp.Query) -> str:
    return say(f"data.buy.{query.card.key}_worth", alpha=query.promise().amount, chance=chance(query.beta))


def _rough(table: dp.Table, query: dp.Query, price: dp.Preview) -> str:
    """A warning that this ε is too small to find rare values. What enough people hold is found all the same."""
    if query.declares:
        return say("data.buy.rough", people=query.facts.about)
    return spend.noise_words(table, query, price)


def then(table: dp.Table, answer: dp.Answer) -> None:
    """What an answer that was bought here means, and a way to use it."""
    query = answer.query
    if query.declares == "several":
        if answer.receipt["table"] == table.name and not table.practice and not table.closed:
            found.then(table, answer)
    elif verdict := query.verdict(answer.interval):
        st.html(f'<p class="lead">{escape(say(f"data.fit.{verdict}"))}</p>')
    elif query.declares and answer.receipt["table"] == table.name and not table.practice and not table.closed:
        if sum(one is not None for one in answer.value.values()) < 2:
            st.html(f'<p class="muted">{escape(say(f"data.buy.{query.card.key}_nothing"))}</p>')
            return
        told = say("data.buy.use_means")
        if query.declares == "range":
            card = Card()
            card.take_bounds(answer.value["lower"], answer.value["upper"])
            told = say("data.buy.use_range_means", step=Fraction(card.step))
        st.html(f'<p class="muted">{escape(told)}</p>')
        st.button(say("data.buy.use"), key="buy-use", type="primary", on_click=change.use, args=(table, answer))
