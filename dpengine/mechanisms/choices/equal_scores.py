"""Candidates of a choice in runs of equal score, and the grid points of a column in runs of equal rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpengine.core.arrays import Integers
from dpengine.statistics.need import Spread


@dataclass(frozen=True)
class Blocks:
    """First grid point of each run (−1 and the size of the grid are sentinels), its length, its gap to score 0."""

    firsts: Integers
    sizes: Integers
    gaps: Integers

    def padded(self, blocks: int) -> Blocks:
        """With empty blocks up to a public number, so that the running time does not reveal how many values occur."""
        room = blocks - len(self.firsts)
        if room <= 0:
            return self
        return Blocks(*(np.concatenate((array, np.zeros(room, dtype=np.int64))) for array in vars(self).values()))


@dataclass(frozen=True)
class Ranked:
    """Runs of grid points with the same rows below them: first point, length, rows below, rows at."""

    firsts: Integers
    sizes: Integers
    below: Integers
    at: Integers

    @classmethod
    def of(cls, value: Spread, size: int) -> Ranked:
        codes, counts = value.codes, value.counts
        before = np.concatenate(([0], np.cumsum(counts)))  # rows below the j-th distinct value
        firsts = np.empty(2 * len(codes) + 1, dtype=np.int64)
        sizes, below, at = np.empty_like(firsts), np.empty_like(firsts), np.zeros_like(firsts)
        edges = np.concatenate(([-1], codes, [size]))
        firsts[0::2], sizes[0::2], below[0::2] = edges[:-1] + 1, np.diff(edges) - 1, before
        firsts[1::2], sizes[1::2], below[1::2], at[1::2] = codes, 1, before[:-1], counts
        return cls(firsts, sizes, below, at)

    def with_sentinel(self, side: int, size: int, rows: int, of_all: int) -> Ranked:
        """With so many made-up rows below the grid (side −1) or above it (1), after `of_all` others."""
        extra = (-1, 1, -rows, rows) if side < 0 else (size, 1, of_all, rows)
        where = 0 if side < 0 else len(self.firsts)
        pairs = zip(vars(self).values(), extra, strict=True)
        return Ranked(*(np.insert(array, where, item) for array, item in pairs))
