"""Draws against their exact law: every cell's count by its binomial tails, and a union bound over the cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from scipy.special import bdtr, bdtrc  # scipy.stats takes seconds to load

FALSE_ALARM = 1e-6


def rejected(draws: Iterable[Hashable], law: Mapping[Hashable, float]) -> bool:
    """Whether the draws contradict the law, whose last cell (None) is everything not named."""
    counts = Counter(draw if draw in law else None for draw in draws)
    n, level = sum(counts.values()), FALSE_ALARM / (2 * len(law))
    return any(
        bdtr(counts[cell], n, p) < level or bdtrc(counts[cell] - 1, n, p) < level  # the binomial's two tails
        for cell, p in law.items()
    )


def with_rest(law: Mapping[Any, float]) -> dict[Hashable, float]:
    return dict(law) | {None: max(0.0, 1.0 - math.fsum(law.values()))}


def laplace_law(scale: float, reach: int) -> dict[Hashable, float]:
    q = math.exp(-1 / scale)
    return with_rest({z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-reach, reach + 1)})


def gaussian_law(sigma: float, reach: int) -> dict[Hashable, float]:
    weights = {z: math.exp(-z * z / (2 * sigma * sigma)) for z in range(-40 * reach, 40 * reach + 1)}
    total = math.fsum(weights.values())
    return with_rest({z: weights[z] / total for z in range(-reach, reach + 1)})
