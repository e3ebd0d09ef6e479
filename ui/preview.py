"""What an answer could look like: drawn by the real mechanism on a made-up table, from public facts alone."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.contract import canonical
from dpengine.messages import say
from ui import charts


@st.cache_data(max_entries=200, show_spinner=False)
def _rehearsed(facts: str, times: int, _table: dp.Table, _query: dp.Query) -> list[Any]:
    """Kept by public facts only, so that a preview does not flicker: all visitors share this cache."""
    return [(one.value, one.interval) for one in _table.rehearse(_query, times)]


def _public(table: dp.Table, query: dp.Query) -> str:
    facts = table.facts
    return canonical([query.describe(), facts.schema.as_json(), facts.relation, facts.unit.as_json(), facts.about])


def fifty(table: dp.Table, query: dp.Query) -> list[float]:
    return [value for value, _ in _rehearsed(_public(table, query), 50, table, query)]


def show(table: dp.Table, query: dp.Query, key: str = "preview") -> None:
    """Dots for a number, bars with whiskers for a histogram, a tally for a choice."""
    column = getattr(query, "column", None) or say("chart.people")
    picture = query.card.picture
    if picture == "bars":
        ((value, interval),) = _rehearsed(_public(table, query), 1, table, query)
        charts.bars(value, interval, say("chart.people"), say("preview.alt"), f"chart-{key}", simulated=True)
        return
    drawn = _rehearsed(_public(table, query), 50, table, query)
    values = [value for value, _ in drawn]
    if picture == "label":
        ranked = dict.fromkeys(sorted(values, key=values.count, reverse=True))
        tally: dict[str, float] = {label: values.count(label) for label in ranked}
        charts.bars(tally, None, say("preview.times"), say("preview.alt"), f"chart-{key}", simulated=True)
    else:
        charts.dots(values, column, say("preview.alt"), f"chart-{key}")


def link(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """A question as URL parameters of the Ask page."""
    told = {"table": table.name, "q": query.card.key}
    for name, value in query.parameters().items():
        told[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told
