"""Files of a workspace that are gone, cut off, or older than they were: refused in one sentence, nothing spent, nothing
swept away, and a way back that never frees allowance."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import dpengine as dp
from dpengine.ledger.high_water import Anchor, Mark
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.sqlite_file import LedgerFile
from dpengine.messages import say
from dpengine.workspace import Workspace
from tests.faults.counts import note
from tests.faults.lived import TERMS, A, code_of, command, frame, opens, question
from tests.helpers_ledger import ask, ledger_state, opened, raises, start_child


def put_back(home: Path, *names: str) -> None:
    """As an operator would who has no other copy: the file itself, and no log of what came after."""
    for name in names:
        shutil.copyfile(home.parent / "old" / name, home / name)
        for end in ("-wal", "-shm"):
            (home / (name + end)).unlink(missing_ok=True)


# What is refused


def _cut(name: str, size: int) -> Callable[[Path], None]:
    return lambda home: os.truncate(home / name, size)


def _gone(name: str) -> Callable[[Path], None]:
    return lambda home: (home / name).unlink()


def _scribbled(name: str) -> Callable[[Path], None]:
    def scribble(home: Path) -> None:
        (home / name).write_bytes(b"scribble" * 600)

    return scribble


BOTH = ("ledger.sqlite", "registry.sqlite")
FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "an older ledger": (lambda home: put_back(home, "ledger.sqlite"), "ledger.rolled_back"),
    "an older list of tables": (lambda home: put_back(home, "registry.sqlite"), "registry.rolled_back"),
    "an older ledger and list": (lambda home: put_back(home, *BOTH), "registry.rolled_back"),
    "no ledger": (_gone("ledger.sqlite"), "ledger.missing"),
    "an empty ledger": (_cut("ledger.sqlite", 0), "ledger.rolled_back"),
    "half a ledger": (_cut("ledger.sqlite", 20_000), "ledger.damaged"),
    "no ledger but a text": (_scribbled("ledger.sqlite"), "ledger.damaged"),
    "no list of tables": (_gone("registry.sqlite"), "registry.missing"),
    "an empty list of tables": (_cut("registry.sqlite", 0), "registry.damaged"),
    "no list but a text": (_scribbled("registry.sqlite"), "registry.damaged"),
    "no secret": (_gone("secret"), "workspace.secret_missing"),
    "half a secret": (_cut("secret", 16), "workspace.secret"),
    "an unreadable head": (_scribbled("ledger.head"), "ledger.rolled_back"),
    "an unreadable head of the list": (_cut("registry.head", 3), "registry.rolled_back"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_workspace_that_is_not_as_it_was_left_is_not_opened_and_nothing_is_swept(home: Path, fault: str) -> None:
    spoil, code = FAULTS[fault]
    before = sorted(path.name for path in (home / "tables").rglob("*"))
    assert len(before) >= 6
    spoil(home)
    for _ in range(2):  # looking at it does not make it good
        assert code_of(lambda: opens(home)) == code
    assert sorted(path.name for path in (home / "tables").rglob("*")) == before
    note(f"refused: {fault}", 2)


def test_without_the_line_beside_it_an_older_ledger_would_be_a_fuller_allowance(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted mistake: nobody remembers how far the ledger had come."""
    put_back(home, "ledger.sqlite")
    monkeypatch.setattr(LedgerFile, "_refuse_older", lambda *_: None)
    with closing(Workspace(home)) as workspace:
        table = workspace.table("people")
        assert table.meter().charges == 2 and table.ask(question(table, "1"))  # 1 was spent there already
        assert workspace.verify_ledger().ok  # and the chain cannot tell


def test_a_copy_put_back_under_a_running_program_is_refused_before_a_charge(home: Path) -> None:
    with closing(Workspace(home)) as workspace:
        table = workspace.table("people")
        workspace.ledger.close()
        put_back(home, "ledger.sqlite")
        with raises("ledger.rolled_back"):
            table.ask(question(table), request_id="new")
        with raises("ledger.rolled_back"):
            workspace.raise_cap("people", "4")
        assert workspace.ledger.find("new") is None


def test_a_write_ahead_log_that_was_deleted_is_missed(place: Path) -> None:
    """A killed program leaves its last commits there; without -shm SQLite reads them, without -wal they are lost."""

    def write_and_die() -> None:
        ledger = Ledger(place / "ledger.sqlite")
        ledger.reserve(**ask("r"))
        os.kill(os.getpid(), signal.SIGKILL)

    with opened(place):
        pass
    pid, pipe = start_child(write_and_die)
    os.waitpid(pid, 0)
    os.close(pipe)
    assert (place / "ledger.sqlite-wal").stat().st_size
    (place / "ledger.sqlite-shm").unlink()
    saved = (place / "ledger.sqlite-wal").read_bytes()
    with closing(Ledger(place / "ledger.sqlite")) as ledger:
        assert ledger.standing("b").charges == 1
        shutil.copyfile(place / "ledger.sqlite", place / "after")
    shutil.copyfile(place / "after", place / "ledger.sqlite")
    (place / "ledger.sqlite-wal").unlink(missing_ok=True)
    assert code_of(lambda: Ledger(place / "ledger.sqlite")) in ("ledger.rolled_back", "ledger.missing")
    (place / "ledger.sqlite-wal").write_bytes(saved)
    with closing(Ledger(place / "ledger.sqlite")) as ledger:  # put back, and all is well
        assert ledger.standing("b").charges == 1 and ledger.verify().ok


def test_the_line_never_goes_back_and_a_kill_before_it_refuses_nothing(place: Path) -> None:
    line = Anchor(place / "x.head")
    assert line.read() is None
    line.advance(5, "a" * 64)
    line.advance(3, "b" * 64)
    assert line.read() == Mark(5, "a" * 64) and (place / "x.head").stat().st_mode & 0o777 == 0o600
    with opened(place) as ledger:
        ledger.reserve(**ask("one"))
        behind = (place / "ledger.head").read_bytes()
        ledger.reserve(**ask("two"))
    (place / "ledger.head").write_bytes(behind)  # killed between the commit and the line
    with closing(Ledger(place / "ledger.sqlite")) as ledger:
        assert ledger.standing("b").charges == 2
        assert Anchor(place / "ledger.head").read() == Mark(*ledger.head())  # made good


def test_a_workspace_of_an_older_version_gets_its_lines(home: Path) -> None:
    for name in ("ledger.head", "registry.head"):
        (home / name).unlink()
    opens(home)
    assert all((home / name).is_file() for name in ("ledger.head", "registry.head"))


# A table's files


@pytest.mark.parametrize("spoil", [Path.unlink, lambda file: os.truncate(file, 100)], ids=["gone", "cut"])
def test_a_half_deleted_table_charges_nothing_and_its_file_brought_again_spends_the_same(
    home: Path, spoil: Callable[[Path], None]
) -> None:
    with closing(Workspace(home)) as workspace:
        table = workspace.table("people")
        spoil(workspace.coded(table._record))
        before = table.meter().charges
        with raises("table.damaged"):
            table.ask(question(table))
        with raises("table.damaged"):
            table.session("s").ask({"share": A}, "step 2")
        assert table.meter().charges == before and len(workspace.ledger.steps("s")) == 1
        again = workspace.add_table("people again", frame(), **TERMS)
        assert again.joined and again.budget.id == table.budget.id and again.ask(question(again)).value is not None


# The way back


LOST = sorted(set(FAULTS) - {name for name in FAULTS if "list" in name or "secret" in name})
FEW = ("an older ledger", "no ledger")


@pytest.mark.parametrize(
    "fault", [name if name in FEW else pytest.param(name, marks=pytest.mark.long) for name in LOST]
)
def test_recovering_keeps_what_holds_and_frees_nothing(
    home: Path, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spent_before = 4
    FAULTS[fault][0](home)
    code, said = command(home, "recover", capsys=capsys)
    assert code == 1 and "--close" in said and "/" not in said.replace("operating.md", "")
    found = ledger_state(home)
    code, said = command(home, "recover", "--close", capsys=capsys)
    assert code == 0 and "closed" in said
    assert (home / "found-1").is_dir() and (home / "found-1").stat().st_mode & 0o777 == 0o700
    with closing(Workspace(home)) as workspace:
        assert workspace.verify_ledger().ok and workspace.closed() == {"people": "close", "later": "close"}
        kept = {row["seq"]: row["hash"] for row in workspace.ledger.export_rows()}
        assert found.rows == 0 or kept[found.rows] == found.head
        for name in ("people", "later"):
            try:
                table = workspace.table(name)
            except dp.AllowanceError as complaint:  # its own rows are lost with the rest
                assert complaint.code == "budget.closed" and found.rows < 10
                continue
            charges = table.meter().charges
            assert table.closed == "close" and charges <= spent_before
            with raises("budget.closed"):
                table.ask(question(table))
            with raises("budget.closed"):
                workspace.raise_cap(name, "4")
            assert table.meter().charges == charges and table.acts()[0].kind == "close"
        if workspace.ledger.find("s") is not None:
            with raises("budget.closed"):  # the step may have been drawn in a row that is lost
                workspace.table("people").session("s").ask({"share": A}, "step 1b")
        if found.rows:
            entry = workspace.ledger.find("kept")
            assert entry is not None and workspace.answer_of(entry) is not None  # what was shown and holds is there
            again = workspace.add_table("people again", frame(), **TERMS)
            assert again.joined and again.closed == "close"
            with raises("budget.closed"):
                again.ask(question(again))
        fresh = workspace.add_table("fresh", frame("fresh"), **TERMS)
        assert fresh.ask(question(fresh)).value is not None and workspace.verify_ledger().ok
    code, said = command(home, "recover", capsys=capsys)
    assert code == 0 and "nothing to do" in said
    note(f"recovered: {fault}", 1)


def test_a_whole_folder_put_back_is_told_by_a_head_that_was_written_down(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program alone cannot: everything in the folder is equally old."""
    with closing(Workspace(home)) as workspace:
        newest = workspace.ledger.head()[1]
    old = home.parent / "old"
    assert command(old, "recover", capsys=capsys)[0] == 0
    assert command(home, "recover", "--close", newest[:16], capsys=capsys)[0] == 0  # it is there: nothing to do
    assert command(old, "recover", "--close", "abc", capsys=capsys)[0] == 2
    assert command(old, "recover", "--close", newest[:16], capsys=capsys)[0] == 0
    for folder, closed in ((home, {}), (old, {"people": "close"})):
        with closing(Workspace(folder)) as workspace:
            assert workspace.closed() == closed and workspace.verify_ledger().ok


@pytest.mark.parametrize("fault", [name for name in sorted(FAULTS) if "secret" in name])
def test_recovering_says_that_the_key_is_lost(home: Path, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Though the ledger is whole: nothing else would say why the folder does not open."""
    spoil, why = FAULTS[fault]
    spoil(home)
    code, said = command(home, "recover", capsys=capsys)
    assert code == 2 and said.strip() == say(why)
    assert command(home, "verify", capsys=capsys)[0] == 0


def test_an_edited_row_is_recovered_up_to_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(home / "ledger.sqlite")) as stranger, stranger:
        stranger.execute("DROP TRIGGER no_update")
        stranger.execute("UPDATE entries SET body = replace(body, '\"value\"', '\"other\"') WHERE seq = 3")
    with closing(Workspace(home)) as workspace:  # opens, so that the Ledger page can show where it breaks
        assert workspace.verify_ledger().broken == 3
    assert ledger_state(home).state == "damaged" and ledger_state(home).rows == 2
    assert command(home, "recover", "--close", capsys=capsys)[0] == 0
    with closing(Workspace(home)) as workspace:
        assert workspace.verify_ledger().ok and workspace.closed() == {"people": "close", "later": "close"}


def test_guards_that_are_gone_are_put_back(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(home / "ledger.sqlite")) as stranger, stranger:
        stranger.execute("DROP TRIGGER no_delete")
    assert ledger_state(home).state == "damaged"
    assert command(home, "recover", "--close", capsys=capsys)[0] == 0
    with closing(Workspace(home)) as workspace:
        assert workspace.verify_ledger().ok


def test_the_file_itself_and_the_chain_refuse_a_charge_to_a_closed_budget(place: Path) -> None:
    with opened(place) as ledger:
        ledger.recover(["b", "never made"], {"why": "test"}, "operator")
        for spend in (
            lambda: ledger.reserve(**ask("r")),
            lambda: ledger.raise_cap("b", "people", 2, "ana"),  # type: ignore[arg-type]
            lambda: ledger.budget("never made"),
        ):
            assert code_of(spend) == "budget.closed"
        ledger.recover(["b"], {"why": "again"}, "operator")
        assert ledger.head()[0] == 5 and ledger.verify().ok  # closed once
        row = next(iter(ledger.export_rows()))
        with closing(sqlite3.connect(ledger.path)) as stranger, pytest.raises(sqlite3.IntegrityError, match="closed"):
            told = {"seq": 6, "at": "", "kind": "raise", "budget": "b", "prev": ledger.head()[1]}
            values = list((row | told).values())
            stranger.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(values))})", values)


def test_nothing_is_mended_under_a_running_program(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(Workspace(home)):
        code, said = command(home, "recover", "--close", capsys=capsys)
        assert code == 2 and "Stop Allowance" in said
    assert command(home, "recover", capsys=capsys)[0] == 0
