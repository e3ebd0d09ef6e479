"""An owner's word that the people of a newer state of a table are others: one row, which the file guards and the chain
checks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from helpers_people import MINE, office

from dpengine.core.strict_json import canonical
from dpengine.ledger.chain import hash_of, verify
from tests.helpers_ledger import code_of, opened


def after(rows: list[dict[str, Any]], **changes: Any) -> list[dict[str, Any]]:
    """The rows and one more like the last, with these changes, hashed and linked as it should be."""
    row = rows[-1] | {"seq": rows[-1]["seq"] + 1, "prev": rows[-1]["hash"]} | changes
    return [*rows, row | {"hash": hash_of(row)}]


def test_it_is_written_once_and_changes_nothing_else(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        first = ledger.new_people("b", "people", "newer", "owner")
        head = ledger.head()
        assert ledger.new_people("b", "people", "newer", "owner") == first and ledger.head() == head
        ledger.new_people("b", "people", "another", "owner")
        ledger.raise_cap("b", "people", 2, "owner")  # type: ignore[arg-type]
        told = [(act.kind, act.table, act.newer) for act in ledger.acts("b")]
        assert told == [("raise", "people", ""), ("new_people", "people", "another"), ("new_people", "people", "newer")]
        assert not ledger.closed() and ledger.verify().ok
        ledger.create_budget("practice", ledger.budget("b").rule, "practice", "owner", "sample")
        assert code_of(lambda: ledger.new_people("practice", "sample", "newer", "owner")) == "act.practice"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "chain.twice"),
        ({"budget": "nowhere", "body": canonical({"table": "people", "newer": "x"})}, "chain.orphan"),
        ({"body": canonical({"table": "people", "newer": "people"})}, "chain.form"),
        ({"body": canonical({"table": "people", "newer": ""})}, "chain.form"),
        ({"body": canonical({"table": "people"})}, "chain.form"),
        ({"body": canonical({"table": "people", "newer": "x"})}, None),
    ],
)
def test_the_chain_checks_it(tmp_path: Path, changes: dict[str, Any], why: str | None) -> None:
    with opened(tmp_path) as ledger:
        ledger.new_people("b", "people", "newer", "owner")
        rows = after([dict(row) for row in ledger.export_rows()], **changes)
    assert verify(rows).why == why


def test_the_file_refuses_a_second_one_and_who_is_not_the_owner(tmp_path: Path) -> None:
    with office(tmp_path / "var") as here:
        record = here.workspace.record(MINE)
        owner, other = here.person("owner"), here.person("owner of another")
        assert code_of(lambda: here.workspace.ledger.new_people(record.budget, MINE, "x", other)) == "people.no_right"
        here.workspace.ledger.new_people(record.budget, MINE, "newer", owner)
        rows = [dict(row) for row in here.workspace.ledger.export_rows()]
        assert here.workspace.verify_ledger().ok
        stolen = after(rows, actor=other, body=canonical({"table": MINE, "newer": "y"}))
        assert verify(stolen).why is not None
        for row, why in ((after(rows)[-1], "UNIQUE"), (stolen[-1], "only an owner")):
            with closing(sqlite3.connect(here.workspace.ledger.path)) as stranger:
                with pytest.raises(sqlite3.IntegrityError, match=why):
                    stranger.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(row))})", list(row.values()))
