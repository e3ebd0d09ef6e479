"""Where people sign in, somebody may bring content that another owner's table holds. It is charged to the budget that
the content has, as ever; but who brought it is not told, and only an administrator reads which tables match."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from dpengine.accountant.budget import Budget
from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import BudgetRecord, Ledger
from dpengine.storage.registry import Registry


@dataclass(frozen=True)
class Match:
    """A table that was brought, and the tables of others that hold the same content or a part of it."""

    name: str
    person: str
    others: tuple[str, ...]
    refused: str  # the code of why it could not be brought in; empty where it was
    at: str


def all_matches(registry: Registry) -> list[Match]:
    with registry.transaction(write=False) as rows:
        found = rows.execute("SELECT * FROM matches ORDER BY at, rowid")
        return [Match(**dict(row) | {"others": tuple(json.loads(row["others"]))}) for row in found]


def note(registry: Registry, name: str, person: str, others: Sequence[str], refused: str = "") -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with registry.transaction() as rows:
        rows.execute(
            "INSERT INTO matches VALUES (?, ?, ?, ?, ?)", [name, person, json.dumps(list(others)), refused, now]
        )


@contextmanager
def discreet(registry: Registry, name: str, person: str, others: Callable[[], Sequence[str]]) -> Iterator[None]:
    """A refusal because of another owner's table does not say so: an administrator can read why."""
    try:
        yield
    except AllowanceError as refusal:
        found = others()
        if not found:
            raise
        code = refusal.code
    else:
        return
    note(registry, name, person, found, code)
    raise AllowanceError("people.not_as_declared")


def refuse_other_terms(declared: Budget | str, joined: BudgetRecord) -> None:
    """An allowance that is not as it was declared would tell that the content was known."""
    same = declared == joined.id if isinstance(declared, str) else declared.rule() == joined.rule
    if not same:
        raise AllowanceError("budget.other_terms")


def refuse_apart(ledger: Ledger, budget: str, person: str, others: list[str]) -> None:
    """Where people keep apart there is a budget for each of them; another owner did not agree to that."""
    with ledger.people() as book:
        theirs = [name for name, owners in book.owners_on(budget).items() if person not in owners]
        if theirs and book.apart(budget) is not None:
            others[:] = others or theirs
            raise AllowanceError("people.agreement_not")
