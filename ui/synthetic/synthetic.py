"""The Synthetic page before anything is spent: which columns, which questions, how exact, by which way, the price."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent_left
from dpengine.declared.schema import Category
from dpengine.mechanisms.synthetic.of_class import MOST_COLUMNS, OfClass
from dpengine.messages import say
from dpengine.released.synthetic import KEYS
from ui.parts import addressed, conditions, history, job, number_field, owner, pickers, spend
from ui.shell import frame
from ui.synthetic import synthetic_preview, synthetic_result
from ui.words import prices

PLACE = "synthetic"
NAMES = ("columns", "queries", "where", "size", "rounds", "kind", "epsilon")
MOST_DRAWN = 8  # conditions of one's own in the form; more come by a link
_SHORT = 8  # values of a list that is offered first


def show(table: dp.Table) -> None:
    request = st.query_params.get("made")
    if request and addressed.became(table, request, OfClass, "synthetic.unknown", job.wait, synthetic_result.show):
        _earlier(table, request)
        return
    title, lead = say("synthetic_page.title"), say("synthetic_page.lead")
    st.html(f"<h1>{escape(title)}</h1><p class='lead'>{escape(lead)}</p>")
    frame.pick_table(table, PLACE)
    if table.closed:
        owner.closed(table)
    elif not _offered(table):
        job.hint(say("synthetic_page.no_columns"))
    else:
        _form(table)
    _earlier(table)


def _offered(table: dp.Table) -> list[str]:
    return table.schema.of_kind(Category)


def _earlier(table: dp.Table, but: str = "") -> None:
    found = [one for one in table.syntheses() if one.request_id != but]
    history.kept(say("synthetic_page.earlier"), found, history.synthetic_address)


def _form(table: dp.Table) -> None:
    given, arrived = addressed.given(table, PLACE, NAMES, lambda told: _filled(table, told))
    if arrived:
        pickers.forget_pickers()
    both: dict[str, OfClass | str] = {}
    key = KEYS[0]
    with st.container(key="card-synthetic-what"):
        columns = st.multiselect(
            say("synthetic_page.columns"),
            _offered(table),
            given["columns"],
            max_selections=MOST_COLUMNS,
            key=addressed.widget(PLACE, "columns"),
            placeholder=say("publish_page.columns_none"),
        )
        now: dict[str, Any] = {"columns": columns, "queries": _queries(table, columns, given)}
    left, right = st.columns([5, 6], gap="medium")
    with left, st.container(key="card-synthetic"):
        spend.start_from(table, given.get("epsilon") or _usual(table, now), PLACE)
        now |= _more(table, given)
        now |= {"epsilon": spend.choose(table, lambda step: _first(table, now | {"epsilon": step}), PLACE)}
        if columns:
            both = {key: _built(table, key, now) for key in KEYS}
            key = _kind(both, given.get("kind"))
        addressed.remember(table, PLACE, now | {"kind": given.get("kind", "") and key if columns else ""})
        query = both.get(key)
        if isinstance(query, OfClass):
            _buy(table, query)
        else:
            job.hint(query or say("publish_page.choose"))
        refusal = st.session_state.pop("refusal", None)
        if refusal:
            job.refused(refusal)
    with right, st.container(key="card-synthetic-preview"):
        st.html(f"<h2>{escape(say('publish_page.worth'))}</h2>")
        if isinstance(query, OfClass):
            synthetic_preview.show(query, both)
        else:
            st.html(f'<p class="muted">{escape(say("synthetic_page.worth_none"))}</p>')


def _first(table: dp.Table, now: dict[str, Any]) -> dp.Query:
    """The question by whichever way it can be asked."""
    options = [_built(table, key, now) for key in KEYS]
    query = next((option for option in options if isinstance(option, OfClass)), None)
    if query is None:
        raise dp.AllowanceError("publish_page.choose")
    return query


def _built(table: dp.Table, key: str, now: dict[str, Any]) -> OfClass | str:
    """The question, or the sentence that says why it cannot be asked."""
    asked = {one.name: now[one.name] for one in dp.catalogue[key].card.parameters if now.get(one.name)}
    try:
        query = table.query(key, **asked)
    except dp.AllowanceError as refusal:
        return str(refusal)
    assert isinstance(query, OfClass)
    return query


def _kind(both: dict[str, OfClass | str], wanted: Any) -> str:
    """Which way: the one that promises more, unless the other is picked."""
    able = {key: one.promise().alpha for key, one in both.items() if isinstance(one, OfClass)}
    best = min(able, key=able.__getitem__, default=KEYS[0])
    now = wanted if wanted in KEYS else best
    picked = st.radio(
        say("synthetic_page.kind"),
        KEYS,
        KEYS.index(now),
        format_func=lambda key: _way(key, both[key], key == best),
        key=f"{addressed.widget(PLACE, 'kind')}-{best}",
    )
    if picked != now:
        st.session_state[f"{PLACE}-form"]["given"]["kind"] = picked
        st.rerun()
    return str(picked)


def _way(key: str, query: OfClass | str, best: bool) -> str:
    title = say(f"synthetic_page.way.{key}")
    if isinstance(query, str):
        return say("synthetic_page.way_not", title=title)
    code = "synthetic_page.way_best" if best else "synthetic_page.way"
    return say(code, title=title, promise=query.promise().short(query))


def _queries(table: dp.Table, columns: list[str], given: dict[str, Any]) -> list[Any]:
    """All values and pairs, or conditions of one's own on the chosen columns."""
    known = given.get("queries")
    known = known if isinstance(known, list) else []
    options = ["all", "own"]
    kind = st.radio(
        say("synthetic_page.class"),
        options,
        1 if known else 0,
        key=addressed.widget(PLACE, "class"),
        format_func=lambda one: say(f"synthetic_page.class.{one}"),
    )
    if kind == "all" or not columns:
        return []
    if len(known) > MOST_DRAWN:
        st.html(f'<p class="muted">{escape(say("form.where_from_link"))}</p>')
        return known
    lists = conditions.Lists(table.name, dp.Schema({name: table.schema[name] for name in columns}))
    counter = addressed.widget(PLACE, "many")
    count = st.session_state.setdefault(counter, max(len(known), 1))
    built = []
    for place in range(count):
        st.html(f'<p class="muted">{escape(say("synthetic_page.condition", number=place + 1))}</p>')
        built.append(conditions.conditions(lists, known[place] if place < len(known) else [], f"synthetic{place}"))
    with st.container(horizontal=True):
        if count < MOST_DRAWN:
            st.button(say("synthetic_page.add"), key="synthetic-add", on_click=_count, args=(counter, 1))
        if count > 1:
            st.button(say("synthetic_page.remove"), key="synthetic-less", on_click=_count, args=(counter, -1))
    return [one for one in built if one]


def _count(counter: str, step: int) -> None:
    st.session_state[counter] += step


def _usual(table: dp.Table, now: dict[str, Any]) -> str:
    """The least spend with a useful promise, within half of what is left; else the most of it."""
    fitting = table.affordable(spend.STEPS, table.meter().unused / 2) or [spend.STEPS[0]]
    for step in fitting if now["columns"] else ():
        built = (_built(table, key, now | {"epsilon": step}) for key in KEYS)
        if any(isinstance(one, OfClass) and one.promise().amount <= one.coarse() for one in built):
            return step
    return fitting[-1]


def _more(table: dp.Table, given: dict[str, Any]) -> dict[str, Any]:
    """Only some people, and what a clerk never needs: the number of rows or rounds."""
    where = given.get("where")
    with st.expander(say("synthetic_page.more"), expanded=bool(where)):
        on = st.toggle(say("synthetic_page.some"), bool(where), key=addressed.widget(PLACE, "some"))
        rows = conditions.conditions(table, where if isinstance(where, list) else [], "synthetic-where") if on else []
        typed = {
            name: number_field.field(
                say(f"param.{name}.label"),
                str(given.get(name, "")),
                addressed.widget(PLACE, name),
                help=say(f"param.{name}.help"),
                width=220,
            )
            for name in ("size", "rounds")
        }
    return {"where": rows} | typed


def _buy(table: dp.Table, query: OfClass) -> None:
    price = table.preview(query)
    frame.show_price(table, price, "_synthetic")
    spend.describe(table, query, price)
    spend.exactly(table, query, PLACE)
    label = say("synthetic_page.button", share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "synthetic-go", disabled=not price.admissible, place="made")
    if not price.admissible:
        left = table.meter().unused
        job.refused(say("synthetic_page.too_much", left=percent_left(left)) if left else say("ask.nothing_left"))


def _filled(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    """What the form shows of an address; a few short lists where it says nothing."""
    offered = _offered(table)
    wanted = addressed.read(arriving.get("columns"))
    if isinstance(wanted, list):
        columns = list(dict.fromkeys(name for name in wanted if isinstance(name, str) and name in offered))
    else:
        short = [name for name in offered if table.schema[name].size <= _SHORT]
        columns = (short or offered)[:2]
    lists = {name: addressed.read(arriving.get(name)) for name in ("queries", "where")}
    return {"columns": columns[:MOST_COLUMNS]} | {
        name: one if isinstance(one, list) else [] for name, one in lists.items()
    }
