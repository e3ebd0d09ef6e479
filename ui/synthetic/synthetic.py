"""The Synthetic page before anything is spent: which columns, what to keep, impossible combinations, how exact, the
price."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent_left
from dpengine.declared import condition_words
from dpengine.declared.conditions import read_predicate
from dpengine.declared.public_rules import rules_on
from dpengine.mechanisms.marginals.wanted import MOST_COLUMNS
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable, can_be_part
from dpengine.messages import say
from dpengine.planning.opening import PART
from ui.ask import fit_warnings, spend
from ui.board import board_state
from ui.parts import conditions, fields, history, job, owner
from ui.shell import frame
from ui.synthetic import made_result, synthetic_preview, synthetic_result
from ui.words import prices

PLACE = "synthetic"
NAMES = ("columns", "keep", "never", "epsilon")
KEY = SyntheticTable.card.key
MOST_DRAWN = 6  # rules in the form; more come by a link
_DRAWN = ("in", "not in", "between", ">=", "<=")  # conditions that the form can show
_USUAL = 15  # columns chosen at first


def show(table: dp.Table) -> None:
    request = st.query_params.get("made")
    if request and job.became(
        table,
        request,
        lambda query: bool(query.makes_rows),
        "synthetic.unknown",
        job.wait,
        _result,
        fit_warnings.at("made"),
    ):
        _earlier(table, request)
        return
    title, lead = say("synthetic_page.title"), say("synthetic_page.lead")
    st.html(f"<h1>{escape(title)}</h1><p class='lead'>{escape(lead)}</p>")
    frame.pick_table(table, PLACE)
    if table.closed:
        owner.closed(table)
    elif len(_offered(table)) < 2:
        job.hint(say("synthetic_page.no_columns"))
    else:
        _form(table)
    _earlier(table)


def _result(table: dp.Table, answer: dp.Answer) -> None:
    (made_result if answer.query.makes_rows == "fitted" else synthetic_result).show(table, answer)


def _offered(table: dp.Table) -> list[str]:
    return [name for name, column in table.schema.columns.items() if can_be_part(column)]


def _earlier(table: dp.Table, but: str = "") -> None:
    syntheses = [answer for answer in table.syntheses() if answer.request_id != but]
    history.kept(say("synthetic_page.earlier"), syntheses, history.synthetic_address)


def _form(table: dp.Table) -> None:
    given, arrived = job.address_given(table, PLACE, NAMES, lambda arriving: _filled(table, arriving))
    if arrived:
        fields.forget_pickers()
    left, right = st.columns([5, 6], gap="medium")
    query: SyntheticTable | None = None
    with left, st.container(key="card-synthetic-what"):
        columns = st.multiselect(
            say("synthetic_page.columns"),
            _offered(table),
            given["columns"],
            max_selections=MOST_COLUMNS,
            key=job.addressed_widget(PLACE, "columns"),
            placeholder=say("publish_page.columns_none"),
        )
        keep = _keep(columns, str(given.get("keep") or ""))
        now: dict[str, Any] = {"columns": columns, "keep": keep, "never": _rules(table, columns, given)}
    with right, st.container(key="card-synthetic"):
        refusal = ""
        try:
            plain = _built(table, now | {"epsilon": "1"})
        except dp.AllowanceError as error:
            plain, refusal = None, str(error)
        usual = given.get("epsilon") or spend.opens_at(None if plain is None else table.opening(plain, _worth))
        spend.start_from(table, usual, PLACE)
        if plain is not None:
            now["epsilon"] = spend.choose(table, lambda step: _built(table, now | {"epsilon": step}), PLACE)
            query = _built(table, now)
        else:
            now["epsilon"] = st.session_state[f"{PLACE}-epsilon"]
        job.remember_address(table, PLACE, now, arrived)
        if query is None:
            job.hint(refusal)
        else:
            _buy(table, query)
        if stopped := st.session_state.pop("refusal", None):
            job.refused(stopped)


def _built(table: dp.Table, now: dict[str, Any]) -> SyntheticTable:
    query = table.query(KEY, **{name: value for name, value in now.items() if value})
    assert isinstance(query, SyntheticTable)
    if not now["columns"]:
        raise dp.AllowanceError("synthetic_table.columns", most=MOST_COLUMNS)
    return query


def _keep(columns: list[str], now: str) -> str:
    options, whole = ["", *columns], say("synthetic_page.keep.all")
    return str(
        st.selectbox(
            say("synthetic_page.keep"),
            options,
            options.index(now) if now in options else 0,
            format_func=lambda column: say("synthetic_page.keep.column", column=column) if column else whole,
            key=job.addressed_widget(PLACE, "keep"),
            help=say("param.keep.help"),
        )
    )


def _rules(table: dp.Table, columns: list[str], given: dict[str, Any]) -> list[Any]:
    """Impossible combinations of the chosen columns."""
    known = given.get("never")
    known = known if isinstance(known, list) else []
    declared = rules_on(table.schema, columns)
    known = [rule for rule in known if rule not in declared]
    with st.expander(say("synthetic_page.rules"), expanded=bool(known or declared)):
        if declared:
            st.html(_declared(table, declared))
        st.html(f'<p class="muted">{escape(say("synthetic_page.rules_why"))}</p>')
        if len(known) > MOST_DRAWN or not all(_drawable(rule, columns) for rule in known):
            st.html(f'<p class="muted">{escape(say("form.where_from_link"))}</p>')
            return known
        if not columns:
            return []
        lists = conditions.Lists(table.name, dp.Schema({name: table.schema[name] for name in columns}))
        counter = job.addressed_widget(PLACE, "many")
        count = st.session_state.setdefault(counter, len(known))
        built = []
        for place in range(count):
            st.html(f'<p class="muted">{escape(say("synthetic_page.rule"))}</p>')
            rows = known[place] if place < len(known) else []
            built.append(conditions.conditions(lists, rows, f"synthetic{place}"))
        with st.container(horizontal=True):
            if count < MOST_DRAWN:
                st.button(say("synthetic_page.rule_add"), key="synthetic-add", on_click=_count, args=(counter, 1))
            if count:
                st.button(say("synthetic_page.rule_less"), key="synthetic-less", on_click=_count, args=(counter, -1))
    return [condition for condition in built if condition]


def _declared(table: dp.Table, rules: list[Any]) -> str:
    """The table's declared rules, in words."""
    sentences = [condition_words.conditions(read_predicate(rule, table.schema)) for rule in rules]
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<p>{escape(say('synthetic_page.known_rules'))}</p><ul>{lines}</ul>"


def _drawable(rule: Any, columns: list[str]) -> bool:
    """Can the form show this rule exactly? Another condition in its place would exclude other people."""
    rows = rule if isinstance(rule, list) else [rule]
    return all(isinstance(row, list) and len(row) == 3 and row[0] in columns and row[1] in _DRAWN for row in rows)


def _count(counter: str, step: int) -> None:
    st.session_state[counter] += step


def _worth(query: dp.Query) -> Fraction:
    """How many times fewer rows the noise moves than at the level called much."""
    assert isinstance(query, SyntheticTable)
    return Fraction(synthetic_preview.MUCH / max(query.off_by_noise(), 1e-9))


def _buy(table: dp.Table, query: SyntheticTable) -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_synthetic")
    synthetic_preview.show(query)
    dear = price.share - price.check_share > PART * table.meter().unused
    if dear and (least := spend.least_html(table, table.opening(query, _worth))):
        st.html(least)
    board_state.counted_as(query)
    spend.exactly(table, query, PLACE)
    label = say("synthetic_page.button", share=prices.takes(table, price.share))
    if fit_warnings.instead_at("made", table, query):
        return
    job.ask_button(label, table, query, "synthetic-go", disabled=not price.admissible, place="made")
    if not price.admissible and not job.short(table, price):
        left = table.meter().unused
        job.refused(say("synthetic_page.too_much", left=percent_left(left)) if left else say("ask.nothing_left"))


def _filled(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    """The form's values from an address; by default the first columns."""
    offered = _offered(table)
    wanted = job.read_address(arriving.get("columns"))
    if isinstance(wanted, list):
        columns = list(dict.fromkeys(name for name in wanted if isinstance(name, str) and name in offered))
    else:
        columns = offered[:_USUAL]
    never = job.read_address(arriving.get("never"))
    keep = arriving.get("keep", "")
    return {
        "columns": columns[:MOST_COLUMNS],
        "keep": keep if keep in columns else "",
        "never": never if isinstance(never, list) else [],
    }
