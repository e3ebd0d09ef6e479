"""A row of `features.Layout` as Ibis expressions: coordinates, margin and target in exact integers.

The weights come as a table of one row, so all steps of a training share one compiled statement. Ibis compiles `//` to a
division of floats, and DuckDB's `>>` does not truncate negative numbers toward zero, so we shift absolute values and
put the sign back.
"""

from __future__ import annotations

from operator import add, and_

import pyarrow as pa

from dpengine.core.types import JsonObject
from dpengine.statistics.features import ROW_BITS, SHIFT, CellsLayout, Layout, multiplier
from dpengine.statistics.view import Expression, View, integer, joined, signed

WEIGHTS = "weights"


def weights_table(layout: Layout, weights: tuple[int, ...]) -> pa.Table:
    """One row: the constant's weight, each number's, and a list for each category's labels or cells."""
    cells: JsonObject = {"w": pa.array([weights[0]], pa.int64())}
    for place, start in enumerate(layout.starts):
        if many := layout.weights_at(place):
            cells[f"w{place}"] = pa.array([list(weights[start : start + many])], pa.list_(pa.int64()))
        else:
            cells[f"w{place}"] = pa.array([weights[start]], pa.int64())
    return pa.table(cells)


def beside_weights(rows: Expression, layout: Layout) -> Expression:
    """The rows, each with the weights."""
    import ibis

    kinds = {"w": "int64"}
    for place in range(len(layout.columns)):
        kinds[f"w{place}"] = "array<int64>" if layout.weights_at(place) else "int64"
    return rows.cross_join(ibis.table(kinds, name=WEIGHTS))


def counted(view: View, layout: Layout) -> View:
    """Only rows with every needed feature, and the target."""
    columns = zip((*layout.names, layout.target), (*layout.columns, layout.goal), strict=True)
    held = [view[name].between(0, column.size - 1) for name, column in columns if name in layout.needed]
    if layout.listed:
        held.append(view.among(view[layout.target], layout.yes + layout.no))
    return view.of(view.rows.filter(joined(and_, held)))


def weight_of(rows: Expression, place: int, code: Expression) -> Expression:
    """The weight of a category's label. Some engines index a list with 32 bits, which hold every code."""
    return rows[f"w{place}"][code.cast("int32")]


def coordinate(view: View, layout: Layout, place: int) -> Expression:
    """The coordinate of a number or a date."""
    return _centred(view[layout.names[place]], layout.columns[place].size, layout.most)


def margin(view: View, layout: Layout) -> Expression:
    """`Layout.margin`, w·x of rows with weights."""
    parts = [view.rows.w * layout.most]
    for place, name in enumerate(layout.names):
        if layout.weights_at(place):
            cell = layout.axes[place].expression(view) if isinstance(layout, CellsLayout) else view[name]
            parts.append(weight_of(view.rows, place, cell) * layout.most)
        else:
            parts.append(view.rows[f"w{place}"] * coordinate(view, layout, place))
    return joined(add, parts)


def target(view: View, layout: Layout) -> Expression:
    """`Layout.target_of`."""
    code = view[layout.target]
    if layout.listed:
        return view.among(code, layout.yes).ifelse(1, 0).cast("int64")
    return _centred(code, layout.goal.size, 1 << ROW_BITS)


def within(value: Expression, edge: float) -> Expression:
    import ibis

    return ibis.greatest(ibis.least(value, edge), -edge)


def cut_off(value: Expression, bits: int) -> Expression:
    """value / 2^bits, cut toward zero."""
    return signed(value.abs() >> integer(bits), value) if bits else value


def _centred(code: Expression, size: int, most: int) -> Expression:
    return cut_off((code * 2 - (size - 1)) * multiplier(most, size), SHIFT)
