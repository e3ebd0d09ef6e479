"""What makes a first look more exact at the same price, one click each: fewer columns, fewer groups, merged values.

From public facts only: the values are the declared ones, and nobody knows who has them.
"""

from __future__ import annotations

from html import escape
from operator import itemgetter
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import two_figures
from dpengine.core.strict_json import canonical
from dpengine.declared.grouped import base
from dpengine.declared.merging import read_lookup
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.messages import called, plain, say
from ui.board import board_state
from ui.board.board_state import PLACE
from ui.parts import job
from ui.shell import nav
from ui.words.markup import unmarked

_OFFERED = 3


def show_gains(table: dp.Table, now: dict[str, Any], query: Overview) -> None:
    found = _gains(table, now, query)
    if not found:
        return
    st.html(f"<h2>{escape(say('board_page.gains'))}</h2>")
    for words, changed in found:
        st.page_link(
            nav.page("board"), label=unmarked(words), query_params=board_state.link(table, now | changed) | {"new": "1"}
        )


def _gains(table: dp.Table, now: dict[str, Any], query: Overview) -> list[tuple[str, dict[str, Any]]]:
    """Fewer groups in the longest columns, leaving one out, or fewer pairs: the largest gain first."""
    sizes = {base(ref): axis.size for ref, axis in zip(query.columns, query.axes, strict=True)}
    sizes |= {held.column: held.size for held in query.held if held.column}
    longest = sorted(sizes, key=lambda name: -sizes[name])
    able = board_state.can_be_coarser(table)
    rough = [name for name in longest if name in able and name not in now["coarse"]]
    options: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    if rough:
        options.append(("coarse", {"coarse": [*now["coarse"], *rough]}, {"columns": rough[:_OFFERED]}))
    if len(longest) > 1:
        name = longest[0]
        left_out = {"without": [*now["without"], name], "against": [other for other in now["against"] if other != name]}
        options.append(("without", left_out, {"column": name, "values": sizes[name]}))
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
    return [(words, changed) for _, words, changed in sorted(found, key=itemgetter(0))]


def promised(table: dp.Table, query: Overview, now: dict[str, Any]) -> Any:
    """The error of a bar with this form; None if it is refused."""
    return _amount(canonical([query.describe()["parameters"], _public(query), now]), table, now)


def _public(query: Overview) -> list[Any]:
    facts = query.facts
    return [facts.table, facts.schema.as_json(), facts.about, facts.relation, facts.unit.as_json()]


@st.cache_data(max_entries=500, show_spinner=False)
def _amount(facts: str, _table: dp.Table, _now: dict[str, Any]) -> Any:
    """Cached for all visitors: the key holds public facts only."""
    try:
        return board_state.query_of(_table, _now).promise().amount
    except dp.AllowanceError:
        return None


_PICKED = f"{PLACE}-picked"


def show_merge(table: dp.Table, chosen: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """The merged values, and fields to merge more; `gain` shows the gain."""
    able = [name for name in board_state.can_be_merged(table) if name in chosen]
    merged = {name: groups for name, groups in (given.get("merged") or {}).items() if name in able}
    st.session_state.pop(_PICKED, None)
    if not able:
        return {"merged": {}}
    with st.expander(say("board_page.merge"), expanded=bool(merged)):
        column = st.selectbox(say("board_page.column"), able, key=job.addressed_widget(PLACE, "merge-column"))
        groups = merged.get(column, [])
        taken = {value for _, values in groups for value in values}
        free = [label for label in table.schema.category(str(column)).labels if label not in taken]
        values = st.multiselect(
            say("board_page.merge_values"),
            free,
            key=job.addressed_widget(PLACE, f"merge-values-{column}"),
            format_func=called,
            placeholder=say("board_page.none"),
        )
        name = st.text_input(say("board_page.merge_name"), key=job.addressed_widget(PLACE, f"merge-name-{column}"))
        if len(values) > 1:
            st.session_state[_PICKED] = (str(column), [*groups, [name, values]])
        _looked_up(table, str(column))
    return {"merged": merged}


def _looked_up(table: dp.Table, column: str) -> None:
    """All groups at once from a pasted public list, such as districts and their regions."""
    pasted = st.text_area(
        say("board_page.lookup", column=unmarked(column)),
        key=job.addressed_widget(PLACE, f"lookup-{column}"),
        help=say("board_page.lookup_help"),
        height=120,
    )
    if not (pasted or "").strip():
        return
    try:
        found = read_lookup(str(pasted), table.schema.category(column))
    except dp.AllowanceError as complaint:
        st.html(f'<p class="warn" role="status">{escape(str(complaint))}</p>')
        return
    note = say("board_page.looked_up", groups=len(found.groups), alone=len(found.alone), strange=found.strange)
    st.html(f'<p class="muted" role="status">{escape(note)}</p>')
    st.session_state[_PICKED] = (column, found.as_json())


def gain(table: dp.Table, now: dict[str, Any], query: Overview) -> None:
    """A link that merges the chosen values, with the error before and after; and a link to undo each group."""
    before = query.promise().amount
    if picked := st.session_state.pop(_PICKED, None):
        column, groups = picked
        changed = now | {"merged": now["merged"] | {column: groups}}
        after = promised(table, query, changed)
        if after is None:
            st.html(f'<p class="warn">{escape(_refusal(table, changed))}</p>')
        else:
            words = {"column": column, "now": plain(before), "then": plain(after)}
            more = len(groups) > len(now["merged"].get(column, [])) + 1
            facts = {"groups": len(groups)} if more else {"values": groups[-1][1]}
            _link(table, say(f"board_page.{'lookup' if more else 'merge'}_gain", **words | facts), changed)
    for column, groups in now["merged"].items():
        for at, (name, values) in enumerate(groups):
            rest = groups[:at] + groups[at + 1 :]
            others = {other: kept for other, kept in now["merged"].items() if other != column}
            apart = say("board_page.merge_apart", group=name or ", ".join(values), column=column)
            _link(table, apart, now | {"merged": others | ({column: rest} if rest else {})})


def _link(table: dp.Table, words: str, changed: dict[str, Any]) -> None:
    st.page_link(nav.page("board"), label=unmarked(words), query_params=board_state.link(table, changed) | {"new": "1"})


def _refusal(table: dp.Table, now: dict[str, Any]) -> str:
    try:
        board_state.query_of(table, now)
    except dp.AllowanceError as complaint:
        return str(complaint)
    return ""
