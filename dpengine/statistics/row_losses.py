"""How one row pulls at a model: for each kind of training its residual r, of which the row's gradient is r·x.

Each kind is one record: what r is for a row whose margin w·x is an exact integer, as a reference in Python and as an
expression that an engine computes. Both are functions of this row alone, in units of 2^-bits; `GradientSum` keeps r
within its public bound and cuts what follows toward zero.

    linear    half the squared error:    r = w·x − y, y on [−1, 1]
    logistic  ln(1 + e^(∓w·x)):          r = σ(w·x) − y, y of 0 and 1. σ is the one float, floored to the lattice
    hinge     max(0, 1 − y·w·x):         r = −y where y·w·x < 1, else 0, y = ±1: a subgradient at the corner
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dpengine.statistics import feature_expressions as features
from dpengine.statistics.features import (
    HINGE,
    LINEAR,
    LOGISTIC,
    MARGIN_UNITS,
    ROW_BITS,
    WEIGHT_BITS,
    toward_zero,
)
from dpengine.statistics.view import Expression

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
