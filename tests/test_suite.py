"""The suite itself: nothing is left out silently."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import amount
import pytest

TESTS = Path(__file__).resolve().parent
FILES = sorted(path for path in TESTS.rglob("*.py"))
SKIPS = {  # what a machine may lack; with CI=true that is a failure, else the reason stands at the end of the run
    "faults/test_disks.py": "a kernel that lets nobody mount a disk",
    "browser/test_leaks.py": "a system without /proc",
}


def test_only_these_tests_may_be_left_out() -> None:
    skip = re.compile(r"pytest\.(skip|importorskip|mark\.(skip|skipif|xfail))\b|unittest\.skip")
    found = {path.relative_to(TESTS).as_posix() for path in FILES if skip.search(path.read_text(encoding="utf-8"))}
    assert found - {Path(__file__).name} == set(SKIPS)


def test_an_audit_of_an_hour_has_run_every_case_after_some_days() -> None:
    cases, days = list(range(250)), -(-250 // amount.CASES)
    run = [amount.in_turn(cases, day) for day in range(740_000, 740_000 + days)]
    assert sorted(case for day in run for case in day) == cases
    assert max(map(len, run)) <= amount.CASES and amount.in_turn(cases[: amount.CASES]) == cases[: amount.CASES]
    assert not amount.by_turns("tests/test_planted.py::test_it")


@pytest.mark.parametrize(("ci", "words"), [("true", "1 failed"), ("", "1 skipped")], ids=["on CI", "elsewhere"])
def test_a_skip_is_a_failure_on_ci_and_told_elsewhere(ci: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "test_left_out.py").write_text("import pytest\n\n\ndef test_it():\n    pytest.skip('no such disk')\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:playwright", "-p", "no:cacheprovider", "-q", "-rfs"],
        cwd=tmp_path,
        env={**os.environ, "CI": ci, "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}"},
        capture_output=True,
        text=True,
    )
    assert words in ran.stdout and "no such disk" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == (ci == "true")
