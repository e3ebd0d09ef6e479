"""The ledger: every charge and every answer, append-only, chained, and the only place where a budget is spent.

A question is charged *before* its statistic is read. `reserve` looks the request up, applies the budget's rule and
writes the charge in one transaction under the write lock; the row is durable before `reserve` returns. Nothing is ever
refunded. The last charge of a budget carries its sums, so a decision costs the same after a hundred thousand rows as
after ten.

**More protection.** A loss is stated for a change of one row, or of all rows under one id. When the owner declares that
rows belong to people (`protect`), or that another budget is about the same people (`take_over`), no earlier row
changes. One new row of kind `protect` carries the sums of all earlier charges, counted anew: a loss for one row becomes
the loss for a person's m rows (accountant/group.py), a loss for an id stays. Later charges add to these sums. A budget
that was taken over keeps its charges; they are read from there.

The file holds public facts and released answers, nothing else about the data. Only its user may read it (mode 0600).
`people.home.LedgerView` subclasses `Ledger` and shows one person only what they may see: it overrides the methods that
read, and a new one that returns rows or sums must be overridden there too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial, reduce
from pathlib import Path
from typing import TypeVar, Unpack

from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import MOST_EPSILON, Rule, Totals, admits, price, share, spent, used
from dpengine.accountant.group import for_group
from dpengine.accountant.history import Past
from dpengine.core.errors import DAMAGED, AllowanceError, BudgetExceeded, LedgerDamaged, UnknownBudget
from dpengine.core.exact import down, up
from dpengine.core.remembered import Lately
from dpengine.core.strict_json import canonical
from dpengine.core.types import Json, JsonObject
from dpengine.declared.unit import Unit
from dpengine.ledger import long_lists, owner_rows, people_rules, repeats
from dpengine.ledger.chain import START, Verdict, hash_of, verify
from dpengine.ledger.payers import SHOWN, Payer, approved_terms, grant_exceeded, payer_for
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rules import (
    ALL_QUESTIONS,
    CHANGED,
    NO,
    YES,
    Decision,
    Grant,
    Role,
    ShareRequest,
    apart_id,
    base_of,
)
from dpengine.ledger.rows import (
    COLUMNS,
    NO_ROW,
    Act,
    BudgetRecord,
    Charge,
    Entry,
    Outcome,
    Paid,
    Raised,
    Repeats,
    Reservation,
    SessionStep,
    Standing,
    Sums,
    TakenOver,
    charge_body,
    charge_totals,
    is_request,
    may_take_over,
    paid_of,
    protect_body,
    questions_of,
    read_request,
    repriced,
    rows_of_a_person,
    standing_after,
    taken_of,
    taken_over,
)
from dpengine.ledger.sqlite_file import LedgerFile, head_of, sound_rows
from dpengine.ledger.store import Database, Store, address_set, mark_of
from dpengine.ledger.watch import Watch

__all__ = ["Act", "BudgetRecord", "Charge", "Entry", "Ledger", "Outcome", "SessionStep", "Standing", "Verdict"]

_PAGE = 500
BUDGET_KINDS = ("private", "practice")
LONGEST_REASON = 500
T = TypeVar("T")
_INSERT = f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({', '.join(':' + name for name in COLUMNS)})"
_MOST_COUNTED = 500  # losses composed one by one; beyond that the running sums stand in, with a slightly looser bound
_CHARGES_BEFORE = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND seq < ? ORDER BY seq"
_OTHER_SINCE = (
    "SELECT * FROM entries WHERE budget = ? AND request <> ?"
    " AND (kind = 'charge' AND seq > ? OR kind IN ('answer', 'part') AND seq > ?) ORDER BY seq LIMIT 1"
)
_BUDGET = "SELECT * FROM entries WHERE kind = 'budget' AND budget = ?"
_CHARGE = "SELECT * FROM entries WHERE kind = 'charge' AND request = ?"
_LAST_CHARGE = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? ORDER BY seq DESC LIMIT 1"
_CHARGE_BEFORE = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
_NEXT_CHARGES = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND seq > ? ORDER BY seq LIMIT ?"
_NEAREST = (  # for each row number, the last charge up to it
    "SELECT * FROM entries WHERE seq IN (SELECT (SELECT seq FROM entries WHERE kind = 'charge' AND budget = ?"
    " AND seq <= CAST(place.value AS BIGINT) ORDER BY seq DESC LIMIT 1) FROM json_each(?) AS place) ORDER BY seq"
)
_OUTCOMES = "SELECT * FROM entries WHERE kind IN ('answer', 'failed') AND request IN (SELECT value FROM json_each(?))"
_THESE = "SELECT * FROM entries WHERE kind = 'charge' AND seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))"
_NEWEST = (
    "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND json_extract(body, '$.table') = ?"
    " AND json_extract(body, '$.claim.digest') = ? ORDER BY seq DESC LIMIT 1"
)
_read_charge, _read_outcome = Lately(256), Lately(64)
_PAGE_OF_CHARGES = 200  # the longest list of charges that is cached
_FIRST = "SELECT hash FROM entries WHERE seq = 1"
_HASHED = "SELECT seq FROM entries WHERE substr(hash, 1, ?) = ? ORDER BY seq DESC LIMIT 1"
_ACTIONS = "kind NOT IN ('answer', 'failed', 'part', 'lost')"

# The steps of a session, as rows of the ledger.
#
#     step   records the next step as used, before anything is read or drawn     once per number and per step id
#     part   its answer                                                          } one of the two, once
#     lost   it was interrupted, and is never drawn again                        }
#     ended  no more steps; what was charged stays charged                       once per session
#
# All carry the request of the session's charge. A step without an outcome, from a worker that has stopped, was
# interrupted too: readers report it as lost, and it is never drawn.

_STEPS = "SELECT * FROM entries WHERE kind = 'step' AND request = ? AND json_extract(body, '$.index') > ?"
_OUTCOMES_AFTER = (
    "SELECT * FROM entries WHERE kind IN ('part', 'lost') AND request = ? AND json_extract(body, '$.index') > ?"
)
_CHOSE = (
    "SELECT * FROM entries WHERE kind = 'step' AND request = ?"
    " AND json_extract(body, '$.claim.ask.largest') IS NOT NULL LIMIT 1"
)
_BY_ID = "SELECT * FROM entries WHERE kind = 'step' AND request = ? AND json_extract(body, '$.step') = ?"
_NUMBERED = "SELECT * FROM entries WHERE kind = 'step' AND request = ? AND json_extract(body, '$.index') = ?"
_OUTCOME_OF = (
    "SELECT * FROM entries WHERE kind IN ('part', 'lost') AND request = ? AND json_extract(body, '$.index') = ?"
)
_ASKED = "SELECT coalesce(max(json_extract(body, '$.index')), 0) AS n FROM entries WHERE kind = 'step' AND request = ?"
_ENDED = "SELECT * FROM entries WHERE kind = 'ended' AND request = ?"


class Ledger:
    """All rows, used by any number of threads and processes. Every refusal is an AllowanceError with one sentence."""

    def __init__(self, path: Path, wait: float = 5.0, store: Store | None = None) -> None:
        self._store: Store = LedgerFile(Path(path), wait) if store is None else store
        self.path = self._store.path
        self._watch = Watch(self._store)

    def check_soon(self) -> None:
        """Check the whole chain in the background, so that the first question need not wait for that check."""
        self._watch.check_soon()

    @property
    def store(self) -> Store:
        """Where the rows are stored: a file or a database. The store also knows which processes spend from this
        ledger."""
        return self._store

    def steady(self) -> AbstractContextManager[None]:
        """A context in which this thread draws a page: cached reads are not checked each time (`Store.steady`)."""
        return self._store.steady()

    def close(self) -> None:
        self._watch.close()
        self._store.close()

    # Reading: budgets, with their caps, sums and closings

    def budget(self, budget_id: str) -> BudgetRecord:
        def read(db: Database) -> BudgetRecord:
            record = self._budget(db, budget_id)
            if record is None:
                owner_rows.refuse_budget_closed(db, budget_id)  # its creation row may be lost
                raise UnknownBudget()
            return record

        return self._store.cached(("budget", budget_id), read)

    def standing(self, budget: str) -> Standing:
        """The running sums of a budget; zeros if nothing was charged yet."""
        return self._store.cached(("standing", budget), lambda db: self._standing(db, budget))

    def before(self, charge: Charge) -> Totals:
        """The sums of the charge's budget just before this charge."""

        def read(db: Database) -> Totals:
            return owner_rows.standing_before(db, charge.budget, charge.seq).totals

        return self._store.cached(("before", charge.budget, str(charge.seq)), read)

    def recounted(self, charge: Charge) -> tuple[Totals, Totals] | None:
        """The sums just before and just after a charge, both counted under the protection declared last. None if the
        charge was made after that declaration, or if no protection was declared."""

        def read(db: Database) -> dict[int, tuple[Totals, Totals]]:
            done = owner_rows.protections(db, charge.budget)
            if not done:
                return {}
            record, by_row_before = self._known_budget(db, charge.budget), self._by_row_before(db, charge.budget)
            rows, last = Unit.from_json(record.unit).at_most, int(done[0]["seq"])
            sums: dict[int, tuple[Totals, Totals]] = {}
            taken = [paid for _, part in self._taken_over(db, charge.budget) for paid in part]
            totals, seq = repriced(taken, rows, record.rule.alpha).whole.totals, 0
            while page := sound_rows(db, _NEXT_CHARGES, [charge.budget, seq, _PAGE]):
                for row in page:
                    seq = int(row["seq"])
                    if seq > last:
                        return sums
                    loss = paid_of(row, seq < by_row_before).loss_for(rows)
                    sums[seq] = totals, totals.plus(cost(loss, record.rule.alpha))
                    totals = sums[seq][1]
            return sums

        return self._store.cached(("recounted", charge.budget), read).get(charge.seq)

    def acts(self, budget: str) -> list[Act]:
        with self._store.reading() as db:
            return owner_rows.of_budget(db, budget)

    def protected_since(self, budget: str) -> int | None:
        """The number of the row that last declared more protection on this budget; None without such a row. That row
        ends the sessions opened before it and withdraws earlier statements about a larger group."""

        def read(db: Database) -> int | None:
            rows = owner_rows.protections(db, base_of(budget))
            return int(rows[0]["seq"]) if rows else None

        return self._store.cached(("protected", budget), read)

    def protection_of(self, budget: str, unit: Unit) -> tuple[Standing, Standing]:
        """A budget's sums now, and its sums under `unit`, which must protect more. Nothing is written."""
        with self._store.reading() as db:
            record = self._known_budget(db, budget)
            rows = rows_of_a_person(record.unit, unit)
            return self._standing(db, budget), repriced(
                self._charges_and_raises(db, budget), rows, record.rule.alpha
            ).whole

    def sum_of(self, budget: str | None, taken: Sequence[TakenOver], rule: Rule) -> Standing:
        """The sums a budget (None: a new one under `rule`) would have after taking over `taken`. Nothing is written."""
        with self._store.reading() as db:
            past = [] if budget is None else self._charges_and_raises(db, budget)
            for part in taken:
                past += taken_over(
                    self._charges_and_raises(db, part.budget), self._known_budget(db, part.budget).unit, part.rows
                )
            rows = 1 if budget is None else Unit.from_json(self._known_budget(db, budget).unit).at_most
            return repriced(past, rows, rule.alpha).whole

    def taken_by(self) -> dict[str, str]:
        """Maps each budget that was taken over to the budget that took it over and now pays."""
        return self._store.cached(("taken",), owner_rows.taken_by)

    def closed(self) -> dict[tuple[str, str], str]:
        """What is closed: (budget, table) maps to `seal` or `forget`, (budget, "") to `close` or `joined`."""
        return self._store.cached(("closed",), owner_rows.all_closed)

    # Reading: charges and answers

    def find(self, request: str) -> Entry | None:
        if not is_request(request):
            return None  # typed into an address by hand
        with self._store.reading() as db:
            entries = self._entries(db, sound_rows(db, _CHARGE, [request]))
        return entries[0] if entries else None

    def charges(
        self,
        budget: str | None = None,
        table: str | None = None,
        limit: int = 100,
        offset: int = 0,
        key: str | None = None,
    ) -> list[Entry]:
        """Charges with their outcomes, newest first, at most `limit` from number `offset` on. Each filter that is given
        must match; `key` is the catalogue's key of a question."""
        conditions, values = ["kind = 'charge'"], []
        body_table, body_key = "json_extract(body, '$.table')", "json_extract(body, '$.claim.key')"
        for expression, value in (("budget", budget), (body_table, table), (body_key, key)):
            if value is not None:
                conditions.append(f"{expression} = ?")
                values.append(value)
        sql = f"SELECT * FROM entries WHERE {' AND '.join(conditions)} ORDER BY seq DESC LIMIT ? OFFSET ?"

        def read(db: Database) -> list[Entry]:
            return self._entries(db, sound_rows(db, sql, [*values, limit, offset]))

        if 0 <= limit <= _PAGE_OF_CHARGES:
            return list(self._store.cached(("charges", sql, *values, str(limit), str(offset)), read))
        with self._store.reading() as db:
            return read(db)

    def visible_part(self, charge: Charge) -> Charge:
        """The charge with only what this reader may see: here all of it; `people.home.LedgerView` hides sums of other
        tables."""
        return charge

    def walk(self, budget: str) -> Iterator[Entry]:
        """Every charge of a budget with its outcome, oldest first. The rows are read in pages, as by `export_rows`."""
        after = 0
        while True:
            with self._store.reading() as db:
                page = self._entries(db, sound_rows(db, _NEXT_CHARGES, [budget, after, _PAGE]))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].charge.seq

    def spread(self, budget: str, most: int) -> list[Charge]:
        """At most `most` charges of a budget, oldest first: all of them, or the first, the last and some about evenly
        spaced in between. Reading takes the same time after a hundred thousand charges as after a thousand."""
        with self._store.reading() as db:
            newest = sound_rows(db, _LAST_CHARGE, [budget])
            if not newest or Charge.from_row(newest[0]).history.count <= most:
                rows = sound_rows(db, _NEXT_CHARGES, [budget, 0, most])
            else:
                [first], last = sound_rows(db, _NEXT_CHARGES, [budget, 0, 1]), newest[0]["seq"]
                apart = [first["seq"] + (last - first["seq"]) * place // (most - 1) for place in range(most)]
                rows = sound_rows(db, _NEAREST, [budget, json.dumps(apart)])
        return [Charge.from_row(row) for row in rows]

    def answers_to(self, budget: str, table: str, claim: JsonObject, noises: Sequence[str] = ("",)) -> list[Entry]:
        """The latest answers to one question at its ε, with any of these noises, oldest first."""
        laws = [repeats.law_of(claim, noise) for noise in noises]

        def read(db: Database) -> list[Entry]:
            charges = repeats.of_laws(db, self._question(db, budget, table, claim), laws)
            return self._answered(db, charges)[-repeats.MOST_NEWEST :]

        return list(self._store.cached(("answers", budget, table, repeats.question_of("", "", claim), *laws), read))

    def newest_to(self, budget: str, table: str, claim_digest: str) -> Entry | None:
        """The last charge for the question with this hash, and its outcome if there is one. None if there is no charge,
        or if more protection was declared since."""

        def read(db: Database) -> Entry | None:
            entries = self._entries(db, sound_rows(db, _NEWEST, [budget, table, claim_digest]))
            if entries and self._before_protection(db, entries[0].charge):
                return None  # it asked about rows; the same words now ask about people
            return entries[0] if entries else None

        newest = self._store.cached(("newest", budget, table, claim_digest), read)
        if newest is None or newest.outcome is not None:
            return newest
        with self._store.reading() as db:  # it may have ended since this page began; what else it shows is read anew
            return read(db)

    def all_answers_to(self, budget: str, table: str, claim: JsonObject) -> Repeats:
        """The answers to one question, at any ε and with any noise: their number, the first ones of each law (ε and
        noise), and the latest. Reading takes the same time after ten thousand answers as after a hundred."""

        def read(db: Database) -> Repeats:
            question = self._question(db, budget, table, claim)
            count = repeats.number(db, question)
            first, newest = (self._answered(db, find(db, question)) for find in (repeats.first, repeats.newest))
            return Repeats(count, tuple(first), tuple(newest))

        return self._store.cached(("looks", budget, table, repeats.question_of("", "", claim)), read)

    # Reading: sessions

    def steps(self, session: str, newest: int | None = None) -> list[SessionStep]:
        """The used steps of a session in order, with their outcomes: all, or only the `newest` ones."""
        with self._store.reading() as db:
            after = 0 if newest is None else max(steps_asked(db, session) - newest, 0)
            outcomes = {_index(row): row for row in sound_rows(db, _OUTCOMES_AFTER, [session, after])}
            rows = sorted(sound_rows(db, _STEPS, [session, after]), key=_index)
        return [SessionStep.from_row(row, outcomes.get(_index(row))) for row in rows]

    def step(self, session: str, step: str) -> SessionStep | None:
        with self._store.reading() as db:
            return find_step(db, _BY_ID, session, step)

    def first_step(self, session: str) -> int | None:
        """The number of the row that recorded a session's first step as used; None if no step was used yet."""
        with self._store.reading() as db:
            first = find_step(db, _NUMBERED, session, 1)
        return None if first is None else first.seq

    def progress(self, session: str) -> tuple[int, bool, bool]:
        """Three values about a session: how many steps were used; whether the session ended, also by more protection;
        and whether a step asked “which is largest”."""
        with self._store.reading() as db:
            ended = session_ended(db, session) or self._before_protection(db, self._charge(db, session))
            return steps_asked(db, session), ended, bool(sound_rows(db, _CHOSE, [session]))

    # Reading: everything released, and the chain itself

    def released(self, budget: str, before: int | None = None, but: str = "") -> Past:
        """The losses of all that was released about the people of a budget before row `before`, or up to now: from
        every table that shares the budget, answered or not. `but` is the request of a charge to leave out. After more
        protection was declared, a charge for a row counts as for a person. Every statement that needs “nothing else was
        seen” uses these losses."""
        row = NO_ROW if before is None else before
        newest, anew = self._store.cached(
            ("newest", budget, str(row)),
            lambda db: (sound_rows(db, _CHARGE_BEFORE, [budget, row]), owner_rows.protections(db, budget)),
        )
        if not newest:
            taken = any(taken_of(row) is not None for row in anew)
            key = ("released", budget, "", but)
            return (
                self._store.cached(key, lambda db: self._released_before(db, budget, 0, but)) if taken else Past.NOTHING
            )
        last = Charge.from_row(newest[0])
        if last.history.count > _MOST_COUNTED:  # then `but` is included: never less than what was released
            sums = standing_after(anew[0]) if anew and anew[0]["seq"] > last.seq else last.standing
            return Past.of_sums(sums.history)
        key = ("released", budget, str(last.seq), but)
        return self._store.cached(key, lambda db: self._released_before(db, budget, last.seq + 1, but))

    def other_since(self, budget: str, charged: int, released: int, but: str) -> int | None:
        """The number of the first row that charged the budget after row `charged`, or stored an answer after row
        `released`; rows of the request `but` do not count. None if there is no such row."""
        with self._store.reading() as db:
            return next((int(row["seq"]) for row in db.query(_OTHER_SINCE, [budget, but, charged, released])), None)

    def export_rows(self, budget: str | None = None) -> Iterator[JsonObject]:
        """Every row, or those of a budget, as stored, oldest first: enough to recompute each hash."""
        return self._pages("", []) if budget is None else self._pages("budget = ? AND", [budget])

    def head(self) -> tuple[int, str]:
        """The last row's number and hash. A copy of both, kept elsewhere, shows later if rows were cut off or
        changed."""
        return self._store.cached(("head",), head_of)

    def row_of(self, start_of_hash: str) -> int | None:
        """The number of the last row with a hash that begins like this; None if there is none."""
        with self._store.reading() as db:
            rows = list(db.query(_HASHED, [len(start_of_hash), start_of_hash]))
        return rows[0]["seq"] if rows else None

    def verify(self) -> Verdict:
        """Check every row from the first one on, and name the first row that fails."""
        try:
            verdict = verify(self._pages("", []))
            with self._store.reading() as db:
                guarded = self._store.guarded(db) and repeats.agrees_with_chain(db)
                intact = self._store.intact(db)
        except LedgerDamaged as error:
            return Verdict(False, 0, (0, START), None, error.code)
        if not verdict.ok or (guarded and intact):
            return verdict
        return replace(verdict, ok=False, why="chain.guards" if intact else DAMAGED)

    # Reading: people, and what each may do

    @contextmanager
    def people(self) -> Iterator[PeopleBook]:
        """A context for reading roles, groups, grants and requests as the rows state them at this moment."""
        with self._store.reading() as db:
            yield PeopleBook(db)

    def cached_people(self, key: tuple[str, ...], read: Callable[[PeopleBook], T]) -> T:
        """What `read` returns about people. The result is cached under `key` until somebody writes: a page asks for it
        many times."""
        return self._store.cached(("people", *key), lambda db: read(PeopleBook(db)))

    @property
    def served(self) -> bool:
        """Do people sign in? True for good after the first row that names an administrator."""
        return self.cached_people(("served",), lambda book: book.served())

    def acts_by(self, person: str | None, most: int, before: int | None) -> list[JsonObject]:
        """The newest `most` rows of what a person (None: anybody) did, newest first, before row `before`. Answers are
        not among them."""
        theirs, values = ("actor = ? AND ", [person]) if person is not None else ("", [])
        sql = f"SELECT * FROM entries WHERE {theirs}{_ACTIONS} AND seq < ? ORDER BY seq DESC LIMIT ?"
        with self._store.reading() as db:
            return sound_rows(db, sql, [*values, NO_ROW if before is None else before, most])

    def refuse_not_owner(self, budget: str, table: str, actor: str) -> None:
        """Refuse the actor unless they may do what only an owner of the table may."""
        with self._store.reading() as db:
            self._refuse_act(db, budget, table, actor)

    def refuse_protecting(self, budget: str, table: str, actor: str) -> None:
        with self._store.reading() as db:
            self._refuse_protecting(db, budget, table, actor)

    def refuse_bringing(self, actor: str) -> None:
        with self.people() as book:
            if book.served() and not people_rules.may_add_tables(book, actor):
                raise AllowanceError(people_rules.NO_RIGHT)

    # Writing: roles, groups, grants, requests, limits and agreements. `people_rules` decides on each row inside the
    # transaction that writes it.

    def name_role(self, person: str, role: str, actor: str, table: str = "", on: bool = True, budget: str = "") -> None:
        """Give a role to a person, or take the role back if `on` is false. Nothing is written if that changes
        nothing."""
        with self._store.writing() as db:
            self._role(db, person, role, table, on, actor, budget)

    def hand_over(self, budget: str, table: str, person: str, actor: str) -> None:
        """Make a person an owner of a table. A person without a grant on the table gets a grant of its whole
        allowance."""
        with self._store.writing() as db:
            self._role(db, person, people_rules.OWNER, table, True, actor, budget)
            if PeopleBook(db).grant(budget, table, person) is None:
                self._grant(db, Grant(0, "", actor, budget, table, person, Fraction(1), ALL_QUESTIONS, ""))

    def name_group(self, group: str, people: Sequence[str], actor: str) -> None:
        with self._store.writing() as db:
            _refuse(people_rules.group_fault(PeopleBook(db), group, people, actor))
            body = people_rules.body_of(group=group, people=people)
            self._append(db, "group", "", "", actor, body, "", _now())

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
        """Let a person or a group use a share of a table's allowance, until the day `until` if one is given. The share
        0 takes back what was not used."""
        with self._store.writing() as db:
            return self._grant(db, Grant(0, "", actor, budget, table, to, Fraction(share), tuple(questions), until))

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
    ) -> ShareRequest:
        """Ask the owner for a larger share of the allowance, or for one question above the limit. `wish`: the id of
        this wish. No answer is stored."""
        read_request(wish)
        printable = "".join(letter if letter.isprintable() else " " for letter in reason)
        reason = " ".join(printable.split())[:LONGEST_REASON]
        with self._store.writing() as db:
            book, at = PeopleBook(db), _now()
            if book.wanted(wish) is not None:
                raise AllowanceError("request.reused")
            wanted = ShareRequest(wish, 0, at, actor, budget, table, reason, share, claim, takes)
            _refuse(people_rules.wish_fault(book, wanted, at[:10]))
            body = people_rules.body_of(table=table, reason=reason, share=share, claim=claim, takes=takes)
            return ShareRequest.from_row(self._append(db, "wish", budget, wish, actor, body, "", at))

    def decide(self, wish: str, answer: str, actor: str, share: Fraction | None = None) -> Decision:
        """Approve, decline or change a wish; nobody decides a wish of their own. An approval also writes the grant."""
        with self._store.writing() as db:
            book, at = PeopleBook(db), _now()
            wanted = book.wanted(wish)
            given = wanted.share if wanted is not None and answer == YES else share if answer == CHANGED else None
            _refuse(people_rules.decided_fault(book, wanted, answer, given, actor))
            assert wanted is not None
            body = people_rules.body_of(table=wanted.table, answer=answer, share=given)
            row = self._append(db, "decided", wanted.budget, wish, actor, body, "", at)
            if given is not None and answer != NO:
                granted, questions, until = approved_terms(book, wanted, given, answer, at[:10])
                if granted or book.grant(wanted.budget, wanted.table, wanted.actor) is not None:
                    terms = wanted.budget, wanted.table, wanted.actor, granted, questions, until
                    self._grant(db, Grant(0, "", actor, *terms))
            return Decision.from_row(row)

    def set_limit(self, budget: str, table: str, share: Fraction | None, actor: str) -> None:
        """From now on a question that takes more than this share waits for a decision. None removes the limit."""
        with self._store.writing() as db:
            _refuse(people_rules.limit_fault(PeopleBook(db), budget, table, share, actor))
            self._append(db, "limit", budget, "", actor, people_rules.body_of(table=table, share=share), "", _now())

    def keep_apart(self, budget: str, table: str, people: Sequence[str], actor: str) -> list[BudgetRecord]:
        """From now on each person has an own budget on the same terms; nobody uses the shared one. Returns the new
        budgets."""
        with self._store.writing() as db:
            book, at = PeopleBook(db), _now()
            shared = self._known_budget(db, budget)
            charged = self._standing(db, budget).charges > 0
            owner_rows.refuse_closed(db, budget, table)
            _refuse(people_rules.agreement_fault(book, budget, table, people, charged, actor, at[:10]))
            body = people_rules.body_of(table=table, people=people)
            self._append(db, "agreement", budget, "", actor, body, "", at)
            opened = []
            for person in sorted(set(people)):
                record = replace(shared, id=apart_id(budget, person), at=at)
                if self._budget(db, record.id) is None:
                    self._append(db, "budget", record.id, "", actor, record.body(), "", at)
                    opened.append(record)
            return opened

    # Writing: a budget, its charges, and their outcomes

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
        """Create a budget and return its record. If the id exists, nothing is written and the existing budget's record
        is returned."""
        if kind not in BUDGET_KINDS:
            raise ValueError("a budget is private or practice")
        with suppress(UnknownBudget):
            return self.budget(budget_id)  # the usual case must not queue for the write lock
        with self._store.writing() as db:
            existing = self._budget(db, budget_id)
            if existing is not None:
                return existing
            self._store.refuse_full()
            record = BudgetRecord(budget_id, name, kind, rule, _now(), unit or {}, relation)
            _refuse(people_rules.budget_fault(PeopleBook(db), record, actor))
            self._append(db, "budget", budget_id, "", actor, record.body(), "", record.at)
        return record

    def reserve(self, **wanted: Unpack[Reservation]) -> Charge:
        """Charge the question once per request, or refuse and spend nothing. Only a `fresh` charge may be drawn."""
        return self.reserve_all([wanted])[0]

    def reserve_all(self, wanted: Sequence[Reservation], keep: Fraction | None = None) -> list[Charge]:
        """Charge several questions to one budget in one transaction, each as its own row; or refuse, and charge none.

        `keep`: the share of the allowance that must be left afterwards. If all of these requests were charged before,
        their charges are returned; if only some of them were, everything is refused.
        """
        requests = [read_request(question["request"]) for question in wanted]
        if not wanted or len(set(requests)) < len(requests) or len({question["budget"] for question in wanted}) > 1:
            raise AllowanceError("request.reused")
        self._watch.before_spending()
        with self._store.writing() as db:
            earlier = [charge for question in wanted if (charge := self._charged_before(db, question)) is not None]
            if len(earlier) == len(wanted):
                return earlier
            if earlier:
                raise AllowanceError("request.reused")
            self._store.refuse_full()
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
                loss = question["loss"]
                after = before.plus(paid, loss)
                sums = self._sums(db, record, payer, question, paid, before)
                takes = price(rule, before.totals, paid)
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

    # Writing: the steps of a session

    def burn(self, session: str, step: str, actor: str, claim: JsonObject, worker: str) -> SessionStep:
        """Record the next step of a session as used, once per step id, or refuse. Only a `fresh` step may be drawn."""
        read_request(step)
        self._watch.before_spending()
        with self._store.writing() as db:
            charge = self._session(db, session, actor)
            earlier = find_step(db, _BY_ID, session, step)
            if earlier is not None:
                if canonical(earlier.claim) != canonical(claim):
                    raise AllowanceError("session.step_reused")
                return earlier
            self._store.refuse_full()
            self._watch.refuse_broken(db)
            asked, questions = steps_asked(db, session), questions_of(charge.claim)
            if session_ended(db, session):
                raise AllowanceError("session.ended", asked=asked, questions=questions)
            if questions is None or asked >= questions:
                raise AllowanceError("session.over", questions=questions)
            if self._before_protection(db, charge):
                raise AllowanceError("session.protected")
            self._refuse_step(db, charge, claim)
            owner_rows.refuse_closed(db, charge.budget, charge.table)
            at = _now()
            claim = self._listed(db, charge.budget, actor, claim, at)
            body = {"table": charge.table, "index": asked + 1, "step": step, "worker": worker, "claim": claim}
            row = self._append(db, "step", charge.budget, session, actor, canonical(body), "", at)
        return SessionStep.from_row(row, fresh=True)

    def settle_step(self, session: str, index: int, kind: str, body: JsonObject) -> None:
        """Record the outcome of a used step (`kind` is `part` or `lost`), once; a second outcome is ignored."""
        with self._store.writing() as db:
            burned = find_step(db, _NUMBERED, session, index)
            if burned is None:
                raise AllowanceError("session.unknown")
            if burned.outcome is None:
                charge = self._session(db, session)
                text = canonical({"index": index} | body)
                # The time at which the step was recorded: another time would reveal how long the draw took.
                self._append(db, kind, charge.budget, session, charge.actor, text, "", burned.at)

    def end_session(self, session: str, actor: str) -> None:
        """Close a session for good; the charge stays. A second call writes nothing."""
        with self._store.writing() as db:
            charge = self._session(db, session, actor)
            if session_ended(db, session):
                return
            body = canonical({"table": charge.table, "asked": steps_asked(db, session)})
            self._append(db, "ended", charge.budget, session, actor, body, "", _now())

    # Writing: what an owner does to a table or its budget (owner_rows.py)

    def close_table(self, kind: str, budget: str, table: str, actor: str) -> Act:
        """`seal` or `forget` a table: from this row on the table accepts no question. A second call writes nothing."""
        with self._store.writing() as db:
            self._private_budget(db, budget)
            self._refuse_act(db, budget, table, actor)
            if earlier := owner_rows.closing(db, budget, table, kind):
                return earlier[0]
            return Act.from_row(self._append(db, kind, budget, "", actor, owner_rows.body(table), "", _now()))

    def raise_cap(self, budget: str, table: str, epsilon: Fraction, actor: str) -> Act:
        """Raise a budget's cap ε, from this row on. A lower cap is refused."""
        with self._store.writing() as db:
            record = self._known_budget(db, budget)
            owner_rows.refuse_budget_closed(db, budget)
            self._refuse_act(db, budget, table, actor)
            higher = owner_rows.higher(record, epsilon, MOST_EPSILON)
            body = owner_rows.body(table, record.rule.epsilon, higher.rule.epsilon)
            return Act.from_row(self._append(db, "raise", budget, "", actor, body, "", _now()))

    def new_people(self, budget: str, table: str, newer: str, actor: str) -> Act:
        """Record the owner's declaration that `newer`, a newer state of the table's source, has other people. A second
        call writes nothing."""
        with self._store.writing() as db:
            self._private_budget(db, budget)
            self._refuse_act(db, budget, table, actor)
            if earlier := owner_rows.new_people(db, budget, table, newer):
                return earlier[0]
            body = owner_rows.body(table, newer=newer)
            return Act.from_row(self._append(db, "new_people", budget, "", actor, body, "", _now()))

    def protect(self, budget: str, table: str, unit: Unit, actor: str) -> Act:
        """Declare that rows belong to people, or that more rows of a person count: from this row on every earlier
        charge counts for a person. Refused beyond the cap. Written once for each unit."""
        with self._store.writing() as db:
            record = self._private_budget(db, budget)
            self._refuse_protecting(db, budget, table, actor)
            done = owner_rows.protections(db, budget)
            if done and record.unit == unit.as_json():
                return Act.from_row(done[0])
            owner_rows.refuse_budget_closed(db, budget)
            rows = rows_of_a_person(record.unit, unit)
            before = self._standing(db, budget)
            past = self._charges_and_raises(db, budget)
            sums = repriced(past, rows, record.rule.alpha)
            refuse_over_cap(record.rule, sums.whole.totals)
            moved = people_rules.moved_anew(record.rule, past, rows)
            body = protect_body(table, record.unit, unit.as_json(), sums, moved)
            totals = charge_totals(before.totals, sums.whole.totals, sums.whole.history)
            return Act.from_row(self._append(db, "protect", budget, "", actor, body, totals, _now()))

    def take_over(self, budget: str, table: str, taken: TakenOver, actor: str) -> Act:
        """Declare that `taken` is a budget of the same people: from this row on the charges of that budget count here,
        and that budget is closed. If that was declared before, the earlier row is returned."""
        with self._store.writing() as db:
            record, other = self._private_budget(db, budget), self._private_budget(db, taken.budget)
            self._refuse_protecting(db, budget, table, actor)
            _refuse(people_rules.protect_fault(PeopleBook(db), other.id, actor))
            for row in owner_rows.protections(db, budget):
                if (done := taken_of(row)) is not None and done.budget == taken.budget:
                    return Act.from_row(row)
            for closed in (budget, taken.budget):
                owner_rows.refuse_budget_closed(db, closed)
            _refuse(None if may_take_over(record, other, taken) else "budget.other_terms")
            rows, before = Unit.from_json(record.unit).at_most, self._standing(db, budget)
            past = [
                *self._charges_and_raises(db, budget),
                *taken_over(self._charges_and_raises(db, other.id), other.unit, taken.rows),
            ]
            sums = repriced(past, rows, record.rule.alpha)
            refuse_over_cap(record.rule, sums.whole.totals, joined=True)
            moved = people_rules.moved_anew(record.rule, past, rows)
            body = protect_body(table, record.unit, record.unit, sums, moved, taken)
            totals = charge_totals(before.totals, sums.whole.totals, sums.whole.history)
            act = Act.from_row(self._append(db, "protect", budget, "", actor, body, totals, _now()))
            self._append(db, "close", other.id, "", actor, owner_rows.body(""), "", _now())
            return act

    # Writing: what an operator does to the ledger

    def adopt(self, rows: Iterable[JsonObject]) -> None:
        """Copy checked rows into a new ledger. The database's triggers check each row again: it must continue the
        chain."""
        with self._store.writing() as db:
            for row in rows:
                db.conn.execute(_INSERT, row)
            repeats.fill(db)

    def recover(self, budgets: Sequence[str], report: JsonObject, actor: str) -> None:
        """Record an operator's recovery and close these budgets for good, in one transaction."""
        with self._store.writing() as db:
            self._append(db, "recovered", "", "", actor, canonical(report), "", _now())
            for budget in sorted(set(budgets)):
                if (budget, "") not in owner_rows.all_closed(db):
                    self._append(db, "close", budget, "", actor, owner_rows.body(""), "", _now())

    # From here on: what the methods above share. Whatever takes `db` runs inside their transaction.

    # Reading: records, sums and rows

    def _budget(self, db: Database, budget_id: str) -> BudgetRecord | None:
        rows = sound_rows(db, _BUDGET, [budget_id])
        return owner_rows.protected(db, owner_rows.raised(db, BudgetRecord.from_row(rows[0]))) if rows else None

    def _known_budget(self, db: Database, budget: str) -> BudgetRecord:
        record = self._budget(db, budget)
        if record is None:
            raise UnknownBudget()
        return record

    def _private_budget(self, db: Database, budget: str) -> BudgetRecord:
        record = self._known_budget(db, budget)
        if record.kind != "private":
            raise AllowanceError("act.practice")
        return record

    def _standing(self, db: Database, budget: str) -> Standing:
        return owner_rows.standing_before(db, budget)

    def _charge(self, db: Database, request: str) -> Charge | None:
        rows = sound_rows(db, _CHARGE, [request])
        return Charge.from_row(rows[0]) if rows else None

    def _entries(self, db: Database, charges: list[JsonObject]) -> list[Entry]:
        if not charges:
            return []
        origin = next((row["hash"] for row in db.query(_FIRST)), "")
        requests = json.dumps([row["request"] for row in charges])
        ended = sound_rows(db, _OUTCOMES, [requests])
        # Their hashes were just compared with what they hold, so a hash stands for all of a row.
        outcomes = {row["request"]: _read_outcome(row["hash"], partial(Outcome.from_row, row)) for row in ended}
        paid = [_read_charge(row["hash"], partial(Charge.from_row, row)) for row in charges]
        return [Entry(charge, outcomes.get(charge.request), origin) for charge in paid]

    def _question(self, db: Database, budget: str, table: str, claim: JsonObject) -> str:
        return repeats.question_of(repeats.since(db, budget), table, claim)

    def _answered(self, db: Database, charges: list[int]) -> list[Entry]:
        """The answered ones among the charges with these row numbers, in the order of their answers."""
        entries = self._entries(db, sound_rows(db, _THESE, [json.dumps(charges)]))
        answered = [(entry.answer.seq, entry) for entry in entries if entry.answer]
        return [entry for _, entry in sorted(answered, key=lambda numbered: numbered[0])]

    def _pages(self, where: str, values: list[Json]) -> Iterator[JsonObject]:
        """The rows that meet `where`, in pages: each is its own transaction, so a long read does not block writers."""
        after = -(2**63)  # a row numbered below 1 by hand must be seen too
        while True:
            with self._store.reading() as db:
                sql = f"SELECT * FROM entries WHERE {where} seq > ? ORDER BY seq LIMIT {_PAGE}"
                page = list(db.query(sql, [*values, after]))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1]["seq"]

    def _charged_before(self, db: Database, wanted: Reservation) -> Charge | None:
        """The charge that this request already has; None if it has none. Refused if that charge was for another
        question."""
        earlier = self._charge(db, wanted["request"])
        if earlier is not None:
            bound = (earlier.budget, earlier.table, earlier.actor, canonical(earlier.claim))
            if bound != (wanted["budget"], wanted["table"], wanted["actor"], canonical(wanted["claim"])):
                raise AllowanceError("request.reused")
        return earlier

    def _session(self, db: Database, request: str, actor: str | None = None) -> Charge:
        charge = self._charge(db, request) if is_request(request) else None
        if charge is None or questions_of(charge.claim) is None or actor not in (None, charge.actor):
            raise AllowanceError("session.unknown")
        return charge

    # Reading: what earlier charges count for once rows belong to people (see **More protection** above)

    def _by_row_before(self, db: Database, budget: str) -> int:
        """A row number: charges before that row were stated for one row, later charges for an id. 0 if the budget
        always had an id; the number of the row that first declared an id; `NO_ROW` if the budget has none."""
        created, protections = sound_rows(db, _BUDGET, [budget]), owner_rows.protections(db, budget)
        if not created or BudgetRecord.from_row(created[0]).unit != Unit.rows().as_json():
            return 0
        return int(protections[-1]["seq"]) if protections else NO_ROW

    def _before_protection(self, db: Database, charge: Charge | None) -> bool:
        """Was this charge made before more protection was last declared on its budget?"""
        rows = [] if charge is None else owner_rows.protections(db, base_of(charge.budget))
        return bool(rows) and charge is not None and int(rows[0]["seq"]) > charge.seq

    def _taken_over(self, db: Database, budget: str) -> list[tuple[int, list[Paid | Raised]]]:
        """For each budget that this one took over: the number of the row that says so, and the charges of the other
        budget, each with its loss for a person."""
        found: list[tuple[int, list[Paid | Raised]]] = []
        for row in reversed(owner_rows.protections(db, budget)):
            if (taken := taken_of(row)) is not None:
                unit = self._known_budget(db, taken.budget).unit
                found.append(
                    (int(row["seq"]), [*taken_over(self._charges_and_raises(db, taken.budget), unit, taken.rows)])
                )
        return found

    def _charges_and_raises(self, db: Database, budget: str) -> list[Paid | Raised]:
        """Every charge that counts in this budget and every raise of its cap, in order: from these the sums under
        another unit are computed. Charges of a budget that was taken over are listed at the row that took it over."""
        by_row_before = self._by_row_before(db, budget)
        others: list[tuple[int, list[Paid | Raised]]] = [
            (seq, [raised]) for seq, raised in owner_rows.raises(db, budget)
        ]
        others = sorted(others + self._taken_over(db, budget), key=lambda other: other[0])
        past: list[Paid | Raised] = []
        same: dict[Paid, Paid] = {}
        after = 0
        while page := sound_rows(db, _NEXT_CHARGES, [budget, after, _PAGE]):
            for row in page:
                while others and others[0][0] < row["seq"]:
                    past += others.pop(0)[1]
                paid = paid_of(row, row["seq"] < by_row_before)
                past.append(same.setdefault(paid, paid))
            after = page[-1]["seq"]
        return [*past, *(entry for _, entries in others for entry in entries)]

    def _released_before(
        self, db: Database, budget: str, row: int, but: str, visible: Callable[[Charge], bool] = lambda _: True
    ) -> Past:
        """The losses of the visible charges before a row, except that of the request `but`, as they count for a person
        now."""
        charges = (Charge.from_row(paid) for paid in sound_rows(db, _CHARGES_BEFORE, [budget, row]))
        anew, by_row_before = owner_rows.protections(db, budget), self._by_row_before(db, budget)
        rows = int(json.loads(anew[0]["body"])["unit"]["at_most"]) if anew else 1
        counted = (charge for charge in charges if charge.request != but and visible(charge))
        own = [for_group(charge.loss, rows if charge.seq < by_row_before else 1) for charge in counted]
        taken = (paid for _, part in self._taken_over(db, budget) for paid in part if isinstance(paid, Paid))
        return Past.of([*own, *(paid.loss for paid in taken)])

    # Refusing: what somebody may not do, and charges that exceed a limit

    def _refuse_act(self, db: Database, budget: str, table: str, actor: str) -> None:
        _refuse(people_rules.act_fault(PeopleBook(db), budget, table, actor))

    def _refuse_protecting(self, db: Database, budget: str, table: str, actor: str) -> None:
        """Refuse an actor who does not own every table on the budget, since more protection changes all its tables. If
        people keep apart, refuse everybody, since each person then has a budget of their own."""
        self._refuse_act(db, budget, table, actor)
        _refuse(people_rules.protect_fault(PeopleBook(db), budget, actor))

    def _refuse_step(self, db: Database, charge: Charge, claim: JsonObject) -> None:
        record, under = self._known_budget(db, charge.budget), "" if charge.sums is None else charge.sums.under
        facts = charge.actor, record, charge.table, under, people_rules.step_keys(charge.claim, claim), _now()[:10]
        _refuse(people_rules.step_fault(PeopleBook(db), *facts))

    def _refuse_unseen(self, db: Database, wanted: Reservation) -> None:
        seen = wanted.get("seen")
        if seen is not None:
            same = [wanted["budget"], wanted["table"], wanted["claim"].get("digest")]
            newest = sound_rows(db, _NEWEST, same)
            if newest and newest[0]["seq"] > seen:
                raise AllowanceError("request.meanwhile")

    def _admitted(
        self,
        db: Database,
        record: BudgetRecord,
        wanted: Sequence[Reservation],
        costs: Sequence[Cost],
        keep: Fraction | None,
        day: str,
    ) -> Payer | None:
        """The grant that pays (None where none is needed), or a refusal. Budget and grant must both admit the
        questions; if neither does, the refusal names the one with the smaller percentage left. What is left of a budget
        is never named if the budget also pays for a table unknown to this table's owners: that would reveal that both
        tables are about the same people."""
        before = self._standing(db, record.id).totals
        try:
            payer = payer_for(PeopleBook(db), record, wanted, costs, day)
        except BudgetExceeded as of_grant:
            left, unknown = of_grant.facts.get("left"), self._shared_unknown(db, record, wanted)
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
        """Does the budget also pay for a table that this table's owners do not know of? What is left of the budget
        would then reveal that both tables are about the same people."""
        return people_rules.known_tables(PeopleBook(db), record.id, wanted[0]["table"]) is not None

    # Writing rows

    def _sums(
        self,
        db: Database,
        record: BudgetRecord,
        payer: Payer | None,
        question: Reservation,
        paid: Cost,
        before: Standing,
    ) -> Sums | None:
        """What a charge under a grant stores: the holder's and the table's sums after the charge, and the approved wish
        that the charge uses up. None without a grant."""
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
        loss = question["loss"]
        return Sums(payer.grant.to, own.plus(paid, loss), of_table.plus(paid, loss), takes, held.moved + takes, wish)

    def _role(self, db: Database, person: str, role: str, table: str, on: bool, actor: str, budget: str) -> Role | None:
        book = PeopleBook(db)
        if on and book.has(person, role, table):
            return None
        if table and not people_rules.is_own(self._known_budget(db, budget)):
            raise AllowanceError("act.practice")
        _refuse(people_rules.role_fault(book, person, role, table, on, actor, budget))
        if book.has(person, role, table) == on:
            return None
        body = people_rules.body_of(person=person, role=role, table=table, on=on)
        return Role.from_row(self._append(db, "role", budget, "", actor, body, "", _now()))

    def _grant(self, db: Database, wanted: Grant) -> Grant:
        """Write a grant; the grant's number and time come from the row."""
        if not people_rules.is_own(self._known_budget(db, wanted.budget)):
            raise AllowanceError("act.practice")
        _refuse(people_rules.grant_fault(PeopleBook(db), wanted))
        terms = {"share": wanted.share, "questions": wanted.questions, "until": wanted.until}
        body = people_rules.body_of(table=wanted.table, to=wanted.to, **terms)
        return Grant.from_row(self._append(db, "grant", wanted.budget, "", wanted.actor, body, "", _now()))

    def _settle(self, request: str, kind: str, body: JsonObject) -> bool:
        text = canonical(body)
        with self._store.writing() as db:
            rows = sound_rows(db, _CHARGE, [request])
            if not rows:
                raise AllowanceError("request.unknown")
            if list(db.query(_OUTCOMES, [json.dumps([request])])):
                return False
            # The time of the charge: another time would reveal how long the draw took.
            [paid] = rows
            written = self._append(db, kind, paid["budget"], request, paid["actor"], text, "", paid["at"])
            if kind == "answer":
                repeats.note(db, written["seq"], paid["seq"], paid["budget"], paid["body"])
        return True

    def _listed(self, db: Database, budget: str, actor: str, claim: JsonObject, at: str) -> JsonObject:
        """The claim as the ledger stores it: each long list becomes a digest. A list that is new to the ledger gets a
        row of its own first."""
        claim, lists = long_lists.folded(claim)
        for digest, values in lists.items():
            if not long_lists.stands(db, digest):
                self._append(db, long_lists.KIND, budget, "", actor, long_lists.body_of(digest, values), "", at)
        return claim

    def _append(
        self, db: Database, kind: str, budget: str, request: str, actor: str, body: str, totals: str, at: str
    ) -> JsonObject:
        seq, prev = head_of(db)
        values = (seq + 1, at, kind, budget, request, actor, body, totals, prev)
        row: JsonObject = dict(zip(COLUMNS[:-1], values, strict=True))
        row["hash"] = hash_of(row)
        db.conn.execute(_INSERT, row)
        return row


# Reading the steps of a session


def steps_asked(db: Database, session: str) -> int:
    return int(next(iter(db.query(_ASKED, [session])))["n"])


def session_ended(db: Database, session: str) -> bool:
    return bool(sound_rows(db, _ENDED, [session]))


def _index(row: JsonObject) -> int:
    return int(json.loads(row["body"])["index"])


def find_step(db: Database, sql: str, session: str, step: str | int) -> SessionStep | None:
    """A step of a session with its outcome, or None. `step` is the step's id if `sql` is _BY_ID, its number if `sql` is
    _NUMBERED."""
    rows = sound_rows(db, sql, [session, step])
    if not rows:
        return None
    burned = SessionStep.from_row(rows[0])
    outcomes = sound_rows(db, _OUTCOME_OF, [burned.session, burned.index])
    return SessionStep.from_row(rows[0], outcomes[0] if outcomes else None)


# Refusals


def _admit(rule: Rule, before: Totals, costs: Sequence[Cost], keep: Fraction | None) -> None:
    """Refuse unless the rule admits all costs together. Sums only grow, so the rule then admits each cost in turn."""
    after = reduce(Totals.plus, costs, before)
    if keep is None and not admits(rule, after):
        raise _refusal(rule, before, costs[0]) if len(costs) == 1 else BudgetExceeded("plan.exceeded")
    if keep is not None and not (admits(rule, after) and used(rule, after) <= 1 - keep):
        raise BudgetExceeded("plan.exceeded")


def refuse_over_cap(rule: Rule, after: Totals, joined: bool = False) -> None:
    """Refuse more protection if the sums counted anew, `after`, exceed the cap; the budget's owner must raise the cap
    first. `joined`: the protection is that the budget takes over another one."""
    if not admits(rule, after):
        needs = cap_needed(rule, after)
        if needs is None:
            raise BudgetExceeded("joined.never" if joined else "protect.never")
        raise BudgetExceeded("joined.exceeded" if joined else "protect.exceeded", needs=needs, cap=rule.epsilon)


def cap_needed(rule: Rule, totals: Totals) -> Fraction | None:
    """The least cap ε that admits these sums, rounded up to hundredths; None if no cap does."""
    needs = up(spent(rule, totals), SHOWN)
    return None if totals.delta > rule.delta_reserve or needs > MOST_EPSILON else needs


def _refusal(rule: Rule, before: Totals, paid: Cost) -> BudgetExceeded:
    reserve = rule.delta_reserve - before.delta
    if paid.delta > reserve:
        return BudgetExceeded("budget.exceeded_delta", price=paid.delta, left=reserve)
    takes, left = share(rule, before, paid) * 100, max(1 - used(rule, before), Fraction(0)) * 100
    return BudgetExceeded("budget.exceeded", price=up(takes, SHOWN), left=down(left, SHOWN))


def _refuse(code: str | None) -> None:
    if code is not None:
        raise AllowanceError(code)


def _now() -> str:
    """The time to the second, for people to read. Rows are ordered by number, since clocks can be changed."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def open_ledger(path: Path, secret: bytes = b"") -> Ledger:
    """The ledger of a workspace: the file at `path`, unless the environment names a database (store.py). `secret`: the
    folder's key, from which the database's mark is derived."""
    address = address_set()
    if address is None:
        return Ledger(path)
    from dpengine.ledger.postgres_store import PostgresLedger  # imported only when used

    return Ledger(path, store=PostgresLedger(path, address, mark=mark_of(secret) if secret else ""))
