"""One answer as a card: what it says, its picture, what it took; to pick, to copy, to take away."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import sentence_of
from dpengine.ledger.rows import questions_of
from dpengine.messages import say
from ui.answers import picked
from ui.parts import answer, card, history
from ui.pictures import camera
from ui.shell.state import workspace
from ui.words import model_words, prices


def show(table: dp.Table, entry: dp.Entry) -> None:
    key = f"answer-{entry.charge.seq}"
    with st.container(key=f"card-{key}"):
        aside = say("answers.took", share=prices.took(table, entry), at=history.when(entry.charge.at))
        if (found := _answer(entry)) is None:
            _without(entry, aside)
            return
        st.html(card.words(found, aside=aside))
        good = model_words.measured(found, table.checks()) if found.path is not None else ""
        if good:
            st.html(f"<p>{escape(good)}</p>")
        if found.query.answer_kind in answer.READ_ON:
            answer.read_on(found)
        else:
            short = entry.charge.hash[:8]
            question = say("answer.of", sentence=found.sentence, table=entry.charge.table)
            with camera.takes(f"answer-{short}", say("answers.picture", question=question, receipt=short)):
                answer.picture(found, key)
        picked.pick(table, entry, found)
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover(say("answers.copy"), key=f"copy-{key}"):
                st.code(f"{card.sentence(found)} {good}".strip(), language=None, wrap_lines=True)
            st.html(history.receipt_link(history.answer_link(entry.charge), entry.charge.hash), width="content")
        answer.receipt(found, key)


def _answer(entry: dp.Entry) -> dp.Answer | None:
    """Nothing where there is none, or where it is a session, which has a page of its own."""
    if questions_of(entry.charge.claim) is not None:
        return None
    return workspace().answer_of(entry)


def _without(entry: dp.Entry, aside: str) -> None:
    """A session, a charge that is still being answered, or one that never was."""
    charge = entry.charge
    question = say("answer.of", sentence=sentence_of(charge), table=charge.table)
    st.html(
        f"<p class='question'>{escape(question)} <span class='took'>{escape(aside)}</span></p>"
        f'<p class="headline">{escape(history.outcome(entry))}</p>'
        f"<p>{history.receipt_link(history.answer_link(charge), charge.hash)}</p>"
    )
