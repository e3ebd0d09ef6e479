"""What people do for one another through a face: roles, groups, grants, requests, and what an auditor reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.asking.answers import Meter, claim_of, make_meter
from dpengine.asking.exports import Deed, deed_of
from dpengine.asking.release import new_request
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number
from dpengine.core.types import Json
from dpengine.ledger import people_rules
from dpengine.ledger.exports import export_lines
from dpengine.ledger.ledger import BudgetRecord
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rules import ALL_QUESTIONS, BARRED, Decision, Grant, Role, Wanted, apart_id
from dpengine.mechanisms.query import AnyQuery
from dpengine.people import limiter, rights
from dpengine.people.home import Standpoint
from dpengine.people.person_table import if_all_talk, own_meter, payer_of
from dpengine.storage.matches import Match
from dpengine.storage.people_names import KnownPerson
from dpengine.storage.registry import Record


@dataclass(frozen=True)
class HeldGrant:
    """A grant, and the part its holder used: how far they moved the table's meter."""

    grant: Grant
    used: Fraction


@dataclass(frozen=True)
class AskedFor:
    """A request for more, and the decision on it."""

    wanted: Wanted
    decision: Decision | None


@dataclass(frozen=True)
class BudgetAccount:
    """A budget as an auditor reads it."""

    budget: BudgetRecord
    tables: tuple[str, ...]
    meter: Meter


class PeopleFace:
    __slots__ = ("_at", "person")

    _at: Standpoint
    person: str

    def _check(self, verb: str, table: str | None = None) -> None:
        self._at.refuse(rights.WORKSPACE[verb], table)
        limiter.here.verb(self.person, verb)

    def _own_record(self, verb: str, table: str) -> Record:
        self._check(verb, table)
        record = self._at.house.record(table)
        if record.practice:
            raise AllowanceError("act.practice")
        return record

    # Names, roles and groups

    def people(self) -> list[KnownPerson]:
        """Everybody who ever signed in or was named."""
        self._check("people")
        return self._at.house.people()

    def myself(self) -> KnownPerson:
        """Their own name and address, as far as they are known."""
        self._check("myself")
        people = self._at.house.people()
        return next((known for known in people if known.id == self.person), KnownPerson(self.person, "", "", ""))

    def called(self, person: str) -> str:
        """A colleague's name, address, or the beginning of their id."""
        self._check("called")
        known = next((someone for someone in self._at.house.people() if someone.id == person), None)
        return person[:10] if known is None else known.shown

    def roles(self, person: str | None = None) -> list[Role]:
        """The current roles of everybody, or one person; of owners' tables, those that the person may know of."""
        self._check("roles")
        with self._at.house.ledger.people() as book:
            named = book.roles() if person is None else book.roles_of(person)
        knows = self._at.may(frozenset({rights.ADMINISTRATOR, rights.AUDITOR}))
        return [role for role in named if knows or not role.table or self._at.visible(role.table)]

    def name_role(self, person: str, role: str, on: bool = True, table: str = "") -> None:
        """Make a person an administrator, an auditor or an owner, or bar them; with `on` false, no longer."""
        self._check("name_role")
        budget = self._at.house.record(table).budget if table else ""
        self._at.house.ledger.name_role(person, role, self.person, table, on, budget)
        if role == BARRED:  # and none of their tokens opens anything when they come back
            self._at.house.token_book.revoke_all(person)

    def hand_over(self, table: str, person: str) -> None:
        """Make a person owner of a table, with a grant of its whole allowance if they have none."""
        record = self._own_record("hand_over", table)
        self._at.house.ledger.hand_over(record.budget, table, person, self.person)

    def forget_person(self, person: str) -> None:
        """Empty a person's name and address; what they did stays."""
        self._check("forget_person")
        self._at.house.forget_person(person)

    def groups(self) -> dict[str, tuple[str, ...]]:
        self._check("groups")
        with self._at.house.ledger.people() as book:
            return book.groups()

    def name_group(self, group: str, people: Sequence[str]) -> None:
        """Set the members of a group; its name begins with `g-`."""
        self._check("name_group")
        self._at.house.ledger.name_group(group, people, self.person)

    def matches(self) -> list[Match]:
        """The tables with the same content as another owner's: only an administrator learns of them."""
        self._check("matches")
        return self._at.house.matches()

    # Grants

    def meter(self, table: str) -> tuple[Meter, Meter]:
        """Two meters: the used part of their own share, and of the table's allowance. If people keep apart on a table,
        the second is the sum if all of them talk."""
        self._check("meter", table)
        record, ledger = self._at.house.record(table), self._at.ledger
        budget = self._at.budget_of(record)
        if record.practice:
            whole = make_meter(budget, ledger.standing(budget.id))
            return whole, whole
        mine = own_meter(budget, payer_of(ledger, budget, table, self.person))
        with self._at.house.ledger.people() as book:
            apart = book.apart(record.budget)
        if apart is None:
            return mine, make_meter(budget, ledger.standing(budget.id))
        budgets = [record.budget, *(apart_id(record.budget, person) for person in apart)]
        return mine, if_all_talk(ledger, self._at.house.ledger.budget(record.budget), budgets)

    def grant(
        self, table: str, to: str, share: Json, questions: Sequence[str] = ALL_QUESTIONS, until: str = ""
    ) -> Grant:
        """Let a person or a group use a share of the allowance, for some questions (patterns of their keys; a leading !
        forbids), until a day. A share of 0 takes back what was not used; the limits on questions and days stay on
        record, so that an older request, approved later, does not lift them."""
        record = self._own_record("grant", table)
        given = read_number(share, "share")
        if not given:
            with self._at.house.ledger.people() as book:
                before = book.grant(record.budget, table, to)
            questions, until = (questions, until) if before is None else (before.questions, before.until)
        return self._at.house.ledger.grant(record.budget, table, to, given, self.person, questions, until)

    def grants(self, table: str) -> list[HeldGrant]:
        """Who may use which part of a table's allowance, and what they used."""
        record = self._own_record("grants", table)
        with self._at.house.ledger.people() as book:
            shown = self._at.relations(table) & {rights.OWNER, rights.AUDITOR}
            mine = [self.person, *book.groups_of(self.person)]
            grants = [grant for grant in book.grants_on(record.budget, table) if shown or grant.to in mine]
            return [HeldGrant(grant, self._used(book, record, grant)) for grant in grants]

    def _used(self, book: PeopleBook, record: Record, grant: Grant) -> Fraction:
        apart = book.apart(record.budget) or ()
        budget = apart_id(record.budget, grant.to) if grant.to in apart else record.budget
        paid, kin = self._at.house.ledger.budget(budget), self._at.kindred(budget)
        if kin is None:
            return book.held(paid, grant.to).moved
        since, anew = book.moved_anew(budget, grant.to)  # questions to somebody else's table stay hidden
        parts = {name: part for name, part in anew.items() if name in kin}
        used = sum((book.lowered(part, paid, name, since) for name, part in parts.items()), Fraction(0))
        for entry in self._at.house.ledger.walk(budget):
            charge = entry.charge
            sums = charge.sums if charge.seq >= since and charge.table in kin else None
            if sums is not None and sums.under == grant.to:
                used += book.lowered(sums.takes, paid, charge.table, charge.seq)
        return used

    def set_limit(self, table: str, share: Json | None) -> None:
        """A question that takes more than this share of the allowance waits for a decision; None: no question waits."""
        record = self._own_record("set_limit", table)
        most = None if share is None else read_number(share, "share")
        self._at.house.ledger.set_limit(record.budget, table, most, self.person)

    def limit(self, table: str) -> Fraction | None:
        record = self._own_record("limit", table)
        with self._at.house.ledger.people() as book:
            return book.limit(record.budget, table)

    def keep_apart(self, table: str, people: Sequence[str]) -> None:
        """By agreement these people keep their answers to themselves: each has a budget of their own, on the same
        terms. Only before the first question. An administrator writes it down: an owner would learn from a refusal that
        somebody else has the same content."""
        record = self._own_record("keep_apart", table)
        self._at.house.ledger.keep_apart(record.budget, table, people, self.person)

    def agreements(self) -> dict[str, tuple[str, ...]]:
        """By table, the people who keep their answers apart."""
        self._check("agreements")
        with self._at.house.ledger.people() as book:
            return {name: apart for name, budget in self._at.house.names() if (apart := book.apart(budget)) is not None}

    # Requests for more

    def wish(
        self,
        table: str,
        reason: str,
        share: Json | None = None,
        query: AnyQuery | None = None,
        wish_id: str | None = None,
    ) -> Wanted:
        """Ask for a total share of the allowance, or for one question above the limit, with a reason."""
        record = self._own_record("wish", table)
        wanted = None if share is None else read_number(share, "share")
        claim = takes = None
        if query is not None:
            if query.facts.table != table:
                raise AllowanceError("query.other_table")
            budget = self._at.budget_of(record)
            totals = self._at.ledger.standing(budget.id).totals
            claim = claim_of(query)
            takes = filter.share(budget.rule, totals, cost(query.loss(), budget.rule.alpha))
        name = wish_id or f"w-{new_request()}"
        return self._at.house.ledger.wish(name, record.budget, table, reason, self.person, wanted, claim, takes)

    def wishes(self, table: str | None = None) -> list[AskedFor]:
        """The person's own requests, also about a table that they may no longer see, and those they may decide about;
        an owner sees all requests about the table, an auditor all."""
        self._check("wishes")
        with self._at.house.ledger.people() as book:
            visible = [
                wanted for wanted in book.all_wishes() if table in (None, wanted.table) and self._sees(book, wanted)
            ]
            return [AskedFor(wanted, book.decision(wanted.id)) for wanted in visible]

    def pending(self) -> list[Wanted]:
        """The requests that wait for this person's decision: a badge counts them."""
        self._check("pending")
        with self._at.house.ledger.people() as book:
            waiting = [wanted for wanted in book.all_wishes() if people_rules.may_decide(book, wanted, self.person)]
            return [wanted for wanted in waiting if book.decision(wanted.id) is None]

    def decide(self, wish: str, answer: str, share: Json | None = None) -> Decision:
        """Approve (`yes`), decline (`no`) or change (`changed`, with another share) a request; never one's own."""
        self._check("decide")
        with self._at.house.ledger.people() as book:
            wanted = book.wanted(wish)
            if wanted is None or not self._sees(book, wanted):
                raise AllowanceError("people.wish_unknown")
        given = None if share is None else read_number(share, "share")
        return self._at.house.ledger.decide(wish, answer, self.person, given)

    def _sees(self, book: PeopleBook, wanted: Wanted) -> bool:
        if wanted.actor == self.person or people_rules.may_decide(book, wanted, self.person):
            return True
        return bool(self._at.relations(wanted.table) & {rights.OWNER, rights.AUDITOR})

    # What an auditor reads

    def accounts(self) -> list[BudgetAccount]:
        """Every private budget with the tables that spend it."""
        self._check("accounts")
        house, accounts = self._at.house, []
        with house.ledger.people() as book:
            apart = {budget: book.apart(budget) or () for _, budget in house.names()}
        for base, people in apart.items():
            tables = tuple(name for name, budget in house.names() if budget == base)
            for budget in (base, *(apart_id(base, person) for person in people)):
                record = house.ledger.budget(budget)
                accounts.append(BudgetAccount(record, tables, make_meter(record, house.ledger.standing(budget))))
        return accounts

    def acts_of(self, person: str | None = None, most: int = 100, before: int | None = None) -> list[Deed]:
        """The acts of everybody, or one person, newest first: every question, grant, request, decision and act."""
        self._check("acts_of")
        return [deed_of(row) for row in self._at.house.ledger.deeds(person, most, before)]

    def export(self) -> Iterator[str]:
        """The whole ledger as lines of JSON, to be checked elsewhere."""
        self._check("export")
        return export_lines(self._at.house.ledger)
