"""What the ledger does when things go wrong: crowds, kill -9, edits by hand, locks, full and read-only disks."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, fits
from dpengine.accountant.loss import Pure
from dpengine.asking.jobs import Jobs
from dpengine.asking.release import charge_and_draw
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.ledger.ledger import Ledger
from tests.helpers_ledger import MILLIONTH, USUAL, WIDE, ask, code_of, end_child, opened, start_child
from tests.planted.ledgers import LooksBeforeItLocks, two_at_once

# Crowds


def test_eight_processes_spend_exactly_the_cap(tmp_path: Path) -> None:
    epsilon = "0.015"
    allowed = fits(USUAL, Totals.NOTHING, cost(Pure(Fraction(epsilon)), USUAL.alpha))
    assert 180 < allowed < 260

    def spend(name: int) -> int:
        with closing(Ledger(tmp_path / "ledger.sqlite", wait=30)) as ledger:  # all eight make the file at once
            ledger.create_budget("b", USUAL, "private", "owner", "people")
            for i in range(allowed + 1):
                try:
                    ledger.reserve(**ask(f"{name}-{i}", epsilon))
                except BudgetExceeded:
                    return i
        return -1

    children = [start_child(partial(spend, name)) for name in range(8)]
    counts = [int(end_child(*child)) for child in children]
    assert sum(counts) == allowed and min(counts) >= 0, counts
    with opened(tmp_path) as ledger:
        assert ledger.standing("b").charges == allowed == len(ledger.charges(limit=10**6))
        assert ledger.verify().ok
        with pytest.raises(BudgetExceeded):
            ledger.reserve(**ask("one more", epsilon))


def test_the_chain_names_the_charge_that_overspent() -> None:
    """The power check of the test above: without the lock two are admitted, and `verify` sees it."""
    admitted, verdict = two_at_once(LooksBeforeItLocks)
    assert admitted == 2 and (verdict.broken, verdict.why) == (3, "chain.totals")


# kill -9


def test_killed_at_any_moment_no_answer_is_out_without_its_charge(tmp_path: Path) -> None:
    """15 kills, and more where needed, each after a longer time, until some came before an answer and some after.
    An answer is shown only after it is stored, a charge precedes it, and nothing is drawn twice."""
    moments = random.Random(20260607)
    shown: dict[str, str] = {}
    drawn: Counter[str] = Counter()
    interrupted: set[str] = set()
    with opened(tmp_path, WIDE):
        pass
    for run in range(250):
        if run >= 15 and shown and interrupted:
            break
        receive, send = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(receive)
            _release_for_ever(tmp_path, run, send, sorted(interrupted))
        os.close(send)
        with os.fdopen(receive) as pipe:
            assert pipe.readline() == "ready\n"
            lines = [pipe.readline() for _ in range(moments.randrange(9))]  # however busy the machine is
            time.sleep(moments.uniform(0, 0.006))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            lines += pipe.read().splitlines(keepends=True)
        for line in lines:
            if not line.endswith("\n"):
                continue  # cut off in the middle of a write: the person saw nothing
            word, request, value = line.split()
            assert word in ("drawing", "answer"), line
            if word == "drawing":
                drawn[request] += 1
            else:
                shown[request] = value
        with opened(tmp_path) as ledger:
            assert ledger.verify().ok
            interrupted |= {entry.charge.request for entry in ledger.charges(limit=10**6) if entry.outcome is None}
    assert shown and interrupted and max(drawn.values()) == 1
    with opened(tmp_path) as ledger:
        for request, value in shown.items():
            entry = ledger.find(request)
            assert entry is not None and entry.outcome is not None
            assert entry.charge.seq < entry.outcome.seq and entry.outcome.body["value"] == value
        jobs = Jobs(tmp_path, ledger)
        assert all(jobs.state(request).state == "interrupted" for request in interrupted)
        assert not interrupted & shown.keys()
        jobs.close()


def _release_for_ever(folder: Path, run: int, send: int, again: list[str]) -> None:
    """A process that asks, shows and asks on until it is killed. It begins with what was interrupted before."""
    ledger = Ledger(folder / "ledger.sqlite")
    worker = Jobs(folder, ledger).worker

    def carry(request: str) -> None:
        def draw(statistic: int) -> dict[str, Any]:
            os.write(send, f"drawing {request} -\n".encode())
            time.sleep(0.003)  # most kills find a charge without its answer
            return {"value": os.urandom(8).hex()}

        entry = charge_and_draw(ledger, ask(request, "0.001", worker=worker), lambda: 1, draw)
        assert entry.outcome is not None
        os.write(send, f"answer {request} {entry.outcome.body['value']}\n".encode())

    try:
        os.write(send, b"ready\n")
        for request in again[-3:]:
            try:
                carry(request)
            except AllowanceError as error:
                assert error.code == "release.interrupted"
        for i in range(10**6):
            carry(f"{run}-{i}")
    except BaseException as error:  # the parent reads it as a wrong line
        os.write(send, f"broken {type(error).__name__} -\n".encode())
    finally:
        os._exit(1)


# Locks and disks


def test_a_locked_ledger_says_so_in_one_sentence_and_spends_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, wait=0.05) as ledger:
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as stranger:
            stranger.execute("BEGIN IMMEDIATE")
            assert code_of(lambda: ledger.reserve(**ask("r"))) == "ledger.locked"
            assert ledger.standing("b").charges == 0  # readers never wait
            assert ledger.create_budget("b", WIDE, "private", "owner", "people").rule == USUAL  # nor known budgets
            stranger.execute("ROLLBACK")
        assert ledger.reserve(**ask("r")).fresh


def test_a_full_disk_says_so_and_the_ledger_goes_on_afterwards(tmp_path: Path) -> None:
    long_claim = {"digest": "d", "sentence": "x" * 200_000}

    def at_the_limit() -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write past the limit fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY))
        with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
            code = code_of(lambda: ledger.reserve(**ask("r", claim=long_claim)))
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert ledger.reserve(**ask("r", claim=long_claim)).fresh and ledger.verify().ok
        return code

    with opened(tmp_path):
        pass
    assert end_child(*start_child(at_the_limit)) == "ledger.unwritable"


@pytest.mark.parametrize("already_open", [True, False])
def test_a_read_only_ledger_says_so_in_one_sentence(already_open: bool) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ledger-"))
    path = folder / "ledger.sqlite"

    def without_rights() -> str:
        if os.getuid() == 0:
            os.setuid(65534)  # root may write anywhere
        return code_of(lambda: _reserve_and_close(path))

    try:
        with opened(folder) as ledger:
            if not already_open:
                ledger.close()
            for file in folder.iterdir():
                file.chmod(0o444)
            folder.chmod(0o555)
            assert end_child(*start_child(without_rights)) == "ledger.unwritable"
            folder.chmod(0o700)
            assert ledger.standing("b").charges == 0
    finally:
        shutil.rmtree(folder)


def _reserve_and_close(path: Path) -> None:
    with closing(Ledger(path)) as ledger:
        ledger.reserve(**ask("r"))


def test_a_missing_folder_or_a_vanished_file_is_told_and_not_papered_over(tmp_path: Path) -> None:
    assert code_of(lambda: Ledger(tmp_path / "nowhere" / "ledger.sqlite")) == "ledger.unwritable"
    with opened(tmp_path) as ledger:
        ledger.close()
        ledger.path.unlink()
        assert code_of(lambda: ledger.standing("b")) == "ledger.unwritable"
        assert not ledger.path.exists()  # an empty ledger in its place would be a new, full allowance


def test_a_forked_child_opens_its_own_connection(tmp_path: Path) -> None:
    with opened(tmp_path, Rule.make(Fraction(100), MILLIONTH)) as ledger:
        ledger.reserve(**ask("parent", "0.01"))

        def child() -> int:
            for i in range(20):
                ledger.reserve(**ask(f"child-{i}", "0.01"))
            return ledger.standing("b").charges

        started = start_child(child)
        for i in range(20):
            ledger.reserve(**ask(f"parent-{i}", "0.01"))
        assert 21 <= int(end_child(*started)) <= 41
        assert ledger.standing("b").charges == 41 and ledger.verify().ok
