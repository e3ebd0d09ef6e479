"""Cells of single columns that cannot be told from none, by what was released: post-processing.

Made up     cells that a declaration makes by itself (cells outside a list, without a value, that do not fit) get no
            made-up rows where their released count is at most `SURE` standard deviations of its noise. Most files have
            none of them, and noise alone would put a few rows into every second one: rows that no file could have.
Listed      values that somebody listed, and groups of a range, keep theirs: where all of them occur, leaving the rarest
            out would move what single columns say a little further off. Which may be noise alone is told instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpengine.core.arrays import Floats, Integers
from dpengine.released.look import Look

SURE = 3  # standard deviations


def made_by_declaration(look: Look, place: int) -> npt.NDArray[np.bool_]:
    """Which cells of a column stand for no listed value and no group of its range."""
    query = look.query
    axis, extra = query.axes[place], query.extra(place)
    named = [label in extra for label in query.cell_labels[place]]
    return np.array([cell >= axis.listed or named[cell] for cell in range(axis.size)])


def left_out(look: Look) -> list[npt.NDArray[np.bool_]]:
    """For each column, the cells that get no rows."""
    found = []
    for place in range(len(look.query.axes)):
        sure = SURE * math.sqrt(float(look.query.layout.variance((place,), look.noise)))
        out = made_by_declaration(look, place) & (look.marginals[(place,)] <= sure)
        found.append(out if not out.all() else np.zeros_like(out))
    return found


def kept(cells: Sequence[npt.NDArray[np.bool_]], codes: Sequence[Integers]) -> npt.NDArray[np.bool_]:
    """Which combinations have none of these cells."""
    fine = np.ones(len(codes[0]), dtype=np.bool_)
    for out, code in zip(cells, codes, strict=True):
        fine &= ~out[code]
    return fine


def perhaps_none(look: Look, place: int, rows: Floats) -> list[str]:
    """The listed values and groups of a column that have made-up rows and may be noise alone, in the reader's words."""
    names, own = look.query.cell_names(place), made_by_declaration(look, place)
    none = look.marginals[(place,)] - math.ceil(look.reach((place,))) <= 0
    return [name for cell, name in enumerate(names) if none[cell] and rows[cell] > 0 and not own[cell]]
