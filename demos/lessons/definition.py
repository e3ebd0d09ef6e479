"""Lessons 3 and 4: what the definition says about two laws, exactly.

**Definition.** Two laws P and Q keep (ε, δ) if P(A) ≤ e^ε·Q(A) + δ and Q(A) ≤ e^ε·P(A) + δ for every event A.

**Worst event.** P(A) − e^ε·Q(A) is largest for A = {x : P(x) > e^ε·Q(x)}, where it is the sum of the positive parts:
the least δ that P and Q keep at ε. So finitely many comparisons decide what 2^outcomes events would.

**One row** (thesis, Thm 4.7, Ex. 4.8). Where every row is released by itself, pairs of one-row tables decide: of |D|
rows C(|D|, 2) pairs with 2^|D| events, not n·C(|D|, 2)·|D|^(n−1) pairs of tables of n people.

Chances are exact Fractions where they are rational. Powers of e have fifty digits, and excesses below 10^-40 are equal
chances: no setting comes nearer than that to a promise without meeting it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from dpengine.core.exact import exp_decimal

Chances = tuple[Fraction, ...]
NOTHING = Fraction(1, 10**40)


@dataclass(frozen=True)
class Checked:
    """Two laws, and whether they keep (ε, δ). `worst` is the event with the largest excess, in the worse direction."""

    first: Chances
    second: Chances
    epsilon: Fraction
    delta: Fraction
    worst: frozenset[int]
    turned: bool  # True: the event is likelier in the second world
    least: Fraction  # the smallest δ that holds at this ε

    @property
    def holds(self) -> bool:
        return self.least <= self.delta + NOTHING

    @property
    def likelier(self) -> Fraction:
        """The chance of the worst event in the world where it is likelier."""
        return _of(self.second if self.turned else self.first, self.worst)

    @property
    def rarer(self) -> Fraction:
        return _of(self.first if self.turned else self.second, self.worst)

    @property
    def limit(self) -> Fraction:
        """The largest chance that (ε, δ) allows for the worst event in the likelier world: e^ε·rarer + δ."""
        return Fraction(exp_decimal(self.epsilon)) * self.rarer + self.delta


@dataclass(frozen=True)
class Needed:
    """How many pairs, and events for each, decide when every row is released by itself; and how many pairs of whole
    tables there would be."""

    pairs: int
    events: int
    tables: int


def needed(rows: int, people: int) -> Needed:
    """The number of comparisons for tables of `people` rows that take `rows` different values (thesis, Ex. 4.8)."""
    return Needed(comb(rows, 2), 2**rows, people * comb(rows, 2) * rows ** (people - 1))


def check(first: Sequence[Fraction], second: Sequence[Fraction], epsilon: Fraction, delta: Fraction) -> Checked:
    factor = Fraction(exp_decimal(epsilon))
    sides = []
    for turned, (here, other) in enumerate(((first, second), (second, first))):
        excess = [p - factor * q for p, q in zip(here, other, strict=True)]
        worst = frozenset(place for place, part in enumerate(excess) if part > NOTHING)
        sides.append((sum((excess[place] for place in worst), Fraction(0)), worst, bool(turned)))
    least, worst, turned_side = max(sides, key=lambda side: side[0])
    return Checked(tuple(first), tuple(second), epsilon, delta, worst, turned_side, least)


def _of(chances: Chances, event: frozenset[int]) -> Fraction:
    return sum((chances[place] for place in event), Fraction(0))


def coin(times: int, flip: Fraction, epsilon: Fraction, delta: Fraction) -> Checked:
    """Whether (ε, δ) holds for a yes/no answer that is flipped with chance `flip` and asked `times` times. The two laws
    are those of the number of “yes” if the truth is yes, and if the truth is no; the order of the answers says nothing
    more."""

    def law(yes: Fraction) -> Chances:
        return tuple(comb(times, yeses) * yes**yeses * (1 - yes) ** (times - yeses) for yeses in range(times + 1))

    return check(law(1 - flip), law(flip), epsilon, delta)


def bars(a: Fraction, b: Fraction, epsilon: Fraction, delta: Fraction) -> Checked:
    """Whether (ε, δ) holds for two outcomes: “yes” has chance a in one world and b in the other."""
    return check((a, 1 - a), (b, 1 - b), epsilon, delta)


LOW, HIGH = 0, 21  # the ends of the picture of a noisy count; the tails are added to its ends
CENTRE = 10


def count(noise: Fraction, epsilon: Fraction, delta: Fraction) -> Checked:
    """Whether (ε, δ) holds for a count of 10 and one of 11 with discrete Laplace noise of scale 1/noise. The tails are
    added to the picture's ends: P/Q is the same there, so no δ changes."""
    ratio = Fraction(exp_decimal(-noise))

    def law(centre: int) -> Chances:
        weights = [ratio ** abs(place - centre) for place in range(LOW, HIGH + 1)]
        weights[0], weights[-1] = (weight / (1 - ratio) for weight in (weights[0], weights[-1]))
        return tuple(weight * (1 - ratio) / (1 + ratio) for weight in weights)

    return check(law(CENTRE), law(CENTRE + 1), epsilon, delta)
