"""OpenDP's Context API, on arrays in memory: it keeps a budget and finds the noise scale for each query by itself.

It has no filter and no noisy max over counts for arrays: those two make a context over what numpy filtered or counted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as odp

from bench.data import read
from bench.tasks import BINS, EPSILON, GRID, HIGH, ITEMS, LOW, STATES

MANY = 200  # queries a context is made for


def questions(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    odp.enable_features("contrib")
    columns = read(folder / "rows.parquet")
    amount, state, item = columns["amount"], columns["state"], columns["item"]
    of_row = odp.unit_of(contributions=1)
    of_counts = (odp.linf_distance(T="i64", monotonic=True), 1)
    amounts, states = _context(amount, of_row), _context(state, of_row)

    def bars(query: Any, size: int) -> Any:
        counted = query.count_by_categories(list(range(size)), null_category=False, MO="L1Distance<i64>", TOA="i64")
        return counted.laplace().release()

    def top(codes: Any, size: int) -> Any:
        counts = _context(np.bincount(codes, minlength=size), of_counts, 1)
        return counts.query().noisy_max(odp.max_divergence()).release()

    def middle() -> Any:
        return amounts.query().private_quantile(odp.max_divergence(), list(range(GRID)), 0.5).release()

    def filtered() -> Any:
        kept = amount[(amount >= LOW) & (amount <= HIGH)]
        return _context(kept, of_row, 1).query().count().laplace().release()

    edges = list(range(GRID // BINS, GRID, GRID // BINS))
    return {
        "median": middle,
        "top51": lambda: top(state, STATES),
        "top100k": lambda: top(item, ITEMS),
        "hist51": lambda: bars(states.query(), STATES),
        "hist100": lambda: bars(amounts.query().find_bin(edges=edges), BINS),
        "count": filtered,
        "mean": lambda: amounts.query().clamp((0, GRID - 1)).sum().laplace().release() / rows,
    }


def _context(data: Any, unit: Any, many: int = MANY) -> Any:
    return odp.Context.compositor(
        data=data,
        privacy_unit=unit,
        privacy_loss=odp.loss_of(epsilon=EPSILON * many),
        split_evenly_over=many,
        domain=odp.vector_domain(odp.atom_domain(T="i64")),
    )


def versions() -> dict[str, str]:
    return {"opendp": version("opendp")}
