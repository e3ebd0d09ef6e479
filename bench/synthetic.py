"""Small databases: time against combinations, rows and questions, and the error beside its bound.

`python -m bench.synthetic` prints two tables. Times are of one draw on made-up counts, without reading a file. Errors
are the largest over the class, in percentage points: the median of a few draws on one table of skewed, dependent
columns, beside what was promised and what plain noisy counts of all combinations would promise.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

from bench.measure import peak_mb
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.synthetic.small_database import SmallDatabase, multisets_in_all
from dpengine.noise.coins import SystemCoins
from dpengine.noise.tails import total_reach

DRAWS = 5
TIMED: list[tuple[tuple[int, ...], int]] = [
    ((2, 2), 10),
    ((2, 2), 30),
    ((2, 2, 2), 10),
    ((2, 2, 2), 20),
    ((3, 4), 8),
    ((3, 4), 11),
    ((5, 10), 4),
    ((10, 10), 3),
]
JUDGED: list[tuple[tuple[int, ...], int]] = [
    (sizes, people) for sizes in ((2, 3), (3, 4), (4, 4, 4)) for people in (1_000, 10_000, 100_000)
]


def made(sizes: tuple[int, ...], people: int, **given: Any) -> SmallDatabase:
    lists = {f"c{at}": Category([f"v{one}" for one in range(size)], "v0", "v0") for at, size in enumerate(sizes)}
    facts = Facts("bench", Schema(lists), Unit.rows(), "replace", people)
    query = SmallDatabase.build(facts, {"columns": list(lists), "epsilon": "1"} | given)
    return query


def counts(query: SmallDatabase, people: int) -> tuple[int, ...]:
    """Each value half as common as the one before, and the last column often the same as the first."""
    codes = list(query.codes.values())
    weights = np.prod([0.5**code for code in codes], axis=0) * np.where(codes[0] == codes[-1], 3.0, 1.0)
    return tuple(np.random.default_rng(7).multinomial(people, weights / weights.sum()).tolist())


def plain_reach(query: SmallDatabase) -> Fraction:
    """The error of the same shares if all cells had Laplace noise and were added up, over a query's cells or over all
    others, whichever are fewer."""
    cells = query.sums(np.ones(query.domain, dtype=np.int64))
    most = int(np.minimum(cells, query.domain - cells).max())
    return Fraction(total_reach(2 / query.epsilon, most, query.beta / query.many), query.facts.about)


def off(query: SmallDatabase, value: tuple[int, ...], told: dict[str, int]) -> float:
    rows = np.array(list(told.values()))
    return float(100 * np.abs(query.sums(np.array(value)) / sum(value) - query.sums(rows) / rows.sum()).max())


def times() -> None:
    print(f"{'columns':>14}{'cells':>8}{'queries':>9}{'rows':>6}{'multisets':>11}{'seconds':>9}")
    for sizes, size in TIMED:
        query = made(sizes, 100_000, size=size)
        value = counts(query, 100_000)
        began = time.perf_counter()
        query.release(value, SystemCoins())
        took = time.perf_counter() - began
        columns, listed = "×".join(str(one) for one in sizes), multisets_in_all(query.domain, size)
        print(f"{columns:>14}{query.domain:>8,}{query.many:>9,}{size:>6}{listed:>11,}{took:>9.2f}")
    print(f"most memory of all: {peak_mb():.0f} MB")


def errors() -> None:
    head = ("columns", "people", "ε", "rows", "error", "promised", "plain counts promise")
    print("".join(f"{name:>14}" for name in head[:-1]) + "  " + head[-1])
    for sizes, people in JUDGED:
        query = made(sizes, people)
        value = counts(query, people)
        found = median(off(query, value, query.release(value, SystemCoins()).value) for _ in range(DRAWS))
        cells = (
            "×".join(str(size) for size in sizes),
            f"{people:,}",
            "1",
            str(query.rows),
            f"{found:.1f}",
            f"{float(query.promise().alpha):.1f}",
            f"{100 * float(plain_reach(query)):.2f}",
        )
        print("".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    times() if "errors" not in sys.argv else None
    errors() if "times" not in sys.argv else None
