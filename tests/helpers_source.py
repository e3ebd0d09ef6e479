"""A database that is not there: what it would tell of a table, and its rows, for tests that need no server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.source import Source
from dpengine.intake import load, postgres
from dpengine.intake.postgres import Described, SourceColumn

PASSWORD = "zebra-7421-horse"
ADDRESS = "postgresql://ana@db.example.org/care"


class Pretended:
    """One table, whose rows and columns a test may change; `refuses` is the next refusal."""

    def __init__(self, rows: str, *columns: SourceColumn) -> None:
        self.rows, self.columns = rows, columns
        self.read: list[Source] = []
        self.refuses = ""

    def describe(self, source: Source) -> Described:
        self.read.append(source)
        if self.refuses:
            raise AllowanceError(self.refuses, place=source.where, table=source.table)
        return Described(self.columns, (source.place("public", source.names[-1]),))

    def copy(
        self, source: Source, dialect: Dialect, separators: Mapping[str, str], to: Path, tell: Callable[[float], None]
    ) -> Described:
        found = self.describe(source)
        postgres.refuse_changed(source.seen, found.seen)
        to.write_text(",".join(f"c{place}" for place, _ in enumerate(self.columns)) + "\n" + self.rows)
        return found


def pretend(monkeypatch: pytest.MonkeyPatch, rows: str, *columns: SourceColumn) -> Pretended:
    made = Pretended(rows, *columns)
    monkeypatch.setattr(load.postgres, "copy_rows", made.copy)
    monkeypatch.setattr("dpengine.workspace.describe", made.describe)
    return made
