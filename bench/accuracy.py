"""Error at equal guarantee and equal relation: the tables, the measures of error, and how they are told.

A tool states its guarantee for one relation between neighbours. Before two are compared, ε is converted so that both
promise the same ε for the same relation; `bench.accuracy_ours` and `bench.accuracy_peers` say how, tool by tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.data import bell, skewed, zipf_shares
from bench.tasks import BINS, GRID, SEED, STATES

REPLACE, ADD_REMOVE = "replace-one", "add/remove"
RELATIONS = (REPLACE, ADD_REMOVE)
LESS, MORE = "less is better", "more is better"


@dataclass(frozen=True)
class Line:
    """One tool's error in one case, with its standard error."""

    case: str
    relation: str
    guarantee: str
    who: str
    mean: float
    error: float
    times: int
    better: str
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


CUT, CUT_TOO = "cut at 0", "cuts at 0"


def line(
    case: str, relation: str, guarantee: str, who: str, draws: Iterable[float], better: str = LESS, note: str = ""
) -> dict[str, Any]:
    found = np.fromiter(draws, dtype=float)
    error = float(found.std(ddof=1) / np.sqrt(len(found)))
    return Line(case, relation, guarantee, who, float(found.mean()), error, len(found), better, note).as_json()


def again(times: int, draw: Callable[[], float]) -> Iterable[float]:
    return (draw() for _ in range(times))


# --- the tables, from the public seed ---------------------------------------------------------------------------------


def median_tables() -> dict[str, np.ndarray]:
    random = np.random.default_rng(SEED)
    return {
        "bell, n = 10,000": bell(random, 10_000),
        "skewed, n = 10,000": skewed(random, 10_000),
        "bell, n = 100,000": bell(random, 100_000),
    }


def top_tables() -> dict[str, np.ndarray]:
    """Counts of 51 items; the first is the true top item."""
    return {
        "Zipf, n ≈ 500": np.rint(500 * zipf_shares(STATES)).astype(np.int64),
        "near-tie, 500 to 480 to 49 × 400": np.array([500, 480] + [400] * (STATES - 2)),
    }


def histogram_tables() -> dict[str, np.ndarray]:
    """The rows, not the counts: 51 Zipf categories, and 100 bins of a bell with empty ends."""
    random = np.random.default_rng(SEED)
    counts = np.rint(10_000 * zipf_shares(STATES)).astype(np.int64)
    return {
        "51 categories, Zipf, n ≈ 10,000": np.repeat(np.arange(STATES), counts),
        "100 bins, bell, n = 10,000": bell(random, 10_000) // (GRID // BINS),
    }


def bars_of(case: str) -> int:
    return STATES if case.startswith(str(STATES)) else BINS


# --- the measures -----------------------------------------------------------------------------------------------------


def rank_error(values: np.ndarray) -> Callable[[float], float]:
    """How many rows the answer is away from the middle of the ordering; 0 where it is a median."""
    ordered, half = np.sort(values), len(values) / 2

    def error(answer: float) -> float:
        below = np.searchsorted(ordered, answer, side="left")
        upto = np.searchsorted(ordered, answer, side="right")
        return float(max(0.0, below - half, half - upto))

    return error


def mean_error(truth: np.ndarray) -> Callable[[Any], float]:
    return lambda answer: float(np.abs(np.asarray(answer) - truth).mean())
