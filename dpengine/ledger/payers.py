"""Which grant pays for questions, and which grant an approved request becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpengine.accountant.costs import Cost
from dpengine.accountant.filter import Totals
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import down, up
from dpengine.ledger import people_rules
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rules import ALL_QUESTIONS, NO_RIGHT, YES, Grant, HolderPart, ShareRequest
from dpengine.ledger.rows import BudgetRecord, Reservation, Standing

SHOWN = 100  # refusals show 0.01 %: the price rounded up, the rest rounded down, so they never look equal


@dataclass(frozen=True)
class Payer:
    """A grant; the sums of its holder's charges (`own`); what the holder used of the grant (`held`); and the sums
    behind the table's meter."""

    grant: Grant
    own: Standing
    held: HolderPart
    meter: Totals


def payers_of(book: PeopleBook, record: BudgetRecord, table: str, grants: Sequence[Grant]) -> list[Payer]:
    meter = book.meter(record.id, table)
    return [Payer(grant, book.own(record.id, grant.to), book.held(record, grant.to), meter) for grant in grants]


def payer_for(
    book: PeopleBook, record: BudgetRecord, wanted: Sequence[Reservation], costs: Sequence[Cost], day: str
) -> Payer | None:
    """The grant that pays for all these questions. None for practice, and where nobody signs in. Refused if no grant
    can pay."""
    actor, table = wanted[0]["actor"], wanted[0]["table"]
    if not book.served():
        return None
    if any(question["actor"] != actor for question in wanted):
        raise AllowanceError(NO_RIGHT)
    fault = people_rules.asking_fault(book, record, actor)
    if fault == "people.kept_apart" and not book.agreed_with(record.id, table):
        raise BudgetExceeded("people.shared_exceeded")  # hides an agreement about somebody else's table
    if fault is not None:
        raise AllowanceError(fault)
    if record.kind == "practice":
        return None
    allowed, live = (_covering(book, record, wanted, day, only_allowed) for only_allowed in (True, False))
    if not live:
        raise AllowanceError("people.no_grant")
    if not allowed:
        raise AllowanceError("people.question_not_granted")
    payers = payers_of(book, record, table, allowed)
    for payer in payers:
        if people_rules.fits(record.rule, payer.grant, payer.held, payer.meter, costs):
            return payer
    roomiest = max(payers, key=lambda payer: people_rules.room(payer.grant, payer.held))
    raise grant_exceeded(record, roomiest, costs)


def _covering(
    book: PeopleBook, record: BudgetRecord, wanted: Sequence[Reservation], day: str, only_allowed: bool
) -> list[Grant]:
    """The live grants that cover the tables of all these questions; with `only_allowed`, only grants that allow each
    question. If a holder has grants on two tables, the one with the smaller share."""
    by_holder = []
    for question in wanted:
        grants = people_rules.grants_for(book, question["actor"], record.id, question["table"], day)
        key = str(question["claim"].get("key", ""))
        by_holder.append({grant.to: grant for grant in grants if grant.allows(key) or not only_allowed})
    common = [to for to in by_holder[0] if all(to in grants for grants in by_holder)]
    return [min((grants[to] for grants in by_holder), key=lambda grant: grant.share) for to in common]


def grant_exceeded(record: BudgetRecord, payer: Payer, costs: Sequence[Cost]) -> BudgetExceeded:
    """A refusal that states the price and what is left, in percent of the person's share; or as δ, if only δ is
    short."""
    moves, room = people_rules.moves(record.rule, payer.meter, costs), people_rules.room(payer.grant, payer.held)
    if moves <= room:
        wanted = sum((paid.delta for paid in costs), Fraction(0))
        left_delta = people_rules.delta_room(record.rule, payer.grant, payer.held)
        return BudgetExceeded("people.exceeded_delta", price=wanted, left=left_delta)
    takes, left = moves / payer.grant.share, room / payer.grant.share
    return BudgetExceeded("people.exceeded", price=up(takes * 100, SHOWN), left=down(left * 100, SHOWN))


def approved_terms(
    book: PeopleBook, wanted: ShareRequest, given: Fraction, answer: str, day: str
) -> tuple[Fraction, tuple[str, ...], str]:
    """The share, questions and last day of the grant that an approved wish becomes. A wish names a total share, so the
    shares of the person's groups are subtracted. Questions and last day stay those of the person's newest grant, even
    if that grant was taken back. Without such a grant, or after its last day, they are those of the narrowest grant of
    the person's groups."""
    live = people_rules.grants_for(book, wanted.actor, wanted.budget, wanted.table, day)
    groups = [grant for grant in live if grant.to != wanted.actor]
    share = max(given - sum((grant.share for grant in groups), Fraction(0)), Fraction(0))
    if answer == YES:  # an approval never lowers a share
        share = max([share, *(grant.share for grant in live if grant.to == wanted.actor)])
    last = book.last_given(wanted.budget, wanted.table, wanted.actor)
    if groups and (last is None or (last.until and last.until < day)):
        last = min(groups, key=lambda grant: (grant.questions == ALL_QUESTIONS, grant.until or "~", grant.share))
    return (share, ALL_QUESTIONS, "") if last is None else (share, last.questions, last.until)
