"""Start: one question about a made-up town, one click, one private answer."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent
from dpengine.messages import say
from ui.parts import answer, job, preview
from ui.pictures import charts
from ui.shell import frame, nav, tour
from ui.shell.state import open_table
from ui.words import gloss
from ui.workshop import workshop

table = open_table("town")
question = table.query("median", column="monthly_income", epsilon="0.1")
request = job.current_request()


def first_question() -> None:
    price = table.preview(question)
    if not table.recall(question):
        frame.show_price(table, price)
    lead = say("start.lead", people=table.facts.about)
    st.html(f'<h1>{escape(say("start.title"))}</h1><p class="lead">{escape(lead)}</p>')
    with st.container(key="card-start"):
        st.html(f'<p class="muted">{gloss.text(say("start.fifty"))}</p>')
        values = preview.fifty(table, question)
        charts.dots(values, "monthly_income", say("start.fifty_alt"), "start-dots")
        paid = table.recall(question)
        if paid:
            st.html(f'<p class="muted">{escape(say("start.again"))}</p>')
            st.button(
                say("start.button"), key="start-free", type="primary", on_click=job.revisit, args=(table, paid[-1])
            )
        elif price.admissible:
            with st.container(horizontal=True, vertical_alignment="center"):
                job.ask_button(say("start.button"), table, question, "start-ask")
                st.html(f'<span class="take-words">{escape(say("takes", share=percent(price.share)))}</span>')
        else:
            job.refused(workshop.exhausted())


def after(found: dp.Answer) -> None:
    frame.show_price(table, None)  # again: it may have been charged after the frame was drawn
    st.html(f'<h1 class="sr">{escape(say("start.title"))}</h1>')
    answer.show(found)
    workshop.truth_beside(found)
    st.html(f"<h2>{escape(say('start.next'))}</h2>")
    for column, (title, key, parameters) in zip(st.columns(3), NEXT, strict=True):
        query = table.query(key, **parameters)
        price = table.preview(query)
        with column, st.container(key=f"card-next-{key}"):
            st.page_link(nav.page("ask"), label=say(title), query_params=preview.link(table, query))
            st.html(
                f'<span class="muted">{escape(price.promise.short(query))}</span><br>'
                f'<span class="take-words">{escape(percent(price.share))}</span>'
            )


NEXT: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("start.next.work", "top_item", {"column": "way_to_work", "epsilon": "0.05"}),
    ("start.next.car", "count", {"where": [["has_car", "in", ["yes"]]], "epsilon": "0.05"}),
    ("start.next.district", "histogram", {"column": "district", "epsilon": "0.1"}),
)

asked = job.look(request) if request else None
if asked is None or (asked.over and asked.answer is None):
    first_question()
elif asked.answer is not None:
    after(asked.answer)

if asked is None or asked.over:
    with st.container(horizontal=True, vertical_alignment="center"):
        first = tour.first_visit()
        if first:
            tour.offer()
        workshop.instead_of_data()
        if not first:  # there is enough to read
            st.page_link(nav.page("ask"), label=say("start.more"))
            st.page_link(nav.page("whatif"), label=say("start.whatif"))
