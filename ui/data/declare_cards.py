"""Which columns, and what can be in each: a card per column, prefilled from its name and from nothing else."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.declared.unit import read_relation
from dpengine.messages import say
from ui.data import declare_draft as drafts
from ui.data import declare_kinds as kinds
from ui.data import declare_price as price
from ui.data.declare import complain, heading, kept, onwards, problem, reconsider
from ui.data.declare_column import KEPT, KINDS, UNKNOWN, column_of
from ui.data.declare_draft import Draft
from ui.words.markup import unmarked

MOST_PILLS = 60


def choose(draft: Draft) -> None:
    heading("data.columns")
    with st.container(key="card-columns"):
        pick(draft)
        if draft.chosen:
            draft.complaint = None
        complain(draft)

    def check() -> None:
        if not draft.chosen:
            raise AllowanceError("schema.empty")

    if onwards(draft, check):
        draft.forth()
        st.rerun()


def pick(draft: Draft) -> None:
    """The columns that can be asked about, of which some are chosen; the one that says who is who is not offered."""
    before = [name for name in draft.names if name in draft.chosen]
    asked = [name for name in draft.names if name in before or draft.many != "more" or name != draft.who]
    key = kept(f"{draft.mark}-columns", before)
    if len(asked) <= MOST_PILLS:
        picked = st.pills(say("data.columns.label"), asked, selection_mode="multi", format_func=unmarked, key=key)
    else:
        picked = st.multiselect(say("data.columns.label"), asked, key=key)
    draft.chosen = [name for name in draft.names if name in picked]
    told = say("data.columns.left_out", chosen=len(draft.chosen), left_out=len(asked) - len(draft.chosen))
    st.html(f'<p class="muted">{escape(told)}</p>')


def describe(draft: Draft) -> None:
    heading("data.cards")
    cards(draft)
    st.html(f'<p class="muted">{escape(say("data.cards.unknown"))}</p>')
    if onwards(draft, lambda: settled(draft)):
        draft.forth()
        st.rerun()


def settled(draft: Draft) -> None:
    """Every card can be used."""
    try:
        drafts.schema(draft)
    except AllowanceError as complaint:  # told at its card
        if complaint.code == "schema.empty":
            raise AllowanceError("data.cards.all_unknown") if draft.unknown else complaint from None
        raise AllowanceError("data.cards.mend") from None


def cards(draft: Draft) -> None:
    for name in draft.chosen:
        with st.container(key=f"card-column-{draft.names.index(name)}"):
            _card(draft, name)
    reconsider(draft, lambda: settled(draft), "data.cards.", "schema.empty")
    complain(draft)


def _card(draft: Draft, name: str) -> None:
    card, at = draft.card(name), f"{draft.mark}-{draft.names.index(name)}"
    note = say("data.card.suggested") if card.suggested else ""
    st.html(f'<h2>{escape(name)}</h2><p class="muted">{escape(note)}</p>')
    card.kind = st.segmented_control(
        say("data.card.kind"),
        [*KINDS, *([KEPT] if card.kept else []), UNKNOWN],
        key=kept(f"{at}-kind", card.kind),
        format_func=lambda one: say(f"data.kind.{one}"),
        required=True,
    )
    if card.kind == UNKNOWN:
        told = say("data.card.unknown_below" if draft.step == "change" else "data.card.unknown")
        st.html(f'<p class="price">{escape(told)}</p>')
        return
    if card.kind in kinds.ASK:
        kinds.ASK[card.kind](card, at)
    try:
        column = column_of(card, draft.dialect)
    except AllowanceError as complaint:
        if not card.blank or draft.pressed:
            problem(str(complaint))
        return
    told = price.of_column(column, drafts.unit(draft), read_relation(draft.relation), draft.people)
    st.html(f'<p class="price">{escape(told)}</p>')
