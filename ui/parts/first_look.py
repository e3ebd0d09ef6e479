"""The offer of a first look, wherever somebody arrives at a table: with its price, or to the board it became."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

import dpengine as dp
from dpengine.declared.schema import Schema
from dpengine.mechanisms.marginals.wanted import tellable
from dpengine.messages import say
from ui.shell import nav
from ui.words import prices

USUAL = Fraction(1, 5)  # of the allowance


def usual_share(table: dp.Table) -> Fraction:
    """A fifth of the allowance, or half of what is left where that is less."""
    return min(USUAL, table.meter().unused / 2)


def possible(schema: Schema) -> bool:
    return any(tellable(column) for column in schema.columns.values())


def label(table: dp.Table) -> str | None:
    """What a link to it says; None where there is nothing to look at, and nothing can be bought."""
    if table.newest_look():
        return say("first_look.open")
    if table.closed or not possible(table.schema) or not table.meter().unused:
        return None
    return say("first_look.offer", share=prices.takes(table, usual_share(table)))


def link(table: dp.Table) -> None:
    if told := label(table):
        st.page_link(nav.page("board"), label=told, query_params={"table": table.name})
