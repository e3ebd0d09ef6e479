"""`--workers 3`: the tests are collected once, then as many copies of this process run them, file by file.

What the tests of a file share is made once, so a file stays with one worker, and so do all journeys (one server, one
browser) and all tests that ask Spark. A worker asks for its next file before the last test of the one it has, so that
pytest knows which fixtures end with that test.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest

# These are long, and their tests share little: each of them goes where there is room.
_APART = ("tests/test_contract.py", "tests/test_planted.py")
# What takes long in one piece begins first, so that no worker is left with it at the end.
_FIRST = (
    "tests/browser/",
    "tests/leaks/",
    "tests/test_new_question.py",
    "tests/recorded/",
    "tests/fuzz/",
    "tests/faults/",
    "tests/test_architecture.py",
    "tests/pages/",
    "tests/engine/",
)


# Tests write two gigabytes and wait for a disk ten thousand times. Where there is room, they write to memory; what a
# failed run left there lies until the next.
_MEMORY, _ROOM, _OURS = Path("/dev/shm"), 8 << 30, "allowance-tests-"


def _in_memory() -> Path | None:
    try:
        for left in _MEMORY.glob(f"{_OURS}*"):
            if not Path("/proc", left.name.removeprefix(_OURS)).exists():
                shutil.rmtree(left, ignore_errors=True)
        free = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text(encoding="utf-8"))
        if free is None or min(int(free[1]) << 10, shutil.disk_usage(_MEMORY).free) < _ROOM:
            return None
        return _MEMORY / f"{_OURS}{os.getpid()}" if os.access(_MEMORY, os.W_OK) else None
    except OSError:
        return None


def _asks_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ())


def turn(item: pytest.Item) -> int:
    if _asks_spark(item):
        return 0
    if item.nodeid.startswith(_APART):  # last: they are short, so that no worker waits long for another
        return len(_FIRST) + 1
    return next((turn for turn, start in enumerate(_FIRST) if item.nodeid.startswith(start)), len(_FIRST))


def _in_one_piece(items: list[pytest.Item]) -> list[list[int]]:
    """Places of tests that stay together, in the order of their first."""
    pieces: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        file = item.nodeid.split("::")[0]
        together = "Spark" if _asks_spark(item) else "tests/browser/" if file.startswith("tests/browser/") else file
        piece = item.nodeid if file in _APART else together
        pieces.setdefault(piece, []).append(place)
    return list(pieces.values())


@dataclass
class _Worker:
    pid: int
    pipe: Connection
    running: str = "its first test"
    ended: bool = False


class Workers:
    """A plugin in place of pytest's own loop over the tests."""

    def __init__(self, many: int, at_end: Callable[[], None]) -> None:
        self.many, self.at_end = many, at_end

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.config.option.collectonly or session.testsfailed:
            return None
        folders: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]
        own = None if session.config.option.basetemp else _in_memory()
        if own is not None:
            folders._given_basetemp = own
        folders.getbasetemp()  # one for all
        pieces = iter(_in_one_piece(session.items))
        workers = [self._start(session, number) for number in range(self.many)]
        try:
            while left := {worker.pipe: worker for worker in workers if not worker.ended}:
                for pipe in wait(left):
                    self._hear(session, left[pipe], pieces)  # type: ignore[index]
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
        finally:
            for worker in workers:
                if not worker.ended:
                    os.kill(worker.pid, signal.SIGINT)
                os.waitpid(worker.pid, 0)
            if own is not None and not session.testsfailed:
                shutil.rmtree(own, ignore_errors=True)
        return True

    def _hear(self, session: pytest.Session, worker: _Worker, pieces: Iterator[list[int]]) -> None:
        try:
            kind, content = worker.pipe.recv()
        except EOFError:
            worker.ended = True
            raise RuntimeError(f"a worker died in {worker.running}") from None
        if kind == "next":
            worker.pipe.send(next(pieces, []))
        elif kind == "starts":
            worker.running = content
        elif kind == "report":
            hook = session.config.hook
            hook.pytest_runtest_logreport(
                report=hook.pytest_report_from_serializable(config=session.config, data=content)
            )
        else:
            worker.ended = True
            if content:
                raise RuntimeError(f"a worker failed in {worker.running}\n{content}")

    def _start(self, session: pytest.Session, number: int) -> _Worker:
        ours, theirs = Pipe()
        with warnings.catch_warnings():  # Python 3.12 warns of threads, such as numpy's, which survive this
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid:
            theirs.close()
            return _Worker(pid, ours)
        ours.close()
        failure = ""
        try:
            _run(session, theirs, number)
        except BaseException:  # told by the first process, whoever raised it
            failure = traceback.format_exc()
        finally:
            with suppress(BaseException):
                session._setupstate.teardown_exact(None)
            with suppress(BaseException):
                self.at_end()
            with suppress(OSError):
                theirs.send(("end", failure))
            os._exit(0)  # what was there before the fork is for the first process to put away
        raise AssertionError


class _Reports:
    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self.config, self.pipe = config, pipe

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.pipe.send(("starts", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        content = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.pipe.send(("report", content))


def _run(session: pytest.Session, pipe: Connection, number: int) -> None:
    config: Any = session.config
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Reports(config, pipe))
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # the file that output goes to is shared
    capture.start_global_capturing()
    folders = config._tmp_path_factory
    folders._basetemp = folders.getbasetemp() / f"worker-{number}"
    folders._basetemp.mkdir()

    def following() -> list[pytest.Item]:
        pipe.send(("next", None))
        return [session.items[place] for place in pipe.recv()]

    mine = following()
    while mine:
        for item, after in pairwise(mine):
            config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        last, mine = mine[-1], following()
        config.hook.pytest_runtest_protocol(item=last, nextitem=mine[0] if mine else None)
