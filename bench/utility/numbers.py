"""One mean and one spread, the first question to an allowance of (1, 10⁻⁶), for the share of it that Laplace noise of ε
takes: the mean error, in the column's unit.

Before      Laplace noise; of the spread with a noisy count, though the number of people is public.
Two sums    the textbook's spread: the sum and the sum of squares, each with Laplace noise of half the ε.
OpenDP      `make_gaussian` on the sum, at the same ρ.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from opendp import measurements as m
from opendp.domains import atom_domain, vector_domain
from opendp.metrics import l2_distance

from bench.accuracy import REPLACE, again, line
from bench.utility.columns import Made, every
from bench.utility.frame import BEFORE, COINS, OURS, ask
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian
from dpengine.mechanisms.query import AnyQuery
from dpengine.planning.opening import cheapest

RULE = Rule.make(Fraction(1), Fraction(1, 10**6))
SPENDS = ("0.05", "0.2")


def rows(draws: int) -> Iterator[dict[str, Any]]:
    for table in every():
        for epsilon in SPENDS:
            yield from _mean(table, epsilon, draws)
            yield from _spread(table, epsilon, draws)


def _moments(table: Made) -> tuple[int, int, int]:
    """N, Σy and Σy², y measured in half steps from the middle of the grid."""
    centred = 2 * table.codes - (table.column.size - 1)
    return table.rows, int(centred.sum()), int((centred**2).sum())


def _errors(query: AnyQuery, value: Any, truth: float, draws: int) -> Any:
    return again(draws, lambda: abs(float(query.release(value, COINS).value) - truth))


def _mean(table: Made, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    case, guarantee = f"mean of {table.title}", f"what ε = {epsilon} takes"
    usual = ask(REPLACE, table, "mean", epsilon)
    now = cheapest(usual, RULE, Totals.NOTHING)
    value, truth = _moments(table)[:2], float(table.column.lower) + float(table.codes.mean())
    yield line(case, REPLACE, guarantee, OURS, _errors(now, value, truth, draws))
    yield line(case, REPLACE, guarantee, BEFORE, _errors(usual, value, truth, draws))
    loss = now.loss()
    if isinstance(loss, Gaussian):
        sigma = (table.column.size - 1) / float(2 * loss.rho) ** 0.5
        noisy = m.make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=sigma)
        yield line(case, REPLACE, guarantee, "OpenDP", again(draws, lambda: abs(noisy([0])[0]) / table.rows))


def _spread(table: Made, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    if table.column.size > 10_000:  # its squares do not fit the sums
        return
    case, guarantee = f"spread of {table.title}", f"what ε = {epsilon} takes"
    usual = ask(REPLACE, table, "variance", epsilon)
    now = cheapest(usual, RULE, Totals.NOTHING)
    value, truth = _moments(table), float(np.std(table.codes))
    yield line(case, REPLACE, guarantee, OURS, _errors(now, value, truth, draws))
    yield line(case, REPLACE, guarantee, BEFORE, _errors(usual, value, truth, draws))
    yield line(
        case, REPLACE, guarantee, "two sums", again(draws, lambda: abs(_two_sums(table, float(epsilon)) - truth))
    )


def _two_sums(table: Made, epsilon: float) -> float:
    """Of values from 0 to the end of the grid; a replaced row moves the sum by the range, the squares by its square."""
    random, width, n = np.random.default_rng(), table.column.size - 1, table.rows
    mean = (float(table.codes.sum()) + random.laplace(0, 2 * width / epsilon)) / n
    squares = (float((table.codes.astype(float) ** 2).sum()) + random.laplace(0, 2 * width**2 / epsilon)) / n
    return float(np.sqrt(min(max(squares - mean**2, 0.0), width**2 / 4)))
