"""Offers for a table: to find its undescribed columns, and to take a first look.

Finding is offered when the table is added, and once more after its first answers. The offers come from public facts:
names, the declaration, and what was bought.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.mechanisms.marginals.wanted import MOST_COLUMNS, has_cells
from dpengine.messages import say
from dpengine.planning.opening import Opening
from dpengine.storage.registry import Record
from ui.shell import nav
from ui.shell.frame import paragraph
from ui.shell.state import may, visitor, workspace
from ui.words import prices
from ui.words.markup import first_names, link

MOST_NAMED = 3
_FIND = "find"  # in the address: somebody came to have them found
_MOST_KEPT = 1_000
_reminded: OrderedDict[tuple[str, str], None] = OrderedDict()  # who was reminded of which table


def missing_columns(table: dp.Table) -> list[str]:
    """The columns that are neither declared, nor the id column, nor bought already; none for a closed table or a
    sample."""
    if table.practice or table.closed:
        return []
    known = {*table.schema.columns, table.facts.unit.id_column}
    left = [name for name in table.facts.header if name not in known]
    if left:
        queries: list[Any] = [answer.query for answer in table.drafted()]
        bought = {name for query in queries for name, _ in query.asked}
        left = [name for name in left if name not in bought]
    return left


def missing_label(left: list[str]) -> str:
    return say("missing.find", many=len(left))


def missing_place(table: dp.Table) -> dict[str, str]:
    return {"table": table.name, _FIND: "1"}


def wanted_columns(table: dp.Table) -> list[str]:
    """The undeclared columns, if the visitor came to have them found; else empty. No further page reminds of them
    then."""
    if not st.query_params.get(_FIND) or st.query_params.get("answer"):
        return []
    leave_missing(table.name)
    return missing_columns(table)


def remind_missing(table: dp.Table) -> None:
    """Draw on Ask, after the first charge, the names of the undeclared columns, with a link that has them found."""
    if not (left := _due(table)):
        return
    with st.container(key="missing", horizontal=True, vertical_alignment="center"):
        paragraph(say("missing.offer", many=len(left), columns=first_names(left, MOST_NAMED)))
        st.page_link(nav.page("data"), label=say("missing.link", many=len(left)), query_params=missing_place(table))
        st.button(say("missing.no"), key="missing-no", type="tertiary", on_click=leave_missing, args=(table.name,))


def missing_html(table: dp.Table) -> str:
    """HTML with the same reminder on the card of a table; empty if it is not due."""
    if not (left := _due(table)):
        return ""
    note = escape(say("missing.offer", many=len(left), columns=first_names(left, MOST_NAMED)))
    way = link(nav.address("data", table.name, **{_FIND: "1"}), say("missing.link", many=len(left)), "way")
    return f'<p class="muted missing">{note} {way}</p>'


def leave_missing(name: str) -> None:
    _reminded[visitor(), name] = None
    while len(_reminded) > _MOST_KEPT:
        _reminded.popitem(last=False)


def _due(table: dp.Table) -> list[str]:
    if (visitor(), table.name) in _reminded or table.practice or table.closed:
        return []
    meter = table.meter()
    return missing_columns(table) if meter.charges and meter.unused else []


# Tables with the same columns. Headers and declarations are public; whether rows are the same is not.


def with_header(names: Sequence[str]) -> list[Record]:
    """The tables in view with these columns, in this order."""
    return [record for record in workspace().tables() if record.header == list(names)]


def twin_note(table: dp.Table) -> None:
    """Draw on a table of one row a person a warning that a table with the same columns says otherwise, and a link that
    mends this one. Such a table may be the other one saved again, with a row less."""
    if table.practice or table.closed or table.facts.unit != dp.Unit.rows():
        return
    others = [record for record in with_header(table.facts.header) if dp.Unit.from_json(record.unit).counted > 1]
    if not others:
        return
    paragraph(say("data.twin", table=others[0].name), "warn")
    if may("protect", table.name):
        column = str(dp.Unit.from_json(others[0].unit).id_column)
        where = {"table": table.name, "protect": column}
        st.page_link(nav.page("data"), label=say("data.twin.mend"), query_params=where)


# The first look: an offer with its price, or a link to its board.


def first_look_label(table: dp.Table) -> str | None:
    """The label of a link to the first look; None if there is none and none can be bought."""
    if table.newest_look():
        return say("first_look.open")
    opening = None if table.closed else _opening(table)
    if opening is None:
        return None
    return say("first_look.offer", share=prices.takes(table, table.preview(opening.asked, checked=True).share))


def usual_first_look(table: dp.Table) -> dp.Query | None:
    """A first look at all columns, at the opening price; None if there is nothing to count, or nothing left."""
    opening = _opening(table)
    return None if opening is None else opening.query


def _opening(table: dp.Table) -> Opening | None:
    names = [name for name, column in table.schema.columns.items() if has_cells(column)][:MOST_COLUMNS]
    if not names or not table.meter().unused:
        return None
    return table.opening(table.query("overview", columns=names, against=[], epsilon="1", noise=""))


def first_look_link(table: dp.Table) -> None:
    if label := first_look_label(table):
        st.page_link(nav.page("board"), label=label, query_params={"table": table.name})
