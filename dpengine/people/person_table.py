"""A table as one person asks it: priced against both limits, the table's and their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.asking.answers import Meter, Preview, claim_of, make_meter
from dpengine.asking.plan import Planner, PlanRow, Priced
from dpengine.asking.sessions import BEST
from dpengine.core.json_types import Json
from dpengine.ledger import people_rules
from dpengine.ledger.ledger import BudgetRecord, Ledger, Standing
from dpengine.ledger.people_acts import Payer
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rows import base_of
from dpengine.ledger.rows import together
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.people.day import today
from dpengine.table import Table

NOTHING = Fraction(0)


class PersonTable(Table):
    def preview(self, query: AnyQuery) -> Preview:
        """With which of the two limits is the tighter, and whether the question waits for a decision."""
        seen = super().preview(query)
        if self.practice:
            return seen
        rule, price = self.budget.rule, cost(query.loss(), self.budget.rule.alpha)
        payer = payer_of(self._workspace.ledger, self._budget.id, self.name, self.actor, rule, query.card.key)
        table_left = max(1 - filter.used(rule, self._standing().totals), NOTHING)
        if payer is None:
            covered, left = self._payer() is None, self._left()  # by another share, or by none at all
            seen = replace(seen, own_share=seen.share, own_left=left, tighter="own", covered=covered)
            return replace(seen, admissible=False, more_like_this=0)
        left = people_rules.room(rule, payer.grant, payer.own)
        return replace(
            seen,
            admissible=seen.admissible and people_rules.fits(rule, payer.grant, payer.own, [price]),
            more_like_this=min(seen.more_like_this, _times(rule, payer, query)),
            own_share=filter.used(rule, payer.own.totals.plus(price)) - filter.used(rule, payer.own.totals),
            own_left=left,
            own_whole=payer.grant.share,
            tighter="own" if left < table_left else "table",
            waits=self._waits(query, seen.share),
        )

    def prices(self, queries: Sequence[AnyQuery]) -> list[Fraction | None]:
        """None also where it does not fit into what is left of the person's own share."""
        found = super().prices(queries)
        if self.practice:
            return found
        rule, ledger = self.budget.rule, self._workspace.ledger

        def fits(query: AnyQuery) -> bool:
            payer = payer_of(ledger, self._budget.id, self.name, self.actor, rule, query.card.key)
            usual = (query, self.cheapest(query))
            return payer is not None and any(
                people_rules.fits(rule, payer.grant, payer.own, [cost(one.loss(), rule.alpha)]) for one in usual
            )

        return [price if fits(query) else None for price, query in zip(found, queries, strict=True)]

    def suggestions(self) -> list[AnyQuery]:
        """Those that fit into what is left of the person's own share too."""
        found = super().suggestions()
        return [query for query, price in zip(found, self.prices(found), strict=True) if price is not None]

    def affordable(self, steps: Sequence[str], share: Fraction) -> list[str]:
        return super().affordable(steps, min(share, self._left()))

    def at_share(self, query: AnyQuery, share: Fraction) -> AnyQuery | None:
        return super().at_share(query, min(share, self._left()))

    def training_for(self, key: str, share: Fraction, /, **parameters: Json) -> AnyQuery:
        return super().training_for(key, min(share, self._left()), **parameters)

    def session_for(self, questions: Json, share: Fraction, calibration: str = BEST) -> AdaptiveSession:
        return super().session_for(questions, min(share, self._left()), calibration)

    def planner(self, keep: Fraction = NOTHING) -> Planner:
        """Prices plans against both limits."""
        payer, standing = self._payer(), self._standing()  # before the cap, as in `preview`
        if self.practice:
            return super().planner(keep)
        return PersonPlanner(self.budget.rule, standing.totals, keep, payer)

    def _payer(self) -> Payer | None:
        ledger, rule = self._workspace.ledger, self.budget.rule
        return None if self.practice else payer_of(ledger, self._budget.id, self.name, self.actor, rule)

    def _left(self) -> Fraction:
        """What is left of the person's own share, of the table's allowance; on practice budgets all."""
        payer = self._payer()
        if payer is None:
            return Fraction(1) if self.practice else NOTHING
        return people_rules.room(self.budget.rule, payer.grant, payer.own)

    def _waits(self, query: AnyQuery, takes: Fraction) -> bool:
        with self._workspace.ledger.people() as book:
            most = book.limit(base_of(self._budget.id), self.name)
            if most is None or takes <= most:
                return False
            return people_rules.approval(book, self.actor, self._budget.id, self.name, claim_of(query)) is None


class PersonPlanner(Planner):
    """Prices plans against the budget and against a grant: where the grant is the tighter of the two, a plan is too
    expensive by what it would take beyond the grant."""

    def __init__(self, rule: Rule, totals: Totals, keep: Fraction, payer: Payer | None) -> None:
        super().__init__(rule, totals, keep)
        self._payer = payer

    def _priced(self, rows: Sequence[PlanRow]) -> Priced:
        priced = super()._priced(rows)
        if self._payer is None:
            return replace(priced, admitted=False)
        after = self._payer.own.totals
        for _, option in rows:
            after = after if option is None else after.plus(option[1])
        beyond = filter.used(self._rule, after) - self._payer.grant.share
        if beyond <= priced.over:
            return priced
        return replace(priced, keep=1 - priced.used - priced.share + beyond)


def payer_of(ledger: Ledger, budget: str, table: str, person: str, rule: Rule, key: str | None = None) -> Payer | None:
    """The grant that would pay now: the first with something left, else the first; None without one for this kind."""

    def read(book: PeopleBook) -> list[Payer]:
        grants = people_rules.grants_for(book, person, budget, table, today())
        return [Payer(one, book.own(budget, one.to)) for one in grants]

    found = ledger.as_rows_say(("payers", budget, table, person, today()), read)
    payers = [one for one in found if key is None or one.grant.allows(key)]
    left = (one for one in payers if people_rules.room(rule, one.grant, one.own) > 0)
    return next(left, payers[0] if payers else None)


def own_meter(record: BudgetRecord, payer: Payer | None) -> Meter:
    """How much of a person's share is used: their own rows on the budget against their grant."""
    standing = Standing.NOTHING if payer is None else payer.own
    share = NOTHING if payer is None else payer.grant.share
    meter = make_meter(record, standing)
    return replace(meter, used=meter.used / share if share else Fraction(1), share=share)


def if_all_talk(ledger: Ledger, record: BudgetRecord, budgets: Sequence[str]) -> Meter:
    """The meter of all who keep apart together: the same order and the same toll for all, so their sums add up, and the
    reading is as true of the whole as each one's is of their own. It may pass 100 %."""
    return make_meter(record, together(ledger.standing(budget) for budget in budgets))


def _times(rule: Rule, payer: Payer, query: AnyQuery) -> int:
    """How many more such questions fit into a grant: it is a budget of that share of ε and of ε − c."""
    price = cost(query.loss(), rule.alpha)
    whole = rule.epsilon * payer.grant.share
    runs = [0]
    if payer.own.totals.epsilon is not None and price.epsilon:
        runs.append((whole - payer.own.totals.epsilon) // price.epsilon)
    if rule.c is not None and rule.c < rule.epsilon and price.renyi:
        runs.append(((rule.epsilon - rule.c) * payer.grant.share - payer.own.totals.renyi) // price.renyi)
    return max(runs)
