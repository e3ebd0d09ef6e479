"""Shares in a first look, of everyone and of one group; how much a column shows beyond noise; which columns go
together. All of it is free.

Shares      s = c/t, c a cell of a bought marginal and t a sum of its cells that includes c: all rows, or one group.
            Σ a·cells = 0 for a = 1_c − s·1_t on the true cells. So with the released x and X, x − s·X is within the
            reach of that sum, √(2·L·(A − 2·B·s + C·s²)): A is the variance of x, C of X, B their covariance. The range
            is every s between 0 and 1 for which it is; everything for no rows, or where X may be zero. It holds the
            true share whenever this one sum is within its reach, and each cell has at most three such sums, which are
            in the family that `look` claims. For everyone, where the number of rows is public, it is intersected with
            the range of the cell over that number, which the same claim holds.
Shown       the sum of the lower ends of all bars but the largest: at least this many rows are elsewhere, on the claim.
Goes        two columns are independent only if each value of the second has the same share in every group of the first.
together    Clear: two groups have disjoint ranges for one value, so on the claim the shares differ, and the columns are
            not independent. Perhaps: each of two groups has a released share outside the other's range, which noise
            alone may cause. Else unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Floats, Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Grouped, base, ref_json
from dpengine.declared.schema import Category
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.released.look import Figure, Look, figures_of, item_shares

CLEAR, PERHAPS, UNKNOWN, ESTIMATED = "clear", "perhaps", "unknown", "estimated"


@dataclass(frozen=True)
class Apart:
    """Whether two columns go together, and where that shows most: at one value of the second column, in two groups of
    the first."""

    state: str
    value: str = ""
    most: Figure | None = None  # labels are the groups
    least: Figure | None = None


def one_question(look: Look, column: str, by: str, group: str) -> tuple[str, JsonObject]:
    """The key and the parameters of the question that shows a column for one group of `by`, where the two columns were
    not bought together."""
    asked: Json = column
    if column not in look.query.items and isinstance(look.query.facts.schema[column], Date):
        asked = ref_json(look.query.columns[look.place(column)])
    return "histogram", {"column": asked, "where": [_condition(look, by, group)]}


def _condition(look: Look, by: str, group: str) -> list[Json]:
    ref, declared = look.query.columns[look.place(by)], look.query.facts.schema[by]
    if not isinstance(ref, Grouped):
        return [base(ref), "in", [group]]
    if not isinstance(declared, Category):
        return [ref_json(ref), "in", [group]]
    return [by, "in", [declared.value(code) for code in range(declared.size) if ref.labels[ref.of(code)] == group]]


def of_everyone(look: Look, column: str) -> list[Figure]:
    """The share of all rows in each value or group of a column."""
    if column in look.query.items:
        return item_shares(look.query, look.raw, look.log_of_sums, column)
    place = look.place(column)
    cells = look.marginals[(place,)]
    low, high = _ranges(look, (place,), cells, cells.sum(), (0,))
    if look.query.layout.known:  # a share is then a number over a known one, and no less exact than its bar
        reach = look.query.reach((place,))
        low = np.maximum(low, np.clip((cells - reach) / look.rows, 0.0, 1.0))
        high = np.minimum(high, np.clip((cells + reach) / look.rows, 0.0, 1.0))
    return _figures(look.query.cell_labels[place], cells, cells.sum(), low, high)


def of_group(look: Look, column: str, groups: Mapping[str, str]) -> list[Figure]:
    """For one group (or for the rows in two groups, of one column each), the share of its rows with each value of
    `column`: measured or estimated."""
    labels, (cells, measured) = look.query.cell_labels[look.place(column)], _of_rows(look, column, groups)
    if not measured:
        return _estimated(labels, cells / (cells.sum() or 1.0))
    part = _part(look, column, groups)
    low, high = _ranges(look, part, cells, cells.sum(), (part.index(look.place(column)),))
    return _figures(labels, cells, cells.sum(), low, high)


def counts_of_group(look: Look, column: str, groups: Mapping[str, str]) -> list[Figure]:
    """For one group (or for the rows in two groups, of one column each), the number of its rows with each value of
    `column`: measured or estimated."""
    labels, (cells, measured) = look.query.cell_labels[look.place(column)], _of_rows(look, column, groups)
    if not measured:
        return _estimated(labels, look.rows * cells)
    reach = look.reach(_part(look, column, groups))
    pairs = zip(labels, np.clip(cells, 0, None), strict=True)
    return [Figure(label, float(cell), max(float(cell) - reach, 0.0), float(cell) + reach) for label, cell in pairs]


def _estimated(labels: Sequence[str], values: Floats) -> list[Figure]:
    return [Figure(label, float(value), None, None, "estimated") for label, value in zip(labels, values, strict=True)]


def _part(look: Look, column: str, groups: Mapping[str, str]) -> Columns:
    return tuple(sorted(look.place(name) for name in (column, *groups)))


def _of_rows(look: Look, column: str, groups: Mapping[str, str]) -> tuple[Floats, bool]:
    """For the rows in these groups: the column's measured cells, and True; if they were not measured, the estimated
    probability of each cell, and False."""
    at = {look.place(name): name for name in groups}
    for place, name in at.items():
        if groups[name] not in look.query.cell_labels[place] or name == column:
            raise AllowanceError("look.label", column=name)
    part = _part(look, column, groups)
    if part not in look.marginals:
        return look.estimated_among({name: [label] for name, label in groups.items()}, column), False
    cells = look.marginals[part]
    for axis, place in reversed(list(enumerate(part))):
        if place in at:
            cells = np.take(cells, [look.query.cell_labels[place].index(groups[at[place]])], axis=axis).squeeze(axis)
    return cells, True


def shares(look: Look, by: str, column: str) -> tuple[Floats, Floats]:
    """For a bought pair, two tables with a row for each group of `by`: the least and the largest share of each value of
    `column` in that group."""
    first, second = look.place(by), look.place(column)
    part = (min(first, second), max(first, second))
    cells = _turned(look, first, second)
    return _ranges(look, part, cells, cells.sum(axis=1, keepdims=True), (part.index(second),))


def shown_beyond_noise(look: Look, column: str) -> float:
    """How much a picture shows beyond noise: the share of rows that are certainly outside the largest bar. Near 0 where
    nearly all rows are in one bar, or where every bar may be zero."""
    least = [max(figure.low or 0.0, 0.0) for figure in of_everyone(look, column)]
    return sum(least) - max(least, default=0.0)


def unlike(group: Sequence[Figure], everyone: Sequence[Figure]) -> float:
    """By how much a group certainly differs from everyone: half the sum of the gaps between the ranges of the two; 0
    for a group without ranges."""
    if any(figure.low is None for figure in group):
        return 0.0
    pairs = zip(group, everyone, strict=True)
    gaps = (max((own.low or 0.0) - _high(other), (other.low or 0.0) - _high(own), 0.0) for own, other in pairs)
    return sum(gaps) / 2


def together(look: Look, by: str, column: str) -> Apart:
    """Whether the shares of `column`'s values differ between the groups of `by`, and where that shows most."""
    first, second = look.place(by), look.place(column)
    if (min(first, second), max(first, second)) not in look.marginals:
        return Apart(ESTIMATED)
    low, high = shares(look, by, column)
    cells = _turned(look, first, second)
    total = cells.sum(axis=1, keepdims=True)
    middle = np.clip(np.divide(cells, total, out=np.zeros_like(cells), where=total > 0), low, high)
    rows, columns = (low.argmax(axis=0), high.argmin(axis=0)), np.arange(low.shape[1])
    first_row, last_row = (rows[0], columns), (rows[1], columns)
    apart = low[first_row] - high[last_row]
    outside = np.minimum(middle[first_row] - high[last_row], low[first_row] - middle[last_row])
    at = int(apart.argmax())
    state = CLEAR if apart[at] > 0 else PERHAPS
    if state == PERHAPS and outside[at := int(outside.argmax())] <= 0:
        return Apart(UNKNOWN)
    groups = look.query.cell_labels[first]
    most, least = (
        Figure(groups[row[at]], float(middle[row[at], at]), float(low[row[at], at]), float(high[row[at], at]))
        for row in rows
    )
    return Apart(state, look.query.cell_labels[second][at], most, least)


def _high(figure: Figure) -> float:
    return 1.0 if figure.high is None else figure.high


def _turned(look: Look, first: int, second: int) -> Floats:
    cells = look.marginals[(min(first, second), max(first, second))]
    return cells if first < second else cells.T


def _ranges(look: Look, part: Columns, cells: Floats, total: Floats, over: tuple[int, ...]) -> tuple[Floats, Floats]:
    """The lower and the upper ends of the shares cells/total. Each total is the sum of a marginal over its axes `over`.
    All cells of a marginal have noise of one variance, and so have all such sums."""
    shape = [look.query.axes[place].size for place in part]
    cell, whole = np.zeros(shape), np.zeros(shape)
    cell[(0,) * len(shape)] = 1
    whole[tuple(slice(None) if axis in over else 0 for axis in range(len(shape)))] = 1
    low, high = look.ranges.ratios(part, cells, total, cell, whole, look.log_of_sums)
    return np.nan_to_num(np.clip(low, 0.0, 1.0), nan=0.0), np.nan_to_num(np.clip(high, 0.0, 1.0), nan=1.0)


def _figures(labels: Sequence[str], cells: Floats, total: float, low: Floats, high: Floats) -> list[Figure]:
    middle = np.clip(cells / total if total > 0 else np.full(len(cells), 1 / len(cells)), low, high)
    return figures_of(labels, middle, low, high)
