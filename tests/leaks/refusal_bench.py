"""Tables and files full of canaries, for causing refusals."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from leaks.stage import Stage, rows, schema, written

import dpengine as dp
from dpengine.ledger.ledger import Ledger


@dataclass
class Bench:
    """Tables, and files made of canaries."""

    stage: Stage
    folder: Path
    made: int = 0
    held: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> dp.Table:
        return self.stage.tables[0]

    @property
    def people(self) -> dp.Table:
        return self.stage.tables[-1]

    @property
    def cell(self) -> str:
        return self.stage.canaries[4].core

    @property
    def digits(self) -> str:
        return self.stage.canaries[6].core

    def put(self, data: bytes | str, name: str = "") -> Path:
        self.made += 1
        path = self.folder / (name or f"{self.made}.csv")
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
        return path

    def add(self, source: Any, columns: dict[str, Any] | None = None, **terms: Any) -> dp.Table:
        self.made += 1
        given = {"schema": dp.Schema(columns or {"a": dp.Number(0, 9)}), "unit": dp.Unit.rows(), "budget": dp.Budget()}
        return self.stage.workspace.add_table(f"made {self.made}", source, **(given | terms))

    def load(self, data: bytes | str, **terms: Any) -> dp.Table:
        """A file with a fault of form."""
        return self.add(self.put(data), **terms)

    def ask(self, key: str, **given: Any) -> dp.Query:
        return self.table.query(key, **({"epsilon": "0.1"} | given))

    def train(self, **given: Any) -> dp.Query:
        return self.ask("train_linear", **({"target": "far", "features": ["age"]} | given))

    def check(self, model: Any, **given: Any) -> dp.Query:
        return self.ask("check_model", model=model, **given)

    def frame(self, **columns: Any) -> Any:
        return pd.DataFrame(columns)

    def small(self, name: str = "small", budget: str = "0.2", delta: str = "1e-6") -> dp.Table:
        """A table that is soon spent."""
        if name not in self.held:
            path = written(self.folder / f"{name}.csv", rows(self.stage.canaries, 20 + len(self.held)))
            self.held[name] = self.stage.workspace.add_table(
                name, path, schema=schema(), unit=dp.Unit.rows(), budget=dp.Budget(budget, delta)
            )
        return self.held[name]

    def session(self, questions: int = 1) -> Any:
        self.made += 1
        query = self.ask("adaptive_session", questions=questions, epsilon="0.5")
        return self.table.open_session(query, f"r{self.made}")

    def ledger(self, change: Callable[[sqlite3.Connection], Any]) -> Ledger:
        """A copy of the ledger that somebody has changed."""
        self.made += 1
        path = self.folder / f"ledger-{self.made}" / "ledger.sqlite"
        path.parent.mkdir()
        source = sqlite3.connect(self.stage.workspace.folder / "ledger.sqlite")
        target = sqlite3.connect(path)
        source.backup(target)
        source.close()
        change(target)
        target.commit()
        target.close()
        return Ledger(path, wait=0.1)
