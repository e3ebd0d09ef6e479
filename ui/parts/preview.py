"""How accurate an answer will be, as a picture: the width of its error bar, from public facts alone. Nothing in it
could be taken for a result: no names, no figures of the table, bars of one length."""

from __future__ import annotations

import json
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.mechanisms.card import CURVES
from dpengine.messages import say
from ui.parts import form
from ui.pictures import error_bar
from ui.words import gloss
from ui.words.wording import from_zero


def heading(query: dp.Query | None) -> None:
    """What stands below, and that it is no answer."""
    title, lead = "preview.title", "preview.lead"
    if query is None:
        lead = "preview.none"
    elif query.answer_kind == "label":
        title, lead = "preview.title_name", "preview.lead_name"
    st.html(f'<p><b>{escape(say(title))}</b></p><p class="muted">{gloss.text(say(lead))}</p>')


def show(query: dp.Query) -> None:
    """Grey ranges for a number or several, with what is written at their ends, as an answer is drawn; grey bars for
    several counts, as long as what the question can show; a grey band for a curve. A name has no error bar."""
    promise, many, written = query.promise(), max(len(query.labels()), 1), False
    share = float(promise.amount / (4 * query.coarse()))
    told = promise.short(query)
    if query.answer_kind in (*CURVES, "density"):
        words = say("preview.band", promise=told)
        picture = error_bar.line(share, words)
    elif query.answer_kind == "label":
        words = say("preview.name" if query.names_ordered else "preview.names", promise=told)
        picture = ""
    else:
        words = say("preview.one" if many == 1 else "preview.several", promise=told, many=many)
        ends = promise.ends(query) if many == 1 or not from_zero(query) else None
        picture = error_bar.bars(many, share, words) if ends is None else error_bar.ranges(many, ends, words)
        written = many == 1 and ends is not None  # then its ends say it all
    more = many - error_bar.MOST_BARS if query.answer_kind not in (*CURVES, "density", "label") else 0
    rest = f'<p class="muted">{escape(say("preview.more", more=more))}</p>' if more > 0 else ""
    lead = "" if written else f'<p class="lead">{escape(words)}</p>'
    st.html(f"{picture}{rest}{lead}")


def opening(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """The same at the price that it opens with, as the form holds it."""
    found = table.opening(query)
    return link(table, query if found is None else found.query)


def link(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """A question as URL parameters of the Ask page."""
    told = {"table": table.name, "q": query.card.key}
    for name, value in form.whole(query).items():
        told[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told


def back(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """For the address of a column's card: the question to come back to, where Ask asks it."""
    if form.STATE not in query.card.asked_on:
        return {}
    told = {name: one for name, one in link(table, query).items() if name not in ("table", "epsilon")}
    return {"then": json.dumps(told, ensure_ascii=False)}
