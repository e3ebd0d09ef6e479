"""Answers at a glance: a line each, with the figure, its range and what it took. It reads the ledger alone."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import sentence_of
from dpengine.messages import say
from ui.parts import fitting, history
from ui.words import prices

FEWEST = 3  # fewer are seen anyway
MOST = 30


def show(table: dp.Table) -> None:
    """The newest, above the cards."""
    entries = table.history(MOST)
    if len(entries) < FEWEST:
        return
    lines = "".join(_line(table, entry) for entry in entries)
    st.html(f'{_STYLE}<h2>{escape(say("answers.glance", many=len(entries)))}</h2><ul class="glance">{lines}</ul>')


def _line(table: dp.Table, entry: dp.Entry) -> str:
    charge = entry.charge
    took = say("answers.glance_took", share=prices.took(table, entry))
    told = sentence_of(charge) if charge.table == table.name else f"{sentence_of(charge)} ({charge.table})"
    return (
        f'<li><a href="{history.answer_link(charge)}" target="_self">{escape(told)}</a>'
        f"<b>{escape(history.outcome(entry))}{fitting.in_short_html(entry)}</b><span>{escape(took)}</span></li>"
    )


_STYLE = """<style>
[data-testid="stHtml"] ul.glance { list-style: none; margin: 0 0 1rem 0; padding: 0;
  border-top: 1px solid var(--line); }
[data-testid="stHtml"] ul.glance li { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 4fr) auto;
  gap: 0 1.2rem; align-items: baseline; margin: 0; padding: 0.3rem 0; border-bottom: 1px solid var(--line); }
ul.glance a, ul.glance b { overflow-wrap: anywhere; }
ul.glance b { font-weight: 600; }
ul.glance em { display: block; font-style: normal; font-weight: 400; color: var(--take); }
ul.glance span { color: var(--take); white-space: nowrap; }
@media (max-width: 640px) {
  [data-testid="stHtml"] ul.glance li { grid-template-columns: minmax(0, 1fr) auto; }
  ul.glance a { grid-column: 1 / -1; }
}
</style>"""
