"""A note beside an answer on whether the cells behind it are as declared, as far as paid checks say."""

from __future__ import annotations

from html import escape

import dpengine as dp
from dpengine.core.errors import AllowanceError
from ui.shell.state import open_table


def notes(answer: dp.Answer) -> list[str]:
    """Nothing where all cells fit, or where the table is gone."""
    try:
        table = open_table(str(answer.receipt["table"]))
    except AllowanceError:
        return []
    return table.fits().notes(answer.query)


def html(answer: dp.Answer) -> str:
    return "".join(f'<p class="warn fit">{escape(told)}</p>' for told in notes(answer))
