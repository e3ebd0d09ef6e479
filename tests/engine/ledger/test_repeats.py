"""A question asked many times: what is read and built does not grow, and what is kept for it follows from the chain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers_ledger import ask, opened

import dpengine as dp
from bench.repeats import ask_often, questions
from dpengine.asking.paid_answers import MOST_AVERAGED
from dpengine.ledger import repeats
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import Charge
from dpengine.mechanisms.query import Query
from dpengine.storage import registry


def made(folder: Path, times: int) -> dp.Table:
    frame = pd.DataFrame({"town": ["a", "b"] * 250, "pay": [str(place % 100) for place in range(500)]})
    schema = dp.Schema({"town": dp.Category(["a", "b"]), "pay": dp.Number(0, 100)})
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("100", "1e-6")}
    table = dp.open_workspace(folder).add_table("T", frame, **terms)
    ask_often(table, times)
    return table


@contextmanager
def counting(table: dp.Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """Steps of SQLite's machine, charges read, questions built."""
    counted = {"steps": 0, "read": 0, "built": 0}

    def count(name: str) -> None:
        counted[name] += 1

    read, build = Charge.from_row, Query.build.__func__  # type: ignore[attr-defined]
    with monkeypatch.context() as patched, table._workspace.ledger._store.reading() as db:
        patched.setattr(Charge, "from_row", staticmethod(lambda *one, **more: (count("read"), read(*one, **more))[1]))
        patched.setattr(Query, "build", classmethod(lambda cls, *one: (count("built"), build(cls, *one))[1]))
        db.conn.set_progress_handler(lambda: count("steps"), 1)
        try:
            yield counted
        finally:
            db.conn.set_progress_handler(None, 1)


@pytest.mark.long
def test_recall_and_looks_do_not_grow_with_repetitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six questions 70 times each, and 100 times each: the same rows, the same questions, as many steps but for a
    deeper tree."""
    found: dict[int, list[dict[str, int]]] = {}
    for times in (70, 100):
        table = made(tmp_path / str(times), times)
        found[times] = []
        for query in questions(table):
            with counting(table, monkeypatch) as counted:
                reading, paid = table.looks(query), table.recall(query)
            assert reading.count == times and len(reading.newest) == len(paid) == repeats.MOST_NEWEST
            assert paid[-1].request_id == reading.newest[-1].request_id
            assert paid[-1].request_id == f"{times - 1} {questions(table).index(query)}"
            found[times].append(counted)
        with counting(table, monkeypatch) as counted:
            assert table.trainings() == table.publications() == table.checks() == table.syntheses() == []
        found[times].append(counted)
    for few, many in zip(found[70], found[100], strict=True):
        assert many["read"] == few["read"] <= 2 * repeats.MOST_NEWEST + repeats.FEW
        assert many["built"] == few["built"] and many["steps"] <= 1.1 * few["steps"] + 100


def test_what_is_left_out_changes_no_range(tmp_path: Path) -> None:
    """A count at one ε thirty times, then at a second: read from a few rows as from all of them."""
    table = made(tmp_path, 0)
    query = table.query("count", where=[["town", "in", ["a"]]], epsilon="0.5")
    for place in range(30):
        table.ask(query, f"r {place}")
    last = table.ask(query.at(Fraction(3)), "last")
    reading = table.looks(query)
    every = [table.answer_of(entry) for entry in reversed(table.history(100))]
    from dpengine.asking.paid_answers import read_together

    whole = read_together(every, query.beta)
    assert (reading.interval, reading.value, reading.beta) == (whole.interval, whole.value, whole.beta)
    assert reading.count == whole.count == 31 and reading.newest[-1] == last
    assert len(reading.answers) == MOST_AVERAGED + 1 and MOST_AVERAGED <= repeats.FEW


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.execute("SELECT * FROM looks ORDER BY seq"))


def test_the_index_is_append_only_and_made_again_with_copied_rows(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with opened(tmp_path) as ledger:
        for place in range(6):
            ledger.reserve(**ask(f"r{place}", "0.1" if place % 2 else "0.05"))
            ledger.answer(f"r{place}", {"value": place}) if place != 3 else ledger.fail("r3", "x")
        found = ledger.all_answers_to("b", "people", ask("", "0.1")["claim"])
        assert [entry.charge.request for entry in found.newest] == ["r0", "r1", "r2", "r4", "r5"] and found.count == 5
        told = ledger.answers_to("b", "people", ask("", "0.1")["claim"])
        assert [entry.charge.request for entry in told] == ["r1", "r5"]
        assert ledger.verify().ok
    whole = rows_of(path)
    with closing(sqlite3.connect(path)) as db:
        again = "INSERT OR REPLACE INTO looks SELECT * FROM looks"
        for act in ("UPDATE looks SET place = 99", "DELETE FROM looks", again):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(act)
    assert rows_of(path) == whole
    copy = Ledger(tmp_path / "copy.sqlite")
    with opened(tmp_path) as ledger:
        copy.adopt(ledger.export_rows())
    assert rows_of(tmp_path / "copy.sqlite") == whole and copy.verify().ok
    copy.close()


def test_a_look_taken_away_or_made_up_is_noticed(tmp_path: Path) -> None:
    """By somebody who removes the guards and puts them back."""
    with opened(tmp_path) as ledger:
        for place in range(3):
            ledger.reserve(**ask(f"r{place}"))
            ledger.answer(f"r{place}", {"value": place})
    path = tmp_path / "ledger.sqlite"
    guards = {name: sql for name in ("no_look_delete", "no_look_update") for sql in repeats.STATEMENTS if name in sql}
    acts = ["DELETE FROM looks WHERE seq = 5", "UPDATE looks SET charge = 2 WHERE seq = 5"]
    acts += [f"UPDATE looks SET {part} = 99 WHERE seq = 5" for part in ("question", "law", "number", "place")]
    for act in acts:
        whole = path.read_bytes()
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for name in guards:
                db.execute(f"DROP TRIGGER {name}")
            db.execute(act)
            for sql in guards.values():
                db.execute(sql)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with opened(tmp_path) as ledger:
            verdict = ledger.verify()
            assert not verdict.ok and verdict.why == "chain.guards"
        path.write_bytes(whole)


def test_pages_read_no_declaration_but_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six tables or two: Ask and the Ledger read the declaration of one."""
    from leaks import walk

    monkeypatch.setenv("ALLOWANCE_HOME", str(tmp_path))
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    monkeypatch.setattr("ui.shell.speed._import_for_questions", lambda prepare: None)  # it would bring a sample
    workspace, read, found = dp.open_workspace(tmp_path), registry._record, []
    for many in (2, 6):
        for place in range(0 if many == 2 else 2, many):
            frame = pd.DataFrame({"a": [str(place)] * (9 + place)})
            terms = {"schema": dp.Schema({"a": dp.Number(0, 99)}), "unit": dp.Unit.rows()}
            workspace.add_table(f"T{place}", frame, budget=dp.Budget("5", "1e-6"), **terms)
        counted: list[str] = []
        with monkeypatch.context() as patched:
            patched.setattr(registry, "_record", lambda row, seen=counted: (seen.append(row["name"]), read(row))[1])
            for page in ("ask", "answers"):
                walk.opened(page, {"table": "T1", "view": "ledger"})
        assert set(counted) == {"T1"}
        found.append(len(counted))
    assert found[1] <= found[0]  # what is read is kept
