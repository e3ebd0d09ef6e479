"""The second moments of rows in the unit ball: Σ x·xᵀ, in exact integers, in one pass over the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from dpengine.core.types import Bits, Integers
from dpengine.declared.conditions import EVERYONE, Predicate, Row
from dpengine.declared.schema import Category
from dpengine.statistics import feature_expressions as features
from dpengine.statistics.features import ROW_BITS, SHIFT, Layout, multiplier, toward_zero, wide
from dpengine.statistics.need import Aggregated, Streamed
from dpengine.statistics.view import Expression, View, integer, total

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
        """The coordinates of each sum."""
        column_of = [-1]
        for place, column in enumerate(self.layout.columns):
            column_of += [place] * wide(column)
        width = self.layout.width
        return tuple((i, j) for i in range(width) for j in range(i, width) if i == j or column_of[i] != column_of[j])

    def change(self, rows: int, both: bool) -> int:
        """A bound on the squared ℓ2 norm of one person's change; `both`: some rows leave and others come. ‖A − B‖² =
        ‖A‖² + ‖B‖² − 2⟨A, B⟩, with m rows on each side m² such products. For two rows x and y, with z_i = x_i·y_i, the
        product of their moments is Σ_{i≤j} z_i·z_j = ((Σz_i)² + Σz_i²)/2 ≥ 0, except for the cut to whole units
        (`lost`). So the change is at most 2m² plus that cut."""
        unit, columns = 1 << self.bits, len(self.layout.columns)
        if not both:
            return (rows * unit) ** 2
        lost = isqrt((columns + 1) * (columns + 2) // 2) + 1
        return 2 * rows**2 * unit * (unit + 2 * lost)

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
        """A row becomes one number for each pair of its columns: the pair's place in the high bits, the product, made
        positive, in the low bits. The engine adds the products of each pair, and only these sums leave it."""
        import ibis

        layout = self.layout
        view = features.counted(view, layout)
        rows = view.rows.select(
            **{
                f"x{at}": view[name] if isinstance(column, Category) else features.coordinate(view, layout, at)
                for at, (name, column) in enumerate(zip(layout.names, layout.columns, strict=True))
            }
        )
        coordinates: list[tuple[Expression | int, Expression | int]] = [(0, layout.most)]  # their places and values
        for at, (column, start) in enumerate(zip(layout.columns, layout.starts, strict=True)):
            x = rows[f"x{at}"]
            coordinates.append((x + start, layout.most) if isinstance(column, Category) else (start, x))
        added = []
        for at, (i, first) in enumerate(coordinates):
            for j, second in coordinates[at:]:
                both = first * second
                cut = self._cut_off(both) if isinstance(both, int) else features.cut_off(both, self._lost)
                added.append(integer(0) + (i * layout.width + j) * 2**PAIR_BITS + cut + 2 ** (PAIR_BITS - 1))
        packed = rows.select(both=ibis.array(added).unnest())
        parts = packed.select(pair=packed.both >> integer(PAIR_BITS), product=packed.both & integer(2**PAIR_BITS - 1))
        return parts.group_by(parts.pair).aggregate(sum=total(parts["product"] - 2 ** (PAIR_BITS - 1)))

    def shape(self, columns: Aggregated) -> tuple[int, ...]:
        sums = dict(zip(columns["pair"].tolist(), columns["sum"].tolist(), strict=True))
        return tuple(sums.get(i * self.layout.width + j, 0) for i, j in self.pairs)

    @property
    def _lost(self) -> int:
        """The number of bits cut off a product."""
        return 2 * ROW_BITS - self.bits

    def _cut_off(self, product: int) -> int:
        return toward_zero(product, self._lost)

    def _held(self, codes: Mapping[str, Integers]) -> Bits:
        """Rows with every feature and the target."""
        layout = self.layout
        target = codes[layout.target]
        held = np.isin(target, layout.yes + layout.no) if layout.listed else (target >= 0) & (target < layout.goal.size)
        for name, column in zip(layout.names, layout.columns, strict=True):
            held = held & (codes[name] >= 0) & (codes[name] < column.size)
        return np.asarray(held, dtype=np.bool_)

    def _add(self, sums: Integers, codes: list[Integers], rows: int) -> None:
        """Add `rows` rows. Sums of floats are exact: below 2^16 rows of at most 2^24 each."""
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
        return np.asarray(np.sign(products) * (np.abs(products) >> self._lost), dtype=np.int64)


def _values(codes: Integers, size: int, most: int) -> Integers:
    """`features.centred` of every code."""
    places = (2 * codes - (size - 1)) * multiplier(most, size)
    return np.asarray(np.sign(places) * (np.abs(places) >> SHIFT), dtype=np.int64)
