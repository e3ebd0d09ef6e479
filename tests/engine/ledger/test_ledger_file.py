"""The ledger as a file: how much a decision reads, what the file itself refuses, connections and versions."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from dpengine.ledger import ledger as ledger_module
from dpengine.ledger import ledger as reader_module
from dpengine.ledger import repeats, sqlite_file
from dpengine.ledger.chain import hash_of
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.sqlite_file import VERSION
from tests.helpers_ledger import WIDE, ask, opened, raises

# Size: what a decision reads does not grow


def fill(ledger: Ledger, rows: int) -> None:
    """Charges of the budget up to so many rows, quickly: nothing reads them, they only stand in the way."""
    with ledger._store.writing() as db:
        real = next(db.query("SELECT * FROM entries WHERE seq = 2"))
        seq, prev = sqlite_file.head_of(db)
        filled = []
        for number in range(seq + 1, rows + 2):
            row = {**real, "seq": number, "request": f"fill{number}", "prev": prev}
            row["hash"] = prev = hash_of(row)
            filled.append(row)
        db.conn.executemany(ledger_module._INSERT, filled)


@pytest.mark.long
def test_after_five_thousand_rows_the_meter_reads_as_much_as_after_ten(tmp_path: Path) -> None:
    with opened(tmp_path, WIDE) as ledger:
        ledger.reserve(**ask("r", "0.001"))
        work: dict[int, int] = {}
        plans: set[str] = set()
        for rows in (10, 5_000):
            fill(ledger, rows)
            ledger.reserve(**ask(f"before {rows}", "0.001"))  # looks at the rows that came since the last one
            with ledger._store.reading() as db:
                steps: Counter[int] = Counter()
                statements: list[str] = []
                db.conn.set_progress_handler(partial(steps.update, [rows]), 1)
                db.conn.set_trace_callback(statements.append)
                ledger.budget("b")
                ledger.standing("b")
                ledger.reserve(**ask(f"after {rows}", "0.001"))
                ledger.find(f"after {rows}")
                ledger.answer(f"after {rows}", {"value": 1})
                ledger.acts("b")
                ledger.closed()
                ledger.charges("b", limit=1)
                db.conn.set_progress_handler(None, 0)
                db.conn.set_trace_callback(None)
                work[rows] = steps[rows]
                for sql in {sql for sql in statements if sql.startswith(("SELECT", "INSERT"))}:
                    plans |= {row["detail"] for row in db.query("EXPLAIN QUERY PLAN " + sql)}
        assert ledger.head()[0] > 5_000
        assert work[5_000] <= work[10] * 1.1, work  # steps of SQLite's machine, not seconds
        small = ("json_each", "one_act", "one_close", "roles_of", "owners_of")  # these hold few rows, and no charge
        scans = {plan for plan in plans if plan.startswith("SCAN") and not any(name in plan for name in small)}
        assert plans and not scans, scans
        for index in ("charges_of", "one_charge", "acts_of", "one_act"):
            assert any(index in plan for plan in plans), (index, plans)


def test_recall_is_indexed(tmp_path: Path) -> None:
    asked = {repeats._OF_LAW: ["q", "l"], repeats._FIRST: ["q"], repeats._NEWEST: ["q"], repeats._NUMBER: ["q"]}
    asked[reader_module._THESE] = ["[1]"]
    with opened(tmp_path) as ledger, ledger._store.reading() as db:
        plan = [row["detail"] for sql, given in asked.items() for row in db.query(f"EXPLAIN QUERY PLAN {sql}", given)]
    searched = [line for line in plan if "looks" in line or "entries" in line]
    assert len(searched) == len(asked) and all(line.startswith("SEARCH") for line in searched)


def test_a_picture_of_very_many_charges_searches_for_each_of_its_points(tmp_path: Path) -> None:
    with opened(tmp_path, WIDE) as ledger:
        for number in range(40):
            ledger.reserve(**ask(f"r{number}", "0.001"))
            if number % 3:
                ledger.answer(f"r{number}", {"value": 1})
        assert [charge.history.count for charge in ledger.spread("b", 40)] == list(range(1, 41))
        few = [charge.history.count for charge in ledger.spread("b", 7)]
        assert few[0] == 1 and few[-1] == 40 and few == sorted(set(few)) and len(few) == 7
        assert ledger.spread("nobody", 7) == []
        with ledger._store.reading() as db:
            plan = [row["detail"] for row in db.query("EXPLAIN QUERY PLAN " + reader_module._NEAREST, ["b", "[1]"])]
    assert "SEARCH entries USING INDEX charges_of (budget=? AND seq<?)" in plan
    assert not any("SCAN entries" in line or "TEMP B-TREE" in line for line in plan), plan


# The guards inside the file

_NEW = "'new'"
_HEAD = "(SELECT hash FROM entries WHERE seq = 3)"
_COPY = "INTO entries SELECT {}, at, kind, budget, {}, actor, body, totals, {}, hash FROM entries"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET at = 'x' WHERE seq = 2",
        "DELETE FROM entries WHERE seq = 3",
        f"INSERT OR REPLACE {_COPY.format('seq', 'request', 'prev')} WHERE seq = 2",
        f"INSERT {_COPY.format('seq + 9', _NEW, 'prev')} WHERE seq = 2",
        f"INSERT {_COPY.format('4', _NEW, 'prev')} WHERE seq = 2",
        f"INSERT {_COPY.format('4', 'budget', _HEAD)} WHERE seq = 1",
        f"INSERT {_COPY.format('4', 'request', _HEAD)} WHERE seq = 2",
        f"INSERT {_COPY.format('4', 'request', _HEAD)} WHERE seq = 3",
    ],
    ids=["update", "delete", "replace", "skip", "unlinked", "second-creation", "second-charge", "second-outcome"],
)
def test_the_file_itself_refuses_changes(tmp_path: Path, statement: str) -> None:
    with opened(tmp_path) as ledger:
        ledger.reserve(**ask("r"))
        ledger.answer("r", {"value": 1})
        stranger = sqlite3.connect(ledger.path)
        with pytest.raises(sqlite3.IntegrityError):
            stranger.execute(statement)
        stranger.close()
        assert ledger.verify().ok and ledger.head()[0] == 3


# Connections and versions


def test_each_thread_has_its_own_connection_and_none_is_left_open(tmp_path: Path) -> None:
    with opened(tmp_path, WIDE) as ledger:

        def work(name: str) -> None:
            for i in range(5):
                ledger.reserve(**ask(f"{name}-{i}", "0.01"))

        threads = [threading.Thread(target=work, args=(str(i),)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.standing("b").charges == 20 and ledger.verify().ok
        assert len(ledger._store._handles) <= 5
        ledger.close()
        assert not (tmp_path / "ledger.sqlite-wal").exists()  # SQLite removes it with the last connection
        assert ledger.standing("b").charges == 20  # and a later call opens a new one


def test_one_thread_after_another_uses_the_same_connection_and_what_it_has_read(tmp_path: Path) -> None:
    with opened(tmp_path, WIDE) as ledger:
        seen: list[int] = []

        def look() -> None:
            seen.append(ledger.standing("b").charges)

        def in_a_thread() -> None:
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()

        for _ in range(12):
            in_a_thread()
        assert len(ledger._store._handles) == 2  # with this thread's own
        with patch.object(ledger_module, "sound_rows", side_effect=AssertionError):
            in_a_thread()  # nothing is read again
        ledger.reserve(**ask("one"))
        in_a_thread()
        assert seen == [0] * 13 + [1]


def test_a_waiting_connection_is_not_used_for_another_file_in_its_place(tmp_path: Path) -> None:
    """Of the same content: an older one is refused, whichever connection looks."""
    with opened(tmp_path, WIDE) as ledger:
        thread = threading.Thread(target=ledger.standing, args=("b",))
        thread.start()
        thread.join()
        (waiting,) = ledger._store._waiting
        copy = tmp_path / "copy.sqlite"
        with sqlite3.connect(tmp_path / "ledger.sqlite") as db:
            db.execute("VACUUM INTO ?", [str(copy)])
        db.close()
        assert waiting.of(ledger._store.path)
        copy.replace(tmp_path / "ledger.sqlite")
        assert not waiting.of(ledger._store.path)
        waiting.close()


@pytest.mark.parametrize(("version", "code"), [(VERSION + 1, "workspace.newer"), (VERSION - 1, "workspace.older")])
def test_a_ledger_of_another_version_is_left_alone(tmp_path: Path, version: int, code: str) -> None:
    path = tmp_path / "ledger.sqlite"
    with opened(tmp_path) as ledger, ledger._store.writing() as db:
        db.conn.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with raises(code):
        Ledger(path)
    assert path.read_bytes() == before


OTHER = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    other.execute(sys.argv[2]).fetchall()
    print("done")
except sqlite3.OperationalError:
    print("locked")
other.close()
"""


@pytest.mark.parametrize("small", [True, False])
def test_opening_a_ledger_again_gives_no_lock_of_this_process_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    """A kernel drops a process's locks on a file as soon as it closes that file anywhere. Then another process would
    write at the same time, or take away the log that this one writes into."""
    monkeypatch.setattr(sqlite_file, "small_blocks", lambda _: small)
    monkeypatch.setattr(sqlite_file, "nearly_full", lambda _: small)  # then its beginning is read too

    def of_another_process(act: str) -> str:
        told = [sys.executable, "-c", OTHER, str(tmp_path / "ledger.sqlite"), act]
        return subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()

    with opened(tmp_path) as ledger:
        with ledger._store.writing():
            again = threading.Thread(target=lambda: Ledger(ledger.path).close())
            again.start()
            again.join()
            assert of_another_process("BEGIN IMMEDIATE") == "locked"
        second = Ledger(ledger.path)
        assert of_another_process("SELECT count(*) FROM entries") == "done"
        assert small or (tmp_path / "ledger.sqlite-wal").exists()
        ledger.reserve(**ask("r1"))
        second.close()
    with opened(tmp_path) as later:
        assert later.find("r1") is not None and later.verify().ok
