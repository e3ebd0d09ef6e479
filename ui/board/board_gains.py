"""What would make a first look more exact at the same price, with its gain, one click away. From public facts."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import two_figures
from dpengine.core.strict_json import canonical
from dpengine.declared.grouped import base
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.messages import plain, say
from ui.board import board_state
from ui.shell import nav
from ui.words.markup import unmarked

_OFFERED = 3


def show(table: dp.Table, now: dict[str, Any], query: Overview) -> None:
    found = _gains(table, now, query)
    if not found:
        return
    st.html(f"<h2>{escape(say('board_page.gains'))}</h2>")
    for words, changed in found:
        st.page_link(
            nav.page("board"), label=unmarked(words), query_params=board_state.link(table, now | changed) | {"new": "1"}
        )


def _gains(table: dp.Table, now: dict[str, Any], query: Overview) -> list[tuple[str, dict[str, Any]]]:
    """The columns with the most groups in fewer, or left out, and no column of interest: what helps, most first."""
    sizes = {base(ref): axis.size for ref, axis in zip(query.columns, query.axes, strict=True)}
    sizes |= {one.column: one.size for one in query.held if one.column}
    longest = sorted(sizes, key=lambda name: -sizes[name])
    able = board_state.can_be_coarser(table)
    rough = [name for name in longest if name in able and name not in now["coarse"]]
    options: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    if rough:
        options.append(("coarse", {"coarse": [*now["coarse"], *rough]}, {"columns": rough[:_OFFERED]}))
    if len(longest) > 1:
        name = longest[0]
        told = {"without": [*now["without"], name], "against": [one for one in now["against"] if one != name]}
        options.append(("without", told, {"column": name, "values": sizes[name]}))
    if now["against"]:
        options.append(("alone", {"against": [], "three": ""}, {"columns": list(now["against"])}))
    if now.get("every"):
        if now.get("three"):
            options.append(("pairs", {"three": ""}, {}))
        options.append(("not_every", {"every": "", "three": ""}, {}))
    before = query.promise().amount
    found = []
    for code, changed, facts in options:
        after = promised(table, query, now | changed)
        if after is not None and after < before and two_figures(after) != two_figures(before):
            words = say(f"board_page.gain.{code}", now=plain(before), then=plain(after), **facts)
            found.append((after, words, changed))
    return [(words, changed) for _, words, changed in sorted(found, key=lambda one: one[0])]


def promised(table: dp.Table, query: Overview, now: dict[str, Any]) -> Any:
    """How far off a bar may be with the form filled in like this; None where that is refused."""
    return _amount(canonical([query.describe()["parameters"], _public(query), now]), table, now)


def _public(query: Overview) -> list[Any]:
    facts = query.facts
    return [facts.table, facts.schema.as_json(), facts.about, facts.relation, facts.unit.as_json()]


@st.cache_data(max_entries=500, show_spinner=False)
def _amount(facts: str, _table: dp.Table, _now: dict[str, Any]) -> Any:
    """How far off a bar may be with the form filled in like this; the key holds public facts only."""
    try:
        return board_state.query_of(_table, _now).promise().amount
    except dp.AllowanceError:
        return None
