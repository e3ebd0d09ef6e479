"""A smooth curve in its band, or a map, as a picture that stands alone: for the report."""

from __future__ import annotations

from html import escape

import numpy as np

import dpengine as dp
from dpengine.core.types import Floats
from dpengine.mechanisms.curves.density import Density
from dpengine.messages import plain
from dpengine.released import curves
from ui.pictures.svg import _SIDE, WIDTH, Axis, _picture, _short
from ui.words.density_words import headline, unit
from ui.words.wording import range_words

_TALL, _TOP, _LEFT = 220, 24, 70
_CELLS = 25  # of a map, along each side


def standing(answer: dp.Answer) -> str:
    query = answer.query
    assert isinstance(query, Density)
    alt = f"{headline(query, answer.value)}. {range_words(answer)}"
    heights = curves.heights(query, answer.value) * curves.scale_of(query)[0]
    return _map(query, heights, alt) if len(query.columns) > 1 else _curve(query, heights, answer, alt)


def _curve(query: Density, heights: Floats, answer: dp.Answer, alt: str) -> str:
    [grid], factor = query.grids(), curves.scale_of(query)[0]
    ends = np.array([answer.interval[label] for label in query.labels()]) * factor
    across = Axis(float(grid[0]), float(grid[-1]), _SIDE + _LEFT, WIDTH - _SIDE, False)
    down = Axis(min(0.0, float(ends.min())), float(ends.max()), _TALL + _TOP, _TOP, False)

    def path(ys: Floats) -> list[str]:
        return [f"{across.place(float(x)):.1f} {down.place(float(y)):.1f}" for x, y in zip(grid, ys, strict=True)]

    band = f'<path class="band" d="M{"L".join(path(ends[:, 1]))}L{"L".join(reversed(path(ends[:, 0])))}Z"/>'
    line = f'<path class="smooth" d="M{"L".join(path(heights))}"/>'
    told = [f'<text x="0" y="14">{escape(_short(unit(query), 90))}</text>']
    for tick in down.ticks():
        y, figure = down.place(tick) + 4, escape(plain(float(f"{tick:.10g}")))
        told.append(f'<text x="{_SIDE + _LEFT - 8}" y="{y:.1f}" text-anchor="end">{figure}</text>')
    drawn = band + line + "".join(told) + across.drawn(_TALL + _TOP + 4, query.columns[0])
    return _picture(drawn, _TALL + _TOP + 50, alt)


def _map(query: Density, heights: Floats, alt: str) -> str:
    """A few of its points, darker where it is higher."""
    first, second = query.grids()
    places = np.unique(np.linspace(0, query.points - 1, min(_CELLS, query.points)).astype(int))
    across = Axis(float(first[0]), float(first[-1]), _SIDE + _LEFT, WIDTH - _SIDE, False)
    down = Axis(float(second[0]), float(second[-1]), _TALL + _TOP, _TOP, False)
    wide, tall = (across.right - across.left) / len(places), _TALL / len(places)
    most = max(float(heights.max()), 1e-12)
    cells = [
        f'<rect class="cell" x="{across.left + column * wide:.1f}" y="{_TOP + _TALL - (row + 1) * tall:.1f}" '
        f'width="{wide:.1f}" height="{tall:.1f}" opacity="{max(float(heights[x, y]) / most, 0):.2f}"/>'
        for column, x in enumerate(places)
        for row, y in enumerate(places)
    ]
    told = [f'<text x="0" y="14">{escape(_short(query.columns[1], 40))}</text>']
    for tick in down.ticks():
        y, figure = down.place(tick) + 4, escape(plain(float(f"{tick:.10g}")))
        told.append(f'<text x="{_SIDE + _LEFT - 8}" y="{y:.1f}" text-anchor="end">{figure}</text>')
    drawn = "".join(cells + told) + across.drawn(_TALL + _TOP + 4, query.columns[0])
    return _picture(drawn, _TALL + _TOP + 50, alt)
