"""The checks every catalogue entry must stand, as functions, so that planted wrong mechanisms can be held against them.

The small world they are held in is the engine's own: `dpengine.audit.world`.
False alarms: a statistical check fails a right mechanism with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from dpengine.accountant.costs import cost
from dpengine.audit.exact import ORDER, worst
from dpengine.audit.world import (
    CASES,
    DATA_SUPPORT,
    HEADER,
    POSSIBLE_ROWS,
    PUBLIC_SUPPORT,
    SCHEMA,
    SEVERAL,
    Case,
    build,
    facts,
    key_of,
    neighbouring_statistics,
    neighbours,
)
from dpengine.core.exact import decimal_of
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import Finite, Independent, Laplace, Law, Normal, above, chance

__all__ = [
    "CASES",
    "DATA_SUPPORT",
    "FALSE_ALARM",
    "HEADER",
    "POSSIBLE_ROWS",
    "PUBLIC_SUPPORT",
    "SCHEMA",
    "SEVERAL",
    "allowed_failures",
    "build",
    "case_name",
    "check_law_against_loss",
    "check_samples_against_law",
    "check_sensitivity",
    "facts",
    "neighbours",
]

FALSE_ALARM = 1e-6


def case_name(case: Case) -> str:
    """A case's name, such as “count: of some”, which `world.named` turns back."""
    return _case_names()[case[0], repr(sorted(case[1].items()))]


@cache
def _case_names() -> dict[tuple[str, str], str]:
    named = [(key, *case) for key, query in catalogue.items() for case in query.trial.cases.items()]
    return {(key, repr(sorted(given.items()))): f"{key}: {name}" for key, name, given in reversed(named)}


def check_sensitivity(query: Query) -> None:
    """No pair of neighbours moves the measured vector by more than is claimed, and some pair moves it that much."""
    claimed, worst = query.sensitivity(), 0
    known: dict[Any, tuple[int, ...]] = {}
    for pair in neighbouring_statistics(query.need().of, query.facts.relation, query.facts.unit):
        before, after = (_measured(query, value, known) for value in pair)
        assert len(before) == len(after), "the answer's shape depends on the data"
        moves = [abs(a - b) for a, b in zip(before, after, strict=True)]
        norms = {"l1": sum(moves), "linf": max(moves, default=0), "l2sq": sum(move * move for move in moves)}
        worst = max(worst, norms[claimed.norm])
    assert worst <= claimed.bound, f"a neighbour moves it by {worst}, claimed {claimed.bound}"
    wasteful = claimed.attained and worst < claimed.bound
    assert not wasteful, f"claimed {claimed.bound}, but nothing moves it by more than {worst}: wasteful"


def check_law_against_loss(query: Query, order: Fraction = ORDER) -> None:
    """The exact law's divergences between neighbours stay within the claimed loss: ε, and Rényi at an order; or δ."""
    claimed, found = cost(query.loss(), order), worst(query, order)
    slack = Decimal("1e-20")  # decimal rounding of the law, not of the claim
    if claimed.delta and found.delta is not None:  # then ε and Rényi are claimed of all but δ of it
        assert found.delta.high <= decimal_of(claimed.delta) + slack, "the law exceeds the claimed δ"
        return
    if claimed.epsilon is not None:
        assert found.epsilon <= decimal_of(claimed.epsilon) + slack, "the law exceeds the claimed ε"
    assert found.renyi <= float(claimed.renyi) + 1e-11, "the law exceeds the Rényi loss"


def _measured(query: Query, value: Any, known: dict[Any, tuple[int, ...]]) -> tuple[int, ...]:
    key = key_of(value)
    if key not in known:
        known[key] = query.measured(value)
    return known[key]


def coordinates(law: Law) -> tuple[Law, ...]:
    return law.parts if isinstance(law, Independent) else (law,)


def check_samples_against_law(query: Query, value: Any, draws: int = 4_000) -> None:
    """Every coordinate's frequencies against its exact law, cell by cell, by Hoeffding–Chernoff bounds on each cell;
    the chance of any false alarm over all cells is at most FALSE_ALARM (union bound)."""
    law = query.law(value)
    assert law is not None
    coins = SystemCoins()
    drawn = [query.draw(value, coins) for _ in range(draws)]
    parts = coordinates(law)
    columns = list(zip(*drawn, strict=True)) if isinstance(law, Independent) else [drawn]
    assert len(columns) == len(parts)
    tests = [
        (len([one for one in column if inside(one)]), probability)
        for part, column in zip(parts, columns, strict=True)
        for inside, probability in _cells(part, column)
    ]
    for seen, probability in tests:
        assert _tail(seen, draws, probability) * len(tests) > FALSE_ALARM, "samples do not follow the law"


def _cells(law: Law, column: Any) -> list[tuple[Any, float]]:
    """Events with known probability: each outcome of a finite law; for noise, each side and spread."""
    if isinstance(law, Finite):
        assert set(column) <= set(law.chances), "an outcome outside the law"
        return [(lambda one, outcome=outcome: one == outcome, float(p)) for outcome, p in law.chances.items()]
    assert isinstance(law, Laplace | Normal)
    reach = max(int(law.scale) if isinstance(law, Laplace) else math.isqrt(int(law.variance)), 1)
    middle, exact = _inside(law, reach), chance(law, law.center)
    return [
        (lambda one: one == law.center, float(exact)),
        (lambda one: one > law.center, float((1 - exact) / 2)),
        (lambda one: abs(one - law.center) <= reach, middle),
        (lambda one: abs(one - law.center) <= 3 * reach, _inside(law, 3 * reach)),
    ]


def _inside(law: Laplace | Normal, reach: int) -> float:
    """Pr[|Z| ≤ reach]: of Laplace noise in closed form; of wide Gaussian noise the continuous bell's up to half a step
    beyond, within 1/(24·variance) of it (midpoint rule): far below what so few draws can tell."""
    if isinstance(law, Laplace):
        return float(1 - 2 * above(law, law.center + reach))
    if law.variance > 10**5:
        return math.erf((reach + 0.5) / math.sqrt(2 * law.variance))
    return float(sum(chance(law, law.center + place) for place in range(-reach, reach + 1)))


def _tail(seen: int, draws: int, probability: float) -> float:
    """An upper bound on the chance of a count at least this far out: 2·exp(−draws·KL), Chernoff."""
    share = seen / draws
    if probability >= 1 or probability <= 0:
        return 1.0 if share == probability else 0.0
    divergence = 0.0
    if share > 0:
        divergence += share * math.log(share / probability)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - probability))
    return min(1.0, 2 * math.exp(-draws * divergence))


def allowed_failures(draws: int, beta: float, alarm: float = FALSE_ALARM) -> int:
    """The least k with Pr[Bin(draws, β) > k] ≤ alarm."""
    total, k = 0.0, -1
    while total < 1 - alarm:
        k += 1
        log = math.lgamma(draws + 1) - math.lgamma(k + 1) - math.lgamma(draws - k + 1)
        total += math.exp(log + k * math.log(beta) + (draws - k) * math.log1p(-beta))
    return k
