"""Backups: whole, private, no workspace until `recover` says so, and never more allowance than there was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpengine.__main__ import main
from dpengine.workspace import Workspace
from tests.faults.lived import code_of, command, opens, question

# Backups


@pytest.fixture
def copied(home: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[Path, Path, str]]:
    """A workspace in use, its backup, and its head then."""
    with closing(Workspace(home)) as workspace:
        head = workspace.ledger.head()[1]
        code, said = command(home, "backup", str(home.parent / "copy"), capsys=capsys)
        assert code == 0 and head in said
        yield home, home.parent / "copy", head


def test_a_backup_is_whole_private_and_no_workspace(copied: tuple[Path, Path, str]) -> None:
    home, copy, _ = copied
    for path in [copy, *copy.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    for name in ("secret", *(str(file.relative_to(home)) for file in (home / "tables").rglob("coded-1.parquet"))):
        assert (copy / name).read_bytes() == (home / name).read_bytes()
    assert code_of(lambda: opens(copy)) == "workspace.copy"


def test_a_backup_moved_goes_on_when_nothing_was_asked_since(
    copied: tuple[Path, Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    home, copy, head = copied
    code, said = command(copy, "recover", capsys=capsys)
    assert code == 1 and "--moved" in said and "backup" in said
    assert command(copy, "recover", "--moved", "0" * 64, capsys=capsys)[0] == 2
    code, said = command(copy, "recover", "--moved", head, capsys=capsys)
    assert code == 0 and "Never open the original" in said
    with closing(Workspace(copy)) as workspace:
        assert workspace.closed() == {} and workspace.verify_ledger().ok
        table = workspace.table("people")
        assert table.ask(question(table)).value is not None and table.meter().charges == 4
        assert workspace.table("town").query("count", where=[["age", ">", 30]], epsilon="0.1")
    assert command(home, "recover", "--moved", head, capsys=capsys)[0] == 2  # it is in use, and no copy


def test_a_backup_older_than_its_original_closes_every_allowance(
    copied: tuple[Path, Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    home, copy, _ = copied
    with closing(Workspace(home)) as workspace:
        table = workspace.table("people")
        table.ask(question(table))
        newer = workspace.ledger.head()[1]
    code, said = command(copy, "recover", "--moved", newer, capsys=capsys)
    assert code == 2 and "something was asked later" in said
    assert command(copy, "recover", "--close", capsys=capsys)[0] == 0
    with closing(Workspace(copy)) as workspace:
        assert workspace.closed() == {"people": "close", "later": "close"}


@pytest.mark.parametrize("where", ["copy", "var/inside"])
def test_a_backup_overwrites_nothing_and_lies_elsewhere(
    home: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.parent / "copy").mkdir()
    assert command(home, "backup", str(home.parent / where), capsys=capsys)[0] == 2
    assert list((home.parent / "copy").iterdir()) == [] and not (home / "inside").exists()
    assert main(["backup", "--home", str(home.parent / "nowhere"), "x"]) == 2
