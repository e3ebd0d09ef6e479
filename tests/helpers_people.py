"""A served workspace with everybody a right can tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

import dpengine as dp
from dpengine.ledger.people_rules import ADMINISTRATOR, AUDITOR, BARRED, OPERATOR, OWNER
from dpengine.people.face import Face
from dpengine.workspace import Workspace

SCHEMA = dp.Schema({"x": dp.Number(0, 3), "town": dp.Category(["a", "b"], unknown="b", missing="b")})
TERMS: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "relation": "replace"}
HALF = Fraction(1, 2)
MINE, OTHER = "hospital", "payroll"
EVERYBODY = (
    "nobody",
    "withdrawn",
    "administrator",
    "owner",
    "owner of another",
    "analyst",
    "analyst of another",
    "auditor",
)


def rows(start: int = 0, people: int = 40) -> pd.DataFrame:
    places = range(start, start + people)
    return pd.DataFrame([{"x": place % 4, "town": "ab"[place % 2], "n": place} for place in places])


@dataclass
class Office:
    workspace: Workspace
    ids: dict[str, str] = field(default_factory=dict)

    def person(self, name: str) -> str:
        if name not in self.ids:
            self.ids[name] = self.workspace.person("https://id.example.org", name, name.title(), f"{name}@example.org")
        return self.ids[name]

    def face(self, name: str) -> Face:
        return self.workspace.as_person(self.person(name))

    def name(self, name: str, role: str, on: bool = True, table: str = "") -> None:
        budget = self.workspace.record(table).budget if table else ""
        self.workspace.ledger.name_role(self.person(name), role, OPERATOR, table, on, budget)

    def bring(self, name: str, table: str, start: int = 0, epsilon: str = "1", **changes: Any) -> dp.Table:
        budget = dp.Budget(epsilon, "1e-6")
        return self.face(name).add_table(table, rows(start), **(TERMS | {"budget": budget} | changes))

    def give(self, table: str, name: str, share: Fraction = HALF, by: str = "owner", **more: Any) -> None:
        budget = self.workspace.record(table).budget
        self.workspace.ledger.grant(budget, table, self.person(name), share, self.person(by), **more)


@contextmanager
def office(folder: Path, tables: bool = True, epsilon: str = "1") -> Iterator[Office]:
    workspace = Workspace(folder / "var")
    try:
        here = Office(workspace)
        workspace.name_administrator(here.person("administrator"))
        for name in ("owner", "owner of another"):
            here.name(name, OWNER)
        here.name("auditor", AUDITOR)
        if tables:
            here.bring("owner", MINE, epsilon=epsilon)
            here.bring("owner of another", OTHER, start=100)
            here.give(MINE, "analyst")
            here.give(OTHER, "analyst of another", by="owner of another")
            here.give(MINE, "withdrawn")
            here.name("withdrawn", BARRED)
            here.name("withdrawn", ADMINISTRATOR)
        yield here
    finally:
        workspace.close()


def count(table: dp.Table, epsilon: str = "0.1") -> dp.Query:
    return table.query("count", where=[["town", "in", ["a"]]], epsilon=epsilon)
