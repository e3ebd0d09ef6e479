"""Numbers that look like chance, from a public seed: for what is done with released numbers, never for noise.

SplitMix64 (Steele, Lea, Flood 2014): the same seed gives the same numbers on every machine, so rows that are gone can
be made again.
"""

from __future__ import annotations

import numpy as np

from dpengine.core.arrays import Floats, Integers

_MASK = 2**64 - 1
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class PublicMix:
    def __init__(self, seed: int) -> None:
        self._seed, self._drawn = seed & _MASK, 0

    def shares(self, many: int) -> Floats:
        """Numbers in [0, 1)."""
        places = np.arange(self._drawn + 1, self._drawn + 1 + many, dtype=np.uint64)
        self._drawn += many
        mixed = places * np.uint64(_STEP) + np.full(many, self._seed, dtype=np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_FIRST)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_SECOND)
        mixed = mixed ^ (mixed >> np.uint64(31))
        return np.asarray((mixed >> np.uint64(11)) / 2.0**53, dtype=np.float64)

    def order(self, many: int) -> Integers:
        """The numbers from 0 on, mixed."""
        return np.asarray(np.argsort(self.shares(many), kind="stable"), dtype=np.int64)

    def below(self, bound: int) -> int:
        return int(self.shares(1)[0] * bound)
