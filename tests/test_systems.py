"""It runs on Windows and macOS too: no POSIX-only name, every text with its encoding, no open file replaced."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import helpers_systems
import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("dpengine", "ui", "demos", "pages", "data", "allowance", "app.py")
FILES = [
    path for part in PARTS for path in ([ROOT / part] if part.endswith(".py") else sorted((ROOT / part).rglob("*.py")))
]
ALLOWED = {
    "ui/shell/log_privacy.py": {"resource"},  # under `suppress(ImportError)`
    "dpengine/intake/file_process.py": {"resource"},  # the same
    "dpengine/client.py": {"open"},  # an address
}
TEXT = {"open", "read_text", "write_text", "fdopen", "NamedTemporaryFile"}
KEYWORDS = ("preexec_fn", "start_new_session", "process_group")
# A text without any of these is not parsed: all that is looked for is spelt with one of them.
WORDS = re.compile(
    rf"import.*\b({'|'.join(helpers_systems.MODULES)})\b|from ({'|'.join(helpers_systems.MODULES)}|os)\b"
    rf"|\bos\s*\.\s*({'|'.join(helpers_systems.NAMES)})\b|\b({'|'.join(TEXT)})\s*\(|{'|'.join(KEYWORDS)}|fork"
)


def posix_only(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in helpers_systems.MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in {*helpers_systems.MODULES, "os"}:
            hidden = helpers_systems.NAMES if node.module == "os" else {name.name for name in node.names}
            yield from (name.name for name in node.names if name.name in hidden)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            if node.attr in helpers_systems.NAMES:
                yield f"os.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg in KEYWORDS:
            yield node.arg
        elif isinstance(node, ast.Constant) and node.value in ("fork", "forkserver"):
            yield f"the start method {node.value}"


def text_without_encoding(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        owner = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
        if name not in TEXT or (name == "open" and owner in ("os", "webbrowser", "archive")):
            continue
        named = {word.arg for word in node.keywords}
        modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        modes += [w.value.value for w in node.keywords if w.arg == "mode" and isinstance(w.value, ast.Constant)]
        binary = any("b" in mode and len(mode) <= 3 for mode in modes)
        if "encoding" not in named and not binary:
            yield f"{owner}.{name}".lstrip(".")


def test_the_source_names_nothing_of_one_system_alone() -> None:
    assert len(FILES) > 500
    found = {}
    for path in FILES:
        place, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        tree = ast.parse(text if WORDS.search(text) else "")
        if seen := {*posix_only(tree), *text_without_encoding(tree)} - ALLOWED.get(place, set()):
            found[place] = seen
    assert not found


def test_the_search_finds_what_it_looks_for() -> None:
    tree = ast.parse("import fcntl\nos.statvfs('.')\nfrom os import fork\nPopen(preexec_fn=f)\nget_context('fork')")
    assert len(list(posix_only(tree))) == 5
    tree = ast.parse("open(a)\nopen(a, 'rb')\nopen(a, encoding='utf-8')\np.read_text()\np.open('w')")
    assert len(list(text_without_encoding(tree))) == 3


@pytest.mark.long
def test_a_table_lives_without_posix(tmp_path: Path) -> None:
    """Import, declare (a text file, a spreadsheet, a large table), ask, revise, draft, report, verify, back up, move,
    delete."""
    spoken = subprocess.run(
        [sys.executable, "-W", "error", "-m", "helpers_systems", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        capture_output=True,
        encoding="utf-8",
        timeout=550,
    )
    assert spoken.returncode == 0 and spoken.stdout.endswith("lived\n"), spoken.stdout + spoken.stderr
