"""What an answer could look like: drawn by the real mechanism on a made-up table, from public facts alone."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.canonical import canonical
from dpengine.mechanisms.card import CURVES
from dpengine.mechanisms.curves.density import Density
from dpengine.messages import say
from dpengine.messages.numbers import day
from dpengine.released.density_samples import heights
from ui.parts import curve_answer, density
from ui.pictures import charts, many
from ui.words.figures import pictured
from ui.words.wording import axis, from_zero

MOST_REHEARSED = 100  # values of a synthetic column that are drawn while somebody waits for the page


@st.cache_data(max_entries=200, show_spinner=False)
def _rehearsed(facts: str, times: int, _table: dp.Table, _query: dp.Query) -> list[Any]:
    """Kept by public facts only, so that a preview does not flicker: all visitors share this cache."""
    return [(one.value, one.interval) for one in _table.rehearse(_query, times)]


def _public(table: dp.Table, query: dp.Query) -> str:
    facts = table.facts
    return canonical([query.describe(), facts.schema.as_json(), facts.relation, facts.unit.as_json(), facts.about])


def show(table: dp.Table, query: dp.Query, key: str = "preview") -> None:
    """Dots for a number, bars or ranges for several, a tally for a choice."""
    title, alt = axis(query), say("preview.alt")
    if isinstance(query, Density):
        ((value, interval),) = _rehearsed(_public(table, query), 1, table, query)
        density.draw(query, heights(query, value), interval, f"chart-{key}", simulated=True)
        return
    if query.answer_kind in CURVES:
        if getattr(query, "points", 0) > MOST_REHEARSED:
            st.html(f'<p class="lead">{escape(say("preview.curve_long"))}</p>')
            return
        ((value, interval),) = _rehearsed(_public(table, query), 1, table, query)
        curve_answer.draw(query, value, interval, f"chart-{key}", simulated=True)
        return
    if labels := query.labels():
        if len(labels) > many.MOST_REHEARSED:
            st.html(f'<p class="lead">{escape(say("preview.many", parts=len(labels)))}</p>')
            return
        ((value, interval),) = _rehearsed(_public(table, query), 1, table, query)
        draw = charts.bars if from_zero(query) else charts.ranges
        draw(*pictured(query, value, interval), title, alt, f"chart-{key}", simulated=True)
        return
    drawn = [value for value, _ in _rehearsed(_public(table, query), 50, table, query)]
    if query.answer_kind == "label":
        names = [name for value in drawn for name in ([value] if isinstance(value, str) else value)]
        told = query.shown()
        ranked = dict.fromkeys(sorted(names, key=names.count, reverse=True))
        tally: dict[str, float] = {told.get(name, name): names.count(name) for name in ranked}
        charts.bars(tally, None, say("preview.times"), alt, f"chart-{key}", simulated=True)
    elif isinstance(drawn[0], str):  # days
        st.html(f'<p class="lead">{escape(say("preview.days", first=day(min(drawn)), last=day(max(drawn))))}</p>')
    else:
        charts.dots(drawn, title, alt, f"chart-{key}")


def link(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """A question as URL parameters of the Ask page."""
    told = {"table": table.name, "q": query.card.key}
    for name, value in query.with_noise("").parameters().items():
        told[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told
