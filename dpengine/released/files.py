"""Downloads: a spreadsheet without formulas, and a notebook."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from dpengine.core.types import JsonObject
from dpengine.messages import hidden, say

if TYPE_CHECKING:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

LONGEST_CELL = 32_767  # signs, by the format
_TITLE = re.compile(r"[\[\]:*?/\\'\x00-\x1f]")
_STILL = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # no clock in a file: the same rows are the same bytes

Cell = str | int | float | Fraction | None


def as_sheet(headings: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "answers") -> bytes:
    """One sheet with bold headings. Numbers stay numbers; a text that looks like a formula is shown, not computed."""
    from openpyxl import Workbook  # slow to import
    from openpyxl.styles import Font

    book = Workbook(write_only=True)
    book.properties.created = book.properties.modified = _STILL
    sheet = book.create_sheet(_TITLE.sub(" ", title).strip()[:31] or "answers")
    sheet.append([_cell(sheet, cell, Font(bold=True)) for cell in headings])
    for row in rows:
        sheet.append([_cell(sheet, cell) for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _cell(sheet: object, value: Cell, font: Font | None = None) -> WriteOnlyCell:
    from openpyxl.cell import WriteOnlyCell

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


# The cells of a notebook, in order. The words between them come from the catalogue.
_READ = (
    "from dpengine.asking.exports import Account\n\naccount = Account.read(RECORDS)\nprint(*account.lines(), sep='\\n')"
)
_CHECK = "print(*account.checked(), sep='\\n')"
_LEDGER = "LEDGER = ''\nprint(*account.against(LEDGER), sep='\\n') if LEDGER else None"
_COMPARE = """from dpengine.released.compare import compare

answers = [account.figures(number) for number in range(len(account.records))]
first = next((figures for figures in answers if sum(figure.tells for figure in figures) > 1), [])
picked = [figure for figure in first if figure.tells][:2]
if picked:
    compared = compare(picked)
    apart = compared.pairs[0].difference
    print(*(figure.part for figure in picked), sep=' − ')
    print(float(apart.value), (float(apart.low), float(apart.high)), 1 - float(compared.beta))"""

_LOOK = """from dpengine.released.look import Look

answers = [account.answer(number) for number in range(len(account.records))]
looks = [answer.value for answer in answers if answer is not None and isinstance(answer.value, Look)]
for look in looks:
    for column in look.columns:
        print(column)
        for bar in look.bars(column):
            print(f'   {bar.label}: {bar.value:.0f} ({bar.low:.0f} – {bar.high:.0f})')
    figures = look.to_frame()"""


def notebook(lines: Iterable[str]) -> JsonObject:
    """An account as a Jupyter notebook, format 4.5, from `Table.account_lines`. It holds receipts, nothing else about a
    table, and runs with `dpengine` alone: it reads no table, spends nothing and draws nothing private. Names and values
    are one escaped literal, never code, so nothing in them runs."""
    records = "RECORDS = [\n" + "".join(f"    {line!a},\n" for line in lines) + "]"
    parts = {"title": records, "read": _READ, "check": _CHECK, "ledger": _LEDGER, "compare": _COMPARE, "look": _LOOK}
    cells = [cell for part, code in parts.items() for cell in (_words(f"notebook.{part}"), _code(code))]
    return {
        "cells": [{"id": f"allowance-{place}"} | cell for place, cell in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def notebook_text(lines: Iterable[str]) -> str:
    return json.dumps(notebook(lines), indent=1) + "\n"


def _words(code: str) -> JsonObject:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(say(code))}


def _code(source: str) -> JsonObject:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": _lines(source)}


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)
