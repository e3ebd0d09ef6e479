"""A budget as a person declares it: a total ε and δ for everything ever released about the people in a table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpengine.accountant.filter import Rule
from dpengine.errors import AllowanceError
from dpengine.exact import read_number

MOST_EPSILON = Fraction(100)


@dataclass(frozen=True)
class Budget:
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Any = "1", delta: Any = "1e-6") -> None:
        object.__setattr__(self, "epsilon", read_number(epsilon, "ε"))
        object.__setattr__(self, "delta", read_number(delta, "δ"))
        if not 0 < self.epsilon <= MOST_EPSILON:
            raise AllowanceError("budget.epsilon_range", most=MOST_EPSILON)
        if not 0 <= self.delta < 1:
            raise AllowanceError("budget.delta_range")

    def rule(self) -> Rule:
        return Rule.make(self.epsilon, self.delta)
