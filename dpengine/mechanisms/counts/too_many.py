"""The refusal of too many combinations: how many there are, how many are possible, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dpengine.core.errors import AllowanceError
from dpengine.declared.grouped import Grouped
from dpengine.declared.schema import Category, extra_labels


def too_many(code: str, columns: Sequence[Category | Grouped], most: int) -> AllowanceError:
    """Where the labels beside the lists (“other”, “no answer”) are what makes them too many, it says so."""
    cells = prod(column.size for column in columns)
    listed = prod(column.size - len(extra_labels(column)) for column in columns)
    if listed <= most:
        return AllowanceError(f"{code}_open", cells=cells, most=most, listed=listed)
    return AllowanceError(code, cells=cells, most=most)
