"""Statistics of models: a training step, the check of a trained model, and second moments. All are exact integers;
only σ is a float.

**A training step.** The gradient of a row is r·x. Each kind of training has its residual r (`RESIDUALS`), for a row
with the exact integer margin w·x: as a reference in Python and as an expression for engines. Both are functions of this
row alone, in units of 2^-bits; `GradientSum` clamps r to its public bound and cuts what follows toward zero.

    linear    half the squared error:    r = w·x − y, y on [−1, 1]
    logistic  ln(1 + e^(∓w·x)):          r = σ(w·x) − y, y of 0 and 1. σ is the one float, floored to the lattice
    hinge     max(0, 1 − y·w·x):         r = −y where y·w·x < 1, else 0, y = ±1: a subgradient at the corner

For engines the weights come as a table of one row, so all steps of a training share one compiled statement. Ibis
compiles `//` to a division of floats, and DuckDB's `>>` does not truncate negative numbers toward zero, so we shift
absolute values and put the sign back.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from operator import add, and_
from types import MappingProxyType
from typing import Self

import numpy as np
import pyarrow as pa

from dpengine.core.types import Bits, Integers, JsonObject
from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.declared.schema import Category
from dpengine.statistics.features import (
    HINGE,
    LINEAR,
    LOGISTIC,
    MARGIN_UNITS,
    ROW_BITS,
    SHIFT,
    WEIGHT_BITS,
    CellsLayout,
    Layout,
    multiplier,
    toward_zero,
    wide,
)
from dpengine.statistics.need import Aggregate, Aggregated, Streamed, placed
from dpengine.statistics.view import Expression, View, integer, joined, signed, total

_WEIGHTS = "weights"
MOST_MARGIN = 40.0  # beyond, σ is 0 or 1 to more digits than the lattice has


@dataclass(frozen=True)
class WithWeights(Aggregate[tuple[int, ...]]):
    """A need that also reads a model's public weights, from a table named `weights`."""

    layout: Layout
    weights: tuple[int, ...]

    def compiled_as(self) -> Self:
        return replace(self, weights=())

    def tables(self) -> dict[str, pa.Table]:
        """The weights as one row: the constant's, then for each column its weight, or a list for its labels."""
        cells: JsonObject = {"w": pa.array([self.weights[0]], pa.int64())}
        for place, start in enumerate(self.layout.starts):
            if many := self.layout.weights_at(place):
                cells[f"w{place}"] = pa.array([list(self.weights[start : start + many])], pa.list_(pa.int64()))
            else:
                cells[f"w{place}"] = pa.array([self.weights[start]], pa.int64())
        return {_WEIGHTS: pa.table(cells)}


def _beside_weights(rows: Expression, layout: Layout) -> Expression:
    """Each row with the weights as further columns."""
    import ibis

    kinds = {"w": "int64"}
    for place in range(len(layout.columns)):
        kinds[f"w{place}"] = "array<int64>" if layout.weights_at(place) else "int64"
    return rows.cross_join(ibis.table(kinds, name=_WEIGHTS))


# A row of `features.Layout` as Ibis expressions: coordinates, margin and target in exact integers.


def _counted(view: View, layout: Layout) -> View:
    """Only rows with a value in every needed feature and a target."""
    columns = zip((*layout.names, layout.target), (*layout.columns, layout.goal), strict=True)
    held = [view[name].between(0, column.size - 1) for name, column in columns if name in layout.needed]
    if layout.listed:
        held.append(view.among(view[layout.target], layout.yes + layout.no))
    return view.of(view.rows.filter(joined(and_, held)))


def _weight_of(rows: Expression, place: int, code: Expression) -> Expression:
    """The weight of a category's label. Some engines index a list by 32 bits only; every code fits them."""
    return rows[f"w{place}"][code.cast("int32")]


def _coordinate(view: View, layout: Layout, place: int) -> Expression:
    """The coordinate of a number or date, as `Layout.row` has it."""
    return _centred(view[layout.names[place]], layout.columns[place].size, layout.most)


def _margin(view: View, layout: Layout) -> Expression:
    """`Layout.margin` as an expression: w·x of rows that have the weights beside them."""
    parts = [view.rows.w * layout.most]
    for place, name in enumerate(layout.names):
        if layout.weights_at(place):
            cell = layout.axes[place].expression(view) if isinstance(layout, CellsLayout) else view[name]
            parts.append(_weight_of(view.rows, place, cell) * layout.most)
        else:
            parts.append(view.rows[f"w{place}"] * _coordinate(view, layout, place))
    return joined(add, parts)


def _target(view: View, layout: Layout) -> Expression:
    """`Layout.target_of` as an expression."""
    code = view[layout.target]
    if layout.listed:
        return view.among(code, layout.yes).ifelse(1, 0).cast("int64")
    return _centred(code, layout.goal.size, 1 << ROW_BITS)


def _cut_off(value: Expression, bits: int) -> Expression:
    """value / 2^bits, truncated toward zero."""
    return signed(value.abs() >> integer(bits), value) if bits else value


def _centred(code: Expression, size: int, most: int) -> Expression:
    return _cut_off((code * 2 - (size - 1)) * multiplier(most, size), SHIFT)


@dataclass(frozen=True)
class Residual:
    residual: Callable[[int, int, int], int]  # of a margin, a target and the bits of the lattice
    expression: Callable[[Expression, int], Expression]  # the same, of rows with the columns margin and target


def _linear(margin: int, target: int, bits: int) -> int:
    return toward_zero(margin - (target << WEIGHT_BITS), ROW_BITS + WEIGHT_BITS - bits)


def _linear_expression(rows: Expression, bits: int) -> Expression:
    return _cut_off(rows.margin - rows.target * 2**WEIGHT_BITS, ROW_BITS + WEIGHT_BITS - bits)


def _logistic(margin: int, target: int, bits: int) -> int:
    away = max(min(margin / MARGIN_UNITS, MOST_MARGIN), -MOST_MARGIN)
    return math.floor(1 / (1 + math.exp(-away)) * (1 << bits)) - (target << bits)


def _logistic_expression(rows: Expression, bits: int) -> Expression:
    away = (rows.margin.cast("float64") / float(MARGIN_UNITS)).clip(-MOST_MARGIN, MOST_MARGIN)
    chance = 1.0 / (1.0 + (-away).exp())
    return (chance * float(2**bits)).floor().cast("int64") - rows.target * 2**bits


def _hinge(margin: int, target: int, bits: int) -> int:
    side = 1 if target else -1
    return -side << bits if side * margin < MARGIN_UNITS else 0


def _hinge_expression(rows: Expression, bits: int) -> Expression:
    side = rows.target * 2 - 1
    return (rows.margin * side < MARGIN_UNITS).ifelse(-side * 2**bits, 0).cast("int64")


RESIDUALS: Mapping[str, Residual] = MappingProxyType(
    {
        LINEAR: Residual(_linear, _linear_expression),
        LOGISTIC: Residual(_logistic, _logistic_expression),
        HINGE: Residual(_hinge, _hinge_expression),
    }
)


@dataclass(frozen=True)
class GradientSum(WithWeights):
    """The sum over rows of r·x in units of 2^-bits, x the row of `layout` and r its residual at the given weights,
    clamped to ±clip in those units (`RESIDUALS`).

    Every row by itself: the margin is an exact integer; r and each coordinate of r·x are cut toward zero, so the
    Euclidean norm of what a row adds is at most clip·‖x‖ ≤ clip, and no coordinate exceeds clip·K/2^ROW_BITS. A row
    without a margin or a target adds 0.
    """

    clip: int
    bits: int
    where: Predicate = EVERYONE

    def residual(self, margin: int, target: int) -> int:
        residual = RESIDUALS[self.layout.kind].residual(margin, target, self.bits)
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

    def expression(self, view: View) -> Expression:
        layout = self.layout
        columns = list(enumerate(zip(layout.names, layout.columns, strict=True)))
        numbers = [place for place, (_, column) in columns if not isinstance(column, Category)]
        listed = [(place, name) for place, (name, column) in columns if isinstance(column, Category)]
        view = _counted(view, layout)
        codes = {view.names[name]: view[name] for name in layout.names}
        coordinates = {f"x{place}": _coordinate(view, layout, place) for place in numbers}
        view = view.of(view.rows.select(**codes, target=_target(view, layout), **coordinates))
        rows = _beside_weights(view.rows, layout)
        parts = [rows.w * layout.most] + [rows[f"w{place}"] * rows[f"x{place}"] for place in numbers]
        parts += [_weight_of(rows, place, rows[view.names[name]]) * layout.most for place, name in listed]
        rows = rows.mutate(margin=joined(add, parts))
        residual = RESIDUALS[layout.kind].expression(rows, self.bits)
        rows = rows.mutate(residual=residual.clip(-self.clip, self.clip))
        pulls = {f"x{place}": rows.residual * rows[f"x{place}"] for place in numbers}
        rows = rows.mutate(whole=_cut_off(rows.residual * layout.most, ROW_BITS), **pulls)
        sums = {"g0": total(rows.whole)}
        for place in numbers:
            sums[f"g{layout.starts[place]}"] = total(_cut_off(rows[f"x{place}"], ROW_BITS))
        for place, name in listed:
            for code in range(layout.columns[place].size):
                held = (rows[view.names[name]] == code).ifelse(rows.whole, 0)
                sums[f"g{layout.starts[place] + code}"] = total(held)
        return rows.aggregate(**sums)

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        return tuple(int(columns[f"g{place}"][0]) for place in range(self.layout.width))


# The sums that check a trained model: over all rows, its predictions compared with the true targets.
#
# The model is public, so its prediction for a row is a function of this row's codes: an exact integer margin
# (`features.Layout.margin`) in a public bin. Rows without a margin or without a target are left out.

ONE = 1 << ROW_BITS + WEIGHT_BITS  # a margin of 1


@dataclass(frozen=True)
class ModelNeed(WithWeights):
    """A need that sorts rows into bins by the model's margin. Bin i holds margins from edges[i−1] up to edges[i]; the
    first bin has no lower end, the last no upper."""

    edges: tuple[int, ...]

    @property
    def bins(self) -> int:
        return len(self.edges) + 1

    def placed(self, rows: Sequence[Row]) -> Iterator[tuple[int, int, int]]:
        """The bin, the margin and the target of each row that counts."""
        for row in rows:
            margin, target = self.layout.margin(row, self.weights), self.layout.target_of(row)
            if margin is not None and target is not None and self.where.holds(row):
                yield bisect_right(self.edges, margin), margin, target

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        axes = self.layout.axes if isinstance(self.layout, CellsLayout) else ()
        return {name: "int64" for axis in axes for name in axis.stored(names)[1:]}

    def binned(self, view: View) -> Expression:
        """The rows that count, each with its margin, its target and its bin."""
        view = _counted(view.of(_beside_weights(view.rows, self.layout)), self.layout)
        margin, target = _margin(view, self.layout), _target(view, self.layout)
        rows = view.rows.mutate(margin=margin, target=target)
        above = [(rows.margin >= edge).ifelse(1, 0).cast("int64") for edge in self.edges]
        return rows.mutate(bin=joined(add, above))


@dataclass(frozen=True)
class HitsByMargin(ModelNeed):
    """For each bin of the margin, the number of rows that are a yes, then the number that are a no."""

    where: Predicate = EVERYONE

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        counts = [0] * (2 * self.bins)
        for place, _, target in self.placed(rows):
            counts[2 * place + 1 - target] += 1
        return tuple(counts)

    def expression(self, view: View) -> Expression:
        rows = self.binned(view)
        return rows.group_by(rows.bin, no=1 - rows.target).aggregate(rows=rows.count())

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        return placed(2 * columns["bin"] + columns["no"], columns["rows"], 2 * self.bins)


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
        for place, margin, target in self.placed(rows):
            error = self.residual(margin, target)
            sums[0] += error * error
            sums[1 + 2 * place] += 1
            sums[2 + 2 * place] += error
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


# The second moments of rows in the unit ball: Σ x·xᵀ, in exact integers, in one pass over the file.

PAIR_BITS = 32  # a product stays below 2^31


@dataclass(frozen=True)
class SecondMoments(Streamed[tuple[int, ...]]):
    """The sum over rows of x_i·x_j in units of 2^-bits, for i ≤ j, x the row of `layout`; every product is cut toward
    zero. Two different labels of one list are left out: no row holds both, so their sum is 0 on every table.

    A row that counts in a gradient (`GradientSum`) counts here. It adds a vector A of squared norm Σ_{i≤j} (x_i·x_j)² ≤
    ‖x‖⁴ ≤ 1, in units 4^bits at most. Before the cut the product of what two rows add is not negative:
    Σ_{i≤j} x_i·x_j·y_i·y_j = ((x·y)² + Σ x_i²·y_i²)/2. The cut takes less than 1 from each of the q sums that a row
    of p columns adds to, q = (p+1)(p+2)/2, so ⟨A, B⟩ > −2·√q·2^bits (Cauchy and Schwarz, twice).
    """

    layout: Layout
    bits: int
    where: Predicate = EVERYONE

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pair of coordinates (i, j) of each sum."""
        column_of = [-1]
        for place, column in enumerate(self.layout.columns):
            column_of += [place] * wide(column)
        width = self.layout.width
        return tuple((i, j) for i in range(width) for j in range(i, width) if i == j or column_of[i] != column_of[j])

    def change(self, rows: int, both: bool) -> int:
        """A bound on the squared ℓ2 norm of the change if a person's `rows` rows leave or come, or with `both` some
        leave and as many others come. ‖A − B‖² = ‖A‖² + ‖B‖² − 2⟨A, B⟩, with m rows on each side m² such products. For
        two rows x and y, with z_i = x_i·y_i, the product of their moments is Σ_{i≤j} z_i·z_j = ((Σz_i)² + Σz_i²)/2 ≥ 0,
        except for the cut to whole units (`slack`). So the change is at most 2m² plus that cut."""
        unit, columns = 1 << self.bits, len(self.layout.columns)
        if not both:
            return (rows * unit) ** 2
        slack = isqrt((columns + 1) * (columns + 2) // 2) + 1
        return 2 * rows**2 * unit * (unit + 2 * slack)

    def product(self, first: int, second: int) -> int:
        return self._cut_off(first * second)

    def of(self, rows: Sequence[Row]) -> tuple[int, ...]:
        places = {pair: place for place, pair in enumerate(self.pairs)}
        sums = [0] * len(places)
        for row in rows:
            coordinates = self.layout.row(row)
            if coordinates is None or self.layout.target_of(row) is None or not self.where.holds(row):
                continue
            for at, (i, first) in enumerate(coordinates):
                for j, second in coordinates[at:]:
                    sums[places[i, j]] += self.product(first, second)
        return tuple(sums)

    def stored(self, names: Mapping[str, str]) -> list[str]:
        return list(dict.fromkeys(names[name] for name in (*self.layout.names, self.layout.target)))

    def added(self, rows: Iterable[Mapping[str, Integers]], names: Mapping[str, str]) -> Integers:
        sums = np.zeros((self.layout.width, self.layout.width), dtype=np.int64)
        for some in rows:
            codes = {name: some[names[name]].astype(np.int64) for name in (*self.layout.names, self.layout.target)}
            held = self._held(codes)
            self._add(sums, [codes[name][held] for name in self.layout.names], int(held.sum()))
        return sums

    def summed(self, sums: Integers) -> tuple[int, ...]:
        return tuple(int(sums[pair]) for pair in self.pairs)

    def expression(self, view: View) -> Expression:
        """Each row becomes one number for each pair of its columns: the pair's place in the high bits, the product,
        shifted to be positive, in the low bits. The engine adds each pair's products, and only these sums leave it."""
        import ibis

        layout = self.layout
        view = _counted(view, layout)
        cells = {}
        for at, (name, column) in enumerate(zip(layout.names, layout.columns, strict=True)):
            cells[f"x{at}"] = view[name] if isinstance(column, Category) else _coordinate(view, layout, at)
        rows = view.rows.select(**cells)
        coordinates: list[tuple[Expression | int, Expression | int]] = [(0, layout.most)]  # their places and values
        for at, (column, start) in enumerate(zip(layout.columns, layout.starts, strict=True)):
            x = rows[f"x{at}"]
            coordinates.append((x + start, layout.most) if isinstance(column, Category) else (start, x))
        added = []
        for at, (i, first) in enumerate(coordinates):
            for j, second in coordinates[at:]:
                both = first * second
                cut = self._cut_off(both) if isinstance(both, int) else _cut_off(both, self._cut_bits)
                added.append(integer(0) + (i * layout.width + j) * 2**PAIR_BITS + cut + 2 ** (PAIR_BITS - 1))
        packed = rows.select(both=ibis.array(added).unnest())
        parts = packed.select(pair=packed.both >> integer(PAIR_BITS), product=packed.both & integer(2**PAIR_BITS - 1))
        return parts.group_by(parts.pair).aggregate(sum=total(parts["product"] - 2 ** (PAIR_BITS - 1)))

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        sums = dict(zip(columns["pair"].tolist(), columns["sum"].tolist(), strict=True))
        return tuple(sums.get(i * self.layout.width + j, 0) for i, j in self.pairs)

    @property
    def _cut_bits(self) -> int:
        """How many low bits of a product are cut off."""
        return 2 * ROW_BITS - self.bits

    def _cut_off(self, product: int) -> int:
        return toward_zero(product, self._cut_bits)

    def _held(self, codes: Mapping[str, Integers]) -> Bits:
        """The coded rows with every feature and the target."""
        layout = self.layout
        target = codes[layout.target]
        held = np.isin(target, layout.yes + layout.no) if layout.listed else (target >= 0) & (target < layout.goal.size)
        for name, column in zip(layout.names, layout.columns, strict=True):
            held = held & (codes[name] >= 0) & (codes[name] < column.size)
        return np.asarray(held, dtype=np.bool_)

    def _add(self, sums: Integers, codes: list[Integers], rows: int) -> None:
        """Add these rows to the sums. Float sums are exact here: fewer than 2^16 rows of at most 2^24 each."""
        layout, most = self.layout, self.layout.most
        both = self.product(most, most)
        sums[0, 0] += rows * both
        columns = zip(layout.columns, codes, strict=True)
        values = [None if isinstance(own, Category) else _values(code, own.size, most) for own, code in columns]
        for at, (column, start) in enumerate(zip(layout.columns, layout.starts, strict=True)):
            here, end = values[at], start + wide(column)
            if here is None:
                counts = np.bincount(codes[at], minlength=column.size) * both
                sums[0, start:end] += counts
                sums[np.arange(start, end), np.arange(start, end)] += counts
            else:
                sums[0, start] += self._cut(here * most).sum()
                sums[start, start] += self._cut(here * here).sum()
            for later in range(at + 1, len(codes)):
                there, other, first = values[later], layout.columns[later], layout.starts[later]
                last = first + wide(other)
                if here is None and there is None:
                    cells = np.bincount(codes[at] * other.size + codes[later], minlength=column.size * other.size)
                    sums[start:end, first:last] += cells.reshape(column.size, other.size) * both
                elif here is None or there is None:
                    listed, number = (codes[at], there) if here is None else (codes[later], here)
                    size = column.size if here is None else other.size
                    assert number is not None
                    added = np.bincount(listed, self._cut(number * most), size).astype(np.int64)
                    block = sums[start:end, first:last]
                    block += added.reshape(block.shape)
                else:
                    sums[start, first] += self._cut(here * there).sum()

    def _cut(self, products: Integers) -> Integers:
        return np.asarray(np.sign(products) * (np.abs(products) >> self._cut_bits), dtype=np.int64)


def _values(codes: Integers, size: int, most: int) -> Integers:
    """`_centred` for an array of codes."""
    places = (2 * codes - (size - 1)) * multiplier(most, size)
    return np.asarray(np.sign(places) * (np.abs(places) >> SHIFT), dtype=np.int64)
