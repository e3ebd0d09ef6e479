"""Where people sign in, somebody may add content that another owner's table already holds. Its existing budget pays
for it, as always; but whoever added it does not learn that. Only an administrator reads which tables match."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from dpengine.accountant.filter import Budget
from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import BudgetRecord, Ledger
from dpengine.storage.registry import Registry


@dataclass(frozen=True)
class Match:
    """A table that somebody added, and the tables of others with the same content or a part of it."""

    name: str
    person: str
    others: tuple[str, ...]
    refused: str  # the code of its refusal; empty if it was accepted
    at: str


def all_matches(registry: Registry) -> list[Match]:
    with registry.transaction(write=False) as rows:
        matches = rows.execute("SELECT * FROM matches ORDER BY at, rowid")
        return [Match(**dict(row) | {"others": tuple(json.loads(row["others"]))}) for row in matches]


def note(registry: Registry, name: str, person: str, others: Sequence[str], refused: str = "") -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with registry.transaction() as rows:
        rows.execute(
            "INSERT INTO matches VALUES (?, ?, ?, ?, ?)", [name, person, json.dumps(list(others)), refused, now]
        )


@contextmanager
def discreet(registry: Registry, name: str, person: str, others: Callable[[], Sequence[str]]) -> Iterator[None]:
    """A context that hides why another owner's table caused a refusal, and notes the reason for an administrator."""
    try:
        yield
    except AllowanceError as refusal:
        tables = others()
        if not tables:
            raise
        code = refusal.code
    else:
        return
    note(registry, name, person, tables, code)
    raise AllowanceError("people.not_as_declared")


def refuse_other_terms(declared: Budget | str, joined: BudgetRecord) -> None:
    """Refuse a declared allowance that differs from that of the joined budget; accepting it would reveal that the
    content is known."""
    same = declared == joined.id if isinstance(declared, str) else declared.rule() == joined.rule
    if not same:
        raise AllowanceError("budget.other_terms")


def refuse_apart(ledger: Ledger, budget: str, person: str, others: list[str]) -> None:
    """Refuse content of another owner's table whose people keep apart: the new owner did not agree to that."""
    with ledger.people() as book:
        theirs = [name for name, owners in book.owners_on(budget).items() if person not in owners]
        if theirs and book.apart(budget) is not None:
            others[:] = others or theirs
            raise AllowanceError("people.agreement_not")
