"""Downloads. CSV is in UTF-8 with the mark by which spreadsheets recognise it. A cell that a spreadsheet could read as
a formula is written as text. So is text that would start a cell in a program that splits lines at semicolons or tabs
and ignores quotes: there ""=1 is two empty quotes and a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import streamlit as st

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.asking.exports import FigureNotes
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.messages import say
from dpengine.messages.language import carried
from dpengine.released.files import as_sheet
from ui.parts import answer_notes
from ui.words.markup import unmarked

_RISKY = re.compile(r"""^(?=\s*[=+\-@＝＋－＠]|[\t\r\n])|(?<=[;\t\r\n])(?=["\s]*[=+\-@＝＋－＠])""")
_TYPES = {  # by the ending of a file's name
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "png": "image/png",
    "py": "text/x-python",
    "svg": "image/svg+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
MARK = "\ufeff"  # without it a spreadsheet reads č as Ä


def file_name(table: str) -> str:
    """A table's name with only signs that suit the name of a file."""
    return re.sub(r"[^\w-]+", "-", table).strip("-") or "table"


def offer(label: str, content: Any, name: str, key: str, **options: Any) -> None:
    """Draw a button that downloads a file. If `content` is a function, it writes the file when the button is clicked,
    in the language of the page: the function runs on another thread."""
    content = carried(content) if callable(content) else content
    kind = _TYPES[name.rpartition(".")[2]]
    st.download_button(label, content, name, kind, key=key, on_click="ignore", **options)


def offer_all(name: str, key: str, files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> None:
    """Draw a button for each kind of file, the simplest highlighted. `files` has the label and the builder of each."""
    with st.container(horizontal=True):
        for end, (label, build) in files.items():
            kind = "primary" if end == "csv" else "secondary"
            offer(unmarked(say(label)), build, f"{name}.{end}", f"{key}-{end}", type=kind)


def safe(cell: Any) -> Any:
    return _RISKY.sub("'", cell) if isinstance(cell, str) else cell


def as_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], written: Callable[[Any], Any] = safe) -> str:
    out = io.StringIO()
    out.write(MARK)
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(safe, header))
    writer.writerows(map(written, row) for row in rows)
    return out.getvalue()


def table_csv(table: pa.Table) -> bytes:
    """A published table as CSV. Words, sets and days are made safe for spreadsheets; numbers stay as they are."""
    for place, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
            column = table.column(place) if pa.types.is_dictionary(kind) else table.column(place).dictionary_encode()
            codes = column.unify_dictionaries().combine_chunks()
            words = pa.array([safe(word) for word in codes.dictionary.to_pylist()], pa.string())
            table = table.set_column(place, name, words.take(codes.indices))
    out = io.BytesIO(MARK.encode())
    out.seek(0, io.SEEK_END)
    pacsv.write_csv(table.rename_columns([safe(name) for name in table.column_names]), out)
    return out.getvalue()


def table_parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def table_sheet(table: pa.Table) -> bytes:
    return as_sheet(table.column_names, (list(row.values()) for row in table.to_pylist()), "table")


def column_csv(query: Cdf, value: dict[str, float]) -> str:
    column = query.facts.schema.ordered(query.column)
    return as_csv([query.column], ([column.value(column.code(name))] for name in query.made_up(value)))


def answer_csv(answer: dp.Answer) -> str:
    return as_csv(*answer_rows(answer))


def answer_sheet(answer: dp.Answer) -> bytes:
    return as_sheet(*answer_rows(answer))


def _parts(query: dp.Query) -> tuple[list[str], list[tuple[str, ...]]]:
    """The columns that identify the parts, and the cells of each part, in the reader's words."""
    names, cells = query.cells()
    if crossed := query.crossed():
        names_of = [values for _, values in crossed]
        return [name for name, _ in crossed], [tuple(map(dict.__getitem__, names_of, cell)) for cell in cells]
    shown = query.shown()
    return list(names), [tuple(shown.get(part, part) for part in cell) for cell in cells]


def _beyond(answer: dp.Answer, label: str = "") -> tuple[Any, ...]:
    """The ends of a part's range for the larger group; empty if there is none. A list of names has one pair for the
    whole answer."""
    found = answer.population
    return () if found is None else found[label] if isinstance(found, dict) else found


def answer_rows(answer: dp.Answer) -> tuple[list[str], list[list[Any]]]:
    """The headings of the download, and a row for each figure."""
    names, cells = _parts(answer.query)
    header = ["question", "table", *names, "value", "low", "high", "unit", "epsilon", "charge", "counted", "note"]
    wider = answer.population is not None
    header += ["population_low", "population_high"] if wider else []
    shared = [answer.sentence, answer.receipt["table"]]
    epsilon = cost(answer.query.loss(), None).epsilon  # Gaussian noise has none: what was typed is no claim
    charge, cut = answer.receipt["charge"]["hash"], answer_notes.cut_words(answer.query)
    tail = ["" if epsilon is None else float(epsilon), charge, cut]
    notes = FigureNotes(answer.query, answer.value, answer.interval, answer_notes.fits_of_answer(answer))
    if isinstance(answer.value, dict):
        shown = answer.query.shown()
        named = dict(zip(answer.query.labels(), cells, strict=True))
        rows = []
        for label, value in (answer.value or {"": ""}).items():
            part, ends = named.get(label, (shown.get(label, label),)), (answer.interval or {}).get(label, ("", ""))
            beyond = _beyond(answer, label)
            measure = answer.query.measure_of(label)
            rows.append([*shared, *part, value, *ends, measure, *tail, notes.of(label), *beyond])
    else:
        low, high = answer.interval or ("", "")
        beyond = _beyond(answer)
        rows = [[*shared, "", answer.value, low, high, answer.query.measure, *tail, notes.of(), *beyond]]
    return header, rows
