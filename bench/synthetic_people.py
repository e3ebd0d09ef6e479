"""Two made-up tables of 14 lists, from public seeds.

census      like people of a census: each column follows one or two others, and every combination of these has shares of
            its own. On this one the constants of a synthetic table were found.
hospital    like stays in a hospital, made in another way, and no constant of a plan was found on it: a hidden kind of
            stay and a hidden weight of the illness that columns follow more or less, long tails, and columns that tell
            something only by threes (what two others are, added up).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

PEOPLE, SEED = 48_842, 18
# A column, how many values it has, which columns it follows, and how closely: a low number lets few values be common.
COLUMNS: dict[str, tuple[int, tuple[str, ...], float]] = {
    "age": (15, (), 4.0),
    "sex": (2, (), 8.0),
    "race": (5, (), 0.4),
    "education": (16, ("age",), 0.5),
    "marital": (7, ("age", "sex"), 0.25),
    "relation": (6, ("marital", "sex"), 0.15),
    "work": (9, ("education",), 0.3),
    "occupation": (15, ("education", "sex"), 0.35),
    "hours": (10, ("work", "sex"), 0.35),
    "country": (42, ("race",), 0.08),
    "income": (2, ("education", "marital"), 0.5),
    "gain": (8, ("income", "age"), 0.12),
    "loss": (6, ("income",), 0.1),
    "region": (12, ("country",), 0.3),
}
SIX = ("work", "marital", "relation", "race", "sex", "income")  # 7,560 combinations
EIGHT = (*SIX, "education", "occupation")  # 1,814,400


def census(many: int = PEOPLE, seed: int = SEED) -> dict[str, Any]:
    """A code for every person and column. Each combination of what a column follows has shares of its own, near those
    of all: drawn from a Dirichlet law around common ones."""
    rng = np.random.default_rng(seed)
    told: dict[str, Any] = {}
    for name, (size, follows, near) in COLUMNS.items():
        common = rng.dirichlet(np.full(size, max(near, 0.3) * 2))
        place, ways = np.zeros(many, dtype=np.int64), 1
        for other in follows:
            place, ways = place * COLUMNS[other][0] + told[other], ways * COLUMNS[other][0]
        shares = np.stack([rng.dirichlet(common * size * near * 2 + 0.02) for _ in range(ways)])
        edges = np.cumsum(shares, axis=1)[place]
        told[name] = np.minimum((rng.random(many)[:, None] > edges).sum(axis=1), size - 1)
    return told


# A column, how many values it has, how steeply they fall off, which way it is made, what it follows, and how closely.
STAYS: dict[str, tuple[int, float, str, tuple[str, ...], float]] = {
    "age": (8, 0.1, "weight", (), 0.6),
    "sex": (2, 0.1, "kind", (), 0.3),
    "triage": (4, 0.5, "weight", (), 0.8),
    "ward": (13, 0.7, "kind", (), 0.8),
    "payer": (6, 1.4, "kind", (), 0.4),
    "outcome": (4, 1.8, "added", ("triage", "sex"), 0.5),
    "stay": (12, 0.8, "weight", (), 0.7),
    "diagnosis": (19, 1.0, "kind", (), 0.7),
    "month": (12, 0.0, "kind", (), 0.1),
    "doctor": (31, 0.7, "added", ("ward", "month"), 0.6),
    "medicine": (18, 1.3, "added", ("diagnosis", "age"), 0.7),
    "again": (2, 1.6, "weight", (), 0.4),
    "distance": (8, 1.0, "weight", (), 0.1),
    "room": (6, 0.5, "added", ("payer", "ward"), 0.8),
}
KINDS, STAYED = 9, 7_103


def hospital(many: int = PEOPLE, seed: int = STAYED) -> dict[str, Any]:
    """A code for every stay and column."""
    rng = np.random.default_rng(seed)
    kind = _drawn(rng, _falling(KINDS, 0.7), many)
    weight = 0.6 * rng.normal(0, 1, KINDS)[kind] + 0.8 * rng.normal(0, 1, many)
    told: dict[str, Any] = {}
    for name, (size, steep, way, follows, close) in STAYS.items():
        shares = _falling(size, steep)
        own = _drawn(rng, shares, many)
        if way == "weight":
            mixed = close * weight + math.sqrt(1 - close**2) * rng.normal(0, 1, many)
            ranks = mixed.argsort().argsort() / many
            told[name] = np.minimum(np.searchsorted(np.cumsum(shares), ranks, side="right"), size - 1)
            continue
        if way == "kind":
            other = np.stack([rng.permutation(size) for _ in range(KINDS)])[kind, own]
        else:
            other = (sum(told[one] for one in follows) + own // 3) % size
        told[name] = np.where(rng.random(many) < close, other, own)
    return told


def _falling(size: int, steep: float) -> Any:
    shares = np.arange(1, size + 1) ** -steep
    return shares / shares.sum()


def _drawn(rng: np.random.Generator, shares: Any, many: int) -> Any:
    return np.minimum((rng.random(many)[:, None] > np.cumsum(shares)).sum(axis=1), len(shares) - 1)


_FIRST = ("age", "sex", "triage", "ward", "payer", "outcome")  # 19,968 combinations
TABLES: dict[str, tuple[Callable[..., dict[str, Any]], dict[str, int], dict[int, tuple[str, ...]]]] = {
    "census": (
        census,
        {name: one[0] for name, one in COLUMNS.items()},
        {6: SIX, 8: EIGHT, 14: tuple(COLUMNS)},
    ),
    "hospital": (
        hospital,
        {name: one[0] for name, one in STAYS.items()},
        {6: _FIRST, 8: (*_FIRST, "stay", "diagnosis"), 14: tuple(STAYS)},  # 4,552,704 of eight
    ),
}


def codes_and_sizes(table: str, columns: int) -> tuple[list[Any], tuple[int, ...]]:
    made, sizes, sets = TABLES[table]
    told = made()
    return [told[name] for name in sets[columns]], tuple(sizes[name] for name in sets[columns])
