"""Candidates of a choice in runs of equal score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpengine.core.arrays import Integers


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
