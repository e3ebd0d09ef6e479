"""A number to predict by a line, from few people: the root mean squared error on 10,000 others, in the target's unit.

Seven targets of two made-up tables (`bench.census`, `bench.utility.stays`), each from all other columns; the whole of a
fresh allowance (ε, 10⁻⁶). Rows are read from arrays and noise is drawn as in `bench.training`. Of some targets hardly
anything can be learned from so few people: there the average is hard to beat, and the note has the error of the true
one, and of a line without privacy.

Ours          what the Train page takes (`train_linear`).
Before        the same steps from the middle of the range, in a ball.
AdaSSP        Wang 2018, our reading, for a row replaced: second moments and their products with the target, a third of
              ρ each.
Average       one figure for everybody: the mean of the target, released for all of ρ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import dpengine as dp
from bench.accuracy import REPLACE, line
from bench.tasks import SEED
from bench.training import checked, coded, weights_of
from bench.utility.frame import BEFORE, OURS
from bench.utility.models import CENSUS, TESTED, Sort, rule_of
from bench.utility.stays import LISTS, NUMBERS, stays
from dpengine.accountant.filter import Totals
from dpengine.planning.training import trained
from dpengine.statistics.features import ROW_BITS

STAYS = Sort(stays, NUMBERS, LISTS)
GOALS: dict[str, tuple[Sort, str]] = {
    "pay": (CENSUS, "pay"),
    "hours": (CENSUS, "hours"),
    "age": (CENSUS, "age"),
    "age in a hospital": (STAYS, "old"),
    "bill": (STAYS, "bill"),
    "days": (STAYS, "days"),
    "visits": (STAYS, "visits"),
}
PEOPLE, SPENDS = (100, 300, 1_000, 3_000), (0.3, 1.0, 3.0)
FEW, MORE = 300, 4  # where noise hides nearly all, four times as many lines


def rows(draws: int) -> Iterator[dict[str, Any]]:
    for name, (sort, target) in GOALS.items():
        low, high = (0, 12_000) if target == "pay" else sort.numbers[target]
        half, other = (high - low) / 2, sort.made(TESTED, SEED + 1)
        truth = (other[target] - low) / half - 1

        def off(said: Any, truth: Any = truth, half: float = half) -> float:
            return half * float(np.sqrt(np.mean((np.clip(said, -1, 1) - truth) ** 2)))

        for people in PEOPLE:
            often = max(draws // 25, 4) * (MORE if people <= FEW else 1)
            table = sort.made(people, SEED)
            own = (table[target] - low) / half - 1
            for epsilon in SPENDS:
                query, before = (asked(sort, target, people, epsilon, **given) for given in ({}, {"region": "ball"}))
                read, there = checked(query, _coded(table)), checked(query, _coded(other)).rows / 2**ROW_BITS
                x, rho = read.rows / 2**ROW_BITS, rho_of(epsilon)
                bare = np.linalg.lstsq(x, own, rcond=None)[0]
                alone, line_alone = off(np.full(TESTED, own.mean())), off(there @ bare)
                note = f"{often} lines; the average {alone:.4g}, without privacy {line_alone:.4g}"
                told = {
                    OURS: [off(there @ weights_of(query, read)) for _ in range(often)],
                    BEFORE: [off(there @ weights_of(before, read)) for _ in range(often)],
                    "AdaSSP, our reading": [off(there @ adassp(x, own, rho)) for _ in range(often)],
                    "average, released": [off(np.full(TESTED, one)) for one in _averages(own, rho, draws)],
                }
                case, guarantee = f"{name}, {people:,} people", f"(ε, δ) = ({epsilon:g}, 10⁻⁶)"
                for who, found in told.items():
                    yield line(case, REPLACE, guarantee, who, found, note=note if who == OURS else "")


def rho_of(epsilon: float) -> float:
    rule = rule_of(epsilon)
    assert rule.alpha is not None and rule.c is not None
    return float((rule.epsilon - rule.c) / rule.alpha)


def asked(sort: Sort, target: str, people: int, epsilon: float, **more: Any) -> Any:
    facts, rule = sort.facts(people), rule_of(epsilon)

    def make(key: str, **rest: Any) -> Any:
        return dp.catalogue[key].build(facts, rest)

    given = {"target": target, "features": [one for one in sort.names if one != target]} | more
    return trained(make, "train_linear", given, Fraction(1), rule, Totals.NOTHING)


def _coded(table: Any) -> Any:
    return coded(table) if "pay" in table else {name: column.astype(np.int64) for name, column in table.items()}


def _averages(own: Any, rho: float, draws: int) -> Any:
    return own.mean() + np.random.default_rng().normal(0, 2 / len(own) / math.sqrt(2 * rho), draws)


def adassp(x: Any, own: Any, rho: float) -> Any:
    random, width = np.random.default_rng(), x.shape[1]
    sd, sure = 1 / math.sqrt(2 * rho / 3), math.log(6 / 0.05)
    least = max(np.linalg.eigvalsh(x.T @ x)[0] + sd * (random.normal() - math.sqrt(2 * sure)), 0)
    noise = np.triu(random.normal(0, math.sqrt(2) * sd, (width, width)))
    noise = noise + np.triu(noise, 1).T
    ridge = max(math.sqrt(2 * width * sure * math.log(2 * width**2 / 0.05)) * sd - least, 0)
    goal = x.T @ own + random.normal(0, 2 * sd, width)
    return np.linalg.solve(x.T @ x + noise + ridge * np.eye(width), goal)
