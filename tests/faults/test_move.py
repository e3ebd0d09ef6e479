"""A workspace goes to another computer in one file: whole, once, and checked on arrival."""

from __future__ import annotations

import json
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from dpengine.__main__ import main
from dpengine.commands.move import arrive, move
from dpengine.core.errors import AllowanceError
from dpengine.workspace import Workspace
from tests.faults.scenes import declare


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with closing(Workspace(tmp_path / "old")) as workspace:
        table = declare(workspace, "people")
        table.ask(table.query("mean", column="x", epsilon="0.1"), request_id="one")
    return workspace.folder


def refused(act: object, code: str) -> None:
    assert callable(act)
    with pytest.raises(AllowanceError) as refusal:
        act()
    assert refusal.value.code == code


def test_a_moved_workspace_goes_on_there_and_opens_no_more_here(home: Path, tmp_path: Path) -> None:
    with closing(Workspace(home)) as workspace:
        before = [(name, workspace.table(name).meter().used) for name in (r.name for r in workspace.tables())]
        head = workspace.ledger.head()
        refused(lambda: move(home, tmp_path / "all.zip"), "workspace.in_use")
    assert main(["move", str(tmp_path / "all.zip"), "--home", str(home)]) == 0
    assert (tmp_path / "all.zip").stat().st_mode & 0o77 == 0
    assert not list(tmp_path.glob("all.zip.*"))
    refused(lambda: Workspace(home), "workspace.copy")
    assert main(["arrive", str(tmp_path / "all.zip"), "--home", str(tmp_path / "new")]) == 0
    with closing(Workspace(tmp_path / "new")) as workspace:
        assert [(name, workspace.table(name).meter().used) for name, _ in before] == before
        assert workspace.verify_ledger().ok and workspace.ledger.head()[0] > head[0]
        table = workspace.table(before[0][0])
        assert table.ask(table.query("mean", column="x", epsilon="0.1"), request_id="two").value >= 0
    refused(lambda: arrive(tmp_path / "new", tmp_path / "all.zip"), "arrive.taken")


def test_nothing_is_overwritten_and_nothing_changes_when_it_fails(home: Path, tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_bytes(b"mine")
    refused(lambda: move(home, tmp_path / "all.zip"), "backup.exists")
    refused(lambda: move(home, tmp_path / "nowhere" / "all.zip"), "backup.no_folder")
    assert (tmp_path / "all.zip").read_bytes() == b"mine"
    with closing(Workspace(home)) as workspace:
        assert workspace.verify_ledger().ok


@pytest.mark.every(3)
@pytest.mark.parametrize("change", ["a byte", "a file more", "a file less", "a way out", "no list", "an end"])
def test_a_changed_file_does_not_arrive(home: Path, tmp_path: Path, change: str) -> None:
    move(home, tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    told = json.loads(held["allowance.json"])
    raw = next(name for name in held if name.startswith("tables/"))
    if change == "a byte":
        held[raw] = held[raw][:-1] + bytes([held[raw][-1] ^ 1])
    elif change == "a file more":
        held["more"] = b""
    elif change == "a file less":
        del held[raw]
    elif change == "a way out":
        held["../escaped.parquet"] = held.pop(raw)
        told["files"]["../escaped.parquet"] = told["files"].pop(raw)
    elif change == "no list":
        del held["allowance.json"]
    if "allowance.json" in held:
        held["allowance.json"] = json.dumps(told).encode()
    with zipfile.ZipFile(tmp_path / "changed.zip", "w") as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    if change == "an end":
        whole = (tmp_path / "changed.zip").read_bytes()
        (tmp_path / "changed.zip").write_bytes(whole[: len(whole) // 2])
    refused(lambda: arrive(tmp_path / "new", tmp_path / "changed.zip"), "arrive.damaged")
    assert not list(tmp_path.rglob("escaped*")) and not (tmp_path / "new" / "ledger.sqlite").exists()
    assert arrive(tmp_path / "new", tmp_path / "all.zip") > 0  # the right one still does
