"""A first look to take away: every measured figure as a file. Written when it is clicked, not before."""

from __future__ import annotations

from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.released.files import as_sheet
from dpengine.released.look import Look
from ui.parts import exports


def show(table: dp.Table, found: dp.Answer, look: Look) -> None:
    name = f"first-look-{found.receipt['charge']['hash'][:8]}"
    with st.popover(say("answers.take_away"), key="board-take"):
        st.download_button(
            say("receipt.csv"),
            lambda: exports.as_csv(*rows(look)),
            f"{name}.csv",
            "text/csv",
            key="board-csv",
            on_click="ignore",
        )
        st.download_button(
            say("receipt.sheet"),
            lambda: as_sheet(*rows(look)),
            f"{name}.xlsx",
            exports.SHEET,
            key="board-sheet",
            on_click="ignore",
        )


def rows(look: Look) -> tuple[list[str], list[list[Any]]]:
    """Every measured bar and pair, a figure a row."""
    frame = look.to_frame()
    return list(frame.columns), frame.to_numpy().tolist()
