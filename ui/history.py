"""What was asked before, newest first: free to look at again."""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode

import streamlit as st

import dpengine as dp
from dpengine.entries import Charge
from dpengine.messages import say
from ui.wording import in_short, percent


def show(table: dp.Table, limit: int = 10) -> None:
    entries = table.history(limit)
    if not entries:
        return
    st.html(f"<h3>{escape(say('history.title'))}</h3>{rows_html(table, entries)}")


def rows_html(table: dp.Table, entries: list[dp.Entry]) -> str:
    cap = table.budget.rule.epsilon
    rows = []
    for entry in entries:
        charge = entry.charge
        when = charge.at[:16].replace("T", " ")
        rows.append(
            f"<tr><td>{escape(when)}</td><td>{escape(charge.claim['sentence'])}</td><td>{escape(outcome(entry))}</td>"
            f'<td class="number">{percent(charge.price / cap)}</td>'
            f'<td><a href="{answer_link(charge)}" target="_self"><code>{escape(charge.hash[:8])}</code></a></td></tr>'
        )
    titles = "".join(
        f'<th class="{"number" if name == "share" else ""}">{escape(say(f"history.{name}"))}</th>'
        for name in ("when", "question", "answer", "share", "receipt")
    )
    return f'<div class="scroll"><table class="plain"><tr>{titles}</tr>{"".join(rows)}</table></div>'


def answer_link(charge: Charge) -> str:
    """The address of an answer, fit for an HTML attribute: a table may be called “R&D #1”."""
    return escape("ask?" + urlencode({"table": charge.table, "answer": charge.request}), quote=True)


def outcome(entry: dp.Entry) -> str:
    if entry.outcome is None:
        return say("history.pending")
    if entry.outcome.kind != "answer":
        return say("history.failed")
    return in_short(entry.outcome.body["value"], entry.outcome.body["interval"])
