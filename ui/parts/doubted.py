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


def any_of(table: dp.Table, query: dp.Query) -> bool:
    """Does a paid check doubt a column of it?"""
    return not table.practice and bool(fitting.of_table(table.name).in_short(query))


def before(table: dp.Table, query: dp.Query) -> None:
    """Above the button that pays."""
    if table.practice or not (found := fitting.of_table(table.name).doubts(query)):
        return
    way = f'<a class="way" href="{nav.address("data", table.name, check="1")}" target="_self">'
    told = f"{escape(' '.join(found))} {way}{escape(say('fit.others.link'))}</a>"
    st.html(f'<p class="warn" role="status">{told}</p>')
    without(table, query, "doubted")


def without(table: dp.Table, query: dp.Query, key: str) -> None:
    """A link to the same question without numbers that may stand for “unknown”."""
    other = None if table.practice or table.closed else spared(table, query)
    if other is None:
        return
    label = say("fit.without", below=", ".join(below(table, query)))
    link = {name: one for name, one in preview.link(table, other).items() if name != "epsilon"}
    with st.container(key=f"{key}-without"):
        st.page_link(nav.page("ask"), label=unmarked(label), query_params=link)


def spared(table: dp.Table, query: dp.Query) -> dp.Query | None:
    """The same question about what lies below the end of the range, where a check found cells beyond it; None where
    there is none, or where it takes no condition."""
    where = [[name, "<", text_of(column.upper)] for name, column in _coded(table, query)]
    if not where:
        return None
    try:
        return table.query(query.card.key, **query.parameters() | {"where": [*query.where.as_json(), *where]})
    except dp.AllowanceError:
        return None


def below(table: dp.Table, query: dp.Query) -> list[str]:
    """What it is then asked about, in words."""
    return [
        say("fit.below", column=name, upper=measured(plain(column.upper), column.measure))
        for name, column in _coded(table, query)
    ]


def _coded(table: dp.Table, query: dp.Query) -> list[tuple[str, Number]]:
    names = fitting.of_table(table.name).coded(query)
    return [(name, one) for name in names if isinstance(one := table.schema[name], Number)]
