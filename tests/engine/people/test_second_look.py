"""What the ledger itself refuses to people, whatever the program above it asked, and what its check finds again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dpengine.ledger.chain import verify
from dpengine.ledger.people_rows import OPERATOR, OWNER
from tests.engine.people.test_grants import edited, insert, next_row, rewritten
from tests.helpers_ledger import raises
from tests.helpers_people import MINE, OTHER, Office, office


def row_of(here: Office, kind: str, last: int = -1) -> dict[str, object]:
    return [dict(row) for row in here.workspace.ledger.export_rows() if row["kind"] == kind][last]


# A table belongs to the budget that it was handed over with


def test_the_owner_of_one_table_does_nothing_to_the_budget_of_another(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        ledger, budget, other = (
            here.workspace.ledger,
            here.workspace.record(MINE).budget,
            here.person("owner of another"),
        )
        head = ledger.head()
        attempts: list[Callable[[], object]] = [
            lambda: ledger.raise_cap(budget, OTHER, Fraction(50), other),
            lambda: ledger.close_table("seal", budget, OTHER, other),
            lambda: ledger.grant(budget, OTHER, here.person("eva"), Fraction(1), other),
            lambda: ledger.grant(budget, OTHER, here.person("eva"), Fraction(1), here.person("administrator")),
            lambda: ledger.keep_apart(budget, OTHER, [other], other),
            lambda: ledger.set_limit(budget, OTHER, Fraction(1, 2), other),
            lambda: ledger.wish("w-1", budget, OTHER, "because", other, Fraction(1)),
        ]
        for attempt in attempts:
            with raises("people.no_right"):
                attempt()
        with raises("people.role_unknown"):
            ledger.name_role(here.person("eva"), OWNER, OPERATOR, OTHER, budget=budget)
        with raises("budget.unknown"):
            ledger.name_role(here.person("eva"), OWNER, OPERATOR, OTHER)
        assert ledger.head() == head and ledger.verify().ok


def test_the_file_and_the_check_ask_whose_budget_it_is_too(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.face("owner").raise_cap(MINE, "2")
        here.face("owner").set_limit(MINE, "0.5")
        other = {"actor": here.person("owner of another")}
        for kind in ("raise", "limit"):
            row = row_of(here, kind)
            with pytest.raises(sqlite3.IntegrityError, match="only an owner"):
                insert(here, next_row(here, row, **other, **edited(row, table=OTHER)))
            assert (
                verify(rewritten(here, {int(str(row["seq"])): other | edited(row, table=OTHER)})).why == "chain.people"
            )
        grant = row_of(here, "grant", 2)
        assert json.loads(str(grant["body"]))["to"] == here.person("analyst")
        assert (
            verify(rewritten(here, {int(str(grant["seq"])): other | edited(grant, table=OTHER)})).why == "chain.people"
        )
