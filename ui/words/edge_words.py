"""Under a finding: what a bar or group that it names also holds, where that is at an end of a declared range."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import dpengine as dp
from dpengine.mechanisms.edges import at_end, beyond
from dpengine.mechanisms.telling import APART, leaders

LISTED = 3  # figures that a headline names


def edges(answer: dp.Answer) -> str:
    """Of the parts that the finding names, and of the largest: what those at an end of a declared range also hold."""
    query, value = answer.query, answer.value
    if not isinstance(value, dict | str) or query.named_by() is None:
        return ""
    if isinstance(value, str):
        named = [value]
    elif query.answer_kind == "label":
        named = list(value)
    else:
        state = query.state(value, answer.interval)
        named = [] if state and state != APART else _named(answer, state)
        if named or not state:
            named = list(dict.fromkeys([*named, *_largest(value)]))
    return " ".join(told for part in named if (told := beyond(query, part)))


def _largest(value: dict[str, Any]) -> list[str]:
    known = {part: one for part, one in value.items() if isinstance(one, int | float | Fraction)}
    return [max(known, key=known.__getitem__)] if known else []


def _named(answer: dp.Answer, state: str) -> list[str]:
    """The parts that a headline of several figures names."""
    query, ranges = answer.query, answer.interval or {}
    telling = [part for part in answer.value if not query.mute(ranges.get(part), part)]
    if len(telling) <= LISTED or not query.compared or not ranges:
        return listed(query, telling)
    first = leaders({part: ranges[part] for part in telling})
    if ends := [part for part in first if at_end(query, part)]:  # beside the largest between the ends
        return ends
    return first if len(first) <= LISTED and not state else []


def listed(query: dp.Query, telling: list[str]) -> list[str]:
    """The figures that a headline lists, of those that say something."""
    return telling if len(telling) <= LISTED else query.told_first(telling)[:LISTED]
