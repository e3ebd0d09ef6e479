"""Columns of sets, for tables that are coded where they are: random cells, and what a file
of them would be coded as."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import dpengine as dp
from dpengine.intake.bring_in import Declared, code_rows, load_raw
from dpengine.intake.in_place import choosing_key
from dpengine.statistics.engines import every_row

SETS = dp.Schema(
    {
        "tags": dp.ItemSet(["p", "Q", "r", "s", "Š"], at_most=2),
        "n": dp.Number(0, 9),
        "one": dp.ItemSet(["a", "b"], separator=None, at_most=1),
        "odd": dp.ItemSet(["x.", "y"], separator=" AND "),
    }
)
ITEMS = ["p", " q ", "R", "s", "zz", "", "\u00a0s\t", "p", "Š"]
Coded = list[tuple[Any, ...]]


def some_rows(chance: random.Random, many: int) -> list[tuple[str | None, ...]]:
    """An id, and a cell of each column."""
    rows: list[tuple[str | None, ...]] = []
    for place in range(many):
        tags = chance.choice([None, "", *["|".join(chance.choices(ITEMS, k=chance.randint(1, 5))) for _ in range(9)]])
        odd = " AND ".join(chance.choices(["X.", "y", "z", "xx"], k=chance.randint(1, 3)))
        rows.append(
            (f"{place // 4}" if place % 9 else "", tags, str(place % 12), chance.choice(["A", "b ", "c", None]), odd)
        )
    return rows


def from_file(given: object, unit: dp.Unit, folder: Path, secret: bytes) -> tuple[Coded, Coded, int]:
    """The coded rows of a file, those of every row, and how many people: with the items that count by the key that
    chooses where rows are."""
    folder.mkdir()
    declared = Declared(SETS, unit, dp.Dialect(), secret)
    loaded = load_raw(folder, given, declared)
    people, _ = code_rows(folder, loaded, declared)
    coded = folder / "coded-1.parquet"
    every = rows_of(every_row(coded), secret) if unit.id_column else []
    return rows_of(coded, secret), every, people


def rows_of(file: Path, secret: bytes) -> Coded:
    rows = pq.read_table(file).to_pylist()
    key, sizes = choosing_key("items", secret), {"c0": 2, "c2": 1}
    owners = [row.get("person", place) for place, row in enumerate(rows)]
    for name, size in sizes.items():
        if f"{name}k" in (rows[0] if rows else {}):
            union: dict[int, set[int]] = {}
            for owner, row in zip(owners, rows, strict=True):
                union.setdefault(owner, set()).update(row[name])
            best = {owner: _first(sorted(items), size, key) for owner, items in union.items()}
            for owner, row in zip(owners, rows, strict=True):
                row[f"{name}k"] = [item for item in row[name] if item in best[owner]]
    return tuples(row.values() for row in rows)


def _first(items: list[int], size: int, key: str) -> list[int]:
    def mark(item: int) -> str:
        return hashlib.sha256(f"{key}[{', '.join(map(str, items))}]:{item}".encode()).hexdigest()

    return items if len(items) <= size else sorted(items, key=mark)[:size]


def tuples(rows: Any) -> Coded:
    """In an order of their own; a set in its own."""
    return sorted(tuple(tuple(sorted(cell)) if isinstance(cell, list) else cell for cell in row) for row in rows)
