"""This year and last year, on Answers: the same figures of two tables side by side, and what a person in both is
promised. Free."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.amounts import BETA
from dpengine.core.errors import AllowanceError
from dpengine.core.printed import chance, power_of_ten
from dpengine.messages import say
from dpengine.released.compare import Stated
from dpengine.released.years import AcrossTables
from ui.answers.picked import printed_figure
from ui.shell.frame import hint, paragraph
from ui.shell.state import open_table, workspace
from ui.shell.style import sheet


def show(table: dp.Table) -> None:
    """Pick another table with some of the same columns."""
    others = _others(table)
    if not others:
        return
    with st.expander(say("years.title"), expanded=bool(st.session_state.get("years-with"))):
        paragraph(say("years.lead"))
        none = say("years.none")
        picked = st.selectbox(say("years.with"), ["", *others], 0, lambda name: name or none, key="years-with")
        if picked:
            with suppress(AllowanceError):  # removed meanwhile
                _compared(table, open_table(picked))


def _others(table: dp.Table) -> list[str]:
    found = []
    for name, _ in workspace().names():
        with suppress(AllowanceError):
            if name != table.name and {*open_table(name).schema.columns} & {*table.schema.columns}:
                found.append(name)
    return found


def _compared(table: dp.Table, other: dp.Table) -> None:
    pairs = table.beside(other)
    if not pairs:
        hint(say("years.nothing", table=table.name, other=other.name))
    else:
        head = [say("years.question"), other.name, table.name, say("years.difference"), ""]
        rows = "".join(_row(pair) for pair in pairs)
        titles = "".join(f"<th>{escape(title)}</th>" for title in head)
        table_html = f'<table class="plain compared"><tr>{titles}</tr>{rows}</table>'
        st.html(f'{_STYLE}<div class="scroll" tabindex="0">{table_html}</div>')
        paragraph(say("years.claim", chance=chance(BETA)))
    both = table.person_in_both(other)
    code = "years.shared" if both.shared else f"years.both.{both.relation}"
    paragraph(say(code, epsilon=both.epsilon, delta=power_of_ten(both.delta)), "read")


def _row(pair: AcrossTables) -> str:
    question = f"{pair.question} {pair.part}".strip()
    cells = [_figure(pair.first.stated), _figure(pair.second.stated), _figure(pair.difference)]
    note = "" if pair.beta is None else f" {say('years.alone', chance=chance(pair.beta))}"
    word = say("years.differs" if pair.different else "years.maybe_same") + note
    shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f"<tr><td>{escape(question)}{_picture(pair)}</td>{shown}<td>{escape(word)}</td></tr>"


def _figure(stated: Stated) -> str:
    value, low, high = printed_figure(stated)
    return say("compare.figure", value=value, low=low, high=high)


def _picture(pair: AcrossTables) -> str:
    """Two ranges on one line, the other table's above: only what was released."""
    first, second = pair.first.stated, pair.second.stated
    low, high = min(first.low, second.low), max(first.high, second.high)
    wide = (high - low) or Fraction(1)

    def at(value: Fraction) -> float:
        return round(float((value - low) / wide) * 100, 1)

    lines = ""
    for stated, name in ((first, "other"), (second, "this")):
        bar = f'<i style="left:{at(stated.low)}%;width:{max(at(stated.high) - at(stated.low), 0.5)}%"></i>'
        lines += f'<span class="{name}">{bar}<b style="left:{at(stated.value)}%"></b></span>'
    return f'<div class="year-ranges" aria-hidden="true">{lines}</div>'


_STYLE = sheet("answers/years")
