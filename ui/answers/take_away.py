"""The whole account to print or to take away. Files are written when they are clicked, not before."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS
from dpengine.messages import say
from dpengine.released.files import as_sheet, notebook_text, registry_file_name, registry_text
from ui.ledger import report
from ui.ledger.ledger_view import now
from ui.parts import exports
from ui.shell import steer

File = tuple[str, str, str, Callable[[], str | bytes]]  # what it is, its name, its kind, how it is written


def show(table: dp.Table) -> None:
    with st.container(key="take-away", width="content"), st.popover(say("answers.take_away")):
        if st.button(say("answers.print"), key="answers-print"):
            steer.print_page()
        for what, name, mime, write in files(table):
            st.download_button(say(f"answers.take.{what}"), write, name, mime, key=f"answers-{what}", on_click="ignore")


def files(table: dp.Table) -> list[File]:
    name = re.sub(r"[^\w-]+", "-", table.name).strip("-") or "table"
    csv = ("csv", f"answers-{name}.csv", "text/csv", lambda: exports.as_csv(ANSWER_COLUMNS, table.answer_rows()))
    cells = f"answers-{name}.ipynb", "application/x-ipynb+json"
    return [
        ("report", f"report-{name}.html", "text/html", lambda: report.html(table, *now())),
        csv,
        ("sheet", f"answers-{name}.xlsx", exports.SHEET, lambda: as_sheet(ANSWER_COLUMNS, table.answer_rows())),
        ("notebook", *cells, lambda: notebook_text(table.account_lines())),
        ("registry", registry_file_name(table.name), "application/yaml", lambda: _registry(table)),
    ]


def _registry(table: dp.Table) -> str:
    so_far = table.released_so_far()
    return "" if so_far is None else registry_text(table.facts, so_far)
