"""Yes or no from eight columns: the share of 10,000 other people that a logistic model guesses right; more is better.

The whole of a fresh allowance (ε, 10⁻⁶) is spent on the training. Gradients are read from arrays and noise is drawn as
in `bench.training`.

Before      steps in a ball of weights, hundreds of them.
Without     privacy, by Newton's method, and always the more frequent answer: in the note.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.accuracy import MORE, REPLACE, again, line
from bench.census import LISTS, NUMBERS, accuracy, census, vectors
from bench.tasks import SEED
from bench.training import checked, coded, question, weights_of
from bench.utility.frame import BEFORE, OURS

NAMES = (*NUMBERS, *LISTS)
TESTED = 10_000
SPENDS = (0.3, 1.0, 3.0)


def rows(draws: int) -> Iterator[dict[str, Any]]:
    other = census(TESTED, SEED + 1)
    there = vectors(other, NAMES)
    for people in (3_000, 30_000):
        table = census(people, SEED)
        note = _without(table, other, there)
        for epsilon in SPENDS:
            case, guarantee = f"share guessed right, {people:,} people", f"(ε, δ) = ({epsilon:g}, 10⁻⁶)"
            for who, given in ((OURS, {}), (BEFORE, {"region": "ball"})):
                query = question("train_logistic", NAMES, people, epsilon, **given)
                read = checked(query, coded(table))
                right = again(draws, lambda q=query, r=read: accuracy(there @ weights_of(q, r), other))
                yield line(case, REPLACE, guarantee, who, right, better=MORE, note=note)


def _without(table: Any, other: Any, there: Any) -> str:
    x, own = vectors(table, NAMES), (table["owner"] == 0).astype(float)
    w = np.zeros(x.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-(x @ w)))
        hessian = (x * (chance * (1 - chance))[:, None]).T @ x + 1e-6 * np.eye(len(w))
        w -= np.linalg.solve(hessian, x.T @ (chance - own))
    blank = accuracy(np.full(TESTED, own.mean() - 0.5), other)
    return f"no privacy {accuracy(there @ w, other):.4f}; always the same {blank:.4f}"
