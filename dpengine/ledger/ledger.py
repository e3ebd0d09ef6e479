"""The ledger: every charge and every answer, append-only, chained, and the only place where a budget is spent.

A question is charged *before* its statistic is read: `reserve` looks the request up, applies the budget's rule and
writes the charge in one transaction under the write lock, durable before it returns. Nothing is ever refunded. The
sums of a budget stand in its last charge, so deciding costs the same after a hundred thousand rows as after ten.

The file holds public facts and released answers, nothing else about the data. It is its user's alone (mode 0600).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from dpengine.accountant.budget import MOST_EPSILON
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals, admits, price, spent
from dpengine.accountant.loss import Loss
from dpengine.core.canonical import canonical
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import down, up
from dpengine.ledger import owner_rows as acts
from dpengine.ledger import repeats
from dpengine.ledger import session_rows as steps
from dpengine.ledger.chain import START, Verdict, hash_of, verify
from dpengine.ledger.owner_rows import Act
from dpengine.ledger.rows import (
    COLUMNS,
    BudgetRecord,
    Burned,
    Charge,
    Entry,
    Looked,
    Outcome,
    Standing,
    charge_body,
    charge_totals,
    is_request,
    questions_of,
    read_request,
)
from dpengine.ledger.sqlite_file import SCHEMA, LedgerFile, head_of
from dpengine.ledger.sqlite_file import sound_rows as _sound_rows

__all__ = ["Act", "BudgetRecord", "Burned", "Charge", "Entry", "Ledger", "Outcome", "Standing", "Verdict"]

BUDGET_KINDS = ("private", "practice")
_PAGE = 500
_SHOWN = 10**6  # refusals round to a millionth, the price up and the rest down: they never look equal

_BUDGET = "SELECT * FROM entries WHERE kind = 'budget' AND budget = ?"
_CHARGE = "SELECT * FROM entries WHERE kind = 'charge' AND request = ?"
_LAST_CHARGE = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? ORDER BY seq DESC LIMIT 1"
_NEXT_CHARGES = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND seq > ? ORDER BY seq LIMIT ?"
_NEAREST = (  # for each of several row numbers the last charge up to it
    "SELECT * FROM entries WHERE seq IN (SELECT (SELECT seq FROM entries WHERE kind = 'charge' AND budget = ?"
    " AND seq <= place.value ORDER BY seq DESC LIMIT 1) FROM json_each(?) AS place) ORDER BY seq"
)
_OUTCOMES = "SELECT * FROM entries WHERE kind IN ('answer', 'failed') AND request IN (SELECT value FROM json_each(?))"
_THESE = "SELECT * FROM entries WHERE kind = 'charge' AND seq IN (SELECT value FROM json_each(?))"
_NEWEST = (
    "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND json_extract(body, '$.table') = ?"
    " AND json_extract(body, '$.claim.digest') = ? ORDER BY seq DESC LIMIT 1"
)
_FIRST = "SELECT hash FROM entries WHERE seq = 1"
_HASHED = "SELECT seq FROM entries WHERE substr(hash, 1, ?) = ? ORDER BY seq DESC LIMIT 1"
_SCHEMA = "SELECT sql FROM sqlite_master WHERE tbl_name IN ('entries', 'looks') AND sql IS NOT NULL"
_INSERT = f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({', '.join(':' + name for name in COLUMNS)})"


class Ledger:
    """One file, any number of threads and processes. Every complaint is an AllowanceError with one sentence."""

    def __init__(self, path: Path, wait: float = 5.0) -> None:
        self._file = LedgerFile(Path(path), wait)
        self.path = self._file.path

    def close(self) -> None:
        self._file.close()

    # Budgets

    def create_budget(
        self,
        budget_id: str,
        rule: Rule,
        kind: str,
        actor: str,
        name: str,
        unit: dict[str, Any] | None = None,
        relation: str = "",
    ) -> BudgetRecord:
        """Write a budget down. A known id keeps the cap it has, which is returned."""
        if kind not in BUDGET_KINDS:
            raise ValueError("a budget is private or practice")
        try:
            return self.budget(budget_id)  # the usual case must not queue for the write lock
        except AllowanceError as error:
            if error.code != "budget.unknown":
                raise
        with self._file.writing() as db:
            known = self._budget(db, budget_id)
            if known is not None:
                return known
            self._file.refuse_full()
            record = BudgetRecord(budget_id, name, kind, rule, _now(), unit or {}, relation)
            self._append(db, "budget", budget_id, "", actor, record.body(), "", record.at)
        return record

    def budget(self, budget_id: str) -> BudgetRecord:
        with self._file.reading() as db:
            record = self._budget(db, budget_id)
            if record is None:
                acts.refuse_budget_closed(db, budget_id)  # its own rows are lost
        if record is None:
            raise AllowanceError("budget.unknown")
        return record

    def standing(self, budget: str) -> Standing:
        """Running sums of a budget; nothing where nothing was charged yet."""
        with self._file.reading() as db:
            return self._standing(db, budget)

    # Spending

    def reserve(
        self,
        *,
        budget: str,
        table: str,
        actor: str,
        request: str,
        claim: dict[str, Any],
        loss: Loss,
        worker: str,
        seen: int | None = None,
    ) -> Charge:
        """Charge the question, once per request, or refuse and spend nothing. Only a `fresh` charge may be drawn.

        `seen`: the last row that whoever asks knew of. Where this very question was charged after it, by another tab or
        another person, it is not charged again until they know.
        """
        one = {
            "budget": budget,
            "table": table,
            "actor": actor,
            "request": request,
            "claim": claim,
            "loss": loss,
            "worker": worker,
            "seen": seen,
        }
        return self.reserve_all([one])[0]

    def reserve_all(self, wanted: Sequence[dict[str, Any]], keep: Fraction | None = None) -> list[Charge]:
        """Charge several questions to one budget in one transaction, each its own row; or refuse, and charge none.

        `keep`: how much ε must be left after a whole plan. Requests that were charged before come back as they were.
        """
        requests = [read_request(one["request"]) for one in wanted]
        if not wanted or len(set(requests)) < len(requests) or len({one["budget"] for one in wanted}) > 1:
            raise AllowanceError("request.reused")
        with self._file.writing() as db:
            known = [charge for one in wanted if (charge := self._known(db, one)) is not None]
            if len(known) == len(wanted):
                return known
            if known:
                raise AllowanceError("request.reused")
            self._file.refuse_full()
            budget = wanted[0]["budget"]
            record = self._budget(db, budget)
            if record is None:
                raise AllowanceError("budget.unknown")
            for table in sorted({one["table"] for one in wanted}):
                acts.refuse_closed(db, budget, table)
            for one in wanted:
                self._refuse_unseen(db, one)
            rule, before = record.rule, self._standing(db, budget)
            costs = [cost(one["loss"], rule.alpha) for one in wanted]
            _admit(rule, before.totals, costs, keep)
            charges = []
            for one, paid in zip(wanted, costs, strict=True):
                after = Standing(before.totals.plus(paid), before.history.plus(one["loss"]))
                takes = price(rule, before.totals, paid)
                body = charge_body(one["table"], one["worker"], one["claim"], one["loss"], takes)
                totals = charge_totals(before.totals, after.totals, after.history)
                row = self._append(db, "charge", budget, one["request"], one["actor"], body, totals, _now())
                charges.append(Charge.from_row(row, fresh=True))
                before = after
        return charges

    def answer(self, request: str, body: dict[str, Any]) -> None:
        """Store what was released. Refused when the request has ended already: an answer is never replaced."""
        if not self._settle(request, "answer", body):
            raise AllowanceError("request.settled")

    def fail(self, request: str, code: str) -> None:
        """Note that the release failed; the charge stays. Does nothing when the request has ended already."""
        self._settle(request, "failed", {"code": code})

    # The steps of a session

    def burn(self, session: str, step: str, actor: str, claim: dict[str, Any], worker: str) -> Burned:
        """Use up the next number of a session, once per step id, or refuse. Only a `fresh` one may be drawn."""
        read_request(step)
        with self._file.writing() as db:
            charge = self._session(db, session, actor)
            known = steps.find(db, session, step)
            if known is not None:
                if canonical(known.claim) != canonical(claim):
                    raise AllowanceError("session.step_reused")
                return known
            self._file.refuse_full()
            asked = steps.refuse_over(db, charge)
            acts.refuse_closed(db, charge.budget, charge.table)
            body = steps.step_body(charge.table, asked + 1, step, worker, claim)
            row = self._append(db, "step", charge.budget, session, actor, body, "", _now())
        return Burned.from_row(row, fresh=True)

    def tell(self, session: str, index: int, kind: str, body: dict[str, Any]) -> None:
        """What became of a burned step, `part` or `lost`, once; a second word is not written."""
        with self._file.writing() as db:
            burned = steps.numbered(db, session, index)
            if burned is None:
                raise AllowanceError("session.unknown")
            if burned.told is None:
                charge = self._session(db, session)
                text = canonical({"index": index} | body)
                # The step's own time: a second one would tell how long the draw took.
                self._append(db, kind, charge.budget, session, charge.actor, text, "", burned.at)

    def end_session(self, session: str, actor: str) -> None:
        """Close a session for good; the charge stays. Ended before, the first row counts."""
        with self._file.writing() as db:
            charge = self._session(db, session, actor)
            if steps.ended(db, session):
                return
            body = canonical({"table": charge.table, "asked": steps.asked(db, session)})
            self._append(db, "ended", charge.budget, session, actor, body, "", _now())

    def steps(self, session: str, newest: int | None = None) -> list[Burned]:
        """The steps of a session in order with what became of them: all, or the newest."""
        with self._file.reading() as db:
            after = 0 if newest is None else max(steps.asked(db, session) - newest, 0)
            return steps.of_session(db, session, after)

    def progress(self, session: str) -> tuple[int, bool, bool]:
        """How many steps were burned, whether the session was ended, and whether a choice was asked for in it."""
        with self._file.reading() as db:
            return steps.asked(db, session), steps.ended(db, session), steps.chose(db, session)

    def step(self, session: str, step: str) -> Burned | None:
        """One of them by its own id."""
        with self._file.reading() as db:
            return steps.find(db, session, step)

    # What an owner does

    def close_table(self, kind: str, budget: str, table: str, actor: str) -> Act:
        """`seal` or `forget` a table: from this row on it cannot be asked. Done before, the first row counts."""
        with self._file.writing() as db:
            record = self._budget(db, budget)
            if record is None:
                raise AllowanceError("budget.unknown")
            if record.kind != "private":
                raise AllowanceError("act.practice")
            known = acts.closing(db, budget, table, kind)
            if known:
                return known[0]
            return Act.from_row(self._append(db, kind, budget, "", actor, acts.body(table), "", _now()))

    def raise_cap(self, budget: str, table: str, epsilon: Fraction, actor: str) -> Act:
        """Let a budget hold more, from this row on."""
        with self._file.writing() as db:
            record = self._budget(db, budget)
            if record is None:
                raise AllowanceError("budget.unknown")
            acts.refuse_budget_closed(db, budget)
            higher = acts.higher(record, epsilon, MOST_EPSILON)
            body = acts.body(table, record.rule.epsilon, higher.rule.epsilon)
            return Act.from_row(self._append(db, "raise", budget, "", actor, body, "", _now()))

    def adopt(self, rows: Iterable[dict[str, Any]]) -> None:
        """Into a new ledger, rows that were checked; the file's guards check again that each continues the chain."""
        with self._file.writing() as db:
            for row in rows:
                db.conn.execute(_INSERT, row)
            repeats.fill(db)

    def recover(self, budgets: Sequence[str], told: dict[str, Any], actor: str) -> None:
        """What an operator did to this ledger, and the budgets that spend no more because of it, in one transaction."""
        with self._file.writing() as db:
            self._append(db, "recovered", "", "", actor, canonical(told), "", _now())
            for budget in sorted(set(budgets)):
                if (budget, "") not in acts.all_closed(db):
                    self._append(db, "close", budget, "", actor, acts.body(""), "", _now())

    def acts(self, budget: str) -> list[Act]:
        """What its owner did, newest first."""
        with self._file.reading() as db:
            return acts.of_budget(db, budget)

    def closed(self) -> dict[tuple[str, str], str]:
        """(budget, table) → `seal` or `forget`; (budget, "") → `close`."""
        with self._file.reading() as db:
            return acts.all_closed(db)

    # Reading

    def find(self, request: str) -> Entry | None:
        if not is_request(request):
            return None  # typed into an address by hand
        with self._file.reading() as db:
            found = self._entries(db, _sound_rows(db, _CHARGE, [request]))
        return found[0] if found else None

    def charges(
        self,
        budget: str | None = None,
        table: str | None = None,
        limit: int = 100,
        offset: int = 0,
        key: str | None = None,
    ) -> list[Entry]:
        """Newest first, `offset` of them passed over; `key` is what was asked."""
        wanted, values = ["kind = 'charge'"], []
        for expression, value in (("budget", budget), ("json_extract(body, '$.table')", table)):
            if value is not None:
                wanted.append(f"{expression} = ?")
                values.append(value)
        if key is not None:
            wanted.append("json_extract(body, '$.claim.key') = ?")
            values.append(key)
        sql = f"SELECT * FROM entries WHERE {' AND '.join(wanted)} ORDER BY seq DESC LIMIT ? OFFSET ?"
        with self._file.reading() as db:
            return self._entries(db, _sound_rows(db, sql, [*values, limit, offset]))

    def walk(self, budget: str) -> Iterator[Entry]:
        """Every charge of a budget with its outcome, oldest first, read in pages like `export_rows`."""
        after = 0
        while True:
            with self._file.reading() as db:
                page = self._entries(db, _sound_rows(db, _NEXT_CHARGES, [budget, after, _PAGE]))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].charge.seq

    def spread(self, budget: str, most: int) -> list[Charge]:
        """At most `most` charges of a budget, oldest first, the first and the last among them: all, or those that stand
        about evenly apart in the ledger. Reads as much after a hundred thousand as after a thousand."""
        with self._file.reading() as db:
            newest = _sound_rows(db, _LAST_CHARGE, [budget])
            if not newest or Charge.from_row(newest[0]).history.count <= most:
                rows = _sound_rows(db, _NEXT_CHARGES, [budget, 0, most])
            else:
                [first], last = _sound_rows(db, _NEXT_CHARGES, [budget, 0, 1]), newest[0]["seq"]
                apart = [first["seq"] + (last - first["seq"]) * place // (most - 1) for place in range(most)]
                rows = _sound_rows(db, _NEAREST, [budget, json.dumps(apart)])
        return [Charge.from_row(row) for row in rows]

    def answers_to(self, budget: str, table: str, claim: dict[str, Any], noises: Sequence[str] = ("",)) -> list[Entry]:
        """The latest answers already paid for to one question, oldest first, whichever of `noises` they have."""
        laws = [repeats.law_of(claim, noise) for noise in noises]
        with self._file.reading() as db:
            found = repeats.of_laws(db, repeats.question_of(budget, table, claim), laws)
            return self._answered(db, found)[-repeats.MOST_NEWEST :]

    def newest_to(self, budget: str, table: str, claim_digest: str) -> Entry | None:
        """The last time one question was charged, whatever became of it."""
        with self._file.reading() as db:
            found = self._entries(db, _sound_rows(db, _NEWEST, [budget, table, claim_digest]))
        return found[0] if found else None

    def looks_at(self, budget: str, table: str, claim: dict[str, Any]) -> Looked:
        """The answers to one question at whatever ε and with whatever noise: how many there are, the first of each
        law, and the latest. Reads as much after ten thousand as after a hundred."""
        question = repeats.question_of(budget, table, claim)
        with self._file.reading() as db:
            count = repeats.number(db, question)
            first, newest = (self._answered(db, each(db, question)) for each in (repeats.first, repeats.newest))
        return Looked(count, tuple(first), tuple(newest))

    def export_rows(self, budget: str | None = None) -> Iterator[dict[str, Any]]:
        """Every row, or those of a budget, as it is stored, oldest first: enough to recompute each hash."""
        return self._pages("", []) if budget is None else self._pages("budget = ? AND", [budget])

    # Checking

    def head(self) -> tuple[int, str]:
        """The last row's number and hash: the one thing worth keeping elsewhere, for it changes with any cut."""
        with self._file.reading() as db:
            return head_of(db)

    def row_of(self, start_of_hash: str) -> int | None:
        """The number of the last row whose hash starts like this."""
        with self._file.reading() as db:
            found = list(db.query(_HASHED, [len(start_of_hash), start_of_hash]))
        return found[0]["seq"] if found else None

    def verify(self) -> Verdict:
        """Recompute everything from the first row on, and name the first row that does not hold."""
        try:
            verdict = verify(self._pages("", []))
            with self._file.reading() as db:
                schema = {row["sql"] for row in db.query(_SCHEMA)}
                same = schema == SCHEMA and repeats.tells_the_same(db)
                whole = db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"  # do the indexes tell the same?
        except AllowanceError as error:
            if error.code != "ledger.damaged":
                raise
            return Verdict(False, 0, (0, START), None, error.code)
        if not verdict.ok or (schema == SCHEMA and same and whole):
            return verdict
        return replace(verdict, ok=False, why="chain.guards" if whole else "ledger.damaged")

    # Inside a connection

    def _budget(self, db: Database, budget_id: str) -> BudgetRecord | None:
        rows = _sound_rows(db, _BUDGET, [budget_id])
        return acts.raised(db, BudgetRecord.from_row(rows[0])) if rows else None

    def _standing(self, db: Database, budget: str) -> Standing:
        rows = _sound_rows(db, _LAST_CHARGE, [budget])
        return Charge.from_row(rows[0]).standing if rows else Standing.NOTHING

    def _charge(self, db: Database, request: str) -> Charge | None:
        rows = _sound_rows(db, _CHARGE, [request])
        return Charge.from_row(rows[0]) if rows else None

    def _known(self, db: Database, one: dict[str, Any]) -> Charge | None:
        """The charge this very question already has under its request."""
        known = self._charge(db, one["request"])
        if known is not None:
            bound = (known.budget, known.table, known.actor, canonical(known.claim))
            if bound != (one["budget"], one["table"], one["actor"], canonical(one["claim"])):
                raise AllowanceError("request.reused")
        return known

    def _refuse_unseen(self, db: Database, one: dict[str, Any]) -> None:
        if one.get("seen") is None:
            return
        rows = _sound_rows(db, _NEWEST, [one["budget"], one["table"], one["claim"].get("digest")])
        if rows and rows[0]["seq"] > one["seen"]:
            raise AllowanceError("request.meanwhile")

    def _session(self, db: Database, request: str, actor: str | None = None) -> Charge:
        charge = self._charge(db, request) if is_request(request) else None
        if charge is None or questions_of(charge.claim) is None or actor not in (None, charge.actor):
            raise AllowanceError("session.unknown")
        return charge

    def _entries(self, db: Database, charges: list[dict[str, Any]]) -> list[Entry]:
        origin = next((row["hash"] for row in db.query(_FIRST)), "")
        requests = json.dumps([row["request"] for row in charges])
        outcomes = {row["request"]: Outcome.from_row(row) for row in _sound_rows(db, _OUTCOMES, [requests])}
        return [Entry(Charge.from_row(row), outcomes.get(row["request"]), origin) for row in charges]

    def _answered(self, db: Database, charges: list[int]) -> list[Entry]:
        """Those of some charges that were answered, in the order of the answers."""
        found = self._entries(db, _sound_rows(db, _THESE, [json.dumps(charges)]))
        told = [(entry.outcome.seq, entry) for entry in found if entry.outcome and entry.outcome.kind == "answer"]
        return [entry for _, entry in sorted(told, key=lambda one: one[0])]

    def _settle(self, request: str, kind: str, body: dict[str, Any]) -> bool:
        text = canonical(body)
        with self._file.writing() as db:
            rows = _sound_rows(db, _CHARGE, [request])
            if not rows:
                raise AllowanceError("request.unknown")
            if list(db.query(_OUTCOMES, [json.dumps([request])])):
                return False
            # The charge's own time: a second one would tell how long the draw took.
            [paid] = rows
            told = self._append(db, kind, paid["budget"], request, paid["actor"], text, "", paid["at"])
            if kind == "answer":
                repeats.note(db, told["seq"], paid["seq"], paid["budget"], paid["body"])
        return True

    def _append(
        self, db: Database, kind: str, budget: str, request: str, actor: str, body: str, totals: str, at: str
    ) -> dict[str, Any]:
        seq, prev = head_of(db)
        row: dict[str, Any] = {
            "seq": seq + 1,
            "at": at,
            "kind": kind,
            "budget": budget,
            "request": request,
            "actor": actor,
            "body": body,
            "totals": totals,
            "prev": prev,
        }
        row["hash"] = hash_of(row)
        db.conn.execute(_INSERT, row)
        return row

    def _pages(self, where: str, values: list[Any]) -> Iterator[dict[str, Any]]:
        """In pages, each its own read: a long look holds no old snapshot that later writes would trip over."""
        after = -(2**63)  # a row numbered below 1 by hand must be seen too
        while True:
            with self._file.reading() as db:
                sql = f"SELECT * FROM entries WHERE {where} seq > ? ORDER BY seq LIMIT {_PAGE}"
                page = list(db.query(sql, [*values, after]))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1]["seq"]


def _admit(rule: Rule, before: Totals, costs: Sequence[Cost], keep: Fraction | None) -> None:
    """Sums only grow, so what the rule admits with all of them counted in it also admits one after the other."""
    after = before
    for paid in costs:
        after = after.plus(paid)
    if keep is None and not admits(rule, after):
        raise _refusal(rule, before, costs[0]) if len(costs) == 1 else BudgetExceeded("plan.exceeded")
    if keep is not None and not (admits(rule, after) and spent(rule, after) <= rule.epsilon - keep):
        raise BudgetExceeded("plan.exceeded")


def _refusal(rule: Rule, before: Totals, paid: Cost) -> BudgetExceeded:
    reserve = rule.delta_reserve - before.delta
    if paid.delta > reserve:
        return BudgetExceeded("budget.exceeded_delta", price=paid.delta, left=reserve)
    takes, left = price(rule, before, paid), rule.epsilon - spent(rule, before)
    return BudgetExceeded("budget.exceeded", price=up(takes, _SHOWN), left=down(max(left, Fraction(0)), _SHOWN))


def _now() -> str:
    """For people to read, no finer than they need. Order is by row number: clocks jump."""
    return datetime.now(UTC).isoformat(timespec="seconds")
