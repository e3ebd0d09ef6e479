"""The first start: what a thread prepares, and what the first screen does without."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpengine.core import places
from dpengine.workspace import open_workspace
from ui.ask import preview
from ui.shell.state import FIRST_TABLE

ROOT = Path(__file__).resolve().parents[2]

PREPARED = """
import gc, sys
import app
assert "dpengine.workspace" not in sys.modules or app.first_screen._thread.is_alive(), "the server waits for the engine"
app.first_screen.wait()
from pathlib import Path
assert (Path(sys.argv[1]) / "ledger.sqlite").exists() and gc.isenabled() and gc.get_freeze_count() > 1000
print(*sorted({"pandas", "ibis", "scipy", "openpyxl", "dpengine.mechanisms.counts.histogram"} & set(sys.modules)))
import pandas
"""


def test_start_does_not_load_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its link to the first question is the one that the form writes, once the table is there."""
    monkeypatch.setenv(places.SETTING, str(tmp_path))
    home = open_workspace(tmp_path)
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60).run()
    assert not app.exception and not home.here(FIRST_TABLE) and "tour-offer" in {button.key for button in app.button}
    tree = ast.parse((ROOT / "pages" / "start.py").read_text(encoding="utf-8"))
    [written] = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "FIRST_QUESTION"
    ]
    table = home.table(FIRST_TABLE)
    wanted = preview.preview_link(table, table.query("median", column="monthly_income", epsilon="0.1"))
    assert eval(compile(ast.Expression(written), "start", "eval"), {"FIRST_TABLE": FIRST_TABLE}) == wanted
    assert not app.run().exception


def test_a_thread_opens_the_workspace_before_the_first_visitor(tmp_path: Path) -> None:
    """It imports neither pandas nor the questions, and garbage is collected afterwards."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ALLOWANCE_")}
    env["ALLOWANCE_HOME"] = str(tmp_path)
    command = [sys.executable, "-W", "error", "-c", PREPARED, str(tmp_path)]
    shown = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, encoding="utf-8", timeout=120)
    assert shown.returncode == 0 and shown.stdout.split() == [], shown.stdout + shown.stderr
    assert gc.isenabled()
