"""The ledger: every charge and every answer, append-only, chained, and the only place where a budget is spent.

A question is charged *before* its statistic is read: `reserve` looks the request up, applies the budget's rule and
writes the charge in one transaction under the write lock, durable before it returns. Nothing is ever refunded. The
sums of a budget stand in its last charge, so deciding costs the same after a hundred thousand rows as after ten.

The file holds public facts and released answers, nothing else about the data. It is its user's alone (mode 0600).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Unpack

from dpengine.accountant.budget import MOST_EPSILON
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals, admits, price, share, spent, used
from dpengine.core.canonical import canonical
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import down, up
from dpengine.core.json_types import JsonObject
from dpengine.declared.unit import Unit
from dpengine.ledger import long_lists, owner_rows, people_rules, repeats, session_rows
from dpengine.ledger.chain import Verdict, hash_of
from dpengine.ledger.owner_rows import Act
from dpengine.ledger.people_acts import Payer, PeopleLedger
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.rows import (
    COLUMNS,
    BudgetRecord,
    Burned,
    Charge,
    Entry,
    Outcome,
    Reservation,
    Standing,
    charge_body,
    charge_totals,
    is_request,
    protect_body,
    questions_of,
    read_request,
    repriced,
    rows_of_a_person,
)
from dpengine.ledger.sqlite_file import head_of
from dpengine.ledger.store import Database

__all__ = ["Act", "BudgetRecord", "Burned", "Charge", "Entry", "Ledger", "Outcome", "Standing", "Verdict"]

BUDGET_KINDS = ("private", "practice")
_SHOWN = 100  # refusals show 0.01 %: the price rounded up, what is left rounded down, so they never look equal

_INSERT = f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({', '.join(':' + name for name in COLUMNS)})"


class Ledger(PeopleLedger):
    """One file, used by any number of threads and processes. Every refusal is an AllowanceError with one sentence."""

    def create_budget(
        self,
        budget_id: str,
        rule: Rule,
        kind: str,
        actor: str,
        name: str,
        unit: JsonObject | None = None,
        relation: str = "",
    ) -> BudgetRecord:
        """Create a budget. If the id exists already, its cap stays as it is and the existing budget is returned."""
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
            fault = people_rules.budget_fault(PeopleBook(db), record, actor)
            if fault is not None:
                raise AllowanceError(fault)
            self._append(db, "budget", budget_id, "", actor, record.body(), "", record.at)
        return record

    def reserve(self, **wanted: Unpack[Reservation]) -> Charge:
        """Charge the question, once per request, or refuse and spend nothing. Only a `fresh` charge allows a draw."""
        return self.reserve_all([wanted])[0]

    def reserve_all(self, wanted: Sequence[Reservation], keep: Fraction | None = None) -> list[Charge]:
        """Charge several questions to one budget in one transaction, each its own row; or refuse, and charge none.

        `keep`: the share of the allowance that must be left after the whole plan. Requests that were charged before are
        returned as they are.
        """
        requests = [read_request(question["request"]) for question in wanted]
        if not wanted or len(set(requests)) < len(requests) or len({question["budget"] for question in wanted}) > 1:
            raise AllowanceError("request.reused")
        self._watch.before_spending()
        with self._file.writing() as db:
            known = [charge for question in wanted if (charge := self._known(db, question)) is not None]
            if len(known) == len(wanted):
                return known
            if known:
                raise AllowanceError("request.reused")
            self._file.refuse_full()
            self._watch.refuse_broken(db)
            budget = wanted[0]["budget"]
            record = self._known_budget(db, budget)
            for table in sorted({question["table"] for question in wanted}):
                owner_rows.refuse_closed(db, budget, table)
            for question in wanted:
                owner_rows.refuse_by_row(db, record, question["claim"])
                self._refuse_unseen(db, question)
            rule, before = record.rule, self._standing(db, budget)
            costs, at = [cost(question["loss"], rule.alpha) for question in wanted], _now()
            payer = self._admitted(db, record, wanted, costs, keep, at[:10])
            charges = []
            for question, paid in zip(wanted, costs, strict=True):
                after = Standing(before.totals.plus(paid), before.history.plus(question["loss"]))
                sums = self._sums(db, record, payer, question, paid, before)
                takes, loss = price(rule, before.totals, paid), question["loss"]
                claim = self._listed(db, budget, question["actor"], question["claim"], at)
                body = charge_body(question["table"], question["worker"], claim, loss, takes, sums)
                totals = charge_totals(before.totals, after.totals, after.history)
                row = self._append(db, "charge", budget, question["request"], question["actor"], body, totals, at)
                charges.append(Charge.from_row(row, fresh=True))
                before = after
        return charges

    def answer(self, request: str, body: JsonObject) -> None:
        """Store the released answer. Refused if the request already has an outcome: an answer is never replaced."""
        if not self._settle(request, "answer", body):
            raise AllowanceError("request.settled")

    def fail(self, request: str, code: str) -> None:
        """Record that the release failed; the charge stays. Does nothing if the request already has an outcome."""
        self._settle(request, "failed", {"code": code})

    def burn(self, session: str, step: str, actor: str, claim: JsonObject, worker: str) -> Burned:
        """Record the next step of a session as used, once per step id, or refuse. Only a `fresh` step may be drawn."""
        read_request(step)
        self._watch.before_spending()
        with self._file.writing() as db:
            charge = self._session(db, session, actor)
            known = session_rows.find(db, session, step)
            if known is not None:
                if canonical(known.claim) != canonical(claim):
                    raise AllowanceError("session.step_reused")
                return known
            self._file.refuse_full()
            self._watch.refuse_broken(db)
            asked = session_rows.refuse_over(db, charge)
            if self._outlived(db, charge):
                raise AllowanceError("session.protected")
            self._refuse_step(db, charge, claim)
            owner_rows.refuse_closed(db, charge.budget, charge.table)
            at = _now()
            claim = self._listed(db, charge.budget, actor, claim, at)
            body = session_rows.step_body(charge.table, asked + 1, step, worker, claim)
            row = self._append(db, "step", charge.budget, session, actor, body, "", at)
        return Burned.from_row(row, fresh=True)

    def tell(self, session: str, index: int, kind: str, body: JsonObject) -> None:
        """Record the outcome of a used step, `part` or `lost`, once; a second outcome is ignored."""
        with self._file.writing() as db:
            burned = session_rows.numbered(db, session, index)
            if burned is None:
                raise AllowanceError("session.unknown")
            if burned.told is None:
                charge = self._session(db, session)
                text = canonical({"index": index} | body)
                # The time at which the step was recorded: another time would reveal how long the draw took.
                self._append(db, kind, charge.budget, session, charge.actor, text, "", burned.at)

    def end_session(self, session: str, actor: str) -> None:
        """Close a session for good; the charge stays. If it was ended before, the first row counts."""
        with self._file.writing() as db:
            charge = self._session(db, session, actor)
            if session_rows.ended(db, session):
                return
            body = canonical({"table": charge.table, "asked": session_rows.asked(db, session)})
            self._append(db, "ended", charge.budget, session, actor, body, "", _now())

    def close_table(self, kind: str, budget: str, table: str, actor: str) -> Act:
        """`seal` or `forget` a table: from this row on no question to it is accepted. If done before, the first row
        counts."""
        with self._file.writing() as db:
            record = self._known_budget(db, budget)
            if record.kind != "private":
                raise AllowanceError("act.practice")
            self._refuse_act(db, budget, table, actor)
            known = owner_rows.closing(db, budget, table, kind)
            if known:
                return known[0]
            return Act.from_row(self._append(db, kind, budget, "", actor, owner_rows.body(table), "", _now()))

    def raise_cap(self, budget: str, table: str, epsilon: Fraction, actor: str) -> Act:
        """Raise a budget's cap, from this row on."""
        with self._file.writing() as db:
            record = self._known_budget(db, budget)
            owner_rows.refuse_budget_closed(db, budget)
            self._refuse_act(db, budget, table, actor)
            higher = owner_rows.higher(record, epsilon, MOST_EPSILON)
            body = owner_rows.body(table, record.rule.epsilon, higher.rule.epsilon)
            return Act.from_row(self._append(db, "raise", budget, "", actor, body, "", _now()))

    def new_people(self, budget: str, table: str, newer: str, actor: str) -> Act:
        """The owner says that the people of a newer state of a table's source are others than those of the table. If
        said before, the first row counts."""
        with self._file.writing() as db:
            if self._known_budget(db, budget).kind != "private":
                raise AllowanceError("act.practice")
            self._refuse_act(db, budget, table, actor)
            known = owner_rows.new_people(db, budget, table, newer)
            if known:
                return known[0]
            body = owner_rows.body(table, newer=newer)
            return Act.from_row(self._append(db, "new_people", budget, "", actor, body, "", _now()))

    def protect(self, budget: str, table: str, unit: Unit, actor: str) -> Act:
        """Declare more protection, from this row on: every earlier charge is counted anew, for a person instead of a
        row, and only while that fits into the cap. If this unit was declared before, its row counts."""
        with self._file.writing() as db:
            record = self._known_budget(db, budget)
            if record.kind != "private":
                raise AllowanceError("act.practice")
            self._refuse_protecting(db, budget, table, actor)
            done = owner_rows.protections(db, budget)
            if done and record.unit == unit.as_json():
                return Act.from_row(done[0])
            owner_rows.refuse_budget_closed(db, budget)
            rows = rows_of_a_person(record.unit, unit)
            before = self._standing(db, budget)
            past = self._past(db, budget)
            sums = repriced(past, rows, record.rule.alpha)
            refuse_unprotected(record.rule, sums.whole.totals)
            moved = people_rules.moved_anew(record.rule, past, rows)
            body = protect_body(table, record.unit, unit.as_json(), sums, moved)
            totals = charge_totals(before.totals, sums.whole.totals, sums.whole.history)
            return Act.from_row(self._append(db, "protect", budget, "", actor, body, totals, _now()))

    def adopt(self, rows: Iterable[JsonObject]) -> None:
        """Copy checked rows into a new ledger; the file's triggers check again that each continues the chain."""
        with self._file.writing() as db:
            for row in rows:
                db.conn.execute(_INSERT, row)
            repeats.fill(db)

    def recover(self, budgets: Sequence[str], told: JsonObject, actor: str) -> None:
        """Record an operator's recovery of this ledger and close the budgets that may not spend any more because of it,
        in one transaction."""
        with self._file.writing() as db:
            self._append(db, "recovered", "", "", actor, canonical(told), "", _now())
            for budget in sorted(set(budgets)):
                if (budget, "") not in owner_rows.all_closed(db):
                    self._append(db, "close", budget, "", actor, owner_rows.body(""), "", _now())

    def _admitted(
        self,
        db: Database,
        record: BudgetRecord,
        wanted: Sequence[Reservation],
        costs: Sequence[Cost],
        keep: Fraction | None,
        day: str,
    ) -> Payer | None:
        """Both limits, the budget's rule and the grant of whoever asks; a refusal names the tighter of the two."""
        before = self._standing(db, record.id).totals
        try:
            payer = self._payer(db, record, wanted, costs, day)
        except BudgetExceeded as theirs:
            left, unknown = theirs.facts.get("left"), self._shared_unknown(db, record, wanted)
            tighter = not isinstance(left, Fraction) or (1 - used(record.rule, before)) * 100 <= left
            if tighter and not unknown:
                _admit(record.rule, before, costs, keep)
            raise
        try:
            _admit(record.rule, before, costs, keep)
        except BudgetExceeded:
            if payer is not None and self._shared_unknown(db, record, wanted):
                raise BudgetExceeded("people.shared_exceeded") from None
            raise
        return payer

    def _shared_unknown(self, db: Database, record: BudgetRecord, wanted: Sequence[Reservation]) -> bool:
        """Would what is left of the budget tell that somebody else's table holds the same people?"""
        return people_rules.shared_unknown(PeopleBook(db), record.id, wanted[0]["table"])

    def _known(self, db: Database, wanted: Reservation) -> Charge | None:
        """The charge this very question already has under its request."""
        known = self._charge(db, wanted["request"])
        if known is not None:
            bound = (known.budget, known.table, known.actor, canonical(known.claim))
            if bound != (wanted["budget"], wanted["table"], wanted["actor"], canonical(wanted["claim"])):
                raise AllowanceError("request.reused")
        return known

    def _refuse_unseen(self, db: Database, wanted: Reservation) -> None:
        seen = wanted.get("seen")
        if seen is not None:
            newest = self._newest_to(db, wanted["budget"], wanted["table"], wanted["claim"].get("digest"))
            if newest and newest[0]["seq"] > seen:
                raise AllowanceError("request.meanwhile")

    def _session(self, db: Database, request: str, actor: str | None = None) -> Charge:
        charge = self._charge(db, request) if is_request(request) else None
        if charge is None or questions_of(charge.claim) is None or actor not in (None, charge.actor):
            raise AllowanceError("session.unknown")
        return charge

    def _settle(self, request: str, kind: str, body: JsonObject) -> bool:
        text = canonical(body)
        with self._file.writing() as db:
            rows = self._charge_rows(db, request)
            if not rows:
                raise AllowanceError("request.unknown")
            if self._ended(db, request):
                return False
            # The time of the charge: another time would reveal how long the draw took.
            [paid] = rows
            written = self._append(db, kind, paid["budget"], request, paid["actor"], text, "", paid["at"])
            if kind == "answer":
                repeats.note(db, written["seq"], paid["seq"], paid["budget"], paid["body"])
        return True

    def _listed(self, db: Database, budget: str, actor: str, claim: JsonObject, at: str) -> JsonObject:
        """The claim as it is stored: long lists stand in rows of their own, each once."""
        claim, lists = long_lists.folded(claim)
        for digest, values in lists.items():
            if not long_lists.stands(db, digest):
                self._append(db, long_lists.KIND, budget, "", actor, long_lists.body_of(digest, values), "", at)
        return claim

    def _append(
        self, db: Database, kind: str, budget: str, request: str, actor: str, body: str, totals: str, at: str
    ) -> JsonObject:
        seq, prev = head_of(db)
        row: JsonObject = {
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


def _admit(rule: Rule, before: Totals, costs: Sequence[Cost], keep: Fraction | None) -> None:
    """Checks all costs at once. Sums only grow, so if the rule admits them together it admits each one in turn."""
    after = before
    for paid in costs:
        after = after.plus(paid)
    if keep is None and not admits(rule, after):
        raise _refusal(rule, before, costs[0]) if len(costs) == 1 else BudgetExceeded("plan.exceeded")
    if keep is not None and not (admits(rule, after) and used(rule, after) <= 1 - keep):
        raise BudgetExceeded("plan.exceeded")


def refuse_unprotected(rule: Rule, after: Totals) -> None:
    """Refuses more protection where what was asked already exceeds the cap for a person. Another cap is another claim,
    which its owner makes first by raising it."""
    if not admits(rule, after):
        needs = cap_needed(rule, after)
        if needs is None:
            raise BudgetExceeded("protect.never")
        raise BudgetExceeded("protect.exceeded", needs=needs, cap=rule.epsilon)


def cap_needed(rule: Rule, totals: Totals) -> Fraction | None:
    """The least cap ε, in hundredths, into which these sums fit; None where none does."""
    needs = up(spent(rule, totals), _SHOWN)
    return None if totals.delta > rule.delta_reserve or needs > MOST_EPSILON else needs


def _refusal(rule: Rule, before: Totals, paid: Cost) -> BudgetExceeded:
    reserve = rule.delta_reserve - before.delta
    if paid.delta > reserve:
        return BudgetExceeded("budget.exceeded_delta", price=paid.delta, left=reserve)
    takes, left = share(rule, before, paid) * 100, max(1 - used(rule, before), Fraction(0)) * 100
    return BudgetExceeded("budget.exceeded", price=up(takes, _SHOWN), left=down(left, _SHOWN))


def _now() -> str:
    """A time for people to read, no finer than they need. Rows are ordered by number, because clocks can be changed."""
    return datetime.now(UTC).isoformat(timespec="seconds")
