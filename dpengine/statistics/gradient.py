"""One training step as a statistic: exact integers, except for σ, a float that depends on the row's own margin only.

The gradient of a row is r·x. Each kind of training has its residual r (`LOSSES`), for a row with the exact integer
margin w·x: as a reference in Python and as an expression for engines. Both are functions of this row alone, in units of
2^-bits; `GradientSum` clamps r to its public bound and cuts what follows toward zero.

    linear    half the squared error:    r = w·x − y, y on [−1, 1]
    logistic  ln(1 + e^(∓w·x)):          r = σ(w·x) − y, y of 0 and 1. σ is the one float, floored to the lattice
    hinge     max(0, 1 − y·w·x):         r = −y where y·w·x < 1, else 0, y = ±1: a subgradient at the corner
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from types import MappingProxyType

import pyarrow as pa

from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.declared.schema import Category
from dpengine.statistics import feature_expressions as features
from dpengine.statistics.features import (
    HINGE,
    LINEAR,
    LOGISTIC,
    MARGIN_UNITS,
    ROW_BITS,
    WEIGHT_BITS,
    Layout,
    toward_zero,
)
from dpengine.statistics.need import Aggregate, Aggregated
from dpengine.statistics.view import Expression, View, joined, total

MOST_MARGIN = 40.0  # beyond, σ is 0 or 1 to more digits than the lattice has


@dataclass(frozen=True)
class RowLoss:
    residual: Callable[[int, int, int], int]  # of a margin, a target and the bits of the lattice
    expression: Callable[[Expression, int], Expression]  # the same, of rows with the columns margin and target


def _linear(margin: int, target: int, bits: int) -> int:
    return toward_zero(margin - (target << WEIGHT_BITS), ROW_BITS + WEIGHT_BITS - bits)


def _linear_expression(rows: Expression, bits: int) -> Expression:
    return features.cut_off(rows.margin - rows.target * 2**WEIGHT_BITS, ROW_BITS + WEIGHT_BITS - bits)


def _logistic(margin: int, target: int, bits: int) -> int:
    away = max(min(margin / MARGIN_UNITS, MOST_MARGIN), -MOST_MARGIN)
    return math.floor(1 / (1 + math.exp(-away)) * (1 << bits)) - (target << bits)


def _logistic_expression(rows: Expression, bits: int) -> Expression:
    away = features.within(rows.margin.cast("float64") / float(MARGIN_UNITS), MOST_MARGIN)
    chance = 1.0 / (1.0 + (-away).exp())
    return (chance * float(2**bits)).floor().cast("int64") - rows.target * 2**bits


def _hinge(margin: int, target: int, bits: int) -> int:
    side = 1 if target else -1
    return -side << bits if side * margin < MARGIN_UNITS else 0


def _hinge_expression(rows: Expression, bits: int) -> Expression:
    side = rows.target * 2 - 1
    return (rows.margin * side < MARGIN_UNITS).ifelse(-side * 2**bits, 0).cast("int64")


LOSSES: Mapping[str, RowLoss] = MappingProxyType(
    {
        LINEAR: RowLoss(_linear, _linear_expression),
        LOGISTIC: RowLoss(_logistic, _logistic_expression),
        HINGE: RowLoss(_hinge, _hinge_expression),
    }
)


@dataclass(frozen=True)
class GradientSum(Aggregate[tuple[int, ...]]):
    """The sum over rows of r·x in units of 2^-bits, x the row of `layout` and r its residual at the given weights,
    clamped to ±clip in those units (`LOSSES`).

    Every row by itself: the margin is an exact integer; r and each coordinate of r·x are cut toward zero, so the
    Euclidean norm of what a row adds is at most clip·‖x‖ ≤ clip, and no coordinate exceeds clip·K/2^ROW_BITS. A row
    without a margin or a target adds 0.
    """

    layout: Layout
    weights: tuple[int, ...]
    clip: int
    bits: int
    where: Predicate = EVERYONE

    def residual(self, margin: int, target: int) -> int:
        residual = LOSSES[self.layout.kind].residual(margin, target, self.bits)
        return max(min(residual, self.clip), -self.clip)

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        sums = [0] * self.layout.width
        for row in rows:
            coordinates, target = self.layout.row(row), self.layout.target_of(row)
            if coordinates is not None and target is not None and self.where.holds(row):
                residual = self.residual(sum(self.weights[place] * value for place, value in coordinates), target)
                for place, value in coordinates:
                    sums[place] += toward_zero(residual * value, ROW_BITS)
        return tuple(sums)

    def compiled_as(self) -> GradientSum:
        return replace(self, weights=())

    def tables(self) -> dict[str, pa.Table]:
        return {features.WEIGHTS: features.weights_table(self.layout, self.weights)}

    def expression(self, view: View) -> Expression:
        layout = self.layout
        columns = list(enumerate(zip(layout.names, layout.columns, strict=True)))
        numbers = [place for place, (_, column) in columns if not isinstance(column, Category)]
        listed = [(place, name) for place, (name, column) in columns if isinstance(column, Category)]
        view = features.counted(view, layout)
        codes = {view.names[name]: view[name] for name in layout.names}
        coordinates = {f"x{place}": features.coordinate(view, layout, place) for place in numbers}
        view = view.of(view.rows.select(**codes, target=features.target(view, layout), **coordinates))
        rows = features.beside_weights(view.rows, layout)
        parts = [rows.w * layout.most] + [rows[f"w{place}"] * rows[f"x{place}"] for place in numbers]
        parts += [features.weight_of(rows, place, rows[view.names[name]]) * layout.most for place, name in listed]
        rows = rows.mutate(margin=joined(add, parts))
        residual = LOSSES[layout.kind].expression(rows, self.bits)
        rows = rows.mutate(residual=features.within(residual, self.clip))
        pulls = {f"x{place}": rows.residual * rows[f"x{place}"] for place in numbers}
        rows = rows.mutate(whole=features.cut_off(rows.residual * layout.most, ROW_BITS), **pulls)
        sums = {"g0": total(rows.whole)}
        for place in numbers:
            sums[f"g{layout.starts[place]}"] = total(features.cut_off(rows[f"x{place}"], ROW_BITS))
        for place, name in listed:
            for code in range(layout.columns[place].size):
                held = (rows[view.names[name]] == code).ifelse(rows.whole, 0)
                sums[f"g{layout.starts[place] + code}"] = total(held)
        return rows.aggregate(**sums)

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        return tuple(int(columns[f"g{place}"][0]) for place in range(self.layout.width))
