"""All multisets of m cells out of D, each with the number of its sequences: what a small database is chosen from.

The D^m sequences of m cells are grouped by how often each cell occurs: C(m+D−1, m) multisets y, each with
m!/Π y_i! sequences. Everything here is public: it depends on D and m alone.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

from dpengine.core.arrays import Integers

Counts = npt.NDArray[np.uint8]

MOST_SEQUENCES = 2**62  # D^m: then every weight, and their sum, is an int64
_KEPT = 1 << 20  # bytes of a table small enough to be cached


def how_many(cells: int, size: int) -> int:
    return comb(size + cells - 1, size)


def enumerated(cells: int, size: int) -> tuple[Counts, Integers]:
    """Every multiset as a row of counts, and its sequences; D^m < 2^62, so m < 62 and counts fit a byte."""
    if cells < 2 or size < 1 or cells**size >= MOST_SEQUENCES:
        raise ValueError("too many sequences, or nothing to choose from")
    return _small(cells, size) if how_many(cells, size) * cells <= _KEPT else _enumerated(cells, size)


def _enumerated(cells: int, size: int) -> tuple[Counts, Integers]:
    """Cell by cell: each partial multiset is continued with every possible count of the next cell.

    Sequences: Π C(left_i, y_i), a product whose parts only grow, so none exceeds D^m.
    """
    choose = np.array([[comb(n, k) for k in range(size + 1)] for n in range(size + 1)], dtype=np.int64)
    counts = np.zeros((how_many(cells, size), cells), dtype=np.uint8)
    left, ways = np.array([size]), np.ones(1, dtype=np.int64)
    repeats = np.array([how_many(cells, size)])  # how many multisets begin with each row so far
    for cell in range(cells - 1):
        row = np.repeat(np.arange(len(left)), left + 1)
        first = np.cumsum(left + 1) - (left + 1)
        part = np.arange(len(row)) - first[row]
        ways = ways[row] * choose[left[row], part]
        left = left[row] - part
        rest = cells - 1 - cell
        repeats = _ahead(rest, size)[left]
        counts[:, cell] = np.repeat(part, repeats)
    counts[:, -1] = np.repeat(left, repeats)
    return counts, ways


def _ahead(cells: int, size: int) -> Integers:
    """How many multisets of the remaining cells there are, for every number of rows that is left."""
    return np.array([how_many(cells, left) for left in range(size + 1)], dtype=np.int64)


_small = lru_cache(maxsize=32)(_enumerated)
