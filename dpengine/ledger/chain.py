"""The hash chain over ledger rows: how a row is hashed, and whether a whole ledger still says what was written.

Each row's hash covers every other column, the row's number and the hash before it, so an edit, a deletion or an
insertion breaks a link. Two things cannot be detected by the chain itself: rows cut off at the very end (high_water.py
detects it when an older copy is put back), and a whole ledger rewritten by someone who recomputes every hash. Both
change the head of the chain, which is therefore shown and exported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import admits, price
from dpengine.accountant.loss import loss_from_json
from dpengine.core.canonical import canonical
from dpengine.core.errors import AllowanceError
from dpengine.declared.unit import Unit
from dpengine.ledger import long_lists, people_rows, people_rules
from dpengine.ledger.people_chain import PeopleSoFar
from dpengine.ledger.rows import (
    ACTS,
    COLUMNS,
    OUTCOMES,
    TOLD,
    BudgetRecord,
    LedgerRow,
    Paid,
    Raised,
    Standing,
    act_of,
    by_row,
    charge_totals,
    newer_of,
    paid_of,
    protect_body,
    questions_of,
    repriced,
    rows_of_a_person,
)
from dpengine.messages import say

START = "0" * 64  # what the first row is chained to
FORMAT = "allowance-ledger-1"
_HASHED = tuple(name for name in COLUMNS if name != "hash")
_ILLEGIBLE = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, AllowanceError)


def hash_of(row: LedgerRow) -> str:
    """SHA-256 over a JSON list, which keeps columns, types and the ends of texts apart."""
    return hashlib.sha256(canonical([FORMAT, *(row[name] for name in _HASHED)]).encode()).hexdigest()


def sound(row: LedgerRow) -> bool:
    """Does the row still hash to what was written? Cheap enough to check every row before it is used."""
    try:
        return bool(hash_of(row) == row["hash"])
    except (ValueError, TypeError):  # bytes or broken Unicode in a column
        return False


@dataclass(frozen=True)
class Verdict:
    """`head` is the last valid row, `broken` the number of the first invalid one (None: no single row is at fault)."""

    ok: bool
    rows: int
    head: tuple[int, str]
    broken: int | None = None
    why: str | None = None  # a code of the catalogue

    @property
    def sentence(self) -> str:
        if self.why is None:
            return say("chain.whole", rows=self.rows)
        return say(self.why, row=self.broken if self.broken is not None else self.rows + 1)


def verify(rows: Iterable[LedgerRow]) -> Verdict:
    """Check every row in order: its number, link and hash, then its content against everything before it."""
    reader = _Reader()
    seq, last = 0, START
    for row in rows:
        if row["seq"] != seq + 1:
            return Verdict(False, seq, (seq, last), min(row["seq"], seq + 1), "chain.gap")
        if row["prev"] != last:
            why: str | None = "chain.link"
        elif not sound(row):
            why = "chain.hash"
        else:
            why = reader.fault(row)
        if why is not None:
            return Verdict(False, seq, (seq, last), row["seq"], why)
        seq, last = row["seq"], row["hash"]
    return Verdict(True, seq, (seq, last))


@dataclass
class _Session:
    budget: str
    actor: str
    table: str
    questions: int
    seq: int  # of its charge
    key: str = ""
    under: str = ""  # whose grant it was charged under, where people sign in
    asked: int = 0
    ended: bool = False
    open: set[int] = field(default_factory=set)  # used, and without an outcome yet
    ids: set[str] = field(default_factory=set)


class _Reader:
    """Recomputes what every row must say, from the rows before it: rules, running sums and requests."""

    def __init__(self) -> None:
        self.budgets: dict[str, BudgetRecord] = {}
        self.standings: dict[str, Standing] = {}
        self.past: dict[str, list[Paid | Raised]] = {}  # by budget, for a change of its unit
        self.same: dict[Paid, Paid] = {}  # equal charges are kept once
        self.protected: dict[str, int] = {}  # budgets on which more protection was declared, by the row that last did
        self.charged: set[str] = set()
        self.settled: set[str] = set()
        self.closed: set[tuple[str, str, str]] = set()  # budget, table, kind of act
        self.sessions: dict[str, _Session] = {}  # by the request of their charge
        self.people = PeopleSoFar()
        self.lists: set[str] = set()  # digests of long lists that stand in rows of their own

    def fault(self, row: LedgerRow) -> str | None:
        try:
            if row["kind"] == "budget":
                return self._budget(BudgetRecord.from_row(row), row["actor"])
            if row["kind"] == "charge":
                return self._charge(row)
            if row["kind"] in OUTCOMES:
                return self._outcome(row["request"])
            if row["kind"] in ACTS:
                return self._act(row)
            if row["kind"] in ("step", "ended", *TOLD):
                return self._step(row)
            if row["kind"] == long_lists.KIND:
                return self._list(row["body"])
            if row["kind"] in people_rows.KINDS:
                return self.people.fault(row, self.budgets, self.standings)
        except _ILLEGIBLE:
            return "chain.form"
        return None  # a kind that a later version added: its link is valid, its meaning cannot be checked here

    def _budget(self, record: BudgetRecord, actor: str) -> str | None:
        if record.id in self.budgets:
            return "chain.twice"
        if self._shut(record.id):
            return "chain.closed"
        if fault := self.people.budget_fault(record, actor, self.budgets):
            return fault
        self.budgets[record.id] = record
        self.standings[record.id] = Standing.NOTHING
        return None

    def _list(self, body: str) -> str | None:
        digest = long_lists.noted(body)
        if not digest:
            return "chain.form"
        if digest in self.lists:
            return "chain.twice"
        self.lists.add(digest)
        return None

    def _charge(self, row: LedgerRow) -> str | None:
        """Computed again from its loss and the sums before it, the row must come out exactly the same."""
        if row["budget"] not in self.budgets or not self.lists.issuperset(long_lists.named_in(row["body"])):
            return "chain.orphan"
        if row["request"] in self.charged:
            return "chain.twice"
        rule, before, body = self.budgets[row["budget"]].rule, self.standings[row["budget"]], json.loads(row["body"])
        if self._shut(row["budget"], body["table"]):
            return "chain.closed"
        if people_rows.base_of(row["budget"]) in self.protected and by_row(body["claim"]):
            return "chain.protect"
        loss = loss_from_json(body["loss"])
        paid = cost(loss, rule.alpha)
        after = Standing(before.totals.plus(paid), before.history.plus(loss))
        if row["totals"] != charge_totals(before.totals, after.totals, after.history):
            return "chain.totals"
        if not admits(rule, after.totals):
            return "chain.rule"
        if body["price"] != str(price(rule, before.totals, paid)):
            return "chain.totals"
        if fault := self.people.charge_fault(row, body, self.budgets[row["budget"]], before, paid, loss):
            return fault
        self.standings[row["budget"]] = after
        if self.budgets[row["budget"]].kind == "private":
            alone = self.budgets[row["budget"]].unit == Unit.rows().as_json()
            one = paid_of(row, alone)
            self.past.setdefault(row["budget"], []).append(self.same.setdefault(one, one))
        self.charged.add(row["request"])
        questions = questions_of(body["claim"])
        if questions is not None:
            under = body.get("under", "")
            told = (
                row["budget"],
                row["actor"],
                body["table"],
                questions,
                row["seq"],
                str(body["claim"].get("key", "")),
                under,
            )
            self.sessions[row["request"]] = _Session(*told)
        return None

    def _step(self, row: LedgerRow) -> str | None:
        """Steps are used one after the other, up to the number paid for, each with one outcome; none after the end."""
        session = self.sessions.get(row["request"])
        if session is None or row["budget"] != session.budget or row["actor"] != session.actor:
            return "chain.orphan" if session is None else "chain.session"
        if not self.lists.issuperset(long_lists.named_in(row["body"])):
            return "chain.orphan"
        body = json.loads(row["body"])
        if row["kind"] in TOLD:
            if body["index"] not in session.open:
                return "chain.session"
            session.open.remove(body["index"])
            return None
        if session.ended or body["table"] != session.table:
            return "chain.session"
        if row["kind"] == "ended":
            session.ended = True
            return None if body["asked"] == session.asked else "chain.session"
        if self._shut(session.budget, session.table):
            return "chain.closed"
        if self.protected.get(people_rows.base_of(session.budget), 0) > session.seq:
            return "chain.protect"
        if body["index"] != session.asked + 1 or body["index"] > session.questions or body["step"] in session.ids:
            return "chain.session"
        keys, record = people_rules.step_keys({"key": session.key}, body["claim"]), self.budgets[session.budget]
        if fault := self.people.step_fault(row, record, session.table, session.under, keys):
            return fault
        session.asked += 1
        session.open.add(body["index"])
        session.ids.add(body["step"])
        return None

    def _outcome(self, request: str) -> str | None:
        if request not in self.charged:
            return "chain.orphan"
        if request in self.settled:
            return "chain.twice"
        self.settled.add(request)
        return None

    def _act(self, row: LedgerRow) -> str | None:
        """An owner closes a table once, raises a cap from what it is to something larger, and says once of a newer
        table that its people are new; an operator closes a budget once, also one whose own rows are lost."""
        table, before, after = act_of(row)
        record = self.budgets.get(row["budget"])
        newer = newer_of(row)
        act = (row["budget"], table, f"{row['kind']} {newer}".strip())
        if (row["kind"] == "close" and table) or (row["kind"] == "new_people" and newer in ("", table)):
            return "chain.form"
        if record is None and row["kind"] != "close":
            return "chain.orphan"
        if row["kind"] != "close" and (fault := self.people.act_fault(row["budget"], table, row["actor"])):
            return fault
        if record is not None and row["kind"] == "protect":
            return self._protect(row, record)
        if record is not None and before is not None and after is not None:
            if self._shut(record.id):
                return "chain.closed"
            if record.kind != "private" or before != record.rule.epsilon or after <= before:
                return "chain.raise"
            self.people.raised(record, after, self.standings)
            self.past.setdefault(record.id, []).append(Raised(before, after))
            for other in self.budgets.values():
                if people_rows.base_of(other.id) == record.id:  # itself, and those of people who keep apart
                    self.budgets[other.id] = other.at_cap(after)
            return None
        if act in self.closed:
            return "chain.twice"
        self.closed.add(act)
        return None

    def _protect(self, row: LedgerRow, record: BudgetRecord) -> str | None:
        """Every charge before it is counted anew, and the row must come out exactly the same."""
        if self._shut(record.id):
            return "chain.closed"
        body = json.loads(row["body"])
        unit = Unit.from_json(body["unit"])
        if not people_rows.is_own(record):
            return "chain.protect"
        if fault := self.people.protect_fault(record.id, row["actor"]):
            return fault
        try:
            rows = rows_of_a_person(record.unit, unit)
        except AllowanceError:
            return "chain.protect"
        past = self.past.get(record.id, [])
        sums, moved = repriced(past, rows, record.rule.alpha), people_rules.moved_anew(record.rule, past, rows)
        if row["body"] != protect_body(body["table"], record.unit, unit.as_json(), sums, moved):
            return "chain.totals"
        before = self.standings[record.id].totals
        if row["totals"] != charge_totals(before, sums.whole.totals, sums.whole.history):
            return "chain.totals"
        if not admits(record.rule, sums.whole.totals):
            return "chain.rule"
        self.budgets[record.id] = record.for_unit(unit.as_json())
        self.standings[record.id] = sums.whole
        self.people.counted_anew(record.id, sums, moved)
        self.protected[record.id] = row["seq"]
        return None

    def _shut(self, budget: str, table: str = "") -> bool:
        """Is this budget closed, or this table of it?"""
        base = people_rows.base_of(budget)
        return (budget, "", "close") in self.closed or any((base, table, kind) in self.closed for kind in ACTS)
