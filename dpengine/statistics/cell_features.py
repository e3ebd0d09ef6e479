"""Rows as the cells they are in: what a model sees that was read off a first look (`released.shapes`).

A column has one coordinate for each of its cells (`CellAxis`: listed values or groups, no value, does not fit), 1 where
the row is and 0 elsewhere; the constant is 1. Weights are whole numbers in units of 2^-WEIGHT_BITS and coordinates in
units of 2^-ROW_BITS, as in `features`, so a prediction is an exact whole number: of yes and no, the chance of a yes,
from 0 to 1; of a number, from −1 to 1 over its declared range. Every row is in one cell of each column, so none is left
out but for its target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Ref, base, ref_json
from dpengine.declared.read_group import read_ref
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.statistics.features import ROW_BITS, SHAPES, WEIGHT_BITS, Layout, Model, Row
from dpengine.statistics.marginals import CellAxis, axis_in

MOST_WIDE = 5_000  # coordinates
MOST_COLUMNS = 60


@dataclass(frozen=True)
class CellsLayout(Layout):
    axes: tuple[CellAxis, ...] = ()

    @property
    def kind(self) -> str:
        return SHAPES

    @cached_property
    def most(self) -> int:
        return 1 << ROW_BITS

    @property
    def needed(self) -> tuple[str, ...]:
        return (self.target,)

    def weights_at(self, place: int) -> int:
        return self.axes[place].size

    @property
    def wide_most(self) -> int:
        return MOST_WIDE if len(self.names) <= MOST_COLUMNS else 0

    def row(self, row: Row) -> list[tuple[int, int]]:
        cells = zip(self.starts, self.axes, strict=True)
        return [(0, self.most), *((start + axis.of(dict(row)), self.most) for start, axis in cells)]

    def as_json(self) -> JsonObject:
        return super().as_json() | {"cells": [ref_json(axis.ref) for axis in self.axes]}


def layout_of(schema: Schema, refs: Sequence[Ref], target: str, yes: Sequence[int], no: Sequence[int]) -> CellsLayout:
    names = tuple(base(ref) for ref in refs)
    columns, goal = [schema[name] for name in names], schema[target]
    if any(isinstance(column, ItemSet) for column in columns) or not isinstance(goal, Number | Category):
        raise AllowanceError("train.model")
    axes = tuple(axis_in(ref, schema) for ref in refs)
    kept = tuple(column for column in columns if isinstance(column, Number | Date | Category))
    return CellsLayout(names, kept, target, goal, tuple(yes), tuple(no), axes=axes)


def from_json(data: Mapping[str, Json]) -> Model:
    """As `features.model_from_json`, of such a model."""
    try:
        schema = Schema.from_json({"columns": [*data["features"], data["target"]]})
        refs = [read_ref(one, schema) for one in data["cells"]]
        if [base(ref) for ref in refs] != [name for name, _ in data["features"]]:
            raise AllowanceError("train.model")
        layout = layout_of(schema, refs, str(data["target"][0]), data.get("yes", ()), data.get("no", ()))
        weights = tuple(int(weight) for weight in data["weights"])
    except (KeyError, TypeError, ValueError, IndexError):
        raise AllowanceError("train.model") from None
    if len(weights) != layout.width or data.get("bits") != WEIGHT_BITS:
        raise AllowanceError("train.model")
    return Model(layout, weights)
