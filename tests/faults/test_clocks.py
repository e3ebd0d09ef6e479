"""Clocks that jump: the time in a row is for people to read. Order is by row number, life is a lock, waiting is counted
by a clock that cannot be set."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dpengine.asking.jobs import Jobs
from dpengine.asking.release import charge_and_draw
from dpengine.ledger import ledger as ledger_module
from dpengine.ledger.ledger import Ledger
from dpengine.storage import workers
from tests.faults.counts import note
from tests.helpers_ledger import WIDE, ask, end_child, opened, start_child, until, value
from ui.shell.web import _new_cookies

FAR = (0, 4_000_000_000)  # 1970 and 2096


def test_rows_stand_in_the_order_they_were_written_whatever_the_clock_said(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = ["2026-06-01T12:00:00+00:00", "1970-01-01T00:00:00+00:00", "2096-10-02T07:06:40+00:00"] * 3
    with opened(place, WIDE) as ledger:
        for number, at in enumerate(times):
            monkeypatch.setattr(ledger_module, "_now", lambda at=at: at)
            ledger.reserve(**ask(f"r{number}", "0.01"))
            ledger.answer(f"r{number}", value(number))
        assert ledger.verify().ok and ledger.standing("b").charges == len(times)
        newest = [entry.charge.request for entry in ledger.charges("b")]
        assert newest == [f"r{number}" for number in reversed(range(len(times)))]
        assert [entry.charge.request for entry in ledger.walk("b")] == newest[::-1]
        assert ledger.spread("b", 3)[0].history.count == 1
    note("the clock jumps between two rows", len(times))


def _by_the_clock(path: Path) -> bool:
    """The planted mistake: a worker lives while its file is at most a minute old."""
    return path.exists() and abs(time.time() - path.stat().st_mtime) < 60


@pytest.mark.parametrize("jump", FAR)
@pytest.mark.parametrize(
    ("held", "alive", "dead"),
    [(workers._held, "running", "interrupted"), (_by_the_clock, "interrupted", "interrupted")],
    ids=["locks", "planted"],
)
def test_the_living_are_not_declared_dead_by_a_clock(
    place: Path, monkeypatch: pytest.MonkeyPatch, jump: int, held: Callable[[Path], bool], alive: str, dead: str
) -> None:
    monkeypatch.setattr(workers, "_held", held)

    def carry() -> None:
        with closing(Ledger(place / "ledger.sqlite")) as mine:
            jobs = Jobs(place, mine)
            charge_and_draw(
                mine, ask("r", worker=jobs.worker), lambda: until((place / "go").exists), lambda _: value(7)
            )

    with opened(place) as ledger:
        jobs = Jobs(place, ledger)
        child = start_child(carry)
        try:
            until(lambda: ledger.find("r") is not None)
            entry = ledger.find("r")
            assert entry is not None
            os.utime(place / "workers" / f"{entry.charge.worker}.lock", (jump, jump))
            monkeypatch.setattr(time, "time", lambda: float(FAR[1] - jump))
            monkeypatch.setattr(ledger_module, "datetime", type("Jumped", (datetime,), {"now": _at(FAR[1] - jump)}))
            assert jobs.state("r").state == alive
        finally:
            os.kill(child[0], signal.SIGKILL)
            end_child(*child)
        assert jobs.state("r").state == dead  # and the dead not for alive
        jobs.close()
    note(f"the clock jumps while a release runs, to {datetime.fromtimestamp(jump, UTC).year}", 1)


def _at(seconds: int) -> classmethod[datetime, [object], datetime]:
    return classmethod(lambda cls, zone=None: datetime.fromtimestamp(seconds, zone))


def test_the_cookie_names_no_date() -> None:
    """How long it lasts is counted by the browser, from when it came."""
    [cookie] = _new_cookies({"headers": [], "query_string": b"", "path": "/"}, "http")
    assert b"max-age=" in cookie.lower() and b"expires" not in cookie.lower()
