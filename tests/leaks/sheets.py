"""Spreadsheets that are refused, each with a planted cell."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from leaks.refusal_acts import WHOSE
from leaks.refusal_bench import Bench

import dpengine as dp
from dpengine.declared.dialect import Dialect
from dpengine.declared.summary import read_summaries
from dpengine.intake import file_process, foreign
from dpengine.intake.inspect import names_of


def plain(path: Path, cell: str, more: object = 1) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (["far", "note"], [1, cell], [more, cell]):
        book.active.append(row)
    book.save(path)
    return path


def raw(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def hidden(path: Path, cell: str) -> Path:
    """Its only sheet cannot be seen: no program saves that, so it is written into the file."""
    with zipfile.ZipFile(plain(path, cell)) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(b'state="visible"', b'state="hidden"')
    with zipfile.ZipFile(path, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    return path


def wordy(path: Path, cell: str) -> Path:
    with zipfile.ZipFile(plain(path, cell), "a") as parts:
        parts.writestr("xl/more.xml", cell.encode() + b" " * (65 << 20))
    return path


def formula(path: Path, cell: str) -> Path:
    return plain(path, cell, "=1+1")


def wider(path: Path, cell: str) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (["far", "note"], [1, cell], [2, cell, cell]):
        book.active.append(row)
    book.save(path)
    return path


def packed(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, f"far,note\n1,{path.stem}\n")
    return path


def locked(path: Path, cell: str) -> Path:
    """No program here packs with a password: the sign is set by hand."""
    data = packed(path, f"{cell}.csv").read_bytes()
    at = data.index(b"PK\x01\x02") + 8
    return raw(path, data[:6] + b"\x01" + data[7:at] + b"\x01" + data[at + 1 :])


def crashing(b: Bench) -> None:
    """A reader that dies while it holds the rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_process, "_START", "import os; os.abort()")
        b.add(plain(b.folder / "crashing.xlsx", b.cell))


def long_book(b: Bench) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (["variable", "values"], [b.cell, 1], [b.cell, 2]):
        book.active.append(row)
    book.save(b.folder / "long.xlsx")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "MOST_BOOK", 1)
        foreign.read_book(b.folder / "long.xlsx", Dialect())


def both(b: Bench, asks: str, budget: str = "1", again: bool = False, **more: Any) -> None:
    """People with an allowance of their own, asked once, are joined with what they did."""
    b.made += 1
    who = f"{b.cell}{b.made}"
    terms: dict[str, Any] = {"relation": "add_remove", "about_rows": 9}
    file = b.put(f"id,a\n{who},1\n")
    people = b.add(file, budget=dp.Budget("100"), **terms)
    people.ask(people.query("count", epsilon=asks))
    source = dp.Joined(b.put(f"who,b\n{who},2\n"), file, ("who", "id"), **more)
    terms |= {"unit": dp.Unit.column("who", 2), "budget": dp.Budget(budget)}
    b.add(source, {"b": dp.Number(0, 9)}, **terms, add_up=again or asks != "0.1")
    people.ask(people.query("count", epsilon=asks))


CAUSES: dict[str, Callable[[Bench], Any]] = {
    "load.sheet_none": lambda b: b.add(hidden(b.folder / "hidden.xlsx", b.cell)),
    "load.sheet_absent": lambda b: names_of(plain(b.folder / "one.xlsx", b.cell), Dialect(sheet="gone")),
    "load.sheet_locked": lambda b: b.add(raw(b.folder / "locked.xlsx", b"\xd0\xcf\x11\xe0" + b.cell.encode())),
    "load.sheet_unreadable": lambda b: b.add(raw(b.folder / "odd.xlsx", b.cell.encode())),
    "load.sheet_large": lambda b: b.add(wordy(b.folder / "wordy.xlsx", b.cell)),
    "load.sheet_ragged": lambda b: b.add(wider(b.folder / "wider.xlsx", b.cell)),
    "load.sheet_formulas": lambda b: b.add(formula(b.folder / "formula.xlsx", b.cell)),
    "load.names_row_empty": lambda b: names_of(plain(b.folder / "below.xlsx", b.cell), Dialect(names_row=9)),
    "load.heavy": crashing,
    "load.statistics_locked": lambda b: b.add(raw(b.folder / "a.sav", bytes(8) + b"ENCRYPTEDSAV" + b.cell.encode())),
    "load.statistics_unreadable": lambda b: b.add(raw(b.folder / "b.sav", b"$FL2" + b.cell.encode() * 99)),
    "load.packed_many": lambda b: b.add(packed(b.folder / f"{b.cell}.zip", "a.csv", "b.csv")),
    "load.packed_locked": lambda b: b.add(locked(b.folder / "locked.zip", b.cell)),
    "load.packed_twice": lambda b: b.add(raw(b.folder / "twice.csv.gz", gzip.compress(gzip.compress(b.cell.encode())))),
    "load.packed_unreadable": lambda b: b.add(raw(b.folder / "half.csv.gz", gzip.compress(b.cell.encode() * 99)[:-9])),
    "dialect.names_row": lambda b: Dialect(names_row=0),
    "declaration.unreadable": lambda b: dp.Declaration.read(b.cell),
    "declaration.newer": lambda b: dp.Declaration.read('{"allowance": {"version": 2}}'),
    "declaration.other": lambda b: b.table.declaration().fitted([b.cell]),
    "summary.kind": lambda b: dp.Summary(b.cell),
    "summary.column": lambda b: dp.Summary("sum"),
    "summary.by": lambda b: dp.Summary("first", b.cell),
    "summary.range": lambda b: dp.Summary("sum", b.cell),
    "summary.value": lambda b: dp.Summary("any", "age", value=b.cell).declared(b.table.schema),
    "summary.frequent": lambda b: dp.Summary("frequent", "age").declared(b.table.schema),
    "summary.counted": lambda b: dp.Summary("count", "x", lower=0, upper=9).declared(
        dp.Schema({"x": dp.Number(0, 9, missing=0)})
    ),
    "summary.none": lambda b: b.stage.workspace.one_row_a_person(b.people.name, "made", {}),
    "summary.name": lambda b: read_summaries({"who": dp.Summary("count", lower=0, upper=9)}, b.table.schema, "who"),
    "summary.one_row": lambda b: b.stage.workspace.one_row_a_person(b.table.name, "made", {}),
    "joined.on": lambda b: dp.Joined(b.cell, b.cell, on=(b.cell, "")),
    "joined.numbers": lambda b: dp.Joined(b.cell, b.cell, ("a", "b"), Dialect(decimal=",")),
    "joined.unit": lambda b: b.add(dp.Joined(b.put(f"a\n{b.cell}\n"), b.put(f"a\n{b.cell}\n"), ("a", "a"))),
    "codebook.file": lambda b: foreign.read_book(b.put(f"variable,values\n{b.cell},1\n"), Dialect()),
    "codebook.headings": lambda b: foreign.read_book(plain(b.folder / "data.xlsx", b.cell), Dialect()),
    "codebook.long": long_book,
    "joined.adds_up": lambda b: both(b, "0.1"),
    "joined.exceeded": lambda b: both(b, "2"),
    "joined.counted": lambda b: (
        b.load(f"a,b\n641,{b.cell}\n", **WHOSE),
        b.add(dp.Joined(b.put(f"a,b\n641,{b.cell}\n"), b.put(f"b,c\n{b.cell},1\n"), ("b", "b")), **WHOSE),
    ),
    "joined.never": lambda b: both(b, "20", people_at_most=900),
    "budget.joined": lambda b: both(b, "0.1", again=True),
    "joined.files": lambda b: dp.Joined(b.frame(a=[b.cell]), b.frame(a=[b.cell]), ("a", "a")),
}
