"""What goes wrong while a table is read from its database: one sentence each, nothing kept, nothing charged, no value
and no password told."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from engines.postgres_server import PostgresServer, running
from engines.source_steps import CANARY, PASSWORD, PEOPLE, add, prepared, refused, run, source

from dpengine.core.errors import AllowanceError
from dpengine.core.libpq import settings
from dpengine.declared.source import Source
from dpengine.intake import postgres as reader
from dpengine.intake.postgres import describe
from dpengine.workspace import Workspace


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    return prepared(postgres.database())


def test_who_is_not_let_in_is_told_so(home: Workspace, address: str, postgres: PostgresServer) -> None:
    refused(home, source(address, password="wrong"), "source.refused")
    refused(home, source(address, password=""), "source.refused")
    here = source(address)
    refused(
        home, Source(f"postgresql://nobody@{here.where}/{here.database}", "visits", password=PASSWORD), "source.refused"
    )
    refused(home, Source(f"postgresql://ana@{here.where}/nothere", "visits", password=PASSWORD), "source.refused")
    refused(
        home, Source(f"postgresql://ana@127.0.0.1:1/{here.database}", "visits", password=PASSWORD), "source.unreachable"
    )
    run(address, "CREATE TABLE closed AS SELECT * FROM visits", "REVOKE ALL ON closed FROM ana")
    refused(home, source(address, "closed"), "source.forbidden")


def test_a_view_that_fails_for_a_row_keeps_nothing_and_quotes_nothing(home: Workspace, address: str) -> None:
    run(
        address,
        f"CREATE TABLE notes AS SELECT n AS age, '{CANARY}' AS town FROM generate_series(0, 50000) n",
        "CREATE VIEW broken AS SELECT 1 / (age - 40000) AS age, town FROM notes",
        "CREATE VIEW cast_wrong AS SELECT (town || age)::integer AS age, town FROM notes",
    )
    refused(home, source(address, "broken"), "source.unreadable")
    refused(home, source(address, "cast_wrong"), "source.unreadable")


def test_a_table_that_vanished_or_changed_is_told_and_the_first_stays(home: Workspace, address: str) -> None:
    run(address, "CREATE TABLE changing AS SELECT * FROM visits")
    table = add(home, source(address, "changing"), "changing")
    for statement, code in (
        ("ALTER TABLE changing ALTER COLUMN age TYPE text", "source.changed"),
        ("ALTER TABLE changing DROP COLUMN age", "source.column_gone"),
        ("DROP TABLE changing", "source.absent"),
    ):
        run(address, statement)
        with pytest.raises(AllowanceError) as told:
            home.bring_newer("changing", "newer")
        assert told.value.code == code
    assert table.ask(table.query("mean", column="age", epsilon="0.1")) is not None


def test_a_table_that_is_being_rewritten_is_waited_for_and_never_seen_empty(
    home: Workspace, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(address, "CREATE TABLE rewritten AS SELECT * FROM visits")
    monkeypatch.setattr(reader, "_SETTINGS", (*reader._SETTINGS, "SET LOCAL lock_timeout TO '300ms'"))
    with psycopg.connect(address) as writer:
        writer.execute("TRUNCATE rewritten")
        refused(home, source(address, "rewritten"), "source.busy")
        writer.execute("INSERT INTO rewritten SELECT * FROM visits WHERE id <= 7")
    assert add(home, source(address, "rewritten"), "rewritten").facts.people == 7


def slow(address: str) -> None:
    run(
        address,
        "DROP VIEW IF EXISTS slow",
        f"CREATE VIEW slow AS SELECT n AS age, '{CANARY}' || repeat('x', 2000) || pg_sleep(0.002)::text AS town"
        " FROM generate_series(1, 100000) n",
    )


@contextmanager
def meanwhile(act: Callable[[], None], after: float = 0.5) -> Iterator[None]:
    timer = threading.Timer(after, act)
    timer.start()
    yield
    timer.join()


def test_a_connection_that_is_cut_in_the_middle_keeps_nothing(home: Workspace, address: str) -> None:
    slow(address)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'allowance'"
    with meanwhile(lambda: run(address, end)):
        refused(home, source(address, "slow"), "source.cut")
    table = add(home, source(address), "ward")
    assert table.meter().charges == 0


def test_a_server_that_is_killed_in_the_middle_keeps_nothing(home: Workspace) -> None:
    with running() as server:
        made = server.database()
        run(made, f"CREATE ROLE ana LOGIN PASSWORD '{PASSWORD}'")
        slow(made)
        run(made, "GRANT SELECT ON slow TO ana")
        with meanwhile(lambda: server.stop(signal.SIGKILL)):
            refused(home, source(made, "slow"), "source.cut")
        refused(home, source(made, "slow"), "source.unreachable")


def test_stopping_ends_the_reading_in_the_database_too(home: Workspace, address: str) -> None:
    slow(address)
    began = time.monotonic()

    def tell(share: float) -> None:
        if time.monotonic() - began > 0.5:
            raise AllowanceError("load.cancelled")

    refused(home, source(address, "slow"), "load.cancelled", progress=tell)
    with psycopg.connect(address) as connection:
        busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'allowance' AND state = 'active'"
        deadline = time.monotonic() + 60
        while connection.execute(busy).fetchone() != (0,):
            assert time.monotonic() < deadline


def test_nothing_of_the_environment_is_used(
    home: Workspace, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password file or a setting of whoever runs the server is not lent to whoever names an address."""
    here = source(address)
    lent = tmp_path / "pgpass"
    lent.write_text(f"{here.host}:{here.port}:*:ana:{PASSWORD}\n")
    lent.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(lent))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    refused(home, source(address, password=""), "source.refused")
    monkeypatch.setenv("PGHOSTADDR", "192.0.2.1")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=nowhere")
    monkeypatch.setenv("PGREQUIREAUTH", "none")
    monkeypatch.setenv("PGSSLCRLDIR", str(tmp_path))
    assert add(home, here, "ward").facts.people == PEOPLE


def test_a_question_is_asked_over_the_same_connection_as_a_table_is_brought(
    home: Workspace, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a table could be brought and never asked, and a line that is cut after a charge would hang for hours."""
    run(address, "CREATE SCHEMA IF NOT EXISTS allowance", "GRANT CREATE, USAGE ON SCHEMA allowance TO ana")
    here = source(address)
    table = add(home, Source(here.shown, "visits", password=PASSWORD, in_place=True), "stays")
    monkeypatch.setenv("PGHOSTADDR", "192.0.2.1")
    monkeypatch.setenv("PGOPTIONS", "-c role=nobody")
    monkeypatch.setenv("PGREQUIREAUTH", "none")
    logging.getLogger("psycopg").disabled = False
    connected = list[dict[str, object]]()
    connect = psycopg.connect
    monkeypatch.setattr(psycopg, "connect", lambda *more, **given: connected.append(given) or connect(*more, **given))
    assert table.ask(table.query("mean", column="age", epsilon="0.1")) is not None
    assert connected and logging.getLogger("psycopg").disabled
    told = {"host", "port", "dbname", "user", "password"}
    own = {"autocommit", "cursor_factory"}
    brought = list(connected)
    describe(here)
    kinds = [{key: value for key, value in one.items() if key not in own} for one in connected]
    assert len(connected) > len(brought) and all(kind == kinds[0] for kind in kinds) and told <= set(kinds[0])
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults() if option.envvar}
    assert known - set(kinds[0]) <= {"service", "servicefile", "min_protocol_version", "max_protocol_version"}
    checked = settings(psycopg, Source(f"{here.shown}?sslmode=verify-full", "visits").url)
    assert (checked["sslmode"], checked["sslrootcert"]) == ("verify-full", "system")
    assert checked["tcp_user_timeout"] == "60000" and checked["keepalives"] == "1"


BROUGHT = """
import resource, sys
from pathlib import Path
import dpengine as dp
from dpengine.intake.load import load
import psycopg

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def brought(table):
    source = dp.Source(sys.argv[1], table, password=sys.argv[2])
    return load(source, dp.Dialect(), Path(sys.argv[3]), b"k" * 32).rows

brought("small")
before = peak()
print(brought("big"), peak() - before)
"""


def test_a_longer_table_takes_no_more_memory(home: Workspace, address: str) -> None:
    """Once a table of some megabytes was read, one of ten times as many adds next to nothing: it streams."""
    for name, rows in (("small", 60_000), ("big", 600_000)):
        made = f"SELECT n AS age, md5(n::text) AS town, md5((-n)::text) AS note FROM generate_series(1, {rows}) n"
        run(address, f"CREATE TABLE {name} AS {made}")
    raw = home.folder / "tables" / "raw.parquet"
    given = [sys.executable, "-c", BROUGHT, source(address).shown, PASSWORD, str(raw)]
    told = subprocess.run(given, capture_output=True, text=True, check=True)
    rows, grown = map(int, told.stdout.split())
    assert rows == 600_000 and grown < 100 << 10  # kilobytes; the rows are 45 MB of text, and more as Python's
