"""A column that a paid check doubts, told before a question about it is paid for and beside its answer: with what was
found, and where numbers such as 999 may stand for “unknown”, the same question without them, one click away."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.core.printed import measured
from dpengine.declared.schema import Number
from dpengine.messages import plain, say
from ui.parts import fitting, preview
from ui.shell import nav
from ui.words.markup import unmarked


def before(table: dp.Table, query: dp.Query) -> None:
    """Above the button that pays."""
    if table.practice or not (found := fitting.of_table(table.name).doubts(query)):
        return
    way = f'<a class="way" href="{nav.address("data", table.name, check="1")}" target="_self">'
    told = f"{escape(' '.join(found))} {way}{escape(say('fit.others.link'))}</a>"
    st.html(f'<p class="warn" role="status">{told}</p>')
    without(table, query, "doubted")


def without(table: dp.Table, query: dp.Query, key: str) -> None:
    """A link to the same question about what lies below the end of the range, where that leaves such numbers out."""
    if table.practice or table.closed or not (names := fitting.of_table(table.name).coded(query)):
        return
    columns = [(name, one) for name in names if isinstance(one := table.schema[name], Number)]
    where = [*query.where.as_json(), *([name, "<", text_of(one.upper)] for name, one in columns)]
    try:
        other = table.query(query.card.key, **query.parameters() | {"where": where})
    except dp.AllowanceError:  # this question takes no condition
        return
    name, column = columns[0]
    label = say("fit.without", column=name, upper=measured(plain(column.upper), column.measure))
    link = {name: one for name, one in preview.link(table, other).items() if name != "epsilon"}
    with st.container(key=f"{key}-without"):
        st.page_link(nav.page("ask"), label=unmarked(label), query_params=link)
