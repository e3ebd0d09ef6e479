"""Apply a model to an uploaded file: it comes back with one more column. The server's copy is deleted as soon as it is
read, nothing of it is stored or logged, and nothing is spent."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import current
from dpengine.released.files import as_sheet
from dpengine.released.scoring import Scored, score
from dpengine.released.shapes import Shapes
from dpengine.statistics.features import Model
from ui.parts import exports
from ui.shell import workshop_state
from ui.shell.incoming import here
from ui.shell.state import workspace
from ui.synthetic.take_rows import buttons

MOST_BYTES = 20 << 20
DIGITS = 4  # decimals of a chance
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:[.,]\d{1,9})?", re.ASCII)
_KEPT = "scored-file"


@dataclass(frozen=True)
class Done:
    heads: list[str]
    rows: list[list[str | float | None]]
    without: int


def show(table: dp.Table, answer: dp.Answer, model: Shapes | Model) -> None:
    if not workshop_state.on():  # a workshop takes no uploads
        with st.container(key="card-train-file"):
            _file(table, answer, model)


def _file(table: dp.Table, answer: dp.Answer, model: Shapes | Model) -> None:
    column = named(model)
    lead = say("score_file.lead", column=column, columns=_needed(model))
    st.html(f"<h2>{escape(say('score_file.title'))}</h2><p class='muted'>{escape(lead)}</p>")
    label, key = say("score_file.file"), f"score-file-{answer.request_id}"
    given = here.picker(label, key=key, max_upload_size=MOST_BYTES // 2**20)
    if given is None:
        st.session_state.pop(_KEPT, None)
        return
    mark = (given.file_id, answer.request_id, column, tuple(_needed(model)), current())
    kept = st.session_state.get(_KEPT)
    if kept is None or kept[0] != mark:
        with st.spinner(say("score_file.working")):
            kept = (mark, _scored(table, given, model, column))
        st.session_state[_KEPT] = kept
    _show_files(kept[1], answer)


def named(model: Shapes | Model) -> str:
    """The name of the new column: a chance, a score or the number itself."""
    if isinstance(model, Shapes):
        target, yes, sharp = model.target, list(model.yes) if model.listed else [], False
    else:
        goal, sharp = model.layout.goal, model.layout.sharp
        labels = goal.labels if isinstance(goal, dp.Category) else ()
        target, yes = model.layout.target, [labels[code] for code in model.layout.yes] if labels else []
    if not yes:
        return say("score_file.number", target=target)
    return say("score_file.score" if sharp else "score_file.chance", target=target, yes=yes)


def _needed(model: Shapes | Model) -> list[str]:
    return list(model.columns) if isinstance(model, Shapes) else list(model.layout.names)


def _scored(table: dp.Table, given: Any, model: Shapes | Model, column: str) -> Done | str:
    """The two files, or why there are none."""
    try:
        path = here.take(given, workspace().folder / "tmp", MOST_BYTES)
    except dp.AllowanceError as refusal:
        return str(refusal)
    try:
        done = score(path, model, table.dialect or dp.Dialect())
    except dp.AllowanceError as refusal:
        return str(refusal)
    finally:
        here.forget(path)
    while column in done.names:
        column += " ·"
    listed = model.listed if isinstance(model, Shapes) else model.layout.listed
    return Done([*done.names, column], list(_rows(done, DIGITS if listed else None)), done.without)


def _rows(done: Scored, digits: int | None) -> Iterator[list[str | float | None]]:
    cells = [column.to_pylist() for column in done.cells]
    for place, prediction in enumerate(done.said.tolist()):
        shown = round(prediction, digits) if digits is not None else float(f"{prediction:.6g}")
        yield [*(column[place] for column in cells), None if math.isnan(prediction) else shown]


def as_text(done: Done) -> bytes:
    """Numbers stay as written. Text that a spreadsheet could read as a formula is escaped."""
    out = io.StringIO()
    out.write(exports.MARK)
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([exports.safe(head) for head in done.heads])
    writer.writerows([_safe(cell) for cell in row] for row in done.rows)
    return out.getvalue().encode("utf-8", "replace")


def _safe(cell: str | float | None) -> Any:
    return cell if isinstance(cell, str) and _NUMBER.fullmatch(cell) else exports.safe(cell)


def in_sheet(done: Done) -> bytes:
    return as_sheet(done.heads, ([_typed(cell) for cell in row] for row in done.rows), "table")


def _typed(cell: str | float | None) -> str | float | None:
    """Convert to a number, unless it has a meaningful leading 0 or an ambiguous comma."""
    if not isinstance(cell, str) or "," in cell or not _NUMBER.fullmatch(cell) or re.match(r"[+-]?0\d|\+", cell):
        return cell
    return float(cell) if "." in cell else int(cell)


def _show_files(done: Done | str, answer: dp.Answer) -> None:
    if isinstance(done, str):
        st.html(f'<p class="warn" role="status">{escape(done)}</p>')
        return
    message = say("score_file.done", rows=len(done.rows))
    message += " " + say("score_file.without", rows=done.without) if done.without else ""
    st.html(f'<p role="status">{escape(message)}</p>')
    name = f"predicted-{answer.receipt['charge']['hash'][:8]}"
    files = {"csv": ("score_file.csv", partial(as_text, done)), "xlsx": ("score_file.sheet", partial(in_sheet, done))}
    buttons(name, "score", files)
    st.html(f'<p class="muted">{escape(say("score_file.kept"))}</p>')


def offer_model(content: str, script: str, hashed: str) -> None:
    """The model itself as a file, and as a program that predicts."""
    exports.offer(say("train_page.json"), content, f"model-{hashed[:8]}.json", "train-json", type="primary")
    exports.offer(say("train_page.python"), script, f"model_{hashed[:8]}.py", "train-python")
