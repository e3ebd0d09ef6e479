"""Beside an average: that it is not what is typical, what a first look that was bought says of that, and one tap to the
question that tells it. From public facts and released figures alone."""

from __future__ import annotations

import math
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.released.look_groups import of_everyone
from ui.parts import preview
from ui.shell import nav
from ui.words import prices
from ui.words.markup import unmarked

MOSTLY = 0.5  # of all rows in one bar: an average says little of them
_SAME = ("column", "where", "by")  # of the question, as far as both have it


def tell(table: dp.Table, answer: dp.Answer) -> None:
    kind = answer.query.typical
    if not kind:
        return
    told = " ".join((say("typical.told"), _looked(table, answer.query))).strip()
    st.html(f'<p class="muted" role="note">{escape(told)}</p>')
    if table.closed:
        return
    given = answer.query.parameters()
    query = table.suggested(kind, **{name: given[name] for name in _SAME if given.get(name)})
    if query is not None:
        share = table.preview(query, checked=True).share
        label = say("typical.ask", question=query.card.noun, share=prices.takes(table, share))
        st.page_link(nav.page("ask"), label=unmarked(label), query_params=preview.opening(table, query))


def _looked(table: dp.Table, query: dp.Query) -> str:
    """Where most rows are, as far as the newest first look says."""
    given = query.parameters()
    found = next(iter(table.first_looks(1)), None)
    if found is None or given.get("where") or given.get("by") or given["column"] not in found.value.columns:
        return ""
    look, column = found.value, str(given["column"])
    if column in look.query.items:
        return ""
    shares = of_everyone(look, column)
    place = max(range(len(shares)), key=lambda one: shares[one].low or 0)
    least = shares[place].low or 0
    if least < MOSTLY:
        return ""
    name = look.query.cell_names(look.place(column))[place]
    return say("typical.look", share=math.floor(least * 100), bar=name)
