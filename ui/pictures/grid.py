"""Figures by two columns as a table whose cells are shaded by size. It is given figures as they are to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

MOST_DOWN, MOST_ACROSS = 60, 24
_STRONGEST = 35  # percent of colour, under which figures stay readable


@dataclass(frozen=True)
class Cell:
    figure: str
    range: str
    size: float  # from 0 to 1
    faint: bool = False  # it cannot be told from none


def table(
    down: Sequence[str], across: Sequence[str], corner: str, cells: Mapping[tuple[str, str], Cell], caption: str
) -> str:
    """A row for each of `down`, a column for each of `across`; a range is also told when the pointer rests on it."""
    head = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in across)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(_cell(cells[name, other]) for other in across)}</tr>'
        for name in down
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="plain grid"><caption class="sr">{escape(caption)}</caption>'
        f"<tr><th>{escape(corner)}</th>{head}</tr>{rows}</table></div>{_STYLE}"
    )


def _cell(one: Cell) -> str:
    strong = round(_STRONGEST * min(max(one.size, 0.0), 1.0))
    shade = f"background:color-mix(in srgb, var(--left) {strong}%, var(--card))"
    small = f"<small>{escape(one.range)}</small>" if one.range else ""
    kind = "number faint" if one.faint else "number"
    return f'<td class="{kind}" style="{shade}" title="{escape(one.range)}"><b>{escape(one.figure)}</b>{small}</td>'


_STYLE = """<style>table.plain.grid small{display:block;color:var(--ink);font-weight:400;white-space:nowrap}
table.plain.grid td.faint b,table.plain.grid td.faint small{color:var(--muted);font-weight:400}
table.plain.grid td,table.plain.grid th{padding:.35rem .6rem}table.plain.grid th[scope=row]{text-align:left}</style>"""
