"""A synthetic column drawn exactly, and the noisy tree beside it: how long a draw takes and how far off it is.

`python -m bench.curves` prints a table; `--short` leaves the long rows out. The statistic is a made-up bell on the
grid, so reading a file is not in it. Errors are in rows, the worst over all grid points: by formula (95 times in 100),
and the largest that was seen in the draws.
"""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import Any

import numpy as np

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.counts import BinCounts
from dpengine.statistics.need import Spread

DRAWS = 5
# rows, grid, values (None: the usual number), ε
SIZES: list[tuple[int, int, int | None, str]] = [
    (10**3, 1_000, None, "1"),
    (10**4, 1_000, None, "1"),
    (10**6, 1_000, None, "1"),
    (10**6, 1_000, 200, "1"),
]
GROWTH: dict[str, list[tuple[int, int, int | None, str]]] = {
    "growth with the grid": [(10**6, grid, 100, "1") for grid in (100, 1_000, 10_000, 100_000)],
    "growth with the values": [(10**6, 1_000, values, "1") for values in (25, 50, 100, 200, 380)],
    "growth with the rows": [(rows, 1_000, 19, "1") for rows in (10**4, 10**5, 10**6, 10**7)],
    "growth with ε": [(10**6, 1_000, None, epsilon) for epsilon in ("0.01", "0.1", "1", "10")],
    "the dearest allowed": [(10**6, 1_000, 379, "1"), (10**7, 10**6, 400, "1")],
}
# A condition may leave far fewer rows than the table was declared with, and the number of values is set for those.
FEWER = [(10**6, 1_000, 200, "1", left) for left in (100_000, 10_000, 1_000, 100)]


def ask(key: str, rows: int, grid: int, epsilon: str, **given: Any) -> Any:
    facts = Facts("bench", Schema({"x": Number(0, grid - 1, missing=0)}), Unit.rows(), "replace", rows)
    return catalogue[key].build(facts, {"column": "x", "epsilon": epsilon} | given)


def timed(query: Any, value: Any) -> tuple[float, list[Any]]:
    seconds, drawn, coins = [], [], SystemCoins()
    for _ in range(DRAWS):
        began = time.perf_counter()
        drawn.append(query.draw(value, coins))
        seconds.append(time.perf_counter() - began)
    return median(seconds), drawn


def line(rows: int, grid: int, values: int | None, epsilon: str, left: int | None = None) -> list[str]:
    where = {} if left is None else {"where": [["x", "between", [0, grid - 1]]]}  # then n is not public
    column: Cdf = ask("cdf", rows, grid, epsilon, points=values, **where)
    spread: Spread = column.need().imagine(left or rows, "bell")
    took, drawn = timed(column, spread)
    seen = max(gap_of(spread, np.array(one)) for one in drawn)
    tree: CdfTree = ask("cdf_tree", rows, grid, epsilon, **where)
    counts = of_cells(spread, tree.need())
    tree_took, noisy = timed(tree, counts)
    truth = np.cumsum(counts)
    worst = max(int(np.abs(np.array(list(tree.finish(one).value.values())) - truth).max()) for one in noisy)
    told = [left or rows, grid, column.points, epsilon, f"{took:.2f}", column.off_of(left or rows), seen]
    return [str(cell) for cell in [*told, f"{tree_took:.3f}", tree.reach(), worst]]


def gap_of(value: Spread, points: np.ndarray[Any, Any]) -> int:
    """⌈max_j |C_j − n·M_j/m|⌉, M_j of the m points at or below j."""
    many, rows = len(points), int(value.counts.sum())
    edges = np.unique(np.concatenate([value.codes, points]))
    below = np.concatenate([[0], np.cumsum(value.counts)])[np.searchsorted(value.codes, edges, side="right")]
    drawn = np.searchsorted(np.sort(points), edges, side="right")
    return -(-int(np.abs(many * below - rows * drawn).max()) // many)


def of_cells(spread: Spread, need: BinCounts) -> tuple[int, ...]:
    place = np.searchsorted(np.array(need.starts), spread.codes, side="right") - 1
    return tuple(np.bincount(place, weights=spread.counts, minlength=len(need.starts)).astype(int).tolist())


HEAD = ["rows", "grid", "values", "ε", "column, s", "formula ±", "seen ±", "tree, s", "formula ±", "seen ±"]


def show(title: str, sizes: list[Any]) -> None:
    print(f"\n{title}\n" + " | ".join(HEAD), flush=True)
    for size in sizes:
        print(" | ".join(line(*size)), flush=True)


if __name__ == "__main__":
    show("first", SIZES)
    if "--short" not in sys.argv:
        for what, sizes in GROWTH.items():
            show(what, sizes)
        show("a condition leaves fewer rows than were declared", FEWER)
