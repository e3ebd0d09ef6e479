"""The face of a workspace: everything one person may do, and nothing else. Where people sign in, pages and the API use
only this, so a page that forgets to check a right does no harm.

Every verb is checked when it is called, against the ledger at that moment (rights.py lists who may use which verb). The
ledger itself decides once more about everything that spends or changes, in the transaction that writes its row. A face
never hands out the workspace, its tables, ledger or jobs, but faces of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import cast

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.asking.answers import Answer, Job, Meter, Preview, build_meter, claim_of
from dpengine.asking.exports import AuditRow, audit_row
from dpengine.asking.jobs import Jobs
from dpengine.asking.plan import Planner, PlanRow, PlanRun, Priced
from dpengine.asking.receipts import Finding, check, read_receipts
from dpengine.asking.release import new_request
from dpengine.asking.sessions import BEST, Session
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import down, read_number
from dpengine.core.types import Json
from dpengine.declared.source import Joined, Source
from dpengine.declared.summary import Summary
from dpengine.intake.postgres import Described
from dpengine.ledger import people_rules
from dpengine.ledger.chain import Verdict
from dpengine.ledger.exports import export_lines
from dpengine.ledger.ledger import Act, BudgetRecord, Entry, Ledger, Standing
from dpengine.ledger.payers import Payer, payers_of
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rules import ALL_QUESTIONS, BARRED, Decision, Grant, Role, ShareRequest, apart_id, base_of
from dpengine.ledger.rows import together
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.people import limiter, rights
from dpengine.people.home import House, PersonHome, Standpoint, today
from dpengine.storage.matches import Match
from dpengine.storage.people_names import KnownPerson
from dpengine.storage.registry import Record
from dpengine.storage.tokens import Token
from dpengine.table import Table

NOTHING = Fraction(0)


class PersonTable(Table):
    """A table as one person asks it: both the table's budget and the person's own grant must admit each question."""

    @property
    def _delta_at_hand(self) -> Fraction:
        """The person's share of the δ reserve; rounded down to two figures, unless the person has all of it."""
        payer, grain = self._payer(), 1
        whole = self.budget.rule.delta_reserve
        part = whole if payer is None else whole * payer.grant.share
        while 0 < part * grain < 10:
            grain *= 10
        return part if part == whole else down(part, grain)

    def _follows(self) -> None:
        """None, so that no price is cached: prices also depend on the person's grants."""
        return None

    def preview(self, query: AnyQuery, checked: bool = False) -> Preview:
        """The table's preview of a question, with two more facts: whether the allowance or the person's grant is
        tighter, and whether the question needs a decision."""
        seen = super().preview(query, checked)
        if self.practice:
            return seen
        rule, price = self.budget.rule, cost(query.loss(), self.budget.rule.alpha)
        checks = self.checks_for([query]) if checked else []
        first = [cost(check.loss(), rule.alpha) for check in checks]
        payers = [payer for payer in self._payers() if payer.grant.allows(query.card.key)]
        fitting = (payer for payer in payers if _fits(rule, payer, price))
        payer = next(fitting, _roomiest(payers))  # as the ledger chooses
        table_left = max(1 - filter.used(rule, self._standing().totals), NOTHING)
        if payer is None:
            covered, left = self._payer() is None, self._left()  # covered: they have no grant; else theirs excludes it
            seen = replace(seen, own_share=seen.share, own_left=left, tighter="own", covered=covered)
            return replace(seen, admissible=False, more_like_this=0)
        left = people_rules.room(payer.grant, payer.held)
        return replace(
            seen,
            admissible=seen.admissible and _fits(rule, payer, price),
            more_like_this=min(seen.more_like_this, _times(rule, payer, price)),
            own_share=people_rules.moves(rule, payer.meter, [*first, price]),
            own_left=left,
            own_whole=payer.grant.share,
            own_delta=people_rules.delta_fits(rule, payer.grant, payer.held, [price]),
            tighter="own" if left < table_left else "table",
            waits=self._waits(query, seen.share),
        )

    def prices(self, queries: Sequence[AnyQuery], checked: bool = False) -> list[Fraction | None]:
        """The table's prices; None also for a question that exceeds what is left of the person's own share."""
        prices = super().prices(queries, checked)
        if self.practice:
            return prices
        rule, payers = self.budget.rule, self._payers()

        def fits(query: AnyQuery) -> bool:
            able = [payer for payer in payers if payer.grant.allows(query.card.key)]
            usual = [cost(version.loss(), rule.alpha) for version in (query, self.cheapest(query))]
            return any(_fits(rule, payer, price) for payer in able for price in usual)

        return [price if fits(query) else None for price, query in zip(prices, queries, strict=True)]

    def suggestions(self) -> list[AnyQuery]:
        """The table's suggestions, without those that exceed what is left of the person's own share."""
        return [query for query in super().suggestions() if self.preview(query).admissible]

    def at_share(self, query: AnyQuery, share: Fraction) -> AnyQuery | None:
        return super().at_share(query, min(share, self._left()))

    def training_for(self, key: str, share: Fraction, /, **parameters: Json) -> AnyQuery:
        return super().training_for(key, min(share, self._left()), **parameters)

    def session_for(self, questions: Json, share: Fraction, calibration: str = BEST) -> AdaptiveSession:
        return super().session_for(questions, min(share, self._left()), calibration)

    def planner(self, keep: Fraction = NOTHING) -> Planner:
        payer, standing = self._payer(), self._standing()  # read before the cap, as in `preview`
        if self.practice:
            return super().planner(keep)
        return PersonPlanner(self.budget.rule, standing.totals, keep, payer)

    def _priced(self, queries: Sequence[AnyQuery]) -> Priced:
        return super()._priced(queries) if self.practice else self.planner().price_of(queries)

    def _payer(self) -> Payer | None:
        """The grant with the most left, with its sums; None without a grant."""
        return _roomiest(self._payers())

    def _payers(self) -> list[Payer]:
        return [] if self.practice else _payers(self._workspace.ledger, self.budget, self.name, self.actor)

    def _spendable(self) -> Fraction:
        """What is left of the table's allowance or of the person's own share, whichever is less."""
        unused = super()._spendable()
        return unused if self._payer() is None else min(unused, self._left())

    def _left(self) -> Fraction:
        """What is left of the person's own share, as a share of the table's allowance; 1 on a practice budget."""
        payer = self._payer()
        if payer is None:
            return Fraction(1) if self.practice else NOTHING
        return people_rules.room(payer.grant, payer.held)

    def _waits(self, query: AnyQuery, takes: Fraction) -> bool:
        with self._workspace.ledger.people() as book:
            most = book.limit(base_of(self._budget.id), self.name)
            if most is None or takes <= most:
                return False
            return people_rules.approval(book, self.actor, self._budget.id, self.name, claim_of(query)) is None


class PersonPlanner(Planner):
    """Prices plans against the budget and the person's grant. If the grant is tighter, a plan's `over` is by how much
    the plan exceeds the grant."""

    def __init__(self, rule: Rule, totals: Totals, keep: Fraction, payer: Payer | None) -> None:
        super().__init__(rule, totals, keep)
        self._payer = payer

    def _priced(self, rows: Sequence[PlanRow]) -> Priced:
        priced = super()._priced(rows)
        if self._payer is None:
            return replace(priced, admitted=False)
        payer, costs = self._payer, [option[1] for _, option in rows if option is not None]
        if not people_rules.delta_fits(self._rule, payer.grant, payer.held, costs):
            priced = replace(priced, admitted=False)
        beyond = payer.held.moved + people_rules.moves(self._rule, payer.meter, costs) - payer.grant.share
        if beyond <= priced.over:
            return priced
        return replace(priced, keep=1 - priced.used - priced.share + beyond)


def payer_of(ledger: Ledger, budget: BudgetRecord, table: str, person: str) -> Payer | None:
    """The grant that a page shows: the first with something left, else the first of all. None without a grant."""
    payers = _payers(ledger, budget, table, person)
    left = (payer for payer in payers if people_rules.room(payer.grant, payer.held) > 0)
    return next(left, payers[0] if payers else None)


def _payers(ledger: Ledger, budget: BudgetRecord, table: str, person: str) -> list[Payer]:
    """Every grant that may pay, in the order in which the ledger tries them."""

    def read(book: PeopleBook) -> list[Payer]:
        return payers_of(book, budget, table, people_rules.grants_for(book, person, budget.id, table, today()))

    return ledger.cached_people(("payers", budget.id, table, person, today()), read)


def _fits(rule: Rule, payer: Payer, price: Cost) -> bool:
    return people_rules.fits(rule, payer.grant, payer.held, payer.meter, [price])


def _roomiest(payers: Sequence[Payer]) -> Payer | None:
    return max(payers, key=lambda payer: people_rules.room(payer.grant, payer.held), default=None)


def own_meter(record: BudgetRecord, payer: Payer | None) -> Meter:
    """The meter of a person's own share. `used` is how far the person moved the table's meter, divided by their grant;
    1 without a grant."""
    if payer is None:
        return replace(build_meter(record, Standing.NOTHING), used=Fraction(1), share=NOTHING)
    share = payer.grant.share
    return replace(build_meter(record, payer.own), used=payer.held.moved / share, share=share)


def _times(rule: Rule, payer: Payer, price: Cost) -> int:
    """How many more questions of this price a grant admits: the meter, by ε or by Rényi loss, whichever admits more,
    must stay within its present reading plus what is left of the grant."""
    reach = filter.used(rule, payer.meter) + people_rules.room(payer.grant, payer.held)
    runs = [0]
    if payer.meter.epsilon is not None and price.epsilon:
        runs.append((rule.epsilon * reach - payer.meter.epsilon) // price.epsilon)
    if rule.c is not None and rule.c < rule.epsilon and price.renyi:
        runs.append(((rule.epsilon - rule.c) * reach - payer.meter.renyi) // price.renyi)
    if not price.delta:
        return max(runs)
    return min(max(runs), people_rules.delta_room(rule, payer.grant, payer.held) // price.delta)


# The face itself

_log = logging.getLogger("allowance")


@dataclass(frozen=True)
class HeldGrant:
    """A grant, and how much of it is used: how far its holder moved the table's meter."""

    grant: Grant
    used: Fraction


@dataclass(frozen=True)
class AskedFor:
    """A wish for more, and the decision on it if there is one."""

    wanted: ShareRequest
    decision: Decision | None


@dataclass(frozen=True)
class BudgetAccount:
    """A budget as an auditor reads it: its record, the tables that spend it, and its meter."""

    budget: BudgetRecord
    tables: tuple[str, ...]
    meter: Meter


class Face:
    """A workspace as one person may use it: every verb is checked when it is called."""

    __slots__ = ("_at", "person")
    served = True

    def __init__(self, house: House, person: str) -> None:
        self._at = Standpoint(house, person)
        self.person = person

    def may(self, verb: str, table: str | None = None) -> bool:
        """May the person use this verb now: on this table, or, without one, at all? Pages use this to decide what they
        show; the verb itself checks too."""
        verbs = rights.WORKSPACE | rights.TABLE if table is not None else rights.WORKSPACE
        return verb in verbs and self._at.may(verbs[verb], table)

    @property
    def samples_only(self) -> bool:
        self._check("samples_only")
        return self._at.house.samples_only

    @property
    def folder(self) -> Path:
        """The folder for files that this person uploaded and that are no table yet. This folder holds nobody else's
        files."""
        self._check("folder")
        place = self._at.house.folder / "people" / self.person
        for part in (place.parent, place, place / "tmp", place / "files"):
            part.mkdir(mode=0o700, exist_ok=True)
        return place

    @property
    def ledger(self) -> Ledger:
        """The ledger with only those rows that this person may see."""
        return cast(Ledger, Guarded(self._at, self._at.ledger, rights.LEDGER, None))

    @property
    def jobs(self) -> Jobs:
        return cast(Jobs, Guarded(self._at, self._at.jobs, rights.JOBS, None))

    # Tables

    def table(self, name: str, visitor: str = "") -> Table:
        """A table that this person may see. For a bundled sample the person has a practice budget of their own."""
        self._check("table", name)
        return self._table(name)

    def _table(self, name: str, joined: bool = False) -> Table:
        record = self._at.house.record(name)
        table = PersonTable(PersonHome(self._at), record, self._at.budget_of(record), self.person, joined)
        return cast(Table, faced(self._at, table))

    def tables(self) -> list[Record]:
        self._check("tables")
        return [record for record in self._at.house.tables() if self._at.visible(record.name, record.budget)]

    def names(self) -> list[tuple[str, str]]:
        self._check("names")
        knows = self._administers()  # whoever hands tables over knows which there are
        return [(name, budget) for name, budget in self._at.house.names() if knows or self._at.visible(name, budget)]

    def here(self, name: str) -> bool:
        self._check("here")
        return self._at.visible(name) and self._at.house.here(name)

    def closed(self) -> dict[str, str]:
        self._check("closed")
        return {name: kind for name, kind in self._at.house.closed().items() if self._at.visible(name)}

    def add_table(self, name: str, source: object, **declared: object) -> Table:
        """Add a table. The person becomes its owner and is granted its whole allowance."""
        self._check("add_table")
        files = (source.events, source.people) if isinstance(source, Joined) else (source,)
        for file in files:
            if isinstance(file, str | Path) and self.folder.resolve() not in Path(file).resolve().parents:
                raise AllowanceError("load.absent")  # files outside their own folder do not exist for them
        added = self._at.house.add_table(name, source, **declared | {"actor": self.person})
        return self._table(added.name, added.joined)

    def describe_source(self, source: Source) -> Described:
        """The columns of a database table. Refused unless the operator allowed the database's host."""
        self._check("describe_source")
        described = self._at.house.describe_source(source)
        return replace(described, earlier=tuple(name for name in described.earlier if self._at.governs(name)))

    @property
    def reads_databases(self) -> bool:
        self._check("reads_databases")
        return self._at.house.reads_databases

    @property
    def reads_lakes(self) -> bool:
        self._check("reads_lakes")
        return self._at.house.reads_lakes

    def has_source(self, name: str) -> bool:
        self._check("has_source", name)
        return self._at.house.has_source(name)

    def bring_newer(self, name: str, newer: str, **declared: object) -> Table:
        """Load a newer state of a database table that this person owns, as another table."""
        self._check("bring_newer", name)
        added = self._at.house.bring_newer(name, newer, **declared | {"actor": self.person})
        return self._table(added.name, added.joined)

    def one_row_a_person(self, name: str, made: str, summaries: Mapping[str, Summary], **more: object) -> Table:
        """Make a table with one row for each person from a table that this person owns."""
        self._check("one_row_a_person", name)
        added = self._at.house.one_row_a_person(name, made, summaries, **more | {"actor": self.person})
        return self._table(added.name, added.joined)

    def seal(self, name: str, actor: str = "") -> Act:
        self._check("seal", name)
        return self._at.house.seal(name, self.person)

    def forget(self, name: str, actor: str = "") -> Act:
        self._check("forget", name)
        return self._at.house.forget(name, self.person)

    def raise_cap(self, name: str, epsilon: object, actor: str = "") -> Act:
        self._check("raise_cap", name)
        return self._at.house.raise_cap(name, epsilon, self.person)

    # Tokens, by which a program asks for a person (storage/tokens.py)

    def new_token(
        self, name: str, tables: Sequence[str] = (), metrics: bool = False, until: str = ""
    ) -> tuple[str, Token]:
        """A new token, which is shown now and never again, and its stored record. The token covers the named tables, or
        all that the person may see. With `metrics` it covers only figures about the server, and only an administrator
        may create it. `until`: the token's last day, at most a year from now; by default in 90 days."""
        self._check("new_token")
        for table in tables:
            self._check("table", table)
        if metrics and not self._administers():
            raise AllowanceError("people.no_right")
        shown, token = self._at.house.token_book.make(self.person, name, tables, metrics, until)
        _log.warning("token made: %s by %s", token.id, self.person)
        return shown, token

    def tokens(self, person: str | None = None) -> list[Token]:
        """The person's own tokens. An administrator may also name another `person` to see theirs."""
        self._check("tokens")
        if person not in (None, self.person) and not self._administers():
            raise AllowanceError("people.no_right")
        return self._at.house.token_book.of(person or self.person)

    def revoke_token(self, token: str) -> None:
        """Revoke one of the person's own tokens by its id, for good; an administrator may revoke anybody's."""
        self._check("revoke_token")
        known = self._at.house.token_book.find(token)
        if known is None or not (known.person == self.person or self._administers()):
            raise AllowanceError("token.unknown")
        self._at.house.token_book.revoke(token)
        _log.warning("token revoked: %s by %s", token, self.person)

    # Answers

    def answer_of(self, entry: Entry) -> Answer | None:
        self._check("answer_of", entry.charge.table)
        return PersonHome(self._at).answer_of(entry)

    def job(self, request_id: str, actor: str = "") -> Job:
        """The state of a question that this person asked; `unknown` for any other question."""
        self._check("job")
        return PersonHome(self._at).job(request_id)

    def published_file(self, request_id: str) -> Path:
        self._check("published_file")
        entry = self._at.ledger.find(request_id)
        if entry is None:
            raise AllowanceError("request.unknown")
        self._check("published_file", entry.charge.table)
        return self._at.house.published_file(request_id)

    def verify_ledger(self) -> Verdict:
        self._check("verify_ledger")
        return self._at.house.verify_ledger()

    def check_receipts(self, content: bytes, name: str) -> list[Finding]:
        """Check receipts against the rows that this person may see; a receipt about any other row counts as unknown."""
        self._check("check_receipts")
        rows = self._at.house.ledger.export_rows()  # all: the chain is one
        return check(read_receipts(content, name), rows, lambda request: self._at.ledger.find(request) is not None)

    # Names, roles and groups

    def people(self) -> list[KnownPerson]:
        """Everybody who ever signed in or was named."""
        self._check("people")
        return self._at.house.people()

    def myself(self) -> KnownPerson:
        """The person's own name and address, as far as they are stored."""
        self._check("myself")
        people = self._at.house.people()
        return next((known for known in people if known.id == self.person), KnownPerson(self.person, "", "", ""))

    def roles(self, person: str | None = None) -> list[Role]:
        """The present roles of everybody, or of one person. Owners are listed only for tables that this person may know
        of."""
        self._check("roles")
        with self._at.house.ledger.people() as book:
            named = book.roles() if person is None else book.roles_of(person)
        knows = self._at.may(frozenset({rights.ADMINISTRATOR, rights.AUDITOR}))
        return [role for role in named if knows or not role.table or self._at.visible(role.table)]

    def name_role(self, person: str, role: str, on: bool = True, table: str = "") -> None:
        """Make a person an administrator, an auditor or an owner, or bar them. With `on` false, take that back."""
        self._check("name_role")
        budget = self._at.house.record(table).budget if table else ""
        self._at.house.ledger.name_role(person, role, self.person, table, on, budget)
        if role == BARRED:  # and none of their tokens opens anything when they come back
            self._at.house.token_book.revoke_all(person)

    def hand_over(self, table: str, person: str) -> None:
        """Make a person an owner of a table. A person without a grant on the table gets a grant of its whole
        allowance."""
        record = self._private_record("hand_over", table)
        self._at.house.ledger.hand_over(record.budget, table, person, self.person)

    def forget_person(self, person: str) -> None:
        """Delete a person's name, address and tokens; what they did stays in the ledger."""
        self._check("forget_person")
        self._at.house.forget_person(person)

    def groups(self) -> dict[str, tuple[str, ...]]:
        self._check("groups")
        with self._at.house.ledger.people() as book:
            return book.groups()

    def name_group(self, group: str, people: Sequence[str]) -> None:
        """Set the members of a group. The group's name must begin with `g-`."""
        self._check("name_group")
        self._at.house.ledger.name_group(group, people, self.person)

    def matches(self) -> list[Match]:
        """Tables with the same content as another owner's table. Only an administrator may see them."""
        self._check("matches")
        return self._at.house.matches()

    # Grants

    def meter(self, table: str) -> tuple[Meter, Meter]:
        """Two meters: of the person's own share, and of the table's allowance. If people keep apart, the second adds up
        all their budgets, as if they pooled their answers."""
        self._check("meter", table)
        record, ledger = self._at.house.record(table), self._at.ledger
        budget = self._at.budget_of(record)
        if record.practice:
            whole = build_meter(budget, ledger.standing(budget.id))
            return whole, whole
        mine = own_meter(budget, payer_of(ledger, budget, table, self.person))
        with self._at.house.ledger.people() as book:
            apart = book.apart(record.budget)
        if apart is None:
            return mine, build_meter(budget, ledger.standing(budget.id))
        # Order and toll are the same for all, so their sums add up, and the reading holds for the whole as for each
        # person. It may pass 100 %.
        budgets = [record.budget, *(apart_id(record.budget, person) for person in apart)]
        everybody = together(ledger.standing(budget) for budget in budgets)
        return mine, build_meter(self._at.house.ledger.budget(record.budget), everybody)

    def grant(
        self, table: str, to: str, share: Json, questions: Sequence[str] = ALL_QUESTIONS, until: str = ""
    ) -> Grant:
        """Let a person or a group use a share of the allowance. `questions`: patterns of keys; a leading ! forbids.
        `until`: the last day. A share of 0 takes back what was not used; the questions and last day of the grant stay
        on record, so that an older wish, approved later, does not lift them."""
        record = self._private_record("grant", table)
        given = read_number(share, "share")
        if not given:
            with self._at.house.ledger.people() as book:
                before = book.grant(record.budget, table, to)
            questions, until = (questions, until) if before is None else (before.questions, before.until)
        return self._at.house.ledger.grant(record.budget, table, to, given, self.person, questions, until)

    def grants(self, table: str) -> list[HeldGrant]:
        """All grants on a table, and what their holders used."""
        record = self._private_record("grants", table)
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
        """From now on a question that takes more than this share waits for a decision. None removes the limit."""
        record = self._private_record("set_limit", table)
        most = None if share is None else read_number(share, "share")
        self._at.house.ledger.set_limit(record.budget, table, most, self.person)

    def limit(self, table: str) -> Fraction | None:
        record = self._private_record("limit", table)
        with self._at.house.ledger.people() as book:
            return book.limit(record.budget, table)

    def keep_apart(self, table: str, people: Sequence[str]) -> None:
        """Record the agreement that these people keep their answers to themselves: each person gets a budget of their
        own, on the same terms. Refused after the first question. Only an administrator may record it: an owner would
        learn from a refusal that somebody else has the same content."""
        record = self._private_record("keep_apart", table)
        self._at.house.ledger.keep_apart(record.budget, table, people, self.person)

    def agreements(self) -> dict[str, tuple[str, ...]]:
        """For each table on which people keep apart, these people."""
        self._check("agreements")
        with self._at.house.ledger.people() as book:
            return {name: apart for name, budget in self._at.house.names() if (apart := book.apart(budget)) is not None}

    # Requests for more

    def wish(
        self, table: str, reason: str, share: Json | None = None, query: AnyQuery | None = None, wish_id: str = ""
    ) -> ShareRequest:
        """Ask the owner for a total share of the allowance, or for one question above the limit, with a reason."""
        record = self._private_record("wish", table)
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
        """The person's own wishes, even about a table that the person may no longer see, and the wishes that the person
        may decide. An owner also sees all wishes about the table, an auditor all wishes."""
        self._check("wishes")
        with self._at.house.ledger.people() as book:
            asked = [wanted for wanted in book.all_wishes() if table in (None, wanted.table)]
            return [AskedFor(wanted, book.decision(wanted.id)) for wanted in asked if self._sees(book, wanted)]

    def pending(self) -> list[ShareRequest]:
        """The wishes that wait for this person's decision. Pages show how many there are."""
        self._check("pending")
        with self._at.house.ledger.people() as book:
            waiting = [wanted for wanted in book.all_wishes() if people_rules.may_decide(book, wanted, self.person)]
            return [wanted for wanted in waiting if book.decision(wanted.id) is None]

    def decide(self, wish: str, answer: str, share: Json | None = None) -> Decision:
        """Approve (`yes`), decline (`no`) or change a wish (`changed`, to `share`). Nobody decides a wish of their
        own."""
        self._check("decide")
        with self._at.house.ledger.people() as book:
            wanted = book.wanted(wish)
            if wanted is None or not self._sees(book, wanted):
                raise AllowanceError("people.wish_unknown")
        given = None if share is None else read_number(share, "share")
        return self._at.house.ledger.decide(wish, answer, self.person, given)

    def _sees(self, book: PeopleBook, wanted: ShareRequest) -> bool:
        if wanted.actor == self.person or people_rules.may_decide(book, wanted, self.person):
            return True
        return bool(self._at.relations(wanted.table) & {rights.OWNER, rights.AUDITOR})

    # What an auditor reads

    def accounts(self) -> list[BudgetAccount]:
        """Every private budget, with the tables that spend it."""
        self._check("accounts")
        house, accounts = self._at.house, []
        with house.ledger.people() as book:
            apart = {budget: book.apart(budget) or () for _, budget in house.names()}
        for base, people in apart.items():
            tables = tuple(name for name, budget in house.names() if budget == base)
            for budget in (base, *(apart_id(base, person) for person in people)):
                record = house.ledger.budget(budget)
                accounts.append(BudgetAccount(record, tables, build_meter(record, house.ledger.standing(budget))))
        return accounts

    def acts_of(self, person: str | None = None, most: int = 100, before: int | None = None) -> list[AuditRow]:
        """What everybody or one person did, newest first: each question, grant, wish, decision and act."""
        self._check("acts_of")
        return [audit_row(row) for row in self._at.house.ledger.acts_by(person, most, before)]

    def export(self) -> Iterator[str]:
        """The whole ledger as lines of JSON, so that it can be checked elsewhere."""
        self._check("export")
        return export_lines(self._at.house.ledger)

    # Checks

    def _administers(self) -> bool:
        return self._at.may(frozenset({rights.ADMINISTRATOR}))

    def _check(self, verb: str, table: str | None = None) -> None:
        self._at.refuse(rights.WORKSPACE[verb], table)
        limiter.here.verb(self.person, verb)

    def _private_record(self, verb: str, table: str) -> Record:
        self._check(verb, table)
        record = self._at.house.record(table)
        if record.practice:
            raise AllowanceError("act.practice")
        return record


class Guarded:
    """A table or a session of which only some verbs can be used; each verb is checked when it is called."""

    __slots__ = ("__at", "__inner", "__name", "__verbs")

    def __init__(self, at: Standpoint, inner: object, verbs: Mapping[str, frozenset[str]], name: str | None) -> None:
        self.__at, self.__inner, self.__verbs, self.__name = at, inner, verbs, name

    def __getattr__(self, verb: str) -> object:
        if verb not in self.__verbs:
            raise AttributeError(verb)
        at, verbs, name = self.__at, self.__verbs, self.__name
        kind = type(self.__inner)
        if not callable(getattr(kind, verb, None)):
            at.refuse(verbs[verb], name)
            return getattr(self.__inner, verb)
        act = getattr(self.__inner, verb)

        def checked(*given: object, **named: object) -> object:
            at.refuse(verbs[verb], name)
            limiter.here.verb(at.person, verb)
            return faced(at, act(*given, **named))

        checked.__name__, checked.__doc__ = verb, act.__doc__  # and nothing that leads to `act`
        return checked

    def __dir__(self) -> list[str]:
        return sorted(self.__verbs)


def faced(at: Standpoint, value: object) -> object:
    """The result of a verb as this person may have it: a table or a session becomes guarded, and a plan of somebody
    else's is empty."""
    if isinstance(value, Table):
        return Guarded(at, value, rights.TABLE, value.name)
    if isinstance(value, Session):
        if value.entry.charge.actor != at.person:
            raise AllowanceError("session.unknown")
        return Guarded(at, value, rights.SESSION, value.entry.charge.table)
    if isinstance(value, PlanRun) and any(entry.charge.actor != at.person for entry, _ in value.rows):
        return PlanRun(value.id)
    return value
