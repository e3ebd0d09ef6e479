"""A table and its sessions, for their tests."""

from __future__ import annotations

from typing import Any

import pandas as pd

import dpengine as dp
from dpengine.workspace import Workspace

PEOPLE = 400
TX = {"share": [["town", "in", ["A"]]]}
BOTH = {"share": [["town", "in", ["A"]], ["x", ">=", 3]]}
X = {"average": "x"}
LARGEST = {"largest": [[["town", "in", ["A"]]], [["x", ">=", 3]]]}


def add(home: Workspace, name: str = "people", **terms: Any) -> dp.Table:
    """Different content under each name, so that each has its own allowance."""
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * (PEOPLE // 4), "town": ["A", "B"] * (PEOPLE // 2), "note": name})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["A", "B"])})
    told: dict[str, Any] = {"unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
    return home.add_table(name, frame, schema=schema, **(told | terms))


def query(table: dp.Table, questions: Any = 3, epsilon: str = "1.5", **more: Any) -> dp.Query:
    return table.query("adaptive_session", questions=questions, epsilon=epsilon, **more)
