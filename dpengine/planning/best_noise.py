"""Which noise gives the best promise for what a question takes of its allowance now.

The same question can be answered with different noise, and a budget's two sums price noise differently. In Σε
permute-and-flip costs what the exponential mechanism costs and lies nearer the best; in Σr it costs up to four times as
much. Gaussian noise has lighter tails at the same Rényi cost, but no finite ε: after the first one only Σr counts.

`cheapest` changes the noise only where the meter moves no farther and no fewer such questions fit afterwards, and where
the usual noise does not fit any more but another one that promises as much does. It is a function of public facts and
of the ledger's sums, so the choice tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.query import AnyQuery

GRAIN = 10**6  # ε is tried in millionths


def cheapest(query: AnyQuery, rule: Rule, totals: Totals) -> AnyQuery:
    """The question with the noise that promises most, at no higher price now, and as many times."""
    usual = query.with_noise("")
    told = cost(usual.loss(), rule.alpha)
    price, many = _share(rule, totals, told), filter.fits(rule, totals, told)
    if price is None or not many:
        return _that_fits(usual, rule, totals)

    def takes_no_more(other: Cost) -> bool:
        now = _share(rule, totals, other)
        return now is not None and now <= price and filter.fits(rule, totals, other) >= many

    options = [usual, *_others(usual, rule, takes_no_more)]
    return min(options, key=lambda option: option.promise().amount)  # the first of equals, so the usual one


def _that_fits(usual: AnyQuery, rule: Rule, totals: Totals) -> AnyQuery:
    """Where the usual noise is not admitted any more: another that promises as much, fits, and takes least."""
    return _least([usual.with_noise(noise) for noise in usual.noises], usual.promise().amount, rule, totals) or usual


def least_priced(query: AnyQuery, wish: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    """The question with the noise and the ε that take least now and promise as much as is wished; None where none that
    fits does."""
    return _least([query.with_noise(noise) for noise in ("", *query.noises)], wish, rule, totals)


def _least(options: Sequence[AnyQuery], wish: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    found = []
    for option in options:
        least = least_epsilon(option, wish)
        if least is not None:
            paid = cost(option.at(least).loss(), rule.alpha)
            if filter.fits(rule, totals, paid):
                found.append((filter.share(rule, totals, paid), option.at(least)))
    return min(found, key=lambda one: one[0])[1] if found else None


def _others(usual: AnyQuery, rule: Rule, allowed: Callable[[Cost], bool]) -> list[AnyQuery]:
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


def _share(rule: Rule, totals: Totals, told: Cost) -> Fraction | None:
    """How far the meter would move; None where no finite reading would be true any more."""
    if rule.c is None and (told.epsilon is None or totals.epsilon is None):
        return None
    return filter.share(rule, totals, told)
