"""The offer of a first look, wherever somebody arrives at a table: with its price, or to the board it became."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

import streamlit as st

import dpengine as dp
from dpengine.core.exact import decimal_of, text_of
from dpengine.declared.schema import Schema
from dpengine.mechanisms.marginals.wanted import MOST_COLUMNS, tellable
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


def usual(table: dp.Table) -> dp.Query | None:
    """All columns for the usual share, as the form starts; None where there is nothing to look at, or nothing left."""
    names = [name for name, column in table.schema.columns.items() if tellable(column)][:MOST_COLUMNS]
    if not names or not table.meter().unused:
        return None
    asked = table.query("overview", columns=names, against=[], epsilon="1")
    spent = spend_of(table, asked)
    return None if spent is None else asked.at(Fraction(spent))


def spend_of(table: dp.Table, query: dp.Query) -> str | None:
    """The ε at which it takes the usual share, to three figures and no more than that; None where nothing is left."""
    found = table.at_share(query, usual_share(table))
    if found is None:
        return None
    exact = decimal_of(found.epsilon)
    return text_of(Fraction(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_FLOOR)))


def link(table: dp.Table) -> None:
    if told := label(table):
        st.page_link(nav.page("board"), label=told, query_params={"table": table.name})
