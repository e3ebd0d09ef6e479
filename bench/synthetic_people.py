"""Made-up people like those of a census, from a public seed: 14 lists that hang together, two and three at a time."""

from __future__ import annotations

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
SETS = {6: SIX, 8: EIGHT, 14: tuple(COLUMNS)}


def sizes(names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(COLUMNS[name][0] for name in names)


def people(many: int = PEOPLE, seed: int = SEED) -> dict[str, Any]:
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
