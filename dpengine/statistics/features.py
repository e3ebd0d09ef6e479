"""Rows as vectors in the unit ball, from the schema alone; and a trained model with its prediction for a new row.

**Row.** p chosen columns and a constant. A Number or Date with s grid points goes to v = (2·code − (s−1))/(s−1) in
[−1, 1]; a Category to one coordinate for each of its labels, 1 at its own and 0 elsewhere; the constant is 1. All of
it times 1/√(p+1): a column gives at most 1 to the squared norm, the constant gives 1, so every row lies in the unit
ball, whatever the data hold.

**Lattice.** Coordinates are integers in units of 2^-ROW_BITS, every one the exact coordinate moved *toward zero*: with
K = ⌊2^ROW_BITS/√(p+1)⌋ a coordinate is ±⌊|2·code−(s−1)|·M / 2^SHIFT⌋, M = ⌊K·2^SHIFT/(s−1)⌋, which is at most K, or K
itself. (p+1)·K² ≤ 2^(2·ROW_BITS): the integer norm of a row cannot exceed 2^ROW_BITS. An undeclared code cannot occur;
a row with one is left out, and so is a row without the target or without a number.

**Target.** A Number in [−1, 1], in units of 2^-ROW_BITS; or yes and no, by the labels on the two sides.

Weights are public integers in units of 2^-WEIGHT_BITS, so a margin w·x is an exact integer in units of their product.

**Cells** (`CellsLayout`): a model that was read off a first look (`released.shapes`) sees the cells of a row. A column
has one coordinate for each of its cells (`CellAxis`: listed values or groups, no value, does not fit), 1 for the row's
own cell and 0 elsewhere; the constant is 1. With weights and coordinates in the units above, a prediction is an exact
integer: for yes and no, the chance of a yes, from 0 to 1; for a number, from −1 to 1 over its declared range. Every row
is in one cell of each column, so only rows without a target are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Ref, base, ref_json
from dpengine.declared.read_group import read_ref
from dpengine.declared.schema import Category, Code, ItemSet, Number, Schema
from dpengine.messages import called
from dpengine.statistics.marginals import CellAxis, axis_in

ROW_BITS = 16
WEIGHT_BITS = 24
SHIFT = 30
MARGIN_UNITS = 1 << (ROW_BITS + WEIGHT_BITS)
MOST_WIDE = 200  # coordinates
CONSTANT = "constant"
LINEAR, LOGISTIC, HINGE = "linear", "logistic", "hinge"
SHAPES = "shapes"  # of `CellsLayout`
MOST_CELLS = 5_000  # coordinates of a `CellsLayout`
MOST_COLUMNS = 60

Row = Mapping[str, Json]
Weights = tuple[int, ...]


def toward_zero(value: int, bits: int) -> int:
    """value / 2^bits, truncated toward zero."""
    return value >> bits if value >= 0 else -(-value >> bits)


def multiplier(most: int, size: int) -> int:
    """The factor M that scales size−1 down to at most `most`: ⌊(size−1)·M / 2^SHIFT⌋ ≤ most."""
    return (most << SHIFT) // (size - 1)


@lru_cache(maxsize=4096)
def centred(code: Code, size: int, most: int) -> int:
    """A code's place on its grid as an integer from −most (the lowest code) to most (the highest), cut toward zero."""
    return toward_zero((2 * code - (size - 1)) * multiplier(most, size), SHIFT)


@dataclass(frozen=True)
class Layout:
    """The columns a model sees and the target it predicts. Hashable; made of public facts."""

    names: tuple[str, ...]
    columns: tuple[Number | Date | Category, ...]
    target: str
    goal: Number | Category
    yes: tuple[Code, ...] = ()  # codes of the target on either side; none if it is a number
    no: tuple[Code, ...] = ()
    sharp: bool = False  # predict yes or no by a margin (hinge), not by a chance

    @property
    def kind(self) -> str:
        if not self.listed:
            return LINEAR
        return HINGE if self.sharp else LOGISTIC

    @property
    def listed(self) -> bool:
        """Is the target a yes or no, rather than a number?"""
        return not isinstance(self.goal, Number)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns in which a row must have a value to count."""
        return *self.names, self.target

    def weights_at(self, place: int) -> int:
        """The number of weights of the column at this place: one for each label of a Category, 0 for a Number or Date,
        which has a single weight that multiplies its value."""
        column = self.columns[place]
        return column.size if isinstance(column, Category) else 0

    @property
    def wide_most(self) -> int:
        """The largest allowed `width`, the number of weights."""
        return MOST_WIDE

    @cached_property
    def most(self) -> int:
        """K: the largest value of a coordinate."""
        return math.isqrt(2 ** (2 * ROW_BITS) // (len(self.columns) + 1))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first coordinate of every column; the constant is coordinate 0."""
        starts, place = [], 1
        for at in range(len(self.columns)):
            starts.append(place)
            place += self.weights_at(at) or 1
        return tuple(starts)

    @cached_property
    def width(self) -> int:
        return 1 + sum(self.weights_at(at) or 1 for at in range(len(self.columns)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A name for every coordinate."""
        names = [CONSTANT]
        for name, column in zip(self.names, self.columns, strict=True):
            names += [f"{name} = {label}" for label in column.labels] if isinstance(column, Category) else [name]
        return tuple(names)

    def shown(self) -> dict[str, str]:
        """Translations into the reader's language of the labels that differ in it."""
        words = [CONSTANT]
        for name, column in zip(self.names, self.columns, strict=True):
            labels = column.labels if isinstance(column, Category) else ()
            words += [f"{called(name)} = {called(label)}" for label in labels] or [called(name)]
        return {label: word for label, word in zip(self.labels, words, strict=True) if word != label}

    def row(self, row: Row) -> list[tuple[int, int]] | None:
        """The coordinates of a coded row that may differ from 0, as (place, value). None if the row is left out."""
        coordinates = [(0, self.most)]
        for name, column, start in zip(self.names, self.columns, self.starts, strict=True):
            code = row[name]
            if not 0 <= code < column.size:
                return None
            if isinstance(column, Category):
                coordinates.append((start + code, self.most))
            else:
                coordinates.append((start, centred(code, column.size, self.most)))
        return coordinates

    def target_of(self, row: Row) -> int | None:
        """From −1 to 1 in units of 2^-ROW_BITS; for a listed target 1 for yes, 0 for no. None if the row has none."""
        code = row[self.target]
        if isinstance(self.goal, Number):
            return centred(code, self.goal.size, 1 << ROW_BITS) if 0 <= code < self.goal.size else None
        return 1 if code in self.yes else 0 if code in self.no else None

    def margin(self, row: Row, weights: Sequence[int]) -> int | None:
        """w·x in units of 2^-(ROW_BITS + WEIGHT_BITS). None if the row is left out."""
        coordinates = self.row(row)
        return None if coordinates is None else sum(weights[place] * value for place, value in coordinates)

    def as_json(self) -> JsonObject:
        data: JsonObject = {
            "features": [[name, column.as_json()] for name, column in zip(self.names, self.columns, strict=True)],
            "target": [self.target, self.goal.as_json()],
        }
        return data | ({"yes": list(self.yes), "no": list(self.no)} if self.listed else {})


def wide(column: Number | Date | Category) -> int:
    return column.size if isinstance(column, Category) else 1


@dataclass(frozen=True)
class Model:
    """A trained model. It is public, because it was paid for and released."""

    layout: Layout
    weights: Weights

    @property
    def kind(self) -> str:
        return self.layout.kind

    @cached_property
    def scale(self) -> float:
        """How much the margin grows if a weight grows by one unit and its coordinate has its largest value."""
        return self.layout.most / MARGIN_UNITS

    def coefficients(self) -> dict[str, float]:
        """The weights in the columns' own units. The margin, or the predicted number, is the constant, plus each number
        times its coefficient, plus the coefficients of the listed values."""
        slopes = self.slopes()
        return {label: sum(a * w for a, w in zip(line, self.weights, strict=True)) + at for label, (at, line) in slopes}

    def slopes(self) -> list[tuple[str, tuple[float, list[float]]]]:
        """How each coefficient depends on the weights: a fixed number, and a factor for each weight."""
        layout, width = self.layout, self.layout.width
        out, middle = self._outward
        constant = [0.0] * width
        constant[0] = out * self.scale
        lines: list[list[float]] = [constant]
        for column, start in zip(layout.columns, layout.starts, strict=True):
            for place in range(start, start + wide(column)):
                line = [0.0] * width
                if isinstance(column, Category):
                    line[place] = out * self.scale
                else:
                    low, span = _span(column)
                    line[place] = 2 * out * self.scale / span
                    constant[place] = -out * self.scale * (2 * low / span + 1)
                lines.append(line)
        return list(zip(layout.labels, zip([middle] + [0.0] * (width - 1), lines, strict=True), strict=True))

    @property
    def _outward(self) -> tuple[float, float]:
        """The factor and the offset that turn [−1, 1] into the target's range; 1 and 0 for yes or no."""
        goal = self.layout.goal
        if not isinstance(goal, Number):
            return 1.0, 0.0
        return float(goal.diameter / 2), float((goal.lower + goal.upper) / 2)

    def margin(self, values: Mapping[str, Json]) -> float:
        """The margin of a row of written values. Numbers are clamped to the declared range, as in training."""
        total = float(self.weights[0])
        layout = self.layout
        for name, column, start in zip(layout.names, layout.columns, layout.starts, strict=True):
            value = values[name]
            if isinstance(column, Category):
                try:
                    total += self.weights[start + column.code(value)]
                except KeyError:
                    total += self.weights[start + column.code(column.unknown)]
            else:
                code = column.code(value)
                total += self.weights[start] * (2 * code / (column.size - 1) - 1)
        return total * self.scale

    def predict(self, values: Mapping[str, Json]) -> float:
        """The predicted number; for yes or no the chance of a yes or, if `sharp`, a score: yes from 0 up."""
        margin = self.margin(values)
        if self.kind == LOGISTIC:
            return 1 / (1 + math.exp(-max(min(margin, 40.0), -40.0)))
        out, middle = self._outward
        return middle + out * margin

    def as_json(self) -> JsonObject:
        return {"kind": self.kind} | self.layout.as_json() | {"bits": WEIGHT_BITS, "weights": list(self.weights)}


def _span(column: Number | Date) -> tuple[float, float]:
    """A column's lowest value and its width; days are counted from the first."""
    if isinstance(column, Date):
        return 0.0, float(column.size - 1)
    return float(column.lower), float(column.diameter)


@dataclass(frozen=True)
class CellsLayout(Layout):
    axes: tuple[CellAxis, ...] = ()
    kind = SHAPES
    most = 1 << ROW_BITS

    @property
    def needed(self) -> tuple[str, ...]:
        return (self.target,)

    def weights_at(self, place: int) -> int:
        return self.axes[place].size

    @property
    def wide_most(self) -> int:
        return MOST_CELLS if len(self.names) <= MOST_COLUMNS else 0

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


def model_from_json(data: Mapping[str, Json]) -> Model:
    with refusing("train.model", KeyError, TypeError, ValueError, IndexError):
        layout = _read_cells(data) if data.get("kind") == SHAPES else _read_layout(data)
        weights = tuple(int(weight) for weight in data["weights"])
    if len(weights) != layout.width or data.get("bits") != WEIGHT_BITS:
        raise AllowanceError("train.model")
    return Model(layout, weights)


def _read_layout(data: Mapping[str, Json]) -> Layout:
    columns = Schema.from_json({"columns": data["features"]}).columns
    [(target, goal)] = Schema.from_json({"columns": [data["target"]]}).columns.items()
    return Layout(
        tuple(columns),
        tuple(columns.values()),  # type: ignore[arg-type]
        target,
        goal,  # type: ignore[arg-type]
        tuple(data.get("yes", ())),
        tuple(data.get("no", ())),
        data.get("kind") == HINGE,
    )


def _read_cells(data: Mapping[str, Json]) -> CellsLayout:
    schema = Schema.from_json({"columns": [*data["features"], data["target"]]})
    refs = [read_ref(cell, schema) for cell in data["cells"]]
    if [base(ref) for ref in refs] != [name for name, _ in data["features"]]:
        raise AllowanceError("train.model")
    return layout_of(schema, refs, str(data["target"][0]), data.get("yes", ()), data.get("no", ()))
