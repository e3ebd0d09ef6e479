"""Figures of paid answers beside each other: difference, ratio, sum, change in percent, and whether they differ. Free.

Relation    none of its own. Everything here is a function of what the ledger holds, so it is as private as the answers
            it is made of, under their relation and unit (post-processing: Dwork and Roth 2014, Prop. 2.1).
Claim       number the charges of a budget as they came, j = 1, 2, … (the row of a charge holds its number). Every
            figure of the j-th answer is stated with a range that is to fail, for all parts of that answer together,
            with probability at most

                β_j = 10β/((j+9)(j+10)).

Theorem     With probability at least 1−β over the noise of all answers, all these ranges hold at once: whatever was
            asked because of earlier answers, whenever one stopped, whatever was picked after seeing everything.
Proof       Question j is chosen from the answers before it, and j is fixed when it is charged; its noise is fresh, so
            given the past some range of answer j fails with probability at most β_j, on every table (the contract of
            `Averaged.around`, at β_j instead of the β it was asked with). 10/((j+9)(j+10)) = 10/(j+9) − 10/(j+10)
            adds up to 1, so by a union bound all hold but for β. Then the true figures lie in a box, and what interval
            arithmetic makes of the box holds what the same arithmetic makes of the true figures. ∎
Later       answers change no range that was stated: j stands on the row. Charges of other kinds, and those without an
            answer, keep their number and state nothing.
Why ten     β/(j(j+1)) would give half of β to the first answer and a 110th to the tenth; this gives the first an 11th
            and the tenth a 38th. With Laplace noise a range is 1.8 times as wide as that of the answer alone at j = 1,
            2.2 times at 10, 3.4 times at 100.
Bought      ends of a range (quantiles) were drawn at the answer's own β and cannot be stated at less afterwards. The
            parts of one such answer hold at once, but for β, for that answer alone: they are compared with each other
            under this weaker claim, which is said, and never with another answer.
About       the table as it was declared and counted for each answer, cuts included; nothing is said of the world.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from dpengine.core.amounts import BETA
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Figures, Json
from dpengine.mechanisms.card import ADDED
from dpengine.mechanisms.query import AnyQuery, Averaged

LEAD = 9
FEWEST = 2
MOST_PICKED = 20


def share_of(beta: Fraction, place: int) -> Fraction:
    """β_j: what the answer of the j-th charge may fail with."""
    return beta * (LEAD + 1) / ((place + LEAD) * (place + LEAD + 1))


@dataclass(frozen=True)
class Stated:
    """A figure and the range it is stated with."""

    value: Fraction
    low: Fraction
    high: Fraction

    @property
    def holds_zero(self) -> bool:
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class Comparable:
    """One figure of an answer as it may be compared."""

    request: str
    table: str
    part: str  # "" where the answer is one figure
    stated: Stated
    unit: tuple[str, str, str]  # what it is told in, the column, the kind of answer
    tells: bool  # False: its range says nothing
    alone: bool  # True: its range was bought, and holds with the other parts of its answer alone
    day: bool  # a day, as its number
    beta: Fraction  # of the claim

    @property
    def adds(self) -> bool:
        return self.unit[2] in ADDED


def figures(
    query: AnyQuery,
    value: Json,
    interval: Json,
    raw: Figures | None,
    place: int,
    request: str,
    table: str,
    beta: Fraction = BETA,
) -> list[Comparable]:
    """All figures of an answer in the order they are shown, each with its range of the joint claim; none where it has
    no figures that could be compared."""
    if not query.comparable or value in (None, {}) or interval is None:
        return []
    alone = not (isinstance(query, Averaged) and raw is not None)
    if isinstance(query, Averaged) and raw is not None:
        told = replace(query, beta=share_of(beta, place)).around(raw, 1)
        interval = told.interval
    values, ranges = (one if isinstance(one, dict) else {"": one} for one in (value, interval))
    unit = (query.unit, query.answer_column if query.unit == "column" else "", query.answer_kind)
    found = []
    for part, figure in values.items():
        if figure is None or ranges.get(part) is None:
            continue
        low, high = ranges[part]
        stated = _inside(query, _number(figure), _below(low), _above(high), part)
        tells, day = not query.mute((low, high), part), isinstance(figure, str)
        claim = query.beta if alone else beta
        found.append(Comparable(request, table, part, stated, unit, tells, alone, day, claim))
    return found


def _inside(query: AnyQuery, value: Fraction, low: Fraction, high: Fraction, part: str) -> Stated:
    """Cut to where the truth lies for sure, where that leaves something; days lie in their range always."""
    least, most = query.sure(part)
    first = low if least is None or isinstance(least, str) else max(low, Fraction(least))
    last = high if most is None or isinstance(most, str) else min(high, Fraction(most))
    if first > last:
        first, last = low, high
    return Stated(min(max(value, first), last), first, last)


def _number(figure: Json) -> Fraction:
    if isinstance(figure, str):
        return Fraction(date.fromisoformat(figure).toordinal())
    return Fraction(str(figure)) if isinstance(figure, float) else Fraction(figure)


def _below(end: Json) -> Fraction:
    """An end that was rounded to a float, one step further out: the exact one is not beyond."""
    return Fraction(math.nextafter(end, -math.inf)) if isinstance(end, float) else _number(end)


def _above(end: Json) -> Fraction:
    return Fraction(math.nextafter(end, math.inf)) if isinstance(end, float) else _number(end)


# What two figures, or more, say together


def difference(first: Stated, second: Stated) -> Stated:
    """The first less the second."""
    return Stated(first.value - second.value, first.low - second.high, first.high - second.low)


def total(some: Sequence[Stated]) -> Stated:
    values, lows, highs = zip(*((one.value, one.low, one.high) for one in some), strict=True)
    return Stated(sum(values, Fraction(0)), sum(lows, Fraction(0)), sum(highs, Fraction(0)))


def ratio(first: Stated, second: Stated) -> Stated | None:
    """How many times the second the first is; None where the second is too near 0 to divide by."""
    if second.holds_zero:
        return None
    ends = [top / bottom for top in (first.low, first.high) for bottom in (second.low, second.high)]
    return Stated(first.value / second.value, min(ends), max(ends))


def change(first: Stated, second: Stated) -> Stated | None:
    """From the second to the first, in percent; of figures below 0 it would have no meaning."""
    times = ratio(first, second)
    if times is None or second.low < 0:
        return None
    return Stated(*(100 * (one - 1) for one in (times.value, times.low, times.high)))


@dataclass(frozen=True)
class Compared:
    """What is said of two figures, the first against the second."""

    first: Comparable
    second: Comparable
    difference: Stated
    ratio: Stated | None
    change: Stated | None

    @property
    def different(self) -> bool:
        """Are they, for sure? If not, nothing is said: that they are equal never follows."""
        return not self.difference.holds_zero


@dataclass(frozen=True)
class Comparison:
    """What some figures say together; every range in it holds at once with all that could have been picked instead,
    or, where it is `alone`, with the other parts of its answer."""

    picks: tuple[Comparable, ...]
    pairs: tuple[Compared, ...]  # each further one against the first
    total: Stated | None  # None where figures of this kind do not add up
    alone: bool
    beta: Fraction

    @property
    def largest(self) -> Comparable | None:
        """The one that is larger than all others for sure, where there is one."""
        first = max(self.picks, key=lambda one: one.stated.low)
        others = [one for one in self.picks if one is not first]
        return first if all(first.stated.low > one.stated.high for one in others) else None


def compare(picks: Sequence[Comparable]) -> Comparison:
    """Of two figures or more; refuses in one sentence what cannot be compared."""
    if not FEWEST <= len(picks) <= MOST_PICKED or len({(one.request, one.part) for one in picks}) < len(picks):
        raise AllowanceError("compare.number", most=MOST_PICKED)
    if len({one.table for one in picks}) > 1:
        raise AllowanceError("compare.tables")
    if len({(one.unit, one.day) for one in picks}) > 1:
        raise AllowanceError("compare.units")
    if any(one.alone for one in picks) and len({one.request for one in picks}) > 1:
        raise AllowanceError("compare.bought")
    if silent := [one.part for one in picks if not one.tells]:
        raise AllowanceError("compare.few_part" if silent[0] else "compare.few", part=silent[0])
    first, day = picks[0], picks[0].day
    pairs = tuple(_pair(first, other, day) for other in picks[1:])
    added = total([one.stated for one in picks]) if first.adds and not day else None
    return Comparison(tuple(picks), pairs, added, first.alone, first.beta)


def _pair(first: Comparable, second: Comparable, day: bool) -> Compared:
    one, other = first.stated, second.stated
    times, percent = (None, None) if day else (ratio(one, other), change(one, other))
    return Compared(first, second, difference(one, other), times, percent)
