"""What is written of people: roles, groups, grants, wishes and decisions, limits and agreements. Each is decided by
`people_rules` inside the transaction that writes its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TypeVar

from dpengine.accountant.costs import Cost
from dpengine.accountant.filter import Totals
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import down, up
from dpengine.core.json_types import JsonObject
from dpengine.ledger import owner_rows, people_rows, people_rules
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rows import (
    ALL_QUESTIONS,
    CHANGED,
    NO,
    YES,
    Decision,
    Grant,
    Role,
    Wanted,
    apart_id,
    base_of,
)
from dpengine.ledger.people_rules import HolderPart
from dpengine.ledger.reader import LedgerReader
from dpengine.ledger.rows import BudgetRecord, Charge, Reservation, Standing, Sums, read_request
from dpengine.ledger.sqlite_file import sound_rows
from dpengine.ledger.store import Database

LONGEST_REASON = 500
_DEEDS = "kind NOT IN ('answer', 'failed', 'part', 'lost')"
T = TypeVar("T")
_SHOWN = 100


@dataclass(frozen=True)
class Payer:
    """The grant that pays, what its holder took before, and the sums behind the table's meter."""

    grant: Grant
    own: Standing
    held: HolderPart
    meter: Totals


class PeopleLedger(LedgerReader):
    @contextmanager
    def people(self) -> Iterator[PeopleBook]:
        """What the rows say of people at this moment."""
        with self._file.reading() as db:
            yield PeopleBook(db)

    def as_rows_say(self, key: tuple[str, ...], read: Callable[[PeopleBook], T]) -> T:
        """The same for what a page asks many times: read once, and again after somebody wrote."""
        return self._file.kept(("people", *key), lambda db: read(PeopleBook(db)))

    @property
    def served(self) -> bool:
        """Do people sign in? Since the first row that names an administrator, for good."""
        return self.as_rows_say(("served",), lambda book: book.served())

    def deeds(self, person: str | None, most: int, before: int | None) -> list[JsonObject]:
        """Rows that somebody wrote by their own doing, newest first, those before a row number: no answers, no steps'
        outcomes."""
        theirs, values = ("actor = ? AND ", [person]) if person is not None else ("", [])
        sql = f"SELECT * FROM entries WHERE {theirs}{_DEEDS} AND seq < ? ORDER BY seq DESC LIMIT ?"
        with self._file.reading() as db:
            return sound_rows(db, sql, [*values, 2**62 if before is None else before, most])

    def refuse_other(self, budget: str, table: str, actor: str) -> None:
        """Refuses who may not do what only an owner does to a table."""
        with self._file.reading() as db:
            self._refuse_act(db, budget, table, actor)

    def refuse_protecting(self, budget: str, table: str, actor: str) -> None:
        """Refuses who may not declare more protection."""
        with self._file.reading() as db:
            self._refuse_protecting(db, budget, table, actor)

    def refuse_bringing(self, actor: str) -> None:
        """Refuses who may not bring a table."""
        with self.people() as book:
            if book.served() and not people_rules.brings(book, actor):
                raise AllowanceError(people_rules.NO_RIGHT)

    def name_role(self, person: str, role: str, actor: str, table: str = "", on: bool = True, budget: str = "") -> None:
        """Give a role to a person, or take it back. Does nothing where it is so already."""
        with self._file.writing() as db:
            self._role(db, person, role, table, on, actor, budget)

    def hand_over(self, budget: str, table: str, person: str, actor: str) -> None:
        """A person becomes owner of a table and may use all of its allowance: who brought it, or was handed it."""
        with self._file.writing() as db:
            self._role(db, person, people_rows.OWNER, table, True, actor, budget)
            if PeopleBook(db).grant(budget, table, person) is None:
                self._grant(db, budget, table, person, Fraction(1), ALL_QUESTIONS, "", actor)

    def name_group(self, group: str, people: Sequence[str], actor: str) -> None:
        with self._file.writing() as db:
            _refuse(people_rules.group_fault(PeopleBook(db), group, people, actor))
            self._append(db, "group", "", "", actor, people_rows.group_body(group, people), "", now())

    def grant(
        self,
        budget: str,
        table: str,
        to: str,
        share: Fraction,
        actor: str,
        questions: Sequence[str] = ALL_QUESTIONS,
        until: str = "",
    ) -> Grant:
        """Let a person or a group use a share of a table's allowance. A share of 0 takes back what was not used."""
        with self._file.writing() as db:
            return self._grant(db, budget, table, to, share, questions, until, actor)

    def wish(
        self,
        wish: str,
        budget: str,
        table: str,
        reason: str,
        actor: str,
        share: Fraction | None = None,
        claim: JsonObject | None = None,
        takes: Fraction | None = None,
    ) -> Wanted:
        """Ask for a larger share, or for one question above the limit: what is asked and its price, never an answer."""
        read_request(wish)
        reason = " ".join("".join(sign if sign.isprintable() else " " for sign in reason).split())[:LONGEST_REASON]
        with self._file.writing() as db:
            book, at = PeopleBook(db), now()
            if book.wanted(wish) is not None:
                raise AllowanceError("request.reused")
            wanted = Wanted(wish, 0, at, actor, budget, table, reason, share, claim, takes)
            _refuse(people_rules.wish_fault(book, wanted, at[:10]))
            body = people_rows.wish_body(table, reason, share, claim, takes)
            return Wanted.from_row(self._append(db, "wish", budget, wish, actor, body, "", at))

    def decide(self, wish: str, answer: str, actor: str, share: Fraction | None = None) -> Decision:
        """Approve, decline or change a wish; never one's own. What is approved is granted in the same transaction."""
        with self._file.writing() as db:
            book, at = PeopleBook(db), now()
            wanted = book.wanted(wish)
            given = wanted.share if wanted is not None and answer == YES else share if answer == CHANGED else None
            _refuse(people_rules.decided_fault(book, wanted, answer, given, actor))
            assert wanted is not None
            body = people_rows.decided_body(wanted.table, answer, given)
            row = self._append(db, "decided", wanted.budget, wish, actor, body, "", at)
            if given is not None and answer != NO:
                kept, questions, until = _approved(book, wanted, given, answer, at[:10])
                if kept or book.grant(wanted.budget, wanted.table, wanted.actor) is not None:
                    self._grant(db, wanted.budget, wanted.table, wanted.actor, kept, questions, until, actor)
            return Decision.from_row(row)

    def set_limit(self, budget: str, table: str, share: Fraction | None, actor: str) -> None:
        """From now on a question that takes more than this share waits for a decision; None: none does."""
        with self._file.writing() as db:
            _refuse(people_rules.limit_fault(PeopleBook(db), budget, table, share, actor))
            self._append(db, "limit", budget, "", actor, people_rows.limit_body(table, share), "", now())

    def keep_apart(self, budget: str, table: str, people: Sequence[str], actor: str) -> list[BudgetRecord]:
        """From now on each of these people has a budget of their own, on the same terms, and nobody uses the shared
        one."""
        with self._file.writing() as db:
            book, at = PeopleBook(db), now()
            shared = self._known_budget(db, budget)
            charged = self._standing(db, budget).charges > 0
            owner_rows.refuse_closed(db, budget, table)
            _refuse(people_rules.agreement_fault(book, budget, table, people, charged, actor, at[:10]))
            self._append(db, "agreement", budget, "", actor, people_rows.agreement_body(table, people), "", at)
            opened = []
            for person in sorted(set(people)):
                record = replace(shared, id=apart_id(budget, person), at=at)
                if self._budget(db, record.id) is None:
                    self._append(db, "budget", record.id, "", actor, record.body(), "", at)
                    opened.append(record)
            return opened

    # For what ledger.py writes

    def _payer(
        self, db: Database, record: BudgetRecord, wanted: Sequence[Reservation], costs: Sequence[Cost], day: str
    ) -> Payer | None:
        """The grant that pays for all of these questions; None where nobody signs in, and for practice budgets."""
        book, actor = PeopleBook(db), wanted[0]["actor"]
        if not book.served():
            return None
        if any(question["actor"] != actor for question in wanted):
            raise AllowanceError(people_rules.NO_RIGHT)
        fault = people_rules.asking_fault(book, record, actor)
        if fault == "people.kept_apart" and not book.agreed_with(record.id, wanted[0]["table"]):
            raise BudgetExceeded("people.shared_exceeded")  # an agreement that somebody else's people made is not told
        _refuse(fault)
        if record.kind == "practice":
            return None
        found = [grants_for_all(book, record, wanted, day, key) for key in (True, False)]
        if not found[1]:
            raise AllowanceError("people.no_grant")
        if not found[0]:
            raise AllowanceError("people.question_not_granted")
        payers = payers_of(book, record, wanted[0]["table"], found[0])
        fitting = (one for one in payers if people_rules.fits(record.rule, one.grant, one.held, one.meter, costs))
        payer = next(fitting, None)
        if payer is None:
            raise grant_exceeded(record, max(payers, key=lambda one: people_rules.room(one.grant, one.held)), costs)
        return payer

    def _sums(
        self,
        db: Database,
        record: BudgetRecord,
        payer: Payer | None,
        question: Reservation,
        paid: Cost,
        before: Standing,
    ) -> Sums | None:
        """The holder's and the table's sums with this question, and the approved wish that it uses up."""
        if payer is None:
            return None
        book, table, wish = PeopleBook(db), question["table"], ""
        if people_rules.waits(record.rule, book.limit(base_of(record.id), table), before, paid):
            approved = people_rules.approval(book, question["actor"], record.id, table, question["claim"])
            if approved is None:
                raise AllowanceError("people.waits")
            wish = approved.id
        own, of_table = book.own(record.id, payer.grant.to), book.of_table(record.id, table)
        held, meter = book.held(record, payer.grant.to), book.meter(record.id, table)
        if not people_rules.fits(record.rule, payer.grant, held, meter, [paid]):  # a plan over tables of two meters
            raise grant_exceeded(record, Payer(payer.grant, own, held, meter), [paid])
        takes = people_rules.moves(record.rule, meter, [paid])
        more = _more(own, question, paid), _more(of_table, question, paid)
        return Sums(payer.grant.to, *more, takes, held.moved + takes, wish)

    def _refuse_step(self, db: Database, charge: Charge, claim: JsonObject) -> None:
        book, record = PeopleBook(db), self._known_budget(db, charge.budget)
        if not book.served():
            return
        _refuse(people_rules.asking_fault(book, record, charge.actor))
        if record.kind == "practice":
            return
        under, keys = "" if charge.sums is None else charge.sums.under, people_rules.step_keys(charge.claim, claim)
        _refuse(people_rules.step_fault(book, charge.actor, charge.budget, charge.table, under, keys, now()[:10]))

    def _refuse_act(self, db: Database, budget: str, table: str, actor: str) -> None:
        _refuse(people_rules.act_fault(PeopleBook(db), budget, table, actor))

    def _refuse_protecting(self, db: Database, budget: str, table: str, actor: str) -> None:
        """It is an owner's act, on a budget that pays for no table of somebody else's: it would change that one too.
        Where people keep apart, each has a budget of their own, with charges of their own."""
        self._refuse_act(db, budget, table, actor)
        _refuse(people_rules.protect_fault(PeopleBook(db), budget, actor))

    def _role(self, db: Database, person: str, role: str, table: str, on: bool, actor: str, budget: str) -> Role | None:
        book = PeopleBook(db)
        if on and book.has(person, role, table):
            return None
        if table and not people_rows.is_own(self._known_budget(db, budget)):
            raise AllowanceError("act.practice")
        _refuse(people_rules.role_fault(book, person, role, table, on, actor, budget))
        if book.has(person, role, table) == on:
            return None
        body = people_rows.role_body(person, role, table, on)
        return Role.from_row(self._append(db, "role", budget, "", actor, body, "", now()))

    def _grant(
        self,
        db: Database,
        budget: str,
        table: str,
        to: str,
        share: Fraction,
        questions: Sequence[str],
        until: str,
        actor: str,
    ) -> Grant:
        if not people_rows.is_own(self._known_budget(db, budget)):
            raise AllowanceError("act.practice")
        wanted = Grant(0, "", actor, budget, table, to, Fraction(share), tuple(questions), until)
        _refuse(people_rules.grant_fault(PeopleBook(db), wanted))
        body = people_rows.grant_body(table, to, wanted.share, wanted.questions, until)
        return Grant.from_row(self._append(db, "grant", budget, "", actor, body, "", now()))

    def _append(
        self, db: Database, kind: str, budget: str, request: str, actor: str, body: str, totals: str, at: str
    ) -> JsonObject:
        raise NotImplementedError


def _approved(
    book: PeopleBook, wanted: Wanted, given: Fraction, answer: str, day: str
) -> tuple[Fraction, tuple[str, ...], str]:
    """The share, questions and last day of the grant that an approved wish becomes. A wish is for a share in all, so
    what the person's groups were given counts towards it. The limits on questions and days stay: those of the person's
    own last grant, also of one that was taken back, else of the narrowest by which they may ask."""
    live = people_rules.grants_for(book, wanted.actor, wanted.budget, wanted.table, day)
    groups = [grant for grant in live if grant.to != wanted.actor]
    share = max(given - sum((grant.share for grant in groups), Fraction(0)), Fraction(0))
    if answer == YES:  # by which nobody has less than before
        share = max([share, *(grant.share for grant in live if grant.to == wanted.actor)])
    last = book.last_given(wanted.budget, wanted.table, wanted.actor)
    if groups and (last is None or (last.until and last.until < day)):
        last = min(groups, key=lambda grant: (grant.questions == ALL_QUESTIONS, grant.until or "~", grant.share))
    return (share, ALL_QUESTIONS, "") if last is None else (share, last.questions, last.until)


def grants_for_all(
    book: PeopleBook, record: BudgetRecord, wanted: Sequence[Reservation], day: str, only_allowed: bool
) -> list[Grant]:
    """The live grants that cover every one of these questions."""
    found: list[Grant] | None = None
    for question in wanted:
        grants = people_rules.grants_for(book, question["actor"], record.id, question["table"], day)
        if only_allowed:
            grants = [grant for grant in grants if grant.allows(str(question["claim"].get("key", "")))]
        holders = {grant.to: grant for grant in grants}
        if found is None:
            found = grants
        else:  # of two tables the smaller share counts
            both = [(one, holders[one.to]) for one in found if one.to in holders]
            found = [min(pair, key=lambda grant: grant.share) for pair in both]
    return found or []


def payers_of(book: PeopleBook, record: BudgetRecord, table: str, grants: Sequence[Grant]) -> list[Payer]:
    meter = book.meter(record.id, table)
    return [Payer(one, book.own(record.id, one.to), book.held(record, one.to), meter) for one in grants]


def grant_exceeded(record: BudgetRecord, payer: Payer, costs: Sequence[Cost]) -> BudgetExceeded:
    """What the questions take of the person's share, and what is left of it: as their meter says. Where it is their
    part of δ that does not suffice, that."""
    moves, room = people_rules.moves(record.rule, payer.meter, costs), people_rules.room(payer.grant, payer.held)
    if moves <= room:
        wanted = sum((paid.delta for paid in costs), Fraction(0))
        left_delta = people_rules.delta_room(record.rule, payer.grant, payer.held)
        return BudgetExceeded("people.exceeded_delta", price=wanted, left=left_delta)
    takes, left = moves / payer.grant.share, room / payer.grant.share
    return BudgetExceeded("people.exceeded", price=up(takes * 100, _SHOWN), left=down(left * 100, _SHOWN))


def _more(standing: Standing, question: Reservation, paid: Cost) -> Standing:
    return Standing(standing.totals.plus(paid), standing.history.plus(question["loss"]))


def _refuse(code: str | None) -> None:
    if code is not None:
        raise AllowanceError(code)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
