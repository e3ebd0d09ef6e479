"""Heights of a smooth curve or a map as a person reads them: per round numbers of a column, where they are greatest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpengine.core.types import Floats
from dpengine.mechanisms.curves.density import Density
from dpengine.messages import plain, say
from dpengine.released import curves


def unit(query: Density, shares: bool = False) -> str:
    """“% of people per 500 of income”: what heights are told in."""
    _, steps = curves.scale_of(query)
    share = shares or query.people is not None
    kind = "share" if share else "people" if query.facts.unit.id_column is None else "rows"
    told = {"step": " × ".join(plain(step) for step in steps), "columns": " × ".join(query.columns)}
    return say(f"density.unit.{kind}", **told)


def reach(query: Density) -> tuple[Fraction, Fraction]:
    """The half-widths for the whole curve and for one point, in that unit."""
    promise, factor = query.promise(), Fraction(curves.scale_of(query)[0])
    return promise.alpha * factor, promise.pointwise * factor


def headline(query: Density, value: dict[str, float]) -> str:
    """Where it is highest, unless a flat one fits the band."""
    heights, alpha = curves.heights(query, value), float(query.promise().alpha)
    if heights.max() - heights.min() <= 2 * alpha:
        return say("answer.density_flat")
    return say("answer.density", at=top(query, heights))


def top(query: Density, heights: Floats) -> str:
    """The grid point with the greatest height, to what the bandwidth can tell apart."""
    places = np.unravel_index(int(heights.argmax()), heights.shape)
    told = []
    for grid, place, width in zip(query.grids(), places, query.widths, strict=True):
        digits = -int(np.floor(np.log10(float(width))))
        near = round(float(grid[int(place)]), digits)
        told.append(plain(int(near) if digits <= 0 else near))
    return say("who.and").join(told)
