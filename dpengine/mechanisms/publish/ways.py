"""Which way of publishing several columns is better: every column by itself at ε/k, or the whole row as one value at ε.

Both are (ε, δ)-DP for the row. The better one is the one whose averages and shares over all rows are nearer in the
worst column, which is what both promise (`Blurred.share`); where they are equal, the columns by themselves. It follows
from the declaration, the spend and the public number of people alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Column, ItemSet, Number, Schema
from dpengine.mechanisms.publish.of_rows import OfRows

ROW = "publish_row"
_OF_ONE_KIND: tuple[tuple[tuple[type[Column], ...], str], ...] = (
    ((Number, Date), "publish_number"),
    ((Category,), "publish_category"),
    ((ItemSet,), "publish_set"),
)


@dataclass(frozen=True)
class Chosen:
    """The question with the better promise, and the other one, where there is one."""

    query: OfRows
    other: OfRows | None = None

    @property
    def as_row(self) -> bool:
        return self.query.card.key == ROW


def key_of(schema: Schema, columns: Sequence[str]) -> str:
    """The question that publishes these columns one by one."""
    kinds = [schema[name] for name in columns]
    fits = (key for of, key in _OF_ONE_KIND if all(isinstance(column, of) for column in kinds))
    return next(fits, "publish_table") if kinds else "publish_table"


def best(build: Callable[[str, JsonObject], OfRows], schema: Schema, given: JsonObject) -> Chosen:
    """`build` makes a question from its key and parameters; what it refuses of the first way is refused here too."""
    apart = build(key_of(schema, given["columns"]), given)
    if len(apart.columns) < 2:
        return Chosen(apart)
    try:
        whole = build(ROW, given)
    except AllowanceError:  # more rows are possible than one can be drawn from: λ would be nearly 1
        return Chosen(apart)
    nearer = whole.promise().amount < apart.promise().amount
    return Chosen(whole, apart) if nearer else Chosen(apart, whole)
