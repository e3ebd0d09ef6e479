"""A note beside an answer on how the declaration changes the file's cells before they count; from public facts."""

from __future__ import annotations

from html import escape

import dpengine as dp
from dpengine.mechanisms import cuts


def words(query: dp.Query) -> str:
    """One sentence; nothing where nothing is cut."""
    return cuts.sentence(query.cuts())


def html(query: dp.Query) -> str:
    told = words(query)
    return f'<p class="muted counted">{escape(told)}</p>' if told else ""
