"""What would help where an answer would be mostly noise, each with its figures and one click away; strongest first."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import plain, say
from dpengine.planning.levers import Lever
from ui.parts import preview
from ui.shell import nav
from ui.words import prices
from ui.words.markup import unmarked


def show(table: dp.Table, query: dp.Query) -> None:
    found = table.levers(query)
    if not found:
        return
    st.html(f'<p class="muted">{say("lever.lead")}</p>')
    for one in found:
        asked = one.query if one.ends else _asked(table, one.query)
        told = _words(table, query, one, one.query if one.ends else table.cheapest(asked))
        words = unmarked(told)
        if one.ends is None:
            st.page_link(nav.page("ask"), label=words, query_params=preview.link(table, asked))
        elif not table.practice:
            st.page_link(nav.page("data"), label=words, query_params={"table": table.name, "change": "1"})
        else:
            st.html(f'<p class="muted">{escape(told)}</p>')


def _asked(table: dp.Table, query: dp.Query) -> dp.Query:
    """The same for the same price as a form holds it, which chooses the noise itself."""
    (share,) = table.prices([query])
    found = None if share is None else table.at_share(query.with_noise(""), share)
    return query if found is None else found


def _words(table: dp.Table, query: dp.Query, lever: Lever, then: dp.Query) -> str:
    told = {"now": query.promise().short(query), "then": then.promise().short(then)}
    if lever.ends is not None:
        before, after = (f"{plain(one.lower)}–{plain(one.upper)}" for one in lever.ends)
        return say("lever.range", column=query.answer_column, before=before, after=after, **told)
    if lever.kind == "groups":
        return say("lever.groups", question=lever.query.sentence(), **told)
    if lever.kind in ("bars", "top"):
        many = query.parameters().get("how_many") or 1
        return say(f"lever.{lever.kind}", question=lever.query.sentence(), many=many, **told)
    (share,) = table.prices([lever.query])
    return say("lever.spend", share=prices.takes(table, share or Fraction(0)), **told)
