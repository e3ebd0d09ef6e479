"""Rows that may be given to anybody: how they begin, and the files to take away."""

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
    """Made when the button is clicked: a large table is not written anew on every run of the page."""
    return written(table())


def buttons(name: str, key: str, files: Mapping[str, tuple[str, Callable[[], bytes], str]]) -> None:
    """A button for each kind of file, the plainest first in colour: its words, what makes it, and what it is."""
    with st.container(horizontal=True):
        for end, (label, made, kind) in files.items():
            st.download_button(
                unmarked(say(label)),
                made,
                f"{name}.{end}",
                kind,
                key=f"{key}-{end}",
                type="primary" if end == "csv" else "secondary",
                on_click="ignore",
            )


def take_away(found: dp.Answer, table: Callable[..., Arrow], in_sheet: int | None = None) -> None:
    """`table(many)` makes the first rows, `table()` all. With `in_sheet` rows it is offered as a spreadsheet too, if it
    is no longer than one can be."""
    name = f"synthetic-{found.receipt['charge']['hash'][:8]}"
    first = table(FIRST_ROWS)
    rows = [["" if cell is None else str(cell) for cell in row.values()] for row in first.to_pylist()]
    files = {
        "csv": ("publish_page.csv", exports.table_csv, "text/csv"),
        "parquet": ("publish_page.parquet", exports.table_parquet, "application/vnd.apache.parquet"),
    }
    if in_sheet is not None and in_sheet <= MOST_IN_SHEET:
        files["xlsx"] = ("synthetic_page.excel", exports.table_sheet, exports.SHEET)
    st.html(f"<h2>{escape(say('publish_page.take'))}</h2>")
    st.html(begins(say("synthetic_page.begins"), list(first.column_names), rows))
    buttons(
        name,
        "synthetic",
        {end: (label, partial(_file, made, table), kind) for end, (label, made, kind) in files.items()},
    )
    st.html(f'<p class="muted">{escape(say("synthetic_page.may"))}</p>')
