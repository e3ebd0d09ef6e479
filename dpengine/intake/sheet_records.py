"""The rows of a spreadsheet (.xlsx, .xls, .ods) as columns of text, as the same sheet saved as CSV would hold them.

One sheet is read, the first visible one or the named one. Its first row names the columns, or the declared row; names
that span several rows are put together, and a merged cell counts for all columns below it. Numbers, days and truth
values are written as text, a formula as the result saved with it. The size that a small file could unpack to is bounded
before anything is read, and cells beyond the named columns are a fault of form. Runs in a process of its own
(file_process.py), because the whole sheet is in memory.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pyarrow as pa

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Arrow
from dpengine.declared.dialect import LONGEST_RECORD, MOST_COLUMNS, Dialect, check_names, has_data

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

FEW = 2_000  # rows held as Python lists
MOST_ROWS = 1_048_576  # of a sheet, by its own format
MOST_CELLS = 5 * 10**7  # that a sheet may span, empty ones too
MOST_UNPACKED = 10**9  # bytes of all parts together …
MOST_TIMES, SMALL = 200, 50 << 20  # … and per byte of a file, beyond what every file may have
MOST_TEXTS = 64 << 20  # bytes of the part with every distinct text: it is held in memory
# A formula without a result; the empty text is a result (t="str").
_UNSOLVED = re.compile(rb'<c(?![^>]*t="str")[^>]*>\s*<f[^>]*?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>')
_PLACE = re.compile(rb'<(?:row|c)\s[^>]*?\br="([A-Z]*)([0-9]+)"')
_OLD = b"\xd0\xcf\x11\xe0"  # an old spreadsheet, or a newer one with a password
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"
_CHUNK = 1 << 20
LONGEST_FORMULA = 10_000


def is_sheet(path: Path) -> bool:
    return path.suffix.lower() in (".xlsx", ".xls", ".ods")


def sheets(path: Path) -> list[str]:
    """The names of the visible sheets."""
    return _visible(_opened(path))


def sheet_names(path: Path, dialect: Dialect) -> list[str]:
    """The names in the declared row of a sheet. Nothing of another row is returned."""
    return _header(_grid(path, dialect), dialect)


def read_rows(path: Path, dialect: Dialect) -> tuple[list[str], Iterator[tuple[list[Arrow], float]]]:
    """The column names, and the rows below them."""
    sheet = _grid(path, dialect)
    names = _header(sheet, dialect)
    _solved(path, sheet.name)
    first = dialect.names_row + dialect.names_rows - 1

    def batches() -> Iterator[tuple[list[Arrow], float]]:
        total, few, done = max(sheet.total_height, 1), list[list[str]](), 0
        for row in _rows(sheet, first, len(names), dialect):
            few.append(row)
            if len(few) == FEW:
                done += len(few)
                yield [pa.array(cells, pa.string()) for cells in zip(*few, strict=True)], min(done / total, 1.0)
                few = []
        if few:
            yield [pa.array(cells, pa.string()) for cells in zip(*few, strict=True)], 1.0

    return names, batches()


def _opened(path: Path) -> CalamineWorkbook:
    """A workbook. Refused if its parts are too large; every error of its reader becomes one refusal."""
    from python_calamine import CalamineWorkbook, PasswordError

    _bounded(path)
    try:
        return CalamineWorkbook.from_path(str(path))
    except PasswordError:
        raise AllowanceError("load.sheet_locked") from None
    except Exception:  # a reader of a foreign format fails in many ways, and may quote a cell
        raise AllowanceError("load.sheet_unreadable") from None


def _bounded(path: Path) -> None:
    kind = path.suffix.lower()
    with refusing("load.sheet_unreadable", zipfile.BadZipFile, OSError, ValueError, RuntimeError, KeyError):
        with open(path, "rb") as head:
            old = head.read(4) == _OLD
            if old and (kind == ".xlsx" or _ENCRYPTED in head.read(MOST_TEXTS)):
                raise AllowanceError("load.sheet_locked")
        if old:
            return
        if kind == ".xls":
            raise AllowanceError("load.sheet_unreadable")
        with zipfile.ZipFile(path) as parts:
            infos = parts.infolist()
            locked = kind == ".ods" and b"manifest:encryption-data" in parts.read("META-INF/manifest.xml")
    if locked or any(info.flag_bits & 1 for info in infos):
        raise AllowanceError("load.sheet_locked")
    unpacked = sum(info.file_size for info in infos)  # no part is ever unpacked beyond this
    if unpacked > MOST_UNPACKED or unpacked > SMALL + MOST_TIMES * path.stat().st_size:
        raise AllowanceError("load.swollen")
    rows = ("xl/worksheets/", "content.xml")
    if any(info.file_size > MOST_TEXTS for info in infos if not info.filename.startswith(rows)):
        raise AllowanceError("load.sheet_large")


def _visible(book: CalamineWorkbook) -> list[str]:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    visible = [sheet for sheet in book.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
    names = [sheet.name for sheet in visible if sheet.typ == SheetTypeEnum.WorkSheet]
    if not names:
        raise AllowanceError("load.sheet_none")
    return names


def _grid(path: Path, dialect: Dialect) -> CalamineSheet:
    book = _opened(path)
    visible = _visible(book)
    if dialect.sheet and dialect.sheet not in visible:
        raise AllowanceError("load.sheet_absent", sheet=dialect.sheet, sheets=visible[:20])
    name = dialect.sheet or visible[0]
    if path.suffix.lower() == ".xlsx":
        _refuse_far(path, name)
    with refusing("load.sheet_unreadable", Exception):
        return book.get_sheet_by_name(name)


def _header(sheet: CalamineSheet, dialect: Dialect) -> list[str]:
    first, last = dialect.names_row - 1, dialect.names_row + dialect.names_rows - 1
    rows = [[_text(value, dialect).strip() for value in row] for row in _cells(sheet, last)[first:]]
    if len(rows) < dialect.names_rows and (first or dialect.names_rows > 1):
        raise AllowanceError("load.names_row_empty", row=dialect.names_row)
    if dialect.names_rows > 1:
        _spread(rows, sheet.merged_cell_ranges or (), first)
    names = [" ".join(dict.fromkeys(filter(None, parts))) for parts in zip(*rows, strict=True)]
    while names and not names[-1]:
        names.pop()
    if not names:
        blank = first or sheet.total_height > last  # there are rows below it
        raise AllowanceError("load.names_row_empty", row=dialect.names_row) if blank else AllowanceError("load.empty")
    if any(has_data(row) for row in rows):  # somebody's row, which is never shown
        raise AllowanceError("load.no_names")
    return check_names(names)


def _spread(rows: list[list[str]], merged: Sequence[tuple[tuple[int, int], tuple[int, int]]], first: int) -> None:
    """The first row, with a merged name repeated in each column that it spans."""
    for (top, left), (bottom, right) in merged:
        if first <= top and bottom < first + len(rows):
            for place in range(left, min(right + 1, len(rows[top - first]))):
                rows[top - first][place] = rows[top - first][left]


def _cells(sheet: CalamineSheet, most: int | None = None) -> list[list[object]]:
    try:
        if sheet.total_height > MOST_ROWS + 1 or sheet.total_width > 16 * MOST_COLUMNS:
            raise AllowanceError("load.swollen")
        return [list(row) for row in sheet.to_python(skip_empty_area=False, nrows=most)]
    except AllowanceError:
        raise
    except Exception:
        raise AllowanceError("load.sheet_unreadable") from None


def _rows(sheet: CalamineSheet, first: int, width: int, dialect: Dialect) -> Iterator[list[str]]:
    """Every row as `width` texts; empty rows at the end are nobody's and left out."""
    empty, place = 0, 0
    for place, row in enumerate(sheet.iter_rows(), sheet.start[0] if sheet.start else 0):
        if place < first:
            continue
        if not any(value != "" for value in row):
            empty += 1
            continue
        for _ in range(empty):
            yield [""] * width
        empty = 0
        whole = [""] * (sheet.start[1] if sheet.start else 0) + list(row)
        texts = [_text(value, dialect) for value in whole[:width]]
        if any(str(value).strip() for value in whole[width:]):
            raise AllowanceError("load.sheet_ragged")
        if sum(map(len, texts)) > LONGEST_RECORD:
            raise AllowanceError("load.long", most=LONGEST_RECORD)
        yield texts + [""] * (width - len(texts))


def _text(value: object, dialect: Dialect) -> str:
    """A cell's text as a spreadsheet would save it as CSV: 1500.0 is 1500, a day without a time is a day."""
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


# --- the parts of an .xlsx file


def _part(parts: zipfile.ZipFile, sheet: str) -> str | None:
    """The name of the archive's part that holds a sheet, from the workbook's own list."""
    try:
        book = ElementTree.fromstring(parts.read("xl/workbook.xml"))
        links = ElementTree.fromstring(parts.read("xl/_rels/workbook.xml.rels"))
    except (ElementTree.ParseError, KeyError, zipfile.BadZipFile, RuntimeError, OSError):
        return None
    mark = next(
        (value for entry in book.iter() if entry.tag.endswith("}sheet") and entry.get("name") == sheet
         for key, value in entry.attrib.items() if key.endswith("}id")),
        None,
    )  # fmt: skip
    target = next((link.get("Target", "") for link in links if link.get("Id") == mark), "")
    name = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return name if name in parts.namelist() else None


def _scanned(path: Path, sheet: str) -> Iterator[bytes]:
    """The text of a sheet's part, unpacked while it is read, in pieces that overlap."""
    if path.suffix.lower() != ".xlsx":
        return
    with (
        refusing("load.sheet_unreadable", zipfile.BadZipFile, OSError, ValueError, RuntimeError, EOFError),
        zipfile.ZipFile(path) as archive,
    ):
        if (name := _part(archive, sheet)) is None:
            return
        with archive.open(name) as stream:
            held = b""
            while block := stream.read(_CHUNK):
                held += block
                yield held
                held = held[-LONGEST_FORMULA:]


def _solved(path: Path, sheet: str) -> None:
    """Refuse a sheet with formulas that no program has computed yet: their cells would be read as empty."""
    if any(_UNSOLVED.search(piece) for piece in _scanned(path, sheet)):
        raise AllowanceError("load.sheet_formulas")


def _refuse_far(path: Path, sheet: str) -> None:
    """Refuse a sheet with a cell far away from the others: the reader would hold every cell in between."""
    rows = columns = 1
    for piece in _scanned(path, sheet):
        for letters, number in _PLACE.findall(piece):
            rows = max(rows, int(number[:10]))
            columns = max(columns, _column(letters[:4]))
        if rows > MOST_ROWS or columns > 16 * MOST_COLUMNS or rows * columns > MOST_CELLS:
            raise AllowanceError("load.swollen")


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
