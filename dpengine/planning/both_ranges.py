"""Before anything is spent: how wide both ranges of a random sample will be, in the table and among all such people.

From public facts alone: for a table of the declared size, with shares of one half (equal shares, if there are several)
and values spread evenly over their range. Where they lie at both ends, the second range is up to 1.7 times as wide.
*Least* is the second range at a price so high that no noise is left. Where it is nearly as wide, paying more buys
nothing about all such people: the sample is small. The crossing is the ε at which the first range is as wide as
`least`: below it noise matters more, above it the sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpengine.accountant.history import Past
from dpengine.asking import beyond
from dpengine.core.amounts import LEAST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import up
from dpengine.core.remembered import remembered
from dpengine.core.types import Json
from dpengine.mechanisms.query import AnyQuery, Averaged

POINTLESS = 0.9  # if this part of the second range would be left without any noise, a higher price hardly helps
_NO_NOISE = Fraction(1000)  # an ε at which noise is nearly always 0
_STEPS = 7
_AT_ONCE = 0.9  # a first point whose range is a smaller part of `least` lies beyond the crossing
FEWEST, MOST = 10, 10**9  # people on the axis
_NEAR = (Fraction(1), Fraction(21, 20))  # reaches are whole numbers of people, so a little more may be needed


@dataclass(frozen=True)
class BothRanges:
    """Half the width of each range: in percentage points for counts and shares, else in the column's unit."""

    epsilon: Fraction
    people: int
    here: float
    everyone: float
    least: float  # of `everyone`, without noise
    after: bool = False  # wider because of earlier releases

    @property
    def pointless(self) -> bool:
        """Would a higher price hardly narrow the second range?"""
        return not self.after and self.least >= POINTLESS * self.everyone


@remembered(512)
def both_ranges(query: AnyQuery, past: Past = Past.NOTHING, reserve: Fraction = Fraction(0)) -> BothRanges | None:
    """Both ranges of a question; None if it has no second range, or if earlier releases leave none."""
    here, everyone = _widths(query, past, reserve)
    _, least = _widths(query.at(_NO_NOISE), past, reserve)
    if here is None or everyone is None or least is None:
        return None
    return BothRanges(query.epsilon, query.facts.about, here, everyone, min(least, everyone), past != Past.NOTHING)


@remembered(512)
def _widths(query: AnyQuery, past: Past, reserve: Fraction) -> tuple[float | None, float | None]:
    raw = query.supposed_draw()
    if raw is None or not isinstance(query, Averaged):
        return None, None
    answer = query.finish(raw)
    found, _ = beyond.claimed(query, answer, raw, past, reserve)
    if found is None:
        return None, None
    scale = {"count": Fraction(100, query.facts.about), "amount": Fraction(1, query.facts.about)}
    factor = float(scale.get(query.answer_kind, Fraction(1)))
    return _half(answer.interval) * factor, _half(found)


def _half(interval: Json) -> float:
    """Half of the width of a range; of several ranges, half of the widest."""
    ranges = interval.values() if isinstance(interval, dict) else [interval]
    return max(float(high - low) for low, high in ranges) / 2


def as_sample(query: AnyQuery) -> AnyQuery | None:
    """The same question, asked as if the table's people were a random sample; None if a person may have several
    rows."""
    if not query.facts.unit.single:
        return None
    try:
        return replace(query, facts=replace(query.facts, sample=True))
    except AllowanceError:
        return None


def along_epsilon(query: AnyQuery) -> list[BothRanges]:
    """Both ranges against ε, in even steps on a log axis, and the crossing: noise falls like 1/ε."""
    steps = {query.epsilon * Fraction(3) ** (step - _STEPS // 2) for step in range(_STEPS)}
    noisy = _before_crossing(query, lambda one: one.at(max(one.epsilon / 3, LEAST_EPSILON)))
    if noisy is not None:
        near = noisy.epsilon * Fraction(noisy.here / noisy.least).limit_denominator(10**6)
        steps |= {up(near * off, 10**4) for off in _NEAR}
    found = [both_ranges(query.at(epsilon)) for epsilon in sorted(steps) if epsilon >= LEAST_EPSILON]
    return [one for one in found if one is not None]


def along_people(query: AnyQuery) -> list[BothRanges]:
    """Both ranges against the number of people, in even steps on a log axis, and about the crossing: noise falls like
    1/n, the luck of the sample like 1/√n."""
    sizes = {max(query.facts.about * 4**step // 4 ** (_STEPS // 2), FEWEST) for step in range(_STEPS)}
    noisy = _before_crossing(query, lambda one: one.of_size(max(one.facts.about // 4, FEWEST)))
    if noisy is not None:
        near = noisy.people * (noisy.here / noisy.least) ** 2
        sizes |= {people for off in _NEAR if (people := math.ceil(float(off) * near)) <= MOST}
    found = [both_ranges(query.of_size(people)) for people in sorted(sizes)]
    return [one for one in found if one is not None]


def _before_crossing(query: AnyQuery, noisier: Callable[[AnyQuery], AnyQuery]) -> BothRanges | None:
    """This question, if its first range is wider than the sample alone allows; else the first noisier version of which
    that is true. If noise ends the second range before, the noisiest version that has one. None if there is none."""
    found = both_ranges(query)
    while found is not None and found.here <= found.least:
        more = noisier(query)
        if more == query:
            return None
        beyond_it = both_ranges(more)
        if beyond_it is None:
            break
        query, found = more, beyond_it
    return found if found is not None and found.least else None


def crossing(points: Sequence[BothRanges]) -> BothRanges | None:
    """The first point, from the most noise on, at which the first range is no wider than the sample alone allows; None
    if the crossing lies before the first point or beyond the last."""
    found = next((point for point in points if point.here <= point.least), None)
    return None if found is not None and found is points[0] and found.here < _AT_ONCE * found.least else found
