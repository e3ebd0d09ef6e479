"""A table whose rows may not leave their database: coded there as `encode` would, asked there, and only aggregates come
over."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest
from engine.intake.test_coding_expressions import ODD, cell
from engine.intake.test_coding_expressions import SCHEMA as CODED
from engines.postgres_server import PostgresServer
from engines.sets import SETS, from_file, some_rows, tuples
from engines.source_steps import CANARY, PASSWORD, PEOPLE, add, prepared, refused, run, source

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.source import Source
from dpengine.intake.bring_in import Declared, code_rows, load_raw
from dpengine.intake.marks import row_key
from dpengine.statistics.counts import RowCount
from dpengine.storage import sources
from dpengine.workspace import Workspace


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    made = prepared(postgres.database())
    run(made, "CREATE SCHEMA allowance", "GRANT CREATE, USAGE ON SCHEMA allowance TO ana")
    return made


def staying(address: str, table: str = "visits") -> Source:
    found = source(address, table)
    return Source(found.shown, table, password=PASSWORD, in_place=True)


def ours(address: str) -> list[str]:
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'allowance' ORDER BY 1")
        return [name for (name,) in found]


def codes(home: Workspace, address: str, name: str) -> list[tuple[int, ...]]:
    folder = home.folder / "tables" / home.record(name).folder
    with psycopg.connect(address) as connection:
        return sorted(connection.execute(f"SELECT * FROM allowance.{sources.coded_name(folder)}").fetchall())


@pytest.mark.parametrize("unit", [dp.Unit.rows(), dp.Unit.column("id", 3)], ids=["rows", "people"])
def test_cells_are_coded_as_from_a_file(home: Workspace, address: str, tmp_path: Path, unit: dp.Unit) -> None:
    chance = random.Random()
    rows = [[cell(chance) for _ in CODED.columns] for _ in range(1_500)] + [[odd] * len(CODED.columns) for odd in ODD]
    columns = ", ".join(f'"{name}" text' for name in CODED.columns)
    run(address, "DROP TABLE IF EXISTS odd", f"CREATE TABLE odd (id text, {columns})")
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        with cursor.copy("COPY public.odd FROM STDIN") as copy:
            for place, row in enumerate(rows):
                copy.write_row((f" {place // 3}\u00a0" if place % 7 else "", *row))
    dialect = dp.Dialect(thousands=",")
    table = add(home, staying(address, "odd"), "odd", schema=CODED, unit=unit, dialect=dialect)
    declared = Declared(CODED, unit, dialect, home._secret)
    loaded = load_raw(tmp_path, source(address, "odd"), declared)
    people, _ = code_rows(tmp_path, loaded, declared)
    here = pq.read_table(tmp_path / "coded-1.parquet").to_pandas()
    assert table.facts.people == people and home.record("odd").fingerprint == loaded.fingerprint
    wanted = sorted(tuple(row) for row in here.to_numpy().tolist())
    assert codes(home, address, "odd") == wanted  # with three rows each, all of a person's count


@pytest.mark.parametrize("unit", [dp.Unit.rows(), dp.Unit.column("id", 2)], ids=["rows", "people"])
def test_sets_are_coded_as_from_a_file(home: Workspace, address: str, tmp_path: Path, unit: dp.Unit) -> None:
    """As texts, and the first column as an array."""
    rows = some_rows(random.Random(), 300)
    columns = "id text, tags text, n text, one text, odd text"
    run(address, "DROP TABLE IF EXISTS sets CASCADE", f"CREATE TABLE sets ({columns})")
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        with cursor.copy("COPY public.sets FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    arrays = "id, string_to_array(tags, '|', '') AS tags, n, one, string_to_array(odd, ' AND ') AS odd"
    run(address, "DROP TABLE IF EXISTS arrays", f"CREATE TABLE arrays AS SELECT {arrays} FROM sets")
    for name in ("sets", "arrays"):
        table = add(home, staying(address, name), name, schema=SETS, unit=unit, budget=dp.Budget("9", "1e-6"))
        here, every, people = from_file(source(address, name), unit, tmp_path / name, home._secret)
        assert table.facts.people == people
        there = f"allowance.{sources.coded_name(home.folder / 'tables' / home.record(name).folder)}"
        with psycopg.connect(address) as connection:
            found = tuples(connection.execute(f"SELECT * FROM {there}").fetchall())
            assert len(found) == len(here) and (unit.id_column or found == here)
            if unit.id_column:
                assert tuples(connection.execute(f"SELECT * FROM {there}_every").fetchall()) == every
                assert set(found) <= {row[:10] for row in every}
        assert table.ask(table.query("histogram", column="tags", epsilon="1")).value is not None
    if unit.id_column:  # what is asked of every row is watched too
        run(address, f"ALTER TABLE {there}_every DISABLE TRIGGER ALL")
        assert code_of(lambda: table.ask(table.query("count", epsilon="0.1"))) == "engine.changed"


def test_at_most_so_many_rows_of_a_person_count_and_always_the_same(home: Workspace, address: str) -> None:
    run(
        address,
        "CREATE TABLE often AS SELECT n % 40 AS id, n % 90 AS age, 'Ptuj' AS town FROM generate_series(1, 900) n",
    )
    terms: dict[str, Any] = {"unit": dp.Unit.column("id", 2)}
    assert add(home, staying(address, "often"), "often", **terms).facts.people == 40
    first = codes(home, address, "often")
    assert len(first) == 80
    run(address, "CREATE TABLE shuffled AS SELECT * FROM often ORDER BY random()")
    again = add(home, staying(address, "shuffled"), "shuffled", **terms)
    assert again.joined and codes(home, address, "shuffled") == first


def test_it_is_asked_there_and_only_aggregates_come_over(
    home: Workspace, address: str, postgres: PostgresServer
) -> None:
    before = postgres.log.stat().st_size
    table = add(home, staying(address), "ward", budget=dp.Budget("50", "1e-6"))
    made = postgres.log.read_bytes()[before:].decode()
    assert table.facts.people == PEOPLE and not list((home.folder / "tables").rglob("*.parquet"))
    assert home.read(RowCount(), home.record("ward"), table.schema) == PEOPLE
    folder = home.folder / "tables" / home.record("ward").folder
    with psycopg.connect(staying(address).url) as same, pytest.raises(psycopg.errors.InsufficientPrivilege):
        same.execute(f"DELETE FROM allowance.{sources.coded_name(folder)}")  # once coded, it stays as it is
    start = postgres.log.stat().st_size
    answer = table.ask(table.query("mean", column="age", epsilon="5"))
    table.ask(table.query("overview", epsilon="5"))
    asked = postgres.log.read_bytes()[start:].decode()
    assert answer.value is not None and "coded" in asked and "sum(" in asked.lower()
    statements = [line for line in asked.splitlines() if "statement:" in line or "execute" in line]
    assert statements and not any("visits" in line or "COPY" in line for line in statements)
    secrets = (PASSWORD, row_key(home._secret), home._secret.hex())
    assert not any(one in made + asked for one in secrets)
    for query in (
        table.query("find_declarations", numbers=["age"], epsilon="1"),
        table.query("publish_category", columns=["town"], epsilon="1"),
    ):
        head = home.ledger.head()
        with pytest.raises(AllowanceError) as refused_before:
            table.ask(query)
        assert refused_before.value.code.startswith("engine.") and home.ledger.head() == head


def test_the_same_rows_share_an_allowance_wherever_they_are_coded(home: Workspace, address: str) -> None:
    first = add(home, staying(address), "there")
    assert add(home, source(address), "here").budget.id == first.budget.id
    run(address, "CREATE TABLE later AS SELECT * FROM visits")
    add(home, staying(address, "later"), "later")
    run(address, "INSERT INTO later VALUES (999, 1, 'Ptuj')")
    newer = home.bring_newer("later", "later 2")
    assert newer.joined and newer.facts.people == PEOPLE + 1
    apart = home.bring_newer("later", "later 3", new_people=True)
    assert apart.budget.id == first.budget.id  # the rows of “later 2” are known


def test_what_goes_wrong_leaves_nothing_there(home: Workspace, address: str) -> None:
    before = ours(address)
    run(
        address,
        f"CREATE TABLE notes AS SELECT n AS age, '{CANARY}' AS town FROM generate_series(0, 3000) n",
        "CREATE VIEW broken AS SELECT 1 / (age - 2000) AS age, town FROM notes",
    )
    refused(home, staying(address, "broken"), "source.unreadable")
    refused(home, staying(address, "missing"), "source.absent")
    far = dp.Schema({"age": dp.Number(10**16, 10**16 + 10)})
    refused(home, staying(address), "source.in_place_fine", schema=far)
    add(home, staying(address, "notes"), "notes")
    assert code_of(lambda: add(home, staying(address, "notes"), "other terms", unit=dp.Unit.column("town", 1))) == (
        "budget.other_terms"
    )
    assert len(ours(address)) == len(before) + 1  # what was coded for the refused one is gone again
    home.forget("notes")
    assert ours(address) == before
    run(address, "REVOKE CREATE ON SCHEMA allowance FROM ana")
    refused(home, staying(address), "source.in_place_forbidden")
    run(address, "GRANT CREATE ON SCHEMA allowance TO ana")


def test_it_is_described_anew_while_its_rows_are_the_same(
    home: Workspace, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "OLDER", 3)
    run(address, "CREATE TABLE again AS SELECT * FROM visits")
    before = ours(address)
    first = add(home, staying(address, "again"), "again", budget=dp.Budget("20", "1e-6"))
    first.ask(first.query("mean", column="age", epsilon="1"))
    budget, spent = first.budget.id, first.meter().used
    for version, top in enumerate((9, 50, 90), start=2):
        table = first.revise(dp.Schema({"age": dp.Number(0, top), "id": dp.Number(0, 9)}))
        assert table.budget.id == budget and table.meter().used == spent
        assert max(row[0] for row in newest_codes(home, address, "again")) == min(top, 60)
        assert len(ours(address)) == len(before) + min(version, sources.OLDER)  # questions may still read them
    assert table.ask(table.query("mean", column="id", epsilon="1")).value is not None
    run(address, "INSERT INTO again VALUES (999, 1, 'Ptuj')")
    kept = ours(address)
    assert code_of(lambda: table.revise(dp.Schema({"age": dp.Number(0, 7)}))) == "source.moved_on"
    assert ours(address) == kept and home.record("again").version == 4
    assert table.ask(table.query("mean", column="id", epsilon="1")).value is not None
    home.forget("again")
    assert ours(address) == before


def newest_codes(home: Workspace, address: str, name: str) -> list[tuple[int, ...]]:
    record = home.record(name)
    there = sources.coded_name(home.folder / "tables" / record.folder, record.version)
    with psycopg.connect(address) as connection:
        return connection.execute(f"SELECT * FROM allowance.{there}").fetchall()


def test_an_away_database_is_told_before_the_charge_and_forgotten_when_it_is_back(tmp_path: Path) -> None:
    from engines.postgres_server import running

    with running() as server:
        made = prepared(server.database())
        run(made, "CREATE SCHEMA allowance", "GRANT CREATE, USAGE ON SCHEMA allowance TO ana")
        home = Workspace(tmp_path / "var")
        table = add(home, staying(made), "ward")
        server.stop()
        head = home.ledger.head()
        assert code_of(lambda: table.ask(table.query("mean", column="age", epsilon="0.1"))) == "engine.away"
        assert home.ledger.head() == head
        assert code_of(lambda: home.forget("ward")) == "source.unreachable"
        home.close()
        Workspace(tmp_path / "var").close()  # still away: the way to it is kept
        server.start()
        assert len(ours(made)) == 1
        Workspace(tmp_path / "var").close()
        assert ours(made) == []
        assert not any(PASSWORD.encode() in one.read_bytes() for one in (tmp_path / "var").rglob("*") if one.is_file())


OFTEN = {  # autovacuum looks every second, and after every row
    "autovacuum_naptime": "1s",
    "autovacuum_vacuum_insert_threshold": "1",
    "autovacuum_vacuum_insert_scale_factor": "0",
    "autovacuum_analyze_threshold": "1",
    "autovacuum_analyze_scale_factor": "0",
}


def asked(table: dp.Table) -> object:
    return table.ask(table.query("mean", column="age", epsilon="0.01"))


def test_nobody_writes_to_a_coded_table_not_even_its_owner(home: Workspace, address: str) -> None:
    add(home, staying(address), "ward", unit=dp.Unit.column("id", 1))
    there = f"allowance.{sources.coded_name(home.folder / 'tables' / home.record('ward').folder)}"
    before = codes(home, address, "ward")
    run(staying(address).url, f"GRANT ALL ON {there} TO ana")
    for who in (staying(address).url, address):  # its owner, and a superuser
        for written in (
            f"DELETE FROM {there}",
            f"UPDATE {there} SET c0 = 0",
            f"INSERT INTO {there} SELECT * FROM {there}",
            f"TRUNCATE {there}",
        ):
            with psycopg.connect(who) as connection, pytest.raises(psycopg.errors.RaiseException):
                connection.execute(written)
    with psycopg.connect(address) as connection, pytest.raises(psycopg.errors.RaiseException):
        connection.execute("SET session_replication_role TO replica")
        connection.execute(f"DELETE FROM {there}")
    assert codes(home, address, "ward") == before
    run(address, f"ALTER TABLE {there} DISABLE TRIGGER ALL")
    for wrong in ("c0 = NULL", "c0 = 121", "c1 = -2", "f0 = -9", "fault = NULL", "person = -1"):
        with psycopg.connect(address) as connection, pytest.raises(psycopg.IntegrityError):
            connection.execute(f"UPDATE {there} SET {wrong}")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE {0} DISABLE TRIGGER ALL; DELETE FROM {0} WHERE c0 = 5;"
        " ALTER TABLE {0} ENABLE ALWAYS TRIGGER never_all; ALTER TABLE {0} ENABLE ALWAYS TRIGGER never_rows",
        "CREATE OR REPLACE FUNCTION {0}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL;END'",
        "ALTER TABLE {0} ALTER c0 TYPE integer USING 7",
        "CREATE TABLE allowance.more () INHERITS ({0}); INSERT INTO allowance.more SELECT * FROM {0}",
        "CREATE TABLE public.older AS TABLE {0}; DROP TABLE {0}; ALTER TABLE public.older SET SCHEMA allowance;"
        " ALTER TABLE allowance.older RENAME TO {1}; GRANT SELECT ON {0} TO ana",
    ],
    ids=["triggers", "function", "column", "inherits", "another"],
)
def test_a_changed_coded_table_is_refused_before_the_charge(home: Workspace, address: str, change: str) -> None:
    table = add(home, staying(address), "ward")
    asked(table)
    name = sources.coded_name(home.folder / "tables" / home.record("ward").folder)
    run(address, *change.format(f"allowance.{name}", name).split("; "))
    head = home.ledger.head()
    assert code_of(lambda: asked(table)) == "engine.changed" and home.ledger.head() == head
    run(address, "DROP TABLE IF EXISTS allowance.more")
    again = home.bring_newer("ward", "ward again")
    assert again.joined and asked(again) is not None
    run(address, f"DROP TABLE allowance.{name} CASCADE", f"DROP FUNCTION IF EXISTS allowance.{name}()")


def test_what_a_server_does_by_itself_does_not_change_a_coded_table(tmp_path: Path) -> None:
    from engines.postgres_server import running

    with running(**OFTEN) as server:
        made = prepared(server.database())
        run(made, "CREATE SCHEMA allowance", "GRANT CREATE, USAGE ON SCHEMA allowance TO ana")
        home = Workspace(tmp_path / "var")
        table = add(home, staying(made), "ward")
        folder = home.folder / "tables" / home.record("ward").folder
        there = f"allowance.{sources.coded_name(folder)}"
        with psycopg.connect(made, autocommit=True) as connection:
            done = "SELECT pg_stat_get_autovacuum_count({0}) > 0 AND pg_stat_get_autoanalyze_count({0}) > 0"
            deadline = time.monotonic() + 120
            while connection.execute(done.format(f"'{there}'::regclass")).fetchone() != (True,):
                assert time.monotonic() < deadline
                time.sleep(0.2)
        trigger = "pg_catalog.pg_trigger"
        for kept in (f"ANALYZE {there}", f"VACUUM FREEZE {there}", f"VACUUM FULL {there}", f"VACUUM FULL {trigger}"):
            run(made, kept)
        asked(table)
        server.stop()
        server.start()
        asked(table)
        home.close()


def test_a_limit_of_the_role_does_not_cancel_a_question(home: Workspace, address: str) -> None:
    """It would after the charge, and whether it does may depend on the rows."""
    table = add(home, staying(address), "ward")
    false = "CREATE FUNCTION public.sum(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'"
    run(address, false, "ALTER ROLE ana SET search_path TO public, pg_catalog")
    record = home.record("ward")
    folder = home.folder / "tables" / record.folder
    try:
        home.engine.let_go()
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            run(address, f"ALTER ROLE ana SET {name} TO '50ms'")
        with psycopg.connect(address) as holding:
            holding.execute(f"LOCK TABLE allowance.{sources.coded_name(folder)} IN ACCESS EXCLUSIVE MODE")
            letting_go = threading.Timer(1, holding.rollback)
            letting_go.start()
            assert home.read(RowCount(), record, table.schema) == PEOPLE
            letting_go.join()
    finally:
        run(address, "ALTER ROLE ana RESET ALL", "DROP FUNCTION public.sum(bigint)")
        home.engine.let_go()


def code_of(call: Any) -> str:
    with pytest.raises(AllowanceError) as told:
        call()
    assert PASSWORD not in str(told.value)
    return str(told.value.code)
