"""The best of *all* mechanisms, found by linear programming: what a floor is held against.

A mechanism of finitely many rows and outputs is a table of chances, (ε, δ)-DP iff for all rows d, d′ the sum of
[P(d, y) − e^ε·P(d′, y)]₊ is at most δ, and its worst expected error is a maximum of linear functions: the least of them
is a linear programme. So a floor is true iff it is at most that optimum, and met where the two are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from math import exp

import numpy as np

from dpengine.declared.schema import Category, Column, ItemSet
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.noise.row_noise import least_error

CLOSE = 1e-6


def set_floor(items: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """A lower bound for every (ε, δ)-DP mechanism that publishes the set of one row: the worst-case expected distance
    of the published set from the true one."""
    return least_error(2**items, Fraction(items), Fraction(1), epsilon, delta)


Row = tuple[int, ...]
Error = Callable[[Row, Row], float]


def least_worst(rows: list[Row], told: list[Row], error: Error, epsilon: float, delta: float = 0.0) -> float:
    """The least worst expected error of any (ε, δ)-DP mechanism from `rows` to `told`."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    wide, pairs = len(told), list(permutations(range(len(rows)), 2)) if delta else []
    chances = len(rows) * wide
    last = chances + len(pairs) * wide  # the variables: chances, what each pair leaves over, the worst error
    entries: list[tuple[int, int, float]] = []
    bounds: list[float] = []

    def at_most(bound: float, terms: list[tuple[int, float]]) -> None:
        entries.extend((len(bounds), place, factor) for place, factor in terms)
        bounds.append(bound)

    for one, row in enumerate(rows):
        at_most(0, [*((one * wide + y, error(row, out)) for y, out in enumerate(told)), (last, -1.0)])
    for place, (one, other) in enumerate(permutations(range(len(rows)), 2)):
        for y in range(wide):
            over = [(chances + place * wide + y, -1.0)] if delta else []
            at_most(0, [(one * wide + y, 1.0), (other * wide + y, -exp(epsilon)), *over])
        if delta:
            at_most(delta, [(chances + place * wide + y, 1.0) for y in range(wide)])
    i, j, v = zip(*entries, strict=True)
    limits = coo_matrix((v, (i, j)), shape=(len(bounds), last + 1))
    sums = coo_matrix(
        (np.ones(chances), (np.repeat(np.arange(len(rows)), wide), np.arange(chances))), shape=(len(rows), last + 1)
    )
    cost = np.zeros(last + 1)
    cost[last] = 1
    found = linprog(cost, A_ub=limits.tocsr(), b_ub=bounds, A_eq=sums.tocsr(), b_eq=np.ones(len(rows)))
    assert found.status == 0
    return float(found.fun)


def one_column(column: int) -> Error:
    return lambda row, told: float(row[column] != told[column])


def any_column(row: Row, told: Row) -> float:
    return float(row != told)


def apart(row: Row, told: Row) -> float:
    return float(abs(row[0] - told[0]))


def all_rows(*sizes: int) -> list[Row]:
    return list(product(*map(range, sizes)))


def in_items(row: Row, told: Row) -> float:
    """How many items are in one set and not in the other."""
    return float((row[0] ^ told[0]).bit_count())


def distance(column: Column, place: int) -> Error:
    """The metric of one column of a row, in units of its κ."""
    if isinstance(column, Category):
        return one_column(place)
    if isinstance(column, ItemSet):
        return lambda row, told: in_items((row[place],), (told[place],))
    return lambda row, told: float(abs(row[place] - told[place]))


def check_floors(query: OfRows) -> None:
    """Every floor is at most what the best mechanism of the whole row reaches, and what is done is no better than it.
    Of listed values, and of a row that must be true as a whole, they are met: by the column published alone, and by
    swapping whole rows."""
    promise, epsilon, delta = query.promise(), float(query.epsilon), float(query.delta)
    columns = [query.facts.schema[name] for name in query.columns]
    rows = all_rows(*(query.steps(name) + 1 for name in query.columns))
    for place, (error, floor) in enumerate(zip(promise.errors, promise.floors, strict=True)):
        best = least_worst(rows, rows, distance(columns[place], place), epsilon, delta)
        best *= float(query.grain(query.columns[place]))
        assert float(floor) <= best + CLOSE <= float(error) + 2 * CLOSE, "of one column: somebody does better"
        if isinstance(columns[place], Category):
            assert float(floor) >= best - CLOSE, "of one column: nobody does as well"
        else:
            assert float(floor) >= best / 4, "of one column: a bound that says nothing"
    best = least_worst(rows, rows, any_column, epsilon, delta)
    assert float(promise.untrue_floor) <= best + CLOSE <= float(promise.untrue) + 2 * CLOSE, "row: somebody does better"
    assert float(promise.untrue_floor) >= best - CLOSE, "row: nobody does as well"
