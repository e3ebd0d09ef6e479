"""A table as one person asks it: priced against both limits, the table's and their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.asking.answers import Meter, Preview, build_meter, claim_of
from dpengine.asking.plan import Planner, PlanRow, Priced
from dpengine.asking.sessions import BEST
from dpengine.core.exact import down
from dpengine.core.types import Json
from dpengine.ledger import people_rules
from dpengine.ledger.ledger import BudgetRecord, Ledger, Payer, Standing, payers_of
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rules import base_of
from dpengine.ledger.rows import together
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.people.home import today
from dpengine.table import Table

NOTHING = Fraction(0)


class PersonTable(Table):
    @property
    def _delta_at_hand(self) -> Fraction:
        """The person's part of the δ reserve, rounded down to two figures if their share does not divide it."""
        payer, grain = self._payer(), 1
        whole = self.budget.rule.delta_reserve
        part = whole if payer is None else whole * payer.grant.share
        while 0 < part * grain < 10:
            grain *= 10
        return part if part == whole else down(part, grain)

    def preview(self, query: AnyQuery, checked: bool = False) -> Preview:
        """Adds which of the two limits is tighter, and whether the question waits for a decision."""
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
            covered, left = self._payer() is None, self._left()  # another grant does not allow it, or there is none
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
        """None also if a question does not fit into what is left of the person's own share."""
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
        """Only those that also fit into what is left of the person's own share."""
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

    def _payer(self) -> Payer | None:
        """The grant with the most left."""
        return _roomiest(self._payers())

    def _payers(self) -> list[Payer]:
        return [] if self.practice else _payers(self._workspace.ledger, self.budget, self.name, self.actor)

    def _spendable(self) -> Fraction:
        """What is left of the table's allowance or of their own share, the lesser; the table's without a share."""
        unused = super()._spendable()
        return unused if self._payer() is None else min(unused, self._left())

    def _left(self) -> Fraction:
        """What is left of the person's own share of the table's allowance; on practice budgets all."""
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
    """Prices plans against the budget and a grant. If the grant is tighter, the price is what exceeds it."""

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
    """The grant in use: the first with something left, else the first; None without a grant."""
    payers = _payers(ledger, budget, table, person)
    left = (payer for payer in payers if people_rules.room(payer.grant, payer.held) > 0)
    return next(left, payers[0] if payers else None)


def _payers(ledger: Ledger, budget: BudgetRecord, table: str, person: str) -> list[Payer]:
    """Every grant that might pay, in the order in which the ledger tries them."""

    def read(book: PeopleBook) -> list[Payer]:
        return payers_of(book, budget, table, people_rules.grants_for(book, person, budget.id, table, today()))

    return ledger.cached_people(("payers", budget.id, table, person, today()), read)


def _fits(rule: Rule, payer: Payer, price: Cost) -> bool:
    return people_rules.fits(rule, payer.grant, payer.held, payer.meter, [price])


def _roomiest(payers: Sequence[Payer]) -> Payer | None:
    return max(payers, key=lambda payer: people_rules.room(payer.grant, payer.held), default=None)


def own_meter(record: BudgetRecord, payer: Payer | None) -> Meter:
    """The used part of a person's share: how far they moved the table's meter, relative to their grant."""
    if payer is None:
        return replace(build_meter(record, Standing.NOTHING), used=Fraction(1), share=NOTHING)
    share = payer.grant.share
    return replace(build_meter(record, payer.own), used=payer.held.moved / share, share=share)


def if_all_talk(ledger: Ledger, record: BudgetRecord, budgets: Sequence[str]) -> Meter:
    """The meter of all who keep apart, together. Order and toll are the same for all, so their sums add up, and the
    reading holds for the whole as each person's holds for them. It may pass 100 %."""
    return build_meter(record, together(ledger.standing(budget) for budget in budgets))


def _times(rule: Rule, payer: Payer, price: Cost) -> int:
    """How many more such questions fit into a grant: as long as one of the two readings of the table's meter stays
    within its current value plus what is left of the grant."""
    reach = filter.used(rule, payer.meter) + people_rules.room(payer.grant, payer.held)
    runs = [0]
    if payer.meter.epsilon is not None and price.epsilon:
        runs.append((rule.epsilon * reach - payer.meter.epsilon) // price.epsilon)
    if rule.c is not None and rule.c < rule.epsilon and price.renyi:
        runs.append(((rule.epsilon - rule.c) * reach - payer.meter.renyi) // price.renyi)
    if not price.delta:
        return max(runs)
    return min(max(runs), people_rules.delta_room(rule, payer.grant, payer.held) // price.delta)
