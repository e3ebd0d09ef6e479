"""A first look beside plain noisy marginals at the same loss: all one- and two-way marginals of 8 lists and 32,000
made-up people whose columns hang together. `python -m bench.marginals`

Plain: each of the 36 marginals gets discrete Gaussian noise of its own, of the same variance in every cell, for the
same ρ: 36/(2ρ) for a row added, twice that for one replaced. Ours: every marginal weighs the same, as in a first look,
or every cell does. Means of DRAWS draws.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import combinations

import numpy as np

from dpengine.core.arrays import Floats, Integers
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout, rebuilt, residual
from dpengine.noise.coins import SystemCoins

SIZES, PEOPLE, RHO = (9, 16, 7, 15, 6, 5, 2, 2), 32_000, Fraction(1, 2)
DRAWS = 5


def people() -> list[Integers]:
    """Each column depends on the one before."""
    draw = np.random.default_rng(20)
    columns = [draw.integers(0, SIZES[0], PEOPLE)]
    for size in SIZES[1:]:
        own = draw.integers(0, size, PEOPLE)
        columns.append(np.where(draw.random(PEOPLE) < 0.5, columns[-1] % size, own))
    return columns


def errors(relation: str, by_cell: bool) -> tuple[list[float], list[float]]:
    """Mean and largest error of a cell: ours, and plain."""
    parts: list[Columns] = [*((at,) for at in range(len(SIZES))), *combinations(range(len(SIZES)), 2)]
    replaced = relation == "replace"
    weights = [Fraction(math.prod(SIZES[at] for at in part) if by_cell else 1) for part in parts]
    layout = ResidualLayout(SIZES, tuple(zip(parts, weights, strict=True)), replaced, replaced)
    noise, coins, columns = layout.best(RHO), SystemCoins(), people()

    def cells(part: Columns) -> Integers:
        found = np.zeros([SIZES[at] for at in part], dtype=np.int64)
        np.add.at(found, tuple(columns[at] for at in part), 1)
        return found

    def noisy(counts: Integers, variance: Fraction) -> Integers:
        drawn = coins.gaussian([int(count) for count in counts.ravel()], variance)
        return np.array(drawn, dtype=np.int64).reshape(counts.shape)

    released: dict[Columns, Floats | Integers] = {(): np.array(PEOPLE)}
    for base in layout.bases:
        counts = cells(base) if base else np.array(PEOPLE)
        released[base] = noisy(residual(counts), noise[base] * layout.cells(base) ** 2)
    ours = [np.abs(rebuilt(layout, part, released) - cells(part)).ravel() for part in parts]
    each = Fraction(len(parts) * (2 if replaced else 1)) / (2 * RHO)
    plain = [np.abs(noisy(cells(part), each) - cells(part)).ravel() for part in parts]
    return _told(ours), _told(plain)


def _told(found: list[Floats]) -> list[float]:
    together = np.concatenate(found)
    return [float(together.mean()), float(together.max()), float(np.mean([one.mean() for one in found]))]


def main() -> int:
    print(f"{len(SIZES)} lists, {PEOPLE:,} people, rho = {RHO}; error of a cell of all one- and two-way marginals")
    for relation in ("add_remove", "replace"):
        for by_cell in (False, True):
            found = np.array([errors(relation, by_cell) for _ in range(DRAWS)]).mean(axis=0)
            weighed = "every cell" if by_cell else "every marginal"
            for name, one, other in zip(("mean", "largest", "mean of marginals"), *found, strict=True):
                print(f"{relation:<11}{weighed:<15}{name:<18} ours {one:6.2f}  plain {other:6.2f}  {one / other:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
