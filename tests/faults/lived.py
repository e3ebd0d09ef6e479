"""A table and its questions, and a workspace as an operator's commands see it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.__main__ import main
from dpengine.workspace import Workspace

A = [["town", "in", ["A"]]]
TERMS: dict[str, Any] = {
    "schema": dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["A", "B"])}),
    "unit": dp.Unit.rows(),
    "budget": dp.Budget("3", "1e-6"),
}


def frame(note: str = "people") -> pd.DataFrame:
    return pd.DataFrame({"x": [1, 2, 3, 4] * 100, "town": ["A", "B"] * 200, "note": note})


def question(table: dp.Table, epsilon: str = "0.1") -> dp.Query:
    return table.query("count", where=A, epsilon=epsilon)


def opens(home: Path) -> None:
    Workspace(home).close()


def code_of(attempt: Callable[[], object]) -> str:
    """The code of the one sentence, which may name our files but quotes no library."""
    with pytest.raises(dp.AllowanceError) as caught:
        attempt()
    said = str(caught.value)
    assert "\n" not in said and not any(word in said for word in ("Error", "database", "SQL", "Errno", "/"))
    assert caught.value.__cause__ is None and (caught.value.__context__ is None or caught.value.__suppress_context__)
    return caught.value.code


def command(home: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main([words[0], "--home", str(home), *words[1:]])
    return code, "".join(capsys.readouterr())
