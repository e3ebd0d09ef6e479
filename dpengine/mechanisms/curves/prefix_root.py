"""Noise for all sums from the left at once, by a root of the matrix that takes them.

Root        P, the lower triangle of ones, has the square root M, a lower triangle with c_j = C(2j, j)/4^j on its j-th
            diagonal: 1/(1−q) = (Σ_j c_j·q^j)². Bell-shaped noise on M·x, multiplied by M, is nearly as small as any
            factorisation allows (Fichtenberger, Henzinger, Upadhyay 2023; Matoušek, Nikolov, Talwar 2020).
Table       c_j is irrational as a scale of noise, so it is rounded to whole numbers r_j near 2^16·c_j: public, and the
            same for everyone. Drawn is R·x + Z, R with r_j on its diagonals, all of it whole numbers.
Sensitivity from that very table: a row more changes R·x by a column of R, a row moved by the difference of two columns.
            The largest squared length of either is computed over all columns. A person of at most m rows: m² times that
            (the length of a sum is at most the sum of lengths).
Sums        P·x = L·(R·x) for L = P·R⁻¹, a lower triangle again; its diagonals are the quotients of the series Σ q^j by
            Σ r_j·q^j. This is post-processing, in floats: what they round is far below the thousandth part of a row
            that is added to every reach.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np

from dpengine.core.arrays import Floats, Integers

BITS = 16
ROUNDED = 1e-3  # rows


@lru_cache(maxsize=64)
def table(cells: int) -> Integers:
    """r_0, r_1, …"""
    return np.array([round(comb(2 * j, j) << BITS >> 2 * j) for j in range(cells)], dtype=np.int64)


def rooted(cells: list[int]) -> list[int]:
    """R·x."""
    return [int(one) for one in np.convolve(table(len(cells)), np.array(cells, dtype=np.int64))[: len(cells)]]


@lru_cache(maxsize=64)
def moved(cells: int, replaced: bool) -> int:
    """The largest squared length of what one row changes, in whole numbers."""
    r = table(cells)
    # Column b begins at row b: its product with column a = b − lag is Σ_k r_k·r_(k+lag) over its cells − b entries.
    own = np.cumsum(r * r)  # own[k−1]: squared length of the column with k entries
    most = int(own[-1])
    if replaced:
        for lag in range(1, cells):
            both = np.cumsum(r[: cells - lag] * r[lag:])  # by the entries of the later column, 1 … cells − lag
            most = max(most, int((own[lag:] + own[: cells - lag] - 2 * both).max()))
    return most


@lru_cache(maxsize=64)
def inverse(cells: int) -> Floats:
    """The diagonals of L."""
    r = table(cells).astype(np.float64)
    found = np.zeros(cells)
    for j in range(cells):
        found[j] = (1.0 - float(r[1 : j + 1] @ found[:j][::-1])) / r[0]
    return found


def sums(drawn: list[float]) -> Floats:
    """What lies at or below each cell, from R·x + Z."""
    return np.convolve(inverse(len(drawn)), np.array(drawn, dtype=np.float64))[: len(drawn)]


@lru_cache(maxsize=64)
def lengths(cells: int) -> tuple[Floats, Floats]:
    """For each cell how the noise of its sum is made up: the length, and the sum of sizes, of a row of L."""
    rows = np.abs(inverse(cells))
    return np.sqrt(np.cumsum(rows * rows)), np.cumsum(rows)
