"""Are the same people in another table here? Then both are asked on one allowance."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent_left
from dpengine.messages import say
from ui.data import declare_draft as drafts
from ui.data.declare import kept
from ui.data.declare_draft import Draft
from ui.shell.state import workspace


def show(draft: Draft) -> None:
    """Nothing where there is no other table."""
    names = offered(draft)
    if not names:
        draft.shares = ""
        return
    with st.expander(say("data.shared.title"), expanded=bool(draft.shares)):
        st.html(f'<p class="muted">{escape(say("data.shared.lead"))}</p>')
        draft.shares = (
            st.selectbox(
                say("data.shared.label"),
                ["", *names],
                key=kept("declare-shares", draft.shares if draft.shares in names else ""),
                format_func=lambda one: one or say("data.shared.none"),
            )
            or ""
        )
        if draft.shares:
            left = percent_left(workspace().table(draft.shares).meter().unused)
            told = say("data.shared.chosen", table=draft.shares, left=left)
            st.html(f'<p class="price" role="status">{escape(told)}</p>')


def offered(draft: Draft) -> list[str]:
    """Tables that take questions, under the same relation, whose people are told apart in the same way: only then does
    one ε say the same of both."""
    found, whose = [], drafts.unit(draft).as_json()
    for name, _ in workspace().names():
        try:
            table = workspace().table(name)
        except dp.AllowanceError:  # one that this person may not use
            continue
        facts = table.facts
        if not table.closed and facts.relation == draft.relation and facts.unit.may_share(whose):
            found.append(name)
    return found


def budget_of(draft: Draft) -> str | None:
    """The allowance that it joins; None where it has its own."""
    return workspace().table(draft.shares).budget.id if draft.shares else None
