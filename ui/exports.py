"""Downloads as CSV. A cell that a spreadsheet could take for a formula is written as text; so is what would begin a
cell where a program splits lines at semicolons or tabs, whatever quotes say."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import dpengine as dp
from dpengine.accountant.costs import cost

_RISKY = re.compile(r"^(?=\s*[=+\-@＝＋－＠]|[\t\r\n])|(?<=[;\t\r\n])(?=\s*[=+\-@＝＋－＠])")


def safe(cell: Any) -> Any:
    return _RISKY.sub("'", cell) if isinstance(cell, str) else cell


def as_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe(cell) for cell in header])
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return out.getvalue()


def answer_csv(answer: dp.Answer) -> str:
    header = ["question", "table", "label", "value", "low", "high", "epsilon", "charge"]
    shared = [answer.sentence, answer.receipt["table"]]
    epsilon = cost(answer.query.loss(), None).epsilon  # Gaussian noise has none: what was typed is no claim
    tail = ["" if epsilon is None else float(epsilon), answer.receipt["charge"]["hash"]]
    if isinstance(answer.value, dict):
        rows = [
            [*shared, label, value, *(answer.interval or {}).get(label, ("", "")), *tail]
            for label, value in answer.value.items()
        ]
    else:
        low, high = answer.interval or ("", "")
        rows = [[*shared, "", answer.value, low, high, *tail]]
    return as_csv(header, rows)
