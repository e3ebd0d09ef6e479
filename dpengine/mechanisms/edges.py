"""A bar or group at an end of a declared range also holds every value beyond that end, because such values count as the
end. This follows from the declaration alone, so the notes appear whether or not there are such values."""

from __future__ import annotations

from fractions import Fraction

from dpengine.core.printed import measured
from dpengine.core.types import Json
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import AGAIN, MERGED, Grouped
from dpengine.declared.schema import Number
from dpengine.mechanisms.cuts import figure
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say
from dpengine.messages.numbers import day

NEAR = Fraction(1, 10)  # of the range


def beyond(query: AnyQuery, part: str) -> str:
    """The note that a bar or group at an end of the declared range also holds the values beyond that end. Empty for all
    other parts, and for groups that recur, such as weekdays."""
    end = _end(query, part)
    if end is None:
        return ""
    column, code = end
    kind, write = ("days", day) if isinstance(column, Date) else ("range", figure)
    ends = {"lower": write(column.text(0)), "upper": write(column.text(column.size - 1))}
    return say(f"edge.{kind}.{code}", name=query.shown().get(part, part), **ends)


def near_end(query: AnyQuery, value: Json, interval: Json) -> str:
    """Is an answer close to the "upper" or "lower" end of its column's range? Empty if not, if its own range reaches
    into the other half, or if only cells that fit count. An end at 0 is ignored: usually nothing lies beyond it."""
    if query.answer_column in query.where.fitting():
        return ""
    column = query.facts.schema.columns.get(query.answer_column)
    if query.answer_kind != "place" or not isinstance(column, Number) or not isinstance(value, int | float | Fraction):
        return ""
    low, high = column.ends
    first, last = interval if isinstance(interval, tuple) else (value, value)
    margin, middle = (high - low) * NEAR, (low + high) / 2
    if high != 0 and value >= high - margin and first >= middle:
        return "upper"
    return "lower" if low != 0 and value <= low + margin and last <= middle else ""


def near_end_words(query: AnyQuery, code: str) -> str:
    """The note that the truth may lie farther out than an answer at this end."""
    column = query.facts.schema.number(query.answer_column)
    end = measured(figure(column.text(column.size - 1 if code == "upper" else 0)), column.measure)
    return say(f"edge.near.{code}", column=query.answer_column, end=end)


def at_end(query: AnyQuery, part: str) -> bool:
    """May the part hold values from outside the declared range?"""
    return _end(query, part) is not None


def named(query: AnyQuery, part: str) -> str:
    """The name of a part, with what else it holds at an end of the range: “December 2024 and everything later”."""
    name, end = query.shown().get(part, part), _end(query, part)
    if end is None:
        return name
    column, code = end
    return say(f"edge.named.{'days' if isinstance(column, Date) else 'range'}.{code}", name=name)


def _end(query: AnyQuery, part: str) -> tuple[Number | Date, str] | None:
    """The column of the parts, and the end of its range at which this part lies; None if it lies at neither, or if only
    cells that fit count."""
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
    if part not in (first, last) or any(query.facts.schema[name] is column for name in query.where.fitting()):
        return None
    return column, "both" if first == last else "lower" if part == first else "upper"
