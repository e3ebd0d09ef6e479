"""Releases and the processes that carry them: waiting for another one, kill -9, forks, locks."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpengine.asking import jobs as jobs_module
from dpengine.asking.jobs import Jobs
from dpengine.asking.release import charge_and_draw
from dpengine.ledger.ledger import Ledger
from tests.helpers_ledger import PATIENCE, ask, code_of, end_child, opened, start_child, until, value


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path) as made:
        yield made


@pytest.fixture
def jobs(tmp_path: Path, ledger: Ledger) -> Iterator[Jobs]:
    made = Jobs(tmp_path, ledger)
    yield made
    made.close()


def _carry_slowly(folder: Path) -> str:
    """Reads until there is a file named `go`."""

    def read() -> int:
        until((folder / "go").exists)
        return 7

    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        mine = Jobs(folder, ledger)
        charge_and_draw(ledger, ask("r", worker=mine.worker), read, value)
        mine.close()
    return "carried"


def test_a_second_process_waits_for_the_first_and_gets_its_answer(tmp_path: Path, ledger: Ledger, jobs: Jobs) -> None:
    child = start_child(lambda: _carry_slowly(tmp_path))
    until(lambda: ledger.find("r") is not None)
    assert jobs.state("r").state == "running"
    args = ask("r", worker=jobs.worker)
    assert code_of(lambda: charge_and_draw(ledger, args, lambda: 8, value, patience=0.01)) == "release.waiting"
    assert jobs.wait("r", timeout=0.01).state == "running"
    threading.Timer(0.05, (tmp_path / "go").touch).start()
    entry = charge_and_draw(ledger, args, lambda: 8, value)
    assert entry.outcome is not None and entry.outcome.body == value(7)
    assert jobs.wait("r", timeout=PATIENCE).state == "done"
    assert end_child(*child) == "carried" and ledger.standing("b").charges == 1


def test_a_killed_process_leaves_an_interrupted_release_that_nobody_draws(
    tmp_path: Path, ledger: Ledger, jobs: Jobs
) -> None:
    pid, pipe = start_child(lambda: _carry_slowly(tmp_path))
    until(lambda: ledger.find("r") is not None)
    assert jobs.state("r").state == "running"
    os.kill(pid, signal.SIGKILL)
    assert end_child(pid, pipe) == ""
    state = jobs.wait("r", timeout=PATIENCE)
    assert state.state == "interrupted" and state.error is not None and "charge stays" in str(state.error)
    assert (
        code_of(lambda: charge_and_draw(ledger, ask("r", worker=jobs.worker), lambda: 8, value))
        == "release.interrupted"
    )
    entry = ledger.find("r")
    assert entry is not None and entry.outcome is None and ledger.standing("b").charges == 1
    names = [file.name for file in (tmp_path / "workers").glob("*.lock")]
    assert names == [f"{jobs.worker}.lock"]  # the dead one's is swept


def _queue_up(folder: Path) -> str:
    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        mine = Jobs(folder, ledger)
        for name in ("r", "r1", "waits"):
            args = ask(name, "0.01", worker=mine.worker)
            mine.submit(
                name, lambda args=args: charge_and_draw(ledger, args, lambda: until((folder / "go").exists), value)
            )
        until((folder / "never").exists)
    return "ended"


def test_what_waited_in_a_killed_process_is_told_as_not_asked(tmp_path: Path, ledger: Ledger, jobs: Jobs) -> None:
    pid, pipe = start_child(lambda: _queue_up(tmp_path))
    until(lambda: ledger.standing("b").charges == 2)
    assert jobs.state("waits").state == "unknown"  # its process lives, and knows more
    os.kill(pid, signal.SIGKILL)
    end_child(pid, pipe)
    assert jobs.wait("r", timeout=PATIENCE).state == "interrupted"
    found = jobs.wait("waits", timeout=PATIENCE)
    assert found.state == "refused" and found.error is not None and found.error.code == "release.dropped"
    jobs.submit("waits", lambda: charge_and_draw(ledger, ask("waits", "0.01", worker=jobs.worker), lambda: 7, value))
    assert jobs.wait("waits", timeout=PATIENCE).state == "done" and ledger.standing("b").charges == 3


def test_an_answer_stored_between_two_looks_is_seen(
    ledger: Ledger, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pending, then the worker stores its answer and ends, then its lock is found free: not interrupted."""
    ledger.reserve(**ask("r", worker="ab12"))

    def ends_meanwhile(*_: object) -> bool:
        ledger.answer("r", value(7))
        return False

    monkeypatch.setattr(jobs_module, "still_computing", ends_meanwhile)
    assert jobs.state("r").state == "done"


def test_a_lock_lives_as_long_as_its_process_and_is_private(tmp_path: Path, ledger: Ledger, jobs: Jobs) -> None:
    lock = tmp_path / "workers" / f"{jobs.worker}.lock"
    assert lock.stat().st_mode & 0o777 == 0o600 and lock.parent.stat().st_mode & 0o777 == 0o700
    with closing(Ledger(ledger.path)) as second:
        others = Jobs(tmp_path, second)  # two servers, or two workspaces in one process
        assert others.worker != jobs.worker and lock.exists()
        theirs = tmp_path / "workers" / f"{others.worker}.lock"
        del others
        gc.collect()
        assert not theirs.exists()
    name = jobs.worker
    jobs.close()
    assert not lock.exists() and jobs.worker != name


def test_a_forked_child_neither_keeps_nor_uses_its_parents_lock(tmp_path: Path) -> None:
    stop = tmp_path / "stop"

    def parent() -> None:
        with closing(Ledger(tmp_path / "ledger.sqlite")) as mine:
            jobs = Jobs(tmp_path, mine)
            mine.reserve(**ask("parent", worker=jobs.worker))
            if os.fork() == 0:
                args = ask("child", worker=jobs.worker)
                jobs.submit("child", lambda: charge_and_draw(mine, args, lambda: 7, value))
                jobs.wait("child", timeout=PATIENCE)
                until(stop.exists)  # outlives its parent
            os._exit(0)

    with opened(tmp_path) as ledger:
        pid, pipe = start_child(parent)
        os.waitpid(pid, 0)
        jobs = Jobs(tmp_path, ledger)
        try:
            until(lambda: jobs.state("child").state == "done")
            assert jobs.state("parent").state == "interrupted"
            first, second = ledger.find("parent"), ledger.find("child")
            assert first is not None and second is not None and first.charge.worker != second.charge.worker
        finally:
            stop.touch()
            jobs.close()
            with os.fdopen(pipe) as end:
                assert end.read() == ""
