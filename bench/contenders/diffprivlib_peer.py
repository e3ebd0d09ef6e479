"""diffprivlib's tools on arrays in memory. A top item is numpy's counts through its exponential mechanism."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from diffprivlib import tools
from diffprivlib.mechanisms import Exponential

from bench.data import read
from bench.tasks import BINS, EPSILON, GRID, HIGH, ITEMS, LOW, STATES


def questions(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    columns = read(folder / "rows.parquet")
    amount, state, item = columns["amount"], columns["state"], columns["item"]
    bounds = (0, GRID - 1)

    def top(codes: Any, size: int) -> Any:
        counts = np.bincount(codes, minlength=size).tolist()
        return Exponential(epsilon=EPSILON, sensitivity=1, utility=counts).randomise()

    return {
        "median": lambda: tools.median(amount, epsilon=EPSILON, bounds=bounds),
        "top51": lambda: top(state, STATES),
        "top100k": lambda: top(item, ITEMS),
        "hist51": lambda: tools.histogram(state, epsilon=EPSILON, bins=STATES, range=(-0.5, STATES - 0.5)),
        "hist100": lambda: tools.histogram(amount, epsilon=EPSILON, bins=BINS, range=(-0.5, GRID - 0.5)),
        "count": lambda: tools.count_nonzero((amount >= LOW) & (amount <= HIGH), epsilon=EPSILON),
        "mean": lambda: tools.mean(amount, epsilon=EPSILON, bounds=bounds),
    }


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("diffprivlib", "scikit-learn", "numpy")}
