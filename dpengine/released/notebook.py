"""An account as a Jupyter notebook, plain JSON of format 4.5. It holds receipts, nothing else about a table, and runs
with `dpengine` alone: it reads no table, spends nothing and draws nothing private.

Names and values stand in it as one escaped literal, never as code: whatever they are called, nothing of them runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from dpengine.core.json_types import JsonObject
from dpengine.messages import say

# The order in which they are run. Words around them come from the catalogue.
_READ = (
    "from dpengine.asking.account import Account\n\naccount = Account.read(RECORDS)\nprint(*account.told(), sep='\\n')"
)
_CHECK = "print(*account.checked(), sep='\\n')"
_LEDGER = "LEDGER = ''\nprint(*account.against(LEDGER), sep='\\n') if LEDGER else None"
_COMPARE = """from dpengine.released.compare import compare

answers = [account.figures(number) for number in range(len(account.records))]
first = next((figures for figures in answers if sum(one.tells for one in figures) > 1), [])
picked = [one for one in first if one.tells][:2]
if picked:
    told = compare(picked)
    apart = told.pairs[0].difference
    print(*(one.part for one in picked), sep=' − ')
    print(float(apart.value), (float(apart.low), float(apart.high)), 1 - float(told.beta))"""

_LOOK = """from dpengine.released.look import Look

answers = [account.answer(number) for number in range(len(account.records))]
looks = [one.value for one in answers if one is not None and isinstance(one.value, Look)]
for look in looks:
    for column in look.columns:
        print(column)
        for bar in look.bars(column):
            print(f'   {bar.label}: {bar.value:.0f} ({bar.low:.0f} – {bar.high:.0f})')
    figures = look.to_frame()"""


def notebook(lines: Iterable[str]) -> JsonObject:
    """`lines` are those of `account.lines_of`."""
    records = "RECORDS = [\n" + "".join(f"    {line!a},\n" for line in lines) + "]"
    cells = [
        _words("notebook.title"),
        _code(records),
        _words("notebook.read"),
        _code(_READ),
        _words("notebook.check"),
        _code(_CHECK),
        _words("notebook.ledger"),
        _code(_LEDGER),
        _words("notebook.compare"),
        _code(_COMPARE),
        _words("notebook.look"),
        _code(_LOOK),
    ]
    return {
        "cells": [{"id": f"allowance-{place}"} | cell for place, cell in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def text(lines: Iterable[str]) -> str:
    return json.dumps(notebook(lines), indent=1) + "\n"


def _words(code: str) -> JsonObject:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(say(code))}


def _code(source: str) -> JsonObject:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": _lines(source)}


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)
