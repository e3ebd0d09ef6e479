"""A note beside an answer on how the declaration changes the file's cells before they count; from public facts."""

from __future__ import annotations

from html import escape

import dpengine as dp
from dpengine.mechanisms import cuts
from ui.words.edge_words import edges
from ui.words.wording import cut_rows, headline


def words(query: dp.Query) -> str:
    """One sentence; nothing where nothing is cut."""
    return cuts.sentence(query.cuts())


def finding(answer: dp.Answer) -> str:
    """The headline, and in the same size that rows of a person were left out, where they may have been; under it what
    a bar at an end of a declared range also holds."""
    cut = cut_rows(answer)
    also = f' <span class="also">{escape(cut)}</span>' if cut else ""
    edge = f'<p class="warn">{escape(told)}</p>' if (told := edges(answer)) else ""
    return f'<p class="headline">{escape(headline(answer))}{also}</p>{edge}'


def html(query: dp.Query) -> str:
    told = words(query)
    return f'<p class="muted counted">{escape(told)}</p>' if told else ""
