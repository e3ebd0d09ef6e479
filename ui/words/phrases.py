"""Phrases that headlines share: ends of declared ranges, synthetic tables, densities and curves."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np

import dpengine as dp
from dpengine.core.types import Floats
from dpengine.mechanisms.answer_state import APART, leaders
from dpengine.mechanisms.curves.density import Density
from dpengine.mechanisms.edges import at_end, beyond
from dpengine.messages import plain, say
from dpengine.messages.numbers import day, local, setting
from dpengine.released import curves
from dpengine.released.curves import halfway
from dpengine.released.look import Look
from dpengine.released.synthetic import KeptTogether

LISTED = 3  # figures that a headline names


def edges(answer: dp.Answer) -> str:
    """Sentences about the parts that the headline names, and the largest part: what else a part at an end of a declared
    range holds. Empty if no such part is at an end."""
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
    return " ".join(note for part in named if (note := beyond(query, part)))


def _largest(value: dict[str, Any]) -> list[str]:
    known = {part: number for part, number in value.items() if isinstance(number, int | float | Fraction)}
    return [max(known, key=known.__getitem__)] if known else []


def _named(answer: dp.Answer, state: str) -> list[str]:
    """The parts that a headline of several figures names; none if too many may be the largest."""
    query, ranges = answer.query, answer.interval or {}
    telling = [part for part in answer.value if not query.mute(ranges.get(part), part)]
    if len(telling) <= LISTED or not query.compared or not ranges:
        return listed_edges(query, telling)
    first = leaders({part: ranges[part] for part in telling})
    if ends := [part for part in first if at_end(query, part)]:  # beside the largest between the ends
        return ends
    return first if len(first) <= LISTED and not state else []


def listed_edges(query: dp.Query, telling: list[str]) -> list[str]:
    """The parts that a headline lists, of those that say something."""
    return telling if len(telling) <= LISTED else query.headline_parts(telling)[:LISTED]


# What a synthetic table does not keep; the sentence goes wherever the answer goes.


def not_kept(answer: dp.Answer, follows: Collection[str] = ()) -> str:
    """A sentence on what a table fitted to counts does not keep; else empty. `follows`: columns with values from
    another answer."""
    if answer.query.makes_rows != "fitted" or not isinstance(answer.value, Look):
        return ""
    kept = KeptTogether(answer.value)
    parts = [say("kept.pairs", many=len(kept.apart), all=kept.all_pairs)] if kept.apart else []
    parts += [_threes(kept)] if len(kept.names) > 2 + (kept.threes == kept.all_threes) else []
    uneven = [name for name in kept.uneven if name not in follows]
    parts += [say("kept.averages", columns=uneven)] if uneven else []
    parts.append(say(f"kept.rare.{answer.query.counted}", rows=kept.reach(1)))
    return say("kept.not", parts="; ".join(parts))


def _threes(kept: KeptTogether) -> str:
    if kept.threes == kept.all_threes:
        return say("kept.four")
    return say("kept.threes_some", some=kept.threes) if kept.threes else say("kept.threes")


def threes(kept: KeptTogether) -> str:
    """A sentence on what was measured of three columns together; empty if there are only two columns."""
    if not kept.all_threes:
        return ""
    if kept.threes == kept.all_threes:
        return say("synthetic_page.threes_all") if len(kept.names) > 3 else ""
    return say("synthetic_page.threes_some" if kept.threes else "synthetic_page.threes", some=kept.threes)


# Heights of a smooth curve or a map as a person reads them: per round numbers of a column, where they are greatest.


def density_unit(query: Density, shares: bool = False) -> str:
    """The unit of a curve's heights, such as “% of people per 500 of income”."""
    _, steps = curves.scale_of(query)
    share = shares or query.people is not None
    kind = "share" if share else "people" if query.facts.unit.id_column is None else "rows"
    facts = {"step": " × ".join(plain(step) for step in steps), "columns": " × ".join(query.columns)}
    return say(f"density.unit.{kind}", **facts)


def density_reach(query: Density) -> tuple[Fraction, Fraction]:
    """The half-widths of the band for the whole curve and for one point, in the unit of the drawn heights."""
    promise, factor = query.promise(), Fraction(curves.scale_of(query)[0])
    return promise.alpha * factor, promise.pointwise * factor


def density_headline(query: Density, value: dict[str, float]) -> str:
    """A sentence: where the curve is highest, or that a flat curve fits the band."""
    heights, alpha = curves.heights(query, value), float(query.promise().alpha)
    if heights.max() - heights.min() <= 2 * alpha:
        return say("answer.density_flat")
    return say("answer.density", at=density_top(query, heights))


def density_top(query: Density, heights: Floats) -> str:
    """The grid point with the greatest height as text, rounded to the bandwidth."""
    places = np.unravel_index(int(heights.argmax()), heights.shape)
    places_shown = []
    for grid, place, width in zip(query.grids(), places, query.widths, strict=True):
        digits = -int(np.floor(np.log10(float(width))))
        near = round(float(grid[int(place)]), digits)
        places_shown.append(plain(int(near) if digits <= 0 else near))
    return say("who.and").join(places_shown)


# A curve of shares in words.


def halfway_words(answer: dp.Answer) -> tuple[str, str, str] | None:
    """As text, the value that half of the rows are at or below, and its range; None if the curve does not show it."""
    names = list(answer.value)
    lows, highs = zip(*(answer.interval[name] for name in names), strict=True)
    found = halfway([answer.value[name] for name in names], lows, highs)
    if found is None:
        return None
    column = answer.query.facts.schema[answer.query.answer_column]
    write = day if isinstance(column, dp.Date) else local if getattr(column, "years", False) else setting
    values = [write(names[place]) for place in found]
    return values[0], values[1], values[2]
