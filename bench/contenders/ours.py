"""Allowance end to end: `table.ask`, with the charge committed before the draw and the answer stored after it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dpengine as dp
from bench.tasks import BINS, EPSILON, GRID, HIGH, ITEMS, LOW, STATES

PEOPLE = "bench"
LISTED = "bench items"
QUESTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "median": (PEOPLE, "median", {"column": "amount"}),
    "top51": (PEOPLE, "top_item", {"column": "state"}),
    "top100k": (LISTED, "top_item", {"column": "item"}),
    "hist51": (PEOPLE, "histogram", {"column": "state"}),
    "hist100": (PEOPLE, "histogram", {"column": "amount", "bins": BINS}),
    "count": (PEOPLE, "count", {"where": [["amount", "between", [LOW, HIGH]]]}),
    "mean": (PEOPLE, "mean", {"column": "amount"}),
    "mean51": (PEOPLE, "mean", {"column": "amount", "by": "state"}),
    "sum": (PEOPLE, "sum", {"column": "amount"}),
    "variance": (PEOPLE, "variance", {"column": "amount"}),
}


def declare(folder: Path) -> dict[str, str]:
    """The one file, declared twice: the list of 100,000 values is in a table of its own. Where the codes lie."""
    workspace = dp.open_workspace(folder / "var")
    schemas = {
        PEOPLE: dp.Schema({"amount": dp.Number(0, GRID - 1, missing=0), "state": _list(STATES)}),
        LISTED: dp.Schema({"item": _list(ITEMS)}),
    }
    coded = {}
    for name, schema in schemas.items():
        table = workspace.add_table(
            name,
            folder / "rows.parquet",
            schema=schema,
            unit=dp.Unit.rows(),
            relation="replace",
            budget=dp.Budget(epsilon="100", delta="1e-6"),
        )
        coded[name] = str(next((folder / "var" / "tables" / table._record.folder).glob("coded-*.parquet")))
    workspace.close()
    return coded


def _list(size: int) -> dp.Category:
    """A closed list: what is not on it counts as its first value."""
    values = [str(place) for place in range(size)]
    return dp.Category(values, unknown=values[0], missing=values[0])


def questions(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    workspace = dp.open_workspace(folder / "var")
    tables = {name: workspace.table(name) for name in (PEOPLE, LISTED)}

    def asker(name: str, key: str, parameters: dict[str, Any]) -> Callable[[], Any]:
        query = tables[name].query(key, epsilon=str(EPSILON), **parameters)
        return lambda: tables[name].ask(query)

    return {task: asker(*question) for task, question in QUESTIONS.items()}


def versions() -> dict[str, str]:
    names = ("duckdb", "ibis-framework", "numpy", "opendp", "pyarrow", "sqlite-utils", "streamlit")
    return {name: version(name) for name in names}
