"""A plan: questions a person means to ask, how accurate each must be, and whether all of them fit.

Everything here is arithmetic on public facts: no data are used and nothing is spent. A question with unchanged accuracy
is taken exactly as the page that added it would ask it, so that it costs and promises the same here; any other at the
least ε that keeps its promise. The price of the plan is how far the meter would move if all were asked one after the
other, by the rule that will charge them. It fits if the rule admits all and leaves the share to keep.

**Noise.** A plan of several questions takes the cheapest noise for each where that saves at least a tenth, or makes the
plan fit. The meter is the smaller of two shares, of Σε and of Σr, so its least reading is reached either with the noise
of least ε for each question or with the noise of least r for each: both are priced, and the better one is taken.

**Redistribution.** The promises that are not locked are all multiplied by one factor f, the least multiple of 1/1000 at
which the plan fits. A looser promise never costs more, so whether f fits is monotone and bisection finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpengine.accountant import filter, pld
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decade, first_true, text_of, up
from dpengine.core.types import Json
from dpengine.ledger.rows import Entry
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.promises import Promise
from dpengine.mechanisms.query import AnyQuery

MOST_ROWS = 30
_GRAIN, _TIGHTEST, _LOOSEST = 1000, 1, 10**6  # factors from 1/1000 to 1000
_SAVES = Fraction(9, 10)  # of the plan's price: a smaller saving is no reason to change the noise


@dataclass(frozen=True)
class Wish:
    """A question as a page would ask it, and the accuracy `amount` that it must have, in the unit of the question's
    promise."""

    query: AnyQuery
    amount: Fraction
    locked: bool = False

    @staticmethod
    def of(query: AnyQuery) -> Wish:
        """A wish for the accuracy that the question has now, rounded to three digits and never better."""
        return Wish(query, round_up_amount(query.promise().amount))

    @property
    def as_asked(self) -> bool:
        """Is the wished accuracy the question's own?"""
        return self.amount == round_up_amount(self.query.promise().amount)


@dataclass(frozen=True)
class PlanLine:
    """A wish, and its question at the least ε that is accurate enough. `query` is None if no ε is enough."""

    wish: Wish
    query: AnyQuery | None
    share: Fraction  # how far this question moves the meter after those before it

    @property
    def promise(self) -> Promise:
        return (self.query or self.wish.query).promise()

    @property
    def useful(self) -> bool:
        return self.query is not None and self.promise.amount <= self.query.coarse()


@dataclass(frozen=True)
class Priced:
    """A plan with its price, for a budget in its present state."""

    lines: tuple[PlanLine, ...]
    used: Fraction  # the meter before the plan
    share: Fraction  # how far the plan moves the meter
    cost: Fraction  # by how much ε "if you stop now" grows
    keep: Fraction  # the share that must stay
    admitted: bool  # by the budget's rule, even if less than `keep` would be left

    @property
    def reachable(self) -> bool:
        return all(line.query is not None for line in self.lines)

    @property
    def over(self) -> Fraction:
        """The share by which the plan exceeds what is left. 0 if the plan is affordable, or if only the δ reserve is
        too small."""
        return max(self.used + self.share + self.keep - 1, Fraction(0))

    @property
    def fits(self) -> bool:
        return self.reachable and self.admitted and not self.over

    @property
    def admissible(self) -> bool:
        return self.fits

    @property
    def queries(self) -> list[AnyQuery]:
        return [line.query for line in self.lines if line.query is not None]


@dataclass(frozen=True)
class Relief:
    """How changing the row at `place` alone would make the plan affordable: by a looser promise `amount`, or (None)
    only by removing the row."""

    place: int
    amount: Fraction | None
    without: bool  # does the plan fit without this row?


@dataclass(frozen=True)
class PlanRun:
    """The state of a submitted plan. `rows`: the plan's charges in order, with their states; empty before the plan is
    charged."""

    id: str
    rows: tuple[tuple[Entry, str], ...] = ()
    waiting: bool = False  # queued, not charged yet
    error: Exception | None = None  # refused: nothing was charged

    @property
    def done(self) -> int:
        return sum(state != "running" for _, state in self.rows)

    @property
    def over(self) -> bool:
        return not self.waiting and self.done == len(self.rows)


_Option = tuple[AnyQuery, Cost]
PlanRow = tuple[Wish, _Option | None]  # a wish, and the question that meets it with its cost


def requests_of(run: str) -> list[str]:
    return [f"{run}.{number}" for number in range(1, MOST_ROWS + 1)]


class Planner:
    """Prices plans for one budget. `totals`: everything charged so far; `keep`: the share that must be left."""

    def __init__(self, rule: Rule, totals: Totals, keep: Fraction = Fraction(0)) -> None:
        if not 0 <= keep < 1:
            raise AllowanceError("plan.keep_range")
        self._rule, self._totals, self._keep = rule, totals, keep
        self._known: dict[tuple[int, Fraction], tuple[AnyQuery, list[_Option]]] = {}

    def price(self, wishes: Sequence[Wish]) -> Priced:
        if len(wishes) > MOST_ROWS:
            raise AllowanceError("plan.long", most=MOST_ROWS)
        first, best = self._least(wishes, True), None
        if not first.admitted or (len(wishes) > 1 and any(wish.as_asked for wish in wishes)):
            best = self._least(wishes, False)
        if best is None or not (best.admitted > first.admitted or best.share <= first.share * _SAVES):
            return first
        return best

    def _least(self, wishes: Sequence[Wish], as_asked: bool) -> Priced:
        """The plan's price with each wish at its least ε and with the cheaper of two noises for the whole plan: the
        noises of least ε or those of least Rényi loss. With `as_asked`, wishes whose accuracy was not changed stay as
        they are."""
        by_epsilon, by_renyi = (self._by(key, wishes, as_asked) for key in (_least_epsilon, _least_renyi))
        first = self._priced(by_epsilon)
        if by_renyi == by_epsilon or self._rule.c is None:
            return first
        second = self._priced(by_renyi)
        return second if (not second.admitted, second.share) < (not first.admitted, first.share) else first

    def _by(
        self, key: Callable[[_Option], tuple[bool | Fraction, ...]], wishes: Sequence[Wish], as_asked: bool = False
    ) -> list[tuple[Wish, _Option | None]]:
        def best(wish: Wish) -> _Option | None:
            asked = as_asked and wish.as_asked
            return self._option(wish.query) if asked else min(self._options(wish), key=key, default=None)

        return [(wish, best(wish)) for wish in wishes]

    def price_of(self, queries: Sequence[AnyQuery]) -> Priced:
        """The price of these questions as they are, each at its own ε."""
        return self._priced([(Wish(query, Fraction(0)), self._option(query)) for query in queries])

    def _option(self, query: AnyQuery) -> _Option:
        return query, cost(query.loss(), self._rule.alpha)

    def _priced(self, rows: Sequence[PlanRow]) -> Priced:
        lines, totals = [], self._totals
        for wish, option in rows:
            share = Fraction(0)
            if option is not None:
                share = filter.share(self._rule, totals, option[1])
                totals = totals.plus(option[1])
            lines.append(PlanLine(wish, None if option is None else option[0], share))
        before = filter.used(self._rule, self._totals)
        share = filter.used(self._rule, totals) - before
        cost_now = filter.spent(self._rule, totals) - filter.spent(self._rule, self._totals)
        return Priced(tuple(lines), before, share, cost_now, self._keep, filter.admits(self._rule, totals))

    def redistributed(self, wishes: Sequence[Wish]) -> list[Wish] | None:
        """The wishes with all promises that are not locked multiplied by one factor, so that the plan is just
        affordable; None if no factor is enough."""
        return self._scaled(wishes, [place for place, wish in enumerate(wishes) if not wish.locked])

    def reliefs(self, wishes: Sequence[Wish]) -> list[Relief]:
        """For each row that makes the plan affordable if it alone is changed: how. Other rows are left out."""
        reliefs = []
        for place, wish in enumerate(wishes):
            alone = None if wish.locked else self._scaled(wishes, [place])
            without = len(wishes) > 1 and self.price([*wishes[:place], *wishes[place + 1 :]]).fits
            if alone is not None or without:
                reliefs.append(Relief(place, None if alone is None else alone[place].amount, without))
        return reliefs

    def fixed_price(self, wishes: Sequence[Wish]) -> Fraction | None:
        """The ε of exactly this plan, at the budget's δ, by numerical accounting with noises of finite ε. This ε is
        valid only if the plan is not changed. None if it cannot be computed."""
        queries = [option[0] for _, option in self._by(_least_epsilon, wishes) if option is not None]
        if not all(query.parts_apart for query in queries):
            return None
        return pld.epsilon_of([query.loss() for query in queries], self._rule.delta)

    def _options(self, wish: Wish) -> list[_Option]:
        """A wish's question at its least ε, once for each noise that it can have, with its cost. Empty if no ε is
        enough. Cached, because a search prices the same rows many times."""
        key = (id(wish.query), wish.amount)
        if key not in self._known:
            options = []
            for noise in ("", *wish.query.noises):
                query = wish.query.with_noise(noise)
                least = least_epsilon(query, wish.amount)
                if least is None:
                    continue
                option = self._option(query.at(least))
                if self._rule.c is not None or option[1].epsilon is not None:
                    options.append(option)
            self._known[key] = wish.query, options  # the query is kept so that its id is not reused
        return self._known[key][1]

    def _scaled(self, wishes: Sequence[Wish], places: Sequence[int]) -> list[Wish] | None:
        def at(factor: int) -> list[Wish]:
            return [
                replace(wish, amount=round_up_amount(wish.amount * factor / _GRAIN)) if place in places else wish
                for place, wish in enumerate(wishes)
            ]

        if not places or not self.price(at(_LOOSEST)).fits:
            return None
        return at(first_true(lambda factor: self.price(at(factor)).fits, _TIGHTEST, _LOOSEST))


def _least_epsilon(option: _Option) -> tuple[bool, Fraction, Fraction]:
    paid = option[1]
    return paid.epsilon is None, paid.epsilon or Fraction(0), paid.renyi


def _least_renyi(option: _Option) -> tuple[Fraction, bool]:
    return option[1].renyi, option[1].epsilon is None


def round_up_amount(amount: Fraction) -> Fraction:
    """The amount rounded up to three figures, which a person can type."""
    if amount <= 0:
        return Fraction(0)
    grain = decade(amount) / 100
    return up(amount / grain, 1) * grain


def wish_as_json(wish: Wish) -> list[Json]:
    return [wish.query.card.key, wish.query.parameters(), text_of(wish.amount), int(wish.locked)]
