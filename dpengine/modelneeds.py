"""What is counted when a trained model is checked: sums over rows of what it says of each beside what the row is.

The model is public, so what it says of a row is a function of this row's codes: an exact integer margin
(`features.Layout.margin`), put into a public bin. A row without a margin or without a target counts nowhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.features import ROW_BITS, WEIGHT_BITS, Layout
from dpengine.predicate import EVERYONE, Predicate, Row

ONE = 1 << ROW_BITS + WEIGHT_BITS  # a margin of 1


@dataclass(frozen=True)
class Graded:
    """Per bin of the margin: how many rows are on the yes side, and how many on the no side. Bin i holds the margins
    from edges[i−1] up to edges[i]; the first has no lower end and the last no upper one."""

    layout: Layout
    weights: tuple[int, ...]
    edges: tuple[int, ...]
    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        counts = [0] * (2 * (len(self.edges) + 1))
        for row in rows:
            margin, target = self.layout.margin(row, self.weights), self.layout.target_of(row)
            if margin is not None and target is not None and self.where.holds(row):
                counts[2 * bisect_right(self.edges, margin) + 1 - target] += 1
        return tuple(counts)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        """As many in every bin, and of them as many on the yes side as a model says that is right on average."""
        bins = len(self.edges) + 1
        each = people // bins
        hits = [each * (2 * place + 1) // (2 * bins) for place in range(bins)]
        return tuple(part for one in hits for part in (one, each - one))


@dataclass(frozen=True)
class Residuals:
    """Σr² over all rows; then, per bin of the prediction, how many rows there are and Σr. The prediction is the margin
    kept within the target's range, ±1. r is target less prediction in steps of 2^shift, rounded to the nearest and kept
    within ±most: whatever a row holds, it moves the sums by most², 1 and most."""

    layout: Layout
    weights: tuple[int, ...]
    edges: tuple[int, ...]
    shift: int
    most: int
    where: Predicate = EVERYONE

    def residual(self, margin: int, target: int) -> int:
        away = (target << WEIGHT_BITS) - max(min(margin, ONE), -ONE)
        steps = min((abs(away) + (1 << self.shift - 1)) >> self.shift, self.most)
        return steps if away >= 0 else -steps

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        sums = [0] * (1 + 2 * (len(self.edges) + 1))
        for row in rows:
            margin, target = self.layout.margin(row, self.weights), self.layout.target_of(row)
            if margin is not None and target is not None and self.where.holds(row):
                found, place = self.residual(margin, target), 1 + 2 * bisect_right(self.edges, margin)
                sums[0] += found * found
                sums[place] += 1
                sums[place + 1] += found
        return tuple(sums)

    def imagine(self, people: int, shape: str) -> tuple[int, ...]:
        """As many in every bin, errors of a quarter of the most, and the model a little low at one end and high at the
        other."""
        bins = len(self.edges) + 1
        each = people // bins
        tilt = [each * self.most * (2 * place + 1 - bins) // (10 * bins) for place in range(bins)]
        return (people * self.most**2 // 16, *(part for one in tilt for part in (each, one)))


OfModel = Graded | Residuals
