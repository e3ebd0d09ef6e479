"""What is taken away of an account: a notebook that runs with the engine alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.exports import Account
from dpengine.released import files
from dpengine.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]
RUN = "x'''\"\"\"\\\n');open('ran','w')#\u2028 č"  # a value that would like to be a program


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Table]:
    workspace = Workspace(tmp_path_factory.mktemp("taken"))
    kind = RUN.replace("\n", " ").replace("\u2028", " ")
    rows = pd.DataFrame({"wait": [10, 20, 30, 40] * 100, "clinic": [kind, "heart", kind, "skin"] * 100})
    schema = dp.Schema({"wait": dp.Number(0, 60), "clinic": dp.Category([kind, "heart", "skin"])})
    made = workspace.add_table(
        "Čakalnica #1", rows, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget(epsilon="20", delta="1e-6")
    )
    made.ask(made.query("histogram", column="clinic", epsilon="1"))
    made.ask(made.query("mean", column="wait", epsilon="1"))
    made.ask(made.query("median", column="wait", by="clinic", epsilon="5"))
    made.ask(made.query("top_item", column="clinic", epsilon="1"))
    made.ask(made.query("overview", against=["clinic"], epsilon="1"))
    made.open_session(made.query("adaptive_session", questions=3, epsilon="1"))
    yield made
    workspace.close()


def ran(told: dict[str, Any], folder: Path, before: str = "") -> str:
    """What its cells print, in a Python that can import neither the pages nor Streamlit."""
    cells = ["".join(cell["source"]) for cell in told["cells"] if cell["cell_type"] == "code"]
    blocked = "import sys\nfor name in ('ui', 'pages', 'demos', 'streamlit', 'plotly'): sys.modules[name] = None\n"
    (folder / "cells.py").write_text(blocked + before + "\n".join(cells), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "cells.py"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "ran").exists()
    return done.stdout


@pytest.mark.long
def test_the_notebook_runs_with_the_engine_alone(table: dp.Table, tmp_path: Path) -> None:
    told = json.loads(files.notebook_text(table.account_lines()))
    assert (told["nbformat"], told["nbformat_minor"]) == (4, 5)
    for cell in told["cells"]:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell["id"]) and isinstance(cell["source"], list)
        extra = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"id", "cell_type", "metadata", "source"} | extra
    said = ran(told, tmp_path)
    assert said.count("verified ") == 6 and "NOT VERIFIED" not in said
    assert "heart" in said and "0.95" in said
    assert re.search(r"^clinic\n   .*: -?\d+ \(\d+ – \d+\)\n   heart: ", said, re.M), "the first look is not told"
    assert table.history(1)[0].charge.history.count == 6  # nothing was asked


def test_a_receipt_that_was_changed_is_seen_in_the_notebook(table: dp.Table) -> None:
    lines = list(table.account_lines())
    changed = json.loads(lines[0])
    changed["receipt"]["loss"]["parts"][0]["epsilon"] = "1/1000"
    found = Account.read([json.dumps(changed), *lines[1:]]).checked()
    assert found[0].startswith("NOT VERIFIED") and all(line.startswith("verified") for line in found[1:])


def test_it_is_held_against_a_ledger(table: dp.Table) -> None:
    account, ledger = Account.read(table.account_lines()), table._workspace.ledger.path  # type: ignore[attr-defined]
    assert all(line.startswith("verified") for line in account.against(str(ledger)))
    forged = json.loads(json.dumps(account.records[1][1]))
    forged["answer"]["value"] = 0
    assert Account(((2, forged),)).against(str(ledger))[0].startswith("NOT VERIFIED")


def test_figures_are_those_of_the_page(table: dp.Table) -> None:
    account = Account.read(table.account_lines())
    for number, entry in enumerate(reversed(table.history(6))):
        assert account.figures(number) == table.figures(entry)
