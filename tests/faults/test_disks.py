"""Full and read-only disks, and files that belong to somebody else, under a whole workspace.

What is real: in `make audit`, a small disk in memory that is filled to its last block and then made read-only, in a
name space of its own (`unshare`); where the kernel refuses that, the test says so and is left out. What is simulated,
in `make test`: the errors a read-only disk gives. test_ledger.py plays a file size limit and taken rights on the bare
ledger.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpengine as dp
from dpengine.workspace import Workspace
from tests.faults.counts import note
from tests.faults.stage import ROOT
from tests.helpers_ledger import end_child, raises, start_child


@pytest.mark.parametrize("fault", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_folder_that_cannot_be_used_is_one_sentence(place: Path, monkeypatch: pytest.MonkeyPatch, fault: int) -> None:
    """Simulated: a read-only disk, or a folder of somebody else's."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr(Path, "chmod", refuse)
    with raises("workspace.unwritable"):
        Workspace(place / "var")
    monkeypatch.undo()
    Workspace(place / "var").close()
    monkeypatch.setattr(os, "open", refuse)
    with raises("workspace.unwritable"):
        Workspace(place / "var")


@pytest.mark.parametrize("name", ["ledger.sqlite", "registry.sqlite", "secret"])
def test_a_file_of_somebody_else_is_one_sentence(place: Path, name: str) -> None:
    """Real: the file cannot be read by the user the program runs as. Files put back by root are the usual case."""
    home = place / "var"
    Workspace(home).close()

    def as_a_stranger() -> str:
        if os.getuid() == 0:
            for path in [place, *place.rglob("*")]:
                os.chown(path, 65534, 65534)
            os.chown(home / name, 0, 0)
            os.chmod(place.parent, 0o755)
            os.setuid(65534)
        os.chmod(home / name, 0) if os.getuid() == os.stat(home / name).st_uid else None
        try:
            Workspace(home)
        except dp.AllowanceError as complaint:
            return complaint.code
        return "opened"

    os.chmod(home / name, 0o600)
    code = end_child(*start_child(as_a_stranger))
    assert code in ("workspace.unwritable", "ledger.unwritable"), code


SCRIPT = """
import errno, json, os, subprocess, sys
from pathlib import Path
sys.path[:0] = [{root!r}]
import dpengine as dp
from dpengine.core import files
from dpengine.workspace import Workspace
from tests.faults.scenes import A, Telling, declare

files.KEPT_FREE = 0  # somebody else fills the disk, after the look at it (test_room.py) and before the write
disk, made = Path({disk!r}), Path({made!r})
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=True)
subprocess.run(["cp", "-r", made, disk / "var"], check=True)
draws, told = [], {{"draws": 0, "refused": {{}}, "shown": []}}
home = Workspace(disk / "var")
home.coins = Telling(lambda: draws.append(1))
table = home.table("people")
def ask(request):
    answer = table.ask(table.query("count", where=A, epsilon="0.01"), request_id=request)
    told["shown"].append([request, answer.value])
def attempt(name, work):
    try:
        work()
    except dp.AllowanceError as complaint:
        told["refused"][name] = complaint.code
ask("first")
def fill():
    with open(disk / "filler", "ab", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError as full:
            assert full.errno == errno.ENOSPC
for spare in range(24):  # room for a charge and not for its answer is among them
    fill()
    os.truncate(disk / "filler", (disk / "filler").stat().st_size - 4096 * spare)
    attempt(f"{{spare}} blocks", lambda: ask(f"{{spare}} blocks"))
fill()
told["read"] = [[record.name for record in home.tables()], [one.value for one in home.table("people").answers(100)]]
attempt("full declare", lambda: declare(home, "more"))
attempt("full revise", lambda: table.revise(table.schema))
(disk / "filler").unlink()
told["verified"] = [home.verify_ledger().ok]
ask("room again")
home.close()
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
attempt("read-only", lambda: Workspace(disk / "var"))
subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
home = Workspace(disk / "var")
told["verified"].append(home.verify_ledger().ok)
entries = home.ledger.charges(limit=1000)
told["charged"] = [entry.charge.request for entry in entries]
ended = {{entry.charge.request: entry.outcome for entry in entries if entry.outcome}}
told["answers"] = {{name: outcome.body["value"] for name, outcome in ended.items() if outcome.kind == "answer"}}
told["meter"], told["draws"] = home.table("people").meter().charges, len(draws)
told["strays"] = len(list((disk / "var" / "tables").iterdir())) - len(home.tables())
home.close()
print(json.dumps(told))
"""


CODES = {"workspace.unwritable", "ledger.unwritable", "load.unwritable", "release.failed"}


@pytest.mark.long
def test_a_full_and_then_a_read_only_disk_release_nothing_uncharged(place: Path) -> None:
    made, disk = place / "made", place / "disk"
    disk.mkdir()
    make = f"from pathlib import Path; from tests.faults.scenes import _make; _make(Path({str(made)!r}))"
    subprocess.run([sys.executable, "-c", make], cwd=ROOT, check=True)
    script = SCRIPT.format(root=str(ROOT), disk=str(disk), made=str(made))
    apart = ["unshare", "-Urm"]
    if shutil.which(apart[0]) is None or subprocess.run([*apart, "true"], capture_output=True).returncode:
        note("a disk filled to its last block, then read-only: not played, this kernel lets nobody mount", 0)
        pytest.skip("this kernel lets nobody mount a disk; the file size limit in test_ledger.py stands in for it")
    done = subprocess.run(
        [*apart, sys.executable, "-W", "ignore", "-c", script], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert all(told["verified"]) and not told["strays"], told
    assert told["draws"] <= len(told["charged"]) and told["meter"] == len(told["charged"])
    assert "0 blocks" in told["refused"] and len(told["shown"]) > 2, told
    assert told["read"][0] == ["people"] and len(told["read"][1]) >= len(told["shown"]) - 1, told  # while it was full
    assert all(told["answers"].get(request) == value for request, value in told["shown"])
    assert {"first", "room again"} <= {request for request, _ in told["shown"]}
    refused = told["refused"]
    assert refused["read-only"] == "workspace.unwritable" and "full declare" in refused, refused
    assert set(refused.values()) <= CODES, refused
    note("a disk filled to its last block, then read-only", len(refused))
