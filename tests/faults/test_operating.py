"""docs/operating.md says what the program says, names what is there, and every fault has its page."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpengine.__main__ import COMMANDS
from dpengine.ledger.store import SETTING
from dpengine.messages import CATALOGUES, say
from dpengine.workspace import Workspace
from tests.faults.stage import ROOT

TEXT = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
TOLD_THERE = sorted(
    {
        "ledger.locked",
        "ledger.unwritable",
        "ledger.damaged",
        "workspace.secret",
        "release.failed",
        "release.interrupted",
    }
    | {
        code
        for code in CATALOGUES["en"]
        if re.fullmatch(r"registry\.(rolled_back|missing|damaged)|workspace\.\w+", code)
    }
    | {code for code in CATALOGUES["en"] if re.fullmatch(r"ledger\.(database_\w+|other_folder|folder_apart)", code)}
    | {"ledger.unreachable", "ledger.unsure", "ledger.stranger", "ledger.two"}
    | {"ledger.rolled_back", "ledger.missing", "table.damaged", "budget.closed"}
)


def test_every_fault_sentence_is_there_word_for_word() -> None:
    for code in TOLD_THERE:
        assert f"| {CATALOGUES['en'][code].replace('{table}', '…').replace('{setting}', SETTING)} |" in TEXT, code


def test_its_commands_exist_and_it_is_linked() -> None:
    named = set(re.findall(r"python -m dpengine (\w+)", TEXT))
    assert named == {"backup", "recover", "ledger", "head", "verify"} and named <= COMMANDS.keys()
    for page in ("README.md", "docs/architecture.md", "docs/privacy.md"):
        assert "operating.md" in (ROOT / page).read_text(encoding="utf-8")


def test_the_folder_holds_what_it_says(place: Path) -> None:
    with closing(Workspace(place / "var")) as home:
        home.table("residents").meter()
        assert home.jobs.worker
        there = {path.name for path in home.folder.iterdir() if not path.name.endswith(("-wal", "-shm"))}
    rows = re.findall(r"^\| (`.+?) \|", TEXT, re.MULTILINE)
    listed = {name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)}
    elsewhere = {"ledger.head", "ledger.head.lock", "signed-in", "people"}  # no row, no head; and where people sign in
    assert listed - there <= elsewhere and there <= listed, there ^ listed


@pytest.mark.parametrize("page", ["", "ask"])
def test_every_page_says_what_is_wrong(place: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    home = place / "var"
    with closing(Workspace(home)) as workspace:
        workspace.table("residents").meter()
    os.remove(home / "secret")
    monkeypatch.setenv("ALLOWANCE_HOME", str(home))
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    if page:
        app.switch_page(f"../pages/{page}.py")
    app.run()
    said = " ".join(str(block.proto) for block in app.get("html"))
    assert not app.exception and say("workspace.secret_missing").split(",")[0].replace("’", "") in said.replace(
        "\\342\\200\\231", ""
    ).replace("’", "")
    shutil.rmtree(home)
