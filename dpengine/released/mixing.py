"""Numbers that look like chance, from a public seed: for what is done with released numbers, never for noise.

NumPy's Philox, read as raw words, gives the same numbers for a seed on every machine and in every version, so rows that
are gone can be made again.
"""

from __future__ import annotations

import numpy as np

from dpengine.core.arrays import Floats, Integers


class PublicMix:
    def __init__(self, seed: int) -> None:
        self._words = np.random.Philox(key=seed % 2**64)

    def shares(self, many: int) -> Floats:
        """Numbers in [0, 1)."""
        return np.asarray((self._words.random_raw(many) >> np.uint64(11)) / 2.0**53, dtype=np.float64)

    def order(self, many: int) -> Integers:
        """The numbers from 0 on, mixed."""
        return np.asarray(np.argsort(self.shares(many), kind="stable"), dtype=np.int64)

    def below(self, bound: int) -> int:
        return int(self.shares(1)[0] * bound)
