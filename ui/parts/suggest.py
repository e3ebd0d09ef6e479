"""“Five questions this table can answer”, priced, for somebody who has just arrived."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.parts import plan_state, preview
from ui.shell import nav
from ui.words import prices
from ui.words.markup import unmarked


def show(table: dp.Table) -> None:
    found = table.suggestions()
    if not found:
        return
    plan = plan_state.current(table)
    st.html(f"<h2>{escape(say('suggest.title'))}</h2>")
    with st.container(key="suggest", horizontal=True):
        for place, best in enumerate(found):
            price = table.preview(best, checked=True)
            with st.container(key=f"card-suggest-{place}", width=310):
                st.page_link(
                    nav.page("ask"), label=unmarked(best.sentence()), query_params=preview.opening(table, best)
                )
                st.html(
                    f'<span class="muted">{escape(price.promise.short(best))}</span><br>'
                    f'<span class="take-words">{escape(prices.takes(table, price.share))}</span>'
                )
                if plan.holds(best):
                    st.html(f'<p role="status"><b class="whole">✓</b> {escape(say("plan.holds"))}</p>')
                    continue
                st.button(say("plan.add"), key=f"suggest-add-{place}", on_click=plan_state.add, args=(table, best))
