"""The statistics a mechanism may ask of the data. An engine computes them; mechanisms see no SQL.

Each need also carries its meaning as a few lines over a list of coded rows (`of`): the reference that engines
are tested against and that sensitivities are brute-forced over. And `imagine` makes the statistic of a made-up
table from public facts alone, for previews.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpengine.predicate import EVERYONE, Predicate, Row
from dpengine.schema import MISSING, Code

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Spread:
    """How often each code occurs: sorted codes that occur, and their counts. Private until noised."""

    codes: Integers
    counts: Integers


@dataclass(frozen=True)
class Count:
    """How many rows meet the condition."""

    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> int:
        return sum(self.where.holds(row) for row in rows)

    def imagine(self, people: int, shape: str) -> int:
        return people if self.where.everyone else people * 2 // 5


@dataclass(frozen=True)
class Histogram:
    """Rows per bin. Bin i holds the codes starts[i] ≤ code < starts[i+1]; the last one ends below `size`."""

    column: str
    starts: tuple[Code, ...]
    size: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        counts = [0] * len(self.starts)
        for row in rows:
            code = row[self.column]
            if code != MISSING and self.where.holds(row):
                counts[sum(start <= code for start in self.starts) - 1] += 1
        return tuple(counts)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        """Falling bars, one after the other a little lower: a shape, not a guess about the data."""
        weights = [1 / (place + 2) for place in range(len(self.starts))]
        return tuple(int(people * weight / sum(weights)) for weight in weights)


@dataclass(frozen=True)
class Ranks:
    """The whole distribution of a Number over its grid, missing values left out."""

    column: str
    size: int
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> Spread:
        found = Counter(row[self.column] for row in rows if self.where.holds(row) and row[self.column] != MISSING)
        codes = sorted(found)
        return Spread(np.array(codes, dtype=np.int64), np.array([found[code] for code in codes], dtype=np.int64))

    def imagine(self, people: int, shape: str) -> Spread:
        """`people` values at the even ranks of a public shape on the grid."""
        ranks = (np.arange(people) + 0.5) / people
        if shape == "even":
            place = ranks
        elif shape == "skewed":
            place = np.minimum(-np.log1p(-ranks) / 2.8, 1.0)
        else:  # a bell without tails: the mean of three even shares, near enough
            place = np.clip(0.5 + 0.15 * np.log(ranks / (1 - ranks)) / 1.6, 0.0, 1.0)
        codes, counts = np.unique((place * (self.size - 1)).round().astype(np.int64), return_counts=True)
        return Spread(codes, counts.astype(np.int64))


Need = Count | Histogram | Ranks
Statistic = int | tuple[int, ...] | Spread
