"""A plugin of pytest: every ledger that a test opens as a file is kept in Postgres instead, each in its own schema.

`pytest -p engines.ledger_in_postgres tests/engine/ledger/test_ledger.py` runs the ordinary tests of the ledger on it.
What is about the file itself, and says nothing about a database, is left out by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines.postgres_server import running

from dpengine.ledger import ledger
from dpengine.ledger.postgres_store import PostgresLedger
from dpengine.ledger.store import Address

# Tests that look at SQLite itself: its files and their modes, its plans and steps, or a connection of their own to it.
ABOUT_THE_FILE = {
    "test_the_files_are_their_users_alone",
    "test_every_commit_reaches_the_disk",
    "test_recall_and_looks_do_not_grow_with_repetitions",
    "test_the_index_is_append_only_and_made_again_with_copied_rows",
    "test_a_look_taken_away_or_made_up_is_noticed",
    "test_an_edit_is_noticed_though_the_sums_were_read_before",
    "test_what_was_read_before_somebody_wrote_is_not_kept_as_newer",
    "test_the_file_refuses_a_charge_without_a_grant",
    "test_a_charge_takes_as_much_work_after_a_hundred_of_theirs_as_after_ten",
    "test_a_session_is_charged_once_and_answers_what_was_paid_for",
    "test_a_step_is_in_the_ledger_before_anything_is_read_or_drawn",
}
# Where machines share a ledger, a release that was cut short is noted in it: test_ledger_faults.py.
NOTED_HERE = {"test_a_killed_process_leaves_an_interrupted_release_that_nobody_draws"}
URL = "ALLOWANCE_TEST_POSTGRES"  # a database that is there already


def address_of(url: str, path: Path, schema: str = "") -> Address:
    """The same path is the same ledger, for every process."""
    return Address(url, schema or f"t_{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:24]}")


def in_postgres(url: str, path: Path, wait: float = 5.0, schema: str = "", mark: str = "") -> PostgresLedger:
    return PostgresLedger(path, address_of(url, path, schema), wait, mark)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if getattr(item, "originalname", item.name) in ABOUT_THE_FILE | NOTED_HERE]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    if URL in os.environ:
        yield os.environ[URL]
        return
    with running() as server:
        yield server.database()


@pytest.fixture(autouse=True)
def _ledgers_in_postgres(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "LedgerFile", lambda path, wait: in_postgres(database, path, wait))
