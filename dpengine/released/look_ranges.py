"""How far a sum of cells of a first look may be off, and a ratio of two sums.

Sums        Σ a_c·cell_c of a marginal A has subgaussian noise of variance Σ_{B⊆A} σ_B²·‖⊗_{i∈B}(I − J/n_i)·ā_B‖², ā_B
            the mean of a over the columns of A that are not in B (`residuals`: rebuilding).
Families    Each family of sums is fixed by the question, not by the draw, and all of its sums are within their reach at
            once but for its part of β, so any of them may be looked at after seeing everything else.
            cells   β/2: the cells themselves (`Overview.reach`)
            listed  β/4: of a marginal with c cells 12·c + c² sums. For a column by itself: two for its average, three
                    for each end of a group (percentiles), at most 4·c; for a pair the same among each value of the
                    other column, at most 8·c. A cell's share of all, of its row and of its column, and beside an even
                    share: 4·c (5·c for three columns). One for each two cells: c². Of items and of all people as many,
                    for shares.
            shares  β/8: every set of labels in each column of a marginal, as a share of every other. There are too many
                    to treat them alike: with k_i of n_i labels a sum has the part Π 1/(n_i·C(n_i, k_i)) of β/8, and
                    these add up to 1.
            means   β/8: an average among every set of labels of another column, in the same way.
Ratios      s = Σa·cell/Σb·cell is not linear, but Σ(a − s·b)·cell = 0 is, and this one sum, at the true s, is in a
            family. With x and X as they were released, x − s·X is within its reach √(2·L·(A − 2·B·s + C·s²)), A the
            variance of x, C of X, B their covariance. The range is every s for which it is: between the two roots of
            a square, told from s₀ = x/X on; everything, where X cannot be told from none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpengine.core.arrays import Floats
from dpengine.core.exact import ln_above
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.residuals import Columns, parts_of

LISTED = 12  # sums of a marginal for each of its cells; and one for each two of them
_SPARE = 1 + 1e-9

Sums = float | Floats
Ends = tuple[Floats, Floats]


def ratio_ends(over: Sums, under: Sums, off: Sums, shared: Sums, whole: Sums, log: float) -> Ends:
    """The two roots, told from s₀ = over/under on, so that nothing large is taken from something large: `off` is the
    variance of Σ(a − s₀·b)·cell, `whole` that of Σb·cell, `shared` their covariance. NaN where Σb·cell cannot be told
    from none."""
    over, under = np.asarray(over, dtype=np.float64), np.asarray(under, dtype=np.float64)
    reach = 2 * log * _SPARE**2
    square = under**2 - reach * np.asarray(whole)
    sure = (under > 0) & (square > 0)
    square, told = np.where(sure, square, np.nan), over / np.where(sure, under, np.nan)
    shared = reach * np.asarray(shared)
    root = np.sqrt(shared**2 + square * reach * np.asarray(off))
    return told - (shared + root) / square, told + (root - shared) / square


@dataclass(frozen=True)
class Ranges:
    query: Overview
    marginals: Mapping[Columns, Floats]
    noise: Mapping[Columns, Fraction]  # of each residual, as it was drawn

    def variance(self, part: Columns, a: Floats) -> float:
        """Of the noise in a sum of cells of a marginal."""
        total = 0.0
        for base in parts_of(part):
            if base in self._noise:
                rest = tuple(axis for axis, place in enumerate(part) if place not in base)
                mean = a.sum(axis=rest) / math.prod(a.shape[axis] for axis in rest) if rest else a
                for axis in range(mean.ndim):
                    mean = mean - mean.sum(axis=axis, keepdims=True) / mean.shape[axis]
                total += self._noise[base] * float((mean * mean).sum())
        return total

    @cached_property
    def _noise(self) -> dict[Columns, float]:
        return {base: float(noise) for base, noise in self.noise.items()}

    def reach(self, part: Columns, a: Floats, log: float) -> float:
        return math.sqrt(2 * self.variance(part, a) * log) * _SPARE

    def ratio(self, part: Columns, a: Floats, b: Floats, log: float) -> tuple[float, float] | None:
        """The ends of Σa·cells/Σb·cells; None where the lower sum cannot be told from none, and it may be anything."""
        cells = self.marginals[part]
        over, under = float((a * cells).sum()), float((b * cells).sum())
        if under <= 0:
            return None
        off = a - over / under * b
        shared = (self.variance(part, off + b) - self.variance(part, off - b)) / 4
        low, high = ratio_ends(over, under, self.variance(part, off), shared, self.variance(part, b), log)
        return None if math.isnan(low) else (float(low), float(high))

    def ratios(self, part: Columns, over: Floats, under: Floats, a: Floats, b: Floats, log: float) -> Ends:
        """The same for many sums at once that are alike but for their place: `a` and `b` are one of them, with the
        variance of all. NaN where a share may be anything."""
        wide, whole = self.variance(part, a), self.variance(part, b)
        both = (self.variance(part, a + b) - self.variance(part, a - b)) / 4
        told = np.divide(over, under, out=np.zeros(np.broadcast(over, under).shape), where=under > 0)
        off = np.maximum(wide - 2 * told * both + told**2 * whole, 0.0)
        return ratio_ends(over, under, off, both - told * whole, whole, log)

    # How sure each family of sums is

    @cached_property
    def listed(self) -> float:
        cells = [(self.query.layout.cells(part), self.query.ways(part)) for part in self.query.sets]
        cells += [(one.size, 1) for one in self.query.held]
        return float(ln_above(8 * sum(ways * (LISTED * many + many**2) for many, ways in cells) / self.query.beta))

    def of_share(self, part: Columns, *labels: tuple[int, ...]) -> float:
        """Of a set of labels as a share of another: how many labels each has in each column of the marginal."""
        return self._among(1, *(pair for counts in labels for pair in zip(part, counts, strict=True)))

    def of_mean(self, other: int, labels: int) -> float:
        """Among a number of labels of the other column of a pair: two sums for each of its two columns."""
        return self._among(4, (other, labels))

    def _among(self, sums: int, *labels: tuple[int, int]) -> float:
        log = float(ln_above(16 * sum(map(self.query.ways, self.query.sets)) * sums / self.query.beta))
        for place, many in labels:
            size = self.query.axes[place].size
            log += math.log(size * math.comb(size, many)) * _SPARE
        return log
