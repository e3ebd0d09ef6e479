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
from ui.shell import state
from ui.shell.state import FIRST_TABLE

ROOT = Path(__file__).resolve().parents[2]

PREPARED = """
import gc, sys
import app
assert "dpengine.workspace" not in sys.modules or app.first_screen._thread.is_alive(), "the server waits for the engine"
app.first_screen.wait_if_begun()
from pathlib import Path
assert (Path(sys.argv[1]) / "ledger.sqlite").exists() and gc.isenabled() and gc.get_freeze_count() > 1000
print(*sorted({"pandas", "ibis", "scipy", "openpyxl", "dpengine.mechanisms.counts.histogram"} & set(sys.modules)))
import pandas
"""

FIRST = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
import app
from ui.shell import nav
def left():
    return {"dpengine.workspace", "duckdb", "pyarrow.parquet", "sqlite_utils", "docx", "rapidfuzz"} & set(sys.modules)
def at_rest(shown):
    assert not shown.exception and not any('class="refused"' in html.proto.body for html in shown.get("html"))
    return shown
start = at_rest(AppTest.from_file(str(Path("ui/main.py").resolve()), default_timeout=60).run())
assert "tour-offer" in {button.key for button in start.button} and not left(), left()
assert app.first_screen._thread is None and not (Path(sys.argv[1]) / "ledger.sqlite").exists()
at_rest(start.button(key="why-ask").click().run())
assert "why-back" in {button.key for button in start.button} and "dpengine.workspace" in sys.modules
assert (Path(sys.argv[1]) / "ledger.sqlite").exists()
at_rest(start.run())
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


@pytest.mark.long
def test_a_thread_opens_the_workspace_before_the_first_visitor(tmp_path: Path) -> None:
    """It imports neither pandas nor the questions, and garbage is collected afterwards."""
    open_workspace(tmp_path).close()
    shown = _apart(PREPARED, tmp_path)
    assert shown.returncode == 0 and shown.stdout.split() == [], shown.stdout + shown.stderr
    assert gc.isenabled()


@pytest.mark.long
def test_the_very_first_screen_needs_no_engine(tmp_path: Path) -> None:
    """Its first click does."""
    shown = _apart(FIRST, tmp_path / "new")
    assert shown.returncode == 0, shown.stdout + shown.stderr


@pytest.mark.parametrize("left", ["registry.sqlite", "secret", "tables"])
def test_a_folder_with_anything_in_it_is_opened(left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.SETTING, str(tmp_path))
    (tmp_path / "tmp").mkdir()
    assert state.is_untouched()
    monkeypatch.setenv("ALLOWANCE_LEDGER", "postgresql://ledger/allowance")
    assert not state.is_untouched()
    monkeypatch.delenv("ALLOWANCE_LEDGER")
    (tmp_path / left).touch()
    assert not state.is_untouched()


def _apart(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ALLOWANCE_")}
    env["ALLOWANCE_HOME"] = str(home)
    command = [sys.executable, "-W", "error", "-c", code, str(home)]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, encoding="utf-8", timeout=500)
