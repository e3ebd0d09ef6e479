"""A workspace whose ledger is in Postgres, as people and an operator use it: servers that share it, moving it there and
back, backups, recovery, receipts and heads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from engines.postgres_server import PASSWORD, PostgresServer

from dpengine.__main__ import main
from dpengine.ledger.exports import export_lines
from dpengine.ledger.store import SETTING
from dpengine.workspace import Workspace
from tests.faults.lived import TERMS, command, frame, question
from tests.helpers_ledger import ledger_state, raises


@pytest.fixture
def database(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    address = postgres.database()
    monkeypatch.setenv(SETTING, address)
    return address


@pytest.fixture
def home(database: str, tmp_path: Path) -> Iterator[Path]:
    """A workspace with a table and an answer, its ledger in Postgres."""
    with closing(Workspace(tmp_path / "var")) as workspace:
        table = workspace.add_table("people", frame(), **TERMS)
        table.ask(question(table), request_id="first")
    return tmp_path / "var"


ANOTHER = """
import json, sys
from contextlib import closing
from pathlib import Path
from dpengine.workspace import Workspace
with closing(Workspace(Path(sys.argv[1]))) as two:
    theirs = two.table("people")
    query = theirs.query("count", where=[["town", "in", ["A"]]], epsilon="0.1")
    answers = [str(theirs.ask(query, request_id=name).value) for name in ("first", "second")]
    print(json.dumps([*answers, str(theirs.meter().used)]))
"""


def head(home: Path) -> tuple[int, str]:
    with closing(Workspace(home)) as workspace:
        assert workspace.verify_ledger().ok
        return workspace.ledger.head()


def test_nothing_of_it_lies_in_the_folder_and_the_password_nowhere(home: Path) -> None:
    there = {path.name for path in home.rglob("*") if path.is_file()}
    assert "ledger.head" in there and "ledger.sqlite" not in there
    for path in home.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes()


def test_two_servers_share_one_account(home: Path) -> None:
    with closing(Workspace(home)) as one:
        table = one.table("people")

        done = subprocess.run([sys.executable, "-W", "error", "-c", ANOTHER, str(home)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        first, second, used = json.loads(done.stdout)
        assert str(table.ask(question(table), request_id="first").value) == first
        assert str(table.ask(question(table), request_id="second").value) == second
        assert str(table.meter().used) == used and one.ledger.standing(table.budget.id).charges == 2


def test_the_registry_does_not_share_memory_where_machines_may_share_the_folder(home: Path) -> None:
    assert (home / "registry.sqlite").read_bytes()[18:20] == bytes((1, 1))  # a rollback journal, no WAL


def test_a_folder_whose_ledger_is_elsewhere_opens_no_new_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING)
    with raises("ledger.missing"):
        Workspace(home)


def test_a_ledger_is_carried_into_postgres_and_back(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "var"
    monkeypatch.delenv(SETTING)
    with closing(Workspace(home)) as workspace:
        table = workspace.add_table("people", frame(), **TERMS)
        answer = table.ask(question(table), request_id="first")
    before = head(home)
    assert command(home, "ledger", "--into-postgres", capsys=capsys)[0] == 2  # into which?
    monkeypatch.setenv(SETTING, database)
    with raises("ledger.two"):
        Workspace(home)
    code, said = command(home, "ledger", "--into-postgres", capsys=capsys)
    assert code == 0 and PASSWORD not in said and not (home / "ledger.sqlite").exists()
    assert (home / "found-1" / "ledger.sqlite").exists() and head(home) == before
    with closing(Workspace(home)) as workspace:
        table = workspace.table("people")
        assert table.ask(question(table), request_id="first").value == answer.value  # found, not drawn again
        table.ask(question(table), request_id="second")
        after = workspace.ledger.head()
        assert command(home, "ledger", "--into-file", capsys=capsys)[0] == 2  # it is open
    assert command(home, "ledger", "--into-file", capsys=capsys)[0] == 0
    with raises("ledger.two"):
        Workspace(home)
    monkeypatch.delenv(SETTING)
    assert head(home) == after
    monkeypatch.setenv(SETTING, database)
    shutil.move(home / "ledger.sqlite", tmp_path / "aside.sqlite")
    with raises("ledger.database_rolled_back"):  # nobody spends from what was left
        Workspace(home)


def test_a_move_that_was_killed_is_finished_by_the_next(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "var"
    monkeypatch.delenv(SETTING)
    with closing(Workspace(home)) as workspace:
        workspace.add_table("people", frame(), **TERMS)
    before = head(home)
    monkeypatch.setenv(SETTING, database)
    with monkeypatch.context() as killed:
        killed.setattr("dpengine.commands.ledger_places.remove_file", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            main(["ledger", "--home", str(home), "--into-postgres"])
    assert command(home, "ledger", "--into-postgres", capsys=capsys)[0] == 0 and head(home) == before


def test_a_backup_needs_no_database_and_goes_on_in_one(
    home: Path,
    postgres: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    copy, again = tmp_path / "copy", tmp_path / "again"
    newest = head(home)
    with closing(Workspace(home)):  # while it is in use
        code, said = command(home, "backup", str(copy), capsys=capsys)
    assert code == 0 and newest[1] in said and not list(copy.glob("ledger.new*"))
    shutil.copytree(copy, again)
    assert head(home) == newest
    with monkeypatch.context() as without:
        without.delenv(SETTING)
        with raises("workspace.copy"):
            Workspace(copy)
        assert command(copy, "recover", "--moved", newest[1], capsys=capsys)[0] == 0
        assert head(copy)[0] == newest[0] + 1
    monkeypatch.setenv(SETTING, postgres.database())  # another machine's, empty
    with raises("ledger.two"):
        Workspace(again)
    assert ledger_state(again).state == "copy"
    assert command(again, "recover", "--moved", "0" * 64, capsys=capsys)[0] == 2
    assert command(again, "recover", "--moved", newest[1], capsys=capsys)[0] == 0
    assert head(again)[0] == newest[0] + 1 and ledger_state(again).state == "fine"
    with closing(Workspace(again)) as workspace:
        table = workspace.table("people")
        assert table.ask(question(table), request_id="more").value is not None


def test_a_folder_from_a_backup_beside_a_database_that_went_on_is_not_taken_for_newest(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    assert command(home, "backup", str(copy), capsys=capsys)[0] == 0
    with closing(Workspace(home)) as workspace:
        other = workspace.add_table("others", frame("others"), **TERMS)
        other.ask(question(other))
        newest = workspace.ledger.head()
    shutil.rmtree(home)
    copy.rename(home)
    code, said = command(home, "recover", capsys=capsys)
    assert code == 1 and ledger_state(home).state == "ahead" and str(newest[0]) in said
    assert command(home, "recover", "--moved", newest[1], capsys=capsys)[0] == 2
    assert command(home, "recover", "--close", capsys=capsys)[0] == 0
    with closing(Workspace(home)) as workspace, raises("budget.closed"):
        table = workspace.table("people")
        table.ask(question(table))


def test_a_damaged_ledger_is_recovered_in_one_step_and_all_is_closed(
    home: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(psycopg.connect(database, autocommit=True)) as stranger:
        stranger.execute("ALTER TABLE allowance_ledger.entries DISABLE TRIGGER ALL")
        stranger.execute("UPDATE allowance_ledger.entries SET actor = 'eve' WHERE seq = 3")
        stranger.execute("ALTER TABLE allowance_ledger.entries ENABLE TRIGGER ALL")
    assert ledger_state(home).state == "damaged" and ledger_state(home).rows == 2
    with closing(Workspace(home)):
        code, said = command(home, "recover", "--close", capsys=capsys)
        assert code == 2 and "open" in said
    code, said = command(home, "recover", "--close", capsys=capsys)
    assert code == 0 and "allowance_ledger_found_1" in said
    assert ledger_state(home).state == "fine" and ledger_state(home).rows == 4  # two rows, `recovered`, `close`
    with closing(Workspace(home)) as workspace:
        assert workspace.verify_ledger().ok
        table = workspace.table("people")
        with raises("budget.closed"):
            table.ask(question(table))
    with closing(psycopg.connect(database)) as operator:  # what was found is kept
        assert operator.execute("SELECT count(*) FROM allowance_ledger_found_1.entries").fetchone() == (3,)


def test_a_database_that_is_gone_is_begun_anew_with_all_closed(
    home: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(psycopg.connect(database, autocommit=True)) as stranger:
        stranger.execute("DROP SCHEMA allowance_ledger CASCADE")
    with raises("ledger.database_missing"):
        Workspace(home)
    code, said = command(home, "recover", capsys=capsys)
    assert code == 1, said
    assert command(home, "recover", "--close", capsys=capsys)[0] == 0
    with closing(Workspace(home)) as workspace, raises("budget.closed"):
        workspace.table("people")


def test_tables_dropped_while_it_runs_are_one_sentence(home: Path, database: str) -> None:
    with closing(Workspace(home)) as workspace:
        table = workspace.table("people")
        with closing(psycopg.connect(database, autocommit=True)) as stranger:
            stranger.execute("DROP SCHEMA allowance_ledger CASCADE")
        with raises("ledger.database_gone"):
            table.ask(question(table))


def test_receipts_heads_and_exports_are_checked_against_the_database(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Workspace(home)) as workspace:
        table = workspace.table("people")
        receipt = table.ask(question(table), request_id="first").receipt
        (tmp_path / "export").write_text("".join(export_lines(workspace.ledger)))
    file, heads = tmp_path / "receipt.json", tmp_path / "heads"
    file.write_text(json.dumps(receipt))
    assert main(["verify", str(file), SETTING]) == main(["verify", str(file), str(tmp_path / "export")]) == 0
    file.write_text(json.dumps(receipt | {"actor": "somebody else"}))
    assert main(["verify", str(file), SETTING]) == 1
    assert command(home, "head", "--write", str(heads), capsys=capsys)[0] == 0
    assert command(home, "head", "--check", str(heads), capsys=capsys)[0] == 0
    heads.write_text(heads.read_text().replace(" 3 ", " 2 "))
    assert command(home, "head", "--check", str(heads), capsys=capsys)[0] == 1
