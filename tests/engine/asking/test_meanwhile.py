"""One question asked from two places at once: the second is not charged before whoever asks knows of the first."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from helpers_ledger import WIDE, ask, code_of, opened

import dpengine as dp
from dpengine.ledger.ledger import Ledger

CARS = [["has_car", "in", ["yes"]]]


def test_a_question_that_was_charged_meanwhile_is_not_charged_again(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        seen = ledger.head()[0]
        first = ledger.reserve(**ask("one", seen=seen))
        rows = ledger.head()
        assert code_of(lambda: ledger.reserve(**ask("two", seen=seen))) == "request.meanwhile"
        assert code_of(lambda: ledger.reserve_all([ask("three", "0.2", seen=seen), ask("four", seen=seen)])) == (
            "request.meanwhile"
        )
        assert ledger.head() == rows and ledger.find("two") is ledger.find("three") is None
        assert ledger.reserve(**ask("one", seen=seen)).seq == first.seq  # the same request is the same charge
        assert ledger.reserve(**ask("other", "0.2", seen=seen)).fresh  # another question
        assert ledger.reserve(**ask("elsewhere", seen=seen, table="others")).fresh
        assert ledger.reserve(**ask("two", seen=ledger.head()[0])).fresh  # they know by now
        assert ledger.reserve(**ask("five")).fresh  # a notebook asks again when it says so
        last = ledger.newest_to("b", "people", "digest-0.1")
        assert last is not None and last.charge.request == "five" and last.outcome is None


def test_of_many_at_once_one_is_charged(tmp_path: Path) -> None:
    with opened(tmp_path, WIDE) as ledger:
        seen, start = ledger.head()[0], threading.Barrier(8)
        said: list[str] = []

        def press(number: int) -> None:
            own = Ledger(tmp_path / "ledger.sqlite", wait=60.0)
            start.wait()
            try:
                said.append("charged" if own.reserve(**ask(f"r{number}", seen=seen)).fresh else "known")
            except dp.AllowanceError as refusal:
                said.append(refusal.code)
            finally:
                own.close()

        threads = [threading.Thread(target=press, args=(number,)) for number in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert sorted(said) == ["charged"] + ["request.meanwhile"] * 7
        assert len(ledger.charges("b")) == 1


@pytest.mark.every(3)
@pytest.mark.parametrize("together", [False, True])
def test_two_tabs_of_a_table(tmp_path: Path, together: bool) -> None:
    workspace = dp.open_workspace(tmp_path)
    table = workspace.table("town", visitor="ana")
    query = table.query("count", where=CARS, epsilon="0.05")
    seen = workspace.ledger.head()[0]
    for request in ("first", "second"):
        if together:
            table.submit_plan([query], request, seen=seen)
        else:
            table.submit(query, request, seen=seen)
        workspace.jobs.wait(request, 60)
    told = table.run("second").error if together else workspace.job("second").error
    assert isinstance(told, dp.AllowanceError) and told.code == "request.meanwhile"
    assert table.meter().charges == 1 and table.last_asked(query) is not None
