"""The ledger in Postgres when things go wrong: many writers, kill -9 of a program and of Postgres, a connection that is
cut, a wrong address. Never a release without a charge, never two draws for one, never a password."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import pytest
from engines.ledger_in_postgres import address_of, in_postgres
from engines.postgres_server import PASSWORD, PostgresServer, free_port, running

from dpengine.accountant.filter import Rule, used
from dpengine.asking.jobs import Jobs
from dpengine.asking.release import charge_and_draw
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.postgres_store import PostgresLedger
from dpengine.ledger.store import Address, read_address
from tests.helpers_ledger import USUAL, WIDE, ask, code_of, end_child, raises, start_child, until, value


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> str:
    return postgres.database()


def shared(database: str, folder: Path, rule: Rule = USUAL, wait: float = 5.0) -> Ledger:
    path = folder / "ledger.sqlite"
    ledger = Ledger(path, store=in_postgres(database, path, wait))
    ledger.create_budget("b", rule, "private", "owner", "people")
    return ledger


# Many writers


def test_64_writers_spend_exactly_the_cap(database: str, tmp_path: Path) -> None:
    """An allowance of 160 questions (pure ε, no δ), and 64 processes that ask three each."""
    rule, number = Rule.make(Fraction(16, 10), Fraction(0)), 160
    shared(database, tmp_path, rule).close()

    def write(name: int) -> int:
        with closing(shared(database, tmp_path, rule, wait=300)) as ledger:
            done = 0
            for turn in range(3):
                with suppress(BudgetExceeded):
                    done += ledger.reserve(**ask(f"{name}-{turn}", "0.01")).fresh
            return done

    children = [start_child(lambda name=name: write(name)) for name in range(64)]
    told = [end_child(*child) for child in children]
    assert sum(map(int, told)) == number
    with closing(shared(database, tmp_path, rule)) as ledger:
        assert ledger.standing("b").charges == number and ledger.verify().ok
        assert used(rule, ledger.standing("b").totals) == 1
        with raises("budget.exceeded", BudgetExceeded):
            ledger.reserve(**ask("one more", "0.01"))


def test_who_waits_too_long_for_the_lock_is_told_and_spends_nothing(database: str, tmp_path: Path) -> None:
    with closing(shared(database, tmp_path)) as ledger, closing(shared(database, tmp_path, wait=0.1)) as hasty:
        with ledger._store.writing():
            with raises("ledger.locked"):
                hasty.reserve(**ask("r"))
        assert hasty.reserve(**ask("r")).fresh


# kill -9


def _releases(database: str, folder: Path, name: str, rounds: int) -> str:
    """Each draw leaves a line in a file before its answer is stored: nothing can be drawn and not be seen."""
    with closing(shared(database, folder, WIDE)) as ledger, closing(Jobs(folder, ledger)) as jobs:
        for turn in range(rounds):
            request = f"{name}-{turn}"

            def draw(statistic: int, request: str = request) -> dict[str, object]:
                with (folder / f"drawn-{name}").open("a") as lines:
                    lines.write(f"{request}\n")
                    lines.flush()
                    os.fsync(lines.fileno())
                return value(statistic)

            with suppress(AllowanceError):
                args = ask(request, "0.001", worker=jobs.worker)
                charge_and_draw(ledger, args, lambda: 7, draw, patience=0.1)
    return "done"


def _drawn(folder: Path) -> Counter[str]:
    return Counter(line for path in folder.glob("drawn-*") for line in path.read_text().splitlines())


def _settled(database: str, folder: Path) -> None:
    """Every draw has its one charge, every answer too, and what was drawn is not drawn again when asked again."""
    drawn = _drawn(folder)
    with closing(shared(database, folder, WIDE)) as ledger, closing(Jobs(folder, ledger)) as jobs:
        assert ledger.verify().ok
        charged = Counter(entry.charge.request for entry in ledger.walk("b"))
        assert set(drawn) <= set(charged) and set(drawn.values()) <= {1} and set(charged.values()) == {1}
        for request in charged:
            if jobs.state(request).state != "done":
                args = ask(request, "0.001", worker=jobs.worker)
                assert code_of(lambda: charge_and_draw(ledger, args, lambda: 8, value)) in (  # noqa: B023
                    "release.interrupted",
                    "release.failed",
                )
        assert ledger.standing("b").charges == len(charged) and _drawn(folder) == drawn


def test_programs_that_are_killed_leave_nothing_uncharged_and_nothing_double(database: str, tmp_path: Path) -> None:
    shared(database, tmp_path, WIDE).close()
    for turn in range(12):
        pid, pipe = start_child(lambda turn=turn: _releases(database, tmp_path, str(turn), 50))
        until(lambda turn=turn: (tmp_path / f"drawn-{turn}").exists())
        time.sleep(0.005 * turn)
        os.kill(pid, signal.SIGKILL)
        assert end_child(pid, pipe) == ""
    _settled(database, tmp_path)


def test_postgres_killed_in_the_middle_leaves_nothing_uncharged_and_nothing_double(tmp_path: Path) -> None:
    with running(log_statement="none") as server:
        database = server.database()
        shared(database, tmp_path, WIDE).close()
        children = [start_child(lambda n=n: _releases(database, tmp_path, f"k{n}", 150)) for n in range(2)]
        for kill in range(3):
            seen = len(_drawn(tmp_path))
            until(lambda seen=seen: len(_drawn(tmp_path)) > seen + 10 + kill)  # noqa: B023
            server.stop(signal.SIGKILL)
            _start_again(server)
        for child in children:
            assert end_child(*child) == "done"
        _settled(database, tmp_path)


def _start_again(server: PostgresServer) -> None:
    """What a killed server left behind ends within moments."""
    deadline = time.monotonic() + 120
    while True:
        try:
            server.start()
            return
        except AssertionError:
            assert time.monotonic() < deadline
            server.stop(signal.SIGKILL)
            time.sleep(0.2)


# A connection that is cut


class Wire:
    """A way to the database that can be cut at a word of the client's, before or after it arrives."""

    def __init__(self, port: int) -> None:
        self._to, self.port = port, free_port()
        self.cut_at, self.arrives, self.closed = b"", True, False
        self.cuts = 0
        self._listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.closed:
                    client.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self._to))
                threading.Thread(target=self._pump, args=(client, server, True), daemon=True).start()
                threading.Thread(target=self._pump, args=(server, client, False), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, asked: bool) -> None:
        with suppress(OSError):
            while said := source.recv(65536):
                if asked and self.cut_at and self.cut_at in said:
                    self.cut_at, self.cuts = b"", self.cuts + 1
                    if self.arrives:
                        source.shutdown(socket.SHUT_RDWR)  # first, so that no answer gets back
                        sink.sendall(said)
                        time.sleep(0.3)
                    break
                sink.sendall(said)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listening.close()


@contextmanager
def wired(server: PostgresServer, database: str, folder: Path, wait: float = 5.0) -> Iterator[tuple[Ledger, Wire]]:
    wire = Wire(server.port)
    path = folder / "ledger.sqlite"
    through = address_of(database, path)
    shared(database, folder).close()
    address = Address(database.replace(f":{server.port}/", f":{wire.port}/"), through.schema)
    with closing(wire), closing(Ledger(path, store=PostgresLedger(path, address, wait))) as ledger:
        yield ledger, wire


def test_a_commit_whose_answer_was_lost_is_found_and_drawn_once(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with wired(postgres, database, tmp_path) as (ledger, wire):
        wire.cut_at = b"COMMIT"
        assert ledger.reserve(**ask("r")).fresh and wire.cuts == 1
        assert not ledger.reserve(**ask("r")).fresh  # whoever asks again is told what stands, and draws nothing
        assert ledger.standing("b").charges == 1 and ledger.verify().ok


def test_a_commit_that_never_arrived_spends_nothing(postgres: PostgresServer, database: str, tmp_path: Path) -> None:
    with wired(postgres, database, tmp_path) as (ledger, wire):
        wire.cut_at, wire.arrives = b"COMMIT", False
        with raises("ledger.unreachable"):
            ledger.reserve(**ask("r"))
        assert wire.cuts == 1 and ledger.standing("b").charges == 0
        assert ledger.reserve(**ask("r")).fresh and ledger.standing("b").charges == 1


def test_where_nobody_can_be_asked_what_became_of_a_commit_it_is_said(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with wired(postgres, database, tmp_path, wait=0.5) as (ledger, wire):
        wire.cut_at, wire.closed = b"COMMIT", True
        with raises("ledger.unsure"):
            ledger.reserve(**ask("r"))
        wire.closed = False
        assert not ledger.reserve(**ask("r")).fresh  # it stood: charged once, and never drawn without a fresh charge
        assert ledger.standing("b").charges == 1


def test_a_connection_cut_in_the_middle_is_one_sentence_and_the_next_call_works(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with wired(postgres, database, tmp_path) as (ledger, wire):
        for word in (b"INSERT", b"pg_advisory_xact_lock", b"kind = 'charge'"):
            wire.cut_at, wire.arrives = word, True
            assert code_of_shared(lambda: ledger.reserve(**ask("r", "0.01"))) == "ledger.unreachable"
            assert ledger.standing("b").charges == 0
        assert ledger.reserve(**ask("r", "0.01")).fresh


def code_of_shared(attempt: object) -> str:
    with pytest.raises(AllowanceError) as caught:
        attempt()  # type: ignore[operator]
    told = "".join(traceback.format_exception(caught.value))
    assert PASSWORD not in told and "psycopg" not in told.split("Traceback")[-1]
    return caught.value.code


# Addresses


def test_wrong_addresses_are_one_sentence_without_a_password(postgres: PostgresServer, tmp_path: Path) -> None:
    path, secret = tmp_path / "ledger.sqlite", "hunter2-is-wrong"
    port = free_port()
    wrong = {
        postgres.url(password=secret): "ledger.stranger",
        postgres.url(user="nobody", password=secret): "ledger.stranger",
        postgres.url("no_such_database"): "ledger.unreachable",
        f"postgresql://allowance:{secret}@127.0.0.1:{port}/x": "ledger.unreachable",
        f"postgresql://allowance:{secret}@no.such.host.invalid/x": "ledger.unreachable",
        f"postgresql://allowance:{secret}@127.0.0.1:{port}/x?no_such_option=1": "ledger.unreachable",
    }
    for text, code in wrong.items():
        address = read_address(text)
        with pytest.raises(AllowanceError) as caught:
            PostgresLedger(path, address, wait=0.1)
        told = str(caught.value) + repr(caught.value) + "".join(traceback.format_exception(caught.value))
        assert caught.value.code == code and secret not in told + repr(address) and PASSWORD not in told, (text, told)
        assert caught.value.__cause__ is None


def test_a_database_that_may_lose_commits_is_refused(tmp_path: Path) -> None:
    with running(fsync="off") as server:
        with raises("ledger.database_unfit"):
            in_postgres(server.database(), tmp_path / "ledger.sqlite")


def test_whatever_the_server_has_as_a_default_commits_are_durable(database: str, tmp_path: Path) -> None:
    with closing(shared(database, tmp_path)) as ledger, ledger._store.reading() as db:
        told = {name: next(iter(db.query(f"SHOW {name}")))[name] for name in ("synchronous_commit", "lock_timeout")}
        assert told == {"synchronous_commit": "on", "lock_timeout": "5s"}


# Who is alive


def _carry_slowly(database: str, folder: Path) -> str:
    def read() -> int:
        until((folder / "go").exists)
        return 7

    with closing(shared(database, folder)) as ledger, closing(Jobs(folder, ledger)) as jobs:
        with suppress(AllowanceError):
            charge_and_draw(ledger, ask("r", worker=jobs.worker), read, value)
    return "carried"


def test_a_release_of_another_that_lives_is_running_and_of_a_dead_one_is_noted_once(
    database: str, tmp_path: Path
) -> None:
    with closing(shared(database, tmp_path)) as ledger, closing(Jobs(tmp_path, ledger)) as jobs:
        pid, pipe = start_child(lambda: _carry_slowly(database, tmp_path))
        until(lambda: ledger.find("r") is not None)
        charge = ledger.find("r").charge  # type: ignore[union-attr]
        assert jobs.state("r").state == "running" and ledger.store.hears(charge.worker)
        lock = tmp_path / "workers" / f"{charge.worker}.lock"
        lock.rename(tmp_path / "out of sight")  # as if its locks could not be seen from here
        assert jobs.state("r").state == "running"
        os.kill(pid, signal.SIGKILL)
        assert end_child(pid, pipe) == ""
        until(lambda: not ledger.store.hears(charge.worker))
        readers = [start_child(lambda: Jobs(tmp_path, ledger).state("r").state) for _ in range(4)]
        assert {end_child(*reader) for reader in readers} == {"interrupted"}
        noted = [row for row in ledger.export_rows("b") if row["kind"] == "failed"]
        assert len(noted) == 1 and '"release.interrupted"' in noted[0]["body"]
        assert jobs.state("r").state == "interrupted" and ledger.standing("b").charges == 1
        with raises("request.settled"):  # a machine that was only cut off stores nothing later
            ledger.answer("r", value(7))
        assert ledger.verify().ok


def test_a_server_started_anew_declares_nobody_dead(tmp_path: Path) -> None:
    with running() as server:
        database = server.database()
        with closing(shared(database, tmp_path)) as ledger, closing(Jobs(tmp_path, ledger)) as jobs:
            pid, pipe = start_child(lambda: _carry_slowly(database, tmp_path))
            until(lambda: ledger.find("r") is not None)
            server.stop()
            server.start()
            with suppress(AllowanceError):
                ledger.head()  # one sentence, for a connection that was in use; the next call has a new one
            assert jobs.state("r").state == "running"  # the kernel's lock in the folder says so
            (tmp_path / "go").touch()
            assert end_child(pid, pipe) == "carried" and jobs.state("r").state == "done"


def test_programs_that_share_a_ledger_but_not_a_folder_are_refused(database: str, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    with closing(shared(database, tmp_path / "here")) as ledger, closing(Jobs(tmp_path / "here", ledger)) as jobs:
        assert jobs.worker
        other = tmp_path / "there" / "ledger.sqlite"
        schema = address_of(database, ledger.path).schema
        with closing(Ledger(other, store=in_postgres(database, other, schema=schema))) as theirs:
            with raises("ledger.folder_apart"):
                Jobs(tmp_path / "there", theirs)
    with closing(shared(database, tmp_path / "here")) as ledger:
        Jobs(tmp_path / "here", ledger).close()  # whoever has left is in nobody's way
