"""What a face is built on: the workspace it hides, the current rights of its person, and the ledger, jobs and home that
a person's table gets instead of the workspace's own.

The ledger itself decides every charge, from all rows. The views here only limit what a person sees: rows of tables that
they may see, and jobs of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Protocol

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.history import Past
from dpengine.asking.answers import Answer, Job
from dpengine.asking.jobs import Jobs
from dpengine.core.errors import AllowanceError, UnknownBudget, UnknownTable
from dpengine.core.types import JsonObject
from dpengine.declared.schema import Schema
from dpengine.declared.source import Source
from dpengine.declared.unit import Unit
from dpengine.intake.postgres import Described
from dpengine.ledger import people_rules
from dpengine.ledger.chain import Verdict
from dpengine.ledger.ledger import Act, BudgetRecord, Charge, Entry, Ledger, SessionStep
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rules import KINDS, NO_RIGHT, apart_id, base_of
from dpengine.ledger.rows import ACTS, NO_ROW, Standing, TakenOver, together
from dpengine.noise.coins import Coins
from dpengine.people import rights
from dpengine.storage.matches import Match
from dpengine.storage.people_names import KnownPerson
from dpengine.storage.registry import Record
from dpengine.storage.samples import SAMPLES
from dpengine.storage.tokens import TokenBook
from dpengine.table import Table, TableHome

_OF_A_TABLE = (*ACTS, *KINDS)
_BETWEEN_TWO = ("wish", "decided", "grant")  # between a requester or holder and whoever decides
_PAGE = 200


class LedgerView(Ledger):
    """The workspace's ledger as one person may read it. Writing goes through unchanged: the ledger itself checks each
    right."""

    def __init__(self, ledger: Ledger, at: Standpoint) -> None:
        self._store, self.path, self._watch = ledger._store, ledger.path, ledger._watch
        self._person, self._sees, self._governs = at.person, at.sees, at.governs
        self._kindred, self._knows = at.kindred, at.knows

    def close(self) -> None:
        """Does nothing: the workspace owns the file and closes it."""

    def _shows(self) -> Callable[[Charge], bool]:
        """A function that returns True for each charge that this person may see. The function looks each table's rights
        up once, so use it for one call only."""
        sees = cache(self._sees)
        return lambda charge: charge.actor == self._person or sees(charge.budget, charge.table)

    def budget(self, budget_id: str) -> BudgetRecord:
        if not self._knows(budget_id):
            raise UnknownBudget()
        record, kin = super().budget(budget_id), self._kindred(budget_id)
        if kin is None:
            return record
        with self.people() as book:  # its name and date belong to the other owner
            since = min((role.at for role in book.roles() if role.table in kin), default=record.at)
        return replace(record, name=kin[0], at=since)

    def standing(self, budget: str) -> Standing:
        """The sums of a budget. If the budget also pays for tables unknown to this person, only the sums of tables that
        the person knows."""
        kin = self._kindred(budget)
        if kin is None:
            return super().standing(budget)
        with self.people() as book:
            return together(book.of_table(budget, name) for name in kin)

    def before(self, charge: Charge) -> Totals:
        if self._kindred(charge.budget) is None:
            return super().before(charge)
        paid, after = cost(charge.loss, self.budget(charge.budget).rule.alpha), charge.totals_after
        finite = after.epsilon is not None and paid.epsilon is not None
        epsilon = after.epsilon - paid.epsilon if finite else None  # type: ignore[operator]
        return Totals(epsilon, after.renyi - paid.renyi, after.delta - paid.delta)

    def recounted(self, charge: Charge) -> tuple[Totals, Totals] | None:
        """As in the ledger; None if the budget also pays for tables unknown to this person, since its sums would reveal
        them."""
        return super().recounted(charge) if self._kindred(charge.budget) is None else None

    def protection_of(self, budget: str, unit: Unit) -> tuple[Standing, Standing]:
        if self._kindred(budget) is not None:
            raise AllowanceError("protect.shared")
        return super().protection_of(budget, unit)

    def visible_part(self, charge: Charge) -> Charge:
        """The charge. If its budget pays for tables unknown to this person, with the sums of the charge's table in
        place of the budget's."""
        if charge.sums is None or self._kindred(charge.budget) is None:
            return charge
        of_table = charge.sums.table
        return replace(charge, totals_after=of_table.totals, history=of_table.history)

    def _entry(self, entry: Entry) -> Entry:
        return replace(entry, charge=self.visible_part(entry.charge))

    def acts(self, budget: str) -> list[Act]:
        return [act for act in super().acts(budget) if not act.table or self._sees(budget, act.table)]

    def find(self, request: str) -> Entry | None:
        entry = super().find(request)
        return self._entry(entry) if entry is not None and self._shows()(entry.charge) else None

    def charges(
        self,
        budget: str | None = None,
        table: str | None = None,
        limit: int = 100,
        offset: int = 0,
        key: str | None = None,
    ) -> list[Entry]:
        shows = self._shows()

        def read() -> Iterator[Entry]:
            start = 0
            while page := super(LedgerView, self).charges(budget, table, _PAGE, start, key):
                yield from (self._entry(entry) for entry in page if shows(entry.charge))
                start += _PAGE

        return list(islice(read(), offset, None if limit < 0 else offset + limit))

    def walk(self, budget: str) -> Iterator[Entry]:
        shows = self._shows()
        return (self._entry(entry) for entry in super().walk(budget) if shows(entry.charge))

    def spread(self, budget: str, most: int) -> list[Charge]:
        return list(map(self.visible_part, filter(self._shows(), super().spread(budget, most))))

    def steps(self, session: str, newest: int | None = None) -> list[SessionStep]:
        return super().steps(session, newest) if self.find(session) is not None else []

    def progress(self, session: str) -> tuple[int, bool, bool]:
        return super().progress(session) if self.find(session) is not None else (0, False, False)

    def taken_by(self) -> dict[str, str]:
        joined = super().taken_by()
        return {budget: pays for budget, pays in joined.items() if self._knows(budget) and self._knows(pays)}

    def sum_of(self, budget: str | None, taken: Sequence[TakenOver], rule: Rule) -> Standing:
        if not all(self._knows(part.budget) for part in taken) or not (budget is None or self._knows(budget)):
            raise UnknownBudget()
        return super().sum_of(budget, taken, rule)

    def released(self, budget: str, before: int | None = None, but: str = "") -> Past:
        """As in the ledger, but without what was released about tables on the budget that this person does not know
        of."""
        kin = self._kindred(budget)
        if kin is None:
            return super().released(budget, before, but)
        with self._store.reading() as db:
            row = NO_ROW if before is None else before
            return self._released_before(db, budget, row, but, lambda charge: charge.table in kin)

    def other_since(self, budget: str, charged: int, released: int, but: str) -> int | None:
        kin = self._kindred(budget)
        if kin is None:
            return super().other_since(budget, charged, released, but)
        known = {entry.charge.request for entry in super().walk(budget) if entry.charge.table in kin} - {but}
        after = {"charge": charged, "answer": released, "part": released}
        rows = (row for row in super().export_rows(budget) if row["request"] in known and row["kind"] in after)
        return next((int(row["seq"]) for row in rows if row["seq"] > after[row["kind"]]), None)

    def export_rows(self, budget: str | None = None) -> Iterator[JsonObject]:
        """The rows about tables that this person may see, and the rows that belong to these. Only a table's owner and
        an auditor get other people's wishes and grants, which hold reasons."""
        shows, sees, governs = self._shows(), cache(self._sees), cache(self._governs)
        hidden: set[str] = set()
        requested: set[str] = set()  # by the person themselves
        with self.people() as book:
            mine = {self._person, *book.groups_of(self._person)}
        for row in super().export_rows(budget):
            if row["kind"] == "charge":
                visible = shows(Charge.from_row(row))
            elif row["kind"] == "budget":  # a budget that another owner opened stays hidden, and who opened it
                visible = self._knows(row["budget"]) and self._kindred(row["budget"]) is None
            else:
                body = json.loads(row["body"]) if row["kind"] in _OF_A_TABLE else {}
                table = body.get("table", "")
                visible = row["request"] not in hidden and (not table or sees(row["budget"], table))
                if visible and row["kind"] in _BETWEEN_TWO and not governs(table):
                    visible = row["actor"] == self._person or body.get("to") in mine or row["request"] in requested
                if visible and row["kind"] == "wish" and row["actor"] == self._person:
                    requested.add(row["request"])
            if visible:
                yield row
            elif row["request"]:
                hidden.add(row["request"])


class House(TableHome, Protocol):
    """The methods of the workspace that a face uses."""

    folder: Path
    samples_only: bool
    token_book: TokenBook

    def record(self, name: str) -> Record: ...
    def practice_budget(self, record: Record, actor: str) -> BudgetRecord: ...
    def tables(self) -> list[Record]: ...
    def here(self, name: str) -> bool: ...
    def closed(self) -> dict[str, str]: ...
    def seal(self, name: str, actor: str) -> Act: ...
    def forget(self, name: str, actor: str) -> Act: ...
    def raise_cap(self, name: str, epsilon: object, actor: str) -> Act: ...
    def verify_ledger(self) -> Verdict: ...
    def people(self) -> list[KnownPerson]: ...
    def forget_person(self, person: str) -> None: ...
    def matches(self) -> list[Match]: ...
    def describe_source(self, source: Source) -> Described: ...
    def has_source(self, name: str) -> bool: ...
    @property
    def reads_databases(self) -> bool: ...
    @property
    def reads_lakes(self) -> bool: ...
    @property
    def add_table(self) -> Callable[..., Table]: ...
    @property
    def bring_newer(self) -> Callable[..., Table]: ...
    @property
    def one_row_a_person(self) -> Callable[..., Table]: ...


class Standpoint:
    """One person's rights in a workspace. Every check reads the ledger as it is at that moment."""

    def __init__(self, house: House, person: str) -> None:
        self.house, self.person = house, person
        self.ledger = LedgerView(house.ledger, self)
        self.jobs = house.jobs.of(person)

    def relations(self, name: str | None = None, budget: str | None = None) -> frozenset[str]:
        """The person's roles, for one table or at all; empty if the person may do nothing. The roles follow from the
        ledger and the day alone, so they are cached for the day, until somebody writes to the ledger."""
        moment = ("relations", self.person, repr(name), today())
        return self.house.ledger.cached_people(moment, lambda book: self._relations(book, name, budget))

    def _relations(self, book: PeopleBook, name: str | None, budget: str | None) -> frozenset[str]:
        if not book.served() or not people_rules.active(book, self.person):
            return frozenset()
        if name in SAMPLES:
            return frozenset({rights.ANYONE, rights.ANALYST})
        roles = {
            rights.ANYONE,
            *(role for role in (rights.ADMINISTRATOR, rights.AUDITOR) if book.has(self.person, role)),
        }
        if name is None:
            holders = [self.person, *book.groups_of(self.person)]
            owner = people_rules.may_add_tables(book, self.person)
            granted = any(grant.live(today()) for holder in holders for grant in book.grants_to(holder))
        elif (paid := budget or dict(self.house.names()).get(name)) is None:
            owner = granted = False
        else:
            owner = people_rules.owns(book, self.person, name)
            granted = bool(people_rules.grants_for(book, self.person, paid, name, today()))
        return frozenset(roles | ({rights.OWNER} if owner else set()) | ({rights.ANALYST} if granted else set()))

    def may(self, allowed: frozenset[str], name: str | None = None) -> bool:
        return bool(allowed & self.relations(name))

    def refuse(self, allowed: frozenset[str], name: str | None = None) -> None:
        """Refuse unless the person has one of the allowed roles. A table that the person may not see is refused like
        one that does not exist."""
        roles = self.relations(name)
        if not roles:
            raise AllowanceError(NO_RIGHT)
        if name is not None and name not in SAMPLES and not self._visible(roles):
            if rights.ADMINISTRATOR in allowed and rights.ADMINISTRATOR in roles:
                self.house.record(name)  # an administrator knows which tables there are
                return
            raise UnknownTable(name)
        if not allowed & roles:
            raise AllowanceError(NO_RIGHT)

    def _visible(self, roles: frozenset[str]) -> bool:
        return bool(roles & {rights.OWNER, rights.ANALYST, rights.AUDITOR})

    def visible(self, name: str, budget: str | None = None) -> bool:
        return name in SAMPLES or self._visible(self.relations(name, budget))

    def sees(self, budget: str, table: str) -> bool:
        """May the person see the questions to this table that this budget paid for?"""
        if table in SAMPLES:
            return budget.endswith(f":{self.person}") or rights.AUDITOR in self.relations()
        roles = self.relations(table)
        if rights.AUDITOR in roles or base_of(budget) == budget:
            return self._visible(roles)
        return self._visible(roles) and budget == apart_id(base_of(budget), self.person)

    def governs(self, table: str) -> bool:
        """Does the person own this table, or audit it?"""
        return bool(self.relations(table) & {rights.OWNER, rights.AUDITOR})

    def kindred(self, budget: str) -> list[str] | None:
        """The tables on a budget that the person may know of: tables that share an owner know of each other. None if
        these are all tables on the budget, or if the person may see none of them."""
        key = ("kindred", self.person, budget, today())
        return self.house.ledger.cached_people(key, lambda book: (self._kindred(book, budget),))[0]

    def _kindred(self, book: PeopleBook, budget: str) -> list[str] | None:
        on_it = [name for name, paid in self.house.names() if paid == base_of(budget)]
        owners = {name: set(book.owners_of(name)) for name in on_it} if len(on_it) > 1 else {}
        seen = [name for name in on_it if self.visible(name, base_of(budget))]
        theirs = set().union(*(owners[name] for name in seen)) if owners else set()
        kin = [name for name in on_it if name in seen or (owners and owners[name] & theirs)]
        return None if not seen or len(kin) == len(on_it) else kin

    def knows(self, budget: str) -> bool:
        """May the person know a budget's terms? True for their own practice budget, and if they may see a table on the
        budget."""
        if base_of(budget) != budget and not budget.endswith(f":{self.person}"):
            return rights.AUDITOR in self.relations()
        return self.house.ledger.cached_people(
            ("knows", self.person, budget, today()), lambda book: self._knows(budget)
        )

    def _knows(self, budget: str) -> bool:
        if budget.endswith(f":{self.person}"):
            return bool(self.relations())
        return any(self.visible(name, paid) for name, paid in self.house.names() if paid == budget)

    def budget_of(self, record: Record) -> BudgetRecord:
        """The budget that pays when this person asks this table."""
        if record.practice:
            return self.house.practice_budget(record, self.person)
        with self.house.ledger.people() as book:
            apart = book.apart(record.budget) or ()
        own = apart_id(record.budget, self.person) if self.person in apart else record.budget
        return self.house.ledger.budget(own)


def today() -> str:
    """Today's date in UTC, as the ledger writes it. Grants end by this date."""
    return datetime.now(UTC).date().isoformat()


class PersonHome:
    """The workspace as a person's tables use it: with the person's own view of the ledger and jobs."""

    def __init__(self, standpoint: Standpoint) -> None:
        self._at, self._house = standpoint, standpoint.house
        self.ledger: Ledger = standpoint.ledger
        self.jobs: Jobs = standpoint.jobs
        house = standpoint.house  # what follows needs no right
        self.schema_of, self.current, self.read = house.schema_of, house.current, house.read
        self.refuse_unit, self.refuse_damaged = house.refuse_unit, house.refuse_damaged
        self.refuse_need, self.open_budget = house.refuse_need, house.open_budget

    @property
    def coins(self) -> Coins:
        return self._house.coins

    def revise(self, name: str, schema: Schema, actor: str) -> Record:
        return self._house.revise(name, schema, self._at.person)

    def protect(self, name: str, unit: Unit, actor: str, people: int | None = None) -> Record:
        return self._house.protect(name, unit, self._at.person, people)

    def correct_people(self, name: str, people: int, actor: str) -> Record:
        return self._house.correct_people(name, people, self._at.person)

    def declare_sample(self, name: str, sample: bool, actor: str) -> Record:
        return self._house.declare_sample(name, sample, self._at.person)

    def published_file(self, request_id: str) -> Path:
        if self._at.ledger.find(request_id) is None:
            raise AllowanceError("request.unknown")
        return self._house.published_file(request_id)

    def keep_draft(self, name: str, actor: str, draft: JsonObject | None) -> None:
        self._house.keep_draft(name, self._at.person, draft)

    def draft_of(self, name: str, actor: str) -> JsonObject | None:
        return self._house.draft_of(name, self._at.person)

    def names(self) -> list[tuple[str, str]]:
        return [(name, budget) for name, budget in self._house.names() if self._at.visible(name, budget)]

    def job(self, request_id: str, actor: str = "") -> Job:
        return self._house.job(request_id, self._at.person)

    def answer_of(self, entry: Entry) -> Answer | None:
        return self._house.answer_of(entry) if self._at.ledger.find(entry.charge.request) is not None else None
