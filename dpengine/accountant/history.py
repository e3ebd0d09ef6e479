"""The history of charges as a few running sums, so that a reading costs the same after any number of rows.

Every sum is rounded up once per entry: ε to 10^-12, squares and ρ to 10^-24 (the square of a multiple of 10^-12 is
exact there). δ is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import ClassVar

from dpengine.accountant import renyi
from dpengine.accountant.costs import counted_parts, delta_of_part, epsilon_of_part
from dpengine.accountant.loss import Bounded, Exponential, Gaussian, Loss, Simple
from dpengine.core.exact import PICO, up
from dpengine.core.types import JsonObject


@dataclass(frozen=True)
class History:
    """The charges so far. `epsilon` and `squares` are None once a Gaussian was charged, which has no finite ε."""

    count: int  # entries, not their parts
    epsilon: Fraction | None  # Σ ε_i
    squares: Fraction | None  # Σ ε_i²
    rho: Fraction  # Σ ρ_i, the zCDP of each part
    delta: Fraction  # Σ δ_i

    NOTHING: ClassVar[History]

    @staticmethod
    def of(losses: Iterable[Loss]) -> History:
        return reduce(History.plus, losses, History.NOTHING)

    def plus(self, loss: Loss) -> History:
        parts = counted_parts(loss)
        known = [(epsilon_i, times) for part, times in parts if (epsilon_i := epsilon_of_part(part)) is not None]
        epsilon = squares = None
        if self.epsilon is not None and self.squares is not None and len(known) == len(parts):
            epsilon = self.epsilon + up(sum((epsilon_i * times for epsilon_i, times in known), Fraction(0)))
            squares = self.squares + up(sum((epsilon_i**2 * times for epsilon_i, times in known), Fraction(0)), PICO**2)
        rho = up(sum((_rho(part) * times for part, times in parts), Fraction(0)), PICO**2)
        delta = sum((delta_of_part(part) * times for part, times in parts), Fraction(0))
        return History(self.count + 1, epsilon, squares, self.rho + rho, self.delta + delta)

    def joined(self, other: History) -> History:
        epsilon = None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon
        squares = None if self.squares is None or other.squares is None else self.squares + other.squares
        count, rho, delta = self.count + other.count, self.rho + other.rho, self.delta + other.delta
        return History(count, epsilon, squares, rho, delta)

    def as_json(self) -> JsonObject:
        sums = {name: None if value is None else str(value) for name, value in vars(self).items()}
        return sums | {"count": self.count}

    @staticmethod
    def from_json(data: JsonObject) -> History:
        epsilon, squares = data["epsilon"], data["squares"]
        return History(
            int(data["count"]),
            None if epsilon is None else Fraction(epsilon),
            None if squares is None else Fraction(squares),
            Fraction(data["rho"]),
            Fraction(data["delta"]),
        )


History.NOTHING = History(0, Fraction(0), Fraction(0), Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Past:
    """The sums over past releases that bounds on the population use (population/validity.py). Every loss counts in
    `rho`; a loss with a finite ε counts in `pure` too, any other in `bell`."""

    pure: Fraction  # Σ ε_i of the parts that have one
    bell: Fraction  # Σ ρ_i of the parts that have none
    rho: Fraction  # Σ ρ_i of all parts
    delta: Fraction  # Σ δ_i

    NOTHING: ClassVar[Past]

    @staticmethod
    def of(losses: Iterable[Loss]) -> Past:
        return reduce(Past.plus, losses, Past.NOTHING)

    @staticmethod
    def of_sums(history: History) -> Past:
        """The same sums, from a budget's running sums alone. If a Gaussian is among the charges, all charges count as
        `bell`."""
        if history.epsilon is None:
            return Past(Fraction(0), history.rho, history.rho, history.delta)
        return Past(history.epsilon, Fraction(0), history.rho, history.delta)

    def plus(self, loss: Loss) -> Past:
        pure, bell, rho, delta = self.pure, self.bell, self.rho, self.delta
        for part, times in counted_parts(loss):
            epsilon, own = epsilon_of_part(part), _rho(part) * times
            pure, bell = (pure, bell + own) if epsilon is None else (pure + epsilon * times, bell)
            rho, delta = rho + own, delta + delta_of_part(part) * times
        return Past(up(pure), up(bell, PICO**2), up(rho, PICO**2), delta)

    def joined(self, other: Past) -> Past:
        return Past(self.pure + other.pure, self.bell + other.bell, self.rho + other.rho, self.delta + other.delta)


Past.NOTHING = Past(Fraction(0), Fraction(0), Fraction(0), Fraction(0))


def history_of(entries: History | Iterable[Loss]) -> History:
    return entries if isinstance(entries, History) else History.of(entries)


def _rho(part: Simple) -> Fraction:
    if isinstance(part, Gaussian):
        return Fraction(part.rho)
    pure = renyi.zcdp_of_pure(Fraction(part.epsilon))
    if isinstance(part, Bounded):
        return min(Fraction(part.rho), pure)
    return min(part.epsilon**2 / Fraction(8), pure) if isinstance(part, Exponential) else pure
