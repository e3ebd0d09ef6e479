"""The offer of a first look, wherever somebody arrives at a table: with its price, or to the board it became."""

from __future__ import annotations

import streamlit as st

import dpengine as dp
from dpengine.declared.schema import Schema
from dpengine.mechanisms.marginals.wanted import MOST_COLUMNS, tellable
from dpengine.messages import say
from dpengine.planning.opening import Opening
from ui.shell import nav
from ui.words import prices


def possible(schema: Schema) -> bool:
    return any(tellable(column) for column in schema.columns.values())


def label(table: dp.Table) -> str | None:
    """What a link to it says; None where there is nothing to look at, and nothing can be bought."""
    if table.newest_look():
        return say("first_look.open")
    found = None if table.closed else _opening(table)
    return None if found is None else say("first_look.offer", share=prices.takes(table, found.share))


def usual(table: dp.Table) -> dp.Query | None:
    """All columns at the price that the form opens with; None where there is nothing to look at, or nothing left."""
    found = _opening(table)
    return None if found is None else found.query


def _opening(table: dp.Table) -> Opening | None:
    names = [name for name, column in table.schema.columns.items() if tellable(column)][:MOST_COLUMNS]
    if not names or not table.meter().unused:
        return None
    return table.opening(table.query("overview", columns=names, against=[], epsilon="1"))


def link(table: dp.Table) -> None:
    if told := label(table):
        st.page_link(nav.page("board"), label=told, query_params={"table": table.name})
