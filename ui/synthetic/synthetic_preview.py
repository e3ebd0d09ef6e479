"""What a synthetic table will be worth, from public facts: what is measured, how exactly, and what is fitted."""

from __future__ import annotations

import math
from html import escape

import streamlit as st

from dpengine.core.printed import chance
from dpengine.mechanisms.synthetic.plans import CHOSEN, MIXED
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.messages import say
from dpengine.messages.numbers import local

MUCH = 0.15  # of the rows in other cells: then it is said


def show(query: SyntheticTable) -> None:
    off = query.off_by_noise()
    told = say("synthetic_page.off_much" if off > MUCH else "synthetic_page.off", off=local(f"{100 * off:.2g}"))
    told += f" {say('synthetic_page.off_rows')}" if query.counts_rows else ""
    lines = [say("synthetic_page.fitted"), rows_words(query)]
    st.html(
        f"<h2>{escape(say('publish_page.worth'))}</h2><p><b>{escape(promised(query))}</b></p>"
        f'<p class="{"warn" if off > MUCH else "muted"}">{escape(told)}</p>'
        + "".join(f'<p class="muted">{escape(line)}</p>' for line in lines)
    )
    good_for()


def promised(query: SyntheticTable) -> str:
    """What is measured, and within which ranges; the widest, and the widest of a single column."""
    singles = [query.reach((place,)) for place in range(len(query.axes))]
    all_chosen = query.plan == MIXED and query.turns == query.choices
    kept = "_keep" if query.keep and query.plan == CHOSEN else "_all" if all_chosen else ""
    return say(
        f"synthetic_page.promised.{query.plan}{kept}",
        of=say(f"synthetic_page.of_{query.counted}"),
        keep=query.keep,
        sets=len(query.sets),
        widest=math.ceil(max(query.reach(part) for part in query.sets)),
        single=math.ceil(max(singles)),
        cells=query.told_cells,
        chance=chance(query.beta),
        pair=math.ceil(max(query.reach(part) for part in query.sets if len(part) == 2)),
        turns=query.turns,
        parts=query.choices,
    )


def rows_words(query: SyntheticTable) -> str:
    if query.layout.known:
        rows = query.rows_made([])
        return say("synthetic_page.rows_known" if rows == query.facts.people else "synthetic_page.rows_most", rows=rows)
    return say("synthetic_page.rows_noisy")


def good_for() -> None:
    good, bad = say("synthetic_page.good"), say("synthetic_page.bad")
    st.html(f"<h2>{escape(say('synthetic_page.good_title'))}</h2><p>{escape(good)}</p><p>{escape(bad)}</p>")
