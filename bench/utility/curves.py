"""The rising curve: how many rows it is off, the mean over all its points.

Before      each point as the shortest sum of nodes of the same tree.
Tree        Hay, Rastogi, Miklau, Suciu 2010, in floats: Laplace noise on every node but the root, and least squares,
            with the number of branches from 2 to 16 that does best on the very table (so no worse than it would be).
Cells       Laplace noise on every cell, added up from the left, or from the nearer end where n is public.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from bench.accuracy import ADD_REMOVE, REPLACE, line
from bench.utility.columns import Made, every
from bench.utility.frame import BEFORE, COINS, OURS, ask, pure
from dpengine.core.types import Floats
from dpengine.mechanisms.curves import count_tree
from dpengine.mechanisms.curves.cdf_tree import CdfTree

LARGEST_GRID = 1_000  # that a dense solver is run on
BRANCHES = (2, 4, 8, 10, 16)
SPENDS = (("0.1", REPLACE), ("0.5", REPLACE), ("0.5", ADD_REMOVE))


def rows(draws: int) -> Iterator[dict[str, Any]]:
    for table in every():
        if table.column.size <= LARGEST_GRID:
            for epsilon, relation in SPENDS:
                yield from _lines(table, relation, epsilon, draws)


def _lines(table: Made, relation: str, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    query = ask(relation, table, "cdf_tree", epsilon)
    assert isinstance(query, CdfTree)
    counts = np.bincount(table.codes, minlength=table.column.size)
    truth, case = np.cumsum(counts), f"rising curve of {table.title}"
    drawn = [query.draw(tuple(counts.tolist()), COINS) for _ in range(draws)]
    told = [list(query.finish(raw).value.values()) for raw in drawn]
    yield line(case, relation, pure(epsilon), OURS, (rows_off(one, truth) for one in told))
    before = [count_tree.sums_of(raw, query.shape, query.everyone) for raw in drawn]
    yield line(case, relation, pure(epsilon), BEFORE, (rows_off(one, truth) for one in before))
    sides, spend = (2 if relation == REPLACE else 1), float(epsilon)
    found = [tree_errors(len(counts), branches, sides / spend, relation == REPLACE, draws) for branches in BRANCHES]
    best = min(found, key=lambda errors: float(errors.mean()))
    yield line(case, relation, pure(epsilon), "tree, least squares", best.tolist())
    cells = np.random.default_rng().laplace(0, sides / spend, (draws, len(counts)))
    sums = np.cumsum(cells, axis=1)
    if relation == REPLACE:
        late = np.arange(len(counts)) > len(counts) // 2
        sums = np.where(late, sums - sums[:, -1:], sums)
    yield line(case, relation, pure(epsilon), "noisy cells", np.abs(sums).mean(axis=1).tolist())


def rows_off(told: Any, truth: Any) -> float:
    return float(np.abs(np.array([float(one) for one in told]) - truth).mean())


def tree_errors(cells: int, branches: int, scale: float, known: bool, draws: int) -> Floats:
    """The error of each draw. Least squares is linear, so noise alone is fitted: the truth fits itself."""
    fit, levels = _tree_fit(cells, branches, known)
    noise = np.random.default_rng().laplace(0, scale * levels, (draws, fit.shape[1]))
    errors: Floats = np.abs(noise @ fit.T).mean(axis=1)
    return errors


@lru_cache(maxsize=64)
def _tree_fit(cells: int, branches: int, known: bool) -> tuple[Floats, int]:
    """The weights of all nodes in every sum, and the number of levels."""
    nodes, wide = [], 1
    while wide < cells:
        nodes += [(np.arange(cells) // wide == place).astype(float) for place in range(-(-cells // wide))]
        wide *= branches
    levels, matrix = round(np.log(wide) / np.log(branches)), np.array(nodes)
    free = np.eye(cells)[:, :-1] - np.eye(cells)[:, -1:] if known else np.eye(cells)  # cells that add up to 0
    return np.tri(cells) @ free @ np.linalg.pinv(matrix @ free), levels
