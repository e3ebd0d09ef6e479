"""Which noise gives the most accurate answer for the share of the allowance that a question takes now.

The same question can be answered with different noise, and a budget's two sums price noise differently. In Σε
permute-and-flip costs the same as the exponential mechanism and is more accurate; in Σr it costs up to four times as
much. Gaussian noise has lighter tails at the same Rényi cost, but no finite ε: after the first one only Σr counts.

`cheapest` changes the noise only where the meter moves no further and as many such questions still fit afterwards; and
where the default noise does not fit any more but another one with the same accuracy does. It depends on public facts
and the ledger's sums only, so the choice reveals nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.largest import largest
from dpengine.core.remembered import remembered
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.query import AnyQuery

GRAIN = 10**6  # ε is tried in millionths


@remembered(2048)
def cheapest(query: AnyQuery, rule: Rule, totals: Totals) -> AnyQuery:
    """The question with its most accurate noise, at no higher price now and no fewer times."""
    usual = query.with_noise("")
    usual_cost = cost(usual.loss(), rule.alpha)
    price, many = _share(rule, totals, usual_cost), filter.fits(rule, totals, usual_cost)
    if price is None or not many:
        return _that_fits(usual, rule, totals)

    def takes_no_more(other: Cost) -> bool:
        now = _share(rule, totals, other)
        return now is not None and now <= price and filter.fits(rule, totals, other) >= many

    options = [usual, *_others(usual, rule, takes_no_more)]
    # `min` takes the first of equals, which is the default noise.
    return min(options, key=lambda option: option.promise().amount)


@remembered(4096)
def price_now(query: AnyQuery, rule: Rule, totals: Totals) -> Fraction | None:
    """What a question would take of the allowance now, with the noise that it would be answered with; None where none
    that is as accurate fits into what is left."""
    price = cost(query.loss(), rule.alpha)
    if not filter.admits(rule, totals.plus(price)):
        price = cost(cheapest(query, rule, totals).loss(), rule.alpha)
    return filter.share(rule, totals, price) if filter.admits(rule, totals.plus(price)) else None


def _that_fits(usual: AnyQuery, rule: Rule, totals: Totals) -> AnyQuery:
    """For when the default noise is not admitted any more: the cheapest other noise that fits and is as accurate."""
    return _least([usual.with_noise(noise) for noise in usual.noises], usual.promise().amount, rule, totals) or usual


@remembered(512)
def least_priced(query: AnyQuery, wish: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    """The question with the cheapest noise and ε that give the wished accuracy; None if none that fits does."""
    return _least([query.with_noise(noise) for noise in ("", *query.noises)], wish, rule, totals)


def _least(options: Sequence[AnyQuery], wish: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    fitting = []
    for option in options:
        least = least_epsilon(option, wish)
        if least is not None:
            paid = cost(option.at(least).loss(), rule.alpha)
            if filter.fits(rule, totals, paid):
                fitting.append((filter.share(rule, totals, paid), option.at(least)))
    return min(fitting, key=lambda priced: priced[0])[1] if fitting else None


@remembered(512)
def at_share(query: AnyQuery, share: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    """The question at the largest ε that fits and takes at most this share now; None where there is none."""

    def allowed(place: int) -> bool:
        paid = cost(query.at(Fraction(place, GRAIN)).loss(), rule.alpha)
        now = _share(rule, totals, paid)
        return now is not None and now <= share and filter.fits(rule, totals, paid) > 0

    low, high = int(LEAST_EPSILON * GRAIN), int(MOST_EPSILON * GRAIN)
    if not allowed(low):
        return None
    return query.at(Fraction(largest(allowed, low, high, ("share", query.at(Fraction(1)), share, rule)), GRAIN))


def _others(usual: AnyQuery, rule: Rule, allowed: Callable[[Cost], bool]) -> list[AnyQuery]:
    """The same question with each other noise, at the largest ε (up to twice the default's) that is allowed."""
    others = []
    for noise in usual.noises:
        other = usual.with_noise(noise)
        low = int(LEAST_EPSILON * GRAIN)
        high = int(min(2 * usual.epsilon, MOST_EPSILON) * GRAIN)
        if allowed(cost(other.loss(), rule.alpha)):  # most often the same ε is allowed
            low = max(low, int(usual.epsilon * GRAIN))
        elif not allowed(cost(other.at(Fraction(low, GRAIN)).loss(), rule.alpha)):
            continue

        def fine(place: int, other: AnyQuery = other) -> bool:
            return allowed(cost(other.at(Fraction(place, GRAIN)).loss(), rule.alpha))

        place = largest(fine, low, high, ("noise", other.at(Fraction(1)), rule), usual.epsilon)
        others.append(other.at(Fraction(place, GRAIN)))
    return others


def _share(rule: Rule, totals: Totals, paid: Cost) -> Fraction | None:
    """How far the meter would move; None if no finite ε would be true any more."""
    if rule.c is None and (paid.epsilon is None or totals.epsilon is None):
        return None
    return filter.share(rule, totals, paid)
