"""This year and last year: the same figure of two tables, side by side. Free.

Relation    none of its own: a function of what was released about each table (post-processing: Dwork and Roth 2014,
            Prop. 2.1).
Claim       each table's figures are stated as in compare.py, at β/2 for each of the two budgets (at β where both tables
            share one). The difference lies between the differences of the ends.
Theorem     With probability at least 1−β over the noise of all answers of both budgets, the ranges of all compared
            figures and of all their differences hold at once.
Proof       By compare.py the ranges of one budget fail with probability at most β/2; a union bound over two budgets,
            and interval arithmetic. Ranges that were bought with an answer hold but for that answer's own β; such a
            pair is stated by itself, but for the sum of both. ∎
A person    in both tables is protected by the sum of both allowances, both stated under one relation: an add/remove
            guarantee (ε, δ) is (2ε, (1+e^ε)δ) under replace-one. Twelve refreshes are twelve allowances.
About       each table as declared and counted then. If ranges or lists differ, the figures do not mean the same and
            are not compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpengine.released.compare import MOST_FAILING, Comparable, Stated, change, difference

MOST_ANSWERS = 100  # the newest of each table


@dataclass(frozen=True)
class AskedFigures:
    """The figures of the newest answer to one question."""

    question: str
    parts: Mapping[str, Comparable]


@dataclass(frozen=True)
class AcrossTables:
    """One figure of two tables. `beta`: the chance that its ranges fail; None: those of the joint claim."""

    question: str
    part: str
    first: Comparable
    second: Comparable
    difference: Stated  # the second less the first
    change: Stated | None  # from the first to the second, in percent
    beta: Fraction | None

    @property
    def different(self) -> bool:
        return not self.difference.holds_zero


@dataclass(frozen=True)
class PersonInBoth:
    """What a person in both tables is promised: one (ε, δ), under one relation."""

    epsilon: Fraction
    delta: Fraction
    relation: str
    shared: bool  # both tables spend one allowance


def across(first: Mapping[str, AskedFigures], second: Mapping[str, AskedFigures]) -> list[AcrossTables]:
    """The figures that both have, by what was asked."""
    found = []
    for key, asked in first.items():
        others = second[key].parts if key in second else {}
        for part, figure in asked.parts.items():
            other = others.get(part)
            if other is None or not (figure.tells and other.tells):
                continue
            if (figure.unit, figure.day, figure.measure) != (other.unit, other.day, other.measure):
                continue
            fails = figure.beta + other.beta if figure.alone or other.alone else None
            if fails is not None and fails >= MOST_FAILING:
                continue
            apart, percent = difference(other.stated, figure.stated), None
            if not figure.day:
                percent = change(other.stated, figure.stated)
            found.append(AcrossTables(asked.question, part, figure, other, apart, percent, fails))
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
