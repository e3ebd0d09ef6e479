"""The hash chain over ledger rows: how a row is hashed, and whether a whole ledger is still as it was written.

Each row's hash covers every other column, the row's number and the hash before it, so an edit, a deletion or an
insertion breaks a link. The chain itself cannot detect two things: rows cut off at the very end (high_water.py detects
an older copy put back), and a whole ledger rewritten by someone who recomputes every hash. Both change the head of the
chain, which is therefore shown and exported.

`verify` then checks the content of each row against the rows before it: rules, running sums, requests, and rights. It
checks the rows about people by the rules of `people_rules`, with facts gathered here row by row, not read from the
file's indexes: who had which right when a row was written, and whether every charge was within a grant.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import admits, price
from dpengine.accountant.loss import Loss, loss_from_json
from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.core.types import JsonObject
from dpengine.declared.unit import Unit
from dpengine.ledger import long_lists, people_rules
from dpengine.ledger.people_rules import (
    KINDS,
    NO,
    OWNER,
    Decision,
    Grant,
    HolderPart,
    Role,
    ShareRequest,
    apart_id,
    base_of,
    is_group,
    is_own,
)
from dpengine.ledger.rows import (
    ACTS,
    COLUMNS,
    OUTCOMES,
    STEP_OUTCOMES,
    Act,
    BudgetRecord,
    LedgerRow,
    Moved,
    Paid,
    Raised,
    Repriced,
    Standing,
    Sums,
    TakenOver,
    by_row,
    charge_totals,
    may_take_over,
    paid_of,
    protect_body,
    questions_of,
    repriced,
    rows_of_a_person,
    sums_of,
    taken_over,
)
from dpengine.messages import say

WRONG = "chain.people"
START = "0" * 64  # the link of the first row
FORMAT = "allowance-ledger-1"
_HASHED = tuple(name for name in COLUMNS if name != "hash")
_ILLEGIBLE = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, AllowanceError)


def hash_of(row: LedgerRow) -> str:
    """SHA-256 over the row's columns as a JSON list, so that different rows always give different texts to hash."""
    return hashlib.sha256(canonical([FORMAT, *(row[name] for name in _HASHED)]).encode()).hexdigest()


def sound(row: LedgerRow) -> bool:
    """Does the row's content still match the row's own hash? Cheap enough for every read."""
    try:
        return bool(hash_of(row) == row["hash"])
    except (ValueError, TypeError):  # bytes or broken Unicode in a column
        return False


@dataclass(frozen=True)
class Verdict:
    """The result of checking a ledger. `head`: number and hash of the last valid row. `broken`: the number of the first
    invalid row, or None if the chain is intact or the fault is in no single row."""

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
    under: str = ""  # the holder of the grant that paid, where people sign in
    asked: int = 0
    ended: bool = False
    open: set[int] = field(default_factory=set)  # steps used, without an outcome yet
    ids: set[str] = field(default_factory=set)


class _Reader:
    """Recomputes every row from the rows before it: rules, running sums and requests."""

    def __init__(self) -> None:
        self.budgets: dict[str, BudgetRecord] = {}
        self.standings: dict[str, Standing] = {}
        self.past: dict[str, list[Paid | Raised]] = {}  # by budget, for a change of its unit
        self.same: dict[Paid, Paid] = {}  # equal charges are stored once
        self.taken: set[str] = set()  # budgets that another took over
        self.protected: dict[str, int] = {}  # the row that last declared more protection, by budget
        self.charged: set[str] = set()
        self.settled: set[str] = set()
        self.closed: set[tuple[str, str, str]] = set()  # budget, table, kind of act
        self.sessions: dict[str, _Session] = {}  # by the request of their charge
        self.people = PeopleSoFar()
        self.lists: set[str] = set()  # digests of the long lists so far

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
            if row["kind"] in ("step", "ended", *STEP_OUTCOMES):
                return self._step(row)
            if row["kind"] == long_lists.KIND:
                return self._list(row["body"])
            if row["kind"] in people_rules.KINDS:
                return self.people.fault(row, self.budgets, self.standings)
        except _ILLEGIBLE:
            return "chain.form"
        return None  # a kind of a later version: its link is valid, its meaning cannot be checked here

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
        """The message code if a charge is wrong, or None: computed again from its loss and the sums before it, the row
        must be the same."""
        if row["budget"] not in self.budgets or not self.lists.issuperset(long_lists.named_in(row["body"])):
            return "chain.orphan"
        if row["request"] in self.charged:
            return "chain.twice"
        rule, before, body = self.budgets[row["budget"]].rule, self.standings[row["budget"]], json.loads(row["body"])
        if self._shut(row["budget"], body["table"]):
            return "chain.closed"
        if people_rules.base_of(row["budget"]) in self.protected and by_row(body["claim"]):
            return "chain.protect"
        loss = loss_from_json(body["loss"])
        paid = cost(loss, rule.alpha)
        after = before.plus(paid, loss)
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
            entry = paid_of(row, self.budgets[row["budget"]].unit == Unit.rows().as_json())
            self.past.setdefault(row["budget"], []).append(self.same.setdefault(entry, entry))
        self.charged.add(row["request"])
        questions = questions_of(body["claim"])
        if questions is not None:
            key, under = str(body["claim"].get("key", "")), body.get("under", "")
            self.sessions[row["request"]] = _Session(
                row["budget"], row["actor"], body["table"], questions, row["seq"], key, under
            )
        return None

    def _step(self, row: LedgerRow) -> str | None:
        """The message code if a step is wrong, or None. Steps are used in order, up to the number paid for, each with
        one outcome, and none after the session's end."""
        session = self.sessions.get(row["request"])
        if session is None or row["budget"] != session.budget or row["actor"] != session.actor:
            return "chain.orphan" if session is None else "chain.session"
        if not self.lists.issuperset(long_lists.named_in(row["body"])):
            return "chain.orphan"
        body = json.loads(row["body"])
        if row["kind"] in STEP_OUTCOMES:
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
        if self.protected.get(people_rules.base_of(session.budget), 0) > session.seq:
            return "chain.protect"
        if body["index"] != session.asked + 1 or body["index"] > session.questions or body["step"] in session.ids:
            return "chain.session"
        keys, record = people_rules.step_keys({"key": session.key}, body["claim"]), self.budgets[session.budget]
        facts = session.actor, record, session.table, session.under, keys, row["at"][:10]
        if people_rules.step_fault(self.people, *facts) is not None:
            return WRONG
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
        """The message code if an act is wrong, or None. An owner closes a table once, only raises a cap, and declares a
        newer table's people new once. An operator closes a budget once, even if the row that created the budget is
        lost."""
        act, record = Act.from_row(row), self.budgets.get(row["budget"])
        if (act.kind == "close" and act.table) or (act.kind == "new_people" and act.newer in ("", act.table)):
            return "chain.form"
        if record is None and act.kind != "close":
            return "chain.orphan"
        if act.kind != "close" and people_rules.act_fault(self.people, act.budget, act.table, act.actor):
            return WRONG
        if record is not None and act.unit is not None:
            return self._protect(row, record, act.unit, act.taken)
        if record is not None and act.before is not None and act.after is not None:
            if self._shut(record.id):
                return "chain.closed"
            if record.kind != "private" or act.before != record.rule.epsilon or act.after <= act.before:
                return "chain.raise"
            self.people.raised(record, act.after, self.standings)
            self.past.setdefault(record.id, []).append(Raised(act.before, act.after))
            for other in self.budgets.values():
                if people_rules.base_of(other.id) == record.id:  # itself, and those of people who keep apart
                    self.budgets[other.id] = other.at_cap(act.after)
            return None
        once = act.budget, act.table, f"{act.kind} {act.newer}".strip()
        if once in self.closed:
            return "chain.twice"
        self.closed.add(once)
        return None

    def _protect(self, row: LedgerRow, record: BudgetRecord, unit: Unit, taken: TakenOver | None) -> str | None:
        """The message code if a `protect` row is wrong, or None: with every earlier charge counted anew, the row must
        be the same."""
        if self._shut(record.id):
            return "chain.closed"
        if not people_rules.is_own(record):
            return "chain.protect"
        if people_rules.protect_fault(self.people, record.id, row["actor"]):
            return WRONG
        past = self.past.setdefault(record.id, [])
        if taken is not None:
            if fault := self._taken_fault(record, unit, taken, row["actor"]):
                return fault
            other = self.budgets[taken.budget]
            past += taken_over(self.past.get(other.id, []), other.unit, taken.rows)
            rows = unit.at_most
            self.taken.add(other.id)
        else:
            try:
                rows = rows_of_a_person(record.unit, unit)
            except AllowanceError:
                return "chain.protect"
        sums, moved = repriced(past, rows, record.rule.alpha), people_rules.moved_anew(record.rule, past, rows)
        table = json.loads(row["body"])["table"]
        if row["body"] != protect_body(table, record.unit, unit.as_json(), sums, moved, taken):
            return "chain.totals"
        before = self.standings[record.id].totals
        if row["totals"] != charge_totals(before, sums.whole.totals, sums.whole.history):
            return "chain.totals"
        if not admits(record.rule, sums.whole.totals):
            return "chain.rule"
        self.budgets[record.id] = replace(record, unit=unit.as_json())
        self.standings[record.id] = sums.whole
        self.people.counted_anew(record.id, sums, moved)
        self.protected[record.id] = row["seq"]
        return None

    def _taken_fault(self, record: BudgetRecord, unit: Unit, taken: TakenOver, actor: str) -> str | None:
        """The message code if this budget may not take over the budget in `taken`, or None. Nothing may be spent from
        that other budget afterwards."""
        other = self.budgets.get(taken.budget)
        if other is None:
            return "chain.orphan"
        if self._shut(other.id):
            return "chain.closed"
        if people_rules.protect_fault(self.people, other.id, actor):
            return WRONG
        fits = people_rules.is_own(other) and unit.as_json() == record.unit
        return None if fits and may_take_over(record, other, taken) else "chain.protect"

    def _shut(self, budget: str, table: str = "") -> bool:
        """Is this budget closed or taken over, or, with `table`, that table of the budget sealed or forgotten?"""
        base = people_rules.base_of(budget)
        return (
            budget in self.taken
            or (budget, "", "close") in self.closed
            or any((base, table, kind) in self.closed for kind in ACTS)
        )


class PeopleSoFar:
    """A `Book` of the rows read so far, kept in memory."""

    def __init__(self) -> None:
        self._roles: dict[tuple[str, str, str], bool] = {}
        self._owned: dict[str, str] = {}  # by which budget
        self._groups: dict[str, tuple[str, ...]] = {}
        self._grants: dict[tuple[str, str], dict[str, Grant]] = {}
        self._own: dict[tuple[str, str], Standing] = {}
        self._moved: dict[tuple[str, str], tuple[Fraction, str]] = {}  # and the table of the holder's last charge
        self._of_table: dict[tuple[str, str], Standing] = {}
        self._limits: dict[tuple[str, str], Fraction | None] = {}
        self._wishes: dict[str, ShareRequest] = {}
        self._decisions: dict[str, Decision] = {}
        self._waiting: Counter[tuple[str, str, str]] = Counter()
        self._used: set[str] = set()
        self._apart: dict[str, tuple[str, ...]] = {}

    def served(self) -> bool:
        return bool(self._roles)

    def has(self, person: str, role: str, table: str = "") -> bool:
        return self._roles.get((person, role, table), False)

    def owner(self, person: str) -> bool:
        return any(on for (who, role, _), on in self._roles.items() if (who, role) == (person, OWNER))

    def owned(self, table: str) -> bool:
        return table in self._owned

    def budget_of(self, table: str) -> str | None:
        return self._owned.get(table)

    def members(self, group: str) -> tuple[str, ...]:
        return self._groups.get(group, ())

    def groups_of(self, person: str) -> list[str]:
        return sorted(name for name, people in self._groups.items() if person in people)

    def grant(self, budget: str, table: str, to: str) -> Grant | None:
        return self._grants.get((budget, table), {}).get(to)

    def granted(self, budget: str, table: str) -> bool:
        return (budget, table) in self._grants

    def own(self, budget: str, holder: str) -> Standing:
        return self._own.get((budget, holder), Standing.NOTHING)

    def held(self, record: BudgetRecord, holder: str) -> HolderPart:
        moved, _ = self._moved.get((record.id, holder), (Fraction(0), ""))
        return HolderPart(moved, self.own(record.id, holder).totals.delta)

    def of_table(self, budget: str, table: str) -> Standing:
        return self._of_table.get((budget, table), Standing.NOTHING)

    def limit(self, budget: str, table: str) -> Fraction | None:
        return self._limits.get((budget, table))

    def wanted(self, request: str) -> ShareRequest | None:
        return self._wishes.get(request)

    def decision(self, request: str) -> Decision | None:
        return self._decisions.get(request)

    def approved(self, actor: str, budget: str, table: str) -> list[ShareRequest]:
        passed = [request for request, decision in self._decisions.items() if decision.answer != NO]
        wishes = [self._wishes[request] for request in passed if request not in self._used]
        theirs = [wanted for wanted in wishes if (wanted.actor, wanted.budget, wanted.table) == (actor, budget, table)]
        return sorted(theirs, key=lambda wanted: wanted.seq)

    def apart(self, budget: str) -> tuple[str, ...] | None:
        return self._apart.get(budget)

    def owners_on(self, budget: str) -> dict[str, set[str]]:
        owners: dict[str, set[str]] = {table: set() for table, paid in self._owned.items() if table and paid == budget}
        for (person, role, table), on in self._roles.items():
            if role == OWNER and on and table in owners:
                owners[table].add(person)
        return owners

    def group_grants(self, budget: str) -> list[Grant]:
        held = (to for (paid, _), to in self._grants.items() if paid == budget)
        return [grant for grants in held for grant in grants.values() if is_group(grant.to)]

    def waiting(self, actor: str, budget: str, table: str) -> int:
        return self._waiting[actor, budget, table]

    # Rows

    def fault(self, row: LedgerRow, budgets: dict[str, BudgetRecord], standings: dict[str, Standing]) -> str | None:
        """The message code if the writer of a row about people had no right to it, or if the row is malformed; else
        None."""
        assert row["kind"] in KINDS
        check: Callable[[LedgerRow], str | None] = getattr(self, f"_{row['kind']}")
        if row["kind"] not in ("role", "group") or (row["kind"] == "role" and Role.from_row(row).table):
            record = budgets.get(row["budget"])
            if record is None or not is_own(record):
                return "chain.orphan"
        if row["kind"] == "agreement":
            return self._agreement(row, standings[row["budget"]].charges > 0)
        return check(row) and WRONG

    def charge_fault(
        self, row: LedgerRow, body: JsonObject, record: BudgetRecord, before: Standing, paid: Cost, loss: Loss
    ) -> str | None:
        """The message code if a charge is wrong, or None. A charge needs a live grant for the question with enough
        left, and correct sums."""
        stated = sums_of(body)
        if not self.served():
            return None if stated is None else WRONG
        if people_rules.asking_fault(self, record, row["actor"]) is not None:
            return WRONG
        if record.kind == "practice":
            return None if stated is None else WRONG
        if stated is None:
            return WRONG
        grants = people_rules.grants_for(self, row["actor"], record.id, body["table"], row["at"][:10])
        grant = next((grant for grant in grants if grant.to == stated.under), None)
        if grant is None or not grant.allows(body["claim"]["key"]):
            return WRONG
        own, of_table = self.own(record.id, stated.under), self.of_table(record.id, body["table"])
        held, meter = self.held(record, stated.under), people_rules.meter(self, record.id, body["table"], before)
        if not people_rules.fits(record.rule, grant, held, meter, [paid]):
            return WRONG
        wish = ""
        if people_rules.waits(record.rule, self.limit(base_of(record.id), body["table"]), before, paid):
            approved = people_rules.approval(self, row["actor"], record.id, body["table"], body["claim"])
            if approved is None:
                return WRONG
            wish = approved.id
        takes = people_rules.moves(record.rule, meter, [paid])
        sums = Sums(stated.under, own.plus(paid, loss), of_table.plus(paid, loss), takes, held.moved + takes, wish)
        if stated != sums:
            return WRONG
        self._moved[record.id, stated.under] = sums.moved, body["table"]
        self._own[record.id, stated.under], self._of_table[record.id, body["table"]] = sums.own, sums.table
        self._used |= {wish} - {""}
        return None

    def raised(self, record: BudgetRecord, after: Fraction, standings: dict[str, Standing]) -> None:
        """Note a raise of the cap: it lowers the meter of each table, and every holder's used share falls in the same
        proportion."""
        for (budget, holder), (moved, table) in self._moved.items():
            if base_of(budget) == record.id:
                meter = people_rules.meter(self, budget, table, standings[budget])
                moved = people_rules.lowered(moved, record.rule, record.rule.epsilon, after, meter)
                self._moved[budget, holder] = moved, table

    def counted_anew(self, budget: str, sums: Repriced, moved: Moved) -> None:
        """Note the sums of each holder and each table that a declaration of more protection states."""
        self._own |= {(budget, holder): standing for holder, standing in sums.own.items()}
        self._of_table |= {(budget, table): standing for table, standing in sums.of_table.items()}
        for holder, parts in moved.items():
            _, table = self._moved[budget, holder]
            self._moved[budget, holder] = sum(parts.values(), Fraction(0)), table

    def budget_fault(self, record: BudgetRecord, actor: str, budgets: dict[str, BudgetRecord]) -> str | None:
        if people_rules.budget_fault(self, record, actor) is not None:
            return WRONG
        shared = budgets.get(base_of(record.id)) if record.kind == "private" else None
        if shared is None or not any(
            record.id == apart_id(shared.id, person) for person in self.apart(shared.id) or ()
        ):
            return None
        return None if record.rule == shared.rule else WRONG

    def _role(self, row: LedgerRow) -> str | None:
        role = Role.from_row(row)
        code = people_rules.role_fault(self, role.person, role.role, role.table, role.on, role.actor, row["budget"])
        if code is None:
            self._roles[role.person, role.role, role.table] = role.on
            if role.role == OWNER:
                self._owned.setdefault(role.table, row["budget"])
        return code

    def _group(self, row: LedgerRow) -> str | None:
        body = json.loads(row["body"])
        code = people_rules.group_fault(self, body["group"], body["people"], row["actor"])
        if code is None:
            self._groups[body["group"]] = tuple(body["people"])
        return code

    def _grant(self, row: LedgerRow) -> str | None:
        grant = Grant.from_row(row)
        code = people_rules.grant_fault(self, grant)
        if code is None:
            self._grants.setdefault((grant.budget, grant.table), {})[grant.to] = grant
        return code

    def _wish(self, row: LedgerRow) -> str | None:
        wanted = ShareRequest.from_row(row)
        if wanted.id in self._wishes:
            return "request.reused"
        code = people_rules.wish_fault(self, wanted, wanted.at[:10])
        self._wishes[wanted.id] = wanted
        self._waiting[wanted.actor, wanted.budget, wanted.table] += 1
        return code

    def _decided(self, row: LedgerRow) -> str | None:
        decision = Decision.from_row(row)
        wanted = self.wanted(decision.wish)
        code = people_rules.decided_fault(self, wanted, decision.answer, decision.share, decision.actor)
        if wanted is not None and wanted.budget != row["budget"]:
            return "people.wish_unknown"
        self._decisions[decision.wish] = decision
        if wanted is not None:
            self._waiting[wanted.actor, wanted.budget, wanted.table] -= 1
        return code

    def _limit(self, row: LedgerRow) -> str | None:
        body = json.loads(row["body"])
        share = None if body["share"] is None else Fraction(body["share"])
        self._limits[row["budget"], body["table"]] = share
        return people_rules.limit_fault(self, row["budget"], body["table"], share, row["actor"])

    def _agreement(self, row: LedgerRow, charged: bool = False) -> str | None:
        body = json.loads(row["body"])
        facts = (row["budget"], body["table"], body["people"], charged, row["actor"], row["at"][:10])
        code = people_rules.agreement_fault(self, *facts)
        self._apart[row["budget"]] = tuple(body["people"])
        return code and WRONG
