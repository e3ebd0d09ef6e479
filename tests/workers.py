"""Which worker runs what, and when: `make test` starts three, and each collects every test."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent

# What the tests of a file share is made once: they stay on one worker. But for this, which is long, and shares little.
_APART = ("tests/test_contract.py",)
# What takes long in one piece begins first, so that no worker is left with it at the end.
_FIRST = (
    "tests/browser/",
    "tests/test_planted.py",
    "tests/leaks/",
    "tests/test_new_question.py",
    "tests/recorded/",
    "tests/fuzz/",
    "tests/faults/",
    "tests/test_architecture.py",
    "tests/test_requirements.py",
    "tests/pages/",
    "tests/engine/",
)


def turn(item: pytest.Item) -> int:
    return next((turn for turn, start in enumerate(_FIRST) if item.nodeid.startswith(start)), len(_FIRST))


def by_file(config: pytest.Config, log: Any) -> Any:
    """The tests of a file go to one worker, and all journeys, by where they stand: xdist 3.8 loses its group marks
    under pytest 9.2."""
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            if file in _APART:
                return nodeid
            return "browser" if file.startswith("tests/browser/") else file

    config.option.loadscopereorder = False  # in the order of _FIRST, not by how many tests a file has
    return ByFile(config, log)


def compile_a_share(config: pytest.Config) -> None:
    """In a fresh checkout every worker would compile every test. Each begins with others, and finds the rest done."""
    from _pytest.assertion import rewrite

    worker, workers = os.environ.get("PYTEST_XDIST_WORKER"), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if worker is None or sys.dont_write_bytecode:
        return
    here = sorted(path for path in TESTS.rglob("test_*.py") if "engines" not in path.parts)
    for path in here[int(worker.removeprefix("gw")) :: workers]:
        kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if not kept.exists() and rewrite.try_makedirs(kept.parent):
            made, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, made, kept)
