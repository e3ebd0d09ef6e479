"""Ask: the question as a sentence, what it costs and will be worth, then the answer."""

from __future__ import annotations

from functools import partial

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.ask import box, fit_warnings, form, form_state, preview, shown_answer, spend, trusted
from ui.data import change, people
from ui.parts import alone, history, job, owner, tables
from ui.several import plan
from ui.shell import frame
from ui.shell.frame import hint, paragraph
from ui.shell.state import current_table
from ui.words import prices
from ui.workshop import workshop

table = current_table()
frame.heard_head(say("page.ask"))
frame.pick_table(table, "ask")


def content(table: dp.Table) -> None:
    change.show_saved(table)  # whoever came back from there
    people.protection_result(table)
    request = st.query_params.get("answer")
    asked = job.look(request) if request else None
    if asked is not None and not asked.over:
        st.stop()
    refused = fit_warnings.refused(table, asked)
    if request and (later := job.newer(table, request)) is not None:
        history.point_to(later)
    above, requested = st.container(), asked.answer if asked is not None else None
    if requested is not None:
        frame.show_price(table, None)  # drawn again: the charge may have come after the frame
        st.divider()
    if table.closed:
        if requested is not None:
            shown_answer.show(above, table, requested, workshop.truth_beside)
        owner.closed(table)
        history.show(table)
        st.stop()
    read, kept = box.show(table, change.kinds), form_state.state(table)
    spend.start_from(table, kept["given"].get("epsilon"))
    key, given = form.sentence(table)
    form_state.show_not_here(table, kept, key)
    below = st.container(key="box-undone")
    spend.follow(table, key, given, key != kept["q"] or not kept["given"].get("epsilon"))
    answer = shown_answer.owned(table, key, given) if request is None else requested  # before anything is offered
    if answer is not None:
        above = st.container() if request is None else above  # nobody came for it: the sentence stays where it is
        shown_answer.show(above, table, answer, workshop.truth_beside, [key, given], owned=request is None)
        with above:
            tables.twin_note(table)
            form_state.anew(table, box.empty)
    job.only_covered(table, key, given)
    query = usual = price = None
    with st.container(key="card-spend"):
        left, right = st.columns([2, 1], gap="medium")
        with left:
            given["epsilon"] = spend.choose(table, trusted.at_steps(table, key, given))
            form_state.remember(table, key, given)
            box.follow(below, read, table, key, given)
            try:
                usual = table.query(key, **given, noise="")
                query = trusted.asked(table, usual) or table.cheapest(usual)
                price = table.preview(query, checked=True)
            except dp.AllowanceError as complaint:
                hint(str(complaint))
        # Noted at once, or the first change after an answer would pass for the form that the answer came with.
        changed = answer is None or shown_answer.composing(answer, [key, given])
        if query is not None and usual is not None and price is not None:
            just_answered = shown_answer.just_answered(answer, query, usual, [key, given], owned=request is None)
            looking = just_answered or not changed
            with left:
                if not looking:
                    frame.show_price(table, price)
                spend.describe(table, query, price, steps=not query.card.behind, answered=answer if looking else None)
                preview.show_both(table, query)
                preview.curve_alternative_note(table, usual)
            running = job.running(table, query)  # before what is paid: what ends in between is found there
            paid = table.recall(query)
            form_state.keep_draft(table, key, given, bool(paid))
            with right:
                if paid and not just_answered and request is not None:
                    paragraph(say("ask.paid"))
                    st.button(say("ask.again_free"), key="ask-free", on_click=job.revisit, args=(table, paid[-1]))
                elif running and not paid:
                    job.elsewhere(running)
                again = bool(paid or running or just_answered or (request is None and answer))
                label = say("ask.button_again" if again else "ask.button", share=prices.takes(table, price.share))
            with right if table.doubts(query) is None else left:
                if not fit_warnings.instead(table, query, quiet=refused is not None or looking):
                    if not looking and (useless := spend.useless(price)):
                        paragraph(useless, "warn")
                        spend.offer_useful(table, query)
                    bar = shown_answer.bar(looking, price.useful)
                    with st.container(horizontal=True, vertical_alignment="center", key=bar):
                        shown_answer.asked(table, query, just_answered)
                        kind, sure = shown_answer.kind(table, query, price), again or spend.sure(table, query, price)
                        job.ask_button(label, table, query, "ask-go", not price.admissible, kind, again=sure)
                        plan.add_button(table, query)
            plan.in_plan(table)
            if not price.admissible and not job.short(table, price):
                job.too_much(table, nothing=workshop.nothing_left)
            chosen = bool(query.card.behind)  # a link chose who adds the noise: show where
            spend.exactly(table, usual, beside=partial(preview.details, table, query, usual), expanded=chosen)
        if refusal := st.session_state.pop("refusal", None):
            job.refused(refusal)
    tables.remind_missing(table)
    if asked is None and form_state.note_beginning(key, given):  # whoever picks something else knows what to ask
        form_state.unfinished(table, usual)
        plan.show_suggestions(table, usual, for_plan=False)
    history.show(table)


alone.draw("ask", content)
