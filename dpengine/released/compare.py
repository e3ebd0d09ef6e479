"""Compares figures of paid answers: difference, ratio, sum, change in percent, and whether they differ. Free.

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
            `Averaged.from_mean`, at β_j instead of the β it was asked with). 10/((j+9)(j+10)) = 10/(j+9) − 10/(j+10)
            adds up to 1, so by a union bound all hold but for β. Then the true figures lie in a box, and what interval
            arithmetic makes of the box holds what the same arithmetic makes of the true figures. ∎
Later       answers change no range that was stated: j stands on the row. Charges of other kinds, and those without an
            answer, keep their number and state nothing.
Why ten     β/(j(j+1)) would give half of β to the first answer and a 110th to the tenth; this gives the first an 11th
            and the tenth a 38th. With Laplace noise a range is 1.8 times as wide as that of the answer alone at j = 1,
            2.2 times at 10, 3.4 times at 100.
Bought      ends of a range (quantiles) were drawn at the answer's own β and cannot be stated at less afterwards. The
            parts of one such answer hold at once, but for β, for that answer alone. Picks from bought answers i ∈ B,
            and perhaps from others, all hold but for Σ_B β_i, plus β if others are among them (the theorem): the noise
            of each answer is fresh given the past, so a union bound over their places in the budget. It holds for
            answers that were not picked because of what they say, and the claim says so; it adds up over the picks,
            and is refused where half or more of the chance is used up.
About       the table as declared and counted for each answer, cuts included; there is no claim about the world.
Sample      beyond the table only where both answers have a range for the larger group of a random sample
            (`Beyond`). Parts of one answer hold at once, but for its own β: whichever two are picked, their difference
            lies between the differences of the ends. Two answers, of one table or of two, each hold but for their own
            β, so both but for the sum (a union bound; nothing need be independent), if they were not picked because of
            what they say. Each is about the group that its own table was drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from dpengine.core.amounts import BETA
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Figures, Json
from dpengine.declared.spelling import normal
from dpengine.mechanisms.card import ADDED
from dpengine.mechanisms.query import AnyQuery, Averaged

LEAD = 9
FEWEST = 2
MOST_PICKED = 20
MOST_FAILING = Fraction(1, 2)  # a claim that may fail half the time says nothing


def share_of(beta: Fraction, place: int) -> Fraction:
    """β_j: the probability with which the ranges of the j-th charge's answer may fail. `beta`: that of all answers
    together; `place`: j."""
    return beta * (LEAD + 1) / ((place + LEAD) * (place + LEAD + 1))


@dataclass(frozen=True)
class Stated:
    value: Fraction
    low: Fraction
    high: Fraction

    @property
    def holds_zero(self) -> bool:
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class Beyond:
    """A range of a figure, or of a difference, for the larger group of a random sample; it fails with chance `beta`."""

    low: float
    high: float
    beta: Fraction
    of: str = ""  # what a share is a share of, where that is not everybody

    @property
    def holds_zero(self) -> bool:
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class Comparable:
    """One figure of an answer, ready for comparison."""

    request: str
    table: str
    part: str  # "" where the answer is one figure
    stated: Stated
    unit: tuple[str, str, str]  # its unit, its column, its kind of answer
    tells: bool  # False: its range says nothing
    alone: bool  # True: its range was drawn with the answer, at that answer's own β
    day: bool  # a day, as its number
    beta: Fraction  # of the claim
    measure: str = ""  # its unit of measurement in the declaration it was asked under
    beyond: Beyond | None = None  # of a random sample: counts as shares in percent, sums as the average of a person

    @property
    def kind_of(self) -> tuple[str, str, str]:
        """What the figure measures, equal for the same figures of two tables: names of columns that differ only in
        capitals count as the same."""
        kind, column, answer = self.unit
        return kind, normal(column), answer

    @property
    def adds(self) -> bool:
        return self.unit[2] in ADDED


def offers(query: AnyQuery, value: Json, interval: Json) -> bool:
    return query.comparable and value is not None and value != {} and interval is not None


def figures(
    query: AnyQuery,
    value: Json,
    interval: Json,
    raw: Figures | None,
    place: int,
    request: str,
    table: str,
    parts: Collection[str] | None = None,
    beta: Fraction = BETA,
    population: Json = None,
) -> list[Comparable]:
    """The comparable figures of an answer, or of some `parts` of it, in order. If the draw is known (`raw`), each range
    is so wide that the ranges of all answers of the budget hold at once, except with probability β; else each range is
    the answer's own. `population`: the answer's ranges for all such people."""
    if not offers(query, value, interval):
        return []
    alone = not (isinstance(query, Averaged) and raw is not None)
    if isinstance(query, Averaged) and raw is not None:
        released = replace(query, beta=share_of(beta, place)).from_mean(raw, 1)
        interval = released.interval
    values, ranges = (given if isinstance(given, dict) else {"": given} for given in (value, interval))
    kind_of_unit, comparable = query.unit, []
    for part, figure in values.items():
        if figure is None or ranges.get(part) is None or not (parts is None or part in parts):
            continue
        low, high = ranges[part]
        stated = _inside(query, _number(figure), _end(low, -math.inf), _end(high, math.inf), part)
        tells, day = not query.mute((low, high), part), isinstance(figure, str)
        claim = query.beta if alone else beta
        unit = (kind_of_unit, query.column_of(part) if kind_of_unit == "column" else "", query.answer_kind)
        measure = query.measure_of(part)
        wider = _beyond(query, population.get(part) if isinstance(population, dict) else population)
        comparable.append(Comparable(request, table, part, stated, unit, tells, alone, day, claim, measure, wider))
    return comparable


def _beyond(query: AnyQuery, ends: Json) -> Beyond | None:
    if ends is None or isinstance(ends[0], str):  # days
        return None
    of = "" if query.answer_kind != "count" or query.facts.people is not None else query.sentence()
    return Beyond(float(ends[0]), float(ends[1]), query.beta, of)


def beyond_difference(first: Comparable, second: Comparable) -> Beyond | None:
    """The difference of two figures (first less second) among all such people. None if a figure has no range for them,
    or for shares of different wholes."""
    one, two = first.beyond, second.beyond
    if one is None or two is None or one.of != two.of or (first.kind_of, first.day) != (second.kind_of, second.day):
        return None
    beta = one.beta if first.request == second.request else one.beta + two.beta
    return None if beta >= MOST_FAILING else Beyond(one.low - two.high, one.high - two.low, beta)


def _inside(query: AnyQuery, value: Fraction, low: Fraction, high: Fraction, part: str) -> Stated:
    """The figure with its range cut to the certain bounds of the true figure, if anything is left of the range. Days
    need no cut: they always lie in their declared range."""
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


def _end(end: Json, outwards: float) -> Fraction:
    """An end rounded to a float and moved one float outwards, so that the range still covers the exact end."""
    return Fraction(math.nextafter(end, outwards)) if isinstance(end, float) else _number(end)


def difference(first: Stated, second: Stated) -> Stated:
    return Stated(first.value - second.value, first.low - second.high, first.high - second.low)


def total(figures: Sequence[Stated]) -> Stated:
    values, lows, highs = zip(*((figure.value, figure.low, figure.high) for figure in figures), strict=True)
    return Stated(sum(values, Fraction(0)), sum(lows, Fraction(0)), sum(highs, Fraction(0)))


def ratio(first: Stated, second: Stated) -> Stated | None:
    """The first divided by the second; None if the second may be 0."""
    if second.holds_zero:
        return None
    ends = [top / bottom for top in (first.low, first.high) for bottom in (second.low, second.high)]
    return Stated(first.value / second.value, min(ends), max(ends))


def change(first: Stated, second: Stated) -> Stated | None:
    """The change from the second figure to the first, in percent; None for figures below 0, of which no such change can
    be stated."""
    times = ratio(first, second)
    if times is None or second.low < 0:
        return None
    return Stated(100 * (times.value - 1), 100 * (times.low - 1), 100 * (times.high - 1))


@dataclass(frozen=True)
class Compared:
    """What follows about two figures, the first compared with the second."""

    first: Comparable
    second: Comparable
    difference: Stated
    ratio: Stated | None
    change: Stated | None

    @property
    def different(self) -> bool:
        """Do the two figures certainly differ? If not, nothing follows: they need not be equal."""
        return not self.difference.holds_zero


@dataclass(frozen=True)
class Comparison:
    """What follows about some picked figures. All ranges hold at once except with probability `beta`, together with the
    ranges of every other figure that could have been picked. If some figures are `alone`, they hold only together with
    those of the other parts of the picked answers."""

    picks: tuple[Comparable, ...]
    pairs: tuple[Compared, ...]  # each of the others against the first
    total: Stated | None  # None where figures of this kind do not add up
    alone: bool
    beta: Fraction

    @property
    def answers(self) -> int:
        return len({pick.request for pick in self.picks})

    @property
    def largest(self) -> Comparable | None:
        """The figure that is certainly larger than all others; None if there is no such figure."""
        first = max(self.picks, key=lambda pick: pick.stated.low)
        others = [pick for pick in self.picks if pick is not first]
        return first if all(first.stated.low > pick.stated.high for pick in others) else None


def compare(picks: Sequence[Comparable]) -> Comparison:
    """Compare two or more figures; refuses in one sentence what cannot be compared."""
    if not FEWEST <= len(picks) <= MOST_PICKED or len({(pick.request, pick.part) for pick in picks}) < len(picks):
        raise AllowanceError("compare.number", most=MOST_PICKED)
    if len({pick.table for pick in picks}) > 1:
        raise AllowanceError("compare.tables")
    if len({(pick.unit, pick.day) for pick in picks}) > 1:
        columns = dict.fromkeys(pick.unit[1] for pick in picks)
        if {pick.unit[0] for pick in picks} == {"column"} and len(columns) > 1:
            raise AllowanceError("compare.columns", columns=list(columns))
        raise AllowanceError("compare.units")
    if len(counted := {pick.measure for pick in picks}) > 1:
        raise AllowanceError("compare.measures", measures=sorted(measure or "–" for measure in counted))
    if (beta := _union(picks)) >= MOST_FAILING:
        raise AllowanceError("compare.bought")
    if silent := [pick.part for pick in picks if not pick.tells]:
        raise AllowanceError("compare.few_part" if silent[0] else "compare.few", part=silent[0])
    first, day = picks[0], picks[0].day
    pairs = tuple(_pair(first, other, day) for other in picks[1:])
    added = total([pick.stated for pick in picks]) if first.adds and not day else None
    return Comparison(tuple(picks), pairs, added, any(pick.alone for pick in picks), beta)


def _union(picks: Sequence[Comparable]) -> Fraction:
    """The probability that some range fails: β of each answer with bought ranges, and β once for all ranges that hold
    at once."""
    bought = {pick.request: pick.beta for pick in picks if pick.alone}
    joint = [pick.beta for pick in picks if not pick.alone]
    return sum(bought.values(), Fraction(0)) + max(joint, default=Fraction(0))


def _pair(first: Comparable, second: Comparable, day: bool) -> Compared:
    left, right = first.stated, second.stated
    times, percent = (None, None) if day else (ratio(left, right), change(left, right))
    return Compared(first, second, difference(left, right), times, percent)


def shares(
    counts: Sequence[Fraction | int], ranges: Sequence[tuple[Fraction | int, Fraction | int]]
) -> list[Stated] | None:
    """The share of each count among all, in percent; None where there may be nobody at all. Their ranges hold whenever
    those of the counts do, for free. Counts x_i lie in [l_i, u_i] and are at least 0. A share x_i / Σx grows with x_i
    and falls with every other count, so it lies between l_i / (l_i + Σ_{j≠i} u_j) and u_i / (u_i + Σ_{j≠i} l_j): exact
    interval arithmetic, for all shares of all rows at once."""
    values = [max(Fraction(count), Fraction(0)) for count in counts]
    lows = [max(Fraction(low), Fraction(0)) for low, _ in ranges]
    highs = [max(Fraction(high), Fraction(0)) for _, high in ranges]
    least, most, whole = sum(lows), sum(highs), sum(values)
    if least <= 0:
        return None
    shares_of_all = []
    for value, low, high in zip(values, lows, highs, strict=True):
        ends = _part(low, most - high), _part(high, least - low)
        shares_of_all.append(Stated(min(max(_part(value, whole - value), ends[0]), ends[1]), *ends))
    return shares_of_all


def _part(count: Fraction, rest: Fraction) -> Fraction:
    return 100 * count / (count + rest) if count + rest else Fraction(0)


MOST_ANSWERS = 100  # the newest of each table


@dataclass(frozen=True)
class AskedFigures:
    """The figures of the newest answer to one question, by part."""

    question: str
    parts: Mapping[str, Comparable]


@dataclass(frozen=True)
class AcrossTables:
    """One figure of two tables. `beta`: the chance that its ranges fail; None if they are among those that hold at
    once."""

    question: str
    part: str
    first: Comparable
    second: Comparable
    difference: Stated  # the second less the first
    change: Stated | None  # from the first to the second, in percent
    beta: Fraction | None
    beyond: Beyond | None = None  # the difference among all such people

    @property
    def different(self) -> bool:
        return not self.difference.holds_zero


@dataclass(frozen=True)
class PersonInBoth:
    """What a person in both tables is guaranteed: one (ε, δ), under one relation."""

    epsilon: Fraction
    delta: Fraction
    relation: str
    shared: bool  # both tables spend one allowance


def across(first: Mapping[str, AskedFigures], second: Mapping[str, AskedFigures]) -> list[AcrossTables]:
    """This year and last year: the same figure of two tables, side by side. Free.

    Relation    none of its own: a function of what was released about each table (post-processing: Dwork and Roth 2014,
                Prop. 2.1).
    Claim       each table's figures are stated as in compare.py, at β/2 for each of the two budgets (at β where both
                tables share one). The difference lies between the differences of the ends.
    Theorem     With probability at least 1−β over the noise of all answers of both budgets, the ranges of all compared
                figures and of all their differences hold at once.
    Proof       By compare.py the ranges of one budget fail with probability at most β/2; a union bound over two
                budgets, and interval arithmetic. Ranges that were bought with an answer hold but for that answer's own
                β; such a pair is stated by itself, but for the sum of both. ∎
    A person    in both tables is protected by the sum of both allowances, both stated under one relation: an add/remove
                guarantee (ε, δ) is (2ε, (1+e^ε)δ) under replace-one. Twelve refreshes are twelve allowances.
    About       each table as declared and counted then. If ranges or lists differ, the figures do not mean the same and
                are not compared.

    Returns the figures that both tables have for the same question. Names of columns may differ in capitals.
    """
    found = []
    for key, asked in first.items():
        others = second[key].parts if key in second else {}
        for part, figure in asked.parts.items():
            other = others.get(part)
            if other is None or not (figure.tells and other.tells):
                continue
            if (figure.kind_of, figure.day, figure.measure) != (other.kind_of, other.day, other.measure):
                continue
            fails = figure.beta + other.beta if figure.alone or other.alone else None
            if fails is not None and fails >= MOST_FAILING:
                continue
            apart, percent = difference(other.stated, figure.stated), None
            if not figure.day:
                percent = change(other.stated, figure.stated)
            wider = beyond_difference(other, figure)
            found.append(AcrossTables(asked.question, part, figure, other, apart, percent, fails, wider))
    return found


def promised(terms: tuple[tuple[Fraction, Fraction, str], tuple[Fraction, Fraction, str]]) -> PersonInBoth:
    """The guarantee for a person in two tables with allowances of their own: their (ε, δ) and relations. Rounded up."""
    relations = {relation for _, _, relation in terms}
    relation = relations.pop() if len(relations) == 1 else "replace"
    epsilon, delta = Fraction(0), Fraction(0)
    for spent, slack, own in terms:
        if own == relation:
            epsilon, delta = epsilon + spent, delta + slack
        else:  # one person replaced is one removed and one added
            grown = Fraction(math.nextafter(math.exp(spent), math.inf))
            epsilon, delta = epsilon + 2 * spent, delta + (1 + grown) * slack
    return PersonInBoth(epsilon, delta, relation, shared=False)
