"""What would fill the memory or the disk, or lead out of the workspace, is refused and leaves nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from leaks import bombs

import dpengine as dp
from dpengine.asking.receipts import read_receipts
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.intake.inspect import survey
from ui.shell import incoming as uploads


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


BOMBS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a zip archive": ("load.not_text", lambda f: put(f / "a.csv", bombs.zipped())),
    "a zip archive under another name": ("load.not_parquet", lambda f: put(f / "a.parquet", bombs.zipped())),
    "a packed CSV": ("load.not_text", lambda f: put(f / "a.csv", bombs.gzipped())),
    "a cell of 10 MB": ("load.long_line", lambda f: put(f / "a.csv", b"a\n1\n" + b"x" * bombs.LONG + b"\n")),
    "a name of 10 MB": ("load.long", lambda f: put(f / "a.csv", b"a" * bombs.LONG + b"\n1\n")),
    "a cell of 10 MB in Parquet": ("load.long", lambda f: bombs.long_cell(f / "a.parquet")),
    "a cell of 10 MB in a frame": ("load.long", lambda f: pd.DataFrame({"a": ["1", "x" * bombs.LONG]})),
    "rows without end": ("load.swollen", lambda f: bombs.many_rows(f / "a.parquet")),
    "one long text in every row": ("load.swollen", lambda f: bombs.many_texts(f / "a.parquet")),
    "a file of one endless line": ("load.long", lambda f: put(f / "a.csv", b"a,b" * bombs.LONG)),
    "no rows, all line ends": ("load.no_rows", lambda f: put(f / "a.csv", b"a,b" + b"\n" * 10**5)),
}


IN_ROWS = ("a cell of 10 MB in Parquet", "one long text in every row")  # of which a survey counts the rows alone


@pytest.mark.parametrize("bomb", sorted(BOMBS))
def test_a_bomb_is_refused_and_leaves_nothing(bomb: str, tmp_path: Path) -> None:
    code, make = BOMBS[bomb]
    source, workspace = make(tmp_path), dp.open_workspace(tmp_path / "home")
    before = sorted((tmp_path / "home").rglob("*"))
    with pytest.raises(AllowanceError, check=lambda refusal: refusal.code == code) as caught:
        workspace.add_table(
            "bomb", source, schema=dp.Schema({"a": dp.Number(0, 9)}), unit=dp.Unit.rows(), budget=dp.Budget()
        )
    assert 1 <= len(re.findall(r"[.!?](?:\s|$)", str(caught.value))) <= 2 and len(str(caught.value)) < 300
    after = sorted(path for path in (tmp_path / "home").rglob("*") if path.name != "loading.lock")
    assert [path for path in after if path not in before] == []
    assert not workspace.tables() and workspace.ledger.head()[0] == 0
    if isinstance(source, Path) and bomb not in IN_ROWS:  # what looks at a file before it is declared refuses it too
        with pytest.raises(AllowanceError):
            survey(source, Dialect())


@pytest.mark.parametrize("depth", [10**5, 10**6])
def test_a_receipt_that_is_nested_without_end_is_refused(depth: int) -> None:
    for content in (b"[" * depth, b'{"receipt":' * depth):
        with pytest.raises(AllowanceError):
            read_receipts(content, "r.json")


@pytest.mark.long
def test_a_table_that_is_the_same_in_every_row_is_no_bomb(tmp_path: Path) -> None:
    """Power of the other kind: a plain Parquet file of two million equal rows comes in."""
    pd.DataFrame({"a": [1] * 2_000_000, "b": ["yes"] * 2_000_000}).to_parquet(tmp_path / "a.parquet")
    survey(tmp_path / "a.parquet", Dialect())


def made(make: Callable[..., None], *given: Any) -> str:
    make(*given)
    return str(given[-1])


PLACES: dict[str, Callable[[Path], str]] = {
    "a pipe": lambda folder: made(os.mkfifo, folder / "p.csv"),
    "a device": lambda folder: "/dev/zero",
    "a device under a name": lambda folder: made(os.symlink, "/dev/zero", folder / "d.csv"),
    "a name with a zero": lambda folder: "a\0b.csv",
    "a name too long": lambda folder: "a" * 5000 + ".csv",
    "a name below a file": lambda folder: str(put(folder / "a.csv", b"a\n1\n") / "b.csv"),
    "nothing": lambda folder: "",
    "a link to itself": lambda folder: made(os.symlink, folder / "l.csv", folder / "l.csv"),
}


@pytest.mark.parametrize("place", sorted(PLACES))
def test_what_is_no_file_is_refused(place: str, tmp_path: Path) -> None:
    workspace = dp.open_workspace(tmp_path / "home")
    source = PLACES[place](tmp_path)
    with pytest.raises(AllowanceError, check=lambda refusal: refusal.code.startswith("load.")):
        workspace.add_table(
            "x", source, schema=dp.Schema({"a": dp.Number(0, 9)}), unit=dp.Unit.rows(), budget=dp.Budget()
        )
    assert not list((tmp_path / "home" / "tables").iterdir())


def test_links_pipes_and_hidden_files_are_not_offered(tmp_path: Path) -> None:
    inside, outside = tmp_path / "files", tmp_path / "outside.csv"
    (inside / "folder").mkdir(parents=True)
    outside.write_text("a\n1\n")
    (inside / "good.csv").write_text("a\n1\n")
    (inside / ".hidden.csv").write_text("a\n1\n")
    (inside / "link.csv").symlink_to(outside)
    (inside / "away").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe.csv")
    (inside / "folder" / "link.csv").symlink_to(outside)
    assert [path.name for path in uploads.waiting(inside)] == ["folder", "good.csv"]
    with pytest.raises(AllowanceError, check=lambda refusal: refusal.code == "load.folder_empty"):
        survey(inside / "folder", Dialect())
