"""OpenDP's own constructors on arrays in memory, from the light submodules. Built once, called many times.

Counts by category, clamping, sums and bins are OpenDP's. What it does not have for arrays is numpy's: the filter, and
the counts that feed its noisy max.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from opendp import measurements as m
from opendp import transformations as t
from opendp.domains import atom_domain, vector_domain
from opendp.measures import max_divergence
from opendp.metrics import linf_distance, symmetric_distance
from opendp.mod import enable_features

from bench.data import read
from bench.tasks import BINS, EPSILON, GRID, HIGH, ITEMS, LOW, STATES


def questions(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    enable_features("contrib")
    columns = read(folder / "rows.parquet")
    amount, state, item = columns["amount"], columns["state"], columns["item"]
    integers, near = vector_domain(atom_domain(T="i64")), symmetric_distance()
    sized = vector_domain(atom_domain(T="i64"), size=rows)
    scale = 1 / EPSILON

    median = m.make_private_quantile(integers, near, max_divergence(), list(range(GRID)), 0.5, scale)
    largest = m.make_noisy_max(integers, linf_distance(T="i64", monotonic=True), max_divergence(), scale)
    counts = {"null_category": False, "MO": "L1Distance<i64>", "TOA": "i64"}
    states = t.make_count_by_categories(integers, near, list(range(STATES)), **counts) >> m.then_laplace(scale)
    find = t.make_find_bin(integers, near, list(range(GRID // BINS, GRID, GRID // BINS)))
    bins = find >> t.then_count_by_categories(list(range(BINS)), **counts) >> m.then_laplace(scale)
    count = t.make_count(integers, near, "i64") >> m.then_laplace(scale)
    total = t.make_clamp(sized, near, (0, GRID - 1)) >> t.then_sum() >> m.then_laplace(scale * (GRID - 1))
    return {
        "median": lambda: median(amount),
        "top51": lambda: largest(np.bincount(state, minlength=STATES)),
        "top100k": lambda: largest(np.bincount(item, minlength=ITEMS)),
        "hist51": lambda: states(state),
        "hist100": lambda: bins(amount),
        "count": lambda: count(amount[(amount >= LOW) & (amount <= HIGH)]),
        "mean": lambda: total(amount) / rows,
    }


def versions() -> dict[str, str]:
    return {"opendp": version("opendp")}
