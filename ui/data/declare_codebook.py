"""A code book pasted from a spreadsheet fills many columns at once: a row says a column, a value of it, and its label.

Cells may be parted by tabs, semicolons or commas; a first row of headings and names of columns left blank (as merged
cells paste) are understood. What it will do is shown before, and undone column by column.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field, replace
from html import escape

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.spelling import MISSING, normal
from dpengine.messages import plain, say
from ui.data import declare_lines as lines
from ui.data.declare import problem
from ui.data.declare_column import Card, column_of, listed
from ui.data.declare_draft import Draft

LONGEST = 1_000_000  # signs
_HEADINGS = "column columns variable field name attribute stolpec spremenljivka polje ime spalte variable_name".split()
SHOWN = 4


@dataclass
class Codebook:
    columns: dict[str, str] = field(default_factory=dict)  # for each column, its list as a card takes it
    strangers: list[str] = field(default_factory=list)  # columns that the file does not have
    odd: list[str] = field(default_factory=list)  # columns whose values a list cannot hold


def read(text: str, names: list[str]) -> Codebook:
    """What a pasted text says of these columns."""
    if len(text) > LONGEST:
        raise AllowanceError("data.codebook.long", most=LONGEST)
    found, known = Codebook(), {normal(name): name for name in reversed(names)}
    values: dict[str, dict[str, list[str]]] = {}
    column = ""
    for place, row in enumerate(_rows(text)):
        first = row[0] or column
        if place == 0 and normal(first) in _HEADINGS and normal(first) not in known:
            continue
        if not first or len(row) < 2 or not row[1]:
            raise AllowanceError("data.codebook.form")
        column = first
        label = row[2] if len(row) > 2 and row[2] else row[1]
        values.setdefault(column, {}).setdefault(label, []).append(row[1])
    if not values:
        raise AllowanceError("data.codebook.form")
    for column, labels in values.items():
        if normal(column) not in known:
            found.strangers.append(column)
            continue
        told = _listed(labels)
        if told is None:
            found.odd.append(column)
        else:
            found.columns[known[normal(column)]] = told
    return found


def _rows(text: str) -> list[list[str]]:
    rows = [line for line in text.splitlines() if line.strip()]
    sign = next((sign for sign in "\t;" if sum(sign in line for line in rows) * 2 > len(rows)), ",")
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(rows)), delimiter=sign)]
    except csv.Error:
        raise AllowanceError("data.codebook.form") from None


def _listed(labels: dict[str, list[str]]) -> str | None:
    """A line for each label, with its codes; None where a card would read something else."""
    codes = {code: label for label, given in labels.items() for code in given if normal(code) != normal(label)}
    told = []
    for label, given in labels.items():
        others = [code for code in given if normal(code) != normal(label)]
        told.append(" = ".join([label, ", ".join(others)]) if others else label)
    text = "\n".join(told)
    try:
        if len(told) < 2 or listed(text) != (list(labels), codes):
            return None
        column_of(Card("list", listed=text), Dialect())
    except AllowanceError:
        return None
    return text


def offer(draft: Draft) -> None:
    with st.expander(say("data.codebook.title")):
        st.html(f'<p class="muted">{escape(say("data.codebook.lead"))}</p>')
        key = f"{draft.mark}-codebook"
        text = st.text_area(say("data.codebook.label"), key=key, height=150, placeholder=say("data.codebook.example"))
        if not (text or "").strip():
            return
        try:
            found = read(text, draft.offered)
        except AllowanceError as complaint:
            problem(str(complaint))
            return
        _preview(found)
        label = say("data.codebook.fill", many=len(found.columns))
        off = not found.columns
        st.button(label, key=f"{key}-fill", on_click=_fill, args=(draft, found, key), disabled=off, type="primary")


def _preview(found: Codebook) -> None:
    told = []
    for name, text in found.columns.items():
        values = listed(text)[0]
        first = plain([*values[:SHOWN], *(["…"] if len(values) > SHOWN else [])])
        told.append(say("data.codebook.one", column=name, many=len(values), first=first))
    if found.strangers:
        told.append(say("data.codebook.strangers", columns=found.strangers[:SHOWN], many=len(found.strangers)))
    if found.odd:
        told.append(say("data.codebook.odd", columns=found.odd[:SHOWN]))
    st.html("<ul>" + "".join(f"<li>{escape(one)}</li>" for one in told) + "</ul>")


def _fill(draft: Draft, found: Codebook, key: str) -> None:
    for name, text in found.columns.items():
        draft.remember(name)
        card = draft.card(name)
        fresh = Card("list", listed=text, spellings=MISSING, candidates=card.candidates, uploads=card.uploads)
        draft.cards[name] = replace(fresh, kept=card.kept)
        lines.fresh(draft, name)
    draft.opened = None
    st.session_state[key] = ""
