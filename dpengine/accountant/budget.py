"""A budget as a person declares it: a total ε and δ for everything ever released about the people in a table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.accountant.filter import Rule
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number
from dpengine.core.types import Json

MOST_EPSILON = Fraction(100)


@dataclass(frozen=True)
class Budget:
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Json = "1", delta: Json = "1e-6") -> None:
        object.__setattr__(self, "epsilon", read_number(epsilon, "ε"))
        object.__setattr__(self, "delta", read_number(delta, "δ"))
        if not 0 < self.epsilon <= MOST_EPSILON:
            raise AllowanceError("budget.epsilon_range", most=MOST_EPSILON)
        if not 0 <= self.delta < 1:
            raise AllowanceError("budget.delta_range")

    def rule(self) -> Rule:
        return Rule.make(self.epsilon, self.delta)


def usual_delta(people: int) -> Fraction:
    """The default δ: a power of ten, at most one in a million and at most 1/(10·people)."""
    delta = Fraction(1, 10**6)
    while delta * 10 * people > 1:
        delta /= 10
    return delta
