"""What a bar or group at an end of a declared range also holds: every value beyond that end, because values outside the
range count as its ends. It follows from the declaration alone, and is said whether or not there are any."""

from __future__ import annotations

from fractions import Fraction

from dpengine.core.json_types import Json
from dpengine.core.printed import measured
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import AGAIN, MERGED, Grouped
from dpengine.declared.schema import Number
from dpengine.mechanisms.cuts import figure
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say
from dpengine.messages.numbers import day

NEAR = Fraction(1, 10)  # of the range


def beyond(query: AnyQuery, part: str) -> str:
    """One sentence for a part of an answer at an end of the range; empty elsewhere, and where parts come again."""
    found = _end(query, part)
    if found is None:
        return ""
    column, code = found
    kind, write = ("days", day) if isinstance(column, Date) else ("range", figure)
    ends = {"lower": write(column.text(0)), "upper": write(column.text(column.size - 1))}
    return say(f"edge.{kind}.{code}", name=query.shown().get(part, part), **ends)


def near_end(query: AnyQuery, value: Json) -> str:
    """Of an answer among a column's values that lies close to an end of its range: that the truth may lie beyond. At 0
    a range usually ends because nothing is less."""
    column = query.facts.schema.columns.get(query.answer_column)
    if query.answer_kind != "place" or not isinstance(column, Number) or not isinstance(value, int | float | Fraction):
        return ""
    low, high = column.ends
    margin = (high - low) * NEAR
    code = "upper" if value >= high - margin else "lower" if low != 0 and value <= low + margin else ""
    if not code:
        return ""
    end = measured(figure(column.text(column.size - 1 if code == "upper" else 0)), column.measure)
    return say(f"edge.near.{code}", column=query.answer_column, end=end)


def at_end(query: AnyQuery, part: str) -> bool:
    """May it hold what lies outside the declared range?"""
    return _end(query, part) is not None


def named(query: AnyQuery, part: str) -> str:
    """The name of a part at an end of the range, with what else it holds: “December 2024 and everything later”."""
    name, found = query.shown().get(part, part), _end(query, part)
    if found is None:
        return name
    column, code = found
    return say(f"edge.named.{'days' if isinstance(column, Date) else 'range'}.{code}", name=name)


def _end(query: AnyQuery, part: str) -> tuple[Number | Date, str] | None:
    """The column that parts are made of, and at which of its ends a part is; None where it is at none."""
    by = query.named_by()
    if isinstance(by, Grouped):
        column: object = query.facts.schema[by.column]
        if by.rule in (*AGAIN, MERGED) or not isinstance(column, (Number, Date)):
            return None
        first, last = by.labels[by.of(0)], by.labels[by.of(column.size - 1)]
    elif isinstance(by, (Number, Date)):
        column, labels = by, query.labels()
        first, last = labels[0], labels[-1]
    else:
        return None
    if part not in (first, last):
        return None
    return column, "both" if first == last else "lower" if part == first else "upper"
