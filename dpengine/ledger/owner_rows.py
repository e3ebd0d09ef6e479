"""What an owner does to a table or its budget, and an operator to a ledger, as rows of the ledger.

    seal        no more questions to a table                    once per table, never undone
    forget      the same, and its rows are deleted from disk    once per table, never undone
    raise       the cap ε of a budget becomes a larger one      any number of times; δ, α and c stay (filter.py)
    close       nothing more is spent from a budget             once per budget, never undone: rows of it may be lost
    new_people  the people of a newer state of a table's source are others: it has an allowance of its own
                                                                once for each newer table, before it is there
    protect     rows belong to people: the unit of a budget becomes an id, or more rows of a person count. Every earlier
                charge counts anew for a person; `totals` has the sums before and after (accountant/group.py)
                                                                any number of times, each with more protection
                With `joined`: the people of another budget are these people, because their tables were joined. All
                its charges count here too, and the same transaction closes it      once per budget taken over

An act on a table's budget also holds for the budgets of people who keep apart on it (people_rules.py).

Each row names its table (`close`: none, it concerns a budget), who did it and when. None changes an earlier row, so
answers already given, their receipts and their prices stay as they are.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.core.types import JsonObject
from dpengine.ledger.people_rules import base_of
from dpengine.ledger.rows import NO_ROW, Act, BudgetRecord, Raised, Standing, by_row, standing_after, taken_of
from dpengine.ledger.sqlite_file import sound_rows
from dpengine.ledger.store import Database

# These conditions repeat those of the partial indexes word for word, or SQLite would not use the indexes.
_ANY = "kind IN ('seal', 'forget', 'raise')"
_CLOSING = "kind IN ('seal', 'forget')"
_LAST_RAISE = f"SELECT * FROM entries WHERE {_ANY} AND budget = ? AND kind = 'raise' ORDER BY seq DESC LIMIT 1"
_RAISES = f"SELECT * FROM entries WHERE {_ANY} AND budget = ? AND kind = 'raise' AND seq > ? ORDER BY seq"
_CLOSED = f"SELECT * FROM entries WHERE {_CLOSING} AND budget = ? AND json_extract(body, '$.table') = ? ORDER BY seq"
_CLOSE = "SELECT * FROM entries WHERE kind = 'close' AND budget = ?"
_ALL_CLOSE = "SELECT * FROM entries INDEXED BY one_close WHERE kind = 'close' ORDER BY budget"
_ALL_CLOSED = f"SELECT * FROM entries INDEXED BY one_act WHERE {_CLOSING} ORDER BY budget"
_NEW_PEOPLE = "SELECT * FROM entries WHERE kind = 'new_people' AND budget = ? ORDER BY seq DESC"
_TAKEN = (
    "SELECT * FROM entries WHERE kind = 'protect' AND json_extract(body, '$.joined.budget') IS NOT NULL ORDER BY seq"
)
_PROTECT = "SELECT * FROM entries WHERE kind = 'protect' AND budget = ? ORDER BY seq DESC"
_SUMS_BEFORE = "SELECT * FROM entries WHERE kind = '{}' AND budget = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
_CHARGE_BEFORE, PROTECT_BEFORE = _SUMS_BEFORE.format("charge"), _SUMS_BEFORE.format("protect")
_OF_BUDGET = f"SELECT * FROM entries WHERE {_ANY} AND budget = ? ORDER BY seq DESC"


def body(table: str, before: Fraction | None = None, after: Fraction | None = None, newer: str = "") -> str:
    caps = {} if before is None else {"from": str(before), "to": str(after)}
    return canonical({"table": table} | caps | ({"newer": newer} if newer else {}))


def new_people(db: Database, budget: str, table: str, newer: str) -> list[Act]:
    """A list with the act that declares the people of `newer` new; empty if there is no such act."""
    acts = [Act.from_row(row) for row in sound_rows(db, _NEW_PEOPLE, [budget])]
    return [act for act in acts if (act.table, act.newer) == (table, newer)]


def raised(db: Database, record: BudgetRecord) -> BudgetRecord:
    """The budget's record with its present cap."""
    rows = sound_rows(db, _LAST_RAISE, [base_of(record.id)])
    after = Act.from_row(rows[0]).after if rows else None
    return record if after is None else record.at_cap(after)


def raises(db: Database, budget: str, since: int = 0) -> list[tuple[int, Raised]]:
    """Every raise of a budget's cap after row `since`, in order, each with its row number."""
    acts = [Act.from_row(row) for row in sound_rows(db, _RAISES, [base_of(budget), since])]
    return [
        (act.seq, Raised(act.before, act.after)) for act in acts if act.before is not None and act.after is not None
    ]


def protections(db: Database, budget: str) -> list[JsonObject]:
    """The rows that declared more protection on a budget, newest first."""
    return sound_rows(db, _PROTECT, [budget])


def standing_before(db: Database, budget: str, row: int = NO_ROW) -> Standing:
    """A budget's sums just before a row, from its last charge or its last `protect` row, whichever is later."""
    rows = [last for sql in (_CHARGE_BEFORE, PROTECT_BEFORE) for last in sound_rows(db, sql, [budget, row])]
    return standing_after(max(rows, key=lambda last: int(last["seq"]))) if rows else Standing.NOTHING


def taken_by(db: Database) -> dict[str, str]:
    """Maps each budget that was taken over to the budget that pays now."""
    now: dict[str, str] = {}
    for row in sound_rows(db, _TAKEN, []):
        if (taken := taken_of(row)) is not None:
            now = {budget: row["budget"] if at == taken.budget else at for budget, at in now.items()}
            now[taken.budget] = row["budget"]
    return now


def protected(db: Database, record: BudgetRecord) -> BudgetRecord:
    """The budget's record with its present unit."""
    rows = protections(db, base_of(record.id))
    return record if not rows else replace(record, unit=json.loads(rows[0]["body"])["unit"])


def refuse_by_row(db: Database, record: BudgetRecord, claim: JsonObject) -> None:
    """Refuse a question whose loss is stated for one row, if rows belong to people by now: the question was prepared
    before that was declared."""
    if record.kind == "private" and protections(db, base_of(record.id)) and by_row(claim):
        raise AllowanceError("table.revised")


def closing(db: Database, budget: str, table: str, kind: str | None = None) -> list[Act]:
    """The `seal` and `forget` acts on a table; with `kind`, only acts of that kind."""
    acts = [Act.from_row(row) for row in sound_rows(db, _CLOSED, [budget, table])]
    return [act for act in acts if kind in (None, act.kind)]


def refuse_closed(db: Database, budget: str, table: str) -> None:
    """Refuse a question to a sealed or forgotten table, or on a closed budget."""
    refuse_budget_closed(db, budget)
    kinds = {act.kind for act in closing(db, base_of(budget), table)}
    if kinds:
        raise AllowanceError("table.forgotten" if "forget" in kinds else "table.sealed", table=table)


def refuse_budget_closed(db: Database, budget: str) -> None:
    if sound_rows(db, _CLOSE, [budget]):
        raise AllowanceError("budget.joined" if budget in taken_by(db) else "budget.closed")


def all_closed(db: Database) -> dict[tuple[str, str], str]:
    """What is closed: (budget, table) maps to `seal` or `forget` (if both, `forget`), (budget, "") to `close` or
    `joined`."""
    acts = [Act.from_row(row) for row in sound_rows(db, _ALL_CLOSED, []) + sound_rows(db, _ALL_CLOSE, [])]
    acts.sort(key=lambda act: act.kind, reverse=True)
    taken = taken_by(db) if any(act.kind == "close" for act in acts) else {}
    kinds = {(act.budget, act.table): act.kind for act in acts}
    return {place: "joined" if kind == "close" and place[0] in taken else kind for place, kind in kinds.items()}


def closed_kind(closed: dict[tuple[str, str], str], budget: str, table: str) -> str | None:
    """The kind of act that closed a table: an act on the table, else one on its budget. None if the table is open."""
    return closed.get((base_of(budget), table)) or closed.get((budget, "")) or closed.get((base_of(budget), ""))


def of_budget(db: Database, budget: str) -> list[Act]:
    """All acts on a budget: first the acts that closed it, then the others, newest first."""
    rows = sound_rows(db, _CLOSE, [budget])  # tables of a closed budget can still be sealed or forgotten
    later = sound_rows(db, _OF_BUDGET, [base_of(budget)]) + sound_rows(db, _NEW_PEOPLE, [base_of(budget)])
    later += protections(db, base_of(budget))
    acts = [Act.from_row(row) for row in rows + sorted(later, key=lambda row: -int(row["seq"]))]
    taken = bool(rows) and budget in taken_by(db)
    return [replace(act, kind="joined") if taken and act.kind == "close" else act for act in acts]


def higher(record: BudgetRecord, after: Fraction, most: Fraction) -> BudgetRecord:
    """The budget's record with the cap `after`; refused if this cap is not larger than the present one, or above
    `most`."""
    if record.kind != "private":
        raise AllowanceError("act.practice")
    if not record.rule.epsilon < after <= most:
        raise AllowanceError("raise.upwards", now=record.rule.epsilon, most=most)
    return record.at_cap(after)
