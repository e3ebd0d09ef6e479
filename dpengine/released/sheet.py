"""Released rows as a spreadsheet (.xlsx) that runs nothing: every text is a text, whatever it begins with."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font

from dpengine.messages import hidden

LONGEST_CELL = 32_767  # signs, by the format
_TITLE = re.compile(r"[\[\]:*?/\\'\x00-\x1f]")
_STILL = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # no clock in a file: the same rows are the same bytes

Cell = str | int | float | Fraction | None


def as_sheet(headings: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "answers") -> bytes:
    """One sheet, its headings bold. Numbers stay numbers; a text that looks like a formula is shown, not worked out."""
    book = Workbook(write_only=True)
    book.properties.created = book.properties.modified = _STILL
    sheet = book.create_sheet(_TITLE.sub(" ", title).strip()[:31] or "answers")
    sheet.append([_cell(sheet, one, Font(bold=True)) for one in headings])
    for row in rows:
        sheet.append([_cell(sheet, one) for one in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _cell(sheet: object, value: Cell, font: Font | None = None) -> WriteOnlyCell:
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, str):
        value = "".join(" " if hidden(sign) and sign not in "\t\n" else sign for sign in value)[:LONGEST_CELL]
    cell = WriteOnlyCell(sheet, value=value)
    if isinstance(value, str):
        cell.data_type = "s"  # openpyxl would make a formula of what begins with =
    if font is not None:
        cell.font = font
    return cell
