"""Several averages at once: what each way of adding noise is worth for the price that the question has now, against the
number of columns (lecture 10, its section on the ℓ2 norm).

    ordinary     column by column, and the d losses of ε/d are added up to ε: Pure(ε). One draw calibrated by the ℓ1
                 norm is the same noise at the same price.
    strong       the same noise, charged as d uses of ε/d: what the question's usual noise really costs.
    l2_laplace   one draw by the length of a row.
    gaussian     the same with Gaussian noise.

Each at the largest ε whose price now is no higher than that of the question: public facts and the ledger's sums alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Loss, Pure
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.largest import largest
from dpengine.core.remembered import remembered
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.sums.row_norms import COORDINATE, GAUSSIAN, NORM
from dpengine.mechanisms.sums.vector_mean import VectorMean

ORDINARY, STRONG = "ordinary", "strong"
WIDTHS = (1, 2, 5, 10, 20)
_GRAIN = 10**4  # ε is found to a ten-thousandth: for a picture


@dataclass(frozen=True)
class WayAtOnce:
    """One way of adding noise: the promised error, a share of each range, by the number of columns; none where it does
    not fit."""

    name: str
    noise: str
    errors: dict[int, Fraction]


@dataclass(frozen=True)
class WaysAtOnce:
    here: int  # columns of the question
    cornered: bool  # may a row be in a corner of the ranges? Its length is then √d, and adds nothing to what is known
    each: tuple[WayAtOnce, ...]


@remembered(256)
def ways(query: AnyQuery, rule: Rule, totals: Totals) -> WaysAtOnce | None:
    """None for a question that is about one column."""
    if not isinstance(query, VectorMean):
        return None
    price = filter.share(rule, totals, cost(query.with_noise("").loss(), rule.alpha))
    widths = sorted({*WIDTHS, len(query.columns)})
    found = []
    for name, noise in ((ORDINARY, COORDINATE), (STRONG, COORDINATE), (NORM, NORM), (GAUSSIAN, GAUSSIAN)):
        errors: dict[int, Fraction] = {}
        for many in widths:
            asked = query.of_width(many).with_noise(noise)
            charged: Callable[[VectorMean], Loss] = _pure if name == ORDINARY else VectorMean.loss
            best = _largest(asked, charged, price, rule, totals)
            if best is not None:
                errors[many] = best.promise().share
        found.append(WayAtOnce(name, noise, errors))
    return WaysAtOnce(len(query.columns), query.norm == 1, tuple(found))


def _pure(query: VectorMean) -> Loss:
    return Pure(query.epsilon)


def _largest(
    query: VectorMean, charged: Callable[[VectorMean], Loss], price: Fraction, rule: Rule, totals: Totals
) -> VectorMean | None:
    """The question at the largest ε that fits and takes no more than this price."""

    def allowed(place: int) -> bool:
        paid = cost(charged(query.at(Fraction(place, _GRAIN))), rule.alpha)
        if rule.c is None and (paid.epsilon is None or totals.epsilon is None):
            return False
        return filter.share(rule, totals, paid) <= price and filter.fits(rule, totals, paid) > 0

    low, high = max(int(LEAST_EPSILON * _GRAIN), 1), int(MOST_EPSILON * _GRAIN)
    if not allowed(low):
        return None
    name = "way", query.at(Fraction(1)), charged, rule
    return query.at(Fraction(largest(allowed, low, high, name, query.epsilon), _GRAIN))
