"""Where faults are played: in memory where there is such a disk. A kill -9 leaves what the kernel was told either way;
only a power cut, which no test here claims to play, would tell the two apart."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpengine.workspace import Workspace
from tests.faults.lived import TERMS, A, frame, question

MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if not (MEMORY.is_dir() and os.access(MEMORY, os.W_OK)):
        yield tmp_path_factory.mktemp("quick")
        return
    folder = Path(tempfile.mkdtemp(prefix="allowance-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def place(quick: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=quick))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def lived(quick: Path) -> Path:
    """A workspace, closed, with `old/` beside it: what it was before its last table and its last answers."""
    home, old = quick / "lived" / "var", quick / "lived" / "old"
    with closing(Workspace(home)) as workspace:
        table = workspace.add_table("people", frame(), **TERMS)
        table.ask(question(table), request_id="kept")
        session = table.open_session(table.query("adaptive_session", questions=3, epsilon="0.5"), "s")
        workspace.ledger.close()
        shutil.copytree(home, old)
        session.ask({"share": A}, "step 1")
        table.ask(question(table, "1"), request_id="later")
        later = workspace.add_table("later", frame("later"), **TERMS)
        later.ask(question(later), request_id="last")
    return home


@pytest.fixture
def home(lived: Path, place: Path) -> Path:
    shutil.copytree(lived.parent, place / "lived")
    return place / "lived" / "var"
