"""Which noise gives the best promise for what a question takes of its budget.

The same question can be answered with different noise, and a budget's two clauses price noise differently. Under the
pure clause permute-and-flip costs what the exponential mechanism costs and lies nearer the best; under the Rényi
clause it costs up to four times as much. Gaussian noise has lighter tails at the same Rényi price, but no finite ε:
the first one closes the pure clause for good.

`best_noise` changes the noise only where the meter moves no farther and no fewer such questions fit afterwards.
Gaussian noise then costs nothing in any later history: its reading is the lower one at once, and no event adds more to
it than to Σε. Permute-and-flip may: it adds more to the Rényi sum, so that of many small other questions, which would
one day be counted there, fewer may fit (ε = 1, δ = 10^-6, after a choice of 0.25: 283 counts of 0.01 instead of 328).
`closing` is the offer that a person must accept, because it closes the pure clause. Both are functions of public facts
and of the ledger's sums.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.mechanisms.query import Query

GRAIN = 10**6  # ε is tried in millionths
WORTH_SAYING = Fraction(9, 10)  # an offer must promise at least a tenth better


def cheapest(query: Query, rule: Rule, totals: Totals) -> Query:
    """The question with the noise that promises most, at no higher price now, and as many times."""
    usual = query.with_noise("")
    told = cost(usual.loss(), rule.alpha)
    price, many = _price(rule, totals, told), filter.fits(rule, totals, told)
    if price is None or not many:
        return usual

    def takes_no_more(other: Cost) -> bool:
        now = _price(rule, totals, other)
        return now is not None and now <= price and filter.fits(rule, totals, other) >= many

    found = [usual, *_others(usual, rule, takes_no_more)]
    return min(found, key=lambda one: one.promise().amount)  # the first of equals, so the usual one


def closing(query: Query, rule: Rule, totals: Totals) -> Query | None:
    """The question with noise that would close the pure clause, where as many such questions would fit and each would
    promise clearly more. None when there is no such noise, or the clause is closed already."""
    usual = query.with_noise("")
    told = cost(usual.loss(), rule.alpha)
    many = filter.fits(rule, totals, told)
    if totals.epsilon is None or rule.c is None or not many:
        return None

    def as_many(other: Cost) -> bool:
        return other.epsilon is None and filter.fits(rule, totals, other) >= many

    worth = usual.promise().amount * WORTH_SAYING
    found = [one for one in _others(usual, rule, as_many) if one.promise().amount <= worth]
    return min(found, key=lambda one: one.promise().amount, default=None)


def _others(usual: Query, rule: Rule, allowed: Callable[[Cost], bool]) -> list[Query]:
    """The same question with each other noise, at the largest ε (up to twice the usual one's) that is allowed."""
    found = []
    for noise in usual.noises:
        other = usual.with_noise(noise)
        low = int(LEAST_EPSILON * GRAIN)
        high = int(min(2 * usual.epsilon, MOST_EPSILON) * GRAIN)
        if allowed(cost(other.loss(), rule.alpha)):  # most often it is this very ε
            low = max(low, int(usual.epsilon * GRAIN))
        elif not allowed(cost(other.at(Fraction(low, GRAIN)).loss(), rule.alpha)):
            continue
        while low < high:
            middle = (low + high + 1) // 2
            fine = allowed(cost(other.at(Fraction(middle, GRAIN)).loss(), rule.alpha))
            low, high = (middle, high) if fine else (low, middle - 1)
        found.append(other.at(Fraction(low, GRAIN)))
    return found


def _price(rule: Rule, totals: Totals, told: Cost) -> Fraction | None:
    """How far the meter would move; None where no finite reading would be true any more."""
    if rule.c is None and told.epsilon is None:
        return None
    return filter.price(rule, totals, told)
