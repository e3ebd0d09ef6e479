"""Wrong twins of several means at once: the length of a sum taken for that of a row, and rows that grow when cut."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isqrt
from typing import Any

from battery import SEVERAL, check_law_against_loss, check_sensitivity, facts

from dpengine.mechanisms.query import Query
from dpengine.mechanisms.sums.vector_mean import Moved, VectorMean
from dpengine.statistics.counts import UNITS, CentredSums
from tests.planted.registry import Planted

NORM: dict[str, Any] = {"columns": ["x", "z"], "noise": "l2_laplace"}
CUT: dict[str, Any] = NORM | {"norm": "0.7", "lattice": 1}


def made(kind: type[Query], given: dict[str, Any], relation: str = "replace", unit: Any = None) -> Any:
    return kind.build(facts(relation, unit=unit), {"epsilon": "1"} | given)


class OneLength(VectorMean):
    """The row's own norm bound under replace-one: one row leaves and another comes, which is twice that."""

    @cached_property
    def moved(self) -> Moved:
        right = VectorMean.moved.func(self)  # type: ignore[attr-defined]
        return replace(right, first=right.first / 2, second=right.second / 4)


class OneRow(VectorMean):
    """As if nobody had a second row."""

    @cached_property
    def moved(self) -> Moved:
        right = VectorMean.moved.func(self)  # type: ignore[attr-defined]
        most = self.facts.unit.at_most
        return replace(right, first=right.first / most, second=right.second / most**2)


class HeavyCount(VectorMean):
    """N weighs more than costs nothing, and the price is the same."""

    @cached_property
    def moved(self) -> Moved:
        right = VectorMean.moved.func(self)  # type: ignore[attr-defined]
        return replace(right, weight=4 * right.weight)


@dataclass(frozen=True)
class Away(CentredSums):
    """Rows that are cut are rounded away from zero."""

    def row(self, codes: Any) -> tuple[int, ...]:
        away = [2 * code - half for code, half in zip(codes, self.halves, strict=True)]
        square = sum((abs(y) * UNITS // half) ** 2 for y, half in zip(away, self.halves, strict=True))
        if self.limit is None or square <= self.limit:
            return super().row(codes)
        root, most = isqrt(square), isqrt(self.limit)
        return tuple((-1 if y < 0 else 1) * -(-abs(y) * self.parts * most // root) for y in away)


class RoundedUp(VectorMean):
    def need(self) -> CentredSums:
        right = super().need()
        return Away(*(getattr(right, field.name) for field in fields(right)))


law, sensitivity = (check_law_against_loss, "exceeds"), (check_sensitivity, "moves it by")

PLANTED = [
    Planted(
        "one length for a replaced row",
        "Several means take a row's norm for that of the sum's change: under replace-one it is twice that.",
        *sensitivity,
        made(VectorMean, NORM),
        made(OneLength, NORM),
        also=(law,),
    ),
    Planted(
        "one length, Gaussian",
        "The same with Gaussian noise.",
        *law,
        made(VectorMean, NORM | {"noise": "gaussian"}),
        made(OneLength, NORM | {"noise": "gaussian"}),
        also=(sensitivity,),
    ),
    Planted(
        "one row each in several means",
        "Several means forget that a person may have two rows.",
        *sensitivity,
        made(VectorMean, NORM, "add_remove", SEVERAL),
        made(OneRow, NORM, "add_remove", SEVERAL),
        also=(law,),
    ),
    Planted(
        "a cut row that is rounded up",
        "Rows that are too long are cut to their norm and rounded away from zero: they are longer again.",
        *sensitivity,
        made(VectorMean, CUT),
        made(RoundedUp, CUT),
        also=(law,),
    ),
    Planted(
        "a count that weighs too much",
        "The number of rows is drawn with less noise than its share of the price.",
        *law,
        made(VectorMean, NORM),
        made(HeavyCount, NORM),
    ),
]
