"""One step of a training as one aggregate: exact integers, but for σ, which every row computes of its own margin.

The weights come as a table of one row, so the statement is compiled once for all steps. Ibis writes `//` as a
division of floats and DuckDB's `>>` of a negative number is not a cut, so absolute values are shifted and their sign
put back.
"""

from __future__ import annotations

from functools import reduce
from operator import add, and_, or_
from typing import Any

import pyarrow as pa

from dpengine.features import LOGISTIC, MARGIN_UNITS, ROW_BITS, SHIFT, WEIGHT_BITS, Layout, multiplier
from dpengine.needs import MOST_MARGIN, Gradient
from dpengine.schema import Category

WEIGHTS = "weights"


def weights_table(layout: Layout, weights: tuple[int, ...]) -> pa.Table:
    """One row: the constant's weight, a number's, and a list of those of a category's labels."""
    cells: dict[str, Any] = {"w": pa.array([weights[0]], pa.int64())}
    for place, (column, start) in enumerate(zip(layout.columns, layout.starts, strict=True)):
        if isinstance(column, Category):
            cells[f"w{place}"] = pa.array([list(weights[start : start + column.size])], pa.list_(pa.int64()))
        else:
            cells[f"w{place}"] = pa.array([weights[start]], pa.int64())
    return pa.table(cells)


def beside_weights(rows: Any, layout: Layout) -> Any:
    """The rows, each with the weights beside it."""
    import ibis

    kinds = {"w": "int64"}
    for place, column in enumerate(layout.columns):
        kinds[f"w{place}"] = "array<int64>" if isinstance(column, Category) else "int64"
    return rows.cross_join(ibis.table(kinds, name=WEIGHTS))


def counted(rows: Any, names: dict[str, str], layout: Layout) -> Any:
    """Only rows that have every feature and the target."""
    columns = zip((*layout.names, layout.target), (*layout.columns, layout.goal), strict=True)
    held = [rows[names[name]].between(0, column.size - 1) for name, column in columns]
    if layout.kind == LOGISTIC:
        held.append(_among(rows[names[layout.target]], layout.yes + layout.no))
    return rows.filter(reduce(and_, held))


def coordinate(rows: Any, names: dict[str, str], layout: Layout, place: int) -> Any:
    """The coordinate of a number or a date."""
    column = layout.columns[place]
    return _centred(rows[names[layout.names[place]]], column.size, layout.most)


def margin(rows: Any, names: dict[str, str], layout: Layout) -> Any:
    """w·x of rows that have weights beside them, as `Layout.margin`."""
    parts = [rows.w * layout.most]
    for place, (name, column) in enumerate(zip(layout.names, layout.columns, strict=True)):
        if isinstance(column, Category):
            parts.append(rows[f"w{place}"][rows[names[name]]] * layout.most)
        else:
            parts.append(rows[f"w{place}"] * coordinate(rows, names, layout, place))
    return reduce(add, parts)


def target(rows: Any, names: dict[str, str], layout: Layout) -> Any:
    """As `Layout.target_of`."""
    code = rows[names[layout.target]]
    if layout.kind == LOGISTIC:
        return _among(code, layout.yes).ifelse(1, 0).cast("int64")
    return _centred(code, layout.goal.size, 1 << ROW_BITS)


def chance(found: Any) -> Any:
    """σ of an exact margin, a float."""
    return 1.0 / (1.0 + (-_within(found.cast("float64") / float(MARGIN_UNITS), MOST_MARGIN)).exp())


def asked(need: Gradient, rows: Any, names: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    """Rows with what each adds, and the sums over them, one for each coordinate."""
    layout = need.layout
    numbers = [place for place, column in enumerate(layout.columns) if not isinstance(column, Category)]
    kept = counted(rows, names, layout)
    codes = {names[name]: kept[names[name]] for name in layout.names}
    kept = kept.select(
        **codes, target=target(kept, names, layout),
        **{f"x{place}": coordinate(kept, names, layout, place) for place in numbers},
    )  # fmt: skip
    kept = beside_weights(kept, layout)
    parts = [kept.w * layout.most] + [kept[f"w{place}"] * kept[f"x{place}"] for place in numbers]
    parts += [kept[f"w{place}"][kept[names[name]]] * layout.most for place, name in _listed(layout)]
    kept = kept.mutate(margin=reduce(add, parts))
    if layout.kind == LOGISTIC:
        found = (chance(kept.margin) * float(2**need.bits)).floor().cast("int64") - kept.target * 2**need.bits
    else:
        found = _cut(kept.margin - kept.target * 2**WEIGHT_BITS, ROW_BITS + WEIGHT_BITS - need.bits)
    kept = kept.mutate(residual=_within(found, need.clip))
    pulls = {f"x{place}": kept.residual * kept[f"x{place}"] for place in numbers}
    kept = kept.mutate(whole=_cut(kept.residual * layout.most, ROW_BITS), **pulls)
    sums = {"g0": kept.whole.sum()}
    for place in numbers:
        sums[f"g{layout.starts[place]}"] = _cut(kept[f"x{place}"], ROW_BITS).sum()
    for place, name in _listed(layout):
        for code in range(layout.columns[place].size):
            sums[f"g{layout.starts[place] + code}"] = (kept[names[name]] == code).ifelse(kept.whole, 0).sum()
    return kept, sums


def _listed(layout: Layout) -> list[tuple[int, str]]:
    columns = enumerate(zip(layout.names, layout.columns, strict=True))
    return [(place, name) for place, (name, column) in columns if isinstance(column, Category)]


def _among(code: Any, codes: tuple[int, ...]) -> Any:
    return reduce(or_, [code == one for one in codes])


def _centred(code: Any, size: int, most: int) -> Any:
    return _cut((code * 2 - (size - 1)) * multiplier(most, size), SHIFT)


def _within(value: Any, edge: float) -> Any:
    import ibis

    return ibis.greatest(ibis.least(value, edge), -edge)


def _cut(value: Any, bits: int) -> Any:
    import ibis

    return (value.abs() >> ibis.literal(bits, "int64")) * value.sign() if bits else value
