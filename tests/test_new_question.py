"""`make new-question` on a scratch copy: what it writes is asked, priced and keeps its claims as it stands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.new_question import new_question

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("dpengine", "demos", "ui", "pages", "tests", "tools", "pyproject.toml")
KEY = "power_mean"

USED = f"""
import dpengine as dp
from dpengine.mechanisms import asked_on
from dpengine.declared.facts import Facts
from dpengine.noise.coins import SystemCoins
facts = Facts("people", dp.Schema({{"pay": dp.Number(0, 100)}}), dp.Unit.rows(), "replace", 10_000)
query = dp.catalogue["{KEY}"].build(facts, {{"column": "pay", "epsilon": "2", "beta": "1e-7"}})
assert "{KEY}" in asked_on("ask") and 0 < query.promise().amount < 1
assert query.sentence() == "The power mean of pay for everyone"
answer = query.release(query.need().of([{{"pay": place % 101}} for place in range(10_000)]), SystemCoins())
assert answer.interval[0] <= 50 <= answer.interval[1], answer
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tmp_path / part)
    return tmp_path


def run(scratch: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=scratch,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_a_new_question_works_as_it_is_written(scratch: Path) -> None:
    """Three files, no registration; the checks that every question stands are put to it, and the format is ours."""
    before = {path: path.read_bytes() for path in scratch.rglob("*") if path.is_file()}
    run(scratch, "tools/new_question.py", KEY)
    changed = {path for path in scratch.rglob("*") if path.is_file() and before.get(path) != path.read_bytes()}
    assert len(changed) == 3 and len([path for path in changed if path not in before]) == 1
    run(scratch, "-c", USED)
    run(scratch, "-m", "ruff", "check", "--no-cache", *map(str, changed))
    run(scratch, "-m", "ruff", "format", "--no-cache", "--check", *map(str, changed))
    tests = ("tests/test_self_description.py", "tests/test_contract.py")
    told = run(
        scratch,
        "-m",
        "pytest",
        "-p",
        "no:playwright",
        "-p",
        "no:cacheprovider",
        "-q",
        *tests,
        "-k",
        f"{KEY} and not left_to_be_written and not several_rows and not samples",
        "-m",
        "not long",
    )
    assert " passed" in told and "failed" not in told


@pytest.mark.parametrize("key", ["count", "Power mean", "../escape", "", "median"])
def test_a_key_that_cannot_be_is_one_sentence_and_writes_nothing(key: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "dpengine" / "mechanisms", tmp_path / "dpengine" / "mechanisms")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SystemExit, match=r"already|such as"):
        new_question(key, tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
