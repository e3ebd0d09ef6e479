"""A ledger edited by hand: every edit is found, and the first broken link is named."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, price
from dpengine.accountant.history import History
from dpengine.accountant.loss import Pure
from dpengine.ledger.chain import hash_of
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import COLUMNS, charge_body, charge_totals
from dpengine.ledger.watch import SOON, WITHIN, time
from tests.helpers_ledger import USUAL, WIDE, ask, code_of, opened


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 13 rows: two budgets, charges, answers, a failure, a pending charge."""
    folder = tmp_path_factory.mktemp("written")
    with opened(folder) as ledger:
        ledger.create_budget("c", WIDE, "practice", "owner", "sample")
        for i in range(4):
            ledger.reserve(**ask(f"r{i}", "0.05"))
            ledger.answer(f"r{i}", {"value": i})
        ledger.reserve(**ask("r4", "0.05", budget="c"))
        ledger.fail("r4", "release.failed")
        ledger.reserve(**ask("pending", "0.05"))
        assert ledger.head()[0] == 13 and ledger.verify().ok
    return folder / "ledger.sqlite"


@contextmanager
def tampered(written: Path, folder: Path) -> Iterator[sqlite3.Connection]:
    """A copy in the hands of someone who may do anything: the guards are taken off first and put back at the end."""
    (folder / "ledger.head").unlink(missing_ok=True)  # a stranger may do that too
    shutil.copy(written, folder / "ledger.sqlite")
    with closing(sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)) as stranger:
        stranger.row_factory = sqlite3.Row
        guards = stranger.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for guard in guards:
            stranger.execute(f"DROP TRIGGER {guard['name']}")
        yield stranger
        for guard in guards:
            stranger.execute(guard["sql"])


def verdict_on(folder: Path) -> tuple[int | None, str | None]:
    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        verdict = ledger.verify()
        assert verdict.ok == (verdict.why is None) and verdict.sentence
        return verdict.broken, verdict.why


@pytest.mark.every(3)
@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "seq"])
@pytest.mark.parametrize("seq", [1, 3, 4, 12, 13])
def test_an_edit_of_any_column_is_found_at_its_row(written: Path, tmp_path: Path, column: str, seq: int) -> None:
    edits = {"kind": "'note'", "body": "json_set(body, '$.extra', 1)", "prev": "hash", "hash": "prev"}
    with tampered(written, tmp_path) as stranger:
        stranger.execute(
            f"UPDATE entries SET {column} = {edits.get(column, column + chr(32) + '|| 1')} WHERE seq = ?", [seq]
        )
    assert verdict_on(tmp_path) == (seq, "chain.link" if column == "prev" else "chain.hash")


def test_a_changed_number_is_found_at_its_place(written: Path, tmp_path: Path) -> None:
    for seq, new, broken in ((5, 500, 5), (5, 0, 0), (13, 14, 13), (1, -7, -7)):
        with tampered(written, tmp_path) as stranger:
            stranger.execute("UPDATE entries SET seq = ? WHERE seq = ?", [new, seq])
        assert verdict_on(tmp_path) == (broken, "chain.gap")


def test_a_deleted_row_is_found(written: Path, tmp_path: Path) -> None:
    for seq in (1, 2, 7, 12):
        with tampered(written, tmp_path) as stranger:
            stranger.execute("DELETE FROM entries WHERE seq = ?", [seq])
        assert verdict_on(tmp_path) == (seq, "chain.gap")


def test_bytes_that_are_no_text_are_found(written: Path, tmp_path: Path) -> None:
    with tampered(written, tmp_path) as stranger:
        stranger.execute("UPDATE entries SET actor = CAST(x'ff80' AS TEXT) WHERE seq = 6")
    assert verdict_on(tmp_path) == (6, "chain.hash")


def test_an_inserted_row_is_found(written: Path, tmp_path: Path) -> None:
    with tampered(written, tmp_path) as stranger:
        _append(stranger, kind="note", hash="f" * 64)
    assert verdict_on(tmp_path) == (14, "chain.hash")
    with tampered(written, tmp_path) as stranger:  # make room in the middle and slip one in
        stranger.execute("UPDATE entries SET seq = -seq WHERE seq >= 6")
        stranger.execute("UPDATE entries SET seq = 1 - seq WHERE seq < 0")
        row = dict(stranger.execute("SELECT * FROM entries WHERE seq = 5").fetchone())
        slipped_in = row | {"seq": 6, "kind": "note", "prev": row["hash"]}
        _write(stranger, slipped_in | {"hash": hash_of(slipped_in)})
    assert verdict_on(tmp_path) == (7, "chain.link")


def test_an_edit_with_its_hash_recomputed_breaks_the_next_link(written: Path, tmp_path: Path) -> None:
    with tampered(written, tmp_path) as stranger:
        row = dict(stranger.execute("SELECT * FROM entries WHERE seq = 5").fetchone())
        stranger.execute("UPDATE entries SET actor = 'eve', hash = ? WHERE seq = 5", [hash_of(row | {"actor": "eve"})])
    assert verdict_on(tmp_path) == (6, "chain.link")


def _charge_after(totals: Totals, history: History, rule: Rule, epsilon: str, request: str) -> dict[str, Any]:
    loss = Pure(Fraction(epsilon))
    paid = cost(loss, rule.alpha)
    told = charge_body("people", "ab12", {"digest": "d"}, loss, price(rule, totals, paid))
    sums = charge_totals(totals, totals.plus(paid), history.plus(loss))
    return {"kind": "charge", "request": request, "body": told, "totals": sums}


def test_rows_that_are_chained_well_but_say_something_impossible_are_found(written: Path, tmp_path: Path) -> None:
    with closing(Ledger(written)) as ledger:
        now = ledger.standing("b")
        budget = next(ledger.export_rows("b"))
        bodies = {row["seq"]: row for row in ledger.export_rows("b")}
    impossible = {
        "chain.rule": _charge_after(now.totals, now.history, USUAL, "5", "new"),
        "chain.totals": _charge_after(Totals.NOTHING, History.NOTHING, USUAL, "0.05", "new"),
        "chain.twice": {"kind": "budget", "request": "", "body": budget["body"], "totals": ""},
        "chain.orphan": {"kind": "answer", "request": "never charged", "body": "{}", "totals": ""},
        "chain.form": {"kind": "charge", "request": "new", "body": "{}", "totals": ""},
    }
    right = _charge_after(now.totals, now.history, USUAL, "0.05", "new")
    for why, row in [*impossible.items(), (None, right)]:
        with tampered(written, tmp_path) as stranger:
            stranger.execute("DROP INDEX one_creation") if why == "chain.twice" else None
            _append(stranger, **row)
        assert verdict_on(tmp_path) == ((14, why) if why else (None, None))
    for what, why in (({"budget": "nobody"}, "chain.orphan"), ({"request": "r0"}, "chain.twice")):
        with tampered(written, tmp_path) as stranger:
            stranger.execute("DROP INDEX one_charge")
            _append(stranger, **right | what)
        assert verdict_on(tmp_path) == (14, why)
    with tampered(written, tmp_path) as stranger:
        stranger.execute("DROP INDEX one_outcome")
        _append(stranger, kind="failed", request="r0", body=bodies[4]["body"], totals="")
    assert verdict_on(tmp_path) == (14, "chain.twice")


def _append(stranger: sqlite3.Connection, **columns: str) -> None:
    last = dict(stranger.execute("SELECT * FROM entries ORDER BY seq DESC LIMIT 1").fetchone())
    row = last | {"seq": last["seq"] + 1, "prev": last["hash"], "budget": "b"} | columns
    _write(stranger, row if "hash" in columns else row | {"hash": hash_of(row)})


def _write(stranger: sqlite3.Connection, row: dict[str, Any]) -> None:
    stranger.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})", [row[name] for name in COLUMNS])


def test_a_tail_cut_off_is_not_seen_by_the_chain_but_changes_its_head(written: Path, tmp_path: Path) -> None:
    """Why the head is shown and exported: no chain can see its own end missing."""
    with closing(Ledger(written)) as ledger:
        head = ledger.head()
    with tampered(written, tmp_path) as stranger:
        stranger.execute("DELETE FROM entries WHERE seq > 10")
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        assert ledger.verify().ok
        assert ledger.head() != head and ledger.verify().head == ledger.head() and ledger.head()[0] == 10


def test_guards_that_are_gone_are_missed(written: Path, tmp_path: Path) -> None:
    shutil.copy(written, tmp_path / "ledger.sqlite")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as stranger:
        stranger.execute("DROP TRIGGER no_update")
    assert verdict_on(tmp_path) == (None, "chain.guards")


def test_an_edited_sum_buys_nothing_and_an_edited_answer_is_not_shown(written: Path, tmp_path: Path) -> None:
    with tampered(written, tmp_path) as stranger:
        stranger.execute("UPDATE entries SET totals = replace(totals, '1/4', '1/400') WHERE seq = 13")
        stranger.execute("UPDATE entries SET body = '{\"value\":99}' WHERE seq = 4")
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        attempts: list[Callable[[], object]] = [
            lambda: ledger.reserve(**ask("new")),
            lambda: ledger.standing("b"),
            lambda: ledger.find("r0"),
        ]
        for attempt in attempts:
            assert code_of(attempt) == "ledger.damaged"
        assert ledger.head()[0] == 13


def test_a_damaged_file_gives_a_verdict_and_no_sqlite_text(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    for broken in ("entries", "charges_of"):  # the rows themselves, or an index that decisions are read through
        with closing(sqlite3.connect(written)) as reader:
            page = reader.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [broken]).fetchone()[0]
            size = reader.execute("PRAGMA page_size").fetchone()[0]
        content = bytearray(written.read_bytes())
        content[(page - 1) * size : page * size] = b"\xff" * size
        path.write_bytes(content)
        assert verdict_on(tmp_path) == (None, "ledger.damaged")
    path.write_bytes(b"not a ledger at all" * 400)
    assert code_of(lambda: Ledger(path)) == "ledger.damaged"


# While the program runs


def edit_an_older_row(path: Path, seq: int = 4, rehashed: bool = False) -> None:
    """As somebody with the file in their hands does it: an earlier charge costs less than it did."""
    with closing(sqlite3.connect(path, isolation_level=None)) as stranger:
        stranger.row_factory = sqlite3.Row
        guards = stranger.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for guard in guards:
            stranger.execute(f"DROP TRIGGER {guard['name']}")
        row = dict(stranger.execute("SELECT * FROM entries WHERE seq = ?", [seq]).fetchone())
        changed = row | {"actor": "eve"}
        digest = hash_of(changed) if rehashed else row["hash"]
        stranger.execute("UPDATE entries SET actor = 'eve', hash = ? WHERE seq = ?", [digest, seq])
        for guard in guards:
            stranger.execute(guard["sql"])


def put_back(path: Path, seq: int = 4) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as stranger:
        [guard] = stranger.execute("SELECT sql FROM sqlite_master WHERE name = 'no_update'").fetchone()
        stranger.execute("DROP TRIGGER no_update")
        stranger.execute("UPDATE entries SET actor = 'ana' WHERE seq = ?", [seq])
        stranger.execute(guard)


def asked_before(ledger: Ledger) -> None:
    for number in range(6):
        ledger.reserve(**ask(f"r{number}", "0.01"))
        ledger.answer(f"r{number}", {"value": number})


@pytest.mark.parametrize("rehashed", [False, True])
def test_after_a_start_nothing_is_spent_from_an_edited_ledger_and_it_can_be_read(
    tmp_path: Path, rehashed: bool
) -> None:
    with opened(tmp_path) as ledger:
        asked_before(ledger)
    edit_an_older_row(tmp_path / "ledger.sqlite", rehashed=rehashed)
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        head = ledger.head()
        for place in range(2):
            assert code_of(lambda place=place: ledger.reserve(**ask(f"new{place}", "0.01"))) == "ledger.damaged"
        assert ledger.head() == head and ledger.standing("b").charges == 6
        found = ledger.find("r5")
        assert found is not None and found.outcome is not None and found.outcome.body == {"value": 5}
        assert not ledger.reserve(**ask("r5", "0.01")).fresh  # what was charged before is found, and not charged again


def test_an_edit_while_it_runs_stops_spending_at_the_next_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with opened(tmp_path) as ledger:
        asked_before(ledger)
        edit_an_older_row(tmp_path / "ledger.sqlite")
        ledger.reserve(**ask("within", "0.01"))  # the whole chain was looked at a moment ago
        now[0] += SOON + 1
        with ledger._watch._checking:  # a look that has not come to its turn yet
            ledger.reserve(**ask("soon", "0.01"))  # begins to look, and does not wait for it
        ledger._watch._runs.join()  # type: ignore[union-attr]
        assert code_of(lambda: ledger.reserve(**ask("then", "0.01"))) == "ledger.damaged"
        put_back(tmp_path / "ledger.sqlite")
        assert ledger.reserve(**ask("whole again", "0.01")).fresh
        edit_an_older_row(tmp_path / "ledger.sqlite")
        now[0] += WITHIN + 1
        assert code_of(lambda: ledger.reserve(**ask("late", "0.01"))) == "ledger.damaged"


def test_a_newer_row_of_another_process_is_looked_at_before_the_next_charge(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        asked_before(ledger)
        with closing(Ledger(tmp_path / "ledger.sqlite")) as other:
            for number in range(3):
                other.reserve(**ask(f"other{number}", "0.01"))
        newest = ledger.head()[0]
        edit_an_older_row(tmp_path / "ledger.sqlite", newest - 1)
        assert code_of(lambda: ledger.reserve(**ask("next", "0.01"))) == "ledger.damaged"


def test_no_step_of_a_session_is_used_from_an_edited_ledger(tmp_path: Path) -> None:
    claim = {"digest": "d", "key": "adaptive_session", "parameters": {"questions": 3}}
    with opened(tmp_path) as ledger:
        asked_before(ledger)
        ledger.reserve(**ask("session", "0.1", claim=claim))
    edit_an_older_row(tmp_path / "ledger.sqlite")
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        assert code_of(lambda: ledger.burn("session", "one", "ana", {"ask": {}}, "ab12")) == "ledger.damaged"
        assert ledger.progress("session") == (0, False, False)


def test_a_background_look_ends_with_the_ledger(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        asked_before(ledger)
        ledger.check_soon()
        runs = ledger._watch._runs
    assert runs is not None and not runs.is_alive()


ENDS_DURING_A_CHECK = """
import sys, time
from pathlib import Path
from dpengine.ledger import ledger

LONG = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 99999) SELECT max(x) FROM n"


class Slow(ledger.Watch):
    def _page(self, db, head):
        db.execute(LONG).fetchone()
        super()._page(db, head)
        return head, False  # it never ends by itself

watch = Slow(ledger.Ledger(Path(sys.argv[1]))._store)
watch.check_soon()
time.sleep(0.2)
raise SystemExit("the program ends" if watch._runs.is_alive() else "the check has ended")
"""


def test_a_program_that_ends_during_a_background_check_waits_for_it_and_closes(tmp_path: Path) -> None:
    """A check that still read while its connection was closed took the process down with it."""
    with opened(tmp_path) as ledger:
        asked_before(ledger)
    ended = subprocess.run(
        [sys.executable, "-c", ENDS_DURING_A_CHECK, tmp_path / "ledger.sqlite"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert (ended.returncode, ended.stderr.strip()) == (1, "the program ends")
