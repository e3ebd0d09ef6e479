"""What an owner does: seal, forget, raise; as rows of the ledger, with answers and receipts kept."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant.filter import spent
from dpengine.asking.exports import ROW_COLUMNS
from dpengine.ledger import owner_rows
from dpengine.ledger.chain import hash_of
from dpengine.ledger.ledger import Ledger
from dpengine.statistics.engines import duck
from dpengine.storage import erase
from dpengine.storage.workers import Worker
from dpengine.workspace import Workspace
from tests.engine.ledger.test_ledger_edits import _append, tampered
from tests.helpers_ledger import PATIENCE, raises

CANARY = "4711.25"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def add(home: Workspace, name: str = "people", epsilon: str = "1") -> dp.Table:
    frame = pd.DataFrame({"who": [f"p{i // 2}" for i in range(200)], "x": [1, 2, 3, 4] * 50, "note": [CANARY] * 200})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1)})
    unit = dp.Unit.column("who", at_most=2)
    return home.add_table(name, frame, schema=schema, unit=unit, budget=dp.Budget(epsilon, "1e-6"))


def count(table: dp.Table, epsilon: str = "0.1", at_least: int = 3) -> dp.Query:
    return table.query("count", where=[["x", ">=", at_least]], epsilon=epsilon)


def kinds(home: Workspace) -> list[str]:
    return [row["kind"] for row in home.ledger.export_rows()]


def test_a_sealed_table_is_not_asked_again_and_its_answers_stay(home: Workspace) -> None:
    table = add(home)
    answer = table.ask(count(table), request_id="one")
    act = home.seal("people")
    assert (act.kind, act.table, act.actor) == ("seal", "people", "owner") and table.closed == "seal"
    spent_before = table.meter().spent_epsilon
    with raises("table.sealed"):
        table.ask(count(table))
    home.table("people").submit(count(table), request_id="two")
    refused = home.jobs.wait("two", PATIENCE)
    assert refused.state == "refused" and refused.error is not None and "sealed" in str(refused.error)
    assert table.meter().spent_epsilon == spent_before and kinds(home) == ["budget", "charge", "answer", "seal"]
    assert table.ask(count(table), request_id="one").value == answer.value  # what was paid for stays free
    assert home.seal("people") == act and kinds(home).count("seal") == 1  # a second click is the same row
    assert home.verify_ledger().ok and home.closed() == {"people": "seal"}
    with raises("table.closed"):
        table.revise(table.schema)


def test_the_same_content_under_another_name_stays_sealed(home: Workspace) -> None:
    add(home)
    home.seal("people")
    again = add(home, "again")
    assert again.joined and again.closed == "seal"
    with raises("table.sealed"):
        again.ask(count(again))


def test_the_same_content_brought_before_is_sealed_with_it(home: Workspace) -> None:
    """Else a second name would keep open what the owner closed."""
    add(home)
    before = add(home, "again")
    act = home.seal("people")
    assert before.joined and before.closed == "seal" and home.verify_ledger().ok and home.seal("people") == act
    with raises("table.sealed"):
        before.ask(count(before))


def test_another_table_on_the_budget_may_still_be_asked(home: Workspace) -> None:
    first = add(home)
    frame = pd.DataFrame({"who": ["p1", "p2"], "x": [1, 2]})
    second = home.add_table("others", frame, schema=first.schema, unit=first.facts.unit, budget=first.budget.id)
    home.seal("people")
    second.ask(count(second))
    assert first.closed == "seal" and second.closed is None and home.verify_ledger().ok


@pytest.mark.long
def test_no_raise_is_hidden_behind_many_later_ones(home: Workspace) -> None:
    """All of them are told, and content sealed long ago stays sealed."""
    table = add(home)
    home.seal("people")
    with home.ledger._store.writing() as db:  # as raise_cap writes them, in one transaction
        for place in range(1001):
            body = owner_rows.body("people", 1 + Fraction(place, 1000), 1 + Fraction(place + 1, 1000))
            home.ledger._append(db, "raise", table.budget.id, "", "owner", body, "", table.budget.at)
    assert home.verify_ledger().ok
    assert [act.kind for act in table.acts()].count("raise") == 1001 and table.acts()[-1].kind == "seal"
    assert add(home, "again").closed == "seal"


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_forgotten_table_is_gone_from_disk_and_its_answers_open(home: Workspace) -> None:
    table = add(home)
    answer = table.ask(count(table), request_id="one")
    table.ask(table.query("find_declarations", numbers=["note"], epsilon="0.2"))  # derives a file of raw rows
    revised = table.revise(dp.Schema({"x": dp.Number(0, 20, step=1)}))  # and another coding
    [folder] = (home.folder / "tables").iterdir()
    assert len(list(folder.rglob("*.parquet"))) >= 4
    (folder / ".spill").mkdir(exist_ok=True)
    (folder / ".spill" / "duckdb_temp_block-1.block").write_text(CANARY)
    dead = home.folder / "tmp" / "spill-0badcafe0badcafe"  # of a process that was killed
    dead.mkdir()
    (dead / "block").write_text(CANARY)
    assert CANARY.encode() in everything(home.folder)

    act = home.forget("people")
    assert act.kind == "forget" and revised.closed == "forget"
    assert not list((home.folder / "tables").iterdir()) and not dead.exists()
    assert CANARY.encode() not in everything(home.folder)
    with raises("table.forgotten"):
        home.table("people").ask(count(home.table("people")))
    job = home.job("one")
    assert job.answer is not None and job.answer.value == answer.value and job.answer.receipt == answer.receipt
    assert home.check_receipts(json.dumps(answer.receipt).encode(), "r")[0].ok
    assert len(home.table("people").answers(10)) == 2 and home.table("people").meter().charges == 2
    assert home.verify_ledger().ok and home.forget("people") == act
    with raises("table.exists"):  # the name stays taken
        add(home)


def test_forgotten_content_joins_its_old_budget(home: Workspace) -> None:
    table = add(home)
    table.ask(count(table, "0.4"))
    home.forget("people")
    again = add(home, "again", epsilon="50")
    assert again.joined and again.closed is None and again.meter().epsilon == 1
    assert again.meter().spent_epsilon == Fraction(4, 10)
    again.ask(count(again, "0.4"))
    assert home.verify_ledger().ok


def test_a_forgetting_that_was_killed_is_made_good_at_the_next_start(home: Workspace) -> None:
    table = add(home)
    home.ledger.close_table("forget", table.budget.id, "people", "owner")  # and then the program was killed
    assert list((home.folder / "tables").iterdir())
    Workspace(home.folder).close()
    assert not list((home.folder / "tables").iterdir())


def test_a_live_process_keeps_what_it_spills(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    worker = Worker(tmp_path)
    mine, named_otherwise = erase.spill_folder(tmp_path, worker.name), tmp_path / "tmp" / "spill-of-mine"
    mine.mkdir()
    named_otherwise.mkdir()
    erase.sweep_spill(tmp_path)
    assert mine.exists() and named_otherwise.exists()
    worker.close()
    erase.sweep_spill(tmp_path)
    assert not mine.exists() and named_otherwise.exists()


def test_a_process_that_cannot_be_seen_keeps_what_it_spills(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another container has process numbers of its own, in which this process is not there: locks tell, not numbers."""
    table = add(home)
    table.ask(count(table))
    [spill] = (home.folder / "tmp").glob("spill-*")

    def nobody(*_: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(os, "kill", nobody)
    Workspace(home.folder).close()
    home.forget("people")
    assert spill.exists()


def test_the_engine_spills_beside_the_tables_and_not_into_one(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """One database reads many tables. It is given too little memory here, so that it has to spill."""
    monkeypatch.setitem(duck.SETTINGS, "memory_limit", "40MB")
    table = add(home)
    table.ask(count(table))
    [spill] = (home.folder / "tmp").glob("spill-*")
    cursor = home.engine.duck._database.cursor(home.folder)
    cursor.execute("CREATE TABLE t AS SELECT i, hash(i)::VARCHAR AS h FROM range(1500000) AS r(i)")
    assert any(path.is_file() for path in spill.rglob("*"))
    assert not list((home.folder / "tables").rglob(".spill"))
    del cursor
    other = home.add_table(
        "other",
        pd.DataFrame({"x": [1, 2] * 50}),
        schema=dp.Schema({"x": dp.Number(0, 10)}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("1", "1e-6"),
    )
    home.forget("people")
    assert not any(path.is_file() for path in spill.rglob("*"))
    other.ask(count(other))  # and goes on with the other tables


def test_files_that_cannot_be_deleted_are_told(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    add(home)
    monkeypatch.setattr(erase.shutil, "rmtree", lambda *_, **__: None)
    with raises("forget.left"):
        home.forget("people")


def test_a_raised_cap_lets_more_be_asked(home: Workspace) -> None:
    table = add(home)
    rule = table.budget.rule
    for epsilon in ("0.9", "0.1"):
        table.ask(count(table, epsilon))
    assert table.meter().unused == 0 and not table.preview(count(table)).admissible
    with raises("budget.exceeded", dp.BudgetExceeded):
        table.ask(count(table))
    act = home.raise_cap("people", "2")
    assert (act.kind, act.before, act.after, act.actor) == ("raise", 1, 2, "owner")
    assert table.meter().epsilon == 2 and table.meter().used <= Fraction(1, 2)  # also on an object made before
    raised = table.budget.rule
    assert (raised.alpha, raised.c, raised.delta, raised.delta_slack) == (
        rule.alpha,
        rule.c,
        rule.delta,
        rule.delta_slack,
    )
    table.ask(count(table, "0.5"))
    home.raise_cap("people", "2.5")
    assert table.meter().used <= Fraction(3, 5) and home.verify_ledger().ok
    with raises("budget.exceeded", dp.BudgetExceeded):
        table.ask(count(table, "1.5"))
    assert spent(table.budget.rule, home.ledger.standing(table.budget.id).totals) == Fraction(3, 2)
    steps = [(step.charges, step.left, step.raised) for step in table.burn_down()]
    assert steps == [
        (0, 1, False),
        (1, Fraction(1, 10), False),
        (2, 0, False),
        (2, Fraction(1, 2), True),
        (3, Fraction(1, 4), False),
        (3, Fraction(2, 5), True),
    ]


@pytest.mark.every(3)
@pytest.mark.parametrize("epsilon", ["1", "0.5", "-3", "0", "101"])
def test_a_cap_only_goes_up(home: Workspace, epsilon: str) -> None:
    add(home)
    with raises("raise.upwards"):
        home.raise_cap("people", epsilon)
    assert "raise" not in kinds(home)


def test_a_cap_must_be_a_number(home: Workspace) -> None:
    add(home)
    with raises("number.unreadable"):
        home.raise_cap("people", "much more")


def test_practice_tables_and_strangers_are_refused(home: Workspace) -> None:
    town = home.table("town")
    town.ask(town.query("median", column="monthly_income", epsilon="0.1"))
    for name, code in (("town", "act.practice"), ("clinic", "act.practice"), ("nobody", "table.unknown")):
        for act in (lambda n: home.seal(n), lambda n: home.forget(n), lambda n: home.raise_cap(n, "50")):
            with raises(code):
                act(name)
    with raises("act.practice"):
        home.ledger.close_table("seal", town.budget.id, "town", "owner")
    with raises("act.practice"):
        home.ledger.raise_cap(town.budget.id, "town", Fraction(50), "owner")
    assert town.closed is None and home.verify_ledger().ok


def test_acts_are_in_the_rows_to_take_away(home: Workspace) -> None:
    table = add(home)
    home.raise_cap("people", "2")
    home.seal("people")
    home.forget("people")
    rows = [dict(zip(ROW_COLUMNS, row, strict=True)) for row in table.ledger_rows()]
    assert [row["kind"] for row in rows] == ["budget", "raise", "seal", "forget"]
    assert rows[1]["sentence"] == "The owner raised the allowance from ε = 1 to ε = 2."
    assert all(row["table"] == "people" and row["actor"] == "owner" for row in rows[1:])
    assert [act.kind for act in table.acts()] == ["forget", "seal", "raise"]


# What the chain says of acts written by hand --------------------------------------------------------------------------


@pytest.fixture
def written(home: Workspace) -> Path:
    """budget, charge, answer, raise 1 → 2, seal."""
    table = add(home)
    table.ask(count(table))
    home.raise_cap("people", "2")
    home.seal("people")
    home.close()
    return home.ledger.path


def verdict_on(folder: Path) -> tuple[int | None, str | None]:
    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        verdict = ledger.verify()
        assert verdict.sentence
        return verdict.broken, verdict.why


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("why", "kind", "body"),
    [
        ("chain.raise", "raise", {"table": "people", "from": "1", "to": "3"}),
        ("chain.raise", "raise", {"table": "people", "from": "2", "to": "3/2"}),
        ("chain.form", "raise", {"table": "people", "to": "3"}),
        ("chain.form", "seal", {}),
        (None, "raise", {"table": "people", "from": "2", "to": "5/2"}),
        (None, "forget", {"table": "people"}),
    ],
)
def test_acts_that_cannot_be_are_found(
    written: Path, tmp_path: Path, why: str | None, kind: str, body: dict[str, str]
) -> None:
    with tampered(written, tmp_path) as stranger:
        budget = stranger.execute("SELECT budget FROM entries WHERE seq = 1").fetchone()[0]
        _append(stranger, kind=kind, budget=budget, request="", body=json.dumps(body), totals="")
    assert verdict_on(tmp_path) == ((6, why) if why else (None, None))


def test_an_act_on_no_budget_and_a_charge_after_a_seal_are_found(written: Path, tmp_path: Path) -> None:
    with tampered(written, tmp_path) as stranger:
        _append(stranger, kind="seal", budget="nobody", request="", body='{"table":"people"}', totals="")
    assert verdict_on(tmp_path) == (6, "chain.orphan")
    with tampered(written, tmp_path) as stranger:
        charge = dict(stranger.execute("SELECT * FROM entries WHERE kind = 'charge'").fetchone())
        _append(stranger, **{name: charge[name] for name in ("kind", "budget", "body", "totals")}, request="new")
    assert verdict_on(tmp_path) == (6, "chain.closed")


def test_a_raise_edited_in_place_buys_nothing(written: Path, tmp_path: Path) -> None:
    with tampered(written, tmp_path) as stranger:
        stranger.execute("UPDATE entries SET body = json_set(body, '$.to', '20') WHERE kind = 'raise'")
        budget = stranger.execute("SELECT budget FROM entries WHERE seq = 1").fetchone()[0]
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger, raises("ledger.damaged"):
        ledger.budget(budget)
    assert verdict_on(tmp_path) == (4, "chain.hash")


@pytest.mark.parametrize(("seq", "why"), [(2, "sealed or forgotten"), (5, "UNIQUE")], ids=["charge", "seal"])
def test_the_file_itself_refuses_a_charge_after_a_seal_and_a_second_seal(written: Path, seq: int, why: str) -> None:
    with closing(sqlite3.connect(written)) as stranger:
        stranger.row_factory = sqlite3.Row
        rows = {row["seq"]: dict(row) for row in stranger.execute("SELECT * FROM entries")}
        row = rows[seq] | {"seq": 6, "prev": rows[5]["hash"], "request": "new"}
        row["hash"] = hash_of(row)
        with pytest.raises(sqlite3.IntegrityError, match=why):
            stranger.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(row))})", list(row.values()))
