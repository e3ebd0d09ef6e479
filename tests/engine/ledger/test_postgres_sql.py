"""The ledger's SQL as Postgres gets it, and its address: checked without a database (tests/engines has one)."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import pytest

from dpengine.ledger import ledger, long_lists, owner_rows, people_book, repeats, sqlite_file
from dpengine.ledger.postgres_store import Function, parts_of, postgres_parts, postgres_query
from dpengine.ledger.store import SETTING, address_set, mark_of, read_address
from tests.helpers_ledger import raises

SPOKEN_BY_SQLITE_ALONE = re.compile(r"GLOB|INDEXED BY|STRICT|json_each|PRAGMA|RAISE\(|\?|:[a-z]+\b(?!:)|IS NOT \(")
MODULES = (ledger, long_lists, owner_rows, people_book, repeats, sqlite_file)


def queries(module: ModuleType) -> list[str]:
    """Every statement that a module of the ledger holds as a constant."""
    found = [text for text in vars(module).values() if isinstance(text, str)]
    return [sql for sql in found if sql.startswith(("SELECT", "INSERT")) and "sqlite_master" not in sql]


def test_every_statement_of_the_ledger_has_a_form_for_postgres() -> None:
    every = [sql for module in MODULES for sql in queries(module)]
    assert len(every) > 40
    for sql in every:
        told = postgres_query(sql, with_values=True)
        assert not SPOKEN_BY_SQLITE_ALONE.search(told), told
        assert told.count("%s") + len(re.findall(r"%\([a-z]+\)s", told)) == sql.count("?") + len(
            re.findall(r"(?<!\w):[a-z]+", sql)
        )


def test_every_guard_of_the_file_is_one_of_the_database() -> None:
    parts = parts_of(sqlite_file.SCHEMA)
    functions, told = {one.name for one in parts if isinstance(one, Function)}, [str(part) for part in parts]
    for statement in sqlite_file.SCHEMA:
        kind, name = re.findall(r"CREATE (?:UNIQUE )?(TABLE|INDEX|TRIGGER) (\w+)", statement)[0]
        assert any(re.search(rf"CREATE (UNIQUE )?{kind} {name}\b", one) for one in told), name
        assert kind != "TRIGGER" or any(f"ENABLE ALWAYS TRIGGER {name}" in one for one in told)
        assert kind != "TRIGGER" or name in functions
    assert sum("DELETE OR TRUNCATE" in one for one in told) == 2  # entries and looks


def test_what_cannot_be_said_in_postgres_is_refused_and_not_passed_on() -> None:
    for sql in ("INSERT OR IGNORE INTO x VALUES (1)", "SELECT rowid FROM entries", "PRAGMA data_version"):
        with pytest.raises(ValueError, match="Postgres"):
            postgres_query(sql, with_values=False)
    with pytest.raises(ValueError, match="Postgres"):
        postgres_parts("CREATE TRIGGER x AFTER INSERT ON entries BEGIN SELECT RAISE(ABORT, 'x'); END")


def test_an_address_is_read_and_never_shown() -> None:
    address = read_address("postgresql://ana:hunter2@db.example.org:5433/money?sslmode=require&schema=clinic")
    assert address.given == "postgresql://ana:hunter2@db.example.org:5433/money?sslmode=require"
    assert address.schema == "clinic" and "hunter2" not in f"{address!r} {address}"
    assert read_address("postgresql:///money").schema == "allowance_ledger"
    assert address.lock("write") != read_address("postgresql:///money").lock("write")
    for wrong in (
        "var/ledger.sqlite",
        "mysql://x/y",
        "postgresql://x/y?schema=Robert'); --",
        "postgresql://x/y?schema=pg_temp",
    ):
        with raises("ledger.address") as caught:
            read_address(wrong)
        assert wrong not in str(caught.value)
    assert mark_of(b"one") != mark_of(b"two") and "one" not in mark_of(b"one")


def test_without_the_setting_the_ledger_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    assert address_set() is None
    monkeypatch.setenv(SETTING, " ")
    assert address_set() is None


def test_a_missing_driver_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpengine.ledger import postgres_store

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with raises("ledger.no_driver"):
        postgres_store.driver()
