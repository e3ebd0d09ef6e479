"""Where inside a measured group the values of a column lie, by another answer about the same column that was paid for:
a histogram, a curve, a first look in finer groups. Post-processing of released figures: free, and the table is not
read.

Curve       runs of codes and about how many rows are in each, with how far that may be off.
Pieces      a group is cut where runs begin. Of a piece that is a part of a run, its part of the run's rows. Pieces that
            noise could have made are put together with the next until it could not, and what is below 0 counts as none.
Spread      the rows of a group over its pieces as these have rows, and evenly inside a piece. Of a group that no run
            cuts, or of which the curve tells nothing, evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpengine.core.arrays import Floats, Integers


@dataclass(frozen=True)
class Curve:
    column: str
    starts: tuple[int, ...]  # of runs of codes, the first at 0
    counts: tuple[float, ...]
    off: float  # how far each count may be off
    size: int  # codes in all
    source: str  # the request that bought it

    def pieces(self, start: int, end: int) -> tuple[Integers, Floats] | None:
        """Where the pieces of a group begin, and about how many rows each has; None where there is one."""
        inner = [one for one in self.starts if start < one < end]
        if not inner:
            return None
        cuts = [start, *inner, end]
        places = np.searchsorted(np.array(self.starts), cuts[:-1], side="right") - 1
        begins = np.array(self.starts, dtype=np.int64)
        wide = np.diff(np.append(begins, self.size))[places]
        rows = np.array(self.counts)[places] * np.diff(cuts) / wide
        kept: list[int] = []
        sums: list[float] = []
        low = False  # whether the last piece is one that noise could have made
        for at, many in zip(cuts[:-1], rows.tolist(), strict=True):
            if low and many < self.off:
                sums[-1] += many
            else:
                kept.append(at)
                sums.append(many)
            low = sums[-1] < self.off
        told = np.maximum(np.array(sums), 0.0)
        return (np.array(kept, dtype=np.int64), told) if len(kept) > 1 and told.sum() > 0 else None

    def spread(self, start: int, end: int, many: int) -> Integers | None:
        """Codes for so many rows of a group, rising; None where the curve tells nothing of it."""
        found = self.pieces(start, end)
        if found is None:
            return None
        begins, rows = found
        edges = np.floor(np.cumsum(rows) / rows.sum() * many + 0.5).astype(np.int64)
        edges[-1] = many
        told = np.diff(edges, prepend=0)
        ends = np.append(begins[1:], end)
        runs = zip(begins.tolist(), ends.tolist(), told.tolist(), strict=True)
        return np.concatenate([evenly(first, last, part) for first, last, part in runs])


def evenly(start: int, end: int, many: int) -> Integers:
    return start + (np.arange(many, dtype=np.int64) * (end - start)) // max(many, 1)


def best(curves: Iterable[Curve], column: str, starts: Sequence[int]) -> Curve | None:
    """The most exact one among those that cut some group of the column into pieces."""
    able = []
    for curve in curves:
        ends = [*starts[1:], curve.size]
        if curve.column == column and any(curve.pieces(*ends_) for ends_ in zip(starts, ends, strict=True)):
            able.append(curve)
    return min(able, key=lambda curve: curve.off, default=None)
