"""A curve of shares in words."""

from __future__ import annotations

import dpengine as dp
from dpengine.messages.numbers import day, local, setting
from dpengine.released.curves import halfway


def halfway_words(answer: dp.Answer) -> tuple[str, str, str] | None:
    """The value that half of the rows are at or below, and between which ones it is; only where a curve tells."""
    names = list(answer.value)
    lows, highs = zip(*(answer.interval[name] for name in names), strict=True)
    found = halfway([answer.value[name] for name in names], lows, highs)
    if found is None:
        return None
    column = answer.query.facts.schema[answer.query.answer_column]
    write = day if isinstance(column, dp.Date) else local if getattr(column, "years", False) else setting
    told = [write(names[place]) for place in found]
    return told[0], told[1], told[2]
