"""What long runs leave for the report: one JSON file per section in `build/audit/`.

    {"title": "Planted errors", "columns": ["error", "caught by"], "rows": [["half noise", "the law check"], …]}

A test calls `note` once for each line; `python -m dpengine audit` prints every section it finds and writes it into
docs/audit.md. Several processes may note at once. A line whose first cell is there already is replaced, so a rerun
changes figures and adds nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "audit"
_NAME = re.compile(r"[a-z0-9_-]{1,40}")

Cell = str | int | float


@dataclass(frozen=True)
class Section:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def as_markdown(self) -> list[str]:
        """A table of its rows. A bar in a cell would end it, and so would a line break."""
        return [
            "| " + " | ".join(_cell(cell) for cell in self.columns) + " |",
            "|" + "---|" * len(self.columns),
            *("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in self.rows),
        ]

    def as_text(self) -> list[str]:
        """The same in columns of equal width, for a terminal."""
        lines = [self.columns, *self.rows]
        wide = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        return ["  ".join(cell.ljust(w) for cell, w in zip(line, wide, strict=True)).rstrip() for line in lines]


def note(section: str, title: str, *, folder: Path = FOLDER, **row: Cell) -> None:
    """Add one line to a section; the names of `row` are its columns, underscores being spaces."""
    if not _NAME.fullmatch(section) or not row:
        raise ValueError("a section needs a plain name, and a line something to say")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{section}.json"
    columns = [name.replace("_", " ") for name in row]
    line = [str(cell) for cell in row.values()]
    with open(folder / f".{section}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": []}
        rows = [old for old in held["rows"] if old and old[0] != line[0] and len(old) == len(line)]
        data = {"title": title, "columns": columns, "rows": sorted([*rows, line])}
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        os.replace(fresh, path)


def read(folder: Path = FOLDER) -> list[Section]:
    """Every section, by the name of its file; one whose rows do not fit its columns is a fault of its writer."""
    return [_section(json.loads(path.read_text(encoding="utf-8")), path.name) for path in sorted(folder.glob("*.json"))]


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Section:
    return Section(title, tuple(columns), tuple(tuple(str(cell) for cell in row) for row in rows))


def _section(data: dict[str, object], name: str) -> Section:
    title, columns, rows = data["title"], data["columns"], data["rows"]
    assert isinstance(columns, list) and isinstance(rows, list)
    if any(len(row) != len(columns) for row in rows):
        raise ValueError(f"{name}: a row does not fit its columns")
    return table(str(title), [str(column) for column in columns], rows)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
