"""Answers at a glance: a line each, with the figure, its range and what it took. It reads the ledger alone."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.column_fit import Fits
from dpengine.asking.statement import sentence_of
from dpengine.declared.schema import Column
from dpengine.mechanisms.counts.fit_checks import FITS
from dpengine.messages import say
from ui.parts import fitting, history
from ui.shell.state import workspace
from ui.words import prices

FEWEST = 3  # fewer are seen anyway
MOST = 30
_KEPT = 10_000
_columns: dict[tuple[str, str], tuple[tuple[str, Column], ...]] = {}  # by the rows of a charge and its answer


def show(table: dp.Table) -> None:
    """The newest, above the cards."""
    entries = table.history(MOST)
    if len(entries) < FEWEST:
        return
    known = {name: fitting.of_answers(name) for name in {entry.charge.table for entry in entries}}
    lines = "".join(_line(table, entry, known[entry.charge.table]) for entry in entries)
    st.html(f'{_STYLE}<h2>{escape(say("answers.glance", many=len(entries)))}</h2><ul class="glance">{lines}</ul>')


def _line(table: dp.Table, entry: dp.Entry, known: Fits) -> str:
    charge = entry.charge
    took = say("answers.glance_took", share=prices.took(table, entry))
    told = sentence_of(charge) if charge.table == table.name else f"{sentence_of(charge)} ({charge.table})"
    doubt = f"<em>{escape(found)}</em>" if (found := _doubt(entry, known)) else ""
    return (
        f'<li><a href="{history.answer_link(charge)}" target="_self">{escape(told)}</a>'
        f"<b>{escape(history.outcome(entry))}{doubt}</b><span>{escape(took)}</span></li>"
    )


def _doubt(entry: dp.Entry, known: Fits) -> str:
    """What a paid check says against it, where cells of its columns do not fit."""
    about = _about(entry)
    if about is None:
        return ""
    return " ".join(note for fit in known.all_of(about) if fit.checked and fit.state != FITS and (note := fit.note()))


def _about(entry: dp.Entry) -> tuple[tuple[str, Column], ...] | None:
    """The columns that an answer is about, as they were declared. Kept, because every answer would be read again at
    every click."""
    if entry.outcome is None:
        return None
    key = entry.charge.hash, entry.outcome.hash
    if key not in _columns:
        answer = workspace().answer_of(entry)
        if answer is None:
            return None
        if len(_columns) >= _KEPT:
            _columns.clear()
        declared = answer.query.facts.schema.columns
        _columns[key] = tuple((name, declared[name]) for name in sorted(answer.query.about()) if name in declared)
    return _columns[key]


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
