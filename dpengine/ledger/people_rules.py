"""Who may write which row about people, and which grant pays for a question: the one place that decides it.

The ledger asks here inside the transaction that writes the row. The check of the whole chain asks again, from the rows
alone. Both pass a `Book`.

**A grant** is a second, plain limit beside the budget's rule. It bounds how far its holder moves *the table's* meter:
over the holder's rows on the budget, the sum of used(after) − used(before) at the moment of each charge stays within
the granted share, and the sum of their δ within that share of the δ reserve. So all holders' parts add up to the
table's meter, and a grant of 1 % takes at most 1 % of it, whatever was asked before. (To read the holder's rows as a
budget of their own would not do: a Gaussian after other people's Laplace questions moves the table's meter by far more
than a meter that starts at 0.) Colleagues do not change what a holder has used; they do change what the next question
takes, as they change it for everybody. When a cap is raised, the meter falls, and every holder's part falls in the same
proportion. When more protection is declared, every charge counts for more, and every holder's part is counted anew
(`moved_anew`); it may then exceed the grant, which admits nothing more. The table's meter is the one that its owners
read: if the budget also pays for a table of owners who do not know of this one, the meter covers the tables they know.

A grant proves nothing by itself and need not: whatever k people ask together, through any number of grants, is one
adaptive conversation charged to one budget, and the rule of that budget covers it (filter.py). A grant to a group is
one limit that its members share. A person with a grant of their own uses that first, then those of their groups by
name.

**The rows.** A ledger without any of them belongs to one person, and nothing is checked.

    role       a person becomes an administrator, an auditor or an owner, or is barred; `on` false takes it back
    group      a name for several people; the newest row of a name counts
    grant      a person or a group may use a share of a table's allowance, for some questions, until some day
    wish       a request for a larger share, or for one question above the owner's limit, with a reason
    decided    the decision on it: `yes`, `no` or `changed`; once, and never by the requester
    limit      a question that takes more than this share of the allowance waits for a decision
    agreement  people who keep their answers to themselves: from then on each has a budget of their own

The first `role` row makes the workspace *served*: from then on every act needs a right. The newest row for a person and
a table counts. A person is an opaque id; names are in the registry, which can forget them. A charge in a served
workspace names the holder of its grant (`under`) and carries two more running sums, of that holder and of its table; so
a decision takes the same work after a hundred thousand rows as after ten.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import reduce
from typing import Protocol

from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals, share, used
from dpengine.core.exact import PICO, up
from dpengine.core.strict_json import canonical
from dpengine.core.types import Json, JsonObject
from dpengine.ledger.rows import BudgetRecord, LedgerRow, Moved, Paid, Raised, Standing, named, parts_of, together

KINDS = ("role", "group", "grant", "wish", "decided", "limit", "agreement")
ADMINISTRATOR, AUDITOR, OWNER, BARRED = "administrator", "auditor", "owner", "barred"
ROLES = (ADMINISTRATOR, AUDITOR, OWNER, BARRED)
OPERATOR = "operator"  # whoever runs a command on the machine itself
ALL_QUESTIONS = ("*",)
YES, NO, CHANGED = "yes", "no", "changed"
CHECK = "fit_checks"
NO_RIGHT = "people.no_right"
MOST_WAITING = 5  # open requests of one person about one table
ASKED_AS = {"share": "proportion", "average": "mean", "largest": "noisy_argmax"}  # a step as a single question
_PERSON, _GROUP = re.compile(r"p-[0-9a-f]{32}"), re.compile(r"g-.{1,40}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def is_person(actor: object) -> bool:
    return isinstance(actor, str) and _PERSON.fullmatch(actor) is not None


def is_group(name: object) -> bool:
    return isinstance(name, str) and _GROUP.fullmatch(name) is not None and name.isprintable()


@dataclass(frozen=True)
class Role:
    """A row that gives a role to a person (`on`) or takes the role back. `table`: empty unless the role is about one
    table."""

    seq: int
    at: str
    actor: str
    person: str
    role: str
    table: str
    on: bool

    @staticmethod
    def from_row(row: LedgerRow) -> Role:
        return named(Role, parts_of(row))


@dataclass(frozen=True)
class Grant:
    """The share of a table's allowance that a person or a group may use."""

    seq: int
    at: str
    actor: str
    budget: str
    table: str
    to: str
    share: Fraction
    questions: tuple[str, ...]  # patterns of keys; a leading ! forbids
    until: str  # the last day on which it may be used; empty: no end

    @staticmethod
    def from_row(row: LedgerRow) -> Grant:
        parts = parts_of(row)
        return named(Grant, parts | {"share": Fraction(parts["share"]), "questions": tuple(parts["questions"])})

    def live(self, day: str) -> bool:
        return self.share > 0 and (not self.until or day <= self.until)

    def allows(self, key: str) -> bool:
        """May this grant pay for a question of this key? Every grant pays for the check that is bought with a
        question."""
        if key == CHECK:
            return True
        wanted = any(fnmatchcase(key, pattern) for pattern in self.questions if not pattern.startswith("!"))
        return wanted and not any(
            fnmatchcase(key, pattern[1:]) for pattern in self.questions if pattern.startswith("!")
        )


@dataclass(frozen=True)
class ShareRequest:
    """A wish: for a larger `share` of the allowance, or for one question (`claim`) that takes the share `takes`."""

    id: str
    seq: int
    at: str
    actor: str
    budget: str
    table: str
    reason: str
    share: Fraction | None
    claim: JsonObject | None
    takes: Fraction | None

    @staticmethod
    def from_row(row: LedgerRow) -> ShareRequest:
        parts = parts_of(row)
        amounts = {name: None if parts[name] is None else Fraction(parts[name]) for name in ("share", "takes")}
        return named(ShareRequest, parts | amounts | {"id": row["request"]})


@dataclass(frozen=True)
class Decision:
    seq: int
    at: str
    actor: str
    wish: str
    answer: str
    share: Fraction | None

    @staticmethod
    def from_row(row: LedgerRow) -> Decision:
        parts = parts_of(row)
        share = None if parts["share"] is None else Fraction(parts["share"])
        return named(Decision, parts | {"wish": row["request"], "share": share})


def body_of(**parts: Json) -> str:
    """The body of a row about people as canonical JSON: shares as text, people sorted."""
    parts |= {name: str(part) for name, part in parts.items() if isinstance(part, Fraction)}
    parts |= {"people": sorted(set(parts["people"]))} if "people" in parts else {}
    return canonical(parts)


def apart_id(budget: str, person: str) -> str:
    """The id of the budget that a person has of their own once people keep apart."""
    return f"{budget}:{person}"


def base_of(budget: str) -> str:
    """The id of the shared budget that a table was declared with."""
    base, _, person = budget.rpartition(":")
    return base if is_person(person) else budget


def is_own(record: BudgetRecord) -> bool:
    """Is this a table's own budget, and not one for practice or of a person who keeps apart?"""
    return record.kind == "private" and base_of(record.id) == record.id


@dataclass(frozen=True)
class HolderPart:
    """What a grant's holder has used so far: how far the holder's charges moved the table's meter, and how much δ they
    took."""

    moved: Fraction
    delta: Fraction


class Book(Protocol):
    """What the rows up to some row say about people."""

    def served(self) -> bool: ...
    def has(self, person: str, role: str, table: str = "") -> bool: ...
    def owner(self, person: str) -> bool: ...
    def owned(self, table: str) -> bool: ...
    def budget_of(self, table: str) -> str | None: ...
    def members(self, group: str) -> tuple[str, ...]: ...
    def groups_of(self, person: str) -> list[str]: ...
    def grant(self, budget: str, table: str, to: str) -> Grant | None: ...
    def granted(self, budget: str, table: str) -> bool: ...
    def own(self, budget: str, holder: str) -> Standing: ...
    def held(self, record: BudgetRecord, holder: str) -> HolderPart: ...
    def of_table(self, budget: str, table: str) -> Standing: ...
    def limit(self, budget: str, table: str) -> Fraction | None: ...
    def wanted(self, request: str) -> ShareRequest | None: ...
    def decision(self, request: str) -> Decision | None: ...
    def approved(self, actor: str, budget: str, table: str) -> list[ShareRequest]: ...
    def apart(self, budget: str) -> tuple[str, ...] | None: ...
    def owners_on(self, budget: str) -> dict[str, set[str]]: ...
    def group_grants(self, budget: str) -> list[Grant]: ...
    def waiting(self, actor: str, budget: str, table: str) -> int: ...


# What a person is


def active(book: Book, person: str) -> bool:
    return is_person(person) and not book.has(person, BARRED)


def administers(book: Book, person: str) -> bool:
    return active(book, person) and book.has(person, ADMINISTRATOR)


def owns(book: Book, person: str, table: str) -> bool:
    return active(book, person) and bool(table) and book.has(person, OWNER, table)


def owns_on(book: Book, person: str, table: str, budget: str) -> bool:
    """Does the person own this table, and does this budget pay for the table?"""
    return owns(book, person, table) and book.budget_of(table) == budget


def owns_all(book: Book, person: str, budget: str) -> bool:
    """Does the person own every table that the budget pays for?"""
    return all(person in people for people in book.owners_on(budget).values())


def one_owner(book: Book, budget: str) -> bool:
    """Does one person own every table that the budget pays for?"""
    owners = list(book.owners_on(budget).values())
    return bool(owners) and bool(set.intersection(*owners))


def may_add_tables(book: Book, person: str) -> bool:
    """May the person add tables? True if they own one, or were named an owner before they had any."""
    return active(book, person) and book.owner(person)


def grants_for(book: Book, person: str, budget: str, table: str, day: str) -> list[Grant]:
    """The live grants by which a person may ask a table: the person's own first, then those of their groups by name."""
    if not active(book, person):
        return []
    holders = [person, *book.groups_of(person)]
    grants = [book.grant(base_of(budget), table, holder) for holder in holders]
    return [grant for grant in grants if grant is not None and grant.live(day)]


# Who may write a row: a code of the catalogue, or None


def role_fault(book: Book, person: str, role: str, table: str, on: bool, actor: str, budget: str) -> str | None:
    """The message code if the actor may not give or take this role, or None. An owner's row names the budget that pays
    for the table."""
    if role not in ROLES or not is_person(person) or (table and role != OWNER):
        return "people.role_unknown"
    if table and (not budget or base_of(budget) != budget or book.budget_of(table) not in (None, budget)):
        return "people.role_unknown"
    if not book.served():
        return None if actor == OPERATOR and role == ADMINISTRATOR and on else NO_RIGHT
    if actor == OPERATOR or administers(book, actor):
        return None
    added = role == OWNER and on and person == actor and bool(table) and not book.owned(table)
    if not added or not may_add_tables(book, actor):
        return NO_RIGHT
    return NO_RIGHT if book.apart(budget) is not None and not owns_all(book, actor, budget) else None


def group_fault(book: Book, group: str, people: Sequence[str], actor: str) -> str | None:
    """The message code if the actor may not set a group, or None. An administrator may set one, but not join it: the
    group's grants would be theirs."""
    if not is_group(group) or not all(is_person(person) for person in people):
        return "people.group_form"
    if not administers(book, actor):
        return NO_RIGHT
    return "people.own_group" if actor in people and actor not in book.members(group) else None


def grant_fault(book: Book, grant: Grant) -> str | None:
    """The message code if this grant may not be given, or None. Owners and administrators grant to others. Nobody
    grants themselves more than they have, except the owner who added the table and gives its first grant."""
    if not (is_person(grant.to) or is_group(grant.to)) or not 0 <= grant.share <= 1:
        return "people.grant_form"
    if not grant.questions or (grant.until and not _DAY.fullmatch(str(grant.until))):
        return "people.grant_form"
    own = owns(book, grant.actor, grant.table)
    if book.budget_of(grant.table) != grant.budget or not (own or administers(book, grant.actor)):
        return NO_RIGHT
    if is_group(grant.to) and grant.share > 0 and book.apart(grant.budget) is not None:
        return "people.agreement_group"  # a shared limit does not bound people who each have a budget
    if grant.to != grant.actor and grant.actor not in book.members(grant.to):
        return None
    before = book.grant(grant.budget, grant.table, grant.to)
    if own and before is None and grant.to == grant.actor and not book.granted(grant.budget, grant.table):
        return None
    narrower = before is not None and grant.share <= before.share and grant.questions == before.questions
    if narrower and before is not None and (not before.until or "" < grant.until <= before.until):
        return None
    return "people.own_grant"


def wish_fault(book: Book, wanted: ShareRequest, day: str) -> str | None:
    if not wanted.reason.strip() or (wanted.share is None) == (wanted.claim is None):
        return "people.wish_form"
    if wanted.share is not None and not 0 < wanted.share <= 1:
        return "people.wish_form"
    if book.waiting(wanted.actor, wanted.budget, wanted.table) >= MOST_WAITING:
        return "people.wish_many"
    known = owns_on(book, wanted.actor, wanted.table, wanted.budget)
    return None if known or grants_for(book, wanted.actor, wanted.budget, wanted.table, day) else NO_RIGHT


def may_decide(book: Book, wanted: ShareRequest, actor: str) -> bool:
    """May the actor decide this wish? The table's owners may, and administrators if an owner asks; nobody decides a
    wish of their own."""
    if actor == wanted.actor or book.budget_of(wanted.table) != wanted.budget:
        return False
    return owns(book, actor, wanted.table) or (administers(book, actor) and owns(book, wanted.actor, wanted.table))


def decided_fault(
    book: Book, wanted: ShareRequest | None, answer: str, given: Fraction | None, actor: str
) -> str | None:
    if wanted is None:
        return "people.wish_unknown"
    if actor == wanted.actor:
        return "people.own_wish"
    if not may_decide(book, wanted, actor):
        return NO_RIGHT
    if book.decision(wanted.id) is not None:
        return "people.wish_decided"
    if answer not in (YES, NO, CHANGED) or (answer == CHANGED and wanted.share is None):
        return "people.decision_form"
    expected = wanted.share if answer == YES else None
    if (given if answer != CHANGED else None) != expected:
        return "people.decision_form"
    return None if answer != CHANGED or (given is not None and 0 <= given <= 1) else "people.decision_form"


def limit_fault(book: Book, budget: str, table: str, most: Fraction | None, actor: str) -> str | None:
    if most is not None and not 0 < most <= 1:
        return "people.limit_form"
    return None if owns_on(book, actor, table, budget) else NO_RIGHT


def agreement_fault(
    book: Book, budget: str, table: str, people: Sequence[str], charged: bool, actor: str, day: str
) -> str | None:
    """The message code if these people may not each have a budget of their own on this table, or None. They must agree
    before the first charge, since answers that all have seen cannot be kept apart. People may be added later, not
    removed. One person must own all tables on the budget: another owner has not agreed. Only an administrator may
    record the agreement: an owner would learn from a refusal that somebody else has the same content."""
    if not people or not all(is_person(person) for person in people) or base_of(budget) != budget:
        return "people.agreement_form"
    if not administers(book, actor) or book.budget_of(table) != budget:
        return NO_RIGHT
    if not one_owner(book, budget):
        return "people.agreement_shared"
    before = book.apart(budget)
    if before is None and charged:
        return "people.agreement_late"
    if any(grant.live(day) for grant in book.group_grants(budget)):
        return "people.agreement_group"
    return None if set(before or ()) <= set(people) else "people.agreement_form"


def act_fault(book: Book, budget: str, table: str, actor: str) -> str | None:
    """The message code if the actor may not do what only an owner of the table may, or None."""
    return None if not book.served() or owns_on(book, actor, table, budget) else NO_RIGHT


def protect_fault(book: Book, budget: str, actor: str) -> str | None:
    """The message code if the actor may not declare more protection, or None. Only who owns all the budget's tables
    may, if nobody keeps apart."""
    alone = book.apart(budget) is None and (not book.served() or owns_all(book, actor, budget))
    return None if alone else "protect.shared"


def budget_fault(book: Book, record: BudgetRecord, actor: str) -> str | None:
    """The message code if the actor may not open this budget, or None. Owners may, and everybody may open their own
    practice budget."""
    if not book.served():
        return None
    if record.kind == "practice":
        return None if active(book, actor) and record.id.endswith(f":{actor}") else NO_RIGHT
    apart = book.apart(base_of(record.id)) or ()
    if base_of(record.id) != record.id:
        return None if any(record.id == apart_id(base_of(record.id), person) for person in apart) else NO_RIGHT
    return None if may_add_tables(book, actor) else NO_RIGHT


def known_tables(book: Book, budget: str, table: str) -> list[str] | None:
    """The tables on a budget that this table's owners know of: this table and those that share an owner with it. None
    if these are all tables on the budget."""
    owners = book.owners_on(base_of(budget))
    known = [name for name, people in owners.items() if name == table or people & owners.get(table, set())]
    return None if len(known) == len(owners) else known


def meter(book: Book, budget: str, table: str, whole: Standing) -> Totals:
    """The sums behind a table's meter: those of all tables on the budget that the table's owners know of. `whole`: the
    sums of the budget."""
    known = known_tables(book, budget, table)
    return whole.totals if known is None else together(book.of_table(budget, name) for name in known).totals


# Asking


def asking_fault(book: Book, record: BudgetRecord, actor: str) -> str | None:
    """The message code if this person may not charge this budget at all, under any grant; or None."""
    if not active(book, actor):
        return NO_RIGHT
    if record.kind == "practice":
        return None if record.id.endswith(f":{actor}") else NO_RIGHT
    base = base_of(record.id)
    apart = book.apart(base)
    if apart is None:
        return None if base == record.id else NO_RIGHT
    if base == record.id:
        return "people.kept_apart"
    return None if record.id == apart_id(base, actor) and actor in apart else NO_RIGHT


def moves(rule: Rule, before: Totals, costs: Sequence[Cost]) -> Fraction:
    """How far these costs together move a meter."""
    return used(rule, reduce(Totals.plus, costs, before)) - used(rule, before)


def room(grant: Grant, held: HolderPart) -> Fraction:
    """What is left of a grant, as a share of the table's allowance; at least 0."""
    return max(grant.share - held.moved, Fraction(0))


def delta_room(rule: Rule, grant: Grant, held: HolderPart) -> Fraction:
    """What is left of the grant's share of the δ reserve; at least 0."""
    return max(grant.share * rule.delta_reserve - held.delta, Fraction(0))


def delta_fits(rule: Rule, grant: Grant, held: HolderPart, costs: Sequence[Cost]) -> bool:
    wanted = sum((paid.delta for paid in costs), Fraction(0))
    return not wanted or wanted <= delta_room(rule, grant, held)


def fits(rule: Rule, grant: Grant, held: HolderPart, before: Totals, costs: Sequence[Cost]) -> bool:
    """Is enough left of the grant for these costs? `before`: the sums behind the table's meter."""
    return held.moved + moves(rule, before, costs) <= grant.share and delta_fits(rule, grant, held, costs)


def lowered(moved: Fraction, rule: Rule, before: Fraction, after: Fraction, meter: Totals) -> Fraction:
    """What `moved`, a holder's used share of a meter, becomes when the cap is raised from `before` to `after`: it falls
    in the same proportion as the meter."""
    high, low = (used(replace(rule, epsilon=cap), meter) for cap in (before, after))
    return up(moved * low / high, PICO**2) if high else moved


def moved_anew(rule: Rule, past: Sequence[Paid | Raised], rows: int) -> Moved:
    """How far each holder moved each table's meter, counted anew after more protection was declared: all charges again
    in order, each with its loss for a person with `rows` rows, and every raise of the cap. Whoever declares it owns all
    tables on the budget, so each table's meter is that of the whole budget."""
    parts: dict[tuple[str, str], Fraction] = {}
    if not any(isinstance(entry, Paid) and entry.under for entry in past):
        return {}
    first = next((entry.before for entry in past if isinstance(entry, Raised)), rule.epsilon)
    then, totals = replace(rule, epsilon=first), Totals.NOTHING
    for entry in past:
        if isinstance(entry, Raised):
            parts = {key: lowered(part, then, entry.before, entry.after, totals) for key, part in parts.items()}
            then = replace(then, epsilon=entry.after)
            continue
        paid = cost(entry.loss_for(rows), then.alpha)
        if entry.under:
            key = (entry.under, entry.table)
            parts[key] = parts.get(key, Fraction(0)) + moves(then, totals, [paid])
        totals = totals.plus(paid)
    holders = sorted({holder for holder, _ in parts})
    return {holder: {table: part for (who, table), part in parts.items() if who == holder} for holder in holders}


def waits(rule: Rule, most: Fraction | None, before: Standing, paid: Cost) -> bool:
    """Does a question take more than `most`, the share that the owner allows without a decision?"""
    return most is not None and share(rule, before.totals, paid) > most


def approval(book: Book, actor: str, budget: str, table: str, claim: JsonObject) -> ShareRequest | None:
    """The person's approved and unused wish for exactly this question; None if there is none."""
    same = canonical(claim)
    approved = book.approved(actor, base_of(budget), table)
    return next((wanted for wanted in approved if wanted.claim is not None and canonical(wanted.claim) == same), None)


def step_fault(
    book: Book, actor: str, record: BudgetRecord, table: str, under: str, keys: Sequence[str], day: str
) -> str | None:
    """The message code if a step may not be drawn, or None. The grant that paid must be live and allow both session and
    step."""
    if not book.served():
        return None
    if (fault := asking_fault(book, record, actor)) or record.kind == "practice":
        return fault
    grants = grants_for(book, actor, record.id, table, day)
    grant = next((grant for grant in grants if grant.to == under), None)
    if grant is None:
        return "people.no_grant"
    return None if all(grant.allows(key) for key in keys) else "people.question_not_granted"


def step_keys(session: JsonObject, step: JsonObject) -> list[str]:
    """The catalogue's keys of the session and of what the step asks."""
    asked = step.get("ask")
    kinds = [str(kind) for kind in asked] if isinstance(asked, dict) else []
    return [str(session.get("key", "")), *(ASKED_AS.get(kind, kind) for kind in kinds)]
