"""The rows of people checked again, from the rows alone: who had which right when each row was written, and whether
every charge was made under a grant that held it. The rules are those of `people_rules`; what they are asked of is
gathered here row by row, and not read from the file's indexes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from dpengine.accountant.costs import Cost
from dpengine.accountant.loss import Loss
from dpengine.core.json_types import JsonObject
from dpengine.ledger import people_rules
from dpengine.ledger.people_rows import (
    KINDS,
    NO,
    OWNER,
    Decision,
    Grant,
    Role,
    Wanted,
    apart_id,
    base_of,
    is_group,
    is_own,
)
from dpengine.ledger.people_rules import HolderPart
from dpengine.ledger.rows import BudgetRecord, LedgerRow, Moved, Repriced, Standing, Sums, sums_of

WRONG = "chain.people"


class PeopleSoFar:
    """A `Book` that grows with the rows."""

    def __init__(self) -> None:
        self._roles: dict[tuple[str, str, str], bool] = {}
        self._owned: dict[str, str] = {}  # by which budget
        self._groups: dict[str, tuple[str, ...]] = {}
        self._grants: dict[tuple[str, str], dict[str, Grant]] = {}
        self._own: dict[tuple[str, str], Standing] = {}
        self._moved: dict[tuple[str, str], tuple[Fraction, str]] = {}  # and the table of the holder's last charge
        self._of_table: dict[tuple[str, str], Standing] = {}
        self._limits: dict[tuple[str, str], Fraction | None] = {}
        self._wishes: dict[str, Wanted] = {}
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

    def wanted(self, wish: str) -> Wanted | None:
        return self._wishes.get(wish)

    def decision(self, wish: str) -> Decision | None:
        return self._decisions.get(wish)

    def approved(self, actor: str, budget: str, table: str) -> list[Wanted]:
        passed = [wish for wish, decision in self._decisions.items() if decision.answer != NO]
        wishes = [self._wishes[wish] for wish in passed if wish not in self._used]
        theirs = [one for one in wishes if (one.actor, one.budget, one.table) == (actor, budget, table)]
        return sorted(theirs, key=lambda one: one.seq)

    def apart(self, budget: str) -> tuple[str, ...] | None:
        return self._apart.get(budget)

    def owners_on(self, budget: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {table: set() for table, paid in self._owned.items() if table and paid == budget}
        for (person, role, table), on in self._roles.items():
            if role == OWNER and on and table in found:
                found[table].add(person)
        return found

    def group_grants(self, budget: str) -> list[Grant]:
        held = (to for (paid, _), to in self._grants.items() if paid == budget)
        return [grant for grants in held for grant in grants.values() if is_group(grant.to)]

    def waiting(self, actor: str, budget: str, table: str) -> int:
        return self._waiting[actor, budget, table]

    # Rows

    def fault(self, row: LedgerRow, budgets: dict[str, BudgetRecord], standings: dict[str, Standing]) -> str | None:
        """Was a row of people written by somebody who might write it?"""
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
        """Had whoever asked a live grant for this question with room for it, and are the sums it carries right?"""
        told = sums_of(body)
        if not self.served():
            return None if told is None else WRONG
        if people_rules.asking_fault(self, record, row["actor"]) is not None:
            return WRONG
        if record.kind == "practice":
            return None if told is None else WRONG
        if told is None:
            return WRONG
        grants = people_rules.grants_for(self, row["actor"], record.id, body["table"], row["at"][:10])
        grant = next((one for one in grants if one.to == told.under), None)
        if grant is None or not grant.allows(body["claim"]["key"]):
            return WRONG
        own, of_table = self.own(record.id, told.under), self.of_table(record.id, body["table"])
        held, meter = self.held(record, told.under), people_rules.meter(self, record.id, body["table"], before)
        if not people_rules.fits(record.rule, grant, held, meter, [paid]):
            return WRONG
        wish = ""
        if people_rules.waits(record.rule, self.limit(base_of(record.id), body["table"]), before, paid):
            approved = people_rules.approval(self, row["actor"], record.id, body["table"], body["claim"])
            if approved is None:
                return WRONG
            wish = approved.id
        takes = people_rules.moves(record.rule, meter, [paid])
        more = _more(own, paid, loss), _more(of_table, paid, loss)
        sums = Sums(told.under, *more, takes, held.moved + takes, wish)
        if told != sums:
            return WRONG
        self._moved[record.id, told.under] = sums.moved, body["table"]
        self._own[record.id, told.under], self._of_table[record.id, body["table"]] = sums.own, sums.table
        self._used |= {wish} - {""}
        return None

    def raised(self, record: BudgetRecord, after: Fraction, standings: dict[str, Standing]) -> None:
        """A cap is raised: every holder's part falls as their table's meter does."""
        for (budget, holder), (moved, table) in self._moved.items():
            if base_of(budget) == record.id:
                meter = people_rules.meter(self, budget, table, standings[budget])
                moved = people_rules.lowered(moved, record.rule, record.rule.epsilon, after, meter)
                self._moved[budget, holder] = moved, table

    def counted_anew(self, budget: str, sums: Repriced, moved: Moved) -> None:
        """More protection was declared: the sums of each holder and each table from then on."""
        self._own |= {(budget, holder): one for holder, one in sums.own.items()}
        self._of_table |= {(budget, table): one for table, one in sums.of_table.items()}
        for holder, parts in moved.items():
            _, table = self._moved[budget, holder]
            self._moved[budget, holder] = sum(parts.values(), Fraction(0)), table

    def protect_fault(self, budget: str, actor: str) -> str | None:
        return people_rules.protect_fault(self, budget, actor) and WRONG

    def step_fault(
        self, row: LedgerRow, record: BudgetRecord, table: str, under: str, keys: Sequence[str]
    ) -> str | None:
        if not self.served():
            return None
        if people_rules.asking_fault(self, record, row["actor"]) is not None:
            return WRONG
        if record.kind == "practice":
            return None
        day = row["at"][:10]
        return people_rules.step_fault(self, row["actor"], record.id, table, under, keys, day) and WRONG

    def budget_fault(self, record: BudgetRecord, actor: str, budgets: dict[str, BudgetRecord]) -> str | None:
        if people_rules.budget_fault(self, record, actor) is not None:
            return WRONG
        shared = budgets.get(base_of(record.id)) if record.kind == "private" else None
        if shared is None or not any(record.id == apart_id(shared.id, one) for one in self.apart(shared.id) or ()):
            return None
        return None if record.rule == shared.rule else WRONG

    def act_fault(self, budget: str, table: str, actor: str) -> str | None:
        return people_rules.act_fault(self, budget, table, actor) and WRONG

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
        wanted = Wanted.from_row(row)
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
        told = (row["budget"], body["table"], body["people"], charged, row["actor"], row["at"][:10])
        code = people_rules.agreement_fault(self, *told)
        self._apart[row["budget"]] = tuple(body["people"])
        return code and WRONG


def _more(standing: Standing, paid: Cost, loss: Loss) -> Standing:
    return Standing(standing.totals.plus(paid), standing.history.plus(loss))
