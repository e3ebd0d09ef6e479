"""What tests of tables in a database share: a database with a reader who may read and nothing else, and how a table is
brought from it, or is not."""

from __future__ import annotations

from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import PASSWORD as ADMIN

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.source import Source
from dpengine.workspace import Workspace

PASSWORD = "zebra-7421-horse"
CANARY = "kanarček 90210"
SCHEMA = dp.Schema({"age": dp.Number(0, 120), "town": dp.Category(["Kranj", "Ptuj"])})
PEOPLE = 60


def prepared(made: str) -> str:
    """A new database with the table `visits`, which ana may read."""
    run(
        made,
        f"DO $$ BEGIN CREATE ROLE ana LOGIN PASSWORD '{PASSWORD}'; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "CREATE TABLE visits (id integer, age integer, town text)",
        f"INSERT INTO visits SELECT n, n % 100, CASE n % 2 WHEN 0 THEN 'Kranj' ELSE 'Ptuj' END"
        f" FROM generate_series(1, {PEOPLE}) n",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ana",
    )
    return made


def run(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET search_path TO public")  # the server's own role is called as our schema is
        for statement in statements:
            connection.execute(statement)


def source(address: str, table: str = "visits", password: str = PASSWORD) -> Source:
    parts = psycopg.conninfo.conninfo_to_dict(address)
    return Source(f"postgresql://ana@127.0.0.1:{parts['port']}/{parts['dbname']}", table, password=password)


def add(home: Workspace, given: object, name: str = "ward", **terms: Any) -> dp.Table:
    usual: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("1", "1e-6")}
    return home.add_table(name, given, **(usual | terms))


def cells(home: Workspace, name: str) -> list[dict[str, Any]]:
    return pq.read_table(home.folder / "tables" / home.record(name).folder / "raw.parquet").to_pylist()


def refused(home: Workspace, given: Source, code: str, **terms: Any) -> AllowanceError:
    """Nothing is kept: no table, no file, no charge; and the sentence holds no value and no password."""
    files, head = sorted(home.folder.rglob("*")), home.ledger.head()
    with pytest.raises(AllowanceError) as told:
        add(home, given, "refused", **terms)
    assert told.value.code == code, told.value.code
    error: BaseException | None = told.value
    while error is not None:  # nor in what Python would print below it
        assert not any(word in str(error) + repr(error) for word in (PASSWORD, CANARY, "90210", ADMIN))
        error = error.__cause__ or error.__context__
    assert sorted(home.folder.rglob("*")) == files and home.ledger.head() == head
    return told.value
