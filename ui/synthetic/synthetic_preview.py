"""What a synthetic table will be worth, from public facts: what it must answer, how it is made, and the other way."""

from __future__ import annotations

import json
from html import escape

import streamlit as st

from dpengine.core.exact import text_of
from dpengine.core.printed import chance, points
from dpengine.declared.condition_words import conditions
from dpengine.mechanisms.synthetic.multisets import how_many
from dpengine.mechanisms.synthetic.mwem import Mwem
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.mechanisms.synthetic.small_database import SmallDatabase
from dpengine.messages import plain, say
from ui.shell import nav

MOST_NAMED = 12  # conditions listed by name


def show(query: OfClass, both: dict[str, OfClass | str]) -> None:
    lines = [_class(query), _way(query)]
    other = next((one for key, one in both.items() if key != query.card.key), "")
    if isinstance(other, OfClass):
        lines.append(
            say(
                "synthetic_page.other",
                title=say(f"synthetic_page.way.{other.card.key}"),
                promise=other.promise().short(other),
            )
        )
    else:
        lines.append(other)
    better = query.plain_reach() < query.reach()
    code = "synthetic_page.plain_better" if better else "synthetic_page.plain"
    rival = say(code, cells=query.domain, points=points(query.plain_reach()))
    promised = query.promise().words(query)
    st.html(
        f"<p><b>{escape(say('synthetic_page.promise', promise=promised))}</b></p>"
        + "".join(f"<p>{escape(line)}</p>" for line in lines[:2])
        + f'<p class="{"warn" if better else "muted"}">{escape(rival)}</p>'
        + "".join(f'<p class="muted">{escape(line)}</p>' for line in [*lines[2:], *query.card.caveat_texts] if line)
    )
    if better and not query.queries and len(query.columns) <= 3:
        st.page_link(nav.page("ask"), label=say("synthetic_page.plain_link"), query_params=_counts(query))
    with st.expander(say("publish_page.figures")):
        told = [say("receipt.theorem", theorem=query.theorem), _figures(query)]
        st.html("".join(f'<p class="muted">{escape(line)}</p>' for line in told))


def _counts(query: OfClass) -> dict[str, str]:
    """The form on Ask filled in for counts of all combinations."""
    given = {"table": query.facts.table, "epsilon": text_of(query.epsilon)}
    if len(query.columns) == 1:
        return given | {"q": "histogram", "column": query.columns[0]}
    return given | {"q": "crosstab", "columns": json.dumps(list(query.columns), ensure_ascii=False)}


def _class(query: OfClass) -> str:
    """Which questions it must answer."""
    if not query.queries:
        code = "synthetic_page.marginals" if len(query.columns) > 1 else "synthetic_page.values"
        return say(code, many=query.many, columns=list(query.columns))
    named = [conditions(one) for one in query.queries[:MOST_NAMED]]
    return say("synthetic_page.own", many=query.many, named="; ".join(named))


def _way(query: OfClass) -> str:
    if isinstance(query, SmallDatabase):
        databases = how_many(query.domain, query.rows)
        each = plain(max(round(query.facts.about / query.rows), 1))
        return say("synthetic_page.small", rows=query.rows, databases=databases, each=each)
    assert isinstance(query, Mwem)
    return say("synthetic_page.learnt", rounds=query.turns, rows=query.rows)


def _figures(query: OfClass) -> str:
    told = {"cells": query.domain, "many": query.many, "chance": chance(query.beta)}
    if isinstance(query, SmallDatabase):
        return say("synthetic_page.figures.small", rows=query.rows, **told)
    assert isinstance(query, Mwem)
    total, each = query.shares
    code = "synthetic_page.figures.mwem_total" if total else "synthetic_page.figures.mwem"
    return say(code, rounds=query.turns, each=each, total=total, **told)
