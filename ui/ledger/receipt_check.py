"""“Check a receipt”: a file somebody brings, compared with this workspace's ledger. Nothing of it is kept."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import sentence_of
from dpengine.asking.receipts import MOST_BYTES, Finding
from dpengine.messages import say
from dpengine.messages.language import current
from ui.parts.history import outcome
from ui.shell import room
from ui.shell.frame import broken, fine
from ui.shell.incoming import here
from ui.shell.state import workspace
from ui.words import gloss

MOST_TOLD = 20
_FOUND = "receipt-findings"


def show() -> None:
    if room.on():  # nobody uploads anything in a workshop
        return
    with st.container(key="card-receipt"):
        st.html(f'<h2>{escape(say("receipt.check"))}</h2><p class="muted">{gloss.text(say("receipt.check_lead"))}</p>')
        file = here.picker(say("receipt.file"), key="receipt-file", max_upload_size=MOST_BYTES // 2**20)
        if file is None:
            return
        try:
            found = _findings(file)
        except dp.AllowanceError as complaint:
            broken(say("receipt.unread"), str(complaint))
            return
        tell(found)


def _findings(file: st.runtime.uploaded_file_manager.UploadedFile) -> list[Finding]:
    """A walk over the whole ledger: once for each file and each state of the ledger, not on every click elsewhere."""
    mark = (file.file_id, workspace().ledger.head(), current())
    known = st.session_state.get(_FOUND)
    if known is None or known[0] != mark:
        with st.spinner(say("receipt.checking")):
            known = (mark, workspace().check_receipts(here.content(file, MOST_BYTES), file.name))
        st.session_state[_FOUND] = known
    found: list[Finding] = known[1]
    return found


def tell(found: list[Finding]) -> None:
    """One receipt in full; for several, how many are verified and which are not."""
    bad = [one for one in found if not one.ok]
    if len(found) > 1 and bad:
        broken(say("receipt.some_bad", bad=len(bad), count=len(found)), "")
    elif len(found) > 1:
        fine(say("receipt.all_good", count=len(found)))
        told = "".join(f"<li>{escape(_answered(one))}</li>" for one in found[:MOST_TOLD])
        st.html(f'<ul class="muted">{told}</ul>')
        return
    for one in (bad or found)[:MOST_TOLD]:
        if one.ok:
            fine(say("receipt.genuine", answer=_answered(one)))
            st.html(f'<p class="muted">{escape(say("receipt.good", name=one.name))} {escape(one.sentence)}</p>')
            continue
        broken(say("receipt.bad", name=one.name), one.sentence)
        if len(one.differences) > 1:
            told = "".join(f"<li>{escape(line)}</li>" for line in one.differences[:MOST_TOLD])
            st.html(f'<ul class="muted">{told}</ul>')
    if len(bad) > MOST_TOLD:
        st.html(f'<p class="muted">{escape(say("receipt.more", more=len(bad) - MOST_TOLD))}</p>')


def _answered(one: Finding) -> str:
    """The question of a receipt that holds, and its figure, both from the ledger."""
    entry = workspace().ledger.find(one.request)
    assert entry is not None  # it holds: the charge was found there
    question = say("answer.of", sentence=sentence_of(entry.charge), table=entry.charge.table)
    return say("receipt.answered", question=question, answer=outcome(entry))
