"""The Publish page before anything is spent: which columns, how exact, what one row and all rows will reveal, the
price."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.core.printed import percent, power_of_ten
from dpengine.declared.schema import Category, ItemSet
from dpengine.mechanisms.publish.of_rows import MOST_COLUMNS, Chosen, OfRows, best_way
from dpengine.messages import say
from dpengine.noise.set_noise import MOST_ITEMS
from dpengine.planning.opening import PART, Opening
from ui.ask import spend
from ui.parts import fields, history, job, owner
from ui.publish import publish_preview, publish_result
from ui.shell import frame, nav
from ui.shell.state import workspace
from ui.words import prices

PLACE = "publish"
NAMES = ("columns", "grid", "delta", "epsilon")
_SHORT = 15  # values of a list that is preferred at first


def show(table: dp.Table) -> None:
    request = st.query_params.get("published")
    if request and job.became(table, request, OfRows, "publish.unknown", _wait, publish_result.show):
        _earlier(table, request)
        return
    st.html(f"<h1>{escape(say('publish_page.title'))}</h1><p class='lead'>{escape(say('publish_page.lead'))}</p>")
    frame.pick_table(table, PLACE)
    if table.closed:
        owner.closed(table)
    elif why := _never(table):
        job.hint(why)
    else:
        _form(table)
    _earlier(table)
    st.page_link(nav.page("thesis"), label=say("publish_page.thesis"))


@st.fragment(run_every=0.3)
def _wait(request: str) -> None:
    asked = workspace().job(request)
    if asked.over:
        st.rerun()
    st.progress(asked.done / max(asked.total, 1), say("publish_page.working", share=percent(asked.done / asked.total)))


def _never(table: dp.Table) -> str | None:
    """Why nothing of this table can be published."""
    offered = _offered(table)
    if not offered:
        return say("publish_page.no_columns")
    try:
        table.query("publish_table", columns=offered[:1], epsilon="1")
    except dp.AllowanceError as refusal:
        return say(f"publish_page.{refusal.code}") if refusal.code in ("query.relation", "query.several") else None
    return None


def _offered(table: dp.Table) -> list[str]:
    """Every column, except sets with very many items."""
    columns = table.schema.columns.items()
    return [name for name, column in columns if not isinstance(column, ItemSet) or column.size <= MOST_ITEMS]


def _form(table: dp.Table) -> None:
    given = job.address_given(table, PLACE, NAMES, lambda given_columns: {"columns": _columns(table, given_columns)})[0]
    given = {"grid": "", "delta": "", **given}
    left, right = st.columns([5, 6], gap="medium")
    chosen = None
    with left, st.container(key="card-publish"):
        label, none = say("publish_page.columns"), say("publish_page.columns_none")
        limits: Any = {"max_selections": MOST_COLUMNS, "placeholder": none}
        columns = st.multiselect(label, _offered(table), given["columns"], key=_widget("columns"), **limits)
        usual = given.get("epsilon") or spend.opens_at(_opening(table, {**given, "columns": columns}))
        spend.start_from(table, usual, PLACE)
        more = {"columns": columns, **_more(given)}

        def at(step: str) -> dp.Query:
            return build_question(table, {"epsilon": step, **more}).query

        given = {"epsilon": spend.choose(table, at, PLACE), **more}
        job.remember_address(table, PLACE, given)
        try:
            chosen = build_question(table, given)
        except dp.AllowanceError as error:
            job.hint(say("publish_page.choose") if not columns else str(error))
        if chosen is not None:
            _buy(table, chosen.query, given)
        job.show_refusal()
    with right, st.container(key="card-publish-preview"):
        st.html(f"<h2>{escape(say('publish_page.worth'))}</h2>")
        if chosen is not None:
            publish_preview.show(table, chosen)


def build_question(table: dp.Table, given: dict[str, Any]) -> Chosen:
    """The question for the chosen columns: the better of all that publish them."""

    def build(key: str, parameters: dict[str, Any]) -> OfRows:
        query = table.query(key, **parameters)
        assert isinstance(query, OfRows)
        return query

    return best_way(build, table.schema, {name: value for name, value in given.items() if value != ""})


def _opening(table: dp.Table, given: dict[str, Any]) -> Opening | None:
    """The price at which averages over all rows become useful, within limits."""
    return table.opening(lambda epsilon: build_question(table, {**given, "epsilon": text_of(epsilon)}).query)


def _more(given: dict[str, Any]) -> dict[str, str]:
    """Rarely needed settings: a coarser grid, and δ."""
    with st.expander(say("publish_page.more")):
        label, note = say("param.grid.label"), say("param.grid.help")
        grid = fields.number_field(label, given["grid"], _widget("grid"), help=note, width=220)
        delta = fields.number_field(say("publish_page.delta"), given["delta"], _widget("delta"), width=220)
        st.html(f'<p class="muted">{escape(say("publish_page.delta_means"))}</p>')
    return {"grid": grid, "delta": delta}


def _buy(table: dp.Table, query: OfRows, given: dict[str, Any]) -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_publish")
    opening = _opening(table, given) if price.share - price.check_share > PART * table.meter().unused else None
    spend.describe(table, query, price, opening=opening)
    spend.exactly(table, query, PLACE)
    if query.delta * query.facts.about >= 1:
        rows = int(query.delta * query.facts.about)
        st.html(f'<p class="warn">{escape(say("publish_page.teaching", rows=rows))}</p>')
    label = say("publish_page.button", share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "publish-go", disabled=not price.admissible, place="published")
    if price.admissible:
        return
    meter = table.meter()
    room = meter.delta_reserve - meter.spent_delta
    if query.delta > room:
        job.refused(say("publish_page.reserve", delta=power_of_ten(query.delta), reserve=power_of_ten(room)))
    else:
        job.too_much(table, "publish_page.too_much")


def _earlier(table: dp.Table, but: str = "") -> None:
    """Earlier publications, free to open."""
    publications = [publication for publication in table.publications() if publication.request_id != but]
    history.kept(say("publish_page.earlier"), publications, "publish", "published")


# --- the address ------------------------------------------------------------------------------------------------------


def _widget(name: str) -> str:
    return job.addressed_widget(PLACE, name)


def _columns(table: dp.Table, arriving: dict[str, str]) -> list[str]:
    offered = _offered(table)
    wanted = job.read_address(arriving.get("columns"))
    if isinstance(wanted, list):
        return list(dict.fromkeys(name for name in wanted if isinstance(name, str) and name in offered))[:MOST_COLUMNS]
    lists = [name for name in table.schema.of_kind(Category) if table.schema[name].size <= _SHORT]
    return (lists or offered)[:1]
