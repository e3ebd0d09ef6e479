"""Rows for anybody: the first of them, and the files to download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.types import Arrow
from dpengine.messages import say
from ui.parts import exports
from ui.publish.publish_result import FIRST_ROWS, begins
from ui.words.markup import unmarked

MOST_IN_SHEET = 200_000  # rows of a spreadsheet


def _file(written: Callable[[Arrow], bytes], table: Callable[..., Arrow]) -> bytes:
    """Built when the button is clicked: a large table is not written on every run of the page."""
    return written(table())


def buttons(name: str, key: str, files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> None:
    """A button for each kind of file, the simplest highlighted: its label and its builder."""
    with st.container(horizontal=True):
        for end, (label, build) in files.items():
            kind = "primary" if end == "csv" else "secondary"
            exports.offer(unmarked(say(label)), build, f"{name}.{end}", f"{key}-{end}", type=kind)


def take_away(answer: dp.Answer, table: Callable[..., Arrow], in_sheet: int | None = None) -> None:
    """`table(many)` builds the first rows, `table()` all. With `in_sheet` rows, also as a spreadsheet if they fit."""
    name = f"synthetic-{answer.receipt['charge']['hash'][:8]}"
    first = table(FIRST_ROWS)
    rows = [["" if cell is None else str(cell) for cell in row.values()] for row in first.to_pylist()]
    files = {
        "csv": ("publish_page.csv", exports.table_csv),
        "parquet": ("publish_page.parquet", exports.table_parquet),
    }
    if in_sheet is not None and in_sheet <= MOST_IN_SHEET:
        files["xlsx"] = ("synthetic_page.excel", exports.table_sheet)
    st.html(f"<h2>{escape(say('publish_page.take'))}</h2>")
    st.html(begins(say("synthetic_page.begins"), list(first.column_names), rows))
    buttons(name, "synthetic", {end: (label, partial(_file, build, table)) for end, (label, build) in files.items()})
    st.html(f'<p class="muted">{escape(say("synthetic_page.may"))}</p>')
