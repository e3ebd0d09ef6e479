"""What the tests of the ledger and of the jobs share."""

from __future__ import annotations

import gc
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpengine.accountant.filter import Rule
from dpengine.accountant.loss import Loss, Pure
from dpengine.asking.jobs import Jobs
from dpengine.commands.ledger_places import place_of_ledger
from dpengine.commands.recover import LedgerState, look
from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import Ledger

# Seconds for what must come, and is waited for by nothing else: on a machine with much else to do it comes late.
PATIENCE = 120.0

MILLIONTH = Fraction(1, 10**6)
USUAL = Rule.make(Fraction(1), MILLIONTH)
WIDE = Rule.make(Fraction(100), MILLIONTH)


def ledger_state(home: Path) -> LedgerState:
    with closing(place_of_ledger(home)) as place:
        return look(home, place)


@contextmanager
def opened(folder: Path, rule: Rule = USUAL, wait: float = PATIENCE) -> Iterator[Ledger]:
    """A ledger with one budget, "b"."""
    ledger = Ledger(folder / "ledger.sqlite", wait=wait)
    try:
        ledger.create_budget("b", rule, "private", "owner", "people")
        yield ledger
    finally:
        ledger.close()


def ask(request: str, epsilon: str = "0.1", **other: Any) -> dict[str, Any]:
    """Arguments of `Ledger.reserve`."""
    loss: Loss = Pure(Fraction(epsilon))
    claim = {"key": "count", "version": 1, "parameters": {"epsilon": epsilon}, "digest": f"digest-{epsilon}"}
    told = {"budget": "b", "table": "people", "actor": "ana", "request": request, "worker": "ab12"}
    return told | {"claim": claim, "loss": loss} | other


def raises(code: str, kind: type[AllowanceError] = AllowanceError) -> pytest.RaisesExc[AllowanceError]:
    return pytest.raises(kind, check=lambda error: error.code == code)


def code_of(attempt: Callable[[], object]) -> str:
    """The code of the complaint; it must be one of ours, and show nothing of SQLite's, in a traceback neither."""
    with pytest.raises(AllowanceError) as caught:
        attempt()
    error = caught.value
    assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)
    assert not any(word in str(error).lower() for word in ("sqlite", "database", "insert", "errno", "/"))
    return error.code


def start_child(work: Callable[[], object]) -> tuple[int, int]:
    """Fork a process that does `work`; its id, and a pipe on which it says what it returned or raised."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid:
        os.close(send)
        return pid, receive
    os.close(receive)
    gc.freeze()  # what the parent left to collect may belong to libraries whose threads a fork does not have
    try:
        said = str(work())
    except BaseException:  # a forked child must never run on into the rest of the tests
        said = traceback.format_exc()
    os.write(send, said.encode())
    os._exit(0)


def end_child(pid: int, receive: int) -> str:
    with os.fdopen(receive) as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return said


def value(statistic: int) -> dict[str, Any]:
    return {"value": statistic, "interval": None}


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def once_closing(jobs: Jobs, then: Callable[[], object]) -> None:
    """Called in the background as soon as `jobs.close()` has dropped what waits."""
    pool = jobs._running.lanes._lanes[False].pool

    def watch() -> None:
        until(lambda: pool._shutdown)
        with pool._shutdown_lock:  # held until the queue is empty
            pass
        then()

    threading.Thread(target=watch).start()
