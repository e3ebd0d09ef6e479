"""The sums that check a trained model: over all rows, its predictions compared with the true targets.

The model is public, so its prediction for a row is a function of this row's codes: an exact integer margin
(`features.Layout.margin`) in a public bin. Rows without a margin or without a target are left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Self

import numpy as np
import pyarrow as pa

from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.statistics import feature_expressions as features
from dpengine.statistics.features import ROW_BITS, WEIGHT_BITS, CellsLayout, Layout
from dpengine.statistics.need import Aggregate, Aggregated, placed
from dpengine.statistics.view import Expression, View, integer, joined, signed, total

ONE = 1 << ROW_BITS + WEIGHT_BITS  # a margin of 1


@dataclass(frozen=True)
class ModelNeed(Aggregate[tuple[int, ...]]):
    """Sums over the bins of a model's margin. Bin i holds the margins from edges[i−1] up to edges[i]; the first has no
    lower end and the last no upper one."""

    layout: Layout
    weights: tuple[int, ...]
    edges: tuple[int, ...]

    @property
    def bins(self) -> int:
        return len(self.edges) + 1

    def compiled_as(self) -> Self:
        return replace(self, weights=())

    def tables(self) -> dict[str, pa.Table]:
        return {features.WEIGHTS: features.weights_table(self.layout, self.weights)}

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        axes = self.layout.axes if isinstance(self.layout, CellsLayout) else ()
        return {name: "int64" for axis in axes for name in axis.stored(names)[1:]}

    def binned(self, view: View) -> Expression:
        """Rows that count, each with its margin, its target and its bin: the number of edges at or below the margin."""
        view = features.counted(view.of(features.beside_weights(view.rows, self.layout)), self.layout)
        margin, target = features.margin(view, self.layout), features.target(view, self.layout)
        rows = view.rows.mutate(margin=margin, target=target)
        above = [(rows.margin >= edge).ifelse(1, 0).cast("int64") for edge in self.edges]
        return rows.mutate(bin=joined(add, above))


@dataclass(frozen=True)
class HitsByMargin(ModelNeed):
    """Per bin of the margin, the number of rows on the yes side and on the no side."""

    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        counts = [0] * (2 * self.bins)
        for row in rows:
            margin, target = self.layout.margin(row, self.weights), self.layout.target_of(row)
            if margin is not None and target is not None and self.where.holds(row):
                counts[2 * bisect_right(self.edges, margin) + 1 - target] += 1
        return tuple(counts)

    def expression(self, view: View) -> Expression:
        rows = self.binned(view)
        return rows.group_by(rows.bin, miss=1 - rows.target).aggregate(rows=rows.count())

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        return placed(2 * columns["bin"] + columns["miss"], columns["rows"], 2 * self.bins)


@dataclass(frozen=True)
class ErrorSums(ModelNeed):
    """Σr² over all rows; then, per bin of the prediction, the number of rows and Σr. The prediction is the margin,
    clamped to the target's range, ±1. r is target less prediction in steps of 2^shift, rounded to the nearest and
    clamped to ±most: a row moves the sums by at most most², 1 and most."""

    shift: int
    most: int
    where: Predicate = EVERYONE

    def residual(self, margin: int, target: int) -> int:
        away = (target << WEIGHT_BITS) - max(min(margin, ONE), -ONE)
        steps = min((abs(away) + (1 << self.shift - 1)) >> self.shift, self.most)
        return steps if away >= 0 else -steps

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        sums = [0] * (1 + 2 * self.bins)
        for row in rows:
            margin, target = self.layout.margin(row, self.weights), self.layout.target_of(row)
            if margin is not None and target is not None and self.where.holds(row):
                error, place = self.residual(margin, target), 1 + 2 * bisect_right(self.edges, margin)
                sums[0] += error * error
                sums[place] += 1
                sums[place + 1] += error
        return tuple(sums)

    def expression(self, view: View) -> Expression:
        rows = self.binned(view)
        away = rows.target * 2**WEIGHT_BITS - rows.margin.clip(-ONE, ONE)
        steps = (away.abs() + 2 ** (self.shift - 1)) >> integer(self.shift)
        rows = rows.mutate(off=signed(steps.clip(0, self.most), away))
        sums = {"s1": total(rows.off), "s2": total(rows.off * rows.off)}
        return rows.group_by(rows.bin).aggregate(s0=rows.count(), **sums)

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        sums = np.zeros((self.bins, 2), dtype=np.int64)
        sums[columns["bin"], 0], sums[columns["bin"], 1] = columns["s0"], columns["s1"]
        return (int(columns["s2"].sum()), *sums.ravel().tolist())
