"""A plan: questions a person means to ask, what each must be worth, and whether all of them fit.

Everything here is arithmetic on public facts: no data is touched and nothing is spent. Each question is taken at the
least ε that keeps its promise; the price of the plan is how far the meter would move if all were asked one after the
other, by the same rule that will charge them, and it fits when the rule admits all and the part to keep stays whole.

**Redistribution.** The promises that are not locked are all multiplied by one factor f, the least multiple of 1/1000 at
which the plan fits. A looser promise never costs more, so whether f fits is monotone and bisection finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpengine.accountant import filter, pld
from dpengine.accountant.costs import Cost, checked_parts, cost, epsilon_of_part
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of, up
from dpengine.core.json_types import Json
from dpengine.ledger.rows import Entry
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.promises import NoPromise, Promise
from dpengine.mechanisms.query import Query

MOST_ROWS = 30
_GRAIN, _TIGHTEST, _LOOSEST = 1000, 1, 10**6  # factors from 1/1000 to 1000
_FIGURES = 3


@dataclass(frozen=True)
class Wish:
    """A question and the promise it needs, in the promise's own unit; the query's own ε where it has no promise."""

    query: Query
    amount: Fraction
    locked: bool = False

    @staticmethod
    def of(query: Query) -> Wish:
        """As good as the question is now, to three figures and never better."""
        taken = plannable(query)
        return Wish(taken, tidy(taken.promise().amount))

    @property
    def fixed(self) -> bool:
        """Nothing can be loosened where nothing is promised."""
        return self.locked or isinstance(self.query.promise(), NoPromise)


@dataclass(frozen=True)
class PlanLine:
    """A wish at the least ε that keeps it; `query` is None where no ε does."""

    wish: Wish
    query: Query | None
    price: Fraction  # how far this one moves the meter, in ε, after those before it

    @property
    def promise(self) -> Promise:
        return (self.query or self.wish.query).promise()

    @property
    def useful(self) -> bool:
        return self.query is not None and self.promise.amount <= self.query.coarse()


@dataclass(frozen=True)
class Priced:
    """A plan against a budget as it stands."""

    lines: tuple[PlanLine, ...]
    epsilon: Fraction  # the whole allowance
    spent: Fraction  # before the plan
    total: Fraction  # what the plan moves the meter by
    keep: Fraction  # ε that must stay
    admitted: bool  # by the budget's rule, whatever is to be kept

    @property
    def reachable(self) -> bool:
        return all(line.query is not None for line in self.lines)

    @property
    def over(self) -> Fraction:
        """By how much ε the plan is too dear; 0 where it fits, or where only the δ reserve is short."""
        return max(self.spent + self.total + self.keep - self.epsilon, Fraction(0))

    @property
    def fits(self) -> bool:
        return self.reachable and self.admitted and not self.over

    @property
    def fraction(self) -> Fraction:
        return self.total / self.epsilon

    @property
    def admissible(self) -> bool:
        return self.fits

    @property
    def queries(self) -> list[Query]:
        return [line.query for line in self.lines if line.query is not None]


@dataclass(frozen=True)
class Relief:
    """What would make a plan fit by changing one row: a looser promise (None: none is loose enough), or its end."""

    place: int
    amount: Fraction | None
    without: bool  # does the plan fit without this row?


@dataclass(frozen=True)
class PlanRun:
    """Where a submitted plan stands. `rows` are its charges in order, each with its state; none before the charge."""

    id: str
    rows: tuple[tuple[Entry, str], ...] = ()
    waiting: bool = False  # handed over, not charged yet
    error: Exception | None = None  # refused: nothing was charged

    @property
    def done(self) -> int:
        return sum(state != "running" for _, state in self.rows)

    @property
    def over(self) -> bool:
        return not self.waiting and self.done == len(self.rows)


def requests_of(run: str) -> list[str]:
    """The request ids of a plan's rows, in order."""
    return [f"{run}.{number}" for number in range(1, MOST_ROWS + 1)]


class Planner:
    """Plans against one budget as it stands: `totals` is everything charged so far, `keep` the share to leave whole."""

    def __init__(self, rule: Rule, totals: Totals, keep: Fraction = Fraction(0)) -> None:
        if not 0 <= keep < 1:
            raise AllowanceError("plan.keep_range")
        self._rule, self._totals, self._keep = rule, totals, keep * rule.epsilon
        self._known: dict[tuple[int, Fraction], tuple[Query, Query | None, Cost | None]] = {}

    def price(self, wishes: Sequence[Wish]) -> Priced:
        if len(wishes) > MOST_ROWS:
            raise AllowanceError("plan.long", most=MOST_ROWS)
        return self._priced([(wish, *self._look(wish)) for wish in wishes])

    def price_of(self, queries: Sequence[Query]) -> Priced:
        """Of these very questions, each at the ε it has."""
        paid = [cost(query.loss(), self._rule.alpha) for query in queries]
        return self._priced([(Wish(query, Fraction(0)), query, one) for query, one in zip(queries, paid, strict=True)])

    def _priced(self, rows: Sequence[tuple[Wish, Query | None, Cost | None]]) -> Priced:
        lines, totals = [], self._totals
        for wish, query, paid in rows:
            takes = Fraction(0)
            if paid is not None:
                takes = filter.price(self._rule, totals, paid)
                totals = totals.plus(paid)
            lines.append(PlanLine(wish, query, takes))
        before = filter.spent(self._rule, self._totals)
        total = filter.spent(self._rule, totals) - before
        admitted = filter.admits(self._rule, totals)
        return Priced(tuple(lines), self._rule.epsilon, before, total, self._keep, admitted)

    def redistributed(self, wishes: Sequence[Wish]) -> list[Wish] | None:
        """The unlocked promises scaled by one factor so that the plan just fits; None where no factor does it."""
        return self._scaled(wishes, [place for place, wish in enumerate(wishes) if not wish.fixed])

    def reliefs(self, wishes: Sequence[Wish]) -> list[Relief]:
        """For each row what changing it alone would do; rows where neither helps are left out."""
        found = []
        for place, wish in enumerate(wishes):
            alone = None if wish.fixed else self._scaled(wishes, [place])
            without = len(wishes) > 1 and self.price([*wishes[:place], *wishes[place + 1 :]]).fits
            if alone is not None or without:
                found.append(Relief(place, None if alone is None else alone[place].amount, without))
        return found

    def fixed_price(self, wishes: Sequence[Wish]) -> Fraction | None:
        """ε of this very list at the budget's δ by numerical accounting: true only if nothing changes."""
        return pld.epsilon_of([query.loss() for query in self.price(wishes).queries], self._rule.delta)

    def _look(self, wish: Wish) -> tuple[Query | None, Cost | None]:
        """The question at its least ε, and its cost; remembered, because a search prices the same rows many times."""
        key = (id(wish.query), wish.amount)
        if key not in self._known:
            query: Query | None = wish.query
            if not isinstance(wish.query.promise(), NoPromise):
                least = least_epsilon(wish.query, wish.amount)
                query = None if least is None else wish.query.at(least)
            paid = None if query is None else cost(query.loss(), self._rule.alpha)
            self._known[key] = wish.query, query, paid  # holding the query keeps its id its own
        return self._known[key][1:]

    def _scaled(self, wishes: Sequence[Wish], places: Sequence[int]) -> list[Wish] | None:
        def at(factor: int) -> list[Wish]:
            return [
                replace(wish, amount=tidy(wish.amount * factor / _GRAIN)) if place in places else wish
                for place, wish in enumerate(wishes)
            ]

        low, high = _TIGHTEST, _LOOSEST
        if not places or not self.price(at(high)).fits:
            return None
        while low < high:
            middle = (low + high) // 2
            if self.price(at(middle)).fits:
                high = middle
            else:
                low = middle + 1
        return at(low)


def plannable(query: Query) -> Query:
    """With noise that has a finite ε: closing the pure clause for good is no matter of a list."""
    finite = all(epsilon_of_part(part) is not None for part in checked_parts(query.loss()))
    return query if finite else query.with_noise("")


def tidy(amount: Fraction) -> Fraction:
    """Upwards to three figures, whole numbers to the next whole one: a promise a person can read and type."""
    if amount <= 0:
        return Fraction(0)
    grain = Fraction(1)
    while amount * grain < 10 ** (_FIGURES - 1):
        grain *= 10
    while amount * grain >= 10**_FIGURES:
        grain /= 10
    return up(amount * grain, 1) / grain


def wish_as_json(wish: Wish) -> list[Json]:
    return [wish.query.card.key, wish.query.parameters(), text_of(wish.amount), int(wish.locked)]
