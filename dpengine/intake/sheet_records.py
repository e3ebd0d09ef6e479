"""The rows of a spreadsheet (.xlsx) as columns of text, as the same sheet saved as CSV would hold them.

One sheet is read, the first visible one or the named one; its first row names the columns. Numbers, days and truth
values are written as text, a formula as the result saved with it. Rows are streamed. The size that a small file could
unpack to is bounded before anything is read, and cells beyond the named columns are a fault of form.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow
from dpengine.declared.dialect import LONGEST_RECORD, MOST_COLUMNS, Dialect, check_names, has_data
from dpengine.intake.csv_records import FEW, Batches, without_blanks

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

MOST_ROWS = 1_048_576  # of a sheet, by its own format
MOST_UNPACKED = 10**9  # bytes of all parts together …
MOST_TIMES, SMALL = 200, 50 << 20  # … and per byte of a file, beyond what every file may have
MOST_TEXTS = 64 << 20  # bytes of the part with every distinct text: it is held in memory
# A formula without a result; the empty text is a result (t="str").
_UNSOLVED = re.compile(rb'<c(?![^>]*t="str")[^>]*>\s*<f[^>]*?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>')
_LOCKED = b"\xd0\xcf\x11\xe0"
_CHUNK = 1 << 20
LONGEST_FORMULA = 10_000


def looks_like_sheet(stream: object) -> bool:
    """Does a zip archive hold a workbook?"""
    try:
        with zipfile.ZipFile(stream) as parts:  # type: ignore[call-overload]
            return "xl/workbook.xml" in parts.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        return False


def sheets(path: Path) -> list[str]:
    """The names of the visible sheets."""
    with _opened(path) as book:
        return _visible(book)


def _visible(book: Workbook) -> list[str]:
    names = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if not names:
        raise AllowanceError("load.sheet_none")
    return names


def sheet_names(path: Path, dialect: Dialect) -> list[str]:
    """The names in the first row; no other row is read."""
    with _opened(path) as book:
        return _header(book, dialect)


def read_sheet(path: Path, dialect: Dialect) -> tuple[list[str], Batches]:
    """The column names, and the rows below them."""
    names = sheet_names(path, dialect)
    _solved(path, dialect)

    def batches() -> Batches:
        with _opened(path) as book:
            sheet = _sheet(book, dialect)
            about = max(sheet.max_row or 1, 1)
            rows = _rows(sheet, len(names), dialect)
            next(rows)  # the names
            done = 0
            while few := list(islice(rows, FEW)):
                done += len(few)
                columns: list[Arrow] = [pa.array(cells, pa.string()) for cells in zip(*few, strict=True)]
                yield without_blanks(columns), min(done / about, 1.0)

    return names, batches()


@contextmanager
def _opened(path: Path) -> Iterator[Workbook]:
    """A workbook with parts of bearable size; every failure of its reader becomes one refusal."""
    from openpyxl import load_workbook  # slow to import

    _bounded(path)
    book = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
            yield book
    except AllowanceError:
        raise
    except Exception:  # a reader of a foreign format fails in many ways, and may quote a cell
        raise AllowanceError("load.sheet_unreadable") from None
    finally:
        if book is not None:
            book.close()


def _bounded(path: Path) -> None:
    try:
        with open(path, "rb") as head:
            first = head.read(4)
        if first == _LOCKED:
            raise AllowanceError("load.sheet_locked")
        with zipfile.ZipFile(path) as parts:
            infos = parts.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        raise AllowanceError("load.sheet_unreadable") from None
    if any(info.flag_bits & 1 for info in infos):
        raise AllowanceError("load.sheet_locked")
    unpacked = sum(info.file_size for info in infos)  # no part is ever unpacked beyond this
    if unpacked > MOST_UNPACKED or unpacked > SMALL + MOST_TIMES * path.stat().st_size:
        raise AllowanceError("load.swollen")
    if any(info.file_size > MOST_TEXTS for info in infos if not info.filename.startswith("xl/worksheets/")):
        raise AllowanceError("load.sheet_large")


def _sheet(book: Workbook, dialect: Dialect) -> Arrow:
    visible = _visible(book)
    if dialect.sheet and dialect.sheet not in visible:
        raise AllowanceError("load.sheet_absent", sheet=dialect.sheet, sheets=visible[:20])
    return book[dialect.sheet or visible[0]]


def _header(book: Workbook, dialect: Dialect) -> list[str]:
    row = next(_cells(_sheet(book, dialect)), ())
    names = [_text(value, dialect) for value in row]
    while names and not names[-1].strip():
        names.pop()
    if not names:
        raise AllowanceError("load.empty")
    if has_data(names):  # somebody's row, which is never shown
        raise AllowanceError("load.no_names")
    return check_names(names)


def _cells(sheet: Arrow) -> Iterator[tuple[object, ...]]:
    sheet.reset_dimensions()  # the sheet's own statement of its size is not trusted
    for place, row in enumerate(sheet.iter_rows(values_only=True)):
        if place > MOST_ROWS or len(row) > 16 * MOST_COLUMNS:
            raise AllowanceError("load.swollen")
        yield tuple(row)


def _rows(sheet: Arrow, width: int, dialect: Dialect) -> Iterator[list[str]]:
    """Every row as `width` texts; empty rows at the end are nobody's."""
    empty = 0
    for row in _cells(sheet):
        if not any(value is not None for value in row):
            empty += 1
            continue
        for _ in range(empty):
            yield [""] * width
        empty = 0
        texts = [_text(value, dialect) for value in row[:width]]
        if any(value is not None and str(value).strip() for value in row[width:]):
            raise AllowanceError("load.ragged")
        if sum(map(len, texts)) > LONGEST_RECORD:
            raise AllowanceError("load.long", most=LONGEST_RECORD)
        yield texts + [""] * (width - len(texts))


def _text(value: object, dialect: Dialect) -> str:
    """As a spreadsheet saves it as CSV: 1500.0 is 1500, a day without a time is a day."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return repr(value).removesuffix(".0").replace(".", dialect.decimal)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _solved(path: Path, dialect: Dialect) -> None:
    """Refuses a sheet with formulas that no program has computed yet: their cells would be read as empty."""
    held = b""
    with _opened(path) as book, _sheet(book, dialect)._get_source() as stream:  # its own part, unpacked as it is read
        while block := stream.read(_CHUNK):
            held += block
            if _UNSOLVED.search(held):
                raise AllowanceError("load.sheet_formulas")
            held = held[-LONGEST_FORMULA:]
