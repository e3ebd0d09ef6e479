"""Answers with more parts than a picture or a page can hold: which parts are shown, and the note that says so.

Only the declared order or the released values decide, nothing else about the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nlargest
from itertools import islice
from math import inf
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.messages import plain, say

MOST_DRAWN = 200  # bars or ranges in one picture
MOST_REHEARSED = 2_000  # parts of a made-up answer drawn while the page loads
PAGE = 200  # rows of a table
LONG, FEWEST_TOGETHER = (12, 3)  # in lists longer than LONG, this many values near zero share a sentence


def drawn(values: Mapping[str, Any], largest: bool) -> list[str]:
    """The labels of a picture, in the declared order; of many, those of the `largest` values, or else the first."""
    if len(values) <= MOST_DRAWN:
        return list(values)
    if not largest:
        return list(islice(values, MOST_DRAWN))
    places = nlargest(
        MOST_DRAWN, enumerate(values.items()), key=lambda item: -inf if item[1][1] is None else item[1][1]
    )
    return [label for _, (label, _) in sorted(places, key=lambda item: item[0])]


def split_maybe_zero(answer: dp.Answer) -> tuple[list[str], list[str]]:
    """The parts to draw, and the parts to sum up in a sentence. The latter are values that may be zero: in a long list,
    and always where zero is the good news, because their intervals would look like findings. Else none."""
    ranges = answer.interval or {}
    none = [label for label in answer.value if answer.query.maybe_none(ranges.get(label), label)]
    if not answer.query.none_hoped and (len(answer.value) <= LONG or len(none) < FEWEST_TOGETHER):
        return list(answer.value), []
    together = set(none)
    return [label for label in answer.value if label not in together], none


def none_words(answer: dp.Answer, none: list[str]) -> str:
    if not none:
        return ""
    most = plain(max(0, *(answer.interval[label][1] for label in none)))  # noise may go below zero
    if answer.query.none_hoped:
        return say("many.none_hoped", none=len(none), most=most)
    unit = say(f"compare.unit.{answer.query.counted}", value=most)
    return say("many.none", none=len(none), most=most, unit=unit)


def words(shown: int, of: int, largest: bool) -> str:
    """The note under a picture that does not hold all parts, or "" if it does."""
    return "" if shown >= of else say("many.largest" if largest else "many.first", shown=shown, of=of)


def page(labels: Iterable[str], key: str) -> list[str]:
    """The rows of one page of a table. Draws a picker of the page if there are several."""
    names = list(labels)
    pages = -(-len(names) // PAGE)
    if pages < 2:
        return names
    at = st.number_input(say("many.page", pages=pages), 1, pages, 1, key=key, width=220)
    return names[(int(at) - 1) * PAGE : int(at) * PAGE]
