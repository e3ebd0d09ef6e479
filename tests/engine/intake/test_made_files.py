"""Real .xls and .sas7bdat files, which scripts of ours write: read as their CSV, with days of every beginning; wide,
empty and encrypted ones are one sentence each."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from engine.intake.test_statistics_files import PLAIN, cells, code_of
from files.make_sas import write_sas
from files.make_xls import write_xls

import dpengine as dp
from dpengine.intake import foreign
from dpengine.intake.inspect import names_of, survey
from dpengine.intake.load import load

NAMES = ["who", "far", "day", "note"]
ROWS: list[list[Any]] = [
    ["Žiga", 1.5, date(2024, 2, 29), "a; b"],
    ["b", None, date(1999, 12, 31), None],
    ["c", -3.0, None, "x"],
]
WRITTEN = {
    "who": ["Žiga", "b", "c"],
    "far": ["1.5", None, "-3"],
    "day": ["2024-02-29", "1999-12-31", None],
    "note": ["a; b", None, "x"],
}


def told(path: Path) -> dict[str, list[str | None]]:
    return {name: [cell or None for cell in column] for name, column in cells(path).items()}


def made(folder: Path) -> list[Path]:
    rows = [NAMES, *ROWS]
    return [
        write_xls(folder / "a.xls", rows),
        write_xls(folder / "mac.xls", rows, mac=True),  # days from 1904, not from 1900
        write_sas(folder / "a.sas7bdat", NAMES, ROWS),  # days from 1960
    ]


def test_their_cells_are_those_of_the_csv(tmp_path: Path) -> None:
    pd.DataFrame(WRITTEN).to_csv(tmp_path / "a.csv", index=False)
    paths = [tmp_path / "a.csv", *made(tmp_path)]
    for path in paths[1:]:
        assert told(path) == WRITTEN, path.name
        assert names_of(path, PLAIN) == NAMES
        survey(path, PLAIN)
    assert len({load(path, PLAIN, tmp_path / "raw", b"k" * 32).fingerprint for path in paths}) == 1


def test_they_become_tables_and_sas_brings_its_labels(tmp_path: Path) -> None:
    rows = [[f"p{place}", float(place % 50), date(2024, 1, 1 + place % 28), "x"] for place in range(9_000)]
    sas = write_sas(tmp_path / "long.sas7bdat", NAMES, rows, ["Who is it?", "How far", "", ""])  # several pages
    assert foreign.describe(sas, PLAIN).book["far"].label == "How far"
    assert foreign.describe(sas, PLAIN).book["day"].kind == "date"
    xls = write_xls(tmp_path / "long.xls", [NAMES, *rows])
    workspace = dp.open_workspace(tmp_path / "home")
    schema = dp.Schema({"far": dp.Number(0, 49), "day": dp.Date("2024-01-01", "2024-01-31")})
    given: dict[str, Any] = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("5", "1e-6")}
    one, two = (workspace.add_table(path.name, path, **given) for path in (sas, xls))
    assert one.facts.people == two.facts.people == 9_000 and one.budget.id == two.budget.id  # the same rows


def swollen(path: Path) -> Path:
    """A spreadsheet that says it has more than it holds."""
    data = bytearray(write_xls(path, [NAMES, *ROWS]).read_bytes())
    data[48:52] = (2**31).to_bytes(4, "little")
    path.write_bytes(data)
    return path


def half(path: Path) -> Path:
    path.write_bytes(write_sas(path, NAMES, ROWS).read_bytes()[:-1_000])
    return path


def wide(many: int) -> list[str]:
    return [f"v{place}" for place in range(many)]


def real(folder: Path, name: str) -> Path:
    """Two people under a password, locked by a real program: msoffcrypto-tool, LibreOffice, pyzipper (AES)."""
    return Path(shutil.copy(Path(__file__).parents[2] / "files" / name, folder))


TRAPS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "an encrypted .xlsx": ("load.sheet_locked", lambda f: real(f, "locked.xlsx")),
    "an encrypted .ods": ("load.sheet_locked", lambda f: real(f, "locked.ods")),
    "an encrypted .zip": ("load.packed_locked", lambda f: real(f, "locked.zip")),
    "an encrypted .xls": ("load.sheet_locked", lambda f: write_xls(f / "a.xls", [NAMES, *ROWS], locked=True)),
    "an .xls without a cell": ("load.empty", lambda f: write_xls(f / "a.xls", [])),
    "an .xls of names alone": ("load.no_rows", lambda f: write_xls(f / "a.xls", [NAMES])),
    "a .sas7bdat of names alone": ("load.no_rows", lambda f: write_sas(f / "a.sas7bdat", NAMES, [])),
    "a damaged .xls": ("load.sheet_unreadable", lambda f: swollen(f / "a.xls")),
    "half a .sas7bdat": ("load.statistics_unreadable", lambda f: half(f / "a.sas7bdat")),
    "2,000 columns": (
        "load.many_columns",
        lambda f: write_sas(f / "a.sas7bdat", wide(2_000), [[1.0] * 2_000]),
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_is_one_sentence_and_nothing_is_left(trap: str, tmp_path: Path) -> None:
    code, make = TRAPS[trap]
    path = make(tmp_path)
    found = code_of(lambda: load(path, PLAIN, tmp_path / "raw", b"k" * 32))
    assert found == code
    assert list(tmp_path.iterdir()) == [path]
