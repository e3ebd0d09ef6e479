"""A table in a Postgres database, brought in as a source: read once and consistently, under one allowance, and its
password in one file."""

from __future__ import annotations

import json
import logging
import stat
import threading
from decimal import Decimal

import psycopg
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import PostgresServer
from engines.source_steps import PASSWORD, PEOPLE, add, cells, prepared, refused, run, source

import dpengine as dp
from dpengine.commands.backup import backup
from dpengine.core.errors import AllowanceError
from dpengine.declared.source import Source
from dpengine.storage.sources import CONNECTION
from dpengine.workspace import Workspace


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    return prepared(postgres.database())


# --- what is read


def test_typed_columns_are_read_as_a_file_in_the_dialect_would_hold_them(home: Workspace, address: str) -> None:
    run(
        address,
        "CREATE TYPE mood AS ENUM ('sad', 'fine')",
        '''CREATE TABLE typed (whole bigint, exact numeric, rough double precision, yes boolean, day date,
            at timestamp, zone timestamptz, many text[], feel mood, fixed char(5), bytes bytea, "odd ""name""" text,
            cash money, numbers integer[])''',
        """INSERT INTO typed VALUES
            (9223372036854775807, 1500.50, 1.5e300, true, '2024-01-05', '2024-01-05 10:30', '2024-01-05 10:30+02',
                '{a,"b c",NULL}', 'fine', 'ab', '\\x00ff', E'line\\nbreak, "quoted" \\r', 12.5, '{1,2}'),
            (-1, 'NaN', 'Infinity', false, 'infinity', '-infinity', 'infinity', '{}', 'sad', '', '', '', NULL, '{}'),
            (0, 'Infinity', 'NaN', NULL, '0044-03-15 BC', NULL, NULL, NULL, NULL, NULL, NULL, E'\\\\.', 0, NULL)""",
    )
    days = {name: dp.Date("2024-01-01", "2024-01-31") for name in ("day", "at", "zone")}
    schema = dp.Schema({"whole": dp.Number(0, 10), "many": dp.ItemSet(["a", "b c"], separator=";")} | days)
    add(home, source(address, "typed"), "typed", schema=schema)
    coded = pq.read_table(home.folder / "tables" / home.record("typed").folder / "coded-1.parquet").to_pydict()
    assert [coded[f"c{place}"] for place in range(5)] == [
        [10, 0, 0], [[0, 1], [], []], [4, -1, -1], [4, -1, -1], [4, -1, -1],
    ]  # fmt: skip
    first, second, third = cells(home, "typed")
    assert first == {
        "whole": "9223372036854775807",
        "exact": "1500.50",
        "rough": "1.5e+300",
        "yes": "true",
        "day": "2024-01-05",
        "at": "2024-01-05 10:30:00",
        "zone": "2024-01-05 08:30:00",
        "many": "a;b c",
        "feel": "fine",
        "fixed": "ab",
        "bytes": None,
        'odd "name"': 'line\nbreak, "quoted" \r',
        "cash": "12.50",
        "numbers": "1|2",
    }
    assert [second[name] for name in ("whole", "exact", "rough", "yes", "day", "at", "zone", "many", 'odd "name"')] == [
        "-1", None, "inf", "false", None, None, None, None, None,
    ]  # fmt: skip
    assert (third["exact"], third["rough"], third["day"], third['odd "name"']) == ("inf", None, "0044-03-15 BC", "\\.")
    comma = {"schema": schema, "dialect": dp.Dialect(separator=";", decimal=",", thousands=".")}
    add(home, source(address, "typed"), "typed again", **comma)
    assert cells(home, "typed again")[0]["exact"] == "1500,50"
    described = home.describe_source(source(address, "typed"))
    kinds = {column.name: column for column in described.columns}
    assert kinds["feel"].labels == ("sad", "fine") and kinds["yes"].category == "B" and kinds["many"].category == "A"
    assert described.earlier == ("typed", "typed again")


def test_the_same_rows_from_a_file_share_the_allowance(home: Workspace, address: str) -> None:
    run(
        address,
        "CREATE TABLE prices (id integer, price numeric(8,2), day date, paid boolean, at timestamptz)",
        "INSERT INTO prices SELECT n, n / 4.0, date '2024-01-01' + n, n % 3 = 0, timestamptz '2024-01-01 10:00Z'"
        " + n * interval '90 min' FROM generate_series(1, 50) n",
    )
    schema = dp.Schema({"price": dp.Number(0, 20)})
    first = add(home, source(address, "prices"), "prices", schema=schema)
    with psycopg.connect(address) as connection:
        rows = connection.execute("SELECT id, price, day, paid, at FROM prices ORDER BY random()").fetchall()
    text = "id,price,day,paid,at\n" + "".join(
        f"{a},{b.normalize() if isinstance(b, Decimal) else b},{c},{d},{e.isoformat()}\n" for a, b, c, d, e in rows
    )
    path = home.folder / "files" / "prices.csv"
    path.write_text(text)
    again = add(home, path, "from a file", schema=schema)
    assert again.joined and again.budget.id == first.budget.id


def test_no_cell_makes_reading_fail_and_every_row_is_read(home: Workspace, address: str) -> None:
    run(
        address,
        'CREATE TABLE wild (id integer, note text, n numeric, "50% {own} `x` %s" text DEFAULT NULL)',
        "INSERT INTO wild SELECT n, repeat(chr(1 + n), 3) || '\",\n\r\\.' || chr(9), n FROM generate_series(1, 300) n",
        "INSERT INTO wild VALUES (301, repeat('x', 3000000), 1e1000), (302, repeat('\"', 400000), 1), (303, '', NULL)",
        "INSERT INTO wild VALUES (NULL, NULL, NULL), (305, E'\\u2028\\ufeff', -1)",
    )
    add(home, source(address, "wild"), "wild", schema=dp.Schema({"n": dp.Number(0, 10)}))
    found = {row["id"]: row for row in cells(home, "wild")}
    assert len(found) == 304 and None not in found  # the row of nothing is nobody's
    assert found["301"]["note"] is None and found["302"]["note"] is None and found["305"]["note"] == "\u2028\ufeff"
    assert all(found[str(n)]["note"] == chr(1 + n) * 3 + '",\n\r\\.\t' for n in range(1, 301))


def test_a_snapshot_is_of_one_moment(home: Workspace, address: str) -> None:
    """Rows that are moved from one place to the other while the table is read are there once."""
    run(
        address,
        "CREATE TABLE moved (id integer, x integer)",
        "INSERT INTO moved SELECT n, 0 FROM generate_series(1, 2000) n",
    )
    stop = threading.Event()

    def move() -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            while not stop.is_set():
                connection.execute(
                    "WITH gone AS (DELETE FROM moved RETURNING id) INSERT INTO moved SELECT id, 1 FROM gone"
                )

    mover = threading.Thread(target=move)
    mover.start()
    try:
        for turn in range(5):
            add(home, source(address, "moved"), f"moved {turn}", schema=dp.Schema({"x": dp.Number(0, 1)}))
            assert sorted(int(row["id"]) for row in cells(home, f"moved {turn}")) == list(range(1, 2001))
    finally:
        stop.set()
        mover.join()


def test_names_are_found_as_they_are_written_else_in_lower_case(home: Workspace, address: str) -> None:
    run(
        address,
        "CREATE SCHEMA care",
        "GRANT USAGE ON SCHEMA care TO ana",
        "CREATE TABLE care.\"Odd.Name\" AS SELECT 1 AS age, 'Ptuj' AS town",
        "GRANT SELECT ON ALL TABLES IN SCHEMA care TO ana",
        "CREATE VIEW seen AS SELECT age, town FROM visits",
        "CREATE MATERIALIZED VIEW kept AS SELECT age, town FROM visits",
    )
    for written in ("VISITS", "public.visits", '"visits"', "seen", "kept", 'care."Odd.Name"'):
        assert [column.name for column in home.describe_source(source(address, written)).columns][-2:] == [
            "age",
            "town",
        ]
    assert add(home, source(address, "kept"), "kept").facts.people == PEOPLE
    refused(home, source(address, '"odd.name"'), "source.absent")
    refused(home, source(address, "visits; DROP TABLE visits"), "source.absent")


# --- its budget


def test_a_newer_state_joins_the_allowance_unless_its_people_are_new(home: Workspace, address: str) -> None:
    run(address, "CREATE TABLE growing AS SELECT * FROM visits")
    first = add(home, source(address, "growing"), "growing")
    run(address, "INSERT INTO growing VALUES (1000, 7, 'Ptuj')")
    second = home.bring_newer("growing", "growing 2")
    assert second.joined and second.budget.id == first.budget.id and second.facts.people == PEOPLE + 1
    other_name = add(
        home,
        Source(source(address, "GROWING").shown.replace("127.0.0.1", "localhost"), "public.growing", password=PASSWORD),
        "growing 3",
    )
    assert other_name.budget.id == first.budget.id
    run(address, "ALTER TABLE growing RENAME TO grown", "DELETE FROM grown WHERE id > 5")
    assert add(home, source(address, "grown"), "growing 4").budget.id == first.budget.id  # the same table to its server
    run(address, "UPDATE grown SET id = id + 5000")
    apart = add(home, source(address, "grown"), "newcomers", new_people=True, budget=dp.Budget("0.5", "1e-6"))
    assert not apart.joined and apart.budget.id != first.budget.id
    acts = [(act.table, act.newer) for act in home.ledger.acts(first.budget.id) if act.kind == "new_people"]
    assert ("growing", "newcomers") in acts and home.verify_ledger().ok
    run(address, "UPDATE grown SET age = age + 1")
    assert (
        add(home, source(address, "grown"), "newcomers 2").budget.id == apart.budget.id
    )  # the newest says whose they are
    head = home.ledger.head()
    same = add(home, source(address, "grown"), "not new", new_people=True)  # the very rows are known
    assert same.joined and same.budget.id == apart.budget.id and home.ledger.head() == head
    home.seal("growing")
    assert home.table("newcomers").closed is None and home.table("growing 2").closed is None


def test_other_terms_are_refused_for_a_newer_state(home: Workspace, address: str) -> None:
    run(address, "CREATE TABLE terms AS SELECT * FROM visits")
    add(home, source(address, "terms"), "terms")
    run(address, "DELETE FROM terms WHERE id = 1")
    refused(home, source(address, "terms"), "budget.other_terms", unit=dp.Unit.column("id", 2))


# --- its secret


def test_the_password_is_in_one_file_and_nowhere_else(
    home: Workspace, address: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    table = add(home, source(address), "ward")
    answer = table.ask(table.query("mean", column="age", epsilon="0.2"))
    refused(home, source(address, "missing"), "source.absent")
    refused(home, source(address, password="wrong-" + PASSWORD), "source.refused")
    home.bring_newer("ward", "ward again")
    file = home.folder / "tables" / home.record("ward").folder / CONNECTION
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and PASSWORD in file.read_text()
    outside = home.folder.parent / "copy"
    backup_of = home.folder
    home.close()
    backup(backup_of, outside)
    told = capsys.readouterr()
    assert PASSWORD not in told.out + told.err + caplog.text + repr(table) + repr(answer) + json.dumps(
        answer.receipt, default=str
    )
    holding = [
        path
        for path in (*home.folder.rglob("*"), *outside.rglob("*"))
        if path.is_file() and PASSWORD.encode() in path.read_bytes()
    ]
    assert all(path.name == CONNECTION and home.folder in path.parents for path in holding) and len(holding) == 2


def test_a_forgotten_table_forgets_its_connection(home: Workspace, address: str) -> None:
    add(home, source(address), "ward")
    home.forget("ward")
    assert not any(PASSWORD.encode() in path.read_bytes() for path in home.folder.rglob("*") if path.is_file())
    with pytest.raises(AllowanceError) as told:
        home.bring_newer("ward", "again")
    assert told.value.code == "source.unknown"


# --- its encoding, and how a role has it write


def test_texts_are_written_in_one_way_whatever_the_role_prefers(home: Workspace, address: str) -> None:
    database = source(address).database
    run(
        address,
        "CREATE TABLE written (age integer, took interval, parts bytea[])",
        "INSERT INTO written VALUES (1, '1 day 2 hours', ARRAY['\\x00ff'::bytea])",
        f"ALTER ROLE ana IN DATABASE {database} SET IntervalStyle TO 'iso_8601'",
        f"ALTER ROLE ana IN DATABASE {database} SET bytea_output TO 'escape'",
    )
    add(home, source(address, "written"), "written", schema=dp.Schema({"age": dp.Number(0, 9)}))
    run(address, f"ALTER ROLE ana IN DATABASE {database} RESET ALL")
    assert cells(home, "written") == [{"age": "1", "took": "1 day 02:00:00", "parts": "\\x00ff"}]


def test_a_row_that_the_encoding_has_no_letters_for_is_an_empty_one(home: Workspace, postgres: PostgresServer) -> None:
    made = prepared(postgres.database("ENCODING 'WIN1250' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"))
    run(
        made,
        'CREATE TABLE letters (id integer, town text, "žep" text)',
        "INSERT INTO letters VALUES (1, 'Škofja Loka', 'a'), (2, chr(129), 'č'), (3, 'x' || chr(131) || ',\"', 'c'),"
        " (4, 'Ptuj', NULL)",
    )
    add(home, source(made, "letters"), "letters", schema=dp.Schema({"town": dp.Category(["Škofja Loka", "Ptuj"])}))
    assert [tuple(row.values()) for row in cells(home, "letters")] == [
        ("1", "Škofja Loka", "a"), (None,) * 3, (None,) * 3, ("4", "Ptuj", None),
    ]  # fmt: skip


def test_an_encoding_that_nobody_here_reads_is_told(home: Workspace, postgres: PostgresServer) -> None:
    made = postgres.database("ENCODING 'EUC_TW' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    prepared(f"{made}?client_encoding=utf8")
    refused(home, source(made), "source.encoding")
