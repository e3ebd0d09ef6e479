"""What a loss event costs in each quantity that a budget counts: ε, Rényi divergence at the budget's order α, and δ.

| event | ε | Rényi at α | δ |
|---|---|---|---|
| Pure(ε) | ε | the pure curve | 0 |
| Exponential(ε) | ε | min(αε²/8, the pure curve) | 0 |
| Gaussian(ρ) | infinite | αρ | 0 |
| Bounded(ε, ρ) | ε | min(αρ, the pure curve) | 0 |
| Approximate(ε, δ) | ε | the pure curve | δ |
| Together(parts) | sum | sum | sum |
| Repeated(part, k) | k times | k times | k times |

Approximate is sound because an (ε, δ) pair is, up to post-processing, an ε-pure pair with probability 1−δ and
arbitrary with probability δ (Kairouz, Oh, Viswanath 2015, Thm 3.3): the first part goes through the pure curve, the
second into the δ reserve.

Nothing here depends on which neighbouring relation the table uses: a mechanism states its event under the table's own
relation, and composition holds for each pair of neighbours separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpengine.accountant import renyi
from dpengine.accountant.loss import Approximate, Bounded, Exponential, Gaussian, Loss, Pure, Simple, simple_events
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import up


@dataclass(frozen=True)
class Cost:
    """Upper bounds: ε and Rényi divergence are multiples of 10^-12, rounded up once per event; δ is exact."""

    epsilon: Fraction | None  # None is infinite: a Gaussian has no finite ε, and closes the pure clause
    renyi: Fraction  # 0 where the budget has no order α (δ = 0), and then nothing reads it
    delta: Fraction


def cost(loss: Loss, alpha: Fraction | None) -> Cost:
    """The price of `loss` under a budget frozen at order `alpha` (None: a budget with no δ, only ε counts)."""
    epsilon, order_sum, delta = _sums(counted_parts(loss), alpha)
    return Cost(None if epsilon is None else up(epsilon), up(order_sum), delta)


@lru_cache(maxsize=8192)
def _sums(parts: tuple[tuple[Simple, int], ...], alpha: Fraction | None) -> tuple[Fraction | None, Fraction, Fraction]:
    """Σε, Σ of Rényi divergences and Σδ; Σε is None with a Gaussian. Callers check the parts first, because the cache
    takes equal parts for the same one, and an unchecked part may equal a checked one. Cached: a page prices the same
    loss several times."""
    epsilon: Fraction | None = Fraction(0)
    order_sum = delta = Fraction(0)
    for part, times in parts:
        part_epsilon = epsilon_of_part(part)
        epsilon = None if epsilon is None or part_epsilon is None else epsilon + times * part_epsilon
        order_sum += Fraction(0) if alpha is None else times * _renyi(part, alpha)
        delta += times * delta_of_part(part)
    return epsilon, order_sum, delta


def checked_parts(loss: Loss) -> tuple[Simple, ...]:
    """The simple events of a loss one by one, checked."""
    return tuple(part for part, times in counted_parts(loss) for _ in range(times))


def counted_parts(loss: Loss) -> tuple[tuple[Simple, int], ...]:
    """The simple events of a loss, each with how often it occurs. Refused for an unknown event and for an inexact or
    negative amount (a refund)."""
    parts = simple_events(loss)
    for part, _ in parts:
        if type(part) not in (Pure, Exponential, Gaussian, Bounded, Approximate):
            raise AllowanceError("loss.unknown")
        for amount in vars(part).values():
            if isinstance(amount, bool) or not isinstance(amount, (int, Fraction)) or amount < 0:
                raise AllowanceError("loss.range")
    return parts


def epsilon_of_part(part: Simple) -> Fraction | None:
    if isinstance(part, Gaussian):
        return None if part.rho else Fraction(0)  # ρ = 0: the same law on both tables
    return Fraction(part.epsilon)


def delta_of_part(part: Simple) -> Fraction:
    return Fraction(part.delta) if isinstance(part, Approximate) else Fraction(0)


def _renyi(part: Simple, alpha: Fraction) -> Fraction:
    match part:
        case Pure() | Approximate():
            return renyi.of_pure(part.epsilon, alpha)
        case Exponential():
            return renyi.of_bounded_range(part.epsilon, alpha)
        case Gaussian():
            return renyi.of_gaussian(part.rho, alpha)
        case Bounded():
            return min(renyi.of_gaussian(part.rho, alpha), renyi.of_pure(part.epsilon, alpha))
    assert_never(part)
