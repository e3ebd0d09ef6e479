"""What a bar or group at an end of a declared range also holds: every value beyond that end, because values outside the
range count as its ends. It follows from the declaration alone, and is said whether or not there are any."""

from __future__ import annotations

from dpengine.declared.date_column import Date
from dpengine.declared.grouped import AGAIN, MERGED, Grouped
from dpengine.declared.schema import Number
from dpengine.mechanisms.cuts import figure
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say
from dpengine.messages.numbers import day


def beyond(query: AnyQuery, part: str) -> str:
    """One sentence for a part of an answer at an end of the range; empty elsewhere, and where parts come again."""
    by = query.named_by()
    if isinstance(by, Grouped):
        column: object = query.facts.schema[by.column]
        if by.rule in (*AGAIN, MERGED) or not isinstance(column, (Number, Date)):
            return ""
        first, last = by.labels[by.of(0)], by.labels[by.of(column.size - 1)]
    elif isinstance(by, (Number, Date)):
        column, labels = by, query.labels()
        first, last = labels[0], labels[-1]
    else:
        return ""
    if part not in (first, last):
        return ""
    kind, write = ("days", day) if isinstance(column, Date) else ("range", figure)
    ends = {"lower": write(column.text(0)), "upper": write(column.text(column.size - 1))}
    code = "both" if first == last else "lower" if part == first else "upper"
    return say(f"edge.{kind}.{code}", name=query.shown().get(part, part), **ends)
