"""What would help where an answer would be mostly noise, each with its figures and one click away; strongest first."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.messages import plain, say
from dpengine.planning.suggestions import Lever, without_codes
from ui.parts import fitting, preview
from ui.shell import nav
from ui.shell.state import may
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
            where = {"table": table.name, "change": "1", "open": query.answer_column} | preview.back(table, query)
            st.page_link(nav.page("data"), label=words, query_params=where)
        else:
            st.html(f'<p class="muted">{escape(told)}</p>')


def after_codes(table: dp.Table, query: dp.Query) -> None:
    """Below an answer: where a code that means “unknown” lies near the upper end of the range, the range may be that
    wide for the code alone. Not where a check found cells beyond it."""
    then, column = without_codes(query), table.schema.columns.get(query.answer_column)
    if then is None or not isinstance(column, dp.Number) or column != query.facts.schema[query.answer_column]:
        return
    fit = fitting.of_table(table.name).of(query.answer_column, column)
    if table.practice or table.closed or fit.doubted or fit.in_part or not may("revise", table.name):
        return
    codes = [text_of(code) for code in column.codes if code <= column.upper]
    told = say(
        "lever.codes",
        codes=codes,
        many=len(codes),
        column=query.answer_column,
        upper=plain(column.upper),
        now=_size(query),
        then=_size(then),
    )
    where = {"table": table.name, "change": "1", "open": query.answer_column} | preview.back(table, query)
    st.page_link(nav.page("data"), label=unmarked(told), query_params=where)


def _size(query: dp.Query) -> str:
    """How far off the answer may be, as it stands at the end of its error bar."""
    ends = query.promise().ends(query)
    return query.promise().size_for(query) if ends is None else f"±{ends[1].removeprefix('+')}"


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
