"""Columns of which nobody knows what they hold: ranges and lists of all of them, bought together, and then used.

The offer is drawn from public facts; a click hands it to the worker, as on Ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.printed import percent
from dpengine.mechanisms.choices.drafted import Drafted
from dpengine.messages import say
from ui.data import declare_change as change
from ui.data import presets
from ui.parts import job
from ui.words import prices

SHARES = tuple(Fraction(part, 100) for part in (2, 5, 10, 20, 30, 50))
KINDS = ("number", "date", "list")
PARTS = {"number": "numbers", "date": "dates", "list": "lists"}  # where a question names them


def offer(table: dp.Table, first: Sequence[str] = ()) -> None:
    """`first` are chosen already."""
    declared = table.schema.columns
    names = [name for name in table.facts.header if name != table.facts.unit.id_column]
    names.sort(key=lambda name: name in declared)
    mark = ' class="arrived" tabindex="-1"' if first else ""
    st.html(f'<h2{mark}>{escape(say("data.found.title"))}</h2><p class="muted">{escape(say("data.found.lead"))}</p>')
    chosen = st.multiselect(
        say("data.found.columns"),
        names,
        [name for name in first if name in names],
        key="found-columns",
        placeholder=say("data.unit.who_none"),
    )
    if not chosen:
        return
    given: dict[str, Any] = {}
    for name in chosen:
        given.setdefault(PARTS[_kind(name)], []).append(name)
    if "lists" in given:
        given["delta"] = text_of(table.meter().delta_reserve / 10)
    _again(table, given)
    try:
        _priced(table, given, len(chosen))
    except AllowanceError as complaint:
        job.hint(say("data.buy.no_delta") if complaint.code == "delta.range" else str(complaint))


def _kind(name: str) -> str:
    """What the person takes a column for; its name may say."""
    idea = presets.suggest(name).kind
    usual = idea if idea in KINDS else "list"
    left, right = st.columns([2, 3], vertical_alignment="center")
    left.html(f"<p><b>{escape(name)}</b></p>")
    with right:
        picked = st.segmented_control(
            say("data.found.kind", column=name),
            KINDS,
            default=usual,
            key=f"found-kind-{name}",
            format_func=lambda kind: say(f"data.found.kind.{kind}"),
            label_visibility="collapsed",
            required=True,
        )
    return str(picked or usual)


def _again(table: dp.Table, given: dict[str, Any]) -> None:
    """A purchase that told of all these columns already: free to see again."""
    wanted = {(part, name) for part in PARTS.values() for name in given.get(part, [])}
    for answer in table.drafted():
        asked = answer.query.parameters()
        if wanted <= {(part, name) for part in PARTS.values() for name in asked.get(part, [])}:
            st.html(f'<p class="muted">{escape(say("ask.paid"))}</p>')
            st.button(say("ask.again_free"), key="found-again", on_click=job.revisit, args=(table, answer))
            return


def _priced(table: dp.Table, given: dict[str, Any], columns: int) -> None:
    asked = table.query("find_declarations", epsilon="1", **given)
    left = table.meter().unused
    opens = table.opening(asked)
    if opens is None:
        job.hint(say("data.found.nothing_fits"))
        return
    bought = {share: found for share in SHARES if share <= left and (found := table.at_share(asked, share))}
    usual = percent(opens.share)
    options = {percent(share): found for share, found in sorted({**bought, opens.share: opens.query}.items())}
    options[usual] = opens.query  # of two that are told alike
    picked = st.select_slider(say("data.found.spend"), list(options), usual, key=f"found-spend-{columns}")
    query: Any = options[picked]
    st.html(f"<p>{escape(query.worth())}</p>")
    price = table.preview(query)
    if not price.useful:
        job.hint(say("data.found.rough", people=table.facts.about))
    label = say("data.found.button", columns=columns, share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "buy-found", disabled=not price.admissible)


def then(table: dp.Table, answer: dp.Answer) -> None:
    """What was found may become declarations."""
    query: Any = answer.query
    drafts: list[Drafted] = query.drafts(answer.value, answer.interval)
    found = [one for one in drafts if one.usable]
    if not found:
        st.html(f'<p class="muted">{escape(say("data.found.nothing"))}</p>')
        return
    st.html(f'<p class="muted">{escape(say("data.found.use_means"))}</p>')
    if unused := [one.column for one in drafts if not one.usable]:
        st.html(f'<p class="muted">{escape(say("data.found.unused", columns=unused))}</p>')
    st.button(say("data.found.use"), key="found-use", type="primary", on_click=change.use_all, args=(table, found))
